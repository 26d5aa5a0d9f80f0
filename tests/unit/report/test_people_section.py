"""People at risk in reports: a section of the internal one, and nothing of it, counts included, in the external one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.config import AuditConfig
from core.people import PEOPLE, PeopleSettings
from core.policy import default_policy
from core.release_audit import (
    AuditPlan,
    DataPlan,
    GuardPlan,
    MembershipPlan,
    ReleaseAudit,
    audit_with_people,
    plan_of,
    plan_text,
    read_plan,
)
from core.release_audit.result import PeopleSection
from core.report import Reports
from core.report.schema import from_json, schema_error
from core.report.verification import verify_report
from core.study import Finding
from tests import samples
from tests.samples_report import HOSTILE, sample

SECRET = "Sentinel 31415"
PLAN = AuditPlan(
    data=DataPlan(file="people.csv", dataset=""),
    config=AuditConfig(dataset="upload", method="unmitigated", tolerance=0.05, roles=samples.ROLES),
    membership=MembershipPlan(shadows=4),
    guard=GuardPlan(budget=0.0),
)
SETTINGS = PeopleSettings(people=40, answers=15, models=2, shadows=4)


@pytest.fixture(scope="module")
def reports() -> dict[bool, Reports]:
    """Whether the plan asks for people at risk -> the reports of the same attacks."""
    plan = replace(PLAN, studies=((PEOPLE.name, SETTINGS),))
    audit, people = audit_with_people(plan, samples.table(3600), default_policy())
    return {True: Reports(audit, people), False: Reports(replace(audit, plan=PLAN, people=None), people)}


def test_the_external_report_is_the_same_to_the_byte_whoever_is_at_risk(reports: dict[bool, Reports]):
    assert reports[True].audit.people is not None and reports[False].audit.people is None
    inside = reports[True].files()
    assert {name for name in inside if name.startswith("people-")} and inside.keys() != reports[False].files().keys()
    external = reports[True].files("disclosure")
    assert external == reports[False].files("disclosure")
    assert not any(b"eople at risk" in content or b"people_at_risk" in content for content in external.values())


def test_the_internal_report_says_what_the_study_finds(reports: dict[bool, Reports]):
    audit, found = reports[True].audit, reports[True].files()
    assert audit.people is not None and len(audit.people.findings) == 3
    page = found["report.html"].decode()
    assert "People at risk (internal report only)" in page and audit.people.findings[0].point in page
    for name in ("report.json", "report.html"):
        broken = [one.name for one in verify_report(found[name].decode()).findings if not one.holds]
        assert set(broken) <= {"signed"}
    document = from_json(found["report.json"].decode())
    assert plan_of(document).people == SETTINGS


def told(audit: ReleaseAudit) -> ReleaseAudit:
    """Return an audit with a section whose every text and number can be told again."""
    finding = Finding(
        point=SECRET, evidence=SECRET, so_what=SECRET, to_do=HOSTILE, caveats=(SECRET,), attacker_knows=SECRET
    )
    rows = ({"record": 31415, "group": SECRET, HOSTILE: 27182},)
    return replace(audit, people=PeopleSection(findings=(finding,), tables={SECRET: rows}))


def test_no_text_and_no_number_of_the_section_gets_out():
    audit = sample()
    inside, outside = (Reports(told(audit)).files(edition) for edition in ("internal", "disclosure"))
    for token in (b"31415", b"27182"):
        assert any(token in content for content in inside.values())
        assert not any(token in content for content in outside.values())
    assert outside == Reports(audit).files("disclosure")
    assert not schema_error(Reports(told(audit)).document()) and HOSTILE not in inside["report.html"].decode()


def test_a_plan_with_people_is_read_as_it_was_written():
    plan = replace(PLAN, studies=((PEOPLE.name, SETTINGS),))
    assert "[people]" in plan_text(plan) and read_plan(plan_text(plan)) == plan
    assert "[people]" not in plan_text(PLAN) and read_plan(plan_text(PLAN)).people is None


def test_what_breaks_is_said_and_does_not_stop_the_audit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(type(PEOPLE), "run", lambda *_: 1 / 0)
    plan = replace(PLAN, studies=((PEOPLE.name, SETTINGS),), membership=MembershipPlan(shadows=0))
    audit, _ = audit_with_people(plan, samples.table(1500), default_policy())
    assert audit.people is not None and audit.people.tables == {}
    assert audit.people.findings[0].point.startswith("People at risk were not looked for: The attack stopped")
