"""Gaps between groups in a membership attack's verdicts (Zhang et al. 2020, equation 2, and what it leaves out).

    vd             = P(called a member | member, group)   − P(called a member | member, others)
    fpr_gap        = P(called a member | outsider, group) − P(called a member | outsider, others)
    advantage_gap  = vd − fpr_gap

An attack that calls a group members more often, in or out of the training data, has a vd and has found out nothing;
only the advantage gap is about what leaks. All three are for people like the judged ones, with the model, the attack
and the seed given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from core.arrays import Codes
from core.errors import InputError
from core.estimates import Estimate, proportion
from core.membership.disparity.resampling import (
    checked_draws,
    gap_estimate,
    gap_p_value,
    permuted,
    resampled,
    smallest_detectable,
    variances,
)
from core.membership.disparity.results import Disparities, DisparityResult, GapTest
from core.membership.disparity.tally import Tally, both_kinds, enough, tally
from core.multiplicity import holm
from core.seeds import child_generator
from core.validation import binary_array, group_array, one_length

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

    Parameters
    ----------
    verdict, member : array-like of shape (n,)
        As for `vulnerability_disparity`.
    groups : array-like of shape (n,)
        Codes from 0 to K - 1; pairs of attributes are groups like any others.
    level, bootstraps, permutations, seed
        As for `vulnerability_disparity`.
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
