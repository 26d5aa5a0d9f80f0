"""Predictions that come with a table: labels, scores, and who the model was trained on.

A predicted label is read as the label itself is: the positive value counts as 1. It may also be written as 0 and 1,
as false and true, or as no and yes, and these words mean the same wherever label or prediction uses them. A score is a
number in [0, 1]. Where only scores are given, a score of at least the threshold predicts 1.

A column of sets says which records the model was trained on, whose sensitive attribute the attacker knows, and who is
left for testing. None of these columns is ever a feature.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from core.datasets.columns import as_text, is_number, is_numeric, quoted
from core.errors import InputError
from core.validation import unit_interval

if TYPE_CHECKING:
    import pandas

    from core.datasets.roles import Roles

SETS = ("train", "attack", "test")
"""The sets a record can be in; out of the attack records some are set aside for validation."""

SET_NAMES = {
    "train": ("train", "training", "learn", "fit", "apprentissage", "entraînement", "entrainement"),
    "attack": ("attack", "attacker", "validation", "validate", "valid", "val", "dev", "validierung"),
    "test": ("test", "testing", "holdout", "hold-out", "hold out", "held out", "held-out"),
}
"""Set -> what it may be called, in any case."""

_POSITIVE, _NEGATIVE = ("1", "true", "yes"), ("0", "false", "no")

_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What a table says about a model and about sets; arrays over all rows of the table.

    Attributes
    ----------
    known : ndarray of bool
        Records for which nothing of it is missing.
    predictions, scores : ndarray of 0 and 1, and of numbers in [0, 1], or None
        Of anything where nothing is given; scores are None also where only labels are given.
    sets : ndarray of str, or None
        Of `SETS`; empty where it is missing.
    withheld : ndarray of bool, or None
        Records with a predicted label and no score, where others have one; their label stands for the score.
    """

    known: npt.NDArray[np.bool_]
    predictions: npt.NDArray[np.uint8] | None
    scores: npt.NDArray[np.float64] | None
    sets: npt.NDArray[np.str_] | None
    withheld: npt.NDArray[np.bool_] | None = None

    def of(self, known: npt.NDArray[np.bool_]) -> Given:
        """Return it for some of the records."""
        arrays = {one.name: getattr(self, one.name) for one in fields(self)}
        chosen: dict[str, Any] = {name: None if array is None else array[known] for name, array in arrays.items()}
        return Given(**chosen)

    def notes(self, roles: Roles) -> list[str]:
        """Return what a reader must know about it, a sentence each."""
        told = []
        if self.predictions is not None and self.scores is not None and roles.prediction:
            odd = int(((self.scores >= roles.threshold) != (self.predictions == 1))[~self._withheld].sum())
            if odd:
                told.append(
                    f"In {odd:,} records {roles.prediction} is not what a {roles.score} of at least "
                    f"{roles.threshold:g} would say; {roles.prediction} is what counts."
                )
        if hidden := int(self._withheld.sum()):
            told.append(
                f"{hidden:,} records have a {roles.prediction} and no {roles.score}: whose score is withheld counts as "
                "released, and where a number is needed the label stands for it."
            )
        if self.sets is not None and "attack" not in self.sets:
            told.append(
                f"Column {roles.sets} names no attack records, so half of its test records, drawn with the seed, are "
                "those the attacker knows."
            )
        return told

    @property
    def _withheld(self) -> npt.NDArray[np.bool_]:
        return np.zeros(self.known.size, dtype=bool) if self.withheld is None else self.withheld


def read_given(frame: pandas.DataFrame, roles: Roles) -> Given:
    """Read the columns of predictions, scores and sets that the roles name; refuse cells they must not hold."""
    threshold = unit_interval(roles.threshold, name="threshold")
    predictions = scores = sets = None
    if roles.score:
        scores = _scores(frame[roles.score], roles.score)
    if roles.prediction:
        predictions = _labels(frame[roles.prediction], frame[roles.label], roles)
    elif scores is not None:
        predictions = (np.nan_to_num(scores, nan=0.0) >= threshold).astype(np.uint8)
    if roles.sets:
        sets = _sets(frame[roles.sets], roles.sets)
    needed = (roles.prediction or roles.score, roles.sets)
    known = frame[[column for column in needed if column]].notna().all(axis=1).to_numpy(dtype=bool)
    withheld = None
    if roles.prediction and scores is not None and predictions is not None and np.isnan(scores).any():
        withheld = np.isnan(scores)
        scores = np.where(withheld, predictions, scores)
    return Given(known=known, predictions=predictions, scores=scores, sets=sets, withheld=withheld)


def _labels(column: pandas.Series, label: pandas.Series, roles: Roles) -> npt.NDArray[np.uint8]:
    """Return the predicted labels; 0 where there is none."""
    text = as_text(column)
    values = [str(value) for value in text.dropna().unique()]
    taken = [str(value) for value in as_text(label).dropna().unique()]
    own = _as_label(values, taken, roles.positive)
    general = _in_general(values, taken, roles.positive)
    codes = own if None not in own.values() else general
    if strange := [value for value in values if own[value] is None and general[value] is None]:
        raise InputError(_strange(strange[0], taken, roles, number=is_numeric(column)))
    if mixed := [value for value in values if codes[value] is None]:
        other = next(value for value in values if own[value] is None)
        raise InputError(
            f"The prediction {quoted(roles.prediction)} must be written in one way, got {quoted(mixed[0])} and "
            f"{quoted(other)}."
        )
    if codes is general and (torn := [v for v in values if own[v] is not None and own[v] != general[v]]):
        raise InputError(
            f"The prediction {quoted(roles.prediction)} must be written either as {quoted(roles.label)} is or as 0 and "
            f"1, got {quoted(torn[0])}, which would mean one thing there and another here."
        )
    return text.map(codes).fillna(0).to_numpy(dtype=np.uint8)


def _as_label(values: list[str], taken: list[str], positive: str) -> dict[str, int | None]:
    """Return whether each value is the label's positive one; None if the label does not take it, in whatever case."""
    alike: dict[str, list[str]] = {}
    for other in taken:
        alike.setdefault(other.casefold(), []).append(other)
    exact = set(taken)
    meant = {value: [value] if value in exact else alike.get(value.casefold(), []) for value in values}
    return {value: int(found[0] == positive) if len(found) == 1 else None for value, found in meant.items()}


def _in_general(values: list[str], taken: list[str], positive: str) -> dict[str, int | None]:
    """Return what 0 and 1, false and true, no and yes say; None for other values.

    They say whether the label is positive, unless the label is made of these words itself: then they mean the same
    there and here, whichever of them was called positive.
    """
    wanted = _truth(positive) if all(_truth(other) is not None for other in taken) else True
    truths = {value: _truth(value) for value in values}
    return {value: None if truth is None else int(truth == wanted) for value, truth in truths.items()}


def _truth(value: str) -> bool | None:
    word = value.casefold()
    return True if word in _POSITIVE else False if word in _NEGATIVE else None


def _strange(value: str, taken: list[str], roles: Roles, *, number: bool) -> str:
    shown = ", ".join(quoted(v, 20) for v in sorted(taken)[:_SHOWN])
    score = "; choose scores as the score" if number else ""
    return (
        f"The prediction {quoted(roles.prediction, 30)} must be written as {quoted(roles.label, 30)} is "
        f"({shown}{', …' if len(taken) > _SHOWN else ''}) or as 0 and 1, false and true, no and yes, got "
        f"{quoted(value, 30)}{score}."
    )


def _scores(column: pandas.Series, name: str) -> npt.NDArray[np.float64]:
    """Return the scores; nan where there is none."""
    if not is_numeric(column):
        present = as_text(column).dropna()
        strange = next((value for value in present if not is_number(value)), present.iloc[0])
        raise InputError(f"The score {quoted(name)} must be a column of numbers in [0, 1], got {quoted(strange)}.")
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    outside = values[(values < 0.0) | (values > 1.0)]
    if outside.size:
        worst = float(outside[np.argmax(np.abs(outside))])
        percentages = 1.0 < worst <= 100.0 and outside.min() >= 0.0
        remedy = "divide percentages by 100" if percentages else "turn it into a probability first"
        raise InputError(f"The score {quoted(name)} must be in [0, 1], got {worst:g}; {remedy}.")
    return values


def _sets(column: pandas.Series, name: str) -> npt.NDArray[np.str_]:
    """Return everybody's set; empty where there is none."""
    text = as_text(column)
    found = {str(value): named_set(str(value)) for value in text.dropna().unique()}
    if strange := [value for value, meant in found.items() if not meant]:
        raise InputError(
            f"Column {quoted(name)} must say train, attack or test for each record, got {quoted(strange[0])}."
        )
    for one in ("train", "test"):
        if one not in found.values():
            raise InputError(f"Column {quoted(name)} must name {one} records, there are none.")
    return text.map(found).fillna("").to_numpy(dtype=np.str_)


def named_set(value: str) -> str:
    """Return which of `SETS` a cell means; empty if none."""
    word = value.strip().casefold()
    return next((name for name, names in SET_NAMES.items() if word in names), "")
