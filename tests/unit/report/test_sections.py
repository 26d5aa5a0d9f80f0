"""Sections of reports: how the model was chosen, and people at risk."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from core.auditing import (
    AttriGuardSettings,
    AuditPlan,
    DataPlan,
    MembershipSettings,
    check_plan,
    run_audit,
)
from core.auditing.policy import default_policy
from core.experiments.choose import ChooseSettings, choose
from core.experiments.choose.findings import report_section
from core.report import Reports, from_json, to_json, verify_report
from core.studies.people import PEOPLE, PeopleSettings
from core.studies.subject import AuditConfig
from tests import samples
from tests.samples_report import sample
from tests.unit.choose.candidate_samples import POLICY, SAFE, point

# How the model was chosen

CHOICE = choose(
    [point(k, 0.75, SAFE, np.random.default_rng(k)) for k in range(3)], POLICY, ChooseSettings(), attribute="sex"
)


def test_the_report_says_how_the_model_was_chosen():
    reports = Reports(replace(sample(), findings=(report_section(CHOICE),)))
    page = reports.internal_files["report.html"].decode()
    assert "How this model was chosen" in page and CHOICE.chosen.title in page
    document = from_json(reports.internal_files["report.json"].decode())
    assert document.findings == (report_section(CHOICE),)


def test_a_depth_stands_in_a_report_only_where_it_was_chosen():
    audit = sample()
    plain = Reports(audit).document
    assert "depth" not in json.loads(to_json(plain))["plan"]["config"]
    deep = replace(audit, plan=replace(audit.plan, config=replace(audit.plan.config, depth=4)))
    document = from_json(to_json(Reports(deep).document))
    assert document.plan.config.depth == 4 != AuditConfig().depth


# People at risk

PLAN = AuditPlan(
    data=DataPlan(file="people.csv", dataset=""),
    config=AuditConfig(dataset="upload", method="unmitigated", tolerance=0.05, roles=samples.ROLES),
    membership=MembershipSettings(shadows=4),
    attriguard=AttriGuardSettings(budget=0.0),
)
SETTINGS = PeopleSettings(people=40, answers=15, models=2, shadows=4)


@pytest.mark.long
def test_people_at_risk_stand_in_the_internal_report_and_change_no_byte_of_the_public_summary():
    plan = replace(PLAN, studies=((PEOPLE.name, SETTINGS),))
    audit = run_audit(plan, samples.table(3600), default_policy())
    assert audit.people is not None and len(audit.people.findings) == 3
    reports, without_people = Reports(audit), Reports(replace(audit, plan=PLAN, people=None))
    inside, public = reports.internal_files, reports.public_files
    assert {
        name for name in inside if name.startswith("people-")
    } and inside.keys() != without_people.internal_files.keys()
    assert public == without_people.public_files
    assert not any(b"eople at risk" in content.partition(b"## Caveats")[0] for content in public.values())
    page = inside["report.html"].decode()
    assert "People at risk (internal report only)" in page and audit.people.findings[0].point in page
    for name in ("report.json", "report.html"):
        assert all(finding.holds for finding in verify_report(inside[name].decode()).findings)
    plan = from_json(inside["report.json"].decode()).plan
    check_plan(plan)
    assert plan.people == SETTINGS


def test_what_breaks_is_said_and_does_not_stop_the_audit(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(type(PEOPLE), "run", lambda *_: 1 / 0)
    monkeypatch.setattr("core.auditing.run.CHECKS", ("unfairness",))
    plan = replace(PLAN, studies=((PEOPLE.name, SETTINGS),), membership=MembershipSettings(shadows=0))
    audit = run_audit(plan, samples.table(900), default_policy())
    assert audit.people is not None and audit.people.tables == {}
    assert audit.people.findings[0].point.startswith("People at risk were not looked for: The attack stopped")
