"""A table and the roles of its columns joined into an `AuditDataset`, one model or several.

Which records and columns an audit uses, and everybody's label and group; what is left out is counted and named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from core.datasets.columns import as_text, encode, quoted, shown, usable_columns
from core.datasets.dataset import AuditDataset, Table
from core.datasets.predictions import Given, read_given
from core.datasets.roles import MINIMUM_PER_GROUP, Roles, as_written, groups_of
from core.datasets.splits import kinds_of_records, repeated_note
from core.errors import InputError
from core.fingerprint import fingerprint
from core.validation import choice

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Records (`known`, over all rows) and columns of a table that are used; the other arrays have one entry each."""

    known: npt.NDArray[np.bool_]
    features: list[str]
    labels: npt.NDArray[np.uint8]
    groups: npt.NDArray[np.uint8]
    group_names: tuple[str, ...]
    notes: tuple[str, ...]
    given: Given


def select(frame: pandas.DataFrame, roles: Roles) -> Selection:
    """Choose the records and columns of a table that its roles allow; raises as `build_dataset`."""
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


def build_dataset(table: Table, roles: Roles) -> AuditDataset:
    """Turn a table and the roles of its columns into the arrays an audit works on.

    Columns that say nothing about people (empty, constant, dates, identifiers) are set aside with a note. Predictions,
    scores and sets are read as `core.datasets.predictions` says; a record without them is left out.

    Raises
    ------
    InputError
        If a role names no column, or two the same; the label or the sensitive attribute has fewer than two sides or a
        side with fewer than `MINIMUM_PER_GROUP` records; no feature is left, or a feature holds infinite values or
        numbers mixed with text; or a prediction, a score or a set is not what it must be.
    """
    chosen = select(table.frame, roles)
    notes = [*table.notes, *chosen.notes]
    matrix, names, categories, categorical = encode(table.frame.loc[chosen.known, chosen.features], notes)
    if repeated := repeated_note(kinds_of_records(matrix, chosen.labels, chosen.groups)):
        notes.append(repeated)
    return AuditDataset(
        title=table.title,
        source=table.source,
        features=matrix,
        feature_names=names,
        categorical=categorical,
        labels=chosen.labels,
        sensitive=chosen.groups,
        group_names=chosen.group_names,
        roles=roles,
        rows_read=len(table.frame),
        notes=tuple(notes),
        fingerprint=fingerprint(
            matrix,
            chosen.labels,
            chosen.groups,
            categorical,
            list(names),
            list(categories),
            roles,
            table.title,
            table.source,
            chosen.given.predictions,
            chosen.given.scores,
            chosen.given.sets,
            *(() if chosen.given.withheld is None else (chosen.given.withheld,)),
        ),
        categories=categories,
        predictions=chosen.given.predictions,
        scores=chosen.given.scores,
        sets=chosen.given.sets,
        withheld=chosen.given.withheld,
        synthetic=table.synthetic,
        uploaded=table.uploaded,
    )


MOST_COLUMNS = 200
"""Prediction columns that one table may name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeveralPredictions:
    """What several models say about the same people.

    Attributes
    ----------
    dataset : AuditDataset
        No prediction column is among the features, and the first one is the given model.
    predictions : ndarray of shape (k, n), uint8
        One row a model, over the records of the dataset.
    names : tuple of str
        The columns.
    """

    dataset: AuditDataset
    predictions: npt.NDArray[np.uint8]
    names: tuple[str, ...]


def several_predictions(table: Table, roles: Roles, columns: Sequence[str]) -> SeveralPredictions:
    """Read prediction columns, each written as the label is or as 0 and 1, false and true, no and yes.

    Parameters
    ----------
    roles : Roles
        A prediction column they name is read like the others, if it is among them, and is no feature in any case.
    columns : sequence of str
        At least one, at most `MOST_COLUMNS`, each once.

    Raises
    ------
    InputError
        If a column is not there, named twice, or has another role; a cell is not what a prediction must be, or is
        missing where the first column has one; or a rule of `core.datasets.build_dataset` is broken.
    """
    names = tuple(columns)
    _check_prediction_columns(table, roles, names)
    excluded = tuple(dict.fromkeys((*roles.excluded, *roles.given, *names[1:])))
    kept = replace(
        roles,
        prediction=names[0],
        score="",
        excluded=tuple(column for column in excluded if column not in (names[0], roles.sets)),
    )
    known = select(table.frame, kept).known
    rows = [_predictions_of(table, replace(kept, prediction=name, excluded=()), known) for name in names]
    return SeveralPredictions(dataset=build_dataset(table, kept), predictions=np.stack(rows), names=names)


def prediction_candidates(table: Table, roles: Roles) -> tuple[str, ...]:
    """Return the columns that can be read as predictions of the label, in the table's order."""
    taken = {roles.label, roles.sensitive, roles.score, roles.sets}
    found = []
    for name in map(str, table.frame.columns):
        column = table.frame[name]
        if name in taken or column.nunique() != 2 or column.isna().any():
            continue
        try:
            read_given(table.frame, replace(roles, prediction=name, score="", sets=""))
        except InputError:
            continue
        found.append(name)
    return tuple(found)


def _check_prediction_columns(table: Table, roles: Roles, names: tuple[str, ...]) -> None:
    if not 1 <= len(names) <= MOST_COLUMNS:
        raise InputError(f"There must be from 1 to {MOST_COLUMNS} prediction columns, got {len(names)}.")
    for name in names:
        if name not in table.frame.columns:
            raise InputError(f"A prediction must be a column of the table, got {quoted(name)}.")
        if (times := names.count(name)) > 1:
            raise InputError(f"Each prediction column must be named once, got {quoted(name)} {times} times.")
        if name in (roles.label, roles.sensitive, roles.sets):
            raise InputError(f"A prediction column must have no other role, got {quoted(name)}.")


def _predictions_of(table: Table, roles: Roles, known: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint8]:
    missing = int(as_text(table.frame[roles.prediction])[known].isna().sum())
    if missing:
        raise InputError(
            f"Every model must predict for the same people: {quoted(roles.prediction)} lacks {missing:,} of "
            f"{int(known.sum()):,} records."
        )
    predictions = read_given(table.frame, roles).predictions
    assert predictions is not None  # a prediction column was named
    return predictions[known]
