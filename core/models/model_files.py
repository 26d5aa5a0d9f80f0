"""Models somebody else trained, as ONNX or skops files, asked in a process of their own.

A pickle, and whatever is a pickle inside (joblib, PyTorch), runs code of its author's choice while it is opened; Keras
files can hold such code in their layers. None of them is opened here, whatever their name says. `describe` and `answer`
are called in the process that may open a file.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.errors import FairLeakError, InputError
from ..base.untrusted import ask_child
from ..base.untrusted.confinement import is_unconfined_allowed
from ..base.validation import Codes, Ints, unit_interval
from ..datasets.build import as_predictions
from ..datasets.columns import megabytes, quoted
from ..datasets.dataset import Table
from ..datasets.roles import Roles, as_written
from .model_answers import Answers, Ask, QueryAccess, RawAnswers, Takes, cause, decide, matched

if TYPE_CHECKING:
    import pandas
    import pyarrow

KINDS = {"onnx": "ONNX", "skops": "skops"}
"""Kind -> what to call it; the kind is also the ending of the file's name."""

MAX_BYTES = 200 * 1024 * 1024
"""Largest model file."""

_REMEDY = "ask for the model as ONNX or skops"
_PICKLE = "opening a pickle can run any code hidden in it"
_LAYERS = "its layers can hold code that would be run"

_ENDINGS = {
    **dict.fromkeys((".pkl", ".pickle", ".p", ".joblib", ".sav", ".dill", ".cloudpickle"), _PICKLE),
    **dict.fromkeys(
        (".pt", ".pth", ".ckpt", ".bin", ".mar"),
        f"a PyTorch file is a pickle inside, and {_PICKLE}",
    ),
    **dict.fromkeys((".h5", ".hdf5", ".keras"), f"it is a Keras model, and {_LAYERS}"),
}
"""Endings of what people try -> why it is refused."""


def kind_of(content: bytes, name: str) -> str:
    """Return the kind of a model file, one of `KINDS`, without opening it.

    Raises `InputError` if it is too large, empty, or of another kind than these two or than its name says.
    """
    ending = PurePath(name).suffix.lower()
    kind = ending.removeprefix(".")
    if reason := _ENDINGS.get(ending):
        raise InputError(f"The file {quoted(name)} is refused because {reason}; {_REMEDY}.")
    if kind not in KINDS:
        raise InputError(
            f"A model file's name must end in .onnx or .skops, got {quoted(name)}; {_REMEDY}."
        )
    if not content:
        raise InputError(
            f"The file {quoted(name)} is empty; choose a model saved as ONNX or skops."
        )
    if len(content) > MAX_BYTES:
        raise InputError(
            f"A model file must not be larger than {megabytes(MAX_BYTES)}, got {megabytes(len(content))}; "
            "ask for a smaller model."
        )
    if content.startswith(b"PK\x03\x04") != (kind == "skops"):
        expected = KINDS["onnx"] if kind == "skops" else KINDS["skops"]
        raise InputError(
            f"The file {quoted(name)} is refused because it is not {KINDS[kind]}; if it is {expected}, let its name "
            f"end in .{expected.lower()}."
        )
    return kind


BATCH = 10_000
"""Records asked about at once."""

MAX_SECONDS = 600.0
"""Longest time a model may take to answer about a table."""

BATCH_SECONDS = 120.0
"""Longest time it may take for one batch of these, twice."""

OPENING_SECONDS = 60.0
"""Longest time a file may take to be opened."""

_MODULES = {
    "onnx": ("core.models.model_files", "core.models.onnx_model:rehearse", "pandas", "pyarrow"),
    "skops": ("core.models.model_files", "core.models.skops_model:rehearse", "pandas", "pyarrow"),
}
"""Kind -> what is imported, and called, before a file is opened: after that nothing can be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFile(Takes):
    """A model from a file, its kind of `KINDS`, the SHA-256 of its content; see `read_model`."""

    kind: str
    name: str
    fingerprint: str
    content: bytes = field(repr=False)

    @property
    def title(self) -> str:
        """Return the file's name and kind."""
        return f"{self.name} ({KINDS[self.kind]})"

    def answers(
        self,
        frame: pandas.DataFrame,
        *,
        positive: str = "",
        threshold: float = 0.5,
        features: Sequence[str] = (),
        batch: int = BATCH,
        report: Callable[[int, int], None] | None = None,
    ) -> Answers:
        """Ask the model about every record of a table, twice.

        A scikit-learn model answers exactly as its own `predict` and `predict_proba` do; a model as ONNX computes in
        32-bit floats as a rule and agrees with the one it was exported from to about seven digits. If the second
        answers differ from the first, the model draws at random; the first are kept and a note says so.

        Columns it does not ask for are ignored, with a note; `features` are the table's in its order, for a file that
        does not list them. `positive` is the answer that counts as 1, as text; if the answers are 0 and 1, -1 and 1, or
        false and true, it may be left out or be a word of the table's: a no for the first, any other for the second. A
        model that gives scores and no decisions decides 1 from the `threshold` in [0, 1] on. `report` hears of records
        asked about so far, and in all.

        Raises `InputError` if a column is missing or holds what the model cannot take, the model breaks, or its scores
        are no probabilities. The message is one sentence.
        """
        threshold = unit_interval(threshold, name="threshold")
        if len(frame) < 1 or batch < 1:
            raise InputError(
                f"A model needs at least one record to answer about, got {len(frame)}."
            )
        columns, notes = matched(frame, self, features)
        question = {"columns": columns, "batch": batch}
        reply, table = _ask(
            "answer", self.content, self.name, self.kind, MAX_SECONDS, report, **question
        )
        if table is None or table.num_rows != len(frame):
            raise InputError(
                "The model does not give one answer a record; ask for another export of it."
            )
        decided = decide(_raw(reply, table), positive=positive, threshold=threshold)
        if differing := int(reply["differing"]):
            drawn = (
                f"The model draws at random: asked again, it answers differently about {differing:,} of {len(frame):,} "
                "people; the first answers are kept."
            )
            notes = (*notes, drawn)
        warned = (f"The model warns: {text}." for text in reply["warnings"])
        return replace(decided, notes=(*self.notes, *notes, *decided.notes, *warned))


def read_model(content: bytes, name: str) -> ModelFile:
    """Open a model file in a process of its own, without running anything in it and without writing to disk.

    Raises `InputError` if the file is of another kind (a pickle above all), damaged, too large, crashes its reader, or
    holds something that is not on the list of what may be loaded or run. The message is one sentence.
    """
    kind = kind_of(content, name)
    reply, _ = _ask("describe", content, name, kind, OPENING_SECONDS)
    taken: dict[str, Any] = {}
    for attribute in fields(Takes):
        value = reply[attribute.name]
        taken[attribute.name] = tuple(value) if isinstance(value, list) else value
    return ModelFile(
        kind=kind,
        name=name,
        **taken,
        fingerprint=hashlib.sha256(content).hexdigest(),
        content=content,
    )


def _ask(
    function: str,
    content: bytes,
    name: str,
    kind: str,
    seconds: float,
    report: Callable[[int, int], None] | None = None,
    **more: Any,
) -> tuple[dict[str, Any], pyarrow.Table | None]:
    """Open a model file in a process of its own and call a function of `core.models.model_files` there."""
    return ask_child(
        f"The model file {quoted(name)}",
        f"core.models.model_files:{function}",
        {"content": content, "name": name, "kind": kind, **more},
        seconds=seconds,
        silence=BATCH_SECONDS,
        modules=_MODULES[kind],
        must_be_confined=not is_unconfined_allowed(),
        report=report,
    )


def _raw(reply: dict[str, Any], table: pyarrow.Table) -> RawAnswers:
    """Return what a child sent as the model's answers."""
    labels = None
    if reply["labels"] is not None:
        labels = np.array([str(label) for label in reply["labels"]], dtype=object)[
            table["label"].to_numpy()
        ]
    scores = [table[name].to_numpy() for name in table.column_names if name != "label"]
    probability = np.column_stack(scores).astype(np.float64) if scores else None
    classes = None if reply["classes"] is None else tuple(map(str, reply["classes"]))
    return RawAnswers(labels=labels, probability=probability, classes=classes)


def file_access(
    model: ModelFile,
    frame: pandas.DataFrame,
    *,
    positive: str,
    threshold: float,
    features: Sequence[str],
) -> QueryAccess:
    """Return access to a model file, which is opened in a child process each time; see `ModelFile.answers`."""
    import pandas as pd

    taken = [frame[name] for name in matched(frame, model, features)[0].columns]

    def ask(rows: Ints) -> Codes:
        cells = {
            column.name: column.iloc[rows[:, j]].reset_index(drop=True)
            for j, column in enumerate(taken)
        }
        return model.answers(
            pd.DataFrame(cells, copy=False),
            positive=positive,
            threshold=threshold,
            features=features,
        ).labels

    return len(taken), ask


def with_answers(
    table: Table,
    model_file: ModelFile,
    roles: Roles,
    *,
    positive: str = "",
    features: Sequence[str] = (),
) -> tuple[Table, Roles, tuple[str, ...]]:
    """Ask a model about everybody; return the table with its answers, the roles with their columns, and its notes.

    See `ModelFile.answers`. They are about the positive label of the roles, which `positive` is the answer for, if it
    has another name. The columns are called "model prediction" and "model score", with a number if these names are
    taken; the score's role is "" where the model has none.
    """
    positive = positive or as_written(table.frame, roles).positive
    answers = model_file.answers(
        table.frame, threshold=roles.threshold, positive=positive, features=features
    )
    frame = table.frame.copy(deep=False)

    def add(name: str, values: Any) -> str:
        numbered = (name, *(f"{name} {number}" for number in range(2, len(frame.columns) + 3)))
        free = next(candidate for candidate in numbered if candidate not in frame.columns)
        frame[free] = values
        return free

    prediction = add("model prediction", as_predictions(answers.labels, table.frame, roles))
    if answers.scores is None:
        score = ""
    else:
        score = add("model score", answers.scores)
    answered = replace(
        table,
        frame=frame,
        source=f"{table.source} Answers of the model {model_file.title}, SHA-256 {model_file.fingerprint[:12]}.",
    )
    roles = replace(roles, prediction=prediction, score=score, prediction_positive="")
    return answered, roles, answers.notes


_MOST_ANSWERS = 10_000


def _opened(content: bytes, name: str, kind: str) -> tuple[Takes, Ask]:
    if kind == "onnx":
        from .onnx_model import open_onnx

        return open_onnx(content, name)
    from .skops_model import open_skops

    return open_skops(content, name)


def describe(
    report: object, *, content: bytes, name: str, kind: str
) -> tuple[dict[str, Any], None]:
    """Open a model and return the fields of what it takes."""
    takes, _ = _opened(content, name, kind)
    return {attribute.name: getattr(takes, attribute.name) for attribute in fields(Takes)}, None


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

    _, ask = _opened(content, name, kind)
    parts = []
    differing = 0
    messages = set()
    for start in range(0, len(columns), batch):
        rows = columns.iloc[start : start + batch]
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            first, second = (_try(ask, rows, start) for _ in range(2))
        parts.append(first)
        differing += _differing(first, second)
        messages |= {
            cause(warning.message) for warning in warned if isinstance(warning.message, Warning)
        }
        report(start + len(rows), len(columns))
    labels = [part.labels for part in parts if part.labels is not None]
    tables = [part.probability for part in parts if part.probability is not None]
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
            raise InputError(
                f"The model gives more than {_MOST_ANSWERS:,} different answers; ask for a classifier."
            )
        summary["labels"] = [_text(label) for label in different.tolist()]
        values["label"] = places.astype(np.int32)
    if classes is not None:
        summary["classes"] = [_text(label) for label in classes]
    if tables:
        values |= {str(j): column for j, column in enumerate(np.concatenate(tables).T)}
    return summary, pa.table(values)


def _text(value: Any) -> str:
    """Return an answer as text; whole numbers without a decimal point."""
    if isinstance(value, float) and value == round(value):
        return str(int(value))
    return str(value)


def _differing(first: RawAnswers, second: RawAnswers) -> int:
    """Return about how many records two answers differ."""
    differ = np.zeros(1, dtype=bool)
    if first.labels is not None:
        differ = differ | (first.labels != second.labels)
    if first.probability is not None and second.probability is not None:
        same = np.isclose(first.probability, second.probability, rtol=0, atol=0, equal_nan=True)
        differ = differ | ~same.all(axis=1)
    return int(differ.sum())


def _try(ask: Ask, rows: pandas.DataFrame, start: int) -> RawAnswers:
    try:
        return ask(rows)
    except (FairLeakError, MemoryError):
        raise
    except Exception as error:  # whatever the runtime raises about this table
        where = _blame(ask, rows, start)
        raise InputError(f"The model cannot take {where or 'the table'}: {cause(error)}.") from None


def _blame(ask: Ask, frame: pandas.DataFrame, first: int) -> str:
    """Return which record, and where it shows which column of it, a model cannot take; nothing if it is no one record.

    Half of the records is asked again until one is left that fails. Then its cells are replaced, one at a time, by
    those of a record that does not; the cell whose replacement helps is the one. `first` is the position of the first
    record in the table.
    """

    def works(records: pandas.DataFrame) -> bool:
        try:
            ask(records)
        except Exception:  # whatever a library raises, the records do not work
            return False
        return True

    low = 0
    high = len(frame)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if works(frame.iloc[low:middle]) else (low, middle)
    failing = frame.iloc[[low]]
    if works(failing):
        return ""
    chosen = range(0, len(frame), max(1, len(frame) // 20))
    good = next((frame.iloc[[row]] for row in chosen if works(frame.iloc[[row]])), None)
    record = f"record {first + low + 1:,}"
    if good is None:
        return record
    for j, name in enumerate(frame.columns):
        mended = failing.astype(object)
        mended.isetitem(j, [good.iloc[0, j]])
        if works(mended.infer_objects()):
            value = failing.iloc[0, j]
            if value is None or value != value:
                value_text = "which is empty"
            else:
                value_text = f"which is {quoted(value)}"
            return f"column {quoted(name)} of {record}, {value_text}"
    return record
