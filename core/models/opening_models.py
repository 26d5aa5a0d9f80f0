"""A model file in the process that may open it: what it takes, and what it answers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from core.errors import FairLeakError, InputError
from core.models.runtime import RawAnswers, Runtime, Takes, blame, cause

if TYPE_CHECKING:
    import pandas
    import pyarrow

_MOST_ANSWERS = 10_000


def describe(
    kept: dict[str, Any], report: object, *, content: bytes, name: str, kind: str
) -> tuple[dict[str, Any], None]:
    """Open a model, keep it, and return the fields of what it takes."""
    runtime: Runtime
    if kind == "onnx":
        from core.models.onnx_model import open_onnx

        runtime = open_onnx(content, name)
    else:
        from core.models.skops_model import open_skops

        runtime = open_skops(content, name)
    kept["runtime"] = runtime
    return {one.name: getattr(runtime, one.name) for one in fields(Takes)}, None


def answer(
    kept: dict[str, Any],
    report: Callable[[int, int], None],
    *,
    columns: pandas.DataFrame,
    batch: int,
    opening: dict[str, Any] | None = None,
) -> tuple[dict[str, Any], pyarrow.Table | None]:
    """Ask the model that was opened, or is opened now as `describe` is asked to, about every record, twice.

    The process that opened it may have made room for another since; {"closed": True} is all it says then. Otherwise:
    "labels", the different decisions as texts; "classes", what the columns of scores stand for; "differing", about how
    many records are answered otherwise the second time; "warnings", what libraries say; and a table of n rows: "label",
    the place of each decision in the list, and "0", "1", …, the scores.
    """
    import pandas as pd
    import pyarrow as pa

    if opening is not None:
        describe(kept, report, **opening)
    if "runtime" not in kept:
        return {"closed": True}, None
    runtime: Runtime = kept["runtime"]
    parts, again, told = [], [], set()
    for start in range(0, len(columns), batch):
        rows = columns.iloc[start : start + batch]
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            parts.append(_asked(runtime, rows, start))
            again.append(_asked(runtime, rows, start))
        told |= {cause(one.message) for one in warned if isinstance(one.message, Warning)}
        report(start + len(rows), len(columns))
    first, second = _joined(parts), _joined(again)
    values: dict[str, Any] = {}
    said: dict[str, Any] = {"labels": None, "classes": None, "warnings": sorted(told)[:3]}
    if first.labels is not None:
        places, different = pd.factorize(first.labels, use_na_sentinel=False)
        if len(different) > _MOST_ANSWERS:
            raise InputError(f"The model gives more than {_MOST_ANSWERS:,} different answers; ask for a classifier.")
        said["labels"], values["label"] = [_text(one) for one in different.tolist()], places.astype(np.int32)
    if first.classes is not None:
        said["classes"] = [_text(one) for one in first.classes]
    if first.probability is not None:
        values |= {str(j): first.probability[:, j] for j in range(first.probability.shape[1])}
    said["differing"] = _differing(first, second)
    return said, pa.table(values)


def _text(value: Any) -> str:
    """Return an answer as text; whole numbers without a decimal point."""
    return str(int(value)) if isinstance(value, float) and value == round(value) else str(value)


def _asked(runtime: Runtime, rows: pandas.DataFrame, start: int) -> RawAnswers:
    try:
        return runtime.ask(rows)
    except (FairLeakError, MemoryError):
        raise
    except Exception as error:  # whatever the runtime raises about this table
        where = blame(runtime.ask, rows, start, runtime.examples)
        raise InputError(f"The model cannot take {where or 'the table'}: {cause(error)}.") from None


def _joined(parts: list[RawAnswers]) -> RawAnswers:
    labels = [part.labels for part in parts if part.labels is not None]
    tables = [part.probability for part in parts if part.probability is not None]
    return RawAnswers(
        labels=np.concatenate(labels) if labels else None,
        probability=np.concatenate(tables) if tables else None,
        classes=parts[0].classes,
    )


def _differing(first: RawAnswers, second: RawAnswers) -> int:
    """Return about how many records two answers differ."""
    differ: npt.NDArray[np.bool_] = np.zeros(1, dtype=bool)
    if first.labels is not None and second.labels is not None:
        differ = differ | (first.labels != second.labels)
    if first.probability is not None and second.probability is not None:
        same = (first.probability == second.probability) | (np.isnan(first.probability) & np.isnan(second.probability))
        differ = differ | ~same.all(axis=1)
    return int(differ.sum())
