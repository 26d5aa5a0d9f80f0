"""Which records and columns of a table an audit uses, and everybody's label and group: what all its readers share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from core.datasets.columns import as_text, quoted, shown, usable_columns
from core.datasets.given import Given, read_given
from core.datasets.groups import MINIMUM_PER_GROUP, groups_of
from core.datasets.spelling import as_written
from core.errors import InputError
from core.validation import choice

if TYPE_CHECKING:
    import pandas

    from core.datasets.roles import Roles


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Records and columns of a table.

    Attributes
    ----------
    known : ndarray of shape (rows of the table,), bool
        Which records are used; n of them.
    features : list of str
        Columns to predict from, in the table's order, without the sensitive one.
    labels, groups : ndarray of shape (n,), uint8
    group_names : tuple of str
        By code.
    notes : tuple of str
        One sentence for everything left out.
    given : Given
        Predictions, scores and sets of the n records.
    """

    known: npt.NDArray[np.bool_]
    features: list[str]
    labels: npt.NDArray[np.uint8]
    groups: npt.NDArray[np.uint8]
    group_names: tuple[str, ...]
    notes: tuple[str, ...]
    given: Given


def select(frame: pandas.DataFrame, roles: Roles) -> Selection:
    """Choose the records and columns of a table that its roles allow.

    Raises
    ------
    InputError
        As `core.datasets.build_dataset`.
    """
    roles = as_written(frame, roles)
    _check_roles(frame, roles)
    notes: list[str] = []
    label_text, sensitive = as_text(frame[roles.label]), frame[roles.sensitive]
    known = (label_text.notna() & sensitive.notna()).to_numpy(dtype=bool)
    if not known.any():
        raise InputError(
            f"No record has both a {quoted(roles.label)} and a {quoted(roles.sensitive)} value; choose other columns."
        )
    if lost := int((~known).sum()):
        notes.append(f"{lost:,} records without {shown(roles.label)} or {shown(roles.sensitive)} are left out.")
    given = read_given(frame, roles)
    if missing := int((known & ~given.known).sum()):
        named = " or ".join(shown(column) for column in (roles.prediction or roles.score, roles.sets) if column)
        notes.append(f"{missing:,} records without {named} are left out.")
        known = known & given.known
    others = [c for c in frame.columns if c not in {roles.label, roles.sensitive, *roles.excluded, *roles.given}]
    labels, (codes, names_of_groups, rare) = _sides(label_text[known], sensitive[known], roles)
    features, told = usable_columns(frame.loc[known, others])
    if roles.missing == "drop":
        complete = frame[features].notna().all(axis=1).to_numpy(dtype=bool)
        if dropped := int((known & ~complete).sum()):
            notes.append(f"{dropped:,} records with a missing feature are left out.")
        known = known & complete
        labels, (codes, names_of_groups, rare) = _sides(label_text[known], sensitive[known], roles)
    given = given.of(known)
    notes.extend([*([rare] if rare else []), *told, *given.notes(roles)])
    return Selection(
        known=known,
        features=features,
        labels=labels,
        groups=codes,
        group_names=names_of_groups,
        notes=tuple(notes),
        given=given,
    )


def _check_roles(frame: pandas.DataFrame, roles: Roles) -> None:
    choice(roles.missing, ("keep", "drop"), name="missing")
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise InputError(f"Every column must have a name of its own, several are called {quoted(twice)}.")
    named = {
        "label": roles.label,
        "sensitive attribute": roles.sensitive,
        "prediction": roles.prediction,
        "score": roles.score,
        "sets": roles.sets,
    }
    asked = {name: column for name, column in named.items() if column or name in ("label", "sensitive attribute")}
    for name, column in asked.items():
        if column not in frame.columns:
            raise InputError(f"The {name} must be a column of the table, got {quoted(column)}.")
        if frame[column].isna().all():
            raise InputError(f"The {name} column {quoted(column)} is empty in every record; choose another one.")
    taken: dict[str, str] = {}
    for name, column in asked.items():
        if column in taken:
            told = f"{taken[column]} and {name}".capitalize()
            raise InputError(f"{told} must be two different columns, got {quoted(column)} twice.")
        taken[column] = name
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
            raise InputError(
                f"An audit needs at least {MINIMUM_PER_GROUP} records of each label and group; there are {count} with "
                f"{shown(name, 100)}."
            )
