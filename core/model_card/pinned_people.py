"""People pinned down by a release, over draws of its noise, and what they have in common.

What one draw of the privacy noise leaves open, the worst of several shows. The first is the one a study looks at, so
that whoever tries several never says less than the study shows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.estimates import Estimate, accuracy, proportion
from core.model_card.equations import project
from core.model_card.published_counts import Floats
from core.model_card.release import Release
from core.seeds import child_generator
from core.serialize import Result
from core.validation import binary_array, probabilities

if TYPE_CHECKING:
    import pandas

UNSURE = (0.05, 0.95)
"""Before: the attacker's probability lies in here."""

SETTLED = (0.005, 0.995)
"""After: it lies outside of this."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pinned(Result):
    """Who is pinned down."""

    people: npt.NDArray[np.intp]
    """Their row numbers."""
    count: int
    n_unsure: int
    n: int
    """Pinned; unsure before; all."""
    right: Estimate | None
    """Share of the pinned whose attribute is named rightly; None without a truth."""
    said: npt.NDArray[np.uint8]
    """(count,), 0 or 1: what is now believed of each."""
    before: Floats
    after: Floats
    """(count,): probabilities of s = 1."""


def pinned(before: npt.ArrayLike, after: npt.ArrayLike, *, sensitive: npt.ArrayLike | None = None) -> Pinned:
    """Return the people unsure before (5% to 95%) and settled after (beyond 99.5%); all arrays of shape (n,)."""
    q = np.asarray(before, dtype=np.float64)
    then, now = probabilities(q, q.size, name="posterior"), probabilities(after, q.size, name="posterior")
    unsure = (then >= UNSURE[0]) & (then <= UNSURE[1])
    people = np.flatnonzero(unsure & ((now < SETTLED[0]) | (now > SETTLED[1])))
    said = (now[people] > 0.5).astype(np.uint8)
    right = None
    if sensitive is not None:
        s = binary_array(np.asarray(sensitive), name="sensitive")
        if s.size != q.size:
            raise InputError(f"sensitive must have one value for each of {q.size} people, got {s.size}.")
        right = accuracy(s[people], said)
    return Pinned(
        people=people,
        count=int(people.size),
        n_unsure=int(np.count_nonzero(unsure)),
        n=int(q.size),
        right=right,
        said=said,
        before=then[people],
        after=now[people],
    )


DRAWS = 20
"""Draws of the noise in which a budget has to pin nobody down. With three, budgets were advised of which up to half of
all draws pin somebody; nobody in 20 means at most one draw in seven does (95% confidence, 1 − 0.05^(1/20))."""

_ENOUGH = 3
"""Draws after which a budget that has pinned somebody down needs no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draws(Result):
    """The worst of several draws of the noise."""

    count: int
    """Draws looked at; they end soon where somebody is pinned down. 1 without noise."""
    pinned: int
    """Most people pinned down in any of them."""
    known: bool
    """Whether a posterior that agrees with the numbers was found for every draw. Otherwise `pinned` counts too few
    people."""


def noise_generator(seed: int, *, epsilon: float | None = None, draw: int = 0) -> np.random.Generator:
    """Return what draws the noise; draw 0 is the one of a study, whatever the budget."""
    return child_generator(seed, f"advice {epsilon} {draw}" if draw else "release noise")


def worst_of_draws(posterior: npt.ArrayLike, release: Release, *, sensitive: npt.ArrayLike, seed: int = 0) -> Draws:
    """Return the most people that a release pins down in any of the draws of its noise, or in the only one without.

    Fewer draws are looked at where the first few pin somebody down.
    """
    s = binary_array(np.asarray(sensitive), name="sensitive")
    q = probabilities(posterior, release.n, name="posterior")
    most, known, done = 0, True, 0
    for draw in range(1 if release.epsilon is None else DRAWS):
        if draw >= _ENOUGH and (most or not known):
            break
        rng = noise_generator(seed, epsilon=release.epsilon, draw=draw)
        found = project(q, release.publish(s, rng=rng))
        most, known = max(most, pinned(q, found.probability).count), known and found.converged
        done += 1
    return Draws(count=done, pinned=most, known=known)


_FEW_NUMBERS = 8
"""Up to so many different numbers each is a value of its own; more are cut into quarters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonValue(Result):
    """One value of a column that the pinned have more often than the rest: a range "37 to 47" for numbers."""

    column: str
    value: str
    among_pinned: Estimate
    among_rest: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class InCommon(Result):
    """What the pinned share."""

    values: tuple[CommonValue, ...]
    """The largest difference of shares first; only those whose intervals do not overlap."""
    cell_sizes: tuple[tuple[int, int], ...]
    """(size, pinned people in cells of this size), ascending. A cell holds the people with identical predictions of all
    models and the same label."""
    median_cell: float
    median_cell_rest: float
    """Median size of the cell a pinned person sits in, and anybody else; nan where there is nobody."""


def in_common(found: Pinned, columns: pandas.DataFrame, release: Release) -> InCommon:
    """Return what the pinned have in common among the columns, of n rows, that are known of everybody.

    Raises `InputError` if the columns are not those of the release's people.
    """
    if len(columns) != release.n or found.n != release.n:
        raise InputError(f"columns must have one row for each of {release.n} people, got {len(columns)}.")
    chosen = np.zeros(release.n, dtype=np.bool_)
    chosen[found.people] = True
    size = release.cells.people[release.cells.pattern]
    sizes, counts = np.unique(size[chosen], return_counts=True)
    return InCommon(
        values=_values(columns, chosen) if found.count else (),
        cell_sizes=tuple(zip(sizes.tolist(), counts.tolist(), strict=True)),
        median_cell=float(np.median(size[chosen])) if found.count else math.nan,
        median_cell_rest=float(np.median(size[~chosen])) if found.count < release.n else math.nan,
    )


def _values(columns: pandas.DataFrame, chosen: npt.NDArray[np.bool_]) -> tuple[CommonValue, ...]:
    """Return up to 8 values the chosen have clearly more often."""
    n_chosen, n_rest = int(chosen.sum()), int((~chosen).sum())
    found = []
    for name in columns.columns:
        for value, codes in _split(columns[name]):
            own, other = int(np.count_nonzero(codes & chosen)), int(np.count_nonzero(codes & ~chosen))
            if not n_rest or own * n_rest <= other * n_chosen:
                continue
            one, rest = proportion(own, n_chosen), proportion(other, n_rest)
            if one.low > rest.high:
                found.append(CommonValue(column=str(name), value=value, among_pinned=one, among_rest=rest))
    found.sort(key=lambda row: row.among_rest.value - row.among_pinned.value)
    return tuple(found[:8])


def _split(column: Any) -> Iterator[tuple[str, npt.NDArray[np.bool_]]]:
    """Yield each value of a column, or each quarter of its numbers, and who has it."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column) and column.nunique() > _FEW_NUMBERS:
        numbers = column.to_numpy(dtype=np.float64)
        cuts = np.unique(np.nanquantile(numbers, [0.0, 0.25, 0.5, 0.75, 1.0]))
        for i, (low, high) in enumerate(pairwise(cuts)):
            above = numbers >= low if i == 0 else numbers > low
            yield f"{low:g} to {high:g}" if i == 0 else f"above {low:g}, to {high:g}", above & (numbers <= high)
        return
    codes, values = pd.factorize(column)
    for code, value in enumerate(values):
        yield str(value), codes == code
