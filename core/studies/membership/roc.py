"""ROC curve of a membership attack: the curve, the AUC, and the TPR at a given FPR.

Trees give many people the same score. The curve has one point a distinct score; between two points lies what breaking
ties at random reaches, which is how the TPR at a given FPR is read, see `core.studies.membership.roc`.

TPR at a given FPR. Take n non-members and m members whose scores tell nothing: ordered from the highest score down,
ties in random order, m j / (n + 1) members are expected above the j-th non-member. So an FPR of f is read at j = f (n +
1), between whole j by interpolation, and the TPR is then f on average where nothing leaks, whatever n and whatever the
ties. A threshold that takes all of a tie or none does not have that: it reads 0 where the highest tie is larger than f.
With A non-members and B members above a tie of a and b, its i-th non-member has B + b i / (a + 1) members above it on
average over the orders of the tie. That is a real attack: an attacker with these scores can break ties at random.

Interval: the true FPR of a threshold at the j-th of n non-members is a Beta(j, n + 1 - j) variable, whatever the
scores, and of m members drawn again a binomial number lies above it. The percentiles of this mixture are those of a
bootstrap over both, computed instead of drawn. The mixture is a little too narrow where few non-members lie above the
threshold; so the distances to its ends are stretched by 1 + `_WIDER` / j.

Membership advantage: TPR - FPR at the threshold that is best on other people (Yeom et al. 2018, definition 4).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...adversaries.released_outputs import halves
from ...base.errors import InputError
from ...base.serialize import Result
from ...base.validation import Codes, Floats, Ints
from ...stats.estimates import (
    LEVEL,
    Estimate,
    difference,
    normal_quantile,
    not_measured,
    proportion,
)
from .attack import FEWEST, best_threshold

_SPARSE = 10
"""Fewest members above, and below, the threshold with which the percentiles stand by themselves."""

_WIDER = 1.0
"""At ten false positives an interval is a tenth wider, at a hundred a hundredth."""

_CELLS = 400
"""Equally likely thresholds that stand for all."""


def members_above(
    rank: Floats | Ints | float, false_positives: Ints, true_positives: Ints
) -> Floats:
    """Return the expected number of members above the non-member at each place, ties broken at random.

    A place is 1 for the highest of n non-members; between whole places it is interpolated, at n + 1 everybody is above.
    False and true positives, of shape (k,), are non-members and members at or above each distinct score, falling, after
    a 0 each.
    """
    below = np.floor(rank)
    share = rank - below
    return (1.0 - share) * _above(below, false_positives, true_positives) + share * _above(
        below + 1.0, false_positives, true_positives
    )


def _above(rank: Floats, false_positives: Ints, true_positives: Ints) -> Floats:
    n = int(false_positives[-1])
    inside = np.clip(rank, 1, n)
    tie = np.searchsorted(
        false_positives, inside, side="left"
    )  # the last cut of the tie that holds the place
    before = false_positives[tie - 1]
    a = false_positives[tie] - false_positives[tie - 1]
    b = true_positives[tie] - true_positives[tie - 1]
    expected = true_positives[tie - 1] + b * (inside - before) / (a + 1.0)
    return np.where(rank < 1, 0.0, np.where(rank > n, float(true_positives[-1]), expected))


def tpr_estimate(fpr: float, false_positives: Ints, true_positives: Ints) -> Estimate:
    """Return the TPR at an FPR in (0, 1], and its interval; false and true positives are those of `members_above`.

    Where fewer than 10 members lie above the threshold, or below it, the interval is widened to hold Wilson's: so few
    show too little variance, none shows none.
    """
    from scipy.special import betaincinv

    n = int(false_positives[-1])
    m = int(true_positives[-1])
    j = fpr * (n + 1)
    if j >= n + 1:
        return proportion(m, m)
    caught = float(members_above(j, false_positives, true_positives))
    rate = betaincinv(j, n + 1 - j, (np.arange(_CELLS) + 0.5) / _CELLS)
    shares = members_above((n + 1) * rate, false_positives, true_positives) / m
    low, high = (_quantile(q, shares, m) / m for q in (0.5 - LEVEL / 2, 0.5 + LEVEL / 2))
    value = caught / m
    wider = 1.0 + _WIDER / j
    low = value - wider * (value - low)
    high = value + wider * (high - value)
    if min(caught, m - caught) < _SPARSE:
        wilson = proportion(caught, m)
        low = min(low, wilson.low)
        high = max(high, wilson.high)
    return Estimate(
        value=value, low=max(0.0, min(value, low)), high=min(1.0, max(value, high)), n=m
    )


def _quantile(q: float, shares: Floats, members: int) -> int:
    """Return the smallest number that a mixture of binomials, all as likely, stays at or below with probability q."""
    from scipy.special import bdtr

    return bisect_left(
        range(members), q, key=lambda most: float(bdtr(most, members, shares).mean())
    )


LOW_FPR = 0.01
"""FPR at which a TPR is read."""

RESOLUTION = 10
"""Fewest false positives an FPR must allow to be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Roc(Result):
    """A curve.

    `fpr` and `tpr` rise from 0 to 1, one point a distinct score, and are empty where too few people were judged; the
    AUC is the probability that a member scores above a non-member, ties counting half.
    """

    fpr: Floats
    tpr: Floats
    auc: Estimate
    n_members: int
    n_outsiders: int

    def tpr_at(self, fpr: float) -> Estimate:
        """Return the TPR at this FPR with its interval, see `core.studies.membership.roc`.

        All is nan where `resolution_reason` gives a reason.
        """
        if self.resolution_reason(fpr):
            return not_measured()
        return tpr_estimate(fpr, *self._counts)

    def reached(self, fpr: npt.ArrayLike) -> Floats:
        """Return the values of `tpr_at` at many FPRs, in [0, 1], however few people they rest on."""
        places = np.multiply(fpr, self.n_outsiders + 1)
        return members_above(places, *self._counts) / self.n_members

    @property
    def _counts(self) -> tuple[Ints, Ints]:
        """Non-members and members at or above each distinct score, falling, after a 0 each."""
        false = np.rint(self.fpr * self.n_outsiders)
        true = np.rint(self.tpr * self.n_members)
        return false.astype(np.int64), true.astype(np.int64)

    def resolution_reason(self, fpr: float) -> str:
        """Return why the TPR at this FPR, in (0, 1], cannot be read off these people, or "" if it can.

        An FPR must allow `RESOLUTION` false positives among the non-members, and not all scores may be the same: then a
        TPR would say something of the random order alone.
        """
        needed = math.ceil(RESOLUTION / fpr - 1e-9)
        if self.n_outsiders < needed:
            return f"n/a, needs at least {needed:,} non-members, got {self.n_outsiders:,}"
        if not self.fpr.size:
            return f"n/a, needs at least {FEWEST} members, got {self.n_members:,}"
        if self.fpr.size == 2:
            return "n/a, ties prevent it: the attack gives everybody the same score"
        return ""


def roc(score: npt.ArrayLike, member: npt.ArrayLike) -> Roc:
    """Return the curve of a score, shape (m,), finite; a higher one speaks for a member (m,), 0 or 1.

    With fewer than `FEWEST` members or non-members the curve is empty and its area nan. Raises `InputError` if a score
    is not finite.
    """
    scores = np.asarray(score, dtype=np.float64)
    inside = np.asarray(member, dtype=np.uint8)
    if (odd := scores[~np.isfinite(scores)]).size:
        raise InputError(f"Every score must be a finite number, got {odd[0]}.")
    members = int(inside.sum())
    outsiders = inside.size - members
    fpr = tpr = np.empty(0)
    auc = not_measured()
    if min(members, outsiders) >= FEWEST:
        alarms, caught = counts_above(scores, inside)
        fpr = alarms / outsiders
        tpr = caught / members
        auc = area(scores[inside == 1], scores[inside == 0])
    return Roc(fpr=fpr, tpr=tpr, auc=auc, n_members=members, n_outsiders=outsiders)


def counts_above(score: Floats, member: Codes) -> tuple[Ints, Ints]:
    """Return non-members and members at or above each distinct score, falling, after a 0 each."""
    order = np.argsort(-score, kind="stable")
    ordered = score[order]
    inside = member[order]
    last = np.append(np.flatnonzero(np.diff(ordered)), ordered.size - 1)  # of each run of ties
    caught = np.cumsum(inside, dtype=np.int64)[last]
    return np.append(0, last + 1 - caught), np.append(0, caught)


def area(members: Floats, outsiders: Floats) -> Estimate:
    """Return the probability that a member scores above a non-member, ties counting half, with its interval.

    There are at least two scores of members and of non-members.

    The variance is that of DeLong, DeLong and Clarke-Pearson (1988): a member's placement is the share of non-members
    below, ties half, and the variances of both sides' placements add, each divided by its number. Midranks give the
    placements with ties exactly (Sun and Xu 2014). The interval is set on the logit of the area, so that it stays
    inside [0, 1]. At 0 and 1 the placements do not vary; there it is Newcombe's score interval (2006, method 5). Where
    fewer than 10 of a side are placed other than the rest of it, so few show too little variance, and none shows none:
    there the interval is widened to hold the normal one with a placement of 0 and one of 1 added to either side.
    """
    from scipy.stats import rankdata

    z = normal_quantile(LEVEL)
    m = members.size
    n = outsiders.size
    ranks = rankdata(np.concatenate([members, outsiders]))
    above = (ranks[:m] - rankdata(members)) / n
    below = 1.0 - (ranks[m:] - rankdata(outsiders)) / m
    value = float(above.mean())
    if value in (0.0, 1.0):
        low, high = _separated(value, m, n, z)
    else:
        low, high = _logit_interval(value, z * _error(above, below))
        if min(_varied(above), _varied(below)) < _SPARSE:
            half = z * _error(*(np.append(side, (0.0, 1.0)) for side in (above, below)))
            low = max(0.0, min(low, value - half))
            high = min(1.0, max(high, value + half))
    return Estimate(value=value, low=low, high=high, n=m + n)


def _error(above: Floats, below: Floats) -> float:
    """Return the standard error of an area by the placements of both sides."""
    return math.sqrt(sum(float(side.var(ddof=1)) / side.size for side in (above, below)))


def _varied(placements: Floats) -> int:
    """Return how many of a side are not placed as most of it are."""
    return int(placements.size - np.unique(placements, return_counts=True)[1].max())


def _logit_interval(value: float, half: float) -> tuple[float, float]:
    """Return the interval of an area inside (0, 1), half its width given at first order."""
    centre = math.log(value / (1.0 - value))
    reach = half / (value * (1.0 - value))
    low, high = (
        1.0 / (1.0 + math.exp(-min(max(limit, -700.0), 700.0)))
        for limit in (centre - reach, centre + reach)
    )
    return min(low, value), max(high, value)


def _separated(value: float, m: int, n: int, z: float) -> tuple[float, float]:
    """Return the interval of an area of 0 or 1: the areas from which it is not too far for their own variance."""
    from scipy.optimize import brentq

    half = (m + n) / 2 - 1

    def excess(a: float) -> float:
        """Squared distance of 1 from an area a, less z² times its variance (Newcombe 2006, method 5)."""
        variance = a * (1 - a) * (1 + half * ((1 - a) / (2 - a) + a / (1 + a))) / (m * n)
        return (1.0 - a) ** 2 - z * z * variance

    if excess(1.0 - 1e-12) < 0:
        limit = float(brentq(excess, 0.0, 1.0 - 1e-12))
    else:
        limit = 1.0
    if value == 1.0:
        return (limit, 1.0)
    return (0.0, 1.0 - limit)


def cross_fitted_verdict(score: Floats, member: Codes, *, seed: int) -> Codes:
    """Return whom an attack calls members, (n,): each half at the threshold with the best TPR - FPR on the other half.

    The score, (n,), is higher for members; there is at least one member and one non-member.
    """
    second = halves(member, seed=seed)
    called = np.zeros(member.size, dtype=np.uint8)
    for half in (second, ~second):
        called[half] = score[half] >= best_threshold(score[~half], member[~half])
    return called


def advantage(verdict: Codes, member: Codes) -> Estimate:
    """Return TPR - FPR of verdicts learned on other people, such as `cross_fitted_verdict`, (n,), 0 or 1.

    The largest TPR - FPR of a sample is above 0 where nothing leaks; this one is 0 on average.

    The interval is Newcombe's hybrid score interval (1998, method 10) of the difference of two rates, the thresholds
    taken as they are: it is of the advantage that these thresholds have, which is at most the largest there is.
    """
    true, false = (
        proportion(int(verdict[member == kind].sum()), int((member == kind).sum()))
        for kind in (1, 0)
    )
    return difference(true, false)


def is_muted(auc: Estimate) -> bool:
    """Return whether gaps of verdicts say nothing of leakage, the attack not being measurably better than chance.

    So it is unless the interval of its AUC lies above 0.5: where it holds 0.5, lies below, or is not there.
    """
    return not auc.low > 0.5


_LARGEST = 350.0
"""Epsilon beyond which exp(2 epsilon) is too large to be written."""


def most_caught(fpr: float, epsilon: float) -> float:
    """Return the largest share of members that an attack with so many false positives can be expected to flag.

    The guarantee of a privacy budget is about one record more or less. A membership experiment trains on as many people
    either way: where a person is out, somebody else is in. Such tables differ by a record replaced, which is one record
    less and then one more, so that the guarantee for them is twice epsilon (Dwork and Roth 2014, theorem 2.2).

    A member can be flagged at most exp(2 epsilon) times as often as a non-member; the bound holds for who is flagged
    and for who is not (Kairouz, Oh and Viswanath 2015, theorem 2.1). The FPR is in [0, 1].
    """
    if epsilon > _LARGEST:
        return 1.0
    times = math.exp(2.0 * epsilon)
    return min(times * fpr, 1.0 - (1.0 - fpr) / times)
