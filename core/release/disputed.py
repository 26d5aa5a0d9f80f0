"""Typed numbers that a table contradicts: what is published of a model is not what the people at hand give."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.release.numbers import SIZE_PARTS, part_of, value_of
from core.release.statistics import Published, PublishedNumber
from core.results import Result
from core.validation import binary_array

_ROUNDING = 1e-9
"""What a number computed again may be off by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disputed(Result):
    """One number that was typed, and what the table gives instead.

    Attributes
    ----------
    number : PublishedNumber
        As typed, with the interval its precision leaves open.
    table : float
        What these people and predictions give; nan where a group it compares has nobody.
    """

    number: PublishedNumber
    table: float

    @property
    def turned(self) -> bool:
        """Whether it is a gap that would be right with the other sign."""
        gap = self.number.statistic.endswith("_gap")
        return gap and self.number.low - _ROUNDING <= -self.table <= self.number.high + _ROUNDING

    @property
    def rounded(self) -> bool:
        """Whether it counts as exact and is what the table gives, rounded to as many decimals as were typed."""
        number = self.number
        if math.isnan(self.table) or number.statistic in SIZE_PARTS or number.low != number.high:
            return False
        places = len(f"{number.value:.12f}".rstrip("0").partition(".")[2])
        return abs(round(self.table, places) - number.value) <= _ROUNDING


def disputed(published: Published, sensitive: npt.ArrayLike) -> tuple[Disputed, ...]:
    """Return the numbers whose interval does not hold what the people give, in the order of the numbers.

    Parameters
    ----------
    published : Published
        Typed numbers, without privacy noise.
    sensitive : array-like of shape (n,), 0 or 1
        The true attribute.
    """
    s = binary_array(np.asarray(sensitive), name="sensitive")
    found = []
    for number in published.numbers:
        true = table_value(published, number, s)
        if not number.low - _ROUNDING <= true <= number.high + _ROUNDING:  # also where it is nan
            found.append(Disputed(number=number, table=true))
    return tuple(found)


def table_value(published: Published, number: PublishedNumber, s: npt.NDArray[np.uint8]) -> float:
    """Return what memberships (n,) give for one number; nan where a group it compares has nobody."""
    release = published.release
    inside = release.mask(part_of(number.statistic))
    size, people = float(s[inside].sum()), float(inside.sum())
    if number.statistic in SIZE_PARTS:
        return size
    if size in (0.0, people):
        return math.nan
    accepted = release.predictions[release.names.index(number.model)][inside]
    counts, positives = np.array([float(accepted @ s[inside].astype(np.int64))]), float(accepted.sum())
    return float(value_of(number.statistic, counts, size, positives, people)[0])
