"""Other groups of the same people: by another attribute, or by a pair of attributes.

Who is in the training data, what the model answers and what the attacks say does not depend on the groups, so that
changing them costs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from core.arrays import Codes, Ints
from core.datasets.columns import quoted
from core.datasets.groups import MOST_GROUPS, groups_of
from core.datasets.selection import select
from core.errors import InputError
from core.fingerprint import fingerprint
from core.membership.people import MISSING, MemberPeople
from core.validation import one_length

if TYPE_CHECKING:
    from core.datasets import Roles, Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouping:
    """Everybody's group.

    Attributes
    ----------
    codes : ndarray of shape (n,), uint8
        1 = first group of two; 0 to K - 1 where there are more.
    names : tuple of str
        By code.
    attribute : str
        What the groups differ in.
    """

    codes: Codes = field(repr=False)
    names: tuple[str, ...]
    attribute: str


def table_grouping(table: Table, roles: Roles, by: Roles) -> Grouping:
    """Return the groups that other roles make of the people chosen by `roles`.

    `roles` are those with which the people were made: they say who is among them. Of `by` the sensitive column and how
    it is split count, nothing else; people without a value are a group of their own, "missing". Raises `InputError` as
    `core.datasets.build_dataset` does for a sensitive column.
    """
    known = select(table.frame, roles).known
    if by.sensitive not in table.frame.columns:
        raise InputError(f"The attribute must be a column of the table, got {quoted(by.sensitive)}.")
    found, names, _ = groups_of(table.frame.loc[known, by.sensitive], by)
    codes = found.to_numpy(dtype=np.int64, na_value=len(names))
    names = (by.other_name or names[0], by.first_name or names[1]) if len(names) == 2 else names
    return _compact(codes, (*names, f"{by.attribute} {MISSING}"), by.attribute)


def column_grouping(people: MemberPeople, column: str) -> Grouping:
    """Return a group for each value, or range, of one of the people's columns.

    Of two groups the smaller is the first. Values nobody has make no group. Raises `InputError` if there is no such
    column, or it has more than `core.datasets.groups.MOST_GROUPS` values.
    """
    if column not in people.names:
        raise InputError(f"The attribute must be one of {', '.join(people.names)}, got {quoted(column)}.")
    place = people.names.index(column)
    found = _compact(people.codes[:, place], people.values[place], column)
    if len(found.names) > MOST_GROUPS:
        raise InputError(
            f"{quoted(column)} must have at most {MOST_GROUPS} values to be grouped by, got {len(found.names)}."
        )
    if len(found.names) == 2 and 2 * np.count_nonzero(found.codes) > found.codes.size:
        return replace(found, codes=1 - found.codes, names=found.names[::-1])
    return found


def pair_groups(first: Grouping, second: Grouping) -> Grouping:
    """Return the groups by a pair of attributes, as "women, Black people"; pairs of values nobody has make none.

    Raises `InputError` if both groupings are by the same attribute, of different numbers of people, or leave fewer than
    two groups.
    """
    one_length(first=first.codes, second=second.codes)
    if first.attribute == second.attribute:
        raise InputError(f"A pair needs two different attributes, got {quoted(first.attribute)} twice.")
    codes = first.codes.astype(np.int64) * len(second.names) + second.codes
    names = tuple(f"{a}, {b}" for a in first.names for b in second.names)
    return _compact(codes, names, f"{first.attribute} and {second.attribute}")


def regrouped(people: MemberPeople, grouping: Grouping) -> MemberPeople:
    """Return the same people in other groups."""
    one_length(people=people.labels, groups=grouping.codes)
    return replace(
        people,
        groups=grouping.codes,
        group_names=grouping.names,
        attribute=grouping.attribute,
        fingerprint=fingerprint("regrouped", people.fingerprint, grouping.codes, grouping.names, grouping.attribute),
    )


def grouped_by(people: MemberPeople, by: str | Grouping | tuple[str | Grouping, str | Grouping]) -> MemberPeople:
    """Return the same people grouped by a column, by a grouping, or by a pair of these."""
    if isinstance(by, tuple):
        first, second = (_grouping(people, part) for part in by)
        return regrouped(people, pair_groups(first, second))
    return regrouped(people, _grouping(people, by))


def _grouping(people: MemberPeople, by: str | Grouping) -> Grouping:
    return by if isinstance(by, Grouping) else column_grouping(people, by)


def _compact(codes: Ints, names: tuple[str, ...], attribute: str) -> Grouping:
    """Return the groups that have somebody in them, numbered from 0 in the same order."""
    present, compact = np.unique(codes, return_inverse=True)
    if not 2 <= present.size <= 256:
        raise InputError(f"People must fall into 2 to 256 groups by {quoted(attribute)}, got {present.size}.")
    return Grouping(codes=compact.astype(np.uint8), names=tuple(names[code] for code in present), attribute=attribute)
