"""A model somebody else trained, brought as a file: read, checked, and asked for its answers about a table's people."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from core.errors import FairLeakError, InputError
from core.models.files.answers import Answers, decide
from core.models.files.kinds import KINDS, MAX_BYTES, kind_of
from core.models.files.matching import matched
from core.models.files.runtime import RawAnswers, Runtime, blame, cause
from core.validation import unit_interval

if TYPE_CHECKING:
    import pandas

__all__ = ["BATCH", "ModelFile", "read_model"]

BATCH = 10_000
"""Records asked about at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFile:
    """A model from a file; see `read_model`.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    title : str
        The file's name.
    feature_names : tuple of str
        The columns it takes, in its order; empty if its file does not name them.
    dtypes : tuple of str
        What each of them must hold: "number", "whole number", "true or false", "text" or "any".
    width : int or None
        How many features it takes, if its file says so.
    notes : tuple of str
        What a reader should know about the file, a sentence each.
    fingerprint : str
        SHA-256 of the file.
    """

    kind: str
    title: str
    feature_names: tuple[str, ...]
    dtypes: tuple[str, ...]
    width: int | None
    notes: tuple[str, ...]
    fingerprint: str
    runtime: Runtime = field(repr=False)

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
        columns, notes = matched(frame, self.runtime, features)
        starts = range(0, len(columns), batch)
        parts, again, told = [], [], set()
        for start in starts:
            rows = columns.iloc[start : start + batch]
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                parts.append(self._asked(rows, start))
                again.append(self._asked(rows, start))
            told |= {cause(one.message) for one in warned if isinstance(one.message, Warning)}
            if report is not None:
                report(start + len(rows), len(columns))
        first, second = _joined(parts), _joined(again)
        found = decide(first, positive=positive, threshold=threshold)
        other = _differing(first, second)
        if other:
            drawn = (
                f"The model draws at random: asked again, it answers differently about {other:,} of {len(frame):,} "
                "people; the first answers are kept."
            )
            notes = (*notes, drawn)
        return Answers(
            labels=found.labels,
            scores=found.scores,
            positive=found.positive,
            classes=found.classes,
            repeatable=not other,
            notes=(*self.notes, *notes, *found.notes, *(f"The model warns: {text}." for text in sorted(told)[:3])),
        )

    def _asked(self, rows: pandas.DataFrame, start: int) -> RawAnswers:
        try:
            return self.runtime.ask(rows)
        except FairLeakError:
            raise
        except Exception as error:  # whatever the runtime raises about this table
            where = (
                "" if isinstance(error, MemoryError) else blame(self.runtime.ask, rows, start, self.runtime.examples)
            )
            raise InputError(f"The model cannot take {where or 'the table'}: {cause(error)}.") from None


def read_model(content: bytes, name: str, *, max_bytes: int = MAX_BYTES) -> ModelFile:
    """Read a model file without running anything in it and without writing to disk.

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
        If the file is of another kind (a pickle above all), damaged, too large, or holds something that is not on
        the list of what may be loaded or run. The message is one sentence.
    """
    kind = kind_of(content, name, max_bytes=max_bytes)
    runtime: Runtime
    if kind == "onnx":
        from core.models.files.onnx_model import open_onnx

        runtime = open_onnx(content, name)
    else:
        from core.models.files.skops_model import open_skops

        runtime = open_skops(content, name)
    return ModelFile(
        kind=kind,
        title=f"{name} ({KINDS[kind]})",
        feature_names=runtime.feature_names,
        dtypes=runtime.dtypes,
        width=runtime.width,
        notes=runtime.notes,
        fingerprint=hashlib.sha256(content).hexdigest(),
        runtime=runtime,
    )


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
    differ = np.zeros(1, dtype=bool)
    if first.labels is not None and second.labels is not None:
        differ = differ | (first.labels != second.labels)
    if first.probability is not None and second.probability is not None:
        same = (first.probability == second.probability) | (np.isnan(first.probability) & np.isnan(second.probability))
        differ = differ | ~same.all(axis=1)
    return int(differ.sum())
