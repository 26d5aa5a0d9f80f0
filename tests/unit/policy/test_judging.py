"""Verdicts: how limits judge, where their bullets lie, and what would settle an inconclusive check."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from core.auditing.policy import CHECKS, Policy, bullet, default_policy, judge, limits_to_set, next_step
from core.auditing.policy.decisions import LimitTest, holm_decisions, interval_at_level, p_value
from core.auditing.policy.verdict import times_more_records
from core.stats.estimates import Estimate, mean_over_repeats, not_measured, proportion
from core.studies.study import Measurement
from tests.policy_samples import done, estimate, policy

SIX = policy(
    **{"attribute_excess": 0.02, "correction_gain": 0.05, "answers_excess": 0.05},
    **{"targeted_leakage": 0.75, "membership_caught": 0.05, "membership_gap": 0.05},
)
"""Of the six checks of a release: two shall fail, one be inconclusive, one not be run, and two pass."""

MEASURED = (
    done("attribute_excess", 0.07, 0.0045),
    done("correction_gain", 0.01, 0.005),
    done("answers_excess", 0.04, 0.02, freedom=19),
    done("targeted_leakage", 1.0, basis="declared"),
    done("membership_caught", 0.013, 0.006),
    Measurement(check="membership_gap", outcome="failed", reason="The attack stopped with an error (ValueError)."),
)


def verdict_of(policy, *measurements, **more):
    return judge(policy, measurements, attribute="sex", **more)


def test_two_of_six_fail():
    verdict = verdict_of(SIX, *MEASURED)
    assert (verdict.overall, verdict.headline) == ("fail", "Do not release: Fail 2 of 6.")
    assert verdict.detail == "Also blocking: Inconclusive 1 · Not run 1. Pass 2."
    rows, rest = verdict.rows[:6], verdict.rows[6:]
    assert [row.item for row in rows] == [1, 4, 3, 6, 2, 5] and [row.blocks for row in rows] == [True] * 4 + [False] * 2
    assert [row.verdict for row in rows] == ["fail", "fail", "inconclusive", "not_run", "pass", "pass"]
    assert {row.check for row in rest} == set(CHECKS) - {limit.check for limit in SIX.limits}
    assert all(row.verdict == "not_asked" and not row.blocks and row.limit is None for row in rest)


def test_limits_for_information_are_counted_as_such():
    rule = default_policy()
    optional = sum(not limit.required for limit in rule.limits)
    verdict = verdict_of(rule, done("four_fifths", 0.7, 0.01))
    (row,) = [row for row in verdict.rows if row.check == "four_fifths"]
    assert optional and "For information: " in verdict.detail and "for information" in dict(row.lines)["Limit"]
    decisive = [row for row in verdict.rows if row.placeholder and row.is_decisive]
    listed = [row for row in verdict.rows if row.placeholder]
    assert limits_to_set(verdict.rows) == f"{len(listed)} limits to set ({len(listed) - len(decisive)} for information)"
    assert limits_to_set(decisive) == f"{len(decisive)} limits to set" and not limits_to_set([row])


def test_a_failed_test_of_fairleak_itself_blocks_every_release():
    rule = policy(correction_gain=0.05, four_fifths=0.8, optional=("four_fifths",))
    measurements = (done("correction_gain", 0.01, 0.005), done("four_fifths", 0.7, 0.01))
    sure = verdict_of(rule, *measurements)
    failed = verdict_of(rule, *measurements, failed_tests=("Members caught", "Gaps"))
    assert (sure.overall, failed.overall, failed.rows) == ("pass", "inconclusive", sure.rows)
    assert "“Members caught”; “Gaps”" in failed.detail
    worse, before = verdict_of(SIX, *MEASURED, failed_tests=("Gaps",)), verdict_of(SIX, *MEASURED)
    assert (worse.overall, worse.headline) == ("fail", before.headline)
    assert worse.detail.startswith(before.detail)


def test_a_pass_names_the_confidence_it_was_decided_at():
    passed = verdict_of(policy(level=0.99, correction_gain=0.05), done("correction_gain", 0.01, 0.005))
    assert passed.overall == "pass" and "99%" in passed.detail


@pytest.mark.parametrize(
    "measurement",
    [
        None,
        Measurement(check="answers_excess", outcome="failed"),
        Measurement(check="answers_excess", outcome="done", estimate=not_measured()),
        replace(done("answers_excess", 0.0, 0.001), outcome="failed", reason="Late."),
    ],
)
def test_without_a_number_a_required_check_is_not_run_and_blocks(measurement):
    verdict = verdict_of(policy(answers_excess=0.05), *([measurement] if measurement else []))
    row = verdict.rows[0]
    assert (row.check, row.verdict, row.blocks) == ("answers_excess", "not_run", True)
    assert verdict.overall == "not_run"
    assert math.isnan(row.p_value)


def test_numbers_without_an_interval_and_limits_not_required_belong_to_the_family():
    verdict = verdict_of(policy(answers_excess=0.05), done("answers_excess", 0.0, math.nan))
    assert verdict.overall == "inconclusive"
    assert verdict.rows[0].why == "There is no interval, so there is no verdict on the limit of at most 5.0 points."
    measurements = (done("unfairness", 0.03, 0.019), done("membership_caught", 0.5, 0.1))
    assert verdict_of(policy(unfairness=0.05), *measurements).overall == "pass"
    both = policy(unfairness=0.05, membership_caught=0.5, optional=("membership_caught",))
    assert verdict_of(both, *measurements).overall == "inconclusive"


@pytest.mark.parametrize(
    ("check", "limit", "measured", "places", "arrows"),
    [
        ("unfairness", 0.1, (0.1, 0.05), (0.5, 0.25, 0.75), ()),
        ("attribute_excess", 0.02, (0.03, 0.035), (0.75, 0.0, 1.0), (False, True)),
        ("attribute_excess", 0.02, (0.07, 0.001), (1.0, 1.0, 1.0), (True,)),
        ("attribute_excess", 0.0, (0.025, 0.0), (0.75, 0.75, 0.75), ()),
        ("attribute_excess", -0.02, (-0.01, 0.0), (0.75, 0.75, 0.75), ()),
        ("unfairness", 0.1, (0.05, math.nan), (0.25, 0.25, 0.25), ()),
        ("membership_auc", 0.55, (0.5, 0.025), (0.0, 0.0, 0.25), (False,)),
        ("four_fifths", 0.8, (0.9, 0.05), (0.25, 0.125, 0.375), ()),
        ("four_fifths", 1.0, (0.9, 0.0), (0.55, 0.55, 0.55), ()),
    ],
)
def test_the_limit_lies_in_the_middle_and_what_is_beyond_the_scale_at_its_end(check, limit, measured, places, arrows):
    marks = bullet(verdict_of(policy(**{check: limit}), done(check, *measured)).rows[0])
    assert marks[:3] == pytest.approx(places) and marks.arrows == arrows


def test_the_interval_is_the_one_that_decided():
    rule = policy(unfairness=0.1, membership_gap=0.1)
    measurements = (done("unfairness", 0.07, 0.025), done("membership_gap", 0.1, 0.02))
    row = next(row for row in verdict_of(rule, *measurements).rows if row.check == "unfairness")
    assert row.decided.level == pytest.approx(0.975)
    assert bullet(row).high == pytest.approx(row.decided.high / 0.2)
    assert all(bullet(row) is None for row in verdict_of(rule).rows)  # without limit or number there is none


def shrunk(estimate, times):
    """Return the interval of an estimate from so many times the records."""
    value, root = estimate.value, math.sqrt(times)
    return value - (value - estimate.low) / root, value + (estimate.high - value) / root


SHARES, WIDTHS = st.floats(0.001, 0.999), st.floats(0.001, 0.5)


@given(SHARES, SHARES, WIDTHS, WIDTHS, st.integers(1, 10**6), st.sampled_from(["unfairness", "four_fifths"]))
def test_with_the_promised_records_the_interval_leaves_out_the_limit(value, limit, below, above, n, check):
    estimate = Estimate(value=value, low=value - below, high=value + above, n=n, level=0.95)
    verdict = verdict_of(policy(**{check: limit}), Measurement(check=check, estimate=estimate))
    row = next(row for row in verdict.rows if row.check == check)
    assume(row.verdict == "inconclusive" and row.decided is not None)
    sentence = next_step(row)
    low, high = shrunk(row.decided, times_more_records(row.decided, limit) * (1 + 1e-9))
    assert not low < limit < high
    beyond = value > limit if check == "unfairness" else value < limit
    assert ("Likely beyond the limit" in sentence) == beyond
    if beyond:
        assert not re.search(r"\d", sentence)  # nobody is told to collect records in order to fail
        return
    if "no realistic number" in sentence:
        low, high = shrunk(row.decided, 10)
        assert low <= limit <= high and "about" not in sentence.lower()
        return
    more = int(re.fullmatch(r"About ([\d,]+) more records.*", sentence)[1].replace(",", ""))
    low, high = shrunk(row.decided, (n + more) / n)
    assert not low <= limit <= high
    low, high = shrunk(row.decided, max(1.0, (n + more / 1.11 - 2) / n))
    assert low <= limit + 1e-9 and limit - 1e-9 <= high


@pytest.mark.parametrize(("check", "ends"), [("membership_gap", (0.0, 1.0)), ("attribute_excess", (-1.0, 1.0))])
def test_decided_interval_stays_where_the_check_can_be(check, ends):
    """A size from 0, a difference from -1."""
    measurement = done(check, 0.4)
    measurement = replace(measurement, estimate=replace(measurement.estimate, low=-1.2, high=1.4))
    row = verdict_of(policy(**{check: 0.3}), measurement).rows[0]
    assert (row.decided.low, row.decided.high) == pytest.approx(ends, abs=1e-9)


@pytest.mark.parametrize(("p", "expected"), [(0.03, "inconclusive"), (0.02, "pass")])
def test_policy_without_a_level_is_wrong_once_in_twenty(p, expected):
    """Two claims with p each are decided by Holm's first step where 2 p < 0.05."""
    limits = policy(attribute_excess=0.2, membership_caught=0.2).limits
    value = 0.2 - 0.01 * stats.norm.isf(p / 2)
    measurements = [done(limit.check, value, 0.01 * stats.norm.isf(0.025)) for limit in limits]
    verdict = verdict_of(Policy(name="P", version="1", limits=limits), *measurements)
    assert [row.verdict for row in verdict.rows[:2]] == [expected, expected]


Z, T_OF_4 = 1.959963984540054, 2.7764451051977987


def by_p(*p_values, **more):
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


def together(rng):
    common = rng.normal()
    values = math.sqrt(0.8) * common + math.sqrt(0.2) * rng.normal(size=6)
    return [LimitTest(estimate=estimate(x, x - Z, x + Z), limit=0.0, at_least=True) for x in values]


def few_repeats(rng):
    drawn = rng.normal(0.05, 0.02, size=(6, 5))
    halves = T_OF_4 * drawn.std(axis=1, ddof=1) / math.sqrt(5)
    ends = zip(drawn.mean(axis=1), halves, strict=True)
    return [LimitTest(estimate=estimate(x, x - half, x + half), limit=0.05, freedom=4) for x, half in ends]


def rates(rng):
    drawn = [(rng.binomial(1000, rate), rate) for rate in (0.05, 0.1, 0.3, 0.5, 0.75, 0.9)]
    return [LimitTest(estimate=proportion(hits, 1000), limit=rate) for hits, rate in drawn]


@pytest.mark.parametrize("audit", [together, few_repeats, rates])
def test_values_exactly_at_their_limits_are_seldom_called_kept_or_broken(audit):
    rng, audits = np.random.default_rng(11), 2000
    wrong = 0
    for _ in range(audits):
        decided = holm_decisions(dict(zip("abcdef", audit(rng), strict=True)), level=0.95)
        wrong += any(decision.verdict != "inconclusive" for decision in decided.values())
    assert wrong / audits <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / audits)
    assert wrong > 0
