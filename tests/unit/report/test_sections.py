"""Sections of reports: how the model was chosen, and people at risk."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.auditing import (
    MembershipSettings,
    check_plan,
    run_audit,
)
from core.auditing.policy import default_policy
from core.report import Reports, from_json, verify_report
from core.studies.people import PEOPLE, PeopleSettings
from tests import samples

PLAN = replace(samples.plan(), membership=MembershipSettings(shadows=4))
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
