"""A table with roles, and the arrays an audit works on.

`Table` is data as it came, with its provenance. `Roles` says which column is the label, which the sensitive
attribute, and which to leave out. `build_dataset` joins the two into an `AuditDataset`: numbers only, every rule
checked, every record or column left out counted and named.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from core.datasets.columns import as_text, encode, is_numeric, quoted, usable_columns
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

MINIMUM_PER_GROUP = 30
"""Fewest records of each group, and of each label value, with which an audit starts."""


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
        Empty when `at_most` is given.
    at_most : float or None
        For a numeric sensitive column: the first group is everybody with a value up to this one.
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
    excluded: tuple[str, ...] = ()
    missing: str = "keep"
    first_name: str = ""
    other_name: str = ""
    attribute_name: str = ""

    @property
    def attribute(self) -> str:
        """What to call the sensitive attribute."""
        return self.attribute_name or self.sensitive

    def group_names(self) -> tuple[str, str]:
        """Return (name of group 0, name of group 1)."""
        if self.at_most is not None:
            first, other = f"{self.sensitive} up to {self.at_most:.12g}", f"{self.sensitive} above {self.at_most:.12g}"
        else:
            named = self.group if len(self.group) < 4 else (*self.group[:2], f"{len(self.group) - 2} more")
            first = " or ".join(named)
            other = f"not {first}" if len(self.group) < 3 else "the others"
        return self.other_name or other, self.first_name or first


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
    labels, sensitive : ndarray of shape (n,), uint8
        1 = positive label; 1 = first group.
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
    """

    title: str
    source: str
    features: npt.NDArray[np.float64]
    feature_names: tuple[str, ...]
    categorical: npt.NDArray[np.bool_]
    labels: npt.NDArray[np.uint8]
    sensitive: npt.NDArray[np.uint8]
    roles: Roles
    rows_read: int
    notes: tuple[str, ...] = ()
    fingerprint: str = field(default="")
    synthetic: bool = False
    uploaded: bool = False

    @property
    def n(self) -> int:
        """Number of records."""
        return int(self.labels.size)

    @property
    def group_names(self) -> tuple[str, str]:
        """Names of group 0 and group 1."""
        return self.roles.group_names()

    def groups(self) -> tuple[GroupRow, GroupRow]:
        """Return size and label rate of the first group and of the others."""
        rows = []
        for code in (1, 0):
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
        return rows[0], rows[1]


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
    label_text, sensitive_code = as_text(frame[roles.label]), _first_group(frame[roles.sensitive], roles)
    roles = _with_other_name(frame[roles.sensitive], roles)
    known = (label_text.notna() & sensitive_code.notna()).to_numpy(dtype=bool)
    if not known.any():
        raise InputError(
            f"No record has both a {quoted(roles.label)} and a {quoted(roles.sensitive)} value; choose other columns."
        )
    if lost := int((~known).sum()):
        notes.append(f"{lost:,} records without {roles.label} or {roles.sensitive} are left out.")
    others = [c for c in frame.columns if c not in {roles.label, roles.sensitive, *roles.excluded}]
    labels, sensitive = _sides(label_text[known], sensitive_code[known], roles)
    features, told = usable_columns(frame.loc[known, others])
    if roles.missing == "drop":
        complete = frame[features].notna().all(axis=1).to_numpy(dtype=bool)
        if dropped := int((known & ~complete).sum()):
            notes.append(f"{dropped:,} records with a missing feature are left out.")
        known = known & complete
        labels, sensitive = _sides(label_text[known], sensitive_code[known], roles)
    notes.extend(told)
    matrix, names, categorical = encode(frame.loc[known, features], notes)
    return AuditDataset(
        title=table.title,
        source=table.source,
        features=matrix,
        feature_names=names,
        categorical=categorical,
        labels=labels,
        sensitive=sensitive,
        roles=roles,
        rows_read=len(frame),
        notes=tuple(notes),
        fingerprint=fingerprint(matrix, labels, sensitive, categorical, list(names), roles, table.title, table.source),
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


def _first_group(column: pandas.Series, roles: Roles) -> pandas.Series:
    """Return 1 for the first group, 0 for the others, missing where the sensitive value is."""
    name = quoted(roles.sensitive)
    if roles.at_most is not None:
        if roles.group:
            raise InputError(f"The groups of {name} must be told apart by values or by a limit, got both.")
        if not is_numeric(column):
            raise InputError(f"A limit for {name} needs a column of numbers; choose values instead.")
        if not math.isfinite(roles.at_most):
            raise InputError(f"The limit for {name} must be a finite number, got {roles.at_most!r}.")
        return (column <= roles.at_most).astype("Int8").where(column.notna())
    text = as_text(column)
    values = set(text.dropna().unique())
    if absent := [v for v in roles.group if v not in values]:
        raise InputError(f"The first group must be made of values of {name}, got {quoted(absent[0])}.")
    if not roles.group or len(values) < 2 or not values - set(roles.group):
        raise InputError(
            f"The sensitive attribute {name} must split people into two groups; "
            f"with {len(set(roles.group))} of its {len(values)} values chosen it does not."
        )
    return text.isin(roles.group).astype("Int8").where(text.notna())


def _with_other_name(column: pandas.Series, roles: Roles) -> Roles:
    """Call the other group by its value where it has only one."""
    if roles.at_most is not None or roles.other_name:
        return roles
    others = set(as_text(column).dropna().unique()) - set(roles.group)
    return replace(roles, other_name=str(others.pop())) if len(others) == 1 else roles


def _sides(
    label_text: pandas.Series, sensitive_code: pandas.Series, roles: Roles
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    labels = (label_text == roles.positive).to_numpy(dtype=np.uint8)
    sensitive = sensitive_code.to_numpy(dtype=np.uint8)
    _check_sides(labels, (f"{roles.label} other than {roles.positive}", f"{roles.label} = {roles.positive}"))
    _check_sides(sensitive, roles.group_names())
    return labels, sensitive


def _check_sides(side: npt.NDArray[np.uint8], names: tuple[str, str]) -> None:
    for code, name in enumerate(names):
        count = int((side == code).sum())
        if count < MINIMUM_PER_GROUP:
            told = name if len(name) <= 100 else f"{name[:99]}…"
            raise InputError(
                f"An audit needs at least {MINIMUM_PER_GROUP} records on each side; there are {count} with {told}."
            )
