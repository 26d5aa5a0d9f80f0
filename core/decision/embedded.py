"""The plan back from a report: what was asked, in the shape it was asked in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from core.decision.plan import PLAN_SCHEMA, AuditPlan, plan_text, read_plan
from core.errors import InputError
from core.records import RecordError, loads


def plan_of(report: Mapping[str, Any]) -> AuditPlan:
    """Return the plan that a report's JSON holds.

    Parameters
    ----------
    report : mapping
        As `core.report.from_json` returns it.

    Raises
    ------
    InputError
        If there is no plan in it, one that this version of FairLeak does not know, or one that no plan file could say:
        it must keep every rule of `core.decision.read_plan`.
    """
    told = report.get("plan")
    if not isinstance(told, dict) or told.get("schema") != PLAN_SCHEMA:
        found = told.get("schema") if isinstance(told, dict) else None
        raise InputError(f"The report's plan must be of schema {PLAN_SCHEMA}, got {found!r}.")
    if "outputs" not in told:
        raise InputError(
            "The report's plan must say what is released (outputs), got one that FairLeak wrote before plans said so: "
            "audit again from a plan file that says it."
        )
    try:
        plan = loads(json.dumps(told, allow_nan=False), AuditPlan)
        written = plan_text(plan)
    except (RecordError, ValueError, TypeError) as error:
        if isinstance(error.__cause__, InputError):  # a rule of its settings
            raise InputError(f"The report's plan: {error.__cause__}") from None
        raise InputError(f"The report's plan must be one that FairLeak wrote, got {str(error)[:120]}.") from None
    if read_plan(written, name="The report's plan") != plan:
        raise InputError("The report's plan must be one that a plan file can say, got settings that contradict others.")
    return plan
