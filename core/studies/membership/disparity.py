"""Gaps between groups in an attack's verdicts and at a low FPR, with intervals and tests.

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
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from ...base.arrays import Codes, Floats, Ints, Mask
from ...base.errors import InputError
from ...base.seeds import child_generator
from ...base.serialize import Result
from ...base.validation import binary_array, group_array, one_length
from ...stats.estimates import Estimate, holm, not_measured, proportion, weighted_sum
from .evidence import FEWEST
from .roc import RESOLUTION, counts_above, members_above


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
    recall: tuple[Estimate, Estimate]
    false_alarms: tuple[Estimate, Estimate]
    """The rates behind them, of the group and of the others."""
    tests: dict[str, GapTest]
    """By name of a gap: "vd", "fpr_gap" or "advantage_gap"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GapResult(Result):
    """The gap in TPR at a fixed FPR."""

    group: str
    reference: str
    fpr: float
    """The rate of false positives, of each group by itself."""
    estimate: Estimate
    """Group minus others; nan where it was not measured."""
    rates: tuple[Estimate, Estimate]
    """Of the group and of the others."""
    test: GapTest | None
    reason: str = ""
    """Why it was not measured; empty if it was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disparities(Result):
    """Each of several groups against all others; of two groups, the first against the other.

    Groups that are too small are in `not_measured`, with the reason in one sentence.
    """

    results: tuple[DisparityResult, ...]
    not_measured: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeRow(Result):
    """Members classified as members among those the model was this sure of.

    The range is of the probability the model gave to the true label; the last includes 1. `group` and `reference` are
    flagged members in the range, as a share of all members of the group, and of the others; `difference` is the first
    minus the second.
    """

    low: float
    high: float
    group: float
    reference: float
    difference: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeTable(Result):
    """Ten ranges whose differences add up to the vulnerability disparity (Zhang et al. 2020, equation 5)."""

    group: str
    reference: str
    rows: tuple[RangeRow, ...]
    vd: float


COMPLEMENT = "all others"
"""What a group of more than two is compared with."""


def _group_comparisons(groups: Codes, names: Sequence[str]) -> list[tuple[tuple[str, str], Codes]]:
    """Return the names and the sides, shape (n,), of each comparison: one of two groups, K of more."""
    if len(names) == 2:
        return [((names[1], names[0]), groups)]
    return [((name, COMPLEMENT), (groups == code).astype(np.uint8)) for code, name in enumerate(names)]


def _corrected(tests: Sequence[GapTest], level: float) -> list[GapTest]:
    """Return the tests of one gap in several groups with Holm's correction over them."""
    adjusted = holm([test.p_value for test in tests])
    return [replace(test, p_adjusted=p, significant=p < 1 - level) for test, p in zip(tests, adjusted, strict=True)]


_POWER = 0.8
"""Chance with which the smallest detectable gap is found."""


def smallest_detectable(error: float, *, level: float, comparisons: int) -> float:
    """Return the smallest gap found in four of five cases.

    One minus the level is the significance level of all comparisons together; each group is tested at the strictest of
    Holm's levels, (1 - level) / comparisons.
    """
    normal = NormalDist()
    return (normal.inv_cdf(1 - (1 - level) / (2 * comparisons)) + normal.inv_cdf(_POWER)) * error


# ----------------------------------------------------------------------------------------------------------- verdicts

GAPS = {
    "vd": ((0, -1), (0, 1)),
    "fpr_gap": ((-1, 0), (1, 0)),
    "advantage_gap": ((1, -1), (-1, 1)),
}
"""Weight of each rate, at [side, member], in each gap; side 1 is the group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Counts by side and membership.

    `flagged` and `people`, of shape (2, 2), are those classified as members, and all, at [side, member].
    """

    flagged: Ints
    people: Ints


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
        The level, numbers of resamples and seed of `disparities`.
    """
    measured = disparities(verdict, group, member, names=names[::-1], **settings)
    if measured.not_measured:
        raise InputError(measured.not_measured[0][1])
    return measured.results[0]


def disparities(
    verdict: npt.ArrayLike,
    groups: npt.ArrayLike,
    member: npt.ArrayLike,
    *,
    names: Sequence[str],
    level: float = 0.95,
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
    level : float in (0, 1)
        Of the intervals; one minus it is the level of the tests.
    bootstraps, permutations : int
        Numbers of resamples.
    """
    called, inside = binary_array(verdict, name="verdict"), binary_array(member, name="member")
    codes = group_array(groups, len(names), name="groups")
    one_length(verdict=called, groups=codes, member=inside)
    measured, left_out = [], []
    for pair, side in _group_comparisons(codes, names):
        counts = _tally(called, side, inside)
        reason = _too_small(counts.people, pair)
        if reason:
            left_out.append((pair[0], reason))
        else:
            measured.append((pair, counts))
    draws = (bootstraps, permutations)
    compared = [_compared(counts, pair, level, draws, seed, comparisons=len(measured)) for pair, counts in measured]
    tests = {name: _corrected([result.tests[name] for result in compared], level) for name in GAPS}
    return Disparities(
        results=tuple(
            replace(result, tests={name: group_tests[j] for name, group_tests in tests.items()})
            for j, result in enumerate(compared)
        ),
        not_measured=tuple(left_out),
    )


def _tally(verdict: Codes, side: Codes, member: Codes) -> Tally:
    cell = 2 * side + member
    people = np.bincount(cell, minlength=4).reshape(2, 2)
    return Tally(flagged=np.bincount(cell[verdict == 1], minlength=4).reshape(2, 2), people=people)


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
    counts: Tally, names: tuple[str, str], level: float, draws: tuple[int, int], seed: int, *, comparisons: int
) -> DisparityResult:
    """Return the gaps of one comparison, with p-values that are not adjusted yet."""
    k, n = counts.flagged, counts.people

    def rates(kind: int) -> tuple[Estimate, Estimate]:
        group, complement = (proportion(int(k[side, kind]), int(n[side, kind]), level=level) for side in (1, 0))
        return group, complement

    drawn = resampled(counts, draws[0], child_generator(seed, f"bootstrap of gaps, {names[0]}"))
    shuffled = permuted(counts, draws[1], child_generator(seed, f"permutations of groups, {names[0]}"))
    gaps, tests = {}, {}
    for name, weights in GAPS.items():
        gaps[name] = gap_estimate(weights, k, n, (drawn * weights).sum(axis=(1, 2)), level=level)
        p = gap_p_value(weights, counts, shuffled)
        error = float((np.square(weights) * variances(k, n)).sum() ** 0.5)
        detectable = smallest_detectable(error, level=level, comparisons=comparisons)
        tests[name] = GapTest(p_value=p, p_adjusted=p, smallest_detectable=detectable, significant=p < 1 - level)
    return DisparityResult(
        group=names[0], reference=names[1], recall=rates(1), false_alarms=rates(0), tests=tests, **gaps
    )


_SPARSE = 10
"""Fewest flagged, and not flagged, people of a stratum with which the percentile interval stands by itself."""

_ROUNDING = 1e-9
"""Statistics no farther apart than this count as equal."""


def resampled(counts: Tally, draws: int, rng: np.random.Generator) -> Floats:
    """Return the rates of `draws` samples drawn with replacement within each stratum, of shape (draws, 2, 2)."""
    return rng.binomial(counts.people, counts.flagged / counts.people, size=(draws, 2, 2)) / counts.people


def gap_estimate(
    weights: npt.ArrayLike, flagged: npt.ArrayLike, people: npt.ArrayLike, drawn: Floats, *, level: float
) -> Estimate:
    """Return Σ weight · flagged / people over strata, with its interval.

    Weights are -1, 0 or 1; `drawn` holds the same of the bootstrap's samples.
    """
    w, k, n = (np.asarray(values) for values in (weights, flagged, people))
    w, k, n = w[w != 0], k[w != 0], n[w != 0]
    rates = [proportion(hits, size, level=level) for hits, size in zip(k.tolist(), n.tolist(), strict=True)]
    wide = weighted_sum(zip(w.tolist(), rates, strict=True))
    low, high = np.quantile(drawn, [0.5 - level / 2, 0.5 + level / 2]).tolist()
    if min(k.min(), (n - k).min()) < _SPARSE:
        low, high = min(low, wide.low), max(high, wide.high)
    estimate = replace(wide, low=min(wide.value, low), high=max(wide.value, high))
    return estimate.within(int(w[w < 0].sum()), int(w[w > 0].sum()))


def variances(flagged: npt.ArrayLike, people: npt.ArrayLike) -> Floats:
    """Return the variance of each rate, with an observation of either kind added (Agresti and Caffo 2000): never 0."""
    n = np.asarray(people, dtype=np.float64) + 2.0
    p = (np.asarray(flagged, dtype=np.float64) + 1.0) / n
    return p * (1.0 - p) / n


def permuted(counts: Tally, draws: int, rng: np.random.Generator) -> Ints:
    """Return flagged people at [draw, side, member] after permuting the sides within each membership class."""
    flagged, people = counts.flagged.sum(axis=0), counts.people.sum(axis=0)
    side = rng.hypergeometric(flagged, people - flagged, counts.people[1], size=(draws, 2))
    return np.stack([flagged - side, side], axis=1)


def _share_as_extreme(statistic: float, drawn: Floats) -> float:
    """Return the two-sided p-value of a statistic among its permutations, itself being one of them."""
    extreme = np.count_nonzero(np.abs(drawn) >= abs(statistic) - _ROUNDING)
    return (1 + int(extreme)) / (1 + drawn.size)


def gap_p_value(weights: npt.ArrayLike, counts: Tally, drawn: Ints) -> float:
    """Return the p-value of Σ weight · rate = 0, given the permutations' flagged people, of shape (draws, 2, 2).

    What is compared is the gap over its standard error. So the p-value is exact where both sides are flagged alike, and
    still right in large samples where they are not and the gap is zero all the same (Chung and Romano 2013): of the
    advantage gap, where both sides' rates may differ by the same amount.
    """
    w = np.asarray(weights, dtype=np.float64)
    n = counts.people

    def studentised(flagged: Ints) -> Floats:
        return (w * flagged / n).sum(axis=(-2, -1)) / np.sqrt((w * w * variances(flagged, n)).sum(axis=(-2, -1)))

    return _share_as_extreme(float(studentised(counts.flagged)), studentised(drawn))


RANGES = 10
"""Ranges of equal width; a probability of 1 is in the last."""


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
    p, side = (
        np.asarray(probability, dtype=np.float64).round(12),
        np.asarray(group, dtype=np.int64),
    )  # 1 - 0.8 is in the range of 0.2
    inside = np.asarray(member) == 1
    caught = inside & (np.asarray(verdict) == 1)
    edges = np.arange(RANGES + 1) / RANGES
    range_index = np.searchsorted(edges[1:-1], p[caught], side="right")
    members = np.bincount(side[inside], minlength=2)
    shares = np.bincount(2 * range_index + side[caught], minlength=2 * RANGES).reshape(RANGES, 2) / members
    rows = tuple(
        RangeRow(low=low, high=high, group=share, reference=complement_share, difference=share - complement_share)
        for low, high, (complement_share, share) in zip(
            edges[:-1].tolist(), edges[1:].tolist(), shares.tolist(), strict=True
        )
    )
    return RangeTable(group=names[0], reference=names[1], rows=rows, vd=math.fsum(row.difference for row in rows))


# ---------------------------------------------------------------------------------------------------- TPR at a low FPR


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

    def above(self, rank: npt.ArrayLike) -> Floats:
        """Return the expected members above the non-member at each rank, from 1, ties broken at random."""
        return members_above(rank, self.false_positives, self.true_positives)

    def resampled(self, draws: int, rng: np.random.Generator) -> Floats:
        """Return the TPR in each of `draws` samples of the side's non-members and members."""
        n, m = self.outsiders, self.members
        rate = rng.beta(self.rank, n + 1 - self.rank, size=draws)
        return rng.binomial(m, self.above((n + 1) * rate) / m) / m


def lira_gaps(
    score: Floats,
    groups: Codes,
    member: Codes,
    *,
    names: Sequence[str],
    fpr: float = 0.01,
    level: float = 0.95,
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
    results, missing = [], not_measured(level=level)
    pairs = [(pair, side, _too_few(side, member, pair, fpr)) for pair, side in _group_comparisons(groups, names)]
    able = sum(not reason for _, _, reason in pairs)
    everybody = ComparedSide.of(score, np.ones(score.size, dtype=np.bool_), member, fpr)
    for pair, side, reason in pairs:
        result = GapResult(
            group=pair[0],
            reference=pair[1],
            fpr=fpr,
            estimate=missing,
            rates=(missing, missing),
            test=None,
            reason=reason,
        )
        if not reason:
            sides = (ComparedSide.of(score, side == 1, member, fpr), ComparedSide.of(score, side == 0, member, fpr))
            rng = child_generator(seed, f"bootstrap of low false alarms, {pair[0]}")
            drawn = np.column_stack([part.resampled(bootstraps, rng) for part in sides])
            caught, members = (np.array([float(s.above(s.rank)) for s in sides]), np.array([s.members for s in sides]))
            first, second, estimate = (
                gap_estimate(weights, caught, members, drawn @ weights, level=level)
                for weights in ((1, 0), (0, 1), (1, -1))
            )
            rng = child_generator(seed, f"permutations of low false alarms, {pair[0]}")
            p = _share_as_extreme(estimate.value, permuted_sides(sides, everybody, permutations, rng))
            error = max(float((drawn @ (1, -1)).std()), float(variances(caught, members).sum() ** 0.5))
            detectable = smallest_detectable(error, level=level, comparisons=able)
            test = GapTest(p_value=p, p_adjusted=p, smallest_detectable=detectable, significant=False)
            result = replace(result, estimate=estimate, rates=(first, second), test=test)
        results.append(result)
    corrected = iter(_corrected([result.test for result in results if result.test is not None], level))
    return tuple(result if result.test is None else _tested(result, next(corrected)) for result in results)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class NetGap(Result):
    """The gap in TPR - FPR at one threshold for everybody, group minus others."""

    group: str
    reference: str
    fpr: float
    """The rate of false positives among all non-members."""
    estimate: Estimate
    tpr: tuple[Estimate, Estimate]
    false_positives: tuple[Estimate, Estimate]
    """The rates behind it, of the group and of the others."""


def net_gaps(
    score: Floats,
    groups: Codes,
    member: Codes,
    *,
    names: Sequence[str],
    fpr: float = 0.01,
    level: float = 0.95,
) -> tuple[NetGap, ...]:
    """Return the gap at one threshold for everybody of each group that is small, against all others.

    The arguments are those of `lira_gaps`. A group is small where it, or the others, have fewer than 10 / fpr
    non-members; with fewer than 10 members or non-members on either side it is left out. There are none where fewer
    than 1 / fpr non-members are judged in all.
    """
    if np.count_nonzero(member == 0) < least_outsiders(fpr):
        return ()
    enough = least_outsiders(fpr, false_positives=RESOLUTION)
    flagged, *beside = (_flagged_chance(score, member, position) for position in _positions(member, fpr, level))
    gaps = []
    for (group, complement), side in _group_comparisons(groups, names):
        cell = (2 * side + member).astype(np.int64)
        sizes = np.bincount(cell, minlength=4).reshape(2, 2)
        if sizes.min() < FEWEST or sizes[:, 0].min() >= enough:
            continue
        rates = _rates(cell, flagged, level)
        elsewhere = [_net_gap(_rates(cell, chance, level)).value for chance in beside]
        gap = NetGap(
            group=group,
            reference=complement,
            fpr=fpr,
            estimate=_with_threshold(_net_gap(rates), elsewhere),
            tpr=(rates[1][1], rates[0][1]),
            false_positives=(rates[1][0], rates[0][0]),
        )
        gaps.append(gap)
    return tuple(gaps)


def _positions(member: Codes, fpr: float, level: float) -> list[float]:
    """Return at which non-member from the top the threshold lies, and the ends of where it may lie in other samples.

    The j-th highest of n non-members has a true FPR that is a Beta(j, n + 1 - j) variable.
    """
    from scipy.special import betaincinv

    size = int(np.count_nonzero(member == 0)) + 1
    position = fpr * size
    ends = [float(betaincinv(position, size - position, end)) for end in (0.5 - level / 2, 0.5 + level / 2)]
    return [position, *(size * end for end in ends)]


def _rates(cell: Ints, flagged: Floats, level: float) -> list[list[Estimate]]:
    """Return the share of each cell that is flagged, at [side, member]; a cell is 2 · side + member."""
    sizes = np.bincount(cell, minlength=4).reshape(2, 2).tolist()
    hits = np.bincount(cell, weights=flagged, minlength=4).reshape(2, 2).tolist()
    return [[proportion(hits[side][kind], sizes[side][kind], level=level) for kind in (0, 1)] for side in (0, 1)]


def _net_gap(rates: Sequence[Sequence[Estimate]]) -> Estimate:
    """Return TPR - FPR of the group minus that of the others."""
    total = weighted_sum([(1.0, rates[1][1]), (-1.0, rates[1][0]), (-1.0, rates[0][1]), (1.0, rates[0][0])])
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
    return np.asarray((score > threshold) + min(1.0, share) * (score == threshold), dtype=np.float64)


def permuted_sides(
    sides: Sequence[ComparedSide], everybody: ComparedSide, draws: int, rng: np.random.Generator
) -> Floats:
    """Return the gap, first side minus second, of random divisions of everybody into sides of the same sizes."""
    first, second = np.rint(everybody.above(_places(sides, draws, rng))).astype(np.int64)
    n_first, n_second = sides[0].members, sides[1].members
    low, high = np.minimum(first, second), np.maximum(first, second)
    among_low = rng.hypergeometric(n_first, n_second, low)
    among_high = among_low + rng.hypergeometric(n_first - among_low, n_second - (low - among_low), high - low)
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
