"""Published numbers: as a release gives them out, or typed from somebody's model card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.release.counts import Counts, count_intervals, known_sizes
from core.release.implied import implied_sizes
from core.release.noise import NoisySums
from core.release.numbers import SIZE_PARTS, part_of, statistic_of
from core.release.statistics import STATISTICS, Release, part_name
from core.results import Result

if TYPE_CHECKING:
    import pandas

HALF_STEP_ROUNDING = 1e-12
"""What a rounded number may be off by in floats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedNumber(Result):
    """One number.

    Attributes
    ----------
    model : str
        Name of the model; "" for a group size.
    statistic : str
        "sp_gap", "tpr_gap", "fpr_gap"; "sp_rate_1", "sp_rate_0" and likewise for tpr and fpr (rate of group 1, rate
        of group 0); "size", "size_label_1", "size_label_0" (people of group 1 among everybody, with label 1, with
        label 0).
    value : float
        As published.
    low, high : float
        Where the true number lies: the value itself when exact, the values that round to it, or at least the
        middle 95% of the privacy noise (to first order).
    """

    model: str
    statistic: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Published(Result):
    """The numbers of a release.

    Attributes
    ----------
    release : Release
    numbers : tuple of PublishedNumber
        Group sizes first.
    noise : NoisySums or None
        The noisy sums behind the numbers, where there is privacy noise.
    limits : dict
        Name of a number -> its low and high for every model, shape (k, 2), nan where it was not published.
    counts : Counts or None
        What the numbers say in whole people, where group sizes are known, were they published or only some size fits
        the numbers; None with privacy noise.

    Raises
    ------
    InputError
        If numbers contradict each other.
    """

    release: Release
    numbers: tuple[PublishedNumber, ...]
    noise: NoisySums | None = field(default=None, repr=False)
    limits: dict[str, npt.NDArray[np.float64]] = field(init=False, repr=False)
    counts: Counts | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        row = {name: i for i, name in enumerate(self.release.names)}
        limits: dict[str, npt.NDArray[np.float64]] = {}
        sizes: dict[str, int] = {}
        for number in self.numbers:
            if number.statistic in SIZE_PARTS:
                sizes[SIZE_PARTS[number.statistic]] = round(number.value)
                continue
            table = limits.setdefault(number.statistic, np.full((len(row), 2), np.nan))
            table[row[number.model]] = number.low, number.high
        object.__setattr__(self, "limits", limits)
        object.__setattr__(self, "counts", None if self.noise is not None else _counts(self.release, limits, sizes))

    @classmethod
    def from_values(cls, release: Release, values: Mapping[tuple[str, str], Any]) -> Published:
        """Return numbers typed by a person.

        Parameters
        ----------
        release : Release
            Predictions, labels, names, and the precision of the numbers (decimals, or none: exact).
        values : mapping
            (model, statistic) as in `PublishedNumber` -> the number, or an interval (low, high) that holds it; ("",
            "size") and so on for group sizes, whole numbers. Any subset: what is missing was not published.

        Raises
        ------
        InputError
            If a name is unknown, a number is out of range, belongs to an empty group, fits no whole number of people,
            or contradicts another one.
        """
        if release.epsilon is not None:
            raise InputError("Typed numbers have no privacy noise of known size; give an interval for each instead.")
        if not values:
            raise InputError("At least one published number is needed, got none.")
        typed = [_typed(release, model, name, value) for (model, name), value in values.items()]
        return cls(release=release, numbers=tuple(sorted(typed, key=lambda number: number.statistic not in SIZE_PARTS)))

    def to_dict(self) -> dict[str, Any]:
        """Return the plan and the numbers."""
        return {"release": self.release.to_dict(), "numbers": [number.to_dict() for number in self.numbers]}

    def to_frame(self) -> pandas.DataFrame:
        """Return one row a number: model, statistic, value, low, high."""
        import pandas as pd

        return pd.DataFrame([number.to_dict() for number in self.numbers])


def _counts(release: Release, limits: dict[str, npt.NDArray[np.float64]], sizes: dict[str, int]) -> Counts:
    """Return what numbers without noise say in whole people."""
    known = known_sizes(release, sizes)
    told = implied_sizes(release, limits, known)
    return count_intervals(release, limits, known if told == known else known_sizes(release, told))


def _typed(release: Release, model: str, name: str, value: Any) -> PublishedNumber:
    """Check one typed number."""
    told = f"{name} of {model}" if model else name
    if name in SIZE_PARTS:
        if model:
            raise InputError(f"A group size belongs to no model, got {name} of {model!r}.")
        return _typed_size(release, name, value)
    if statistic_of(name) not in STATISTICS or (name in STATISTICS) != name.endswith("_gap"):
        raise InputError(f"A published number must be a gap, a rate ending in _1 or _0, or a size, got {name!r}.")
    if model not in release.names:
        raise InputError(f"A published number must belong to one of the {release.n_models} models, got {model!r}.")
    part = part_of(name)
    if part != "all" and release.labels is None:
        raise InputError(f"labels must be given for {name}, which compares groups within a label.")
    if not release.cells.size(part):
        raise InputError(f"{name} needs people{part_name(part)}, got none among {release.n}.")
    low, high = _interval(told, value)
    if low == high and release.decimals is not None:
        half = 0.5 * 10.0**-release.decimals + HALF_STEP_ROUNDING
        low, high, middle = low - half, high + half, low
    else:
        middle = (low + high) / 2
    least = -1.0 if name.endswith("_gap") else 0.0
    if not least <= middle <= 1.0:
        raise InputError(f"{told} must be in [{least:g}, 1], got {middle:g}.")
    return PublishedNumber(model=model, statistic=name, value=middle, low=max(low, least), high=min(high, 1.0))


def _interval(told: str, value: Any) -> tuple[float, float]:
    try:
        given = [float(limit) for limit in np.atleast_1d(value)]
    except (TypeError, ValueError):
        given = []
    if len(given) not in (1, 2) or not np.isfinite(given).all():
        raise InputError(f"{told} must be a number or an interval (low, high), got {value!r}.")
    if given[0] > given[-1]:
        raise InputError(f"The interval of {told} must have its lower limit first, got {value!r}.")
    return given[0], given[-1]


def _typed_size(release: Release, name: str, value: Any) -> PublishedNumber:
    low, high = _interval(name, value)
    if name != "size" and release.labels is None:
        raise InputError(f"labels must be given for {name}, which counts a group within a label.")
    people = release.cells.size(SIZE_PARTS[name])
    if low != high or low != round(low) or not 0 <= low <= people:
        raise InputError(f"{name} must be a whole number from 0 to {people}, got {value!r}.")
    return PublishedNumber(model="", statistic=name, value=low, low=low, high=high)
