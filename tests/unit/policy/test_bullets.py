"""Checks on the scale of the bullets."""

from __future__ import annotations

import math

import pytest

from core.policy import Bullet, bullet, judge
from core.study import Measurement
from tests.policy_samples import done, policy


def placed(check: str, limit: float, measurement: Measurement) -> Bullet | None:
    """Return the bullet of the only limit of a policy."""
    return bullet(judge(policy(**{check: limit}), [measurement], attribute="sex").rows[0])


def test_the_limit_lies_in_the_middle() -> None:
    found = placed("unfairness", 0.1, done("unfairness", 0.1, 0.05))
    assert found is not None
    assert (found.value, found.low, found.high) == (0.5, pytest.approx(0.25), pytest.approx(0.75))
    assert not (found.value_beyond or found.low_beyond or found.high_beyond)


def test_what_is_beyond_the_scale_is_shown_at_its_end() -> None:
    found = placed("attribute_excess", 0.02, done("attribute_excess", 0.03, 0.035))
    assert found is not None
    assert (found.value, found.low, found.high) == (pytest.approx(0.75), 0.0, 1.0)
    assert (found.value_beyond, found.low_beyond, found.high_beyond) == (False, True, True)
    far = placed("attribute_excess", 0.02, done("attribute_excess", 0.07, 0.001))
    assert far == Bullet(value=1.0, low=1.0, high=1.0, value_beyond=True, low_beyond=True, high_beyond=True)


def test_the_interval_is_the_one_that_decided() -> None:
    asked = policy(unfairness=0.1, membership_gap=0.1)
    found = [done("unfairness", 0.07, 0.025), done("membership_gap", 0.1, 0.02)]
    row = next(row for row in judge(asked, found, attribute="sex").rows if row.check == "unfairness")
    assert row.decided is not None and row.decided.level == pytest.approx(0.975)
    place = bullet(row)
    assert place is not None and place.high == pytest.approx(row.decided.high / 0.2)


def test_a_computed_value_has_no_width() -> None:
    found = placed("targeted_leakage", 0.75, done("targeted_leakage", 0.6, basis="declared"))
    assert found is not None and found.low == found.value == found.high == pytest.approx(0.4)
    bare = placed("unfairness", 0.1, done("unfairness", 0.05, math.nan))
    assert bare is not None and bare.low == bare.value == bare.high == pytest.approx(0.25)


def test_without_limit_or_number_there_is_no_bullet() -> None:
    rows = judge(policy(unfairness=0.1), [done("membership_gap", 0.1)], attribute="sex").rows
    assert all(bullet(row) is None for row in rows)
