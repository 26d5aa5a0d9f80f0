"""Gap between groups in TPR at a low FPR, of scores such as LiRA's (Carlini et al. 2022).

Each group has its own threshold, at which its own non-members have the FPR, ties broken at random
(`core.membership.roc`). A rate of 1 % needs 1,000 non-members a group: with fewer it rests on less than 10
false positives, and is not reported.

The bootstrap draws, within each stratum, as many people as there are. The j-th highest of n non-members has a true FPR
that is a Beta(j, n + 1 - j) variable: the threshold is drawn so, and then the members above it by a binomial draw,
which is the same as drawing the people. Permutations of the groups are drawn from the top of the non-members down to
where both groups have their thresholds.

The permutations are of scores distributed alike in both groups, which is more than no gap. A gap therefore counts as
significant only if its interval leaves out 0 as well. In permutation and bootstrap ties are broken once, in the gap
itself on average over all orders, so that both err on the cautious side where scores tie.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from core.arrays import Codes, Floats, Ints, Mask
from core.errors import InputError
from core.estimates import Estimate, holm, not_measured
from core.membership.disparity import GapResult, GapTest, one_against_others
from core.membership.resampling import (
    FEWEST,
    both_kinds,
    checked_draws,
    gap_estimate,
    share_as_extreme,
    smallest_detectable,
    variances,
)
from core.membership.roc import checked_scores, counts_above, members_above
from core.seeds import child_generator
from core.validation import one_length

_LEAST = 10
"""False positives an FPR must rest on."""


def lira_gaps(
    score: npt.ArrayLike,
    groups: npt.ArrayLike,
    member: npt.ArrayLike,
    *,
    names: Sequence[str],
    fpr: float = 0.01,
    level: float = 0.95,
    bootstraps: int = 2000,
    permutations: int = 2000,
    seed: int = 0,
) -> tuple[GapResult, ...]:
    """Return the gap in TPR at an FPR of each group against all others; of two, of group 1 against group 0.

    The score is finite and higher for members; the other arguments are those of `disparities`. A group with fewer
    than 10 / fpr non-members or 10 members on either side is there too, all nan, with its reason. P-values are for
    scores that are distributed alike in both groups, among members and among non-members, adjusted over the groups
    measured; `significant` asks for an interval that leaves out 0 besides.
    """
    values, inside = checked_scores(score, both_kinds(member))
    one_length(score=values, group=np.asarray(groups))
    if not 0.0 < fpr < 1.0:
        raise InputError(f"fpr must be in (0, 1), got {fpr!r}.")
    checked_draws(bootstraps, permutations)
    own = _Settings(fpr=fpr, level=level, bootstraps=bootstraps, permutations=permutations, seed=seed)
    pairs = one_against_others(groups, names, inside.size)
    able = sum(not _reason(side, inside, pair, fpr) for pair, side in pairs)
    found = [_measured(values, side, inside, pair, own, comparisons=able) for pair, side in pairs]
    adjusted = iter(holm([result.test.p_value for result in found if result.test]))
    return tuple(
        replace(
            result,
            test=replace(result.test, p_adjusted=(p := next(adjusted)), significant=_told(p, result.estimate, level)),
        )
        if result.test
        else result
        for result in found
    )


def _told(p: float, gap: Estimate, level: float) -> bool:
    """Return whether a gap is told from none, by its permutations and by its interval."""
    return p < 1 - level and not gap.low <= 0.0 <= gap.high


@dataclass(frozen=True, slots=True, kw_only=True)
class _Settings:
    fpr: float
    level: float
    bootstraps: int
    permutations: int
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """One side's non-members and members at or above each distinct score, falling, after a 0 each."""

    false_positives: Ints
    true_positives: Ints
    place: float  # of the non-member at which the FPR is read

    @property
    def outsiders(self) -> int:
        return int(self.false_positives[-1])

    @property
    def members(self) -> int:
        return int(self.true_positives[-1])

    def above(self, place: npt.ArrayLike) -> Floats:
        """Return the expected members above the non-member at each place, from 1, ties broken at random."""
        return members_above(place, self.false_positives, self.true_positives)


def _reason(side: Codes, inside: Codes, names: tuple[str, str], fpr: float) -> str:
    """Return why the gap is not measured; empty if it is."""
    need = math.ceil(_LEAST / fpr - 1e-9)
    for kind, least, told in ((0, need, "non-members"), (1, FEWEST, "members")):
        counts = np.bincount(side[inside == kind], minlength=2)
        small = int(np.argmin(counts[::-1]))  # the group first
        if counts[1 - small] < least:
            return f"n/a, needs at least {least:,} {told}, got {counts[1 - small]:,} of “{names[small]}”"
    return ""


def _measured(
    values: Floats, side: Codes, inside: Codes, names: tuple[str, str], own: _Settings, *, comparisons: int
) -> GapResult:
    """Return one comparison, its p-value not adjusted."""
    reason = _reason(side, inside, names, own.fpr)
    if reason:
        none = not_measured(level=own.level)
        return GapResult(
            group=names[0], others=names[1], fpr=own.fpr, estimate=none, rates=(none, none), test=None, reason=reason
        )
    sides = [_side(values, side == code, inside, own.fpr) for code in (1, 0)]
    caught = np.array([float(s.above(s.place)) for s in sides])
    members = np.array([s.members for s in sides])
    rng = child_generator(own.seed, f"bootstrap of low false alarms, {names[0]}")
    drawn = np.column_stack([_resampled(s, own.bootstraps, rng) for s in sides])
    first, second, gap = (
        gap_estimate(weights, caught, members, drawn @ weights, level=own.level)
        for weights in ((1, 0), (0, 1), (1, -1))
    )
    rng = child_generator(own.seed, f"permutations of low false alarms, {names[0]}")
    everybody = _side(values, np.ones(values.size, dtype=np.bool_), inside, own.fpr)
    p = share_as_extreme(gap.value, _permuted(sides, everybody, own.permutations, rng))
    error = max(float((drawn @ (1, -1)).std()), float(variances(caught, members).sum() ** 0.5))
    least = smallest_detectable(error, level=own.level, comparisons=comparisons)
    test = GapTest(p_value=p, p_adjusted=p, smallest_detectable=least, significant=_told(p, gap, own.level))
    return GapResult(group=names[0], others=names[1], fpr=own.fpr, estimate=gap, rates=(first, second), test=test)


def _side(values: Floats, here: Mask, inside: Codes, fpr: float) -> _Side:
    false, true = counts_above(values[here], inside[here])
    return _Side(false_positives=false, true_positives=true, place=fpr * (int(false[-1]) + 1))


def _resampled(side: _Side, draws: int, rng: np.random.Generator) -> Floats:
    """Return the TPR in each of `draws` samples of the side's non-members and members."""
    n, m = side.outsiders, side.members
    rate = rng.beta(side.place, n + 1 - side.place, size=draws)
    return rng.binomial(m, side.above((n + 1) * rate) / m) / m


def _permuted(sides: Sequence[_Side], everybody: _Side, draws: int, rng: np.random.Generator) -> Floats:
    """Return the gap, first side minus second, of random divisions of everybody into sides of the same sizes."""
    first, second = np.rint(everybody.above(_places(sides, draws, rng))).astype(np.int64)
    own, other = sides[0].members, sides[1].members
    low, high = np.minimum(first, second), np.maximum(first, second)
    among_low = rng.hypergeometric(own, other, low)
    among_high = among_low + rng.hypergeometric(own - among_low, other - (low - among_low), high - low)
    mine = np.where(first <= second, among_low, among_high)
    theirs = second - np.where(second < first, among_low, among_high)
    return mine / own - theirs / other


def _places(sides: Sequence[_Side], draws: int, rng: np.random.Generator) -> Ints:
    """Return where each side's threshold lies among all non-members, from 1 at the highest, of shape (2, draws).

    A side whose threshold lies between two places takes either, as often as it is near it.
    """
    left = np.array([[s.outsiders] for s in sides]).repeat(draws, axis=1)
    exact = np.array([[s.place] for s in sides])
    wanted = np.floor(exact + rng.random((2, draws))).astype(np.int64)
    places = np.zeros((2, draws), dtype=np.int64)
    place = 0
    while (wanted > 0).any():
        place += 1
        first = rng.random(draws) * left.sum(axis=0) < left[0]
        taken = np.stack([first, ~first])
        places[taken & (wanted == 1)] = place
        wanted -= taken
        left -= taken
    return places
