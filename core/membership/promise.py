"""What a privacy budget promises about membership: an upper bound on what any attack catches.

The promise is about one record more or less. A membership experiment trains on as many people either way: where she is
out, somebody else is in. Such tables differ by a record replaced, which is one record less and then one more, so that
what is promised about them is twice epsilon (Dwork and Roth 2014, theorem 2.2). Assumed: whoever attacks does not know
the seed of the noise.
"""

from __future__ import annotations

import math

from core.validation import privacy_budget, unit_interval

_LARGEST = 350.0
"""Epsilon beyond which exp(2 epsilon) is too large to be told."""


def most_times(epsilon: float) -> float:
    """Return how many times as often as an outsider a member can be flagged at most: exp(2 epsilon).

    Raises `InputError` if epsilon breaks its rule.
    """
    budget = privacy_budget(epsilon)
    return math.exp(2.0 * budget) if budget <= _LARGEST else math.inf


def most_caught(false_alarms: float, epsilon: float) -> float:
    """Return the largest share of members that an attack with so many false alarms can be expected to flag.

    The bound holds for who is flagged and for who is not (Kairouz, Oh and Viswanath 2015, theorem 2.1). `false_alarms`,
    in [0, 1], is the share of outsiders flagged.
    """
    alarms, times = unit_interval(false_alarms, name="false_alarms"), most_times(epsilon)
    if math.isinf(times):
        return 1.0
    return min(times * alarms, 1.0 - (1.0 - alarms) / times)
