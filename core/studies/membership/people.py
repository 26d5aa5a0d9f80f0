"""The people of a membership audit: every column as codes, a label, and a group.

The records and groups are those of `core.datasets.build_dataset` for the same roles. Unlike there the sensitive column
is a feature (Zhang et al. 2020 train on it), unless the roles leave it out; a missing cell is a value of its own, and
numbers go into ten bins of equal width, as a tree with differential privacy needs a domain fixed beforehand.

The domains are read from the table and taken as public: a note says so, because somebody who could not know them
otherwise would learn from a model that is said to be private.

Other groups. Who is in the training data, what the model answers and what the attacks say does not depend on the
groups, so that changing them costs nothing.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from ...base.arrays import Codes, Floats, Ints
from ...base.errors import InputError
from ...base.fingerprint import fingerprint
from ...datasets.build import select
from ...datasets.columns import as_text, is_numeric, quoted, text_of
from ...datasets.roles import MOST_GROUPS, crossed_columns, groups_of, with_crossed

if TYPE_CHECKING:
    import pandas

    from ...datasets import Roles, Table

BINS = 10
"""Ranges of equal width into which a column of numbers is cut."""

MISSING = "missing"
"""What the value of an empty cell is called."""

_PUBLIC = (
    "The values a column can take, and the smallest and largest number of a column, are read from the table and taken "
    "as public."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberPeople:
    """Everybody who may or may not be in the training data."""

    title: str
    codes: Ints = field(repr=False)
    """(n, d): value of each column, from 0 up."""
    names: tuple[str, ...]
    values: tuple[tuple[str, ...], ...] = field(repr=False)
    """Public domain of each column: what its codes stand for, also those nobody has."""
    labels: Codes = field(repr=False)
    """(n,)"""
    groups: Codes = field(repr=False)
    """(n,): 1 = first group of two; 0 to K - 1 where there are more."""
    group_names: tuple[str, ...]
    """By code."""
    attribute: str
    """What the groups differ in."""
    notes: tuple[str, ...] = ()
    """One sentence for everything left out, and for what is taken as public."""
    fingerprint: str = ""
    """SHA-256 of all of it."""
    protected: tuple[int, ...] = ()
    """Columns among the d that the groups are distinguished by."""

    @property
    def n(self) -> int:
        """Number of people."""
        return int(self.labels.size)

    @property
    def n_values(self) -> tuple[int, ...]:
        """Size of each column's domain."""
        return tuple(len(domain) for domain in self.values)

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return len(self.group_names)


def member_people(table: Table, roles: Roles) -> MemberPeople:
    """Turn a table and the roles of its columns into the people of a membership audit.

    Raises `InputError` as `core.datasets.build_dataset` does.
    """
    chosen = select(table.frame, roles)
    sensitive = crossed_columns(table.frame, roles.sensitive) or (roles.sensitive,)
    features = {*chosen.features, *(set(sensitive) - set(roles.excluded))}
    columns, names, values, notes = [], [], [], [*table.notes, *chosen.notes]
    for name in [column for column in table.frame.columns if column in features]:
        codes, domain = _coded(table.frame.loc[chosen.selected, name])
        if (codes == codes[0]).all():  # constant since records were dropped
            notes.append(f"Column {text_of(name)} holds the same value in every record and is left out.")
            continue
        columns.append(codes)
        names.append(str(name))
        values.append(domain)
    if not columns:
        raise InputError("No feature is left to predict from; every column is constant in the complete records.")
    matrix = np.column_stack(columns)
    return MemberPeople(
        title=table.title,
        codes=matrix,
        names=tuple(names),
        values=tuple(values),
        labels=chosen.labels,
        groups=chosen.groups,
        group_names=chosen.group_names,
        attribute=roles.attribute,
        notes=(*notes, _PUBLIC),
        fingerprint=fingerprint("members", matrix, chosen.labels, chosen.groups, names, values, roles, table.title),
        protected=tuple(j for j, name in enumerate(names) if name in map(str, sensitive)),
    )


def _coded(column: pandas.Series) -> tuple[Ints, tuple[str, ...]]:
    """Return the codes of a column and what they stand for; a missing cell comes last."""
    if is_numeric(column):
        codes, domain = _binned(column.to_numpy(dtype=np.float64, na_value=np.nan))
    else:
        raw_codes, texts = as_text(column).factorize(sort=True, use_na_sentinel=True)
        codes, domain = raw_codes.astype(np.int64), tuple(str(text) for text in texts)
    if (codes < 0).any():
        codes, domain = np.where(codes < 0, len(domain), codes), (*domain, MISSING)
    return codes, domain


def _binned(numbers: Floats) -> tuple[Ints, tuple[str, ...]]:
    """Return the bin of each number, -1 where there is none, and the bins' limits as text."""
    present = ~np.isnan(numbers)
    codes = np.full(numbers.size, -1, dtype=np.int64)
    edges = np.linspace(float(np.nanmin(numbers)), float(np.nanmax(numbers)), BINS + 1)
    codes[present] = np.searchsorted(edges[1:-1], numbers[present], side="right")
    return codes, tuple(f"{a:.6g} to {b:.6g}" for a, b in itertools.pairwise(edges))


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

    `roles` are those with which the people were made: they say who is among them. Of `by` the sensitive column and how
    it is split count, nothing else; people without a value are a group of their own, "missing". Raises `InputError` as
    `core.datasets.build_dataset` does for a sensitive column.
    """
    selected = select(table.frame, roles).selected
    group_codes, names, _ = groups_of(with_crossed(table.frame, by.sensitive).loc[selected, by.sensitive], by)
    codes = group_codes.to_numpy(dtype=np.int64, na_value=len(names))
    names = (by.other_name or names[0], by.first_name or names[1]) if len(names) == 2 else names
    return _compact(codes, (*names, f"{by.attribute} {MISSING}"), by.attribute)


def column_grouping(people: MemberPeople, column: str) -> Grouping:
    """Return a group for each value, or range, of one of the people's columns.

    Of two groups the smaller is the first. Values nobody has make no group. Raises `InputError` if the column has more
    than `core.datasets.roles.MOST_GROUPS` values.
    """
    index = people.names.index(column)
    grouping = _compact(people.codes[:, index], people.values[index], column)
    if len(grouping.names) > MOST_GROUPS:
        raise InputError(
            f"{quoted(column)} must have at most {MOST_GROUPS} values to be grouped by, got {len(grouping.names)}."
        )
    if len(grouping.names) == 2 and 2 * np.count_nonzero(grouping.codes) > grouping.codes.size:
        return replace(grouping, codes=1 - grouping.codes, names=grouping.names[::-1])
    return grouping


def grouped_by(people: MemberPeople, first: Grouping, second: Grouping | None = None) -> MemberPeople:
    """Return the same people in other groups, or in those of a pair of attributes, as "women, Black people".

    Pairs of values nobody has make no group. Raises `InputError` if both groupings are by the same attribute, or leave
    fewer than two groups.
    """
    grouping = first
    if second is not None:
        if first.attribute == second.attribute:
            raise InputError(f"A pair needs two different attributes, got {quoted(first.attribute)} twice.")
        codes = first.codes.astype(np.int64) * len(second.names) + second.codes
        names = tuple(f"{a}, {b}" for a in first.names for b in second.names)
        grouping = _compact(codes, names, f"{first.attribute} and {second.attribute}")
    return replace(
        people,
        groups=grouping.codes,
        group_names=grouping.names,
        attribute=grouping.attribute,
        fingerprint=fingerprint("regrouped", people.fingerprint, grouping.codes, grouping.names, grouping.attribute),
    )


def _compact(codes: Ints, names: tuple[str, ...], attribute: str) -> Grouping:
    """Return the groups that have somebody in them, numbered from 0 in the same order."""
    present, compact = np.unique(codes, return_inverse=True)
    if not 2 <= present.size <= 256:
        raise InputError(f"People must fall into 2 to 256 groups by {quoted(attribute)}, got {present.size}.")
    return Grouping(codes=compact.astype(np.uint8), names=tuple(names[code] for code in present), attribute=attribute)
