"""Decisions: p-values by hand and beside scipy, Holm's steps by hand, and how often a true limit is called broken."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from core.auditing.policy.decisions import LimitTest, holm_decisions, interval_at_level, p_value
from core.stats.estimates import mean_over_repeats, proportion
from tests.policy_samples import estimate

Z, T_OF_4 = 1.959963984540054, 2.7764451051977987


def by_p(*p_values: float, **more: bool) -> dict[str, LimitTest]:
    """Return claims with a limit of 0 and standard errors of 1 that have these p-values."""
    claims = {}
    for name, p in zip("abcdefgh", p_values, strict=False):
        value = -stats.norm.isf(p / 2)
        claims[name] = LimitTest(estimate=estimate(value, value - Z, value + Z), limit=0.0, **more)
    return claims


def test_each_side_is_scaled_by_its_own_half_width():
    measured = estimate(0.07, 0.06, 0.10)
    expected = {0.07: 1.0, 0.10: 0.05, 0.06: 0.05, 0.05: 2 * stats.norm.sf(2 * Z), 0.13: 2 * stats.norm.sf(2 * Z)}
    assert {limit: p_value(measured, limit) for limit in expected} == pytest.approx(expected)
    wider = interval_at_level(measured, 0.01)
    factor = stats.norm.isf(0.005) / Z
    assert wider == estimate(0.07, pytest.approx(0.07 - 0.01 * factor), pytest.approx(0.07 + 0.03 * factor), level=0.99)


@pytest.mark.parametrize("freedom", [1, 19])
def test_students_interval_gives_students_p_value(freedom):
    error = 0.01
    half = stats.t.ppf(0.975, freedom) * error
    measured = estimate(0.07, 0.07 - half, 0.07 + half)
    assert p_value(measured, 0.05, freedom=freedom) == pytest.approx(2 * stats.t.sf(2.0, freedom))
    wide = interval_at_level(measured, 0.001, freedom=freedom)
    assert wide.high - 0.07 == pytest.approx(stats.t.ppf(0.9995, freedom) * error)


def test_p_values_at_other_levels_at_the_end_of_an_interval_and_far_away():
    measured = estimate(0.07, 0.05, 0.08)
    for level in (0.5, 0.9, 0.999):
        assert p_value(interval_at_level(measured, 1 - level), 0.04) == pytest.approx(p_value(measured, 0.04))
    for high in (0.1, 0.08):  # an end at the value, or below it: the other side's width is taken
        assert p_value(estimate(0.1, 0.02, high), 0.14) == pytest.approx(2 * stats.norm.sf(Z * 0.04 / 0.08))
    assert p_value(estimate(1.0, 1.0 - 1e-300, 1.0 + 5e-16), 0.0) == 0.0
    assert p_value(estimate(0.1, math.nan, math.nan), 0.5) == 1.0


def test_holms_steps_by_hand():
    decided = holm_decisions(by_p(0.021, 0.001, 0.02, 0.012, 0.008, 0.6), level=0.95).values()
    adjusted = [0.06, 0.006, 0.06, 0.048, 0.04, 0.6]  # times 6, 3, 4, 5; 0.021 alone would be below 0.05 / 2
    steps = [3, 6, 3, 4, 5, 3]  # the limits left when it was decided; from the first that was not, the same for all
    assert [decision.p_adjusted for decision in decided] == pytest.approx(adjusted)
    assert [decision.verdict == "pass" for decision in decided] == [p < 0.05 for p in adjusted]
    assert [decision.decided.level for decision in decided] == pytest.approx([1 - 0.05 / step for step in steps])


def test_computed_values_are_compared_and_cost_the_others_nothing():
    values = (0.7, 0.75, 0.75 + 1e-15, 0.76)
    exact = {str(value): LimitTest(estimate=estimate(value, value, value), limit=0.75) for value in values}
    decided = holm_decisions({**by_p(0.04), **exact}, level=0.95)
    assert decided["a"] == holm_decisions(by_p(0.04), level=0.95)["a"] and decided["a"].verdict == "pass"
    assert [decided[name].verdict for name in exact] == ["pass", "pass", "pass", "fail"]
    assert decided["0.7"].decided is None and math.isnan(decided["0.7"].p_value)
    least = LimitTest(estimate=estimate(0.8, 0.8, 0.8), limit=0.8, at_least=True)
    assert holm_decisions({"a": least}, level=0.95)["a"].verdict == "pass"


def test_repeats_that_agree_are_not_certain():
    tied = LimitTest(estimate=estimate(0.0, 0.0, 0.0), limit=0.05, freedom=5)
    decided = holm_decisions({**by_p(0.04), "tied": tied}, level=0.95)
    assert decided["tied"].verdict == "inconclusive" and decided["tied"].decided is None
    assert decided["a"].p_adjusted == pytest.approx(0.08)
    drawn = mean_over_repeats([0.0] * 6, resolution=0.0625)
    for limit, verdict in ((0.02, "inconclusive"), (0.05, "pass")):  # half width 0.0287
        decision = holm_decisions({"a": LimitTest(estimate=drawn, limit=limit, freedom=5)}, level=0.95)["a"]
        assert decision.verdict == verdict and decision.decided is not None


@pytest.mark.parametrize("measured_at", [0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
def test_a_limit_inside_the_measured_interval_is_told_apart_at_no_level(measured_at):
    """A difference without its sign ends at 0: how far its interval would reach beyond is not known."""
    folded = estimate(0.02, 0.0, 0.05, level=measured_at)
    for level in (0.5, 0.8, 0.9, 0.95, 0.99):
        for limit in (0.0, 0.001, 0.05):
            decision = holm_decisions({"a": LimitTest(estimate=folded, limit=limit)}, level=level)["a"]
            assert decision.verdict == "inconclusive" and decision.p_value >= 1 - level
            assert decision.decided.level >= measured_at
            assert decision.decided.low <= limit <= decision.decided.high


def normal(rng: np.random.Generator) -> list[LimitTest]:
    return [LimitTest(estimate=estimate(x, x - Z, x + Z), limit=0.0) for x in rng.normal(size=6)]


def together(rng: np.random.Generator) -> list[LimitTest]:
    common = rng.normal()
    values = math.sqrt(0.8) * common + math.sqrt(0.2) * rng.normal(size=6)
    return [LimitTest(estimate=estimate(x, x - Z, x + Z), limit=0.0, at_least=True) for x in values]


def few_repeats(rng: np.random.Generator) -> list[LimitTest]:
    drawn = rng.normal(0.05, 0.02, size=(6, 5))
    halves = T_OF_4 * drawn.std(axis=1, ddof=1) / math.sqrt(5)
    ends = zip(drawn.mean(axis=1), halves, strict=True)
    return [LimitTest(estimate=estimate(x, x - half, x + half), limit=0.05, freedom=4) for x, half in ends]


def rates(rng: np.random.Generator) -> list[LimitTest]:
    shares = (0.05, 0.1, 0.3, 0.5, 0.75, 0.9)
    return [LimitTest(estimate=proportion(int(rng.binomial(1000, rate)), 1000), limit=rate) for rate in shares]


@pytest.mark.parametrize("audit", [normal, together, few_repeats, rates])
def test_values_exactly_at_their_limits_are_seldom_called_kept_or_broken(audit):
    rng, audits = np.random.default_rng(11), 2000
    wrong = 0
    for _ in range(audits):
        decided = holm_decisions(dict(zip("abcdef", audit(rng), strict=True)), level=0.95)
        wrong += any(decision.verdict != "inconclusive" for decision in decided.values())
    assert wrong / audits <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / audits)
    assert wrong > 0
