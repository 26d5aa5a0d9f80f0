"""What both kinds of model file have in common: what they take, answer, and why they fail."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from core.datasets.columns import quoted

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True, kw_only=True)
class RawAnswers:
    """What a model said, as it said it: decisions, numbers or texts (n,), and probabilities (n, k).

    One column of these alone is the positive class's; `classes` are what they stand for, if the file says so.
    """

    labels: npt.NDArray[Any] | None
    probability: npt.NDArray[np.float64] | None
    classes: tuple[Any, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Takes:
    """What a model takes, as far as its file says, and what a reader should know about it (`notes`, a sentence each).

    Features are in the model's order, nameless if the file does not name them. Each must hold a "number", "whole
    number", "true or false", "text", or "any" where the file does not say; one of these stands for all where their
    number (`width`) is not known. A missing cell may be passed on if `takes_missing`, and may still be refused.
    """

    feature_names: tuple[str, ...]
    dtypes: tuple[str, ...]
    width: int | None
    takes_missing: bool
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime(Takes, ABC):
    """A model that was read and checked, ready to be asked; `examples` are values each feature should take."""

    examples: tuple[tuple[Any, ...], ...]

    @abstractmethod
    def ask(self, frame: pandas.DataFrame) -> RawAnswers:
        """Return the answers for records whose columns are the model's features in its order."""


def cause(error: BaseException) -> str:
    """Return what a library says went wrong as the rest of a sentence: one line, without its own file names."""
    if isinstance(error, MemoryError):
        return "it needs more memory than it is given"
    text = str(error).rpartition("Status Message: ")[2] or type(error).__name__
    text = re.sub(r"^\[ONNXRuntimeError\] : \d+ : \w+ : ", "", text)
    text = re.sub(r"/onnxruntime_src/\S+:\d+ .*?\)(?: \[with [^\]]*\])? ", "", text)
    text = " ".join(text.split()).rstrip(".")
    return text if len(text) <= 200 else f"{text[:199]}…"


def blame(
    ask: Callable[[pandas.DataFrame], object],
    frame: pandas.DataFrame,
    first: int,
    examples: Sequence[tuple[Any, ...]] = (),
) -> str:
    """Return which column of records that failed together is to blame, and where, or nothing if no one column is.

    Half of the records is asked again until one is left that fails. Then its cells are replaced from the left by those
    of a record that does not, or by `examples` of harmless values if there is none; the cell whose replacement helps is
    the one. `first` is the position of the first record in the table, and `ask` raises for a frame it cannot take.
    """
    low, high = 0, len(frame)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if not _works(ask, frame.iloc[low:middle]) else (middle, high)
    failing = frame.iloc[[low]]
    if _works(ask, failing):
        return ""
    chosen = range(0, len(frame), max(1, len(frame) // 20))
    good = next((frame.iloc[[row]] for row in chosen if _works(ask, frame.iloc[[row]])), None)
    if good is not None:
        examples = [(good.iloc[0, j],) for j in range(good.shape[1])]
    mended = failing.astype(object)
    for j, (name, others) in enumerate(zip(failing.columns, examples, strict=False)):
        value = failing.iloc[0, j]
        for other in others:
            mended.isetitem(j, [other])
            if _works(ask, mended.infer_objects()):
                shown = "which is empty" if _is_missing(value) else f"which is {quoted(value)}"
                return f"column {quoted(name)} of record {first + low + 1:,}, {shown}"
        if len(others) != 1:  # which of them is right is not known
            mended.isetitem(j, [value])
    return ""


def _works(ask: Callable[[pandas.DataFrame], object], frame: pandas.DataFrame) -> bool:
    try:
        ask(frame)
    except Exception:  # whatever a library raises, the record does not work
        return False
    return True


def _is_missing(value: Any) -> bool:
    return value is None or value != value
