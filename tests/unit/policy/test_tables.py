"""Verdicts as tables, and checks on the scale of the bullets."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from core.policy import CHECKS, Bullet, Limit, bullet, judge, verdict_frame
from core.study import Measurement
from tests.policy_samples import done, estimate, policy


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


@pytest.mark.parametrize(("limit", "value", "place"), [(0.0, 0.0, 0.5), (0.0, 0.025, 0.75), (-0.02, -0.01, 0.75)])
def test_limits_of_0_and_below_keep_larger_values_further_right(limit: float, value: float, place: float) -> None:
    found = placed("attribute_excess", limit, done("attribute_excess", value, 0.001))
    assert found is not None and found.value == pytest.approx(place)


def test_a_limit_of_no_columns_has_a_scale_of_columns() -> None:
    found = placed("attriguard_cost", 0.0, done("attriguard_cost", 0.5, 0.1))
    assert found is not None and found.value == pytest.approx(0.75)


def test_a_computed_value_has_no_width() -> None:
    found = placed("targeted_leakage", 0.75, done("targeted_leakage", 0.6, basis="declared"))
    assert found is not None and found.low == found.value == found.high == pytest.approx(0.4)
    bare = placed("unfairness", 0.1, done("unfairness", 0.05, math.nan))
    assert bare is not None and bare.low == bare.value == bare.high == pytest.approx(0.25)


def test_without_limit_or_number_there_is_no_bullet() -> None:
    rows = judge(policy(unfairness=0.1), [done("membership_gap", 0.1)], attribute="sex").rows
    assert all(bullet(row) is None for row in rows)


def test_the_table_holds_numbers_bases_and_sources() -> None:
    asked = policy(attribute_excess=0.02, targeted_leakage=0.75, four_fifths=0.8, optional=("four_fifths",))
    limits = (replace(asked.limits[0], source="A law"), *asked.limits[1:])
    measured = replace(
        done("attribute_excess", 0.07, 0.005), control=estimate(0.7, 0.69, 0.71), control_name="features alone"
    )
    found = (measured, done("targeted_leakage", 0.6, basis="declared"), done("unfairness", 0.04, 0.01))
    table = verdict_frame(judge(replace(asked, limits=limits), found, attribute="sex")).set_index("check")
    assert set(table.index) == set(CHECKS) and list(table.index[:3]) == [
        "attribute_excess",
        "four_fifths",
        "targeted_leakage",
    ]
    first = table.loc["attribute_excess"]
    assert (first["verdict"], first["item"], bool(first["blocks"]), first["source"]) == ("fail", 1, True, "A law")
    assert (first["value"], first["control_value"], first["limit"]) == (0.07, 0.7, 0.02)
    assert first["limit_text"] == "at most 2.0 points"
    assert first["title"] == "Sex inferred from what is released: gain in accuracy"
    assert first["decided_level"] == pytest.approx(0.95) and 0 < first["p_value"] == first["p_adjusted"] < 1e-6
    computed = table.loc["targeted_leakage"]
    assert (computed["basis"], computed["source"]) == ("declared", "no source given")
    assert math.isnan(computed["p_value"]) and math.isnan(computed["decided_low"])
    assert (table.loc["four_fifths", "verdict"], table.loc["four_fifths", "outcome"]) == ("not_run", "")
    unasked = table.loc["unfairness"]
    assert (unasked["verdict"], unasked["value"], unasked["source"]) == ("not_asked", 0.04, "")
    assert math.isnan(unasked["limit"]) and not unasked["required"]


def test_the_table_is_one_without_any_measurement() -> None:
    table = verdict_frame(judge(policy(unfairness=0.1), [], attribute="sex"))
    assert len(table) == len(CHECKS) and table["value"].isna().all()
    assert list(table["verdict"]) == ["not_run"] + ["not_asked"] * (len(CHECKS) - 1)


def test_a_limit_compares_as_plain_data() -> None:
    assert Limit(check="unfairness", value=0.1).to_dict()["source"] == ""
