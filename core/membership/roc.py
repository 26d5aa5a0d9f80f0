"""ROC curve of a membership attack: one point a distinct score, the AUC, and the TPR at a given FPR.

Trees give many people the same score. The curve has one point a distinct score; between two points lies what breaking
ties at random reaches, which is how the TPR at a given FPR is read, see `core.membership.tpr_at_fpr`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from core.arrays import Codes, Floats, Ints
from core.errors import InputError
from core.estimates import Estimate, not_measured
from core.membership.tpr_at_fpr import members_above, tpr_estimate
from core.results import Result
from core.validation import binary_array, one_length

FEWEST_PEOPLE = 10
"""Fewest members, and fewest non-members, of whom a curve is drawn."""

RESOLUTION = 10
"""Fewest false positives an FPR must allow to be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Roc(Result):
    """A curve.

    `fpr` and `tpr` rise from 0 to 1, one point a distinct score, and are empty where too few people were judged; the
    AUC is the probability that a member scores above a non-member, ties counting half.
    """

    fpr: Floats = field(repr=False)
    tpr: Floats = field(repr=False)
    auc: Estimate
    n_members: int
    n_outsiders: int

    def tpr_at(self, fpr: float) -> Estimate:
        """Return the TPR at this FPR, ties broken at random, so that it is the FPR on average where nothing leaks.

        The interval takes members and non-members, and with them the threshold, for a sample; see
        `core.membership.tpr_at_fpr`. All is nan where `resolution_reason` gives a reason.
        """
        if self.resolution_reason(fpr):
            return not_measured(level=self.auc.level)
        return tpr_estimate(fpr, *self._counts, level=self.auc.level)

    def reached(self, fpr: npt.ArrayLike) -> Floats:
        """Return the values of `tpr_at` at many FPRs, in [0, 1], however few people they rest on."""
        places = np.asarray(fpr, dtype=np.float64) * (self.n_outsiders + 1)
        return members_above(places, *self._counts) / self.n_members

    @property
    def _counts(self) -> tuple[Ints, Ints]:
        """Non-members and members at or above each distinct score, falling, after a 0 each."""
        false, true = np.rint(self.fpr * self.n_outsiders), np.rint(self.tpr * self.n_members)
        return false.astype(np.int64), true.astype(np.int64)

    def resolution_reason(self, fpr: float) -> str:
        """Return why the TPR at this FPR cannot be read off these people, or "" if it can.

        An FPR must allow `RESOLUTION` false positives among the non-members, and not all scores may be the same: then
        the attack orders nobody, and a TPR would say something of the coin alone. Raises `InputError` if the rate is
        outside (0, 1].
        """
        if not 0.0 < fpr <= 1.0:
            raise InputError(f"An FPR must be in (0, 1], got {fpr!r}.")
        needed = math.ceil(RESOLUTION / fpr - 1e-9)
        if self.n_outsiders < needed:
            return f"n/a, needs at least {needed:,} non-members, got {self.n_outsiders:,}"
        if not self.fpr.size:
            return f"n/a, needs at least {FEWEST_PEOPLE} members, got {self.n_members:,}"
        if self.fpr.size == 2:
            return "n/a, ties prevent it: the attack gives everybody the same score"
        return ""


def roc(score: npt.ArrayLike, member: npt.ArrayLike, *, level: float = 0.95) -> Roc:
    """Return the curve of a score; a higher one speaks for a member.

    Raises `InputError` if a score is not finite, or there are fewer than `FEWEST_PEOPLE` members or non-members.

    Parameters
    ----------
    score : array-like of shape (m,)
        Finite.
    member : array-like of shape (m,), 0 or 1
    level : float in (0, 1)
        Of the interval of the area.
    """
    scores, truth = _checked(score, member)
    n_members = int(truth.sum())
    n_outsiders = truth.size - n_members
    for told, count in (("members", n_members), ("non-members", n_outsiders)):
        if count < FEWEST_PEOPLE:
            raise InputError(f"A curve needs at least {FEWEST_PEOPLE} {told}, got {count}.")
    fpr, tpr = _steps(scores, truth)
    auc = area(scores[truth == 1], scores[truth == 0], level=level)
    return Roc(fpr=fpr, tpr=tpr, auc=auc, n_members=n_members, n_outsiders=n_outsiders)


def group_rocs(
    score: npt.ArrayLike, member: npt.ArrayLike, groups: npt.ArrayLike, n_groups: int, *, level: float = 0.95
) -> tuple[Roc, ...]:
    """Return the curve of each group among its own people, by code; an empty one for a group that is too small."""
    scores, truth = _checked(score, member)
    codes = np.asarray(groups)
    one_length(score=scores, groups=codes)
    return tuple(_of_group(scores[codes == code], truth[codes == code], level) for code in range(n_groups))


def _of_group(score: Floats, member: Codes, level: float) -> Roc:
    members, outsiders = int(member.sum()), int(member.size - member.sum())
    if min(members, outsiders) >= FEWEST_PEOPLE:
        return roc(score, member, level=level)
    nothing = np.empty(0)
    return Roc(fpr=nothing, tpr=nothing, auc=not_measured(level=level), n_members=members, n_outsiders=outsiders)


def _checked(score: npt.ArrayLike, member: npt.ArrayLike) -> tuple[Floats, Codes]:
    scores, truth = np.asarray(score, dtype=np.float64), binary_array(member, name="member")
    one_length(score=scores, member=truth)
    if (odd := scores[~np.isfinite(scores)]).size:
        raise InputError(f"Every score must be a finite number, got {odd[0]}.")
    return scores, truth


def _steps(score: Floats, member: Codes) -> tuple[Floats, Floats]:
    """Return FPR and TPR at no threshold and at every distinct score, falling."""
    order = np.argsort(-score, kind="stable")
    ordered, inside = score[order], member[order]
    last = np.append(np.flatnonzero(np.diff(ordered)), ordered.size - 1)  # of each run of ties
    caught = np.cumsum(inside, dtype=np.int64)[last]
    alarms = last + 1 - caught
    return np.append(0.0, alarms / alarms[-1]), np.append(0.0, caught / caught[-1])


def area(members: Floats, outsiders: Floats, *, level: float = 0.95) -> Estimate:
    """Return the probability that a member scores above a non-member, ties counting half, with its interval.

    There are at least two scores of members and of outsiders.

    Notes
    -----
    The variance is that of DeLong, DeLong and Clarke-Pearson (1988): a member's placement is the share of outsiders
    below, ties half, and the variances of both sides' placements add, each divided by its number. Midranks give the
    placements with ties exactly (Sun and Xu 2014). The interval is set on the logit of the area, so that it stays
    inside [0, 1]. At 0 and 1 the placements do not vary; there it is Newcombe's score interval (2006, method 5).
    """
    from statistics import NormalDist

    from scipy.stats import rankdata

    if not 0.0 < level < 1.0:
        raise InputError(f"level must be in (0, 1), got {level!r}.")
    z = NormalDist().inv_cdf(0.5 + level / 2)
    m, n = members.size, outsiders.size
    ranks = rankdata(np.concatenate([members, outsiders]))
    above = (ranks[:m] - rankdata(members)) / n
    below = 1.0 - (ranks[m:] - rankdata(outsiders)) / m
    value = float(above.mean())
    if value in (0.0, 1.0):
        low, high = _separated(value, m, n, z)
    else:
        error = math.sqrt(float(above.var(ddof=1)) / m + float(below.var(ddof=1)) / n)
        low, high = _logit_interval(value, z * error)
    return Estimate(value=value, low=low, high=high, n=m + n, level=level)


def _logit_interval(value: float, half: float) -> tuple[float, float]:
    """Return the interval of an area inside (0, 1), half its width given at first order."""
    centre, reach = math.log(value / (1.0 - value)), half / (value * (1.0 - value))
    low, high = (1.0 / (1.0 + math.exp(-min(max(limit, -700.0), 700.0))) for limit in (centre - reach, centre + reach))
    return min(low, value), max(high, value)


def _separated(value: float, m: int, n: int, z: float) -> tuple[float, float]:
    """Return the interval of an area of 0 or 1: the areas from which it is not too far for their own variance."""
    from scipy.optimize import brentq

    half = (m + n) / 2 - 1

    def excess(a: float) -> float:
        """Squared distance of 1 from an area a, less z² times its variance (Newcombe 2006, method 5)."""
        variance = a * (1 - a) * (1 + half * ((1 - a) / (2 - a) + a / (1 + a))) / (m * n)
        return (1.0 - a) ** 2 - z * z * variance

    limit = float(brentq(excess, 0.0, 1.0 - 1e-12)) if excess(1.0 - 1e-12) < 0 else 1.0
    return (limit, 1.0) if value == 1.0 else (0.0, 1.0 - limit)
