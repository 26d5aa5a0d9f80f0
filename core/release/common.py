"""What pinned people have in common: values of columns they hold more often, and the small cells they sit in."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.estimates import Estimate, proportion
from core.release.pinned import Pinned
from core.release.statistics import Release
from core.results import Result

if TYPE_CHECKING:
    import pandas

_FEW_NUMBERS = 8
"""Up to so many different numbers each is a value of its own; more are cut into quarters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonValue(Result):
    """One value of a column that the pinned have more often than the rest.

    Attributes
    ----------
    column, value : str
        A range "37 to 47" for numbers (quarters of everybody's).
    among_pinned, among_rest : Estimate
        Shares.
    """

    column: str
    value: str
    among_pinned: Estimate
    among_rest: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class InCommon(Result):
    """What the pinned share.

    Attributes
    ----------
    values : tuple of CommonValue
        The largest difference of shares first; only those whose intervals do not overlap.
    cell_sizes : tuple of (int, int)
        (size, pinned people in cells of this size), ascending. A cell holds the people with identical predictions of
        all models and the same label.
    median_cell, median_cell_rest : float
        Median size of the cell a pinned person sits in, and anybody else; nan where there is nobody.
    """

    values: tuple[CommonValue, ...]
    cell_sizes: tuple[tuple[int, int], ...]
    median_cell: float
    median_cell_rest: float


def in_common(found: Pinned, columns: pandas.DataFrame, release: Release, *, most: int = 8) -> InCommon:
    """Return what the pinned have in common.

    Parameters
    ----------
    columns : pandas.DataFrame of n rows
        What is known of everybody.
    most : int
        Values returned at most.

    Raises
    ------
    InputError
        If the columns are not those of the release's people.
    """
    if len(columns) != release.n or found.n != release.n:
        raise InputError(f"columns must have one row for each of {release.n} people, got {len(columns)}.")
    chosen = np.zeros(release.n, dtype=np.bool_)
    chosen[found.people] = True
    size = release.cells.people[release.cells.pattern]
    sizes, counts = np.unique(size[chosen], return_counts=True)
    return InCommon(
        values=_values(columns, chosen, most) if found.count else (),
        cell_sizes=tuple(zip(sizes.tolist(), counts.tolist(), strict=True)),
        median_cell=float(np.median(size[chosen])) if found.count else math.nan,
        median_cell_rest=float(np.median(size[~chosen])) if found.count < release.n else math.nan,
    )


def _values(columns: pandas.DataFrame, chosen: npt.NDArray[np.bool_], most: int) -> tuple[CommonValue, ...]:
    """Return the values the chosen have clearly more often."""
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
    return tuple(found[:most])


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
