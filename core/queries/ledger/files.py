"""Test sets and predictions from CSV or Parquet files, each refused with one sentence if it does not fit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from core.datasets.columns import as_text, quoted
from core.datasets.table import read_columns
from core.errors import InputError
from core.files import content_of
from core.queries.checks import Floats
from core.queries.ledger.normal_form import FORM, FORMS
from core.queries.ledger.people import Columns, TestSet, check_different

if TYPE_CHECKING:
    import pandas

_MOST_COLUMNS, _MOST_ROWS = 500, 2_000_000


def read_test_set(path: str | Path, columns: Columns) -> TestSet:
    """Return the test set in a CSV file; see `test_set_of`."""
    return test_set_of(content_of(path, what="The test set"), Path(path).name, columns)


def test_set_of(content: bytes, name: str, columns: Columns) -> TestSet:
    """Return the test set in the bytes of a CSV or Parquet file.

    Parameters
    ----------
    content, name : bytes, str
        The file and what to call it.
    columns : Columns
        Where identifiers, attribute and labels are. Other columns are not looked at.

    Raises
    ------
    InputError
        If the file is no table, lacks a column or a cell, an identifier stands twice, or a value that is named does not
        occur.
    """
    frame = frame_of(content, name)
    labels = None
    if columns.label is not None:
        labels = _binary(frame, columns.label, columns.positive, name, flag="the positive label")
    attribute = _binary(frame, columns.attribute, columns.advantaged, name, flag="the advantaged value")
    return TestSet(ids=tuple(_filled(frame, columns.id, name)), attribute=attribute, labels=labels)


def read_predictions(
    path: str | Path, ids: Sequence[str], *, id_column: str = "id", score: str | None = None
) -> Floats:
    """Return the predictions in a CSV file; see `predictions_of`."""
    return predictions_of(
        content_of(path, what="The predictions"), Path(path).name, ids, id_column=id_column, score=score
    )


def predictions_of(
    content: bytes, name: str, ids: Sequence[str], *, id_column: str = "id", score: str | None = None
) -> Floats:
    """Return one score a person, in the order of `ids`, from the bytes of a CSV or Parquet file.

    Parameters
    ----------
    ids : sequence of n str
        The people of the test set; the file must have each of them once and nobody else, in any order, in any spelling
        of the same normal form.
    score : str or None
        Column with the scores in [0, 1]; when None, the file's only other column.

    Returns
    -------
    ndarray of shape (n,)

    Raises
    ------
    InputError
        If the file is no table, lacks a column, or its people or scores are not as said.
    """
    frame = frame_of(content, name)
    found = _filled(frame, id_column, name)
    if score is None:
        others = [str(column) for column in frame.columns if column != id_column]
        if len(others) != 1:
            raise InputError(
                f"The file {quoted(name)} must have one column of scores besides {quoted(id_column)}, "
                f"or be told which it is, got {len(others)}."
            )
        score = others[0]
    if len(found) != len(ids):
        raise InputError(
            f"The file {quoted(name)} must have a line for each of {len(ids):,} people, got {len(found):,}."
        )
    form, people = FORM, [FORMS[FORM](one) for one in ids]
    if len(set(people)) < len(people):  # registered in form 1, in which they are different
        form, people = 1, [FORMS[1](one) for one in ids]
    check_different(found, form, rule=f"The file {quoted(name)} must have each person once")
    place = {FORMS[form](one): k for k, one in enumerate(found)}
    strangers = sorted(place[one] for one in place.keys() - set(people))
    if strangers:
        stranger = quoted(found[strangers[0]])
        raise InputError(f"The file {quoted(name)} must have the test set's people only, got {stranger}.")
    return _scores(frame, score, name)[[place[one] for one in people]]


def frame_of(content: bytes, name: str) -> pandas.DataFrame:
    """Return the table in the bytes of a CSV file, or of a Parquet file if its name ends in .parquet or .pq.

    Raises
    ------
    InputError
        If it is no table, or too large.
    """
    import pandas as pd

    columns, _ = read_columns(content, name, max_columns=_MOST_COLUMNS, max_rows=_MOST_ROWS, office=False)
    return pd.DataFrame({title: columns[title].to_pandas() for title in columns.column_names})


def _filled(frame: pandas.DataFrame, column: str, name: str) -> list[str]:
    """Return a column's cells as text, none of which may be missing."""
    if column not in frame.columns:
        there = ", ".join(str(one) for one in frame.columns[:8])
        raise InputError(f"The file {quoted(name)} must have a column {quoted(column)}, its columns are {there}.")
    text = as_text(frame[column])
    if text.isna().any():
        line = int(np.flatnonzero(text.isna())[0]) + 1
        raise InputError(
            f"The column {quoted(column)} of {quoted(name)} must have no empty cell, record {line} has one."
        )
    return [str(cell) for cell in text]


def _binary(frame: pandas.DataFrame, column: str, one: str | None, name: str, *, flag: str) -> npt.NDArray[np.uint8]:
    """Return 1 where a column has a value, 0 elsewhere."""
    cells = np.array(_filled(frame, column, name))
    values = sorted(set(cells.tolist()))
    told = ", ".join(quoted(value) for value in values[:6]) + (", …" if len(values) > 6 else "")
    if one is None:
        if not set(values) <= {"0", "1"}:
            raise InputError(
                f"The column {quoted(column)} must hold only 0 and 1, or {flag} must be named, got {told}."
            )
        one = "1"
    elif one not in values:
        raise InputError(f"The column {quoted(column)} must hold {flag} {quoted(one)}, got only {told}.")
    return (cells == one).astype(np.uint8)


def _scores(frame: pandas.DataFrame, column: str, name: str) -> Floats:
    import pandas as pd

    text = _filled(frame, column, name)
    scores = pd.to_numeric(pd.Series(text, dtype=object), errors="coerce").to_numpy(np.float64)
    wrong = ~((scores >= 0.0) & (scores <= 1.0))
    if wrong.any():
        value = text[int(np.flatnonzero(wrong)[0])]
        raise InputError(
            f"The column {quoted(column)} of {quoted(name)} must hold scores in [0, 1], got {quoted(value)}."
        )
    return np.asarray(scores)
