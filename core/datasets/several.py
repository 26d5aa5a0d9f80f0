"""Several models' predictions in one table: a column a model, read about the same records in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from core.datasets.build import build_dataset
from core.datasets.columns import as_text, quoted
from core.datasets.dataset import AuditDataset, Table
from core.datasets.given import read_given
from core.datasets.roles import Roles
from core.datasets.selection import select
from core.errors import InputError

MOST_COLUMNS = 200
"""Prediction columns that one table may name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeveralPredictions:
    """What several models say about the same people.

    Attributes
    ----------
    dataset : AuditDataset
        The people; no prediction column is among the features, and the first one is the given model.
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
    table : Table
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
    _check(table, roles, names)
    excluded = tuple(dict.fromkeys((*roles.excluded, *roles.given, *names[1:])))
    kept = replace(
        roles,
        prediction=names[0],
        score="",
        excluded=tuple(column for column in excluded if column not in (names[0], roles.sets)),
    )
    known = select(table.frame, kept).known
    rows = [_column(table, replace(kept, prediction=name, excluded=()), known) for name in names]
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


def _check(table: Table, roles: Roles, names: tuple[str, ...]) -> None:
    if not 1 <= len(names) <= MOST_COLUMNS:
        raise InputError(f"There must be from 1 to {MOST_COLUMNS} prediction columns, got {len(names)}.")
    for name in names:
        if name not in table.frame.columns:
            raise InputError(f"A prediction must be a column of the table, got {quoted(name)}.")
        if (times := names.count(name)) > 1:
            raise InputError(f"Each prediction column must be named once, got {quoted(name)} {times} times.")
        if name in (roles.label, roles.sensitive, roles.sets):
            raise InputError(f"A prediction column must have no other role, got {quoted(name)}.")


def _column(table: Table, roles: Roles, known: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint8]:
    missing = int(as_text(table.frame[roles.prediction])[known].isna().sum())
    if missing:
        raise InputError(
            f"Every model must predict for the same people: {quoted(roles.prediction)} lacks {missing:,} of "
            f"{int(known.sum()):,} records."
        )
    predictions = read_given(table.frame, roles).predictions
    assert predictions is not None  # a prediction column was named
    return predictions[known]
