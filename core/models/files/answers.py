"""A model's answers about people, as an audit needs them: a decision of 0 or 1 and, if it has one, a score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core.datasets.columns import quoted
from core.errors import InputError
from core.models.files.runtime import RawAnswers
from core.results import Result

_ROUNDING = 1e-6  # scores of 32-bit floats may be this far outside of [0, 1]
_USUAL = {("0", "1"): "1", ("-1", "1"): "1", ("False", "True"): "True", ("false", "true"): "true"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers(Result):
    """What a model says about each record.

    Attributes
    ----------
    labels : ndarray of shape (n,), uint8
        1 where it gives the positive answer.
    scores : ndarray of shape (n,), float64, in [0, 1], or None
        Probability of the positive answer, where the model has one.
    positive : str
        The answer that counts as 1, as text.
    classes : tuple of str
        All answers it can give, as far as is known.
    repeatable : bool
        Whether it said the same when asked again.
    notes : tuple of str
        What a reader should know, a sentence each.
    """

    labels: npt.NDArray[np.uint8]
    scores: npt.NDArray[np.float64] | None
    positive: str
    classes: tuple[str, ...]
    repeatable: bool = True
    notes: tuple[str, ...] = ()


def decide(raw: RawAnswers, *, positive: str, threshold: float) -> Answers:
    """Turn a model's own answers into decisions of 0 or 1 and scores.

    Parameters
    ----------
    raw : RawAnswers
    positive : str
        The answer that counts as 1. Answers of 0 and 1, -1 and 1, or false and true speak for themselves: there it may
        be empty or a word of the table's for the second, which a note then says.
    threshold : float in [0, 1]
        From which score on the decision is 1, for a model that gives scores only.

    Raises
    ------
    InputError
        If it is not known which answer is the positive one, or a score is no probability.
    """
    notes: list[str] = []
    texts = raw.labels
    classes = _known_classes(raw, texts)
    chosen = _positive(classes, positive)
    if positive and chosen != positive:
        notes.append(f"The model answers {' or '.join(classes)}; {chosen} is taken for {quoted(positive)}.")
    scores = None if raw.probability is None else _scores(raw.probability, classes, chosen)
    if texts is not None:
        labels = (texts == chosen).astype(np.uint8)
    elif scores is not None:
        labels = (scores >= threshold).astype(np.uint8)
        notes.append(f"The model gives scores and no decisions: from {threshold:g} on counts as yes.")
    else:
        raise InputError("The model gives neither decisions nor scores; ask for a classifier.")
    if scores is None:
        notes.append("The model gives decisions and no scores, so what needs scores is not run.")
    if len(classes) > 2:
        notes.append(f"The model has {len(classes)} answers; all but {quoted(chosen)} count as no.")
    return Answers(labels=labels, scores=scores, positive=chosen, classes=classes, notes=tuple(notes))


def _known_classes(raw: RawAnswers, texts: npt.NDArray[Any] | None) -> tuple[str, ...]:
    """Return the answers a model can give, in the order of its columns of scores."""
    if raw.classes:
        return raw.classes
    if texts is None:
        return ("0", "1")
    seen = set(texts.tolist())
    if seen <= {"0", "1"}:
        return ("0", "1")
    if seen <= {"False", "True"}:
        return ("False", "True")
    found = tuple(sorted(seen))
    table = raw.probability
    if table is not None and table.shape[1] > 1:
        likely = np.array(found, dtype=object)[np.minimum(table.argmax(axis=1), len(found) - 1)]
        if len(found) != table.shape[1] or (likely == texts).mean() < 0.9:
            raise InputError(
                "The model's file does not say which column of scores belongs to which answer; export it with the "
                "names of its classes."
            )
    return found


def _positive(classes: tuple[str, ...], positive: str) -> str:
    if positive in classes:
        return positive
    if classes in _USUAL:
        return _USUAL[classes]
    told = ", ".join(quoted(one) for one in classes[:5])
    if positive:
        raise InputError(f"The positive answer must be one of the model's ({told}), got {quoted(positive)}.")
    raise InputError(f"The model answers {told}; say which of them is the positive answer.")


def _scores(table: npt.NDArray[np.float64], classes: tuple[str, ...], chosen: str) -> npt.NDArray[np.float64]:
    """Return the probability of the positive answer, after checking that it is one."""
    width = table.shape[1]
    place = classes.index(chosen)
    if width != 1 and width != len(classes):
        raise InputError(f"The model gives {width} scores a record for {len(classes)} answers; export one for each.")
    outside = ~((table >= -_ROUNDING) & (table <= 1.0 + _ROUNDING)).all(axis=1)  # also catches nan
    if outside.any():
        record = int(outside.argmax())
        value = next(one for one in table[record].tolist() if not -_ROUNDING <= one <= 1.0 + _ROUNDING)
        raise InputError(
            f"The model's scores must be probabilities in [0, 1], got {f'{value:g}'.replace('-', '−')} for record "
            f"{record + 1:,}; export probabilities and not margins, and fill missing numbers."
        )
    if width == 1:
        scores = table[:, 0] if place == len(classes) - 1 else 1.0 - table[:, 0]
    else:
        if (wrong := np.abs(table.sum(axis=1) - 1.0) > 1e-3).any():
            raise InputError(
                f"The model's scores of record {int(wrong.argmax()) + 1:,} add up to "
                f"{table[wrong][0].sum():g} and not to 1; export probabilities."
            )
        scores = table[:, place]
    return np.clip(scores, 0.0, 1.0)
