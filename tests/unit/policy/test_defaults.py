"""The shipped policies: complete, honest about their sources, and possible to pass."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.policy import (
    CHECKS,
    NO_SOURCE,
    Policy,
    default_policy,
    judge,
    placeholders_text,
    predictions_policy,
    source_text,
)
from core.study import Measurement
from tests.policy_samples import done

SHIPPED = {"default": default_policy(), "predictions": predictions_policy()}


def comfortable(shipped: Policy, without: tuple[str, ...] = ()) -> list:
    """Return measurements well inside every limit."""
    found = []
    for limit in shipped.limits:
        if limit.check not in without:
            inside = 0.9 if CHECKS[limit.check].at_least else 0.1 * limit.value
            found.append(done(limit.check, inside, 0.001))
    return found


@pytest.mark.parametrize("shipped", SHIPPED.values(), ids=SHIPPED)
def test_a_shipped_policy_is_passed_by_a_model_that_leaks_little(shipped: Policy) -> None:
    verdict = judge(shipped, comfortable(shipped), attribute="sex")
    assert verdict.overall == "pass" and verdict.exit_code == 0
    missing = shipped.limits[0].check
    assert judge(shipped, comfortable(shipped, (missing,)), attribute="sex").overall == "not_run"


@pytest.mark.parametrize("shipped", SHIPPED.values(), ids=SHIPPED)
def test_the_four_fifths_rule_alone_has_a_source_and_is_not_required(shipped: Policy) -> None:
    sourced = [limit for limit in shipped.limits if source_text(limit) != NO_SOURCE]
    assert [(limit.check, limit.value, limit.required) for limit in sourced] == [("four_fifths", 0.8, False)]
    assert "29 CFR 1607.4(D)" in sourced[0].source
    for limit in shipped.limits:
        assert limit.author and limit.date and (limit.source or "to be replaced by yours" in limit.rationale)


def test_what_may_be_left_out_is_said_and_does_not_block_but_what_broke_does() -> None:
    """Of a table that does not tell the training records nothing is known about them, and the verdict says so."""
    policy = predictions_policy()
    excused = tuple(limit.check for limit in policy.limits if limit.if_not_run == "allowed")
    found = comfortable(policy, excused)
    missing = [Measurement(check=check, outcome="not_run", reason="No column tells them.") for check in excused]
    verdict = judge(policy, [*found, *missing], attribute="sex")
    assert verdict.overall == "pass" and verdict.headline == "All four required limits of the policy are kept."
    assert "Not tested, which the policy allows here: “Training records identified" in verdict.detail
    assert not any(row.blocks for row in verdict.rows)
    broke = [replace(missing[0], outcome="failed"), *missing[1:]]
    assert judge(policy, [*found, *broke], attribute="sex").overall == "not_run"
    assert judge(policy, missing, attribute="sex").overall == "not_run"


def test_both_say_the_same_of_the_checks_they_share() -> None:
    of = {limit.check: limit for limit in default_policy().limits}
    same = ("value", "required")
    for limit in predictions_policy().limits:
        assert all(getattr(of[limit.check], key) == getattr(limit, key) for key in same)


def test_a_placeholder_is_a_starting_value_without_a_source() -> None:
    shipped = default_policy()
    unsourced = sum(not limit.source for limit in shipped.limits)
    assert placeholders_text(shipped).startswith(
        f"{unsourced} of {len(shipped.limits)} limits are FairLeak placeholders"
    )
    sourced = replace(shipped, limits=tuple(replace(limit, source="Our law, § 3") for limit in shipped.limits))
    others = replace(shipped, limits=tuple(replace(limit, author="A. Officer") for limit in shipped.limits))
    assert placeholders_text(sourced) == placeholders_text(others) == ""
    one = replace(sourced, limits=(replace(sourced.limits[0], source=" "), *sourced.limits[1:]))
    assert placeholders_text(one).startswith("1 of 12 limits is a FairLeak placeholder.")
