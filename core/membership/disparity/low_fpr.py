"""Gap between groups in members caught at a low rate of false alarms, of scores such as LiRA's (Carlini et al. 2022).

Each group has its own threshold: the lowest score that keeps its own outsiders' false alarms at or below the rate.
Tied scores stay together, so the true rate may be lower than asked for; nothing is interpolated. A rate of 1 % needs
1,000 outsiders a group: with fewer it rests on less than 10 people, and is not told.

The bootstrap draws, within each stratum, as many people as there are. Of n outsiders drawn, the (a + 1)-th highest has
rank floor(n U) with U the (a + 1)-th smallest of n uniform numbers, a Beta(a + 1, n - a): the threshold is drawn so,
and then the members above it by a binomial draw, which is the same as drawing the people. Permutations of the groups
are drawn from the top of the outsiders down to where both groups have their thresholds.

The permutations are of scores distributed alike in both groups, which is more than no gap: where scores tie and lie
elsewhere in one group than in the other they reject often though no more is caught of either. A gap therefore counts
as told from none only if its interval leaves out 0 as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.estimates import Estimate, not_measured
from core.membership.disparity import resampling
from core.membership.disparity.results import GapResult, GapTest
from core.membership.disparity.tally import FEWEST, both_kinds
from core.membership.disparity.verdicts import one_against_others
from core.multiplicity import holm
from core.seeds import child_generator
from core.validation import binary_array, one_length

__all__ = ["lira_gap", "lira_gaps"]

_LEAST = 10
"""False alarms a rate must rest on."""

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def lira_gap(
    score: npt.ArrayLike,
    group: npt.ArrayLike,
    member: npt.ArrayLike,
    *,
    fpr: float = 0.01,
    level: float = 0.95,
    bootstraps: int = 2000,
    permutations: int = 2000,
    seed: int = 0,
    names: tuple[str, str] = ("group", "others"),
) -> GapResult:
    """Return the gap in members caught at a rate of false alarms.

    Parameters
    ----------
    score : array-like of shape (n,)
        Higher means rather a member; finite.
    group, member : array-like of shape (n,)
        0 or 1, as for `vulnerability_disparity`.
    fpr : float in (0, 1)
    level, bootstraps, permutations, seed, names
        As for `vulnerability_disparity`.

    Returns
    -------
    GapResult
        All nan, with a reason, where a side has fewer than 10 / fpr outsiders or 10 members. The p-value is for scores
        that are distributed alike in both groups, among members and among outsiders; `significant` asks for an interval
        that leaves out 0 besides.

    Raises
    ------
    InputError
        If an array or a setting breaks its rule.
    """
    side = binary_array(group, name="group")
    values, inside = _checked(score, member, fpr, side)
    resampling.checked_draws(bootstraps, permutations)
    own = _Settings(fpr=fpr, level=level, bootstraps=bootstraps, permutations=permutations, seed=seed)
    return _measured(values, side, inside, names, own, comparisons=1)


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
    """Return `lira_gap` of each group against all others (of two: group 1 against group 0), p-values adjusted.

    Groups too small for it are there too, with their reason; the arguments are those of `disparities`.
    """
    values, inside = _checked(score, member, fpr, groups)
    resampling.checked_draws(bootstraps, permutations)
    own = _Settings(fpr=fpr, level=level, bootstraps=bootstraps, permutations=permutations, seed=seed)
    pairs = one_against_others(groups, names, inside.size)
    able = sum(not _reason(side, inside, pair, fpr) for pair, side in pairs)
    found = [_measured(values, side, inside, pair, own, comparisons=able) for pair, side in pairs]
    adjusted = iter(holm([result.test.p_value for result in found if result.test]))
    return tuple(_with(result, next(adjusted), level) if result.test else result for result in found)


def _with(result: GapResult, p: float, level: float) -> GapResult:
    assert result.test is not None
    return replace(result, test=replace(result.test, p_adjusted=p, significant=_told(p, result.estimate, level)))


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
    """Scores of one side, highest first."""

    outsiders: Floats
    members: Floats
    allowed: int  # false alarms

    def caught(self, place: Ints) -> Ints:
        """Return the members strictly above the outsider at each place."""
        return self.members.size - np.searchsorted(self.members[::-1], self.outsiders[place], side="right")


def _checked(
    score: npt.ArrayLike, member: npt.ArrayLike, fpr: float, groups: npt.ArrayLike
) -> tuple[Floats, npt.NDArray[np.uint8]]:
    values, inside = np.asarray(score, dtype=np.float64), both_kinds(member)
    if values.ndim != 1:
        raise InputError(f"score must be one-dimensional, got {values.ndim} dimensions.")
    if not np.isfinite(values).all():
        raise InputError(f"score must be finite, got {values[~np.isfinite(values)][0]}.")
    if not 0.0 < fpr < 1.0:
        raise InputError(f"fpr must be in (0, 1), got {fpr!r}.")
    one_length(score=values, group=np.asarray(groups), member=inside)
    return values, inside


def _reason(side: npt.NDArray[np.uint8], inside: npt.NDArray[np.uint8], names: tuple[str, str], fpr: float) -> str:
    """Return why the gap is not measured; empty if it is."""
    need = math.ceil(_LEAST / fpr - 1e-9)
    for kind, least, told in ((0, need, "people outside"), (1, FEWEST, "people inside")):
        counts = np.bincount(side[inside == kind], minlength=2)
        small = int(np.argmin(counts[::-1]))  # the group first
        if counts[1 - small] < least:
            return (
                f"n/a, needs at least {least:,} {told} the training data, got {counts[1 - small]:,} of “{names[small]}”"
            )
    return ""


def _allowed(fpr: float, outsiders: int) -> int:
    return math.floor(fpr * outsiders + 1e-9)


def _measured(
    values: Floats,
    side: npt.NDArray[np.uint8],
    inside: npt.NDArray[np.uint8],
    names: tuple[str, str],
    own: _Settings,
    *,
    comparisons: int,
) -> GapResult:
    """Return one comparison, its p-value not adjusted."""
    reason = _reason(side, inside, names, own.fpr)
    if reason:
        nothing = not_measured(level=own.level)
        return GapResult(
            group=names[0],
            others=names[1],
            fpr=own.fpr,
            estimate=nothing,
            rates=(nothing, nothing),
            test=None,
            reason=reason,
        )
    sides = [_side(values, side == code, inside == 1, own.fpr) for code in (1, 0)]
    caught = np.array([int(s.caught(np.array(s.allowed))) for s in sides])
    members = np.array([s.members.size for s in sides])
    rng = child_generator(own.seed, f"bootstrap of low false alarms, {names[0]}")
    drawn = np.column_stack([_resampled(s, own.bootstraps, rng) for s in sides])
    first, second, gap = (
        resampling.gap_estimate(weights, caught, members, drawn @ weights, level=own.level)
        for weights in ((1, 0), (0, 1), (1, -1))
    )
    rng = child_generator(own.seed, f"permutations of low false alarms, {names[0]}")
    p = resampling.share_as_extreme(gap.value, _permuted(sides, own.permutations, rng))
    error = max(float((drawn @ (1, -1)).std()), float(resampling.variances(caught, members).sum() ** 0.5))
    least = resampling.smallest_detectable(error, level=own.level, comparisons=comparisons)
    test = GapTest(p_value=p, p_adjusted=p, smallest_detectable=least, significant=_told(p, gap, own.level))
    return GapResult(group=names[0], others=names[1], fpr=own.fpr, estimate=gap, rates=(first, second), test=test)


def _side(values: Floats, here: npt.NDArray[np.bool_], inside: npt.NDArray[np.bool_], fpr: float) -> _Side:
    outsiders, members = (np.sort(values[here & kind])[::-1] for kind in (~inside, inside))
    return _Side(outsiders=outsiders, members=members, allowed=_allowed(fpr, outsiders.size))


def _resampled(side: _Side, draws: int, rng: np.random.Generator) -> Floats:
    """Return the share of members caught in each of `draws` samples of the side's outsiders and members."""
    n, m = side.outsiders.size, side.members.size
    place = np.floor(n * rng.beta(side.allowed + 1, n - side.allowed, size=draws)).astype(np.int64)
    return rng.binomial(m, side.caught(np.minimum(place, n - 1)) / m) / m


def _permuted(sides: Sequence[_Side], draws: int, rng: np.random.Generator) -> Floats:
    """Return the gap, first side minus second, of random divisions of everybody into sides of the same sizes."""
    pooled = _Side(
        outsiders=np.sort(np.concatenate([s.outsiders for s in sides]))[::-1],
        members=np.sort(np.concatenate([s.members for s in sides]))[::-1],
        allowed=0,
    )
    first, second = pooled.caught(_places(sides, draws, rng))
    own, other = sides[0].members.size, sides[1].members.size
    low, high = np.minimum(first, second), np.maximum(first, second)
    among_low = rng.hypergeometric(own, other, low)
    among_high = among_low + rng.hypergeometric(own - among_low, other - (low - among_low), high - low)
    mine = np.where(first <= second, among_low, among_high)
    theirs = second - np.where(second < first, among_low, among_high)
    return mine / own - theirs / other


def _places(sides: Sequence[_Side], draws: int, rng: np.random.Generator) -> Ints:
    """Return where each side's threshold lies among all outsiders, highest first, of shape (2, draws)."""
    left = np.array([[s.outsiders.size] for s in sides]).repeat(draws, axis=1)
    wanted = np.array([[s.allowed + 1] for s in sides]).repeat(draws, axis=1)
    places = np.zeros((2, draws), dtype=np.int64)
    place = 0
    while (wanted > 0).any():
        first = rng.random(draws) * left.sum(axis=0) < left[0]
        taken = np.stack([first, ~first])
        places[taken & (wanted == 1)] = place
        wanted -= taken
        left -= taken
        place += 1
    return places
