"""Public domains: what values a column can have, agreed on before any record is seen.

A domain is a whole number k (the column holds the codes 0 to k - 1) or a pair (low, high) of numbers (the column holds
numbers, which go into `BINS` bins of equal width; a number outside goes into the bin at its edge). A domain read from
the records instead is no secret kept: that a value occurs, or how large the largest is, may be one person's doing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.errors import InputError

BINS = 10
"""Bins of a column of numbers."""

_MOST_CODES = 100
_MOST_VALUES = 1_000_000

Entry = int | tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Domains:
    """The domains of all columns.

    Attributes
    ----------
    entries : tuple of int or (float, float), one a column
    """

    entries: tuple[Entry, ...]

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Return how many codes each column has, shape (d,)."""
        return np.array([entry if isinstance(entry, int) else BINS for entry in self.entries], dtype=np.int64)

    def codes(self, x: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        """Return the records as codes, shape (n, d), in Fortran order: columns are read whole.

        Raises
        ------
        InputError
            If a column holds a value outside its codes.
        """
        coded = np.empty(x.shape, dtype=np.int64, order="F")
        for j, entry in enumerate(self.entries):
            coded[:, j] = _checked(x[:, j], entry, j) if isinstance(entry, int) else _bins(x[:, j], *entry)
        return coded


def public_domains(given: Sequence[object], d: int) -> Domains:
    """Return the domains somebody gives for d columns, checked."""
    entries = list(given)
    if len(entries) != d:
        raise InputError(f"domains must have one entry a column, got {len(entries)} for {d} columns.")
    return Domains(entries=tuple(_entry(entry, j) for j, entry in enumerate(entries)))


def read_domains(x: npt.NDArray[np.float64]) -> Domains:
    """Return the domains as the records show them: few whole numbers from 0 on are codes, anything else numbers."""
    low, high = x.min(axis=0), x.max(axis=0)
    whole = (x == np.floor(x)).all(axis=0) & (low >= 0) & (high < _MOST_CODES)
    return Domains(
        entries=tuple(int(high[j]) + 1 if whole[j] else (float(low[j]), float(high[j])) for j in range(x.shape[1]))
    )


def _entry(entry: object, j: int) -> Entry:
    """Return one column's domain, checked."""
    if isinstance(entry, (int, np.integer)) and not isinstance(entry, bool):
        if not 1 <= entry <= _MOST_VALUES:
            raise InputError(f"The domain of column {j} must have 1 to {_MOST_VALUES:,} codes, got {entry}.")
        return int(entry)
    try:
        low, high = (float(limit) for limit in entry)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise InputError(
            f"The domain of column {j} must be a number of codes or a pair (low, high), got {entry!r}."
        ) from None
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InputError(f"The domain of column {j} must go from a number to a larger one, got {low} to {high}.")
    return low, high


def _checked(column: npt.NDArray[np.float64], k: int, j: int) -> npt.NDArray[np.float64]:
    """Return a column of codes if all of them are in its domain."""
    wrong = (column < 0) | (column >= k) | (column != np.floor(column))
    if wrong.any():
        raise InputError(f"Column {j} must hold whole numbers from 0 to {k - 1}, got {column[wrong][0]:g}.")
    return column


def _bins(column: npt.NDArray[np.float64], low: float, high: float) -> npt.NDArray[np.int64]:
    """Return the bin of each number; the upper edge belongs to the last bin."""
    width = high / BINS - low / BINS  # halves of the range first: it may be larger than any float
    if width == 0:
        return np.zeros(len(column), dtype=np.int64)
    inside = np.clip(column, low, high)
    return np.clip((inside / width - low / width).astype(np.int64), 0, BINS - 1)
