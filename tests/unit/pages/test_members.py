"""Sentences of membership inference: what a budget guarantees, in numbers that are never rounded down."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest

from core.membership import DisparityResult, MembershipSettings, most_caught
from core.membership.findings import Reading, epsilon_heading, guarantee, headline
from tests.unit.charts.membership_samples import attack, bands, findings

CHOSEN = MembershipSettings(epsilon=1.0, max_depth=8)


def guaranteed(epsilon: float) -> tuple[str, DisparityResult]:
    """Return what is guaranteed, and what was measured."""
    read = Reading(findings([attack("network")]), replace(CHOSEN, epsilon=epsilon))
    assert read.result is not None
    return guarantee(read), read.result


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.5, 1.0, 2.0])
def test_the_guarantee_is_twice_epsilon_for_who_takes_ones_place(epsilon: float):
    told, result = guaranteed(epsilon)
    assert "somebody else takes the person's place, which doubles ε" in told
    once, twice = (float(number.replace(",", "")) for number in re.findall(r"more than ([\d.,]+) times as", told))
    assert math.exp(epsilon) <= once < math.exp(epsilon) + 0.11
    assert math.exp(2 * epsilon) <= twice < math.exp(2 * epsilon) + 0.11
    alarms = sum(rate.n * rate.value for rate in result.false_alarms) / sum(rate.n for rate in result.false_alarms)
    (most,) = re.findall(r"a TPR of at most ([\d.]+)%", told)
    assert 0 <= float(most) - 100 * most_caught(alarms, epsilon) < 0.1 + 1e-9


def test_large_budgets_guarantee_nothing_to_speak_of():
    assert "more than a million times as likely" in guaranteed(50.0)[0] and "practically 100%" in guaranteed(50.0)[0]
    assert "no outcome is more than 22,027 times as likely" in guaranteed(10.0)[0]
    assert guaranteed(math.inf)[0].startswith("No DP guarantee (ε = ∞). Measured, by the paper's network: TPR")


def test_the_curve_names_the_largest_budget_at_which_the_attack_is_chance():
    drawn = bands((0.01, 0.1, 1.0, 10.0, math.inf))
    chance = [band.at for band in drawn if band.values["auc"].low <= 0.5]
    said = epsilon_heading(drawn, ("women", "men"))
    assert 1 < len(chance) < len(drawn)
    assert said.startswith(f"Up to ε = {max(chance):g} the attack is not significantly better than random guessing")
    assert "so far" not in said and "so far" in epsilon_heading(drawn, ("women", "men"), growing=True)
    assert epsilon_heading(drawn[:2], ("women", "men")).startswith("At every ε the attack is not significantly")
    assert epsilon_heading(drawn[-2:], ("women", "men")).startswith("Membership-advantage gap, women − men: ")


def test_a_muted_attack_is_no_better_than_random_guessing():
    read = Reading(findings([attack("network", muted=True)]), replace(CHOSEN, epsilon=0.1))
    found = headline(read)
    assert found.point.startswith("Membership inference is not significantly better than random guessing at ε = 0.1")
    assert "VD would read" in found.evidence and not found.so_what
    strong = headline(Reading(findings([attack("network", muted=True), attack("lira")]), CHOSEN)).point
    assert strong.startswith("Membership inference succeeds (LiRA: AUC") and strong.endswith("says nothing.")


def test_vd_is_told_beside_a_gap_of_the_other_sign():
    found = headline(Reading(findings([attack("network"), attack("rmia", disparities=None)]), CHOSEN))
    assert "and reveals more about men: 7.9 points." in found.point
    assert "VD alone, as published, reads +0.131" in found.evidence and "RMIA: AUC 0." in found.evidence
    assert found.baseline.value == 0.5 and found.attacker_knows.endswith(".") and found.redacted
