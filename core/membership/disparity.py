"""Gaps between groups in an attack's verdicts (Zhang et al. 2020, equation 2, and beyond).

    vd             = P(called a member | member, group)   − P(called a member | member, others)
    fpr_gap        = P(called a member | outsider, group) − P(called a member | outsider, others)
    advantage_gap  = vd − fpr_gap

An attack that calls a group members more often, in or out of the training data, has a vd and has found out nothing;
only the advantage gap is about what leaks. All three are for people like the judged ones, with the model, the attack
and the seed given.

Ranges: members called members, by the probability the model gave to their true label. Each range is divided by all
members of the group, not by those in the range, so that the differences of the ranges add up to the vulnerability
disparity (Zhang et al. 2020, equation 5 and figure 5).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from core.arrays import Codes
from core.errors import InputError
from core.estimates import Estimate, holm, proportion
from core.membership.resampling import (
    Tally,
    both_kinds,
    checked_draws,
    enough,
    gap_estimate,
    gap_p_value,
    permuted,
    resampled,
    smallest_detectable,
    tally,
    variances,
)
from core.seeds import child_generator
from core.serialize import Result
from core.validation import binary_array, group_array, one_length, probabilities


@dataclass(frozen=True, slots=True, kw_only=True)
class GapTest(Result):
    """Whether a gap can be told from none."""

    p_value: float
    p_adjusted: float
    """Of a permutation test; the second after Holm's correction over the groups compared."""
    smallest_detectable: float
    """Smallest absolute gap that a sample of this size finds in four of five cases."""
    significant: bool
    """Whether the adjusted p-value is below one minus the level of the intervals. Of a gap at a low rate of false
    alarms also whether its interval leaves out 0, see `core.membership.low_fpr`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DisparityResult(Result):
    """How differently an attack treats a group and all others (group minus others)."""

    group: str
    others: str
    vd: Estimate
    """Vulnerability disparity: members called members (Zhang et al. 2020, equation 2)."""
    fpr_gap: Estimate
    """Outsiders called members."""
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
    others: str
    fpr: float
    """The rate of false alarms, of each group by itself."""
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
    """Members called members among those the model was this sure of.

    The range is of the probability the model gave to the true label; the last includes 1. `group` and `others` are
    flagged members in the range, as a share of all members of the group, and of the others; `difference` is the first
    minus the second.
    """

    low: float
    high: float
    group: float
    others: float
    difference: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeTable(Result):
    """Ten ranges whose differences add up to the vulnerability disparity (Zhang et al. 2020, equation 5)."""

    group: str
    others: str
    rows: tuple[RangeRow, ...]
    vd: float


GAPS = {
    "vd": ((0, -1), (0, 1)),
    "fpr_gap": ((-1, 0), (1, 0)),
    "advantage_gap": ((1, -1), (-1, 1)),
}
"""Weight of each rate, at [side, member], in each gap; side 1 is the group."""

OTHERS = "all others"
"""What a group of more than two is compared with."""


def vulnerability_disparity(
    verdict: npt.ArrayLike,
    group: npt.ArrayLike,
    member: npt.ArrayLike,
    *,
    level: float = 0.95,
    bootstraps: int = 2000,
    permutations: int = 2000,
    seed: int = 0,
    names: tuple[str, str] = ("group", "others"),
) -> DisparityResult:
    """Return the three gaps between a group and the others.

    Raises `InputError` if an array or a setting breaks its rule, or the group or the others have fewer than 10 members
    or outsiders.

    Parameters
    ----------
    verdict, group, member : array-like of shape (n,)
        0 or 1: called a member; in the group (1, the protected one) or not; truly a member. Judged people only.
    level : float in (0, 1)
        Of the intervals; one minus it is the level of the tests.
    bootstraps, permutations : int
        At least 100.
    names : tuple of str
        Of the group and of the others.
    """
    counts = tally(verdict, group, member)
    reason = enough(counts.people, names)
    if reason:
        raise InputError(reason)
    checked_draws(bootstraps, permutations)
    return _compared(counts, names, level, (bootstraps, permutations), seed, comparisons=1)


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
    Raises `InputError` if an array or a setting breaks its rule, or everybody is a member, or nobody.

    Groups, of shape (n,), are codes from 0 to K - 1; pairs of attributes are groups like any others. The other
    arguments are those of `vulnerability_disparity`.
    """
    called, inside = binary_array(verdict, name="verdict"), both_kinds(member)
    checked_draws(bootstraps, permutations)
    measured, left_out = [], []
    for pair, side in one_against_others(groups, names, inside.size):
        counts = tally(called, side, inside)
        reason = enough(counts.people, pair)
        if reason:
            left_out.append((pair[0], reason))
        else:
            measured.append((pair, counts))
    draws = (bootstraps, permutations)
    found = [_compared(counts, pair, level, draws, seed, comparisons=len(measured)) for pair, counts in measured]
    return Disparities(results=_adjusted(found, level), not_measured=tuple(left_out))


def is_muted(auc: Estimate) -> bool:
    """Return whether gaps of verdicts say nothing of leakage, the attack not being measurably better than chance.

    So it is unless the interval of its AUC lies above 0.5: where it holds 0.5, lies below, or is not there.
    """
    return not auc.low > 0.5


def group_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of at least two groups, all different."""
    told = tuple(str(name) for name in names)
    if len(told) < 2 or len(set(told)) < len(told):
        raise InputError(f"names must be at least two different names of groups, got {', '.join(told) or 'none'}.")
    return told


def one_against_others(groups: npt.ArrayLike, names: Sequence[str], n: int) -> list[tuple[tuple[str, str], Codes]]:
    """Return the names and the sides, shape (n,), of each comparison: one of two groups, K of more."""
    told = group_names(names)
    codes = group_array(groups, len(told), name="groups")
    one_length(groups=codes, member=np.empty(n))
    if len(told) == 2:
        return [((told[1], told[0]), codes)]
    return [((name, OTHERS), (codes == code).astype(np.uint8)) for code, name in enumerate(told)]


def _compared(
    counts: Tally, names: tuple[str, str], level: float, draws: tuple[int, int], seed: int, *, comparisons: int
) -> DisparityResult:
    """Return the gaps of one comparison, with p-values that are not adjusted yet."""
    k, n = counts.flagged, counts.people
    recall, false_alarms = (
        (
            proportion(int(k[1, kind]), int(n[1, kind]), level=level),
            proportion(int(k[0, kind]), int(n[0, kind]), level=level),
        )
        for kind in (1, 0)
    )
    rates = resampled(counts, draws[0], child_generator(seed, f"bootstrap of gaps, {names[0]}"))
    shuffled = permuted(counts, draws[1], child_generator(seed, f"permutations of groups, {names[0]}"))
    gaps, tests = {}, {}
    for name, weights in GAPS.items():
        gaps[name] = gap_estimate(weights, k, n, (rates * weights).sum(axis=(1, 2)), level=level)
        p = gap_p_value(weights, counts, shuffled)
        error = float((np.square(weights) * variances(k, n)).sum() ** 0.5)
        least = smallest_detectable(error, level=level, comparisons=comparisons)
        tests[name] = GapTest(p_value=p, p_adjusted=p, smallest_detectable=least, significant=p < 1 - level)
    return DisparityResult(
        group=names[0], others=names[1], recall=recall, false_alarms=false_alarms, tests=tests, **gaps
    )


def _adjusted(found: Sequence[DisparityResult], level: float) -> tuple[DisparityResult, ...]:
    """Return the results with Holm's correction over them, for each gap by itself."""
    adjusted = {name: holm([result.tests[name].p_value for result in found]) for name in GAPS}
    return tuple(
        replace(
            result,
            tests={
                name: replace(test, p_adjusted=adjusted[name][j], significant=adjusted[name][j] < 1 - level)
                for name, test in result.tests.items()
            },
        )
        for j, result in enumerate(found)
    )


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
    """Return the flagged members of a group and of the others by range.

    The probability, of shape (n,), in [0, 1], is what the model gave to each judged person's true label; the other
    arguments are those of `vulnerability_disparity`. Raises `InputError` if an array breaks its rule, or the group or
    the others have no member.
    """
    p = probabilities(probability, name="probability")
    told, side, inside = (
        binary_array(values, name=name) for values, name in ((verdict, "verdict"), (group, "group"), (member, "member"))
    )
    one_length(probability=p, verdict=told, group=side, member=inside)
    members = np.bincount(side[inside == 1], minlength=2)
    for code in (1, 0):
        if not members[code]:
            raise InputError(f"Recall needs at least one member of each group, got none of “{names[1 - code]}”.")
    edges = np.arange(RANGES + 1) / RANGES
    caught = (told == 1) & (inside == 1)
    place = np.searchsorted(edges[1:-1], p[caught], side="right")
    shares = np.bincount(2 * place + side[caught], minlength=2 * RANGES).reshape(RANGES, 2) / members
    rows = tuple(
        RangeRow(low=low, high=high, group=own, others=other, difference=own - other)
        for low, high, (other, own) in zip(edges[:-1].tolist(), edges[1:].tolist(), shares.tolist(), strict=True)
    )
    return RangeTable(group=names[0], others=names[1], rows=rows, vd=math.fsum(row.difference for row in rows))
