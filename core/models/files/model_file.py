"""A model somebody else trained, brought as a file: opened and asked in a process of its own, never in this one."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from core.datasets.columns import quoted
from core.errors import InputError
from core.models.files.answers import Answers, decide
from core.models.files.kinds import KINDS, MAX_BYTES, kind_of
from core.models.files.matching import matched
from core.models.files.runtime import RawAnswers, Takes
from core.untrusted import Child
from core.validation import unit_interval

if TYPE_CHECKING:
    import pandas
    import pyarrow


BATCH = 10_000
"""Records asked about at once."""

MAX_SECONDS = 600.0
"""Longest time a model may take to answer about a table."""

OPENING_SECONDS = 60.0
"""Longest time a file may take to be opened."""

_MODULES = {
    "onnx": ("core.models.files.opened", "core.models.files.onnx_model", "onnxruntime", "pandas", "pyarrow"),
    "skops": ("core.models.files.opened", "core.models.files.skops_model", "skops.io", "sklearn.ensemble", "pyarrow"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFile(Takes):
    """A model from a file; see `read_model`.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    name : str
        The file's name.
    fingerprint : str
        SHA-256 of the file.
    """

    kind: str
    name: str
    fingerprint: str
    content: bytes = field(repr=False)
    child: Child = field(repr=False, compare=False)

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

        Parameters
        ----------
        frame : DataFrame of n rows
            Columns the model does not ask for are ignored, with a note.
        positive : str
            The answer that counts as 1, as text. If the answers are 0 and 1, -1 and 1, or false and true, it may be
            left out or be a word of the table's for the second.
        threshold : float in [0, 1]
            From which score on the decision is 1, for a model that gives scores and no decisions.
        features : sequence of str
            The table's columns in the model's order, for a model whose file does not name them.
        batch : int
            Records asked about at once.
        report : callable, optional
            Called with records asked about so far, and in all.

        Raises
        ------
        InputError
            If a column is missing or holds what the model cannot take, the model breaks, or its scores are no
            probabilities. The message is one sentence.
        """
        threshold = unit_interval(threshold, name="threshold")
        if len(frame) < 1 or batch < 1:
            raise InputError(f"A model needs at least one record to answer about, got {len(frame)}.")
        columns, notes = matched(frame, self, features)
        question = {"columns": columns, "batch": batch}
        function = "core.models.files.opened:answer"
        told, table = self.child.ask(function, question, seconds=MAX_SECONDS, report=report)
        if told.get("closed"):
            question["opening"] = {"content": self.content, "name": self.name, "kind": self.kind}
            told, table = self.child.ask(function, question, seconds=MAX_SECONDS, report=report)
        self.child.close()
        if table is None or table.num_rows != len(frame):
            raise InputError("The model does not give one answer a record; ask for another export of it.")
        found = decide(_raw(told, table), positive=positive, threshold=threshold)
        differing = int(told["differing"])
        if differing:
            drawn = (
                f"The model draws at random: asked again, it answers differently about {differing:,} of {len(frame):,} "
                "people; the first answers are kept."
            )
            notes = (*notes, drawn)
        return Answers(
            labels=found.labels,
            scores=found.scores,
            positive=found.positive,
            classes=found.classes,
            repeatable=not differing,
            notes=(*self.notes, *notes, *found.notes, *(f"The model warns: {text}." for text in told["warnings"])),
        )


def read_model(content: bytes, name: str, *, max_bytes: int = MAX_BYTES) -> ModelFile:
    """Open a model file in a process of its own, without running anything in it and without writing to disk.

    Parameters
    ----------
    content : bytes
        The whole file.
    name : str
        The file's name, which must end in .onnx or .skops.
    max_bytes : int
        Largest file.

    Raises
    ------
    InputError
        If the file is of another kind (a pickle above all), damaged, too large, crashes its reader, or holds something
        that is not on the list of what may be loaded or run. The message is one sentence.
    """
    kind = kind_of(content, name, max_bytes=max_bytes)
    child = Child(f"The model file {quoted(name)}", _MODULES[kind])
    taken = _describe(child, content, name, kind)
    return ModelFile(
        kind=kind,
        name=name,
        **taken,
        fingerprint=hashlib.sha256(content).hexdigest(),
        content=content,
        child=child,
    )


def _describe(child: Child, content: bytes, name: str, kind: str) -> dict[str, Any]:
    arguments = {"content": content, "name": name, "kind": kind}
    told = child.ask("core.models.files.opened:describe", arguments, seconds=OPENING_SECONDS)[0]
    return {
        one.name: tuple(told[one.name]) if isinstance(told[one.name], list) else told[one.name] for one in fields(Takes)
    }


def _raw(told: dict[str, Any], table: pyarrow.Table) -> RawAnswers:
    """Return what a child sent as the model's answers."""
    labels: npt.NDArray[Any] | None = None
    if told["labels"] is not None:
        labels = np.array([str(one) for one in told["labels"]], dtype=object)[table["label"].to_numpy()]
    scores = [table[name].to_numpy() for name in table.column_names if name != "label"]
    return RawAnswers(
        labels=labels,
        probability=np.column_stack(scores).astype(np.float64) if scores else None,
        classes=None if told["classes"] is None else tuple(str(one) for one in told["classes"]),
    )
