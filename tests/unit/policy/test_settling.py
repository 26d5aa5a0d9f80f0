"""What would settle a check: the promised number of records is tried out by shrinking the interval."""

from __future__ import annotations

import math
import re

from hypothesis import assume, given
from hypothesis import strategies as st

from core.auditing.policy import CheckVerdict, judge, next_step
from core.auditing.policy.verdict import times_more_records
from core.stats.estimates import Estimate
from core.studies.study import Measurement
from tests.policy_samples import policy

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
