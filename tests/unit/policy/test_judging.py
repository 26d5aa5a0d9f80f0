"""Verdicts: how limits judge, where their bullets lie, and what would settle an inconclusive check."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from core.auditing.policy import CHECKS, CheckVerdict, Policy, Verdict, bullet, judge, next_step
from core.auditing.policy.limits import range_text
from core.auditing.policy.verdict import times_more_records
from core.stats.estimates import Estimate, not_measured
from core.studies.study import Measurement
from tests.policy_samples import done, policy

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


def verdict_of(policy: Policy, *measurements: Measurement) -> Verdict:
    """Return the verdict with the attribute called sex."""
    return judge(policy, measurements, attribute="sex")


def test_two_of_six_fail():
    verdict = verdict_of(SIX, *MEASURED)
    assert (verdict.overall, verdict.headline) == ("fail", "Do not release: Fail 2 of 6.")
    assert verdict.detail == "Also blocking: Inconclusive 1 · Not run 1. Pass 2."
    rows, rest = verdict.rows[:6], verdict.rows[6:]
    assert [row.item for row in rows] == [1, 4, 3, 6, 2, 5] and [row.blocks for row in rows] == [True] * 4 + [False] * 2
    assert [row.verdict for row in rows] == ["fail", "fail", "inconclusive", "not_run", "pass", "pass"]
    assert {row.check for row in rest} == set(CHECKS) - {limit.check for limit in SIX.limits}
    assert all(row.verdict == "not_asked" and not row.blocks and row.limit is None for row in rest)


def test_a_failed_test_of_fairleak_itself_blocks_every_release():
    optional_policy = policy(correction_gain=0.05, four_fifths=0.8, optional=("four_fifths",))
    measurements = (done("correction_gain", 0.01, 0.005), done("four_fifths", 0.7, 0.01))
    sure = judge(optional_policy, measurements, attribute="sex")
    assert sure.overall == "pass"
    failed = judge(optional_policy, measurements, attribute="sex", failed_tests=("Members caught", "Gaps"))
    assert (failed.overall, failed.rows) == ("inconclusive", sure.rows)
    assert "“Members caught”; “Gaps”" in failed.detail
    worse, before = judge(SIX, MEASURED, attribute="sex", failed_tests=("Gaps",)), verdict_of(SIX, *MEASURED)
    assert (worse.overall, worse.headline) == ("fail", before.headline)
    assert worse.detail.startswith(before.detail)


def test_a_pass_names_the_confidence_it_was_decided_at():
    passed = verdict_of(policy(level=0.99, correction_gain=0.05), done("correction_gain", 0.01, 0.005))
    assert passed.overall == "pass" and "99%" in passed.detail


@pytest.mark.parametrize(("value", "expected"), [(0.9, "pass"), (0.7, "fail"), (0.805, "inconclusive")])
def test_a_limit_of_at_least_is_kept_from_above(value, expected):
    assert verdict_of(policy(four_fifths=0.8), done("four_fifths", value, 0.01)).overall == expected


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
        ("membership_auc", 0.55, (0.575, 0.0), (0.75, 0.75, 0.75), ()),
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


@pytest.mark.parametrize(
    ("check", "supplied"), [("membership_caught", "not in training"), ("attribute_excess", "missing")]
)
def test_next_step_says_of_whom_there_are_too_few(check, supplied):
    scarce = Measurement(check=check, outcome="not_run", reason="Needs at least 1,000, got 500.")
    assert supplied in next_step(row_of(check, 0.1, scarce))


def row_of(check: str, limit: float, *measurements: Measurement) -> CheckVerdict:
    """Return the row of one check under a policy with nothing but its limit."""
    rows = judge(policy(**{check: limit}), measurements, attribute="sex").rows
    return next(row for row in rows if row.check == check)


def shrunk(estimate: Estimate, times: float) -> tuple[float, float]:
    """Return the interval of an estimate from so many times the records."""
    value, root = estimate.value, math.sqrt(times)
    return value - (value - estimate.low) / root, value + (estimate.high - value) / root


SHARES, WIDTHS = st.floats(0.001, 0.999), st.floats(0.001, 0.5)


@given(SHARES, SHARES, WIDTHS, WIDTHS, st.integers(1, 10**6), st.sampled_from(["unfairness", "four_fifths"]))
def test_with_the_promised_records_the_interval_leaves_out_the_limit(value, limit, below, above, n, check):
    estimate = Estimate(value=value, low=value - below, high=value + above, n=n, level=0.95)
    row = row_of(check, limit, Measurement(check=check, estimate=estimate))
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


@pytest.mark.parametrize(
    ("check", "ends"),
    [("membership_gap", ("0.0", "+5.0")), ("attribute_excess", ("−1.0", "+5.0"))],
    ids=["a size", "a difference"],
)
def test_range_text_stays_where_the_check_can_be(check, ends):
    text = range_text(check, Estimate(value=0.02, low=-0.01, high=0.05, n=1000), 0.03)
    assert re.findall(r"[+−]?\d+\.\d", text) == list(ends)


@pytest.mark.parametrize(("p", "expected"), [(0.03, "inconclusive"), (0.02, "pass")])
def test_policy_without_a_level_is_wrong_once_in_twenty(p, expected):
    """Two claims with p each are decided by Holm's first step where 2 p < 0.05."""
    limits = policy(attribute_excess=0.2, membership_caught=0.2).limits
    value = 0.2 - 0.01 * stats.norm.isf(p / 2)
    measurements = [done(limit.check, value, 0.01 * stats.norm.isf(0.025)) for limit in limits]
    verdict = verdict_of(Policy(name="P", version="1", limits=limits), *measurements)
    assert [row.verdict for row in verdict.rows[:2]] == [expected, expected]
