"""Sections of reports: for a model card, of how the model was chosen, of people at risk; and what others read."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from markdown_it import MarkdownIt

from core.choose import ChooseSettings, choose
from core.choose.findings import report_section
from core.config import AuditConfig
from core.errors import InputError
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
)
from core.release_audit.result import PeopleSection, StudyFindings
from core.report import Reports, from_json, to_json, verify_report
from core.report.canonical import read
from core.report.card_section import card_section
from core.report.schema import schema_error
from core.study import Finding
from tests import samples
from tests.report_people import people_of, with_texts
from tests.samples_report import HOSTILE, SMALL_GROUPS, sample
from tests.unit.choose.made import POLICY, SAFE, point

MARKUP = "[a](http://x.example) | b **c** `d` <b>e</b> ![f](g) www.example.org h@example.org $i$ ~~j~~"


def external(**pinned: Any) -> dict[str, Any]:
    """Return an external report whose leakage estimate is as stated."""
    document = deepcopy(Reports(sample(), people_of()).document("disclosure"))
    assert document["release_meter"]["outcome"] == "done"
    (form,) = document["release_meter"]["forms"]
    form |= {"status": "converged", "pinned": 0, **pinned}
    return document


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"pinned": 3}, "with them, a reader could be nearly certain of the sex of 3 people"),
        ({"status": "infeasible"}, "what these numbers reveal could not be estimated"),
    ],
)
def test_it_has_no_number_of_a_group_where_somebody_is_exposed(change: dict[str, Any], words: str):
    document = external(**change)
    told = card_section(document)
    assert f"Left out: {words}" in told and told.partition("### Caveats")[0].count("left out") == 2
    for group in document["groups"]:
        for name in ("test_rate", "test_tpr", "test_fpr"):
            assert f"{100 * group[name]['value']:.1f}%" not in told and f"{group[name]['n']:,}" not in told
    for check in ("unfairness", "four_fifths"):
        value = next(m["estimate"]["value"] for m in document["measurements"] if m["check"] == check)
        assert f"{value:.3f}" not in told


def test_withheld_counts_and_internal_reports():
    told = card_section(Reports(sample(SMALL_GROUPS), people_of(SMALL_GROUPS)).document("disclosure"))
    assert "Left out: a count of a group is below 10." in told and "| withheld |" in told
    with pytest.raises(InputError, match="REPORT must be the external report"):
        card_section(Reports(sample()).document())
    assert "could not be estimated" in card_section({**external(), "release_meter": None})


def test_names_stay_names_in_markdown():
    audit = with_texts(sample(), lambda text: f"{text} {MARKUP} {HOSTILE}" if text else text)
    told = card_section(Reports(replace(audit, provenance=sample().provenance)).document("disclosure"))
    page = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(told)
    for tag in ("<a ", "<img", "<script", "<b>", "<s>", "<strong>c"):
        assert tag not in page, tag
    assert page.count("<h2>") == 1 and page.count("<h3>") == 3
    assert {line.count("|") - line.count("\\|") for line in told.splitlines() if line.startswith("| ")} == {6}


# How the model was chosen

CHOICE = choose(
    [point(k, 0.75, SAFE, np.random.default_rng(k)) for k in range(3)], POLICY, ChooseSettings(), attribute="sex"
)


def test_the_internal_report_says_how_it_was_chosen_and_the_external_one_no_number_of_it():
    made = Reports(replace(sample(), findings=(report_section(CHOICE),)), "there are no people here")
    page = made.files("internal")["report.html"].decode()
    assert "How this model was chosen" in page and CHOICE.chosen.title in page
    document = from_json(made.files("internal")["report.json"].decode())
    (section,) = [read(each, StudyFindings) for each in document["findings"]]
    assert section == report_section(CHOICE)
    external = from_json(made.files("disclosure")["report.json"].decode())
    ((finding,),) = [each["findings"] for each in external["findings"]]
    assert finding["point"] == "The model was chosen among several by the same policy."
    assert finding["evidence"] == "" and finding["caveats"] == [] and finding["estimate"] is None


def test_a_depth_stands_in_a_report_only_where_it_was_chosen():
    audit = sample()
    plain = Reports(audit, "there are no people here").document()
    assert "depth" not in plain["plan"]["config"]
    deep = replace(audit, plan=replace(audit.plan, config=replace(audit.plan.config, depth=4)))
    document = from_json(to_json(Reports(deep, "there are no people here").document()))
    assert document["plan"]["config"]["depth"] == 4 != AuditConfig().depth


# People at risk

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


def test_people_at_risk_stand_in_the_internal_report_and_change_no_byte_of_the_external_one(
    reports: dict[bool, Reports],
):
    assert reports[True].audit.people is not None and reports[False].audit.people is None
    inside = reports[True].files()
    assert {name for name in inside if name.startswith("people-")} and inside.keys() != reports[False].files().keys()
    external = reports[True].files("disclosure")
    assert external == reports[False].files("disclosure")
    assert not any(b"eople at risk" in content or b"people_at_risk" in content for content in external.values())
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


def test_what_breaks_is_said_and_does_not_stop_the_audit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(type(PEOPLE), "run", lambda *_: 1 / 0)
    monkeypatch.setattr("core.release_audit.run.CHECKS", ("unfairness",))
    plan = replace(PLAN, studies=((PEOPLE.name, SETTINGS),), membership=MembershipPlan(shadows=0))
    audit, _ = audit_with_people(plan, samples.table(900), default_policy())
    assert audit.people is not None and audit.people.tables == {}
    assert audit.people.findings[0].point.startswith("People at risk were not looked for: The attack stopped")
