"""What may be changed in a record: the kind of each column, whether it is frozen, and its plausible values.

A column counts as one unit of noise however far its value moves. Categories move to values that at least a share of
the known people have; numbers within the range of the known people's middle 98 %, to values seen there. Columns with
one value only are always frozen.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from core.attriguard.table.people import TablePeople
from core.errors import InputError
from core.results import Result

LISTED = 30
"""Whole numbers with at most so many values are taken value by value, also by pair rules, as categories are."""

_TAIL = 0.01
_STEPS = 11  # values a number may move to: both ends of its range and evenly spread quantiles between


@dataclass(frozen=True, slots=True, kw_only=True)
class Column(Result):
    """One column of the public records.

    Attributes
    ----------
    kind : {"category", "integer", "number"}
    frozen : bool
        Whether the noise leaves it alone.
    domain : ndarray of shape (v,), rising
        Values the noise may set it to; codes for categories.
    listed : ndarray of shape (w,), rising
        All its values among the known people where pair rules may speak of them; empty for other numbers.
    texts : tuple of str
        What the codes stand for.
    """

    name: str
    kind: str
    frozen: bool
    domain: npt.NDArray[np.float64] = field(repr=False)
    listed: npt.NDArray[np.float64] = field(repr=False)
    texts: tuple[str, ...] = field(default=(), repr=False)

    def text(self, value: float) -> str:
        """Return how a value reads: the category's text, or the number."""
        if self.kind != "category":
            return f"{value:.12g}"
        code = int(value)
        if code < 0:
            return "missing"
        return self.texts[code] if code < len(self.texts) else str(code)

    def value(self, text: str) -> float:
        """Return the listed value that reads like this.

        Raises
        ------
        InputError
            If there is none among the known people.
        """
        for value in self.listed:
            if self.text(value) == text:
                return float(value)
        raise InputError(f"A pair rule must name a value known people have in column {self.name!r}, got {text!r}.")


def table_columns(people: TablePeople, *, frozen: Collection[str] = (), share: float = 0.01) -> tuple[Column, ...]:
    """Return the columns of the known people's records.

    Parameters
    ----------
    frozen : collection of str
        Names of columns the noise must leave alone.
    share : float in [0, 1)
        Least share of the known people that a category needs for others to be moved to it.

    Raises
    ------
    InputError
        If a frozen column does not exist, or none is left that may change.
    """
    if unknown := [name for name in frozen if name not in people.names]:
        raise InputError(f"Frozen columns must be columns of the table, got {unknown[0]!r}.")
    if not 0 <= share < 1:
        raise InputError(f"The least share of a category must be in [0, 1), got {share!r}.")
    columns = tuple(
        _column(name, people.known[:, j], bool(people.categorical[j]), people.categories[j], name in frozen, share)
        for j, name in enumerate(people.names)
    )
    if all(column.frozen for column in columns):
        raise InputError(f"At least one column must be free to change, all {len(columns)} are frozen or constant.")
    return columns


def _column(
    name: str, known: npt.NDArray[np.float64], categorical: bool, texts: tuple[str, ...], frozen: bool, share: float
) -> Column:
    seen, counts = np.unique(known, return_counts=True)
    whole = bool((seen == np.round(seen)).all())
    listed = seen if categorical or (whole and seen.size <= LISTED) else seen[:0]
    if categorical:
        domain = seen[counts >= share * known.size]
    else:
        low, high = np.quantile(known, [_TAIL, 1 - _TAIL], method="inverted_cdf")
        spread = np.quantile(known, np.linspace(_TAIL, 1 - _TAIL, _STEPS), method="inverted_cdf")
        domain = seen[(seen >= low) & (seen <= high)] if listed.size else np.unique(spread)
    return Column(
        name=name,
        kind="category" if categorical else "integer" if whole else "number",
        frozen=frozen or seen.size < 2,
        domain=domain,
        listed=listed,
        texts=texts,
    )
