"""Near-certain inference: whose attribute a card discloses, and the precision that discloses nobody.

What noise drawn once leaves open, the worst of several shows. The first is the one a study looks at, so
that several draws never say less than the study shows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
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

    def among(self, n: int) -> Mask:
        """Return which of n people are disclosed, (n,)."""
        return np.isin(np.arange(n), self.people)


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
class Tried(Result):
    """One precision and how many people it discloses."""

    decimals: int | None
    epsilon: float | None
    """Both None: exact."""
    pinned: int
    """People disclosed; the most of all draws of the noise, which end soon where somebody is."""
    df_bits: float = math.nan
    """Predicted gain, see `core.studies.model_card.Prediction`; nan where it was not asked for."""
    converged: bool = True
    """Whether a posterior that agrees with the numbers was found for each random draw. Otherwise `pinned` counts too
    few people, and this precision is not advised."""
    draws: int = 1
    """Draws of the noise behind `pinned`; 1 without."""


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
) -> Tried:
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
    return Tried(
        decimals=release.decimals,
        epsilon=release.epsilon,
        pinned=most,
        converged=all_converged,
        draws=done,
    )


_FEW_NUMBERS = 8
"""Up to so many different numbers each is a value of its own; more are cut into quarters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonValue(Result):
    """One value of a column that the disclosed have more often than the rest: a range "37 to 47" for numbers."""

    column: str
    value: str
    among_pinned: Estimate
    among_rest: Estimate


def cells_of(disclosed: Pinned, release: Release) -> tuple[Ints, Ints]:
    """Return the size of the cell that each disclosed person sits in, and that of everybody else.

    A cell holds the people with identical predictions of all models and the same label.
    """
    size = release.cells.people[release.cells.pattern]
    chosen = disclosed.among(release.n)
    return size[chosen], size[~chosen]


def common_values(columns: pandas.DataFrame, chosen: Mask) -> tuple[CommonValue, ...]:
    """Return up to 8 values the chosen have clearly more often, the largest difference of shares first.

    That is by Fisher's exact test with Bonferroni's correction for the number of values; none where nobody or everybody
    is chosen.
    """
    from scipy.stats import hypergeom

    n = chosen.size
    n_chosen = int(chosen.sum())
    if n_chosen in (0, n):
        return ()
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
class Advice(Result):
    """What to publish for this table and these models."""

    tried: tuple[Tried, ...]
    """From fine to coarse: exact numbers and rounded ones, then those with noise."""

    @property
    def exact(self) -> bool:
        """Whether even exact numbers disclose nobody, nor do rounded ones."""
        finest = self._finest(noisy=False)
        return finest is not None and finest.decimals is None

    @property
    def decimals(self) -> int | None:
        """Most decimals (4 to 1) that disclose nobody, nor do fewer; None where none of them does, or exact is fine."""
        finest = self._finest(noisy=False)
        return None if finest is None else finest.decimals

    @property
    def epsilon(self) -> float | None:
        """Largest privacy budget tried that discloses nobody in any draw, nor do smaller ones; None where none does."""
        finest = self._finest(noisy=True)
        return None if finest is None else finest.epsilon

    def _finest(self, *, noisy: bool) -> Tried | None:
        """Return the first row, from fine to coarse, from which on it is known that nobody is disclosed."""
        rows = [row for row in self.tried if (row.epsilon is not None) == noisy]
        harmless = list(takewhile(lambda row: row.converged and not row.pinned, reversed(rows)))
        return harmless[-1] if harmless else None

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
            tried.append(replace(worst, df_bits=predicted[read]))
        steps.tick()
    return Advice(tried=tuple(tried))
