"""A model's answers as two more columns of a table, from where they go the way of given predictions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import NamedTuple

from core.datasets.dataset import Table
from core.fingerprint import fingerprint_frame
from core.models.files.answers import Answers
from core.models.files.model_file import ModelFile


class AnsweredTable(NamedTuple):
    """A table with a model's answers, and what their columns are called.

    Attributes
    ----------
    table : Table
        With the columns added, and a fingerprint of its own.
    prediction, score : str
        Names of the columns of decisions (0 or 1) and of scores; no name where the model has no scores.
    answers : Answers
    """

    table: Table
    prediction: str
    score: str
    answers: Answers


def with_answers(
    table: Table,
    model_file: ModelFile,
    *,
    threshold: float = 0.5,
    positive: str = "",
    features: Sequence[str] = (),
    report: Callable[[int, int], None] | None = None,
) -> AnsweredTable:
    """Ask a model about everybody in a table and add its answers as columns.

    Parameters
    ----------
    table : Table
    model_file : ModelFile
    threshold, positive, features, report
        See `ModelFile.answers`.

    Returns
    -------
    AnsweredTable
        The columns are called "model prediction" and "model score", with a number if these names are taken.
    """
    answers = model_file.answers(table.frame, threshold=threshold, positive=positive, features=features, report=report)
    frame = table.frame.copy(deep=False)
    prediction, score = _free("model prediction", frame.columns), ""
    frame[prediction] = answers.labels.astype("int64")
    if answers.scores is not None:
        score = _free("model score", frame.columns)
        frame[score] = answers.scores
    added = dataclasses.replace(
        table,
        frame=frame,
        source=f"{table.source} Answers of the model {model_file.title}, SHA-256 {model_file.fingerprint[:12]}.",
        fingerprint=fingerprint_frame(frame),
    )
    return AnsweredTable(table=added, prediction=prediction, score=score, answers=answers)


def _free(name: str, taken: Sequence[str]) -> str:
    return next(one for one in (name, *(f"{name} {number}" for number in range(2, len(taken) + 3))) if one not in taken)
