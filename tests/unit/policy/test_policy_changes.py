"""What a changed policy must say, what a limit is used for, and the policies to start from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from core.auditing import AuditPlan, ModelPlan, fitting_policy
from core.auditing.policy import (
    Limit,
    LimitUse,
    check_change,
    default_policy,
    is_placeholder,
    predictions_policy,
)
from core.base.errors import InputError
from core.datasets import Roles
from core.report.policy_templates import policy_templates
from core.report.regulations import law_of_checks
from core.studies.subject import AuditConfig

BEFORE = default_policy()
MINE: dict[str, Any] = {"version": "4", "author": "A. Officer"}


def with_first_limit(**fields: Any) -> Any:
    """Return the default policy in a version of one's own, with its first limit changed."""
    return replace(BEFORE, **MINE, limits=(replace(BEFORE.limits[0], **fields), *BEFORE.limits[1:]))


def test_check_change_accepts_a_changed_limit_with_reason_and_source():
    check_change(BEFORE, with_first_limit(value=0.01, rationale="Our law.", source="Law, § 3"))
    check_change(BEFORE, BEFORE)
    check_change(BEFORE, replace(BEFORE, **MINE, limits=BEFORE.limits[1:], rationale="Nobody attacks that here."))


@pytest.mark.parametrize(
    ("after", "phrase"),
    [
        (with_first_limit(value=0.01, source="Law, § 3"), "a reason of its own"),
        (with_first_limit(value=0.01, rationale="Our law."), "a source"),
        (with_first_limit(required=False, rationale="Our law."), "a source"),
        (with_first_limit(if_not_run="allowed", rationale="Our law."), "a source"),
        (replace(BEFORE, rationale="Another reason."), "a version of its own"),
        (replace(BEFORE, version="4"), "who answers for it"),
        (replace(BEFORE, **MINE, limits=BEFORE.limits[1:]), "not covered any more"),
        (replace(BEFORE, **MINE, limits=(*BEFORE.limits, Limit(check="attriguard_cost", value=3.0))), "a reason"),
    ],
)
def test_check_change_refuses_a_change_that_says_too_little(after: Any, phrase: str):
    with pytest.raises(InputError, match=phrase):
        check_change(BEFORE, after)


@pytest.mark.parametrize("use", list(LimitUse)[:-1])
def test_limit_use_is_applied_and_read_back(use: LimitUse):
    for limit in BEFORE.limits[:3]:
        assert LimitUse.of(use.applied(limit)) == use
    assert LimitUse.of(None) == LimitUse.NOT_COVERED


@pytest.mark.parametrize(("key", "text"), [("gdpr", "GDPR"), ("ai_act", "EU AI Act")])
def test_a_policy_of_a_law_has_its_checks_and_the_default_numbers(key: str, text: str):
    template_policy = policy_templates()[key].make()
    laws = law_of_checks()
    assert template_policy.limits
    for limit in template_policy.limits:
        provisions = [item for item in laws[limit.check].provisions if item.text.name == text]
        assert provisions and all(item.article in limit.rationale for item in provisions)
        assert is_placeholder(limit) == is_placeholder(
            next(first for first in BEFORE.limits if first.check == limit.check)
        )


@pytest.mark.parametrize(
    ("kind", "columns", "fits"),
    [
        ("train", {}, default_policy),
        ("file", {}, default_policy),
        ("predictions", {}, predictions_policy),
        ("predictions", {"score": "score"}, predictions_policy),
        ("predictions", {"score": "score", "sets": "set"}, default_policy),
    ],
)
def test_the_policy_that_fits_asks_for_what_is_brought(kind: str, columns: dict[str, str], fits: Any):
    roles = Roles(label="y", positive="1", sensitive="sex", prediction="p", **columns)
    plan = AuditPlan(model=ModelPlan(kind=kind), config=AuditConfig(roles=roles))
    assert fitting_policy(plan) == fits()
