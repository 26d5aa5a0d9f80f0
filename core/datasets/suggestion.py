"""Which columns of a table look, by name and content, like label, prediction, score and set.

Nothing is decided here: a user sees the suggestions and changes them. The names of Aequitas (Saleiro et al. 2018,
*Aequitas: A Bias and Fairness Audit Toolkit*) are known: `label_value` is the label, and `score` a score or, where it
holds only two values, the prediction.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.datasets.columns import as_text, is_numeric
from core.datasets.given import named_set
from core.results import Result

if TYPE_CHECKING:
    import pandas

__all__ = ["SuggestedRoles", "suggest_roles"]

_LABELS = ("label value", "y true", "true label")
_PREDICTIONS = (
    "model prediction",
    "prediction",
    "predictions",
    "predicted",
    "predicted label",
    "prediction label",
    "pred",
    "y pred",
    "y hat",
    "yhat",
    "decision",
)
_SCORES = (
    "model score",
    "score",
    "scores",
    "y score",
    "probability",
    "predicted probability",
    "proba",
    "y proba",
    "prob",
    "y prob",
)
_SETS = ("split", "set", "sets", "subset", "partition")
_MOST_LABELS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestedRoles(Result):
    """Columns by what they look like.

    Attributes
    ----------
    label, prediction, score, sets : str
        As in `core.datasets.Roles`; empty where no column looks like it.
    """

    label: str = ""
    prediction: str = ""
    score: str = ""
    sets: str = ""


def suggest_roles(frame: pandas.DataFrame) -> SuggestedRoles:
    """Return the columns that look like label, prediction, score and set.

    Parameters
    ----------
    frame : DataFrame
        As it was read.
    """
    plain = {re.sub(r"[\s_.-]+", " ", str(name)).strip().casefold(): str(name) for name in frame.columns}

    def called(names: tuple[str, ...]) -> list[str]:
        return [plain[name] for name in names if name in plain]

    answers = [*called(_PREDICTIONS), *called(_SCORES)]
    labels = [name for name in answers if _may_be_labels(frame[name])]
    scores = [name for name in [*called(_SCORES), *called(_PREDICTIONS)] if _may_be_scores(frame[name])]
    return SuggestedRoles(
        label=next((name for name in called(_LABELS) if _may_be_labels(frame[name])), ""),
        prediction=next(iter(labels), ""),
        score=next((name for name in scores if name not in labels), ""),
        sets=next((name for name in called(_SETS) if _may_be_sets(frame[name])), ""),
    )


def _may_be_labels(column: pandas.Series) -> bool:
    """Whether a column holds few values, and only two if they are numbers."""
    few = 2 if is_numeric(column) else _MOST_LABELS
    return 1 <= as_text(column).nunique() <= few


def _may_be_scores(column: pandas.Series) -> bool:
    if not is_numeric(column):
        return False
    values = column.dropna().to_numpy(dtype=np.float64)
    return bool(values.size and values.min() >= 0.0 and values.max() <= 1.0)


def _may_be_sets(column: pandas.Series) -> bool:
    found = {named_set(str(value)) for value in as_text(column).dropna().unique()}
    return "" not in found and {"train", "test"} <= found
