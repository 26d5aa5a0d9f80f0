"""Membership advantage: TPR - FPR at the threshold that is best on other people (Yeom et al. 2018, definition 4)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.estimates import Estimate, proportion
from core.membership.attacks.thresholds import best_threshold
from core.membership.halves import halves
from core.validation import binary_array, one_length

FEWEST = 10
"""Fewest members, and fewest non-members, whose advantage is measured."""


def advantage(
    score: npt.ArrayLike,
    member: npt.ArrayLike,
    *,
    seed: int,
    verdict: npt.ArrayLike | None = None,
) -> Estimate:
    """Return TPR - FPR, each half of the people judged at the threshold with the best TPR - FPR on the other half.

    The largest TPR - FPR of a sample is above 0 where nothing leaks; this one is 0 on average. Raises `InputError` if
    there are fewer than `FEWEST` members or non-members.

    Parameters
    ----------
    score : array-like of shape (n,)
        A higher one speaks for a member.
    member : array-like of shape (n,), 0 or 1
    verdict : array-like of shape (n,), 0 or 1, optional
        Of an attack that learned on other people whom to call a member: judged as it is. Its scores could not be: on
        the other half they come from a fit that knows the membership of this one.

    Notes
    -----
    The interval is Newcombe's hybrid score interval (1998, method 10) of the difference of two rates, the thresholds
    taken as they are: it is of the advantage that these thresholds have, which is at most the largest there is.
    """
    scores, inside = np.asarray(score, dtype=np.float64), binary_array(member, name="member")
    one_length(score=scores, member=inside)
    for told, count in (("members", int(inside.sum())), ("non-members", int((1 - inside).sum()))):
        if count < FEWEST:
            raise InputError(f"A membership advantage needs at least {FEWEST} {told}, got {count}.")
    if verdict is None:
        second = halves(inside, seed=seed)
        called = np.zeros(inside.size, dtype=np.uint8)
        for half in (second, ~second):
            called[half] = scores[half] >= best_threshold(scores[~half], inside[~half])
    else:
        called = binary_array(verdict, name="verdict")
        one_length(verdict=called, member=inside)
    rates = [proportion(int(called[inside == kind].sum()), int((inside == kind).sum())) for kind in (1, 0)]
    true, false = rates
    value = true.value - false.value
    below = float(np.hypot(true.value - true.low, false.high - false.value))
    above = float(np.hypot(true.high - true.value, false.value - false.low))
    return Estimate(value=value, low=max(-1.0, value - below), high=min(1.0, value + above), n=inside.size)
