"""The four-fifths rule: the acceptance rate of the group accepted least over that of the group accepted most.

A ratio of two rates has the interval of its logarithm: the distances of each rate's logarithm to those of its Wilson
limits add as squares (Zou and Donner 2008). A rate of 0 has no logarithm; the ratio is then 0, and its upper end the
largest of the one rate over the smallest of the other.
"""

from __future__ import annotations

import itertools
import math

from core.decision.audited import Audited
from core.decision.measures.reasons import not_run
from core.estimates import Estimate
from core.fairness import group_rates
from core.policy import Measurement
from core.strongest import least


def four_fifths(audited: Audited) -> Measurement:
    """Return the smallest ratio of two groups' acceptance rates on the test records."""
    test = audited.splits.test
    rates = {
        audited.dataset.group_names[int(rate.group)]: rate.rate
        for rate in group_rates(
            audited.model.predictions[test], audited.dataset.sensitive[test], metric="statistical_parity"
        )
    }
    if not any(rate.value for rate in rates.values()):
        return not_run(
            "four_fifths", f"The model accepts nobody on the {test.size:,} test records, so there is no ratio."
        )
    pairs = {
        f"{lower} over {upper}": rate_ratio(rates[lower], rates[upper])
        for lower, upper in (
            sorted(pair, key=lambda name: rates[name].value) for pair in itertools.combinations(rates, 2)
        )
    }
    name, estimate = least(pairs)
    return Measurement(
        check="four_fifths",
        estimate=estimate,
        attacked=f"Acceptance rates on {test.size:,} test records, {name}.",
        knows="There is no attacker.",
        assumptions=("The test records are a sample of the people the model will decide about.",),
        details={f"accepted among {group}": rate.value for group, rate in rates.items()},
    )


def rate_ratio(lower: Estimate, upper: Estimate) -> Estimate:
    """Return the smaller of two rates over the larger, at most 1, with its interval.

    Parameters
    ----------
    lower, upper : Estimate
        Proportions with Wilson intervals at one level; `lower` is at most `upper`. Both 0 is a ratio of 1 of which
        nothing is known.
    """
    n = lower.n + upper.n
    if not upper.value:
        return Estimate(value=1.0, low=0.0, high=1.0, n=n, level=upper.level)
    value = lower.value / upper.value
    if not lower.value:
        return Estimate(value=0.0, low=0.0, high=min(1.0, lower.high / upper.low), n=n, level=upper.level)
    below = math.hypot(math.log(lower.value / lower.low), math.log(upper.high / upper.value))
    above = math.hypot(math.log(lower.high / lower.value), math.log(upper.value / upper.low))
    low, high = value * math.exp(-below), value * math.exp(above)
    if high >= 1.0:  # the other group may be the one accepted less
        low, high = min(low, 1.0 / high), 1.0
    return Estimate(value=value, low=low, high=high, n=n, level=upper.level)
