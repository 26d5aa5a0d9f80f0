"""What to know of a table and its roles before an audit: a lopsided attribute, near copies, a header like a record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from core.datasets.columns import as_text, is_numeric, listed, names_records, shown
from core.datasets.groups import groups_of
from core.datasets.number_ways import could_be_number
from core.datasets.roles import Roles
from core.datasets.spelling import as_written
from core.errors import InputError
from core.wording import percent

if TYPE_CHECKING:
    import pandas


_LOPSIDED = 0.9
"""Baseline of the attribute from which on accuracy says little of an attack."""

_NEAR = 0.95
"""Balanced accuracy from which on a column is almost the attribute or the label."""

_MOST_ROWS = 100_000
_MOST_BINS, _ROWS_PER_BIN = 256, 40
_FEWEST_CELLS = 2


def cautions(frame: pandas.DataFrame, roles: Roles) -> tuple[str, ...]:
    """Return what to look at before an audit with these roles, a sentence each.

    The attribute's baseline, from 90 % on. Columns of which each alone tells the group or the label with a balanced
    accuracy above 95 %: what is most likely by one half of a random sample of 100,000 records, judged on the other.
    And names of columns that look like the cells of a record.

    Parameters
    ----------
    frame : DataFrame
        As it was read.
    roles : Roles
        `label` and `sensitive` may be empty; what needs them is left out, as it is where the groups break a rule.
    """
    found = _header(frame)
    roles = as_written(frame, roles)
    sides: dict[str, npt.NDArray[np.float64]] = {}
    if roles.sensitive:
        try:
            codes, names, _ = groups_of(frame[roles.sensitive], roles)
        except InputError:
            pass
        else:
            sides["attribute"] = codes.to_numpy(dtype=np.float64, na_value=np.nan)
            found += _baseline(sides["attribute"], names, roles)
    if roles.label and roles.positive:
        text = as_text(frame[roles.label])
        sides["label"] = (text == roles.positive).to_numpy(dtype=np.float64, na_value=np.nan)
    return tuple(found + _near_copies(frame, roles, sides))


def _header(frame: pandas.DataFrame) -> list[str]:
    """Say that the names look like cells: half of them, two or more, are numbers or values of their own column."""
    names = [str(name) for name in frame.columns]
    alike = [name for name in names if could_be_number(name) or (as_text(frame[name]) == name).any()]
    if len(alike) < max(_FEWEST_CELLS, len(names) / 2):
        return []
    return [
        f"{len(alike)} of {len(names)} column names look like values ({listed(alike)}). If the first line is a record, "
        "put a line with the names above it."
    ]


def _baseline(groups: npt.NDArray[np.float64], names: tuple[str, ...], roles: Roles) -> list[str]:
    counts = np.bincount(groups[~np.isnan(groups)].astype(np.int64), minlength=len(names))
    share = float(counts.max() / max(1, counts.sum()))
    if share <= _LOPSIDED:
        return []
    largest = shown(names[int(counts.argmax())])
    return [
        f"{percent(share)} of the people are in one group of {shown(roles.attribute)}: {largest}. Naming it for "
        "everybody is right that often (baseline), so look at balanced accuracy."
    ]


def _near_copies(frame: pandas.DataFrame, roles: Roles, sides: dict[str, npt.NDArray[np.float64]]) -> list[str]:
    rows = np.random.default_rng(0).permutation(len(frame))[:_MOST_ROWS]
    near: dict[str, dict[str, float]] = {side: {} for side in sides}
    for name in map(str, frame.columns):
        column = frame[name].iloc[rows]
        if name in (roles.sensitive, *roles.excluded, *roles.given) or names_records(column, name):
            continue
        values = _codes(column)
        for side in sides:
            if not (side == "label" and name == roles.label):
                near[side][name] = _balanced_accuracy(values, sides[side][rows])
    told = []
    for side, title, more in (
        ("attribute", roles.attribute, "An attacker who knows that needs no model."),
        ("label", roles.label, "Leave out what is known only after the label is."),
    ):
        found = {name: value for name, value in near.get(side, {}).items() if value > _NEAR}
        if found:
            chance = 1 / int(np.nanmax(sides[side]) + 1)
            told.append(
                f"Almost the {side} {shown(title)}: {listed(sorted(found, key=lambda name: -found[name]))}. Alone "
                f"{'it tells' if len(found) == 1 else 'each tells'} the {side} with a balanced accuracy of "
                f"{percent(min(found.values()))}{' or more' * (len(found) > 1)} (chance {percent(chance)}). {more}"
            )
    return told


def _codes(column: pandas.Series) -> npt.NDArray[np.int64]:
    """Return a column's values as codes from 0, of many numbers their bins of about equal size; 0 is a missing cell."""
    if is_numeric(column):
        numbers = column.to_numpy(dtype=np.float64, na_value=np.nan)
        present = numbers[np.isfinite(numbers)]
        bins = min(_MOST_BINS, present.size // _ROWS_PER_BIN)
        if bins > 1 and np.unique(present).size > bins:
            edges = np.quantile(present, np.arange(1, bins) / bins)
            return np.where(np.isfinite(numbers), 1 + np.searchsorted(edges, numbers, side="left"), 0)
    return np.asarray(as_text(column).factorize()[0], dtype=np.int64) + 1


def _balanced_accuracy(values: npt.NDArray[np.int64], groups: npt.NDArray[np.float64]) -> float:
    """Return how often the group likeliest by one half of the records is right on the other half; 0 if unknown."""
    known = ~np.isnan(groups)
    values, codes = values[known], groups[known].astype(np.int64)
    half, k = codes.size // 2, int(codes.max(initial=0)) + 1
    learned = np.bincount(values[:half] * k + codes[:half], minlength=(int(values.max(initial=0)) + 1) * k).reshape(
        -1, k
    )
    sizes, judged = learned.sum(axis=0), np.bincount(codes[half:], minlength=k)
    if k < 2 or not (sizes.all() and judged.all()):
        return 0.0
    guess = (learned / sizes).argmax(axis=1)[values[half:]]
    right = np.bincount(codes[half:][guess == codes[half:]], minlength=k)
    return float((right / judged).mean())
