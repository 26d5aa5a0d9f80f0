"""What both kinds of model file have in common: what they take, what they answer, and what a library says is wrong."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from core.arrays import Floats

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True, kw_only=True)
class RawAnswers:
    """What a model said, as it said it: decisions, numbers or texts (n,), and probabilities (n, k).

    One column of these alone is the positive class's; `classes` are what they stand for, if the file says so.
    """

    labels: npt.NDArray[Any] | None
    probability: Floats | None
    classes: tuple[Any, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Takes:
    """What a model takes, as far as its file says, and what a reader should know about it (`notes`, a sentence each).

    Features are in the model's order, nameless if the file does not list them. Each must hold a "number", "whole
    number", "true or false", "text", or "any" where the file does not say; one of these stands for all where their
    number (`width`) is not known. A missing cell may be passed on if `takes_missing`, and may still be refused.
    """

    feature_names: tuple[str, ...]
    dtypes: tuple[str, ...]
    width: int | None
    takes_missing: bool
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime(Takes, ABC):
    """A model that was read and checked, ready to be asked."""

    @abstractmethod
    def ask(self, frame: pandas.DataFrame) -> RawAnswers:
        """Return the answers for records whose columns are the model's features in its order."""


def cause(error: BaseException) -> str:
    """Return what a library says went wrong as the rest of a sentence: one line, without its own file names."""
    text = str(error).rpartition("Status Message: ")[2] or type(error).__name__
    text = re.sub(r"^\[ONNXRuntimeError\] : \d+ : \w+ : ", "", text)
    text = re.sub(r"/onnxruntime_src/\S+:\d+ .*?\)(?: \[with [^\]]*\])? ", "", text)
    text = " ".join(text.split()).rstrip(".")
    return text if len(text) <= 200 else f"{text[:199]}…"


def stack(columns: list[Any], n: int) -> Floats:
    """Return columns, or tables, of scores of n records as one table (n, k)."""
    return np.column_stack([np.asarray(column, dtype=np.float64).reshape(n, -1) for column in columns])
