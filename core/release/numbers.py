"""The published quantities by name: the people they look at, and their values from group sizes and counts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

STATISTICS = ("sp_gap", "tpr_gap", "fpr_gap", "sp_rate", "tpr_rate", "fpr_rate")
"""What may be published of a model: signed gaps, group 1 minus group 0, and both groups' rates."""

STATISTIC_TITLES = {
    "sp_gap": "Statistical parity gap",
    "tpr_gap": "True positive rate gap",
    "fpr_gap": "False positive rate gap",
    "sp_rate": "Positive rate of each group",
    "tpr_rate": "True positive rate of each group",
    "fpr_rate": "False positive rate of each group",
}

PARTS = {"sp": "all", "tpr": "label 1", "fpr": "label 0"}
"""The people a statistic looks at."""

SIZE_PARTS = {"size": "all", "size_label_1": "label 1", "size_label_0": "label 0"}
"""Name of a group size -> the part it counts group 1 in."""


def part_name(part: str) -> str:
    """Return how a sentence goes on about the people of a part."""
    return "" if part == "all" else f" with {part}"


def number_names(statistic: str) -> tuple[str, ...]:
    """Return the names of the numbers a statistic consists of: a gap is one, rates are two."""
    return (statistic,) if statistic.endswith("_gap") else (f"{statistic}_1", f"{statistic}_0")


def statistic_of(name: str) -> str:
    """Return the statistic a number belongs to."""
    return name.removesuffix("_1").removesuffix("_0")


def part_of(name: str) -> str:
    """Return the part of people a number looks at."""
    return SIZE_PARTS[name] if name in SIZE_PARTS else PARTS[name.partition("_")[0]]


def value_of(name: str, counts: Floats, size: float | Floats, positives: float | Floats, people: float) -> Floats:
    """Return a number of every model.

    Parameters
    ----------
    name : str
        "sp_gap", "tpr_rate_1" and so on.
    counts : ndarray of shape (k,)
        c, accepted people of group 1 in the part.
    size : float
        n1, people of group 1 there, of n.
    positives : ndarray of shape (k,)
        P, accepted people there.
    people : float
        n.

    Notes
    -----
    Rates r1 = c/n1, r0 = (P − c)/(n − n1); the gap is r1 − r0.
    """
    one, zero = counts / size, (positives - counts) / (people - size)
    if name.endswith("_gap"):
        return np.asarray(one - zero)
    return np.asarray(one if name.endswith("_1") else zero)


def count_of(
    name: str, value: float | Floats, size: float | npt.NDArray[Any], positives: float | Floats, people: float
) -> Floats:
    """Return the count c a number stands for, the inverse of `value_of`; r0 counts downwards."""
    other = people - size
    if name.endswith("_gap"):
        return np.asarray((value + positives / other) * size * other / people)
    return np.asarray(value * size if name.endswith("_1") else positives - value * other)


def each_number(statistics: tuple[str, ...]) -> Iterator[str]:
    """Yield the names of all numbers of a model."""
    for statistic in statistics:
        yield from number_names(statistic)
