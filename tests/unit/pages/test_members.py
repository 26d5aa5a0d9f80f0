"""Sentences of membership inference: what a budget promises, in numbers that are never rounded down."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest

from core.membership import DisparityResult, MembershipSettings, most_caught
from pages.common import membership_sections as sections
from pages.common import membership_words as words
from pages.common.background import State
from tests.unit.charts.membership_samples import attack, bands, findings

CHOSEN = MembershipSettings(epsilon=1.0, max_depth=8)


def promised(epsilon: float) -> tuple[str, DisparityResult]:
    """Return what is promised, as it is read, and what was measured."""
    made = findings([attack("network")])
    read = words.Reading(made, replace(CHOSEN, epsilon=epsilon))
    assert read.result is not None
    told = words.promise(read)
    return re.sub(r"\\(.)", r"\1", told), read.result


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.5, 1.0, 2.0])
def test_the_promise_is_twice_epsilon_for_who_takes_her_place(epsilon: float):
    told, result = promised(epsilon)
    assert "without her and with nobody in her place" in told and "somebody else takes her place: twice ε" in told
    once, twice = (float(number.replace(",", "")) for number in re.findall(r"more than ([\d.,]+) times as", told))
    assert math.exp(epsilon) <= once < math.exp(epsilon) + 0.11
    assert math.exp(2 * epsilon) <= twice < math.exp(2 * epsilon) + 0.11
    alarms = sum(rate.n * rate.value for rate in result.false_alarms) / sum(rate.n for rate in result.false_alarms)
    (most,) = re.findall(r"at most ([\d.]+)% of members", told)
    assert 0 <= float(most) - 100 * most_caught(alarms, epsilon) < 0.1 + 1e-9


def test_large_budgets_promise_nothing_to_speak_of():
    told, _ = promised(50.0)
    assert "may be more than a million times as likely" in told and "practically every member" in told
    told, _ = promised(10.0)
    assert "no outcome is more than 22,027 times as likely" in told
    assert "flagged more than a million times as often as outsiders: no promise to speak of" in told
    assert "Nothing is promised" in promised(math.inf)[0]


def test_the_curve_names_the_largest_budget_of_a_coin_toss():
    drawn = bands((0.01, 0.1, 1.0, 10.0, math.inf))
    tossed = [band.at for band in drawn if band.values["auc"].low <= 0.5]
    said = sections.epsilon_heading(drawn, ("women", "men"))
    assert 1 < len(tossed) < len(drawn) and said.startswith(f"Up to ε = {max(tossed):g} the attack cannot be told from")
    assert "so far" not in said and "so far" in sections.epsilon_heading(drawn, ("women", "men"), growing=True)
    assert sections.epsilon_heading(drawn[:2], ("women", "men")).startswith("At every ε the attack cannot be told from")
    assert sections.epsilon_heading(drawn[-2:], ("women", "men")).startswith("What leaks more about women: ")


def test_a_muted_attack_is_not_measurably_better_than_a_coin_toss():
    made = findings([attack("network", muted=True)])
    point, grey = words.finding(words.Reading(made, replace(CHOSEN, epsilon=0.1), State.FINISHED))
    assert point.startswith("At ε = 0.1 the attack cannot tell who was in the training data, so its gap between")
    assert "not measurably better than a coin toss" in grey


def test_the_guide_says_who_is_in_the_training_data():
    made = findings([attack("network")])
    drawn = words.guide(words.Reading(made, CHOSEN), ())
    audited = words.guide(words.Reading(made, replace(CHOSEN, target="audited")), ())
    assert "Half of the table's people train the model" in drawn and "Half" not in audited
    assert "audit's training people train the model" in audited
    assert "seed of the noise is secret" in drawn and "*LiRA*: Compares the model with shadow models" in drawn
