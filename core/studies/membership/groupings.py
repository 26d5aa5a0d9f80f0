"""Other groups of a subject's people: by other roles of the table, by a column of categories, or by two of these.

Who is in the training data, what the model answers and what the attacks say does not depend on the groups, so that
changing them costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ...base.arrays import Codes, Ints
from ...base.errors import InputError
from ...datasets.build import select
from ...datasets.columns import quoted
from ...datasets.roles import MOST_GROUPS, groups_of, with_crossed

if TYPE_CHECKING:
    from ...datasets import AuditDataset, Roles, Table

MISSING = "missing"
"""What the value of an empty cell is called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """Everybody's group.

    Codes are 1 for the first group of two, 0 to K - 1 where there are more; names are by code, and the attribute is
    what the groups differ in.
    """

    codes: Codes = field(repr=False)
    names: tuple[str, ...]
    attribute: str


def table_grouping(table: Table, roles: Roles, by: Roles) -> Grouping:
    """Return the groups that other roles make of the people chosen by `roles`.

    `roles` are those with which the dataset was built: they say who is among them. Of `by` the sensitive column and how
    it is split count, nothing else; people without a value are a group of their own, "missing". Raises `InputError` as
    `core.datasets.build_dataset` does for a sensitive column.
    """
    selected = select(table.frame, roles).selected
    group_codes, names, _ = groups_of(with_crossed(table.frame, by.sensitive).loc[selected, by.sensitive], by)
    codes = group_codes.to_numpy(dtype=np.int64, na_value=len(names))
    names = (by.other_name or names[0], by.first_name or names[1]) if len(names) == 2 else names
    return _compact(codes, (*names, f"{by.attribute} {MISSING}"), by.attribute)


def column_grouping(dataset: AuditDataset, column: str) -> Grouping:
    """Return a group for each value of a feature of categories; of two groups the smaller is the first."""
    index = dataset.feature_names.index(column)
    values = dataset.categories[index]
    codes = dataset.features[:, index].astype(np.int64)
    codes[codes < 0] = len(values)
    grouping = _compact(codes, (*values, MISSING), column)
    if len(grouping.names) == 2 and 2 * np.count_nonzero(grouping.codes) > grouping.codes.size:
        return replace(grouping, codes=1 - grouping.codes, names=grouping.names[::-1])
    return grouping


def grouping_columns(dataset: AuditDataset) -> tuple[str, ...]:
    """Return the features of categories that `column_grouping` is for: those with few values."""
    return tuple(
        name
        for name, is_category, values in zip(
            dataset.feature_names, dataset.categorical, dataset.categories, strict=True
        )
        if is_category and 2 <= len(values) < MOST_GROUPS
    )


def crossed(first: Grouping, second: Grouping) -> Grouping:
    """Return the groups of pairs of two attributes, as "women, Black people"; pairs nobody has make none.

    Raises `InputError` if both groupings are by the same attribute.
    """
    if first.attribute == second.attribute:
        raise InputError(f"A pair needs two different attributes, got {quoted(first.attribute)} twice.")
    codes = first.codes.astype(np.int64) * len(second.names) + second.codes
    names = tuple(f"{a}, {b}" for a in first.names for b in second.names)
    return _compact(codes, names, f"{first.attribute} and {second.attribute}")


def _compact(codes: Ints, names: tuple[str, ...], attribute: str) -> Grouping:
    """Return the groups that have somebody in them, numbered from 0 in the same order."""
    present, compact = np.unique(codes, return_inverse=True)
    if not 2 <= present.size <= 256:
        raise InputError(f"People must fall into 2 to 256 groups by {quoted(attribute)}, got {present.size}.")
    return Grouping(codes=compact.astype(np.uint8), names=tuple(names[code] for code in present), attribute=attribute)
