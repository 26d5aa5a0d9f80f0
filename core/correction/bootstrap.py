"""Intervals of what a disclosure gives away, by a bootstrap through the correction itself (Efron 1979).

A correction is one optimisation over everybody: with other people the counts would differ, and with them which guesses
are changed. An interval that takes the changes as given leaves that out. Here people are drawn anew with replacement,
everything that is computed of them is computed again (a tolerance that was raised until it was true is raised anew),
and the correction is solved for every draw: in blocks of neighbouring prices (`core.correction.blocks`), the projection
by a Newton step from everybody's multipliers with the draw's own slope and curvature. The attacker, the prices and so
the confidence exponent stay as they are, and so does what was said as a number.

Only the spread of the draws is used: an interval is the value and so many standard deviations of the draws to either
side, by Student's t. The draws' own quantiles count a bias twice where the optimum has a kink: at a tolerance raised
until it is true, or at the better of two attackers.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.correction.blocks import Blocks, Named
from core.correction.claim import Shares
from core.correction.soft import soft_statistics
from core.estimates import Estimate
from core.projection import Constraints
from core.projection.ascent import newton_direction
from core.seeds import child_generator

__all__ = [
    "DRAWS",
    "DRAWS_OF_MANY",
    "DRAWS_OF_PROJECTIONS",
    "Projected",
    "named_in_draws",
    "named_together",
    "rightly",
    "rightly_balanced",
    "surprise_in_draws",
    "widened",
]

DRAWS = 100
"""Draws of people where there are two groups."""

DRAWS_OF_MANY = 40
"""The same where there are more, and each draw takes a linear program."""

DRAWS_OF_PROJECTIONS = 50
"""The same for a projection."""

_FEWEST = 10
"""Draws with a correction below which their spread is not trusted."""

_NAME = "bootstrap of the correction"

_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int64]


def widened(own: Estimate, found: _Floats, *, within: tuple[float, float] = (0.0, 1.0)) -> Estimate:
    """Return an estimate whose interval holds its own, and the spread of the draws.

    Parameters
    ----------
    own : Estimate
        With an interval that takes what was changed as given; it keeps some width where no draw differs.
    found : ndarray of shape (draws + 1,)
        The same number of everybody, as blocks have it, and then of each draw. How far blocks miss the value is added
        (as a square): where hardly any counts meet the tolerance, the exact correction jumps. Draws that are nan are
        left out; where fewer than ten remain, the estimate stays as it is.
    within : tuple of float
    """
    drawn = found[1:][np.isfinite(found[1:])]
    if drawn.size < _FEWEST or math.isnan(own.value):
        return own
    from scipy.special import stdtrit

    spread = float(stdtrit(drawn.size - 1, 0.5 + own.level / 2)) * float(drawn.std(ddof=1))
    half = math.hypot(spread, float(np.nan_to_num(own.value - found[0])))
    return Estimate(
        value=own.value,
        low=max(within[0], min(own.low, own.value - half)),
        high=min(within[1], max(own.high, own.value + half)),
        n=own.n,
        level=own.level,
    )


def named_in_draws(
    people: Blocks, tolerance: float, *, raise_until_true: bool = False, draws: int | None = None, seed: int = 0
) -> Named:
    """Correct everybody (first row), and then each of the draws."""
    drawn = draws or (DRAWS if people.n_groups == 2 else DRAWS_OF_MANY)
    everybody, rng = people.everybody, child_generator(seed, _NAME)
    there = np.flatnonzero(everybody)
    counts = np.zeros((drawn + 1, everybody.size))
    counts[0] = everybody
    n = int(everybody.sum())
    counts[1:, there] = rng.multinomial(n, everybody[there] / n, size=drawn)
    return people.corrected(counts, tolerance, raise_until_true=raise_until_true)


def named_together(
    attackers: Sequence[Blocks], tolerance: float, *, raise_until_true: bool = False, draws: int, seed: int = 0
) -> list[Named]:
    """Correct what several attackers say of the same people: everybody (first row), then each of the same draws."""
    counts = [np.empty((draws + 1, each.everybody.size)) for each in attackers]
    for number, weight in enumerate(_drawn_people(attackers[0].place.size, draws, seed)):
        for count, each in zip(counts, attackers, strict=True):
            count[number] = np.bincount(each.place, weights=weight, minlength=each.everybody.size)
    return [
        each.corrected(count, tolerance, raise_until_true=raise_until_true)
        for count, each in zip(counts, attackers, strict=True)
    ]


def _drawn_people(n: int, draws: int, seed: int) -> Iterator[_Ints]:
    """Yield how often each of n people is there: once each, and then as drawn."""
    yield np.ones(n, dtype=np.int64)
    rng = child_generator(seed, _NAME)
    for _ in range(draws):
        yield np.bincount(rng.integers(0, n, size=n), minlength=n)


def rightly(size: _Floats, named: _Floats) -> _Floats:
    """Return the accuracy in each row of people by group, and of those named rightly."""
    return np.asarray(named.sum(axis=1) / np.maximum(size.sum(axis=1), 1.0))


def rightly_balanced(size: _Floats, named: _Floats) -> _Floats:
    """Return the balanced accuracy in each row, over the groups that are there."""
    there = size > 0
    rates = np.where(there, named / np.maximum(size, 1.0), 0.0)
    return np.asarray(rates.sum(axis=1) / there.sum(axis=1))


def surprise_in_draws(
    posterior: _Floats,
    truth: npt.NDArray[np.intp],
    steps: Mapping[str, Projected],
    *,
    parts: Sequence[int | None],
    draws: int = DRAWS_OF_PROJECTIONS,
    seed: int = 0,
) -> dict[str, _Floats]:
    """Return by how much each projection changes the log-loss, of everybody (first) and in each of the draws.

    Parameters
    ----------
    posterior : ndarray of shape (n, K)
    truth : ndarray of shape (n,)
    steps : mapping of str to Projected
    parts : sequence of int or None
        Label of each row set the metric compares groups on; None for all records.
    draws, seed : int
    """
    if not steps:
        return {}
    n, k = posterior.shape
    pattern = next(iter(steps.values())).constraints.pattern
    order = np.argsort(pattern, kind="stable")
    spans = np.searchsorted(pattern[order], np.arange(5))
    columns = [np.eye(k)[truth[order]]]
    columns += [step.sums_of(posterior[order], pattern[order]) for step in steps.values()]
    table = np.hstack(columns)
    sums = np.empty((draws + 1, 4, table.shape[1]))
    for number, weight in enumerate(_drawn_people(n, draws, seed)):
        for p, (first, end) in enumerate(itertools.pairwise(spans)):
            sums[number, p] = weight[first:end].astype(np.float64) @ table[first:end]
    ends = np.cumsum([part.shape[1] for part in columns])
    own = np.split(sums, ends[:-1], axis=2)
    return {
        name: np.array([step.change(true, found, parts) for true, found in zip(own[0], part, strict=True)])
        for (name, step), part in zip(steps.items(), own[1:], strict=True)
    }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Projected:
    """Everybody's posterior projected on what was said, ready to be moved a little for a draw.

    With the sum of log-normalisers of a pattern's people taken as quadratic in the pattern's shift, so is the dual in
    the multipliers, and its maximum over a box is one Newton step.

    Attributes
    ----------
    constraints : Constraints
    multipliers : ndarray of shape (statistics,)
    tolerance : float or None
    shares : sequence or None
        What was said of the fairness, and of the groups' shares; None for nothing.
    """

    constraints: Constraints
    multipliers: _Floats
    tolerance: float | None
    shares: Shares | None

    @property
    def shift(self) -> _Floats:
        """What each group's log-probability gains in each pattern, (patterns, K)."""
        return np.asarray(-(self.multipliers[:, None] * self.constraints.weights).T @ self.constraints.groups)

    def sums_of(self, posterior: _Floats, pattern: npt.NDArray[np.intp]) -> _Floats:
        """Return what is summed over people: log-normaliser, probabilities after, and products of two of them."""
        with np.errstate(divide="ignore"):
            logs = np.log(posterior) + self.shift[pattern]
        top = logs.max(axis=1, keepdims=True)
        tilted = np.exp(logs - top)
        total = tilted.sum(axis=1, keepdims=True)
        tilted /= total
        g, h = np.triu_indices(posterior.shape[1])
        return np.hstack([top + np.log(total), tilted, tilted[:, g] * tilted[:, h]])

    def change(self, true: _Floats, sums: _Floats, parts: Sequence[int | None]) -> float:
        """Return the change in log-loss a person, in one draw.

        It is nan where a bound became one that nothing can break, or ceased to be one.

        Parameters
        ----------
        true : ndarray of shape (patterns, K)
            People by pattern and true group.
        sums : ndarray of shape (patterns, columns)
            Those of `sums_of`.
        """
        k = true.shape[1]
        weights, groups, bound, equality = soft_statistics(
            np.rint(true.sum(axis=1)).astype(np.int64),
            parts=parts,
            n_groups=k,
            tolerance=self.tolerance,
            group_shares=self.shares,
        )
        if bound.size != self.multipliers.size:
            return math.nan
        norm, mean, products = np.split(sums, (1, 1 + k), axis=1)
        spread = np.zeros((4, k, k))
        g, h = np.triu_indices(k)
        spread[:, g, h] = spread[:, h, g] = -products
        spread[:, range(k), range(k)] += mean
        scale = np.abs(weights).max(axis=1, initial=0.0)
        scale = np.where(scale > 0, scale, 1.0)
        features = (weights / scale[:, None])[:, :, None] * groups[:, None, :]  # statistic, pattern, group
        flat, now, was = features.reshape(bound.size, -1), self.multipliers * scale, self.shift
        moved = -(now @ flat).reshape(4, k) - was
        expected = mean + (spread @ moved[:, :, None])[:, :, 0]
        curvature = flat @ (spread @ features.transpose(1, 2, 0)).reshape(4 * k, -1)
        step = newton_direction(flat @ expected.ravel() - bound / scale, curvature, now, equality)
        moved = moved - (step @ flat).reshape(4, k)
        quadratic = norm.sum() + (mean * moved).sum() + (moved * (spread @ moved[:, :, None])[:, :, 0]).sum() / 2
        return float((quadratic - (true * (was + moved)).sum()) / true.sum())
