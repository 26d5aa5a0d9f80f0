"""Which columns of a table look, by name and content, like label, prediction, score and set; and which group is first.

Nothing is decided here: a user sees the suggestions and changes them. Names are known in English, German and French,
with or without their accents. A column of two values is taken for the prediction where the score orders it: whoever is
on one side of a threshold is predicted one thing, whoever is on the other side the other. The names of Aequitas
(Saleiro et al. 2018, *Aequitas: A Bias and Fairness Audit Toolkit*) are known: `label_value` is the label, and `score`
a score or, where it holds only two values, the prediction.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.datasets.columns import as_text, is_numeric
from core.datasets.given import named_set
from core.results import Result

if TYPE_CHECKING:
    import pandas

__all__ = ["SuggestedRoles", "plain_name", "suggest_roles", "suggested_group", "suggested_limit"]

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
    "vorhersage",
    "vorhersagen",
    "vorhergesagt",
    "modellvorhersage",
    "prognose",
    "entscheidung",
    "prevision",
    "predit",
    "predite",
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
    "wahrscheinlichkeit",
    "punktwert",
    "probabilite",
)
_SETS = ("split", "set", "sets", "subset", "partition", "aufteilung", "teilmenge", "ensemble", "sous ensemble")
_MOST_LABELS = 50

_FEWEST_ORDERED = 10
"""Records of either value a column must have to be taken for the prediction by the order of the scores: of 20 records,
10 with each value, chance orders one column in 92,378 like that."""

_MOST_VALUES_OF_GROUPS = 10
"""Distinct numbers up to which groups are made of values; of more they are told apart by a limit."""


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


def suggest_roles(frame: pandas.DataFrame, *, taken: Collection[str] = ()) -> SuggestedRoles:
    """Return the columns that look like label, prediction, score and set.

    Parameters
    ----------
    frame : DataFrame
        As it was read.
    taken : collection of str
        Columns known to be something else.
    """
    plain = {plain_name(name): str(name) for name in frame.columns if str(name) not in taken}

    def called(names: tuple[str, ...]) -> list[str]:
        return [plain[name] for name in names if name in plain]

    answers = [*called(_PREDICTIONS), *called(_SCORES)]
    labels = [name for name in answers if _may_be_labels(frame[name])]
    scores = [name for name in [*called(_SCORES), *called(_PREDICTIONS)] if _may_be_scores(frame[name])]
    label = next((name for name in called(_LABELS) if _may_be_labels(frame[name])), "")
    score = next((name for name in scores if name not in labels), "")
    prediction = next(iter(labels), "")
    if score and not prediction:
        prediction = _ordered_by(frame, score, {label, *taken})
    return SuggestedRoles(
        label=label,
        prediction=prediction,
        score=score,
        sets=next((name for name in called(_SETS) if _may_be_sets(frame[name])), ""),
    )


def plain_name(name: object) -> str:
    """Return a column's name in small letters, without accents, its parts with a blank between them."""
    letters = unicodedata.normalize("NFKD", str(name))
    bare = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return re.sub(r"[\s_.-]+", " ", bare).strip().casefold()


def suggested_group(column: pandas.Series) -> str:
    """Return the value of the first of two groups: of two values the rarer, of more the most frequent.

    Two that are equally frequent are told apart by their names.
    """
    counts = {str(value): int(n) for value, n in as_text(column).value_counts().items()}
    sign = 1 if len(counts) <= 2 else -1
    return min(counts, key=lambda value: (sign * counts[value], value), default="")


def suggested_limit(column: pandas.Series) -> float | None:
    """Return up to which number people are in the first of two groups, the lowest quarter; None where values do it."""
    if not is_numeric(column) or as_text(column).nunique() <= _MOST_VALUES_OF_GROUPS:
        return None
    return float(column.dropna().quantile(0.25, interpolation="lower"))


def _ordered_by(frame: pandas.DataFrame, score: str, taken: Collection[str]) -> str:
    """Return the one column of two values of which all scores of one are at most those of the other; "" else."""
    known = frame[score].notna()
    found = []
    for name in map(str, frame.columns):
        if name == score or name in taken:
            continue
        text = as_text(frame[name])
        rows = (known & text.notna()).to_numpy(dtype=bool)
        if text.nunique() != 2 or text[rows].nunique() != 2:
            continue
        scores = frame[score].to_numpy(dtype=np.float64, na_value=np.nan)[rows]
        first = (text[rows] == text[rows].iloc[0]).to_numpy(dtype=bool)
        low, high = sorted((scores[first], scores[~first]), key=np.mean)
        enough = min(low.size, high.size) >= _FEWEST_ORDERED
        if enough and low.max() <= high.min() and np.median(low) < np.median(high):
            found.append(name)
    return found[0] if len(found) == 1 else ""


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
