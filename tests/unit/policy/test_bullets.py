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


@pytest.mark.parametrize(
    ("check", "limit", "measured", "places", "beyond"),
    [
        ("unfairness", 0.1, (0.1, 0.05), (0.5, 0.25, 0.75), (False, False, False)),
        ("attribute_excess", 0.02, (0.03, 0.035), (0.75, 0.0, 1.0), (False, True, True)),
        ("attribute_excess", 0.02, (0.07, 0.001), (1.0, 1.0, 1.0), (True, True, True)),
        ("attribute_excess", 0.0, (0.025, 0.0), (0.75, 0.75, 0.75), (False, False, False)),
        ("attribute_excess", -0.02, (-0.01, 0.0), (0.75, 0.75, 0.75), (False, False, False)),
        ("attriguard_cost", 0.0, (0.5, 0.0), (0.75, 0.75, 0.75), (False, False, False)),
        ("unfairness", 0.1, (0.05, math.nan), (0.25, 0.25, 0.25), (False, False, False)),
    ],
)
def test_the_limit_lies_in_the_middle_and_what_is_beyond_the_scale_at_its_end(
    check: str, limit: float, measured: tuple[float, float], places: tuple[float, ...], beyond: tuple[bool, ...]
) -> None:
    found = placed(check, limit, done(check, *measured))
    assert found is not None and (found.value, found.low, found.high) == pytest.approx(places)
    assert (found.value_beyond, found.low_beyond, found.high_beyond) == beyond


def test_the_interval_is_the_one_that_decided() -> None:
    asked = policy(unfairness=0.1, membership_gap=0.1)
    found = [done("unfairness", 0.07, 0.025), done("membership_gap", 0.1, 0.02)]
    row = next(row for row in judge(asked, found, attribute="sex").rows if row.check == "unfairness")
    assert row.decided is not None and row.decided.level == pytest.approx(0.975)
    place = bullet(row)
    assert place is not None and place.high == pytest.approx(row.decided.high / 0.2)


def test_without_limit_or_number_there_is_no_bullet() -> None:
    rows = judge(policy(unfairness=0.1), [done("membership_gap", 0.1)], attribute="sex").rows
    assert all(bullet(row) is None for row in rows)
