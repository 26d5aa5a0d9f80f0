"""Laplace noise for the worst attribute vector there could be (Hamman et al. 2023, theorems 5 and 6).

ε-differentially private among vectors in which both groups occur; the scale is public. Floating point: see `base`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from core.queries.mechanisms.base import AdditiveNoise
from core.queries.sensitivity import global_sensitivity


@dataclass(frozen=True, slots=True)
class LaplaceGlobal(AdditiveNoise):
    """Laplace noise of scale (global sensitivity)/ε, whoever is in the data."""

    noise: ClassVar[str] = "laplace"

    def scale(self, n_advantaged: int, n_disadvantaged: int, m: int) -> float:
        """Return the scale of the noise on each of m answers."""
        n = n_advantaged + n_disadvantaged
        return global_sensitivity(n, m, absolute=self.absolute, as_published=self.as_published) / self.epsilon

    def holds(self, n_advantaged: int, n_disadvantaged: int) -> bool:
        """Return whether the answers keep ε; the published noise for absolute gaps does not."""
        return not (self.as_published and self.absolute)

    def why(self, as_published: bool) -> str:
        """Return one sentence: what the published or the corrected version does, and why they differ."""
        if not self.absolute:
            return "Both versions are the same: the published sensitivity of signed gaps is right."
        if as_published:
            return (
                "As published, the noise is for absolute gaps that move by at most 1/2, but one that starts at 0 can "
                "move by n/(2(n − 1)), so the true privacy loss reaches ε n/(n − 1)."
            )
        return "Corrected: the noise is for absolute gaps that move by n/(2(n − 1)), where the paper says 1/2."
