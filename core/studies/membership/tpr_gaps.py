"""Gaps between groups at a low FPR, with intervals and tests.

TPR at a low FPR, of scores such as LiRA's (Carlini et al. 2022). Each group has its own threshold, at which its own
non-members have the FPR, ties broken at random (`core.studies.membership.roc`). A rate of 1 % needs 100 non-members a
group, of whom one is a false positive; with fewer it is not reported. With 100 to 1,000 the interval is wide and still
covers (measured with 116 members and as many non-members beside 4,000 of either, 300 samples each: groups alike 100 %,
members moved by 1, 2 or 3 standard deviations 98 to 99 %, half of them apart from everybody 94 %, all 97 %).

The bootstrap draws, within each stratum, as many people as there are. The j-th highest of n non-members has a true FPR
that is a Beta(j, n + 1 - j) variable: the threshold is drawn so, and then the members above it by a binomial draw,
which is the same as drawing the people.

Of a small group the wide interval may hide that all of its members are found. So there is a second gap where a side has
fewer than 1,000 non-members, at one threshold for everybody: the difference in TPR - FPR where 1 % of all non-members
are flagged. Its interval is Zou and Donner's of four shares, to which the width is added that comes from where the
threshold lies. With 20 members of a group that is wholly memorised its lower end is .75 (200 samples), where the first
gap needs 300 to exceed 5 points for certain. It is blind to scores that rise within a group and stay below the
threshold, and so both are looked at. With 300 non-members of the small group 60 % of models that remember nobody keep
the first within 5 points, by six attacks and one of nine limits; with 500 90 %.

Permutations of the groups are drawn from the top of the non-members down to where both groups have their thresholds.
They are of scores distributed alike in both groups, which is more than no gap. A gap therefore counts as significant
only if its interval leaves out 0 as well. In permutation and bootstrap ties are broken once, in the gap itself on
average over all orders, so that both err on the cautious side where scores tie.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...base.serialize import Result
from ...base.validation import Codes, Floats, Ints, Mask, child_generator
from ...stats.estimates import LEVEL, Estimate, not_measured, proportion, weighted_sum
from .attack import FEWEST
from .disparity import (
    GapTest,
    gap_estimate,
    group_comparisons,
    holm_corrected,
    share_as_extreme,
    smallest_detectable,
    variances,
)
from .roc import LOW_FPR, RESOLUTION, counts_above, members_above


@dataclass(frozen=True, slots=True, kw_only=True)
class GapResult(Result):
    """The gap in TPR at a fixed FPR: of each group by itself, or of everybody at one threshold.

    At one threshold the gap is that in TPR - FPR, and `false_positives` are the FPRs behind it.
    """

    group: str
    reference: str
    fpr: float
    """Of each group by itself; at one threshold of all non-members together."""
    estimate: Estimate
    """Group minus others; nan where it was not measured."""
    rates: tuple[Estimate, Estimate]
    """TPR of the group and of the others."""
    false_positives: tuple[Estimate, Estimate] | None = None
    test: GapTest | None = None
    reason: str = ""
    """Why it was not measured; empty if it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedSide:
    """One side's non-members and members at or above each distinct score, falling, after a 0 each."""

    false_positives: Ints
    true_positives: Ints
    rank: float
    """Of the non-member at which the FPR is read."""

    @classmethod
    def of(cls, score: Floats, mask: Mask, member: Codes, fpr: float) -> ComparedSide:
        """Return the side of the people here."""
        false, true = counts_above(score[mask], member[mask])
        return cls(false_positives=false, true_positives=true, rank=fpr * (int(false[-1]) + 1))

    @property
    def outsiders(self) -> int:
        """Number of non-members."""
        return int(self.false_positives[-1])

    @property
    def members(self) -> int:
        """Number of members."""
        return int(self.true_positives[-1])

    def above(self, rank: Floats | Ints | float) -> Floats:
        """Return the expected members above the non-member at each rank, from 1, ties broken at random."""
        return members_above(rank, self.false_positives, self.true_positives)

    def resampled(self, draws: int, rng: np.random.Generator) -> Floats:
        """Return the TPR in each of `draws` samples of the side's non-members and members."""
        n = self.outsiders
        m = self.members
        rate = rng.beta(self.rank, n + 1 - self.rank, size=draws)
        return rng.binomial(m, self.above((n + 1) * rate) / m) / m


def tpr_gaps(
    score: Floats,
    groups: Codes,
    member: Codes,
    *,
    names: Sequence[str],
    fpr: float = LOW_FPR,
    bootstraps: int = 2000,
    permutations: int = 2000,
    seed: int = 0,
) -> tuple[GapResult, ...]:
    """Return the gap in TPR at an FPR of each group against all others; of two, of group 1 against group 0.

    The score is finite and higher for members, the FPR in (0, 1); the other arguments are those of `disparities`. A
    group with fewer than 1 / fpr non-members or 10 members on either side is there too, all nan, with its reason.
    P-values are for scores that are distributed alike in both groups, among members and among non-members, adjusted
    over the groups measured; `significant` asks for an interval that leaves out 0 besides.
    """
    comparisons = [
        (pair, side, _too_few(side, member, pair, fpr))
        for pair, side in group_comparisons(groups, names)
    ]
    able = sum(not reason for _, _, reason in comparisons)
    everybody = ComparedSide.of(score, np.ones(score.size, dtype=np.bool_), member, fpr)
    results = []
    for (group, complement), side, reason in comparisons:
        missing = not_measured()
        result = GapResult(
            group=group,
            reference=complement,
            fpr=fpr,
            estimate=missing,
            rates=(missing, missing),
            reason=reason,
        )
        if not reason:
            sides = [ComparedSide.of(score, side == code, member, fpr) for code in (1, 0)]
            rng = child_generator(seed, f"bootstrap of low false alarms, {group}")
            drawn = np.column_stack([part.resampled(bootstraps, rng) for part in sides])
            rng = child_generator(seed, f"permutations of low false alarms, {group}")
            shuffled = permuted_sides(sides, everybody, permutations, rng)
            result = _measured(result, sides, drawn, shuffled, comparisons=able)
        results.append(result)
    corrected = iter(holm_corrected([result.test for result in results if result.test is not None]))
    return tuple(
        result if result.test is None else _tested(result, next(corrected)) for result in results
    )


def _measured(
    result: GapResult,
    sides: Sequence[ComparedSide],
    drawn: Floats,
    shuffled: Floats,
    *,
    comparisons: int,
) -> GapResult:
    """Return a gap with its rates and its test, the p-value not adjusted yet.

    `drawn`, of shape (draws, 2), are both sides' TPRs in resamples, `shuffled`, of shape (draws,), gaps after
    permutations of the groups.
    """
    caught = np.array([float(side.above(side.rank)) for side in sides])
    members = np.array([side.members for side in sides])
    first, second, estimate = (
        gap_estimate(weights, caught, members, drawn @ weights)
        for weights in ((1, 0), (0, 1), (1, -1))
    )
    error = max(float((drawn @ (1, -1)).std()), float(variances(caught, members).sum() ** 0.5))
    p = share_as_extreme(estimate.value, shuffled)
    test = GapTest(
        p_value=p,
        p_adjusted=p,
        smallest_detectable=smallest_detectable(error, comparisons=comparisons),
        significant=False,
    )
    return replace(result, estimate=estimate, rates=(first, second), test=test)


def _tested(result: GapResult, test: GapTest) -> GapResult:
    """Return a gap with its test, which asks for an interval that leaves out 0 as well."""
    holds_none = result.estimate.low <= 0.0 <= result.estimate.high
    return replace(result, test=replace(test, significant=test.significant and not holds_none))


def _too_few(side: Codes, member: Codes, names: tuple[str, str], fpr: float) -> str:
    """Return why the gap at a low FPR is not measured; empty if it is."""
    need = least_outsiders(fpr)
    for kind, least, label in ((0, need, "non-members"), (1, FEWEST, "members")):
        counts = np.bincount(side[member == kind], minlength=2)
        small = int(np.argmin(counts[::-1]))  # the group first
        if counts[1 - small] < least:
            return f"n/a, needs at least {least:,} {label}, got {counts[1 - small]:,} of “{names[small]}”"
    return ""


def least_outsiders(fpr: float, *, false_positives: int = 1) -> int:
    """Return how many non-members allow so many false positives at an FPR; with one a group's gap can be measured."""
    return math.ceil(false_positives / fpr - 1e-9)


def net_gaps(
    score: Floats,
    groups: Codes,
    member: Codes,
    *,
    names: Sequence[str],
    fpr: float = LOW_FPR,
) -> tuple[GapResult, ...]:
    """Return the gap at one threshold for everybody of each group that is small, against all others.

    The arguments are those of `tpr_gaps`. A group is small where it, or the others, have fewer than 10 / fpr
    non-members; with fewer than 10 members or non-members on either side it is left out. There are none where fewer
    than 1 / fpr non-members are judged in all.
    """
    if np.count_nonzero(member == 0) < least_outsiders(fpr):
        return ()
    enough = least_outsiders(fpr, false_positives=RESOLUTION)
    flagged, *beside = (
        _flagged_chance(score, member, position) for position in _positions(member, fpr)
    )
    gaps = []
    for (group, complement), side in group_comparisons(groups, names):
        cell = (2 * side + member).astype(np.int64)
        sizes = np.bincount(cell, minlength=4).reshape(2, 2)
        if sizes.min() < FEWEST or sizes[:, 0].min() >= enough:
            continue
        rates = _rates(cell, flagged)
        elsewhere = [_net_gap(_rates(cell, chance)).value for chance in beside]
        gap = GapResult(
            group=group,
            reference=complement,
            fpr=fpr,
            estimate=_with_threshold(_net_gap(rates), elsewhere),
            rates=(rates[1][1], rates[0][1]),
            false_positives=(rates[1][0], rates[0][0]),
        )
        gaps.append(gap)
    return tuple(gaps)


def _positions(member: Codes, fpr: float) -> list[float]:
    """Return at which non-member from the top the threshold lies, and the ends of where it may lie in other samples.

    The j-th highest of n non-members has a true FPR that is a Beta(j, n + 1 - j) variable.
    """
    from scipy.special import betaincinv

    size = int(np.count_nonzero(member == 0)) + 1
    position = fpr * size
    ends = [
        float(betaincinv(position, size - position, end))
        for end in (0.5 - LEVEL / 2, 0.5 + LEVEL / 2)
    ]
    return [position, *(size * end for end in ends)]


def _rates(cell: Ints, flagged: Floats) -> list[list[Estimate]]:
    """Return the share of each cell that is flagged, at [side, member]; a cell is 2 · side + member."""
    sizes = np.bincount(cell, minlength=4).reshape(2, 2).tolist()
    hits = np.bincount(cell, weights=flagged, minlength=4).reshape(2, 2).tolist()
    return [[proportion(hits[side][kind], sizes[side][kind]) for kind in (0, 1)] for side in (0, 1)]


def _net_gap(rates: Sequence[Sequence[Estimate]]) -> Estimate:
    """Return TPR - FPR of the group minus that of the others."""
    total = weighted_sum(
        [(1.0, rates[1][1]), (-1.0, rates[1][0]), (-1.0, rates[0][1]), (1.0, rates[0][0])]
    )
    return replace(total.within(-1.0, 1.0), value=min(1.0, max(-1.0, total.value)))


def _with_threshold(gap: Estimate, elsewhere: Sequence[float]) -> Estimate:
    """Return a gap with an interval that also allows for the threshold, given the gaps at the ends of where it lies."""
    below = math.hypot(gap.value - gap.low, max(0.0, gap.value - min(elsewhere)))
    above = math.hypot(gap.high - gap.value, max(0.0, max(elsewhere) - gap.value))
    return replace(gap, low=gap.value - below, high=gap.value + above).within(-1.0, 1.0)


def _flagged_chance(score: Floats, member: Codes, position: float) -> Floats:
    """Return the probability that each person is flagged where the threshold lies at this non-member from the top.

    It is 1 above the threshold and 0 below; at the threshold those who tie are flagged at random.
    """
    alarms, _ = counts_above(score, member)
    tie = int(np.clip(np.searchsorted(alarms, position, side="left"), 1, alarms.size - 1))
    threshold = np.unique(score)[::-1][tie - 1]
    share = (position - alarms[tie - 1]) / (alarms[tie] - alarms[tie - 1] + 1)
    return np.asarray(
        (score > threshold) + min(1.0, share) * (score == threshold), dtype=np.float64
    )


def permuted_sides(
    sides: Sequence[ComparedSide], everybody: ComparedSide, draws: int, rng: np.random.Generator
) -> Floats:
    """Return the gap, first side minus second, of random divisions of everybody into sides of the same sizes."""
    first, second = np.rint(everybody.above(_places(sides, draws, rng))).astype(np.int64)
    n_first = sides[0].members
    n_second = sides[1].members
    low = np.minimum(first, second)
    high = np.maximum(first, second)
    among_low = rng.hypergeometric(n_first, n_second, low)
    among_high = among_low + rng.hypergeometric(
        n_first - among_low, n_second - (low - among_low), high - low
    )
    members_first = np.where(first <= second, among_low, among_high)
    members_second = second - np.where(second < first, among_low, among_high)
    return members_first / n_first - members_second / n_second


def _places(sides: Sequence[ComparedSide], draws: int, rng: np.random.Generator) -> Ints:
    """Return where each side's threshold lies among all non-members, from 1 at the highest, of shape (2, draws).

    A side whose threshold lies between two places takes either, as often as it is near it.
    """
    left = np.array([[s.outsiders] for s in sides]).repeat(draws, axis=1)
    exact = np.array([[s.rank] for s in sides])
    remaining = np.floor(exact + rng.random((2, draws))).astype(np.int64)
    ranks = np.zeros((2, draws), dtype=np.int64)
    rank = 0
    while (remaining > 0).any():
        rank += 1
        first = rng.random(draws) * left.sum(axis=0) < left[0]
        taken = np.stack([first, ~first])
        ranks[taken & (remaining == 1)] = rank
        remaining -= taken
        left -= taken
    return ranks
