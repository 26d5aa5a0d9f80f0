"""The people of a membership audit: every column as codes of a public domain, a label, and a group.

The records and groups are those of `core.datasets.build_dataset` for the same roles. Unlike there the sensitive column
is a feature (Zhang et al. 2020 train on it), unless the roles leave it out; a missing cell is a value of its own, and
numbers go into ten bins of equal width, as a tree with differential privacy needs a domain fixed beforehand.

The domains are read from the table and taken as public: a note says so, because somebody who could not know them
otherwise would learn from a model that is said to be private.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from core.arrays import Codes, Floats, Ints
from core.datasets.columns import as_text, is_numeric, shown
from core.datasets.selection import select
from core.errors import InputError
from core.fingerprint import fingerprint

if TYPE_CHECKING:
    import pandas

    from core.datasets import Roles, Table

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
    """Everybody who may or may not be in the training data.

    Attributes
    ----------
    codes : ndarray of shape (n, d), int64
        Value of each column, from 0 up.
    values : tuple of tuple of str
        Public domain of each column: what its codes stand for, also those nobody has.
    labels : ndarray of shape (n,), uint8
    groups : ndarray of shape (n,), uint8
        1 = first group of two; 0 to K - 1 where there are more.
    group_names : tuple of str
        By code.
    attribute : str
        What the groups differ in.
    notes : tuple of str
        One sentence for everything left out, and for what is taken as public.
    fingerprint : str
        SHA-256 of all of it.
    protected : tuple of int
        Columns among the d that the groups are told apart by.
    """

    title: str
    source: str
    codes: Ints = field(repr=False)
    names: tuple[str, ...]
    values: tuple[tuple[str, ...], ...] = field(repr=False)
    labels: Codes = field(repr=False)
    groups: Codes = field(repr=False)
    group_names: tuple[str, ...]
    attribute: str
    notes: tuple[str, ...] = ()
    fingerprint: str = ""
    synthetic: bool = False
    uploaded: bool = False
    protected: tuple[int, ...] = ()

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
    features = {*chosen.features, *({roles.sensitive} - set(roles.excluded))}
    columns, names, values, notes = [], [], [], [*table.notes, *chosen.notes]
    for name in [column for column in table.frame.columns if column in features]:
        codes, domain = _coded(table.frame.loc[chosen.known, name])
        if (codes == codes[0]).all():  # constant since records were dropped
            notes.append(f"Column {shown(name)} holds the same value in every record and is left out.")
            continue
        columns.append(codes)
        names.append(str(name))
        values.append(domain)
    if not columns:
        raise InputError("No feature is left to predict from; every column is constant in the complete records.")
    matrix = np.column_stack(columns)
    return MemberPeople(
        title=table.title,
        source=table.source,
        codes=matrix,
        names=tuple(names),
        values=tuple(values),
        labels=chosen.labels,
        groups=chosen.groups,
        group_names=chosen.group_names,
        attribute=roles.attribute,
        notes=(*notes, _PUBLIC),
        fingerprint=fingerprint("members", matrix, chosen.labels, chosen.groups, names, values, roles, table.title),
        synthetic=table.synthetic,
        uploaded=table.uploaded,
        protected=tuple(j for j, name in enumerate(names) if name == str(roles.sensitive)),
    )


def _coded(column: pandas.Series) -> tuple[Ints, tuple[str, ...]]:
    """Return the codes of a column and what they stand for; a missing cell comes last."""
    if is_numeric(column):
        codes, domain = _binned(column.to_numpy(dtype=np.float64, na_value=np.nan))
    else:
        found, texts = as_text(column).factorize(sort=True, use_na_sentinel=True)
        codes, domain = found.astype(np.int64), tuple(str(text) for text in texts)
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
