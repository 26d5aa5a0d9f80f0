"""The columns a model asks for, checked; and its answers as decisions of 0 or 1 and scores."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from core.datasets.columns import as_text, is_numeric, quoted
from core.errors import InputError
from core.models.runtime import RawAnswers, Takes
from core.serialize import Result

if TYPE_CHECKING:
    import pandas


def matched(
    frame: pandas.DataFrame, model: Takes, features: Sequence[str] = ()
) -> tuple[pandas.DataFrame, tuple[str, ...]]:
    """Return the model's columns of a table, and a note for everything that was not plainly so.

    `features` are columns of the table in the model's order, for a model that does not name them. Raises `InputError`
    if a column is missing, or holds what the model does not take.
    """
    import pandas as pd

    notes: list[str] = []
    names = _given(frame, model, list(features), notes) if features else _named(frame, model, notes)
    kinds = model.dtypes if len(model.dtypes) == len(names) else model.dtypes * len(names)
    columns = {name: _cells(frame[name], name, kind, model, notes) for name, kind in zip(names, kinds, strict=True)}
    if ignored := [str(name) for name in frame.columns if name not in columns]:
        more = f" and {len(ignored) - 5} more" if len(ignored) > 5 else ""
        notes.append(f"The model does not ask for {', '.join(quoted(one) for one in ignored[:5])}{more}: ignored.")
    return pd.DataFrame(columns, index=frame.index), tuple(notes)


def _given(frame: pandas.DataFrame, model: Takes, features: list[str], notes: list[str]) -> list[str]:
    """Return the features as the user lists them."""
    if len(set(features)) < len(features):
        raise InputError(f"features must name each column once, got {', '.join(quoted(one) for one in features)}.")
    if missing := [name for name in features if name not in frame.columns]:
        raise InputError(f"features must be columns of the table, got {quoted(missing[0])}.")
    if model.width is not None and len(features) != model.width:
        raise InputError(f"The model takes {model.width} features, got {len(features)}; list its own, in its order.")
    order = ", ".join(quoted(one) for one in features[:5]) + (", …" if len(features) > 5 else "")
    if not model.feature_names:
        notes.append(f"The model's file does not name its features; they are taken to be {order}, in this order.")
    elif tuple(features) != model.feature_names:
        notes.append(f"The model's features are taken to be {order}, in this order, whatever its file calls them.")
    return features


def _named(frame: pandas.DataFrame, model: Takes, notes: list[str]) -> list[str]:
    """Return the columns the model names; letters that exporting to ONNX replaces by "_" count as alike."""
    if not model.feature_names:
        count = "" if model.width is None else f"{model.width} "
        raise InputError(
            f"The model's file does not name its {count}features; list the table's columns it takes, in its order, "
            "as features."
        )
    alike: dict[str, list[str]] = {}
    for name in frame.columns:
        alike.setdefault(_plain(str(name)), []).append(str(name))
    found, missing = [], []
    for name in model.feature_names:
        close = alike.get(_plain(name), [])
        if name in frame.columns:
            found.append(name)
        elif len(close) == 1:
            found.append(close[0])
            notes.append(f"Column {quoted(close[0])} is taken for the model's {quoted(name)}.")
        else:
            missing.append(name)
    if missing:
        more = f" nor {len(missing) - 1} others it asks for" if len(missing) > 1 else ""
        raise InputError(
            f"The model asks for the column {quoted(missing[0])}, which the table does not have{more}; add it, or list "
            "the columns it takes, in its order, as features."
        )
    if len(set(found)) < len(found):
        twice = next(name for name in found if found.count(name) > 1)
        raise InputError(f"The model asks for two features that both fit the column {quoted(twice)}; rename it.")
    return found


def _plain(name: str) -> str:
    return re.sub(r"\W", "_", name)


def _cells(column: pandas.Series, name: str, kind: str, model: Takes, notes: list[str]) -> pandas.Series:
    """Return a column in the form the model takes, or say in one sentence why it cannot take it."""
    if column.dtype.kind in "mM":
        raise InputError(
            f"Column {quoted(name)} holds dates or times, which the model cannot take; turn it to numbers."
        )
    missing = int(column.isna().sum())
    if missing and not model.takes_missing:
        raise InputError(
            f"Column {quoted(name)} lacks {missing:,} of {len(column):,} values, which the model cannot take; fill "
            "them or leave these records out."
        )
    if kind == "text" and is_numeric(column):
        notes.append(f"Column {quoted(name)} holds numbers and is given to the model as text, as it asks.")
    if kind == "text" or (kind == "any" and not _is_number(column)):
        text = as_text(column) if kind == "text" else column.astype(object)
        return text.astype(object).where(column.notna(), np.nan)
    return _numbers(column, name, kind)


def _is_number(column: pandas.Series) -> bool:
    import pandas as pd

    return is_numeric(column) or bool(pd.api.types.is_bool_dtype(column))


def _numbers(column: pandas.Series, name: str, kind: str) -> pandas.Series:
    """Return a column of numbers as plain numpy numbers, gaps as nan."""
    import pandas as pd

    if not _is_number(column):
        told = column.dropna().astype(str)
        strange = told[pd.to_numeric(told, errors="coerce").isna()]
        value = (strange if len(strange) else told).iloc[0] if len(told) else ""
        raise InputError(
            f"Column {quoted(name)} holds text, such as {quoted(value)}, where the model takes "
            f"{'true or false' if kind == 'true or false' else 'numbers'}; correct the column or ask for its encoding."
        )
    if not column.isna().any() and not pd.api.types.is_float_dtype(column):
        values = column.to_numpy(dtype=bool if pd.api.types.is_bool_dtype(column) else np.int64)
    else:
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    if np.isinf(values).any():
        raise InputError(f"Column {quoted(name)} holds infinite values, which the model cannot take; replace them.")
    if kind == "whole number" and (odd := values != np.round(values)).any():
        raise InputError(f"Column {quoted(name)} must hold whole numbers for this model, got {values[odd][0]:g}.")
    if kind == "true or false" and (odd := ~np.isin(values, (0, 1))).any():
        raise InputError(f"Column {quoted(name)} must hold true or false for this model, got {values[odd][0]:g}.")
    return pd.Series(values, index=column.index)


_ROUNDING = 1e-6  # scores of 32-bit floats may be this far outside of [0, 1]
_USUAL = {("0", "1"): "1", ("-1", "1"): "1", ("False", "True"): "True", ("false", "true"): "true"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers(Result):
    """What a model says about each of n records, and what a reader should know of it (`notes`, a sentence each).

    Labels are 1 for the positive answer, `positive` among all known `classes`; scores are its probability, in [0, 1].
    `repeatable`: the model said the same when asked again.
    """

    labels: npt.NDArray[np.uint8]
    scores: npt.NDArray[np.float64] | None
    positive: str
    classes: tuple[str, ...]
    repeatable: bool = True
    notes: tuple[str, ...] = ()


def decide(raw: RawAnswers, *, positive: str, threshold: float) -> Answers:
    """Turn a model's own answers into decisions of 0 or 1 and scores; see `ModelFile.answers`.

    Raises `InputError` if it is not known which answer is the positive one, or a score is no probability.
    """
    notes: list[str] = []
    texts, classes = raw.labels, _known_classes(raw)
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


def _known_classes(raw: RawAnswers) -> tuple[str, ...]:
    """Return the answers a model can give, in the order of its columns of scores."""
    if raw.classes:
        return raw.classes
    texts = raw.labels
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
