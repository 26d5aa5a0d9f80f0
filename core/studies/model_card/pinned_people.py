"""Near-certain inference: whose attribute a card discloses, and the precision that discloses nobody.

What noise drawn once leaves open, the worst of several shows. The first is the one a study looks at, so
that several draws never say less than the study shows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...base.serialize import Result
from ...base.validation import Codes, Floats, Ints, Mask, child_generator
from ...stats.estimates import LEVEL, Estimate, accuracy, proportion
from ..study import ReportProgress
from ..subject import Progress
from .equations import project
from .meter import Meter, meter, predict
from .release import Release

if TYPE_CHECKING:
    import pandas

UNSURE = (0.05, 0.95)
"""Before: the attacker's probability lies in here."""

SETTLED = (0.005, 0.995)
"""After: it lies outside of this."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pinned(Result):
    """Who is disclosed: unsure before, near certain after."""

    people: Ints
    """Their row numbers."""
    n_unsure: int
    """People who were unsure before."""
    right: Estimate | None
    """Share of the disclosed inferred correctly; None without a truth."""
    inferred: Codes
    """(count,), 0 or 1: what is now believed of each."""
    before: Floats
    after: Floats
    """(count,): probabilities of s = 1."""

    @property
    def count(self) -> int:
        """Number of people disclosed."""
        return int(self.people.size)


def pinned(
    before: npt.ArrayLike, after: npt.ArrayLike, *, sensitive: npt.ArrayLike | None = None
) -> Pinned:
    """Return the people unsure before (5% to 95%) and near-certain after (beyond 99.5%); all arrays of shape (n,)."""
    then, now = (np.asarray(values, dtype=np.float64) for values in (before, after))
    unsure = (then >= UNSURE[0]) & (then <= UNSURE[1])
    people = np.flatnonzero(unsure & ((now < SETTLED[0]) | (now > SETTLED[1])))
    inferred = (now[people] > 0.5).astype(np.uint8)
    right = None
    if sensitive is not None:
        right = accuracy(np.asarray(sensitive)[people], inferred)
    return Pinned(
        people=people,
        n_unsure=int(np.count_nonzero(unsure)),
        right=right,
        inferred=inferred,
        before=then[people],
        after=now[people],
    )


DRAWS = 20
"""Draws of the noise in which a budget has to disclose nobody. With three, budgets were advised of which up to half of
all draws disclose somebody; nobody in 20 means at most one in seven does (95% confidence, 1 − 0.05^(1/20))."""

_ENOUGH = 3
"""Draws after which a budget that has disclosed somebody needs no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draws(Result):
    """The worst of several draws of the noise."""

    count: int
    """Draws looked at; they end soon where somebody is disclosed. 1 without noise."""
    pinned: int
    """Most people disclosed in any of them."""
    converged: bool
    """Whether a posterior that agrees with the numbers was found for each random draw. Otherwise `pinned` counts too
    few people."""


def noise_generator(
    seed: int, *, epsilon: float | None = None, draw: int = 0
) -> np.random.Generator:
    """Return what draws the noise; draw 0 is the one of a study, whatever the budget."""
    if draw:
        stream = f"advice {epsilon} {draw}"
    else:
        stream = "release noise"
    return child_generator(seed, stream)


def worst_of_draws(
    posterior: npt.ArrayLike, release: Release, *, sensitive: npt.ArrayLike, seed: int = 0
) -> Draws:
    """Return the most people that a release discloses under any random noise, or without noise.

    Fewer draws are looked at where the first few disclose somebody.
    """
    most = 0
    all_converged = True
    done = 0
    if release.epsilon is None:
        draws = 1
    else:
        draws = DRAWS
    for draw in range(draws):
        if draw >= _ENOUGH and (most or not all_converged):
            break
        rng = noise_generator(seed, epsilon=release.epsilon, draw=draw)
        projection = project(posterior, release.publish(sensitive, rng=rng))
        most = max(most, pinned(posterior, projection.probability).count)
        all_converged = all_converged and projection.converged
        done += 1
    return Draws(count=done, pinned=most, converged=all_converged)


_FEW_NUMBERS = 8
"""Up to so many different numbers each is a value of its own; more are cut into quarters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonValue(Result):
    """One value of a column that the disclosed have more often than the rest: a range "37 to 47" for numbers."""

    column: str
    value: str
    among_pinned: Estimate
    among_rest: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class InCommon(Result):
    """What the disclosed share."""

    values: tuple[CommonValue, ...]
    """The largest difference of shares first; only those that are significant among all values of all columns."""
    cell_sizes: tuple[tuple[int, int], ...]
    """(size, disclosed people in cells of this size), ascending. A cell holds the people with identical predictions of
    all models and the same label."""
    median_cell: float
    median_cell_rest: float
    """Median size of the cell a disclosed person sits in, and anybody else; nan where there is nobody."""


def in_common(disclosed: Pinned, columns: pandas.DataFrame, release: Release) -> InCommon:
    """Return what the disclosed have in common among the columns, of n rows, that are known of everybody."""
    chosen = np.zeros(release.n, dtype=np.bool_)
    chosen[disclosed.people] = True
    size = release.cells.people[release.cells.pattern]
    sizes, counts = np.unique(size[chosen], return_counts=True)
    values: tuple[CommonValue, ...] = ()
    median_cell = math.nan
    median_cell_rest = math.nan
    if disclosed.count:
        values = common_values(columns, chosen)
        median_cell = float(np.median(size[chosen]))
    if disclosed.count < release.n:
        median_cell_rest = float(np.median(size[~chosen]))
    return InCommon(
        values=values,
        cell_sizes=tuple(zip(sizes.tolist(), counts.tolist(), strict=True)),
        median_cell=median_cell,
        median_cell_rest=median_cell_rest,
    )


def common_values(columns: pandas.DataFrame, chosen: Mask) -> tuple[CommonValue, ...]:
    """Return up to 8 values the chosen have clearly more often.

    That is by Fisher's exact test with Bonferroni's correction for the number of values.
    """
    from scipy.stats import hypergeom

    n = chosen.size
    n_chosen = int(chosen.sum())
    common = []
    every = [
        (str(name), *value_mask) for name in columns.columns for value_mask in _split(columns[name])
    ]
    for column, value, has in every:
        overlap = int(np.count_nonzero(has & chosen))
        all_who = int(np.count_nonzero(has))
        if hypergeom.sf(overlap - 1, n, all_who, n_chosen) * len(every) < 1 - LEVEL:
            share = proportion(overlap, n_chosen)
            rest = proportion(all_who - overlap, n - n_chosen)
            common.append(
                CommonValue(column=column, value=value, among_pinned=share, among_rest=rest)
            )
    common.sort(key=lambda row: row.among_rest.value - row.among_pinned.value)
    return tuple(common[:8])


def _split(column: Any) -> Iterator[tuple[str, Mask]]:
    """Yield each value of a column, or each quarter of its numbers, and who has it."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column) and column.nunique() > _FEW_NUMBERS:
        numbers = column.to_numpy(dtype=np.float64)
        cuts = np.unique(np.nanquantile(numbers, [0.0, 0.25, 0.5, 0.75, 1.0]))
        for i, (low, high) in enumerate(pairwise(cuts)):
            if i == 0:
                yield f"{low:g} to {high:g}", (numbers >= low) & (numbers <= high)
            else:
                yield f"above {low:g}, to {high:g}", (numbers > low) & (numbers <= high)
        return
    codes, values = pd.factorize(column)
    for code, value in enumerate(values):
        yield str(value), codes == code


_DECIMALS = (4, 3, 2, 1)
_EPSILONS = (100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried(Result):
    """One precision and how many people it discloses."""

    decimals: int | None
    epsilon: float | None
    """Both None: exact."""
    pinned: int
    """People disclosed; the most of all draws of the noise, which end soon where somebody is."""
    df_bits: float
    """Predicted gain, see `core.studies.model_card.Prediction`."""
    converged: bool = True
    """Whether a posterior that agrees with the numbers was found for each random draw. Otherwise `pinned` counts too
    few people, and this precision is not advised."""
    draws: int = 1
    """Draws of the noise behind `pinned`; 1 without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice(Result):
    """What to publish for this table and these models."""

    exact: bool
    """Whether even exact numbers disclose nobody."""
    decimals: int | None
    """Most decimals (4 to 1) that disclose nobody, nor do fewer; None where none of them does, or exact is fine."""
    epsilon: float | None
    """Largest privacy budget tried that discloses nobody in any draw, nor do smaller ones; None where none does."""
    tried: tuple[Tried, ...]

    @property
    def misled(self) -> bool:
        """Whether exact numbers disclose nobody and noise does in some draw: it also moves people the wrong way."""
        return self.exact and any(row.pinned for row in self.tried if row.epsilon is not None)


def precisions_tried(
    decimals: int | None, epsilon: float | None
) -> tuple[tuple[int | None, float | None], ...]:
    """Decimals and budget of each precision that advice tries, that of a card among them: from fine to coarse."""
    coarse = {places for places in (*_DECIMALS, decimals) if places is not None}
    budgets = {budget for budget in (*_EPSILONS, epsilon) if budget is not None}
    rounded = ((places, None) for places in sorted(coarse, reverse=True))
    noisy = ((None, budget) for budget in sorted(budgets, reverse=True))
    return ((None, None), *rounded, *noisy)


def advise(
    posterior: npt.ArrayLike,
    release: Release,
    *,
    sensitive: npt.ArrayLike,
    seed: int = 0,
    report: ReportProgress | None = None,
) -> Advice:
    """Return the finest precision that discloses nobody; the release's own precision is one of those tried.

    Privacy noise is tried only where group sizes are published: the mechanism needs them. That a budget disclosed
    nobody is what these random draws did; another draw may. Each budget is tried with `DRAWS` draws of the noise, or
    the first few where these disclose somebody. Posterior and sensitive are of shape (n,); `report` is called with
    (done, total) and may raise `core.base.errors.Cancelled` to stop.
    """
    plans = precisions_tried(release.decimals, release.epsilon)
    tried = list[Tried]()
    steps = Progress(len(plans), report)
    # precisions that leave the same open are tried out once; numbers may tell sizes that are not published
    predicted: dict[tuple[Meter, int | None], float] = {}
    for decimals, epsilon in plans:
        if epsilon is None or release.sizes:
            plan = replace(release, decimals=decimals, epsilon=epsilon)
            read = meter(posterior, plan), None if release.sizes else decimals
            if read not in predicted:
                predicted[read] = predict(posterior, plan, seed=seed).bits.value
            worst = worst_of_draws(posterior, plan, sensitive=sensitive, seed=seed)
            row = Tried(
                decimals=decimals,
                epsilon=epsilon,
                pinned=worst.pinned,
                df_bits=predicted[read],
                converged=worst.converged,
                draws=worst.count,
            )
            tried.append(row)
        steps.tick()
    finest = _finest([row for row in tried if row.epsilon is None])
    largest = _finest([row for row in tried if row.epsilon is not None])
    decimals = None
    if finest is not None:
        decimals = finest.decimals
    epsilon = None
    if largest is not None:
        epsilon = largest.epsilon
    return Advice(
        exact=finest is not None and finest.decimals is None,
        decimals=decimals,
        epsilon=epsilon,
        tried=tuple(tried),
    )


def _finest(rows: list[Tried]) -> Tried | None:
    """Return the first row, from fine to coarse, from which on it is known that nobody is disclosed."""
    fine = None
    for row in reversed(rows):
        if row.pinned or not row.converged:
            break
        fine = row
    return fine
