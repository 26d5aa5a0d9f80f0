"""A table with roles, and the arrays an audit works on.

`Table` is data as it came, with its provenance. `Roles` says which column is the label, which the sensitive
attribute, and which to leave out. `build_dataset` joins the two into an `AuditDataset`: numbers only, every rule
checked, every record or column left out counted and named.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from core.datasets.columns import as_text, encode, quoted, usable_columns
from core.datasets.groups import MINIMUM_PER_GROUP, groups_of
from core.errors import InputError
from core.estimates import Estimate, proportion
from core.fingerprint import fingerprint
from core.results import Result
from core.validation import choice

if TYPE_CHECKING:
    import pandas

__all__ = [
    "MINIMUM_PER_GROUP",
    "AuditDataset",
    "GroupRow",
    "Roles",
    "Table",
    "build_dataset",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles(Result):
    """What each column is for.

    Attributes
    ----------
    label, sensitive : str
        Column names; both must exist and differ.
    positive : str
        The label value that counts as 1, as text.
    group : tuple of str
        Values of the sensitive column that form the first group (s = 1), as text; everybody else is group 0.
        Empty when the groups are told apart in another way.
    at_most : float or None
        For a numeric sensitive column: the first group is everybody with a value up to this one.
    each : bool
        Whether every value of the sensitive column is a group of its own (2 to 20; rare values are taken together).
    cuts : tuple of float
        For a numeric sensitive column: limits, rising, of as many groups and one more.
    excluded : tuple of str
        Columns neither the model nor the attacker sees.
    missing : {"keep", "drop"}
        What to do with a record that lacks a feature: keep it (median for numbers, a category of its own for
        text) or drop it. A record without label or sensitive value is always dropped.
    first_name, other_name : str
        How to call the two groups in sentences; made from the values when empty.
    attribute_name : str
        How to call the sensitive attribute in sentences; the column's name when empty.
    """

    label: str
    positive: str
    sensitive: str
    group: tuple[str, ...] = ()
    at_most: float | None = None
    each: bool = False
    cuts: tuple[float, ...] = ()
    excluded: tuple[str, ...] = ()
    missing: str = "keep"
    first_name: str = ""
    other_name: str = ""
    attribute_name: str = ""

    @property
    def attribute(self) -> str:
        """What to call the sensitive attribute."""
        return self.attribute_name or self.sensitive

    @property
    def key(self) -> str:
        """Name under which the grouping is chosen: the column, and how it is split where that is not in two."""
        return self.sensitive + ("/each" if self.each else "/ranges" if self.cuts else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table as it was read, and where it comes from.

    Attributes
    ----------
    name : str
        Short identifier; "upload" for a user's file.
    title : str
        What to call it on screen.
    frame : pandas.DataFrame
        The cells as read; treat as read-only.
    source : str
        One sentence on provenance.
    roles : tuple of Roles
        Suggested roles, the default first; empty for uploads.
    synthetic, uploaded : bool
        Whether the people in it are invented; whether it is a user's own and must stay in the session.
    fingerprint : str
        SHA-256 of the cells.
    """

    name: str
    title: str
    frame: pandas.DataFrame
    source: str
    fingerprint: str
    roles: tuple[Roles, ...] = ()
    synthetic: bool = False
    uploaded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRow(Result):
    """Size and label rate of one group."""

    group: str
    count: int
    share: float
    label_rate: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditDataset:
    """What an audit works on.

    Attributes
    ----------
    title, source : str
        From the table.
    features : ndarray of shape (n, d), float64
        Numbers as they are, categories as ordinal codes in the order of their text; no missing values.
    feature_names : tuple of str
        Names of the d columns.
    categorical : ndarray of shape (d,), bool
        Which columns are codes of categories.
    labels : ndarray of shape (n,), uint8
        1 = positive label.
    sensitive : ndarray of shape (n,), uint8
        Group of each record: 1 = first group of two; 0 to K - 1 where there are more.
    group_names : tuple of str
        Names by group.
    roles : Roles
        The roles it was built with.
    rows_read : int
        Records in the table, before any was dropped.
    notes : tuple of str
        One sentence for everything that was left out or filled in.
    fingerprint : str
        SHA-256 of the arrays.
    synthetic, uploaded : bool
        From the table.
    categories : tuple of tuple of str
        What each column's codes stand for, from 0 up (-1 is a missing value); empty for a column of numbers.
    """

    title: str
    source: str
    features: npt.NDArray[np.float64]
    feature_names: tuple[str, ...]
    categorical: npt.NDArray[np.bool_]
    labels: npt.NDArray[np.uint8]
    sensitive: npt.NDArray[np.uint8]
    group_names: tuple[str, ...]
    roles: Roles
    rows_read: int
    notes: tuple[str, ...] = ()
    fingerprint: str = field(default="")
    synthetic: bool = False
    uploaded: bool = False
    categories: tuple[tuple[str, ...], ...] = ()

    @property
    def n(self) -> int:
        """Number of records."""
        return int(self.labels.size)

    @property
    def n_groups(self) -> int:
        """Number of groups, 2 to 20."""
        return len(self.group_names)

    def groups(self) -> tuple[GroupRow, ...]:
        """Return size and label rate of every group: of two, the first group and the others."""
        rows = []
        for code in (1, 0) if self.n_groups == 2 else range(self.n_groups):
            member = self.sensitive == code
            count = int(member.sum())
            positives = int(self.labels[member].sum())
            rows.append(
                GroupRow(
                    group=self.group_names[code],
                    count=count,
                    share=count / self.n,
                    label_rate=proportion(positives, count),
                )
            )
        return tuple(rows)


def build_dataset(table: Table, roles: Roles) -> AuditDataset:
    """Turn a table and the roles of its columns into the arrays an audit works on.

    Columns that say nothing about people (empty, constant, dates, identifiers) are set aside with a note.

    Raises
    ------
    InputError
        If a role names no column, the label or the sensitive attribute has fewer than two sides or a side with
        fewer than `MINIMUM_PER_GROUP` records, no feature is left, or a feature holds infinite values or numbers
        mixed with text.
    """
    frame = table.frame
    _check_roles(frame, roles)
    notes: list[str] = []
    label_text, sensitive = as_text(frame[roles.label]), frame[roles.sensitive]
    known = (label_text.notna() & sensitive.notna()).to_numpy(dtype=bool)
    if not known.any():
        raise InputError(
            f"No record has both a {quoted(roles.label)} and a {quoted(roles.sensitive)} value; choose other columns."
        )
    if lost := int((~known).sum()):
        notes.append(f"{lost:,} records without {roles.label} or {roles.sensitive} are left out.")
    others = [c for c in frame.columns if c not in {roles.label, roles.sensitive, *roles.excluded}]
    labels, (codes, names_of_groups, rare) = _sides(label_text[known], sensitive[known], roles)
    features, told = usable_columns(frame.loc[known, others])
    if roles.missing == "drop":
        complete = frame[features].notna().all(axis=1).to_numpy(dtype=bool)
        if dropped := int((known & ~complete).sum()):
            notes.append(f"{dropped:,} records with a missing feature are left out.")
        known = known & complete
        labels, (codes, names_of_groups, rare) = _sides(label_text[known], sensitive[known], roles)
    notes.extend([*([rare] if rare else []), *told])
    matrix, names, categories, categorical = encode(frame.loc[known, features], notes)
    return AuditDataset(
        title=table.title,
        source=table.source,
        features=matrix,
        feature_names=names,
        categorical=categorical,
        labels=labels,
        sensitive=codes,
        group_names=names_of_groups,
        roles=roles,
        rows_read=len(frame),
        notes=tuple(notes),
        fingerprint=fingerprint(
            matrix, labels, codes, categorical, list(names), list(categories), roles, table.title, table.source
        ),
        categories=categories,
        synthetic=table.synthetic,
        uploaded=table.uploaded,
    )


def _check_roles(frame: pandas.DataFrame, roles: Roles) -> None:
    choice(roles.missing, ("keep", "drop"), name="missing")
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise InputError(f"Every column must have a name of its own, several are called {quoted(twice)}.")
    for name, column in (("label", roles.label), ("sensitive attribute", roles.sensitive)):
        if column not in frame.columns:
            raise InputError(f"The {name} must be a column of the table, got {quoted(column)}.")
        if frame[column].isna().all():
            raise InputError(f"The {name} column {quoted(column)} is empty in every record; choose another one.")
    if roles.label == roles.sensitive:
        raise InputError(
            f"Label and sensitive attribute must be two different columns, got {quoted(roles.label)} twice."
        )
    if unknown := [c for c in roles.excluded if c not in frame.columns]:
        raise InputError(f"Columns to leave out must be columns of the table, got {quoted(unknown[0])}.")
    values = as_text(frame[roles.label]).dropna().unique().tolist()
    if len(values) < 2:
        raise InputError(
            f"The label {quoted(roles.label)} must have at least two values, got only {quoted(values[0])}."
        )
    if roles.positive not in values:
        shown = ", ".join(quoted(v, 30) for v in values[:4])
        raise InputError(
            f"The positive value must be one that {quoted(roles.label)} takes "
            f"({shown}{', …' if len(values) > 4 else ''}), got {quoted(roles.positive)}."
        )


def _sides(
    label_text: pandas.Series, column: pandas.Series, roles: Roles
) -> tuple[npt.NDArray[np.uint8], tuple[npt.NDArray[np.uint8], tuple[str, ...], str]]:
    labels = (label_text == roles.positive).to_numpy(dtype=np.uint8)
    _check_sides(labels, (f"{roles.label} other than {roles.positive}", f"{roles.label} = {roles.positive}"))
    codes, names, note = groups_of(column, roles)
    sensitive = codes.to_numpy(dtype=np.uint8)
    _check_sides(sensitive, names)
    return labels, (sensitive, names, note)


def _check_sides(side: npt.NDArray[np.uint8], names: tuple[str, ...]) -> None:
    for code, name in enumerate(names):
        count = int((side == code).sum())
        if count < MINIMUM_PER_GROUP:
            told = name if len(name) <= 100 else f"{name[:99]}…"
            raise InputError(
                f"An audit needs at least {MINIMUM_PER_GROUP} records of each label and group; there are {count} with "
                f"{told}."
            )
