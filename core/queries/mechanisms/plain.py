"""Answers without noise: exact ones, and ones rounded to some decimals (which protects nobody)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.queries.checks import Floats
from core.queries.mechanisms.base import Mechanism


@dataclass(frozen=True, slots=True)
class Exact(Mechanism):
    """The gaps as they are."""


@dataclass(frozen=True, slots=True)
class Rounded(Mechanism):
    """The gaps, rounded.

    Attributes
    ----------
    decimals : int, 0 to 15
    """

    decimals: int
    noise: ClassVar[str] = "rounding"

    def __post_init__(self) -> None:
        whole = isinstance(self.decimals, (int, np.integer)) and not isinstance(self.decimals, bool)
        if not whole or not 0 <= self.decimals <= 15:
            raise InputError(f"decimals must be a whole number from 0 to 15, got {self.decimals!r}.")

    @property
    def half_width(self) -> float:
        """How far rounding can take an answer from the true one."""
        return 0.5 * 10.0**-self.decimals

    def _answers(self, h: Floats, a: npt.NDArray[np.uint8], rng: np.random.Generator, draws: int) -> Floats:
        return np.tile(np.round(self.exact(h, a), self.decimals), (draws, 1))
