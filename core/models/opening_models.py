"""A model file in the process that may open it: what it takes, and what it answers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.errors import FairLeakError, InputError
from ..datasets.columns import quoted
from .model_answers import RawAnswers, Runtime, Takes, cause

if TYPE_CHECKING:
    import pandas
    import pyarrow

_MOST_ANSWERS = 10_000


def _opened(content: bytes, name: str, kind: str) -> Runtime:
    if kind == "onnx":
        from .onnx_model import open_onnx

        return open_onnx(content, name)
    from .skops_model import open_skops

    return open_skops(content, name)


def describe(report: object, *, content: bytes, name: str, kind: str) -> tuple[dict[str, Any], None]:
    """Open a model and return the fields of what it takes."""
    runtime = _opened(content, name, kind)
    return {attribute.name: getattr(runtime, attribute.name) for attribute in fields(Takes)}, None


def answer(
    report: Callable[[int, int], None],
    *,
    columns: pandas.DataFrame,
    batch: int,
    content: bytes,
    name: str,
    kind: str,
) -> tuple[dict[str, Any], pyarrow.Table]:
    """Open a model and ask it about every record, twice.

    Returns "labels", the different decisions as texts; "classes", what the columns of scores stand for; "differing",
    about how many records are answered otherwise the second time; "warnings", what libraries say; and a table of n
    rows: "label", the place of each decision in the list, and "0", "1", …, the scores.
    """
    import pandas as pd
    import pyarrow as pa

    runtime = _opened(content, name, kind)
    parts, differing, messages = [], 0, set()
    for start in range(0, len(columns), batch):
        rows = columns.iloc[start : start + batch]
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            first, second = (_ask(runtime, rows, start) for _ in range(2))
        parts.append(first)
        differing += _differing(first, second)
        messages |= {cause(warning.message) for warning in warned if isinstance(warning.message, Warning)}
        report(start + len(rows), len(columns))
    labels, tables = (
        [part for part in column if part is not None] for column in zip(*map(_values, parts), strict=True)
    )
    classes = parts[0].classes
    summary: dict[str, Any] = {
        "labels": None,
        "classes": None,
        "warnings": sorted(messages)[:3],
        "differing": differing,
    }
    values: dict[str, Any] = {}
    if labels:
        places, different = pd.factorize(np.concatenate(labels), use_na_sentinel=False)
        if len(different) > _MOST_ANSWERS:
            raise InputError(f"The model gives more than {_MOST_ANSWERS:,} different answers; ask for a classifier.")
        summary["labels"], values["label"] = [_text(label) for label in different.tolist()], places.astype(np.int32)
    if classes is not None:
        summary["classes"] = [_text(label) for label in classes]
    if tables:
        values |= {str(j): column for j, column in enumerate(np.concatenate(tables).T)}
    return summary, pa.table(values)


def _values(answers: RawAnswers) -> tuple[Any, Any]:
    return answers.labels, answers.probability


def _text(value: Any) -> str:
    """Return an answer as text; whole numbers without a decimal point."""
    return str(int(value)) if isinstance(value, float) and value == round(value) else str(value)


def _differing(first: RawAnswers, second: RawAnswers) -> int:
    """Return about how many records two answers differ."""
    differ = np.zeros(1, dtype=bool)
    if first.labels is not None:
        differ = differ | (first.labels != second.labels)
    if first.probability is not None and second.probability is not None:
        same = np.isclose(first.probability, second.probability, rtol=0, atol=0, equal_nan=True)
        differ = differ | ~same.all(axis=1)
    return int(differ.sum())


def _ask(runtime: Runtime, rows: pandas.DataFrame, start: int) -> RawAnswers:
    try:
        return runtime.ask(rows)
    except (FairLeakError, MemoryError):
        raise
    except Exception as error:  # whatever the runtime raises about this table
        where = _blame(runtime, rows, start)
        raise InputError(f"The model cannot take {where or 'the table'}: {cause(error)}.") from None


def _blame(runtime: Runtime, frame: pandas.DataFrame, first: int) -> str:
    """Return which record, and where it shows which column of it, a model cannot take; nothing if it is no one record.

    Half of the records is asked again until one is left that fails. Then its cells are replaced, one at a time, by
    those of a record that does not; the cell whose replacement helps is the one. `first` is the position of the first
    record in the table.
    """

    def works(records: pandas.DataFrame) -> bool:
        try:
            runtime.ask(records)
        except Exception:  # whatever a library raises, the records do not work
            return False
        return True

    low, high = 0, len(frame)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if works(frame.iloc[low:middle]) else (low, middle)
    failing = frame.iloc[[low]]
    if works(failing):
        return ""
    chosen = range(0, len(frame), max(1, len(frame) // 20))
    good = next((frame.iloc[[row]] for row in chosen if works(frame.iloc[[row]])), None)
    record = f"record {first + low + 1:,}"
    for j, name in enumerate(frame.columns if good is not None else ()):
        assert good is not None
        mended = failing.astype(object)
        mended.isetitem(j, [good.iloc[0, j]])
        if works(mended.infer_objects()):
            value = failing.iloc[0, j]
            value_text = "which is empty" if value is None or value != value else f"which is {quoted(value)}"
            return f"column {quoted(name)} of {record}, {value_text}"
    return record
