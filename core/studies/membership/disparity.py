"""Gaps between groups in an attack's verdicts, with intervals and tests; at a low FPR: `tpr_gaps`.

Verdicts (Zhang et al. 2020, equation 2, and beyond):

    vd             = P(classified as a member | member, group)   − P(classified as a member | member, others)
    fpr_gap        = P(classified as a member | non-member, group) − P(classified as a member | non-member, others)
    advantage_gap  = vd − fpr_gap

An attack that calls a group members more often, in or out of the training data, has a vd and has learned nothing;
only the advantage gap is about what leaks. All three are for people like the judged ones, with the model, the attack
and the seed given.

Resampling. The four strata are the two sides (0 the others, 1 the group) by membership (0 non-members, 1 members);
the judged count as a sample of such people, and the strata are independent. Resampling a stratum of n people of
whom k are flagged is one binomial draw B(n, k/n); permuting the groups among K flagged of N people is one
hypergeometric draw. So both are drawn as such: the same distributions as going through the people, without doing so.
Where fewer than `_SPARSE` of a stratum are flagged, or fewer than that are not, the percentile interval is too narrow
and may have no width at all. There it is widened to hold Newcombe's (1998, method 10; for sums of four rates Zou and
Donner 2008), which is made of Wilson's intervals and always has some width.

Ranges: members classified as members, by the probability the model gave to their true label. Each range is divided by
all members of the group, not by those in the range, so that the differences of the ranges add up to the vulnerability
disparity (Zhang et al. 2020, equation 5 and figure 5).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from ...base.errors import InputError
from ...base.serialize import Result
from ...base.validation import (
    Codes,
    Floats,
    Ints,
    binary_array,
    child_generator,
    group_array,
    one_length,
)
from ...stats.estimates import LEVEL, Estimate, holm, proportion, weighted_sum
from .attack import FEWEST


@dataclass(frozen=True, slots=True, kw_only=True)
class GapTest(Result):
    """Whether a gap differs significantly from 0."""

    p_value: float
    p_adjusted: float
    """Of a permutation test; the second after Holm's correction over the groups compared."""
    smallest_detectable: float
    """Smallest absolute gap that a sample of this size finds in four of five cases."""
    significant: bool
    """Whether the adjusted p-value is below one minus the level of the intervals. Of a gap at a low FPR also whether
    its interval leaves out 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DisparityResult(Result):
    """How differently an attack treats a group and all others (group minus others)."""

    group: str
    reference: str
    vd: Estimate
    """Vulnerability disparity: members classified as members (Zhang et al. 2020, equation 2)."""
    fpr_gap: Estimate
    """Non-members classified as members."""
    advantage_gap: Estimate
    """The first minus the second: membership advantage, net of false positives."""
    tpr: tuple[Estimate, Estimate]
    fpr: tuple[Estimate, Estimate]
    """The rates behind them, of the group and of the others."""
    tests: dict[str, GapTest]
    """By name of a gap: "vd", "fpr_gap" or "advantage_gap"."""


Disparities = tuple[tuple[DisparityResult, ...], tuple[tuple[str, str], ...]]
"""Each of several groups against all others, of two groups the first against the other; and the groups that are too
small, with the reason in one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeTable(Result):
    """Members classified as members, by the probability the model gave to their true label.

    The differences of the ten ranges, of which the last includes 1, add up to the vulnerability disparity (Zhang et al.
    2020, equation 5).
    """

    group: str
    reference: str
    group_shares: tuple[float, ...]
    reference_shares: tuple[float, ...]
    """By range, flagged members in it as a share of all members of the group, and of the others."""

    @property
    def differences(self) -> tuple[float, ...]:
        """Share of the group minus that of the others, by range."""
        pairs = zip(self.group_shares, self.reference_shares, strict=True)
        return tuple(share - reference for share, reference in pairs)

    @property
    def vd(self) -> float:
        """The vulnerability disparity."""
        return math.fsum(self.differences)


COMPLEMENT = "all others"
"""What a group of more than two is compared with."""


def group_comparisons(groups: Codes, names: Sequence[str]) -> list[tuple[tuple[str, str], Codes]]:
    """Return the names and the sides, shape (n,), of each comparison: one of two groups, K of more."""
    if len(names) == 2:
        return [((names[1], names[0]), groups)]
    return [
        ((name, COMPLEMENT), (groups == code).astype(np.uint8)) for code, name in enumerate(names)
    ]


def holm_corrected(tests: Sequence[GapTest]) -> list[GapTest]:
    """Return the tests of one gap in several groups with Holm's correction over them."""
    adjusted = holm([test.p_value for test in tests])
    return [
        replace(test, p_adjusted=p, significant=p < 1 - LEVEL)
        for test, p in zip(tests, adjusted, strict=True)
    ]


_POWER = 0.8
"""Chance with which the smallest detectable gap is found."""


def smallest_detectable(error: float, *, comparisons: int) -> float:
    """Return the smallest gap found in four of five cases.

    5% is the significance level of all comparisons together; each group is tested at the strictest of Holm's levels, 5%
    divided by the comparisons.
    """
    normal = NormalDist()
    return (normal.inv_cdf(1 - (1 - LEVEL) / (2 * comparisons)) + normal.inv_cdf(_POWER)) * error


# ----------------------------------------------------------------------------------------------------------- verdicts

GAPS = {
    "vd": ((0, -1), (0, 1)),
    "fpr_gap": ((-1, 0), (1, 0)),
    "advantage_gap": ((1, -1), (-1, 1)),
}
"""Weight of each rate, at [side, member], in each gap; side 1 is the group."""


def vulnerability_disparity(
    verdict: npt.ArrayLike,
    group: npt.ArrayLike,
    member: npt.ArrayLike,
    *,
    names: tuple[str, str] = ("group", "others"),
    **settings: Any,
) -> DisparityResult:
    """Return the three gaps between a group and the others.

    Raises `InputError` if an array breaks its rule, or the group or the others have fewer than 10 members or
    non-members.

    Parameters
    ----------
    verdict, group, member : array-like of shape (n,)
        0 or 1: classified as a member; in the group (1, the protected one) or not; truly a member. Judged people only.
    names : tuple of str
        Of the group and of the others.
    **settings
        The numbers of resamples and the seed of `disparities`.
    """
    measured, too_small = disparities(verdict, group, member, names=names[::-1], **settings)
    if too_small:
        raise InputError(too_small[0][1])
    return measured[0]


def disparities(
    verdict: npt.ArrayLike,
    groups: npt.ArrayLike,
    member: npt.ArrayLike,
    *,
    names: Sequence[str],
    bootstraps: int = 2000,
    permutations: int = 2000,
    seed: int = 0,
) -> Disparities:
    """Return the gaps of each group against all others; of two groups, of group 1 against group 0.

    P-values of one gap are adjusted over the groups measured. A group that is too small is named with its reason.
    Raises `InputError` if an array breaks its rule.

    Parameters
    ----------
    verdict, groups, member : array-like of shape (n,)
        Classified as a member, 0 or 1; codes from 0 to K - 1, pairs of attributes being groups like any others; truly a
        member, 0 or 1. Judged people only.
    names : sequence of str
        Of the groups, by code.
    bootstraps, permutations : int
        Numbers of resamples.
    """
    called = binary_array(verdict, name="verdict")
    inside = binary_array(member, name="member")
    codes = group_array(groups, len(names), name="groups")
    one_length(verdict=called, groups=codes, member=inside)
    measured = []
    left_out = []
    for pair, side in group_comparisons(codes, names):
        flagged, people = _tally(called, side, inside)
        reason = _too_small(people, pair)
        if reason:
            left_out.append((pair[0], reason))
        else:
            measured.append((pair, flagged, people))
    draws = (bootstraps, permutations)
    compared = [
        _compared(flagged, people, pair, draws, seed, comparisons=len(measured))
        for pair, flagged, people in measured
    ]
    tests = {name: holm_corrected([result.tests[name] for result in compared]) for name in GAPS}
    results = []
    for j, result in enumerate(compared):
        group_tests = {name: corrected[j] for name, corrected in tests.items()}
        results.append(replace(result, tests=group_tests))
    return tuple(results), tuple(left_out)


def _tally(verdict: Codes, side: Codes, member: Codes) -> tuple[Ints, Ints]:
    """Return those classified as members, and all, each at [side, member]."""
    cell = 2 * side + member
    flagged = np.bincount(cell[verdict == 1], minlength=4).reshape(2, 2)
    return flagged, np.bincount(cell, minlength=4).reshape(2, 2)


def _too_small(people: Ints, names: tuple[str, str]) -> str:
    """Return why sides of this size, people[side, member], are too small for a gap; empty if they are not."""
    for side in (1, 0):
        outsiders, members = people[side]
        if min(outsiders, members) < FEWEST:
            return (
                f"A gap needs at least {FEWEST} members and {FEWEST} non-members of the training data among the judged "
                f"people, got {members} and {outsiders} of “{names[1 - side]}”."
            )
    return ""


def _compared(
    flagged: Ints,
    people: Ints,
    names: tuple[str, str],
    draws: tuple[int, int],
    seed: int,
    *,
    comparisons: int,
) -> DisparityResult:
    """Return the gaps of one comparison, with p-values that are not adjusted yet."""

    def rates(kind: int) -> tuple[Estimate, Estimate]:
        group, complement = (
            proportion(int(flagged[side, kind]), int(people[side, kind])) for side in (1, 0)
        )
        return group, complement

    rng = child_generator(seed, f"bootstrap of gaps, {names[0]}")
    drawn = rng.binomial(people, flagged / people, size=(draws[0], 2, 2)) / people
    rng = child_generator(seed, f"permutations of groups, {names[0]}")
    shuffled = permuted(flagged, people, draws[1], rng)
    gaps = {}
    tests = {}
    for name, weights in GAPS.items():
        gaps[name] = gap_estimate(weights, flagged, people, (drawn * weights).sum(axis=(1, 2)))
        p = gap_p_value(weights, flagged, people, shuffled)
        error = float((np.square(weights) * variances(flagged, people)).sum() ** 0.5)
        detectable = smallest_detectable(error, comparisons=comparisons)
        tests[name] = GapTest(
            p_value=p, p_adjusted=p, smallest_detectable=detectable, significant=p < 1 - LEVEL
        )
    return DisparityResult(
        group=names[0], reference=names[1], tpr=rates(1), fpr=rates(0), tests=tests, **gaps
    )


_SPARSE = 10
"""Fewest flagged, and not flagged, people of a stratum with which the percentile interval stands by itself."""

_ROUNDING = 1e-9
"""Statistics no farther apart than this count as equal."""


def gap_estimate(
    weights: npt.ArrayLike, flagged: npt.ArrayLike, people: npt.ArrayLike, drawn: Floats
) -> Estimate:
    """Return Σ weight · flagged / people over strata, with its interval.

    Weights are -1, 0 or 1; `drawn` holds the same of the bootstrap's samples.
    """
    w, k, n = (np.asarray(values) for values in (weights, flagged, people))
    n = n[w != 0]
    k = k[w != 0]
    w = w[w != 0]
    rates = [proportion(hits, size) for hits, size in zip(k.tolist(), n.tolist(), strict=True)]
    wide = weighted_sum(zip(w.tolist(), rates, strict=True))
    low, high = np.quantile(drawn, [0.5 - LEVEL / 2, 0.5 + LEVEL / 2]).tolist()
    if min(k.min(), (n - k).min()) < _SPARSE:
        low = min(low, wide.low)
        high = max(high, wide.high)
    estimate = replace(wide, low=min(wide.value, low), high=max(wide.value, high))
    return estimate.within(int(w[w < 0].sum()), int(w[w > 0].sum()))


def variances(flagged: Floats | Ints, people: Ints) -> Floats:
    """Return the variance of each rate, with an observation of either kind added (Agresti and Caffo 2000): never 0."""
    n = people + 2.0
    p = (flagged + 1.0) / n
    return p * (1.0 - p) / n


def permuted(flagged: Ints, people: Ints, draws: int, rng: np.random.Generator) -> Ints:
    """Return flagged people at [draw, side, member] after permuting the sides within each membership class."""
    called = flagged.sum(axis=0)
    unflagged = people.sum(axis=0) - called
    side = rng.hypergeometric(called, unflagged, people[1], size=(draws, 2))
    return np.stack([called - side, side], axis=1)


def share_as_extreme(statistic: float, drawn: Floats) -> float:
    """Return the two-sided p-value of a statistic among its permutations, itself being one of them."""
    extreme = np.count_nonzero(np.abs(drawn) >= abs(statistic) - _ROUNDING)
    return (1 + int(extreme)) / (1 + drawn.size)


def gap_p_value(weights: npt.ArrayLike, flagged: Ints, people: Ints, drawn: Ints) -> float:
    """Return the p-value of Σ weight · rate = 0, given the permutations' flagged people, of shape (draws, 2, 2).

    What is compared is the gap over its standard error. So the p-value is exact where both sides are flagged alike, and
    still right in large samples where they are not and the gap is zero all the same (Chung and Romano 2013): of the
    advantage gap, where both sides' rates may differ by the same amount.
    """
    w = np.asarray(weights, dtype=np.float64)

    def studentised(called: Ints) -> Floats:
        return (w * called / people).sum(axis=(-2, -1)) / np.sqrt(
            (w * w * variances(called, people)).sum(axis=(-2, -1))
        )

    return share_as_extreme(float(studentised(flagged)), studentised(drawn))


RANGE_EDGES = tuple(tenth / 10 for tenth in range(11))
"""Ends of ranges of equal width; a probability of 1 is in the last."""


def recall_by_range(
    probability: npt.ArrayLike,
    verdict: npt.ArrayLike,
    group: npt.ArrayLike,
    member: npt.ArrayLike,
    *,
    names: tuple[str, str] = ("group", "others"),
) -> RangeTable:
    """Return the flagged members of a group and of the others by range; either has a member.

    The probability, of shape (n,), in [0, 1], is what the model gave to each judged person's true label; the other
    arguments are those of `vulnerability_disparity`.
    """
    p = np.asarray(probability, dtype=np.float64).round(12)  # 1 - 0.8 is in the range of 0.2
    side = np.asarray(group, dtype=np.int64)
    inside = np.asarray(member) == 1
    caught = inside & (np.asarray(verdict) == 1)
    range_index = np.searchsorted(RANGE_EDGES[1:-1], p[caught], side="right")
    members = np.bincount(side[inside], minlength=2)
    n_ranges = len(RANGE_EDGES) - 1
    flagged = np.bincount(2 * range_index + side[caught], minlength=2 * n_ranges)
    shares = flagged.reshape(n_ranges, 2) / members
    return RangeTable(
        group=names[0],
        reference=names[1],
        group_shares=tuple(shares[:, 1].tolist()),
        reference_shares=tuple(shares[:, 0].tolist()),
    )
