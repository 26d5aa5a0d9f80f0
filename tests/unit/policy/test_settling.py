"""What would settle a check: the promised number of records is tried out by shrinking the interval."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.auditing.policy import CheckVerdict, judge, next_step
from core.auditing.policy.verdict import NOTHING_TO_DO, times_more_records
from core.stats.estimates import Estimate
from core.studies.study import Measurement
from tests.policy_samples import done, policy

SHARES = st.floats(0.001, 0.999)
WIDTHS = st.floats(0.001, 0.5)
SIZES = st.integers(1, 10**6)


def row_of(check: str, limit: float, *measurements: Measurement) -> CheckVerdict:
    """Return the row of one check under a policy with nothing but its limit."""
    rows = judge(policy(**{check: limit}), measurements, attribute="sex").rows
    return next(row for row in rows if row.check == check)


def shrunk(estimate: Estimate, times: float) -> tuple[float, float]:
    """Return the interval of an estimate from so many times the records."""
    factor = 1 / math.sqrt(times)
    return estimate.value - factor * (estimate.value - estimate.low), estimate.value + factor * (
        estimate.high - estimate.value
    )


@given(
    value=SHARES,
    limit=SHARES,
    below=WIDTHS,
    above=WIDTHS,
    n=SIZES,
    check=st.sampled_from(["unfairness", "four_fifths"]),
)
def test_with_the_promised_records_the_interval_leaves_out_the_limit(
    value: float, limit: float, below: float, above: float, n: int, check: str
) -> None:
    estimate = Estimate(value=value, low=value - below, high=value + above, n=n, level=0.95)
    row = row_of(check, limit, Measurement(check=check, estimate=estimate))
    assume(row.verdict == "inconclusive" and row.decided is not None)
    assert row.decided is not None
    sentence = next_step(row)
    times = times_more_records(row.decided, limit)
    low, high = shrunk(row.decided, times * (1 + 1e-9))
    assert not low < limit < high
    beyond = value > limit if check == "unfairness" else value < limit
    assert ("Likely beyond the limit" in sentence) == beyond
    if beyond:
        assert not re.search(r"\d", sentence)  # nobody is told to collect records in order to fail
        return
    if "no realistic number" in sentence:
        low, high = shrunk(row.decided, 10)
        assert low <= limit <= high
        assert "about" not in sentence.lower()
        return
    more = int(re.fullmatch(r"About ([\d,]+) more records.*", sentence)[1].replace(",", ""))  # type: ignore[index]
    low, high = shrunk(row.decided, (n + more) / n)
    assert not low <= limit <= high
    low, high = shrunk(row.decided, max(1.0, (n + more / 1.11 - 2) / n))
    assert low <= limit + 1e-9 and limit - 1e-9 <= high


LIKELY_BEYOND = (
    "Likely beyond the limit; more records would confirm it. Train, or ask for, a fairer model (Choose a model)."
)
AT_THE_LIMIT = (
    "The result lies at the limit; no realistic number of records settles it. A person must decide, with a reason."
)


@pytest.mark.parametrize(
    ("value", "half", "sentence"),
    [
        (0.04, 0.019, "About 2,700 more records, or accept the risk in writing."),
        (0.06, 0.019, LIKELY_BEYOND),
        (0.045, 0.021, AT_THE_LIMIT),
        (0.055, 0.021, LIKELY_BEYOND),
        (0.05, 0.02, AT_THE_LIMIT),
        (0.01, 0.02, NOTHING_TO_DO),
        (0.2, 0.02, "Train, or ask for, a fairer model (Choose a model), or accept the risk in writing."),
    ],
)
def test_the_sentences(value: float, half: float, sentence: str) -> None:
    assert next_step(row_of("unfairness", 0.05, done("unfairness", value, half))) == sentence


def test_records_that_are_unknown_or_do_not_matter() -> None:
    measurement = done("unfairness", 0.04, 0.019)
    assert measurement.estimate is not None
    none = replace(measurement, estimate=replace(measurement.estimate, n=0))
    assert next_step(row_of("unfairness", 0.05, none)) == (
        "About 3.7 times the records (their number is unknown), or accept the risk in writing."
    )
    without = replace(measurement, estimate=replace(measurement.estimate, low=math.nan, high=math.nan))
    assert next_step(row_of("unfairness", 0.05, without)) == (
        "There is no interval, so the records needed are unknown. Decide in writing."
    )
    repeats = replace(done("answers_excess", 0.04, 0.019), freedom=19)
    assert next_step(row_of("answers_excess", 0.05, repeats)).startswith("About 2,700 more repetitions")
