"""Noise fitted to the groups there are, through the smooth sensitivity (Hamman et al. 2023, theorems 7 and 8).

Private among vectors in which both groups occur. The scale depends on the group sizes and so is itself not public: it
is for showing, not for releasing. Floating point: see `base`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from core.errors import InputError
from core.queries.mechanisms.base import AdditiveNoise, positive_epsilon
from core.queries.sensitivity import smooth_sensitivity


@dataclass(frozen=True, slots=True)
class _Smooth(AdditiveNoise):
    """What the two have in common: scale = factor × smooth sensitivity / ε."""

    factor: ClassVar[float]

    def beta(self, m: int) -> float:
        """Return the smoothness the noise needs for m questions."""
        raise NotImplementedError

    def scale(self, n_advantaged: int, n_disadvantaged: int, m: int) -> float:
        """Return the scale of the noise on each of m answers."""
        sensitivity = smooth_sensitivity(
            n_advantaged,
            n_disadvantaged,
            m,
            self.beta(m),
            absolute=self.absolute,
            as_published=self.as_published,
        )
        return self.factor * sensitivity / self.epsilon

    def holds(self, n_advantaged: int, n_disadvantaged: int) -> bool:
        """Return whether the answers keep ε.

        As published they do for 3 <= N0 <= N1: with 2 the neighbour is a group of one, whose scale is wrong. For
        absolute gaps with Laplace noise it is not shown.
        """
        if not self.as_published:
            return True
        return 3 <= n_disadvantaged <= n_advantaged and not (self.absolute and self.noise == "laplace")

    def why(self, as_published: bool) -> str:
        """Return one sentence: what the published or the corrected version does, and why they differ."""
        if as_published:
            return (
                "As published, the formula is used with the groups unsorted and with a group of one person, where it "
                "is not smooth: the noise then tells who is alone, at a privacy loss far above ε."
            )
        start = " and counts that an absolute gap can start at 0" if self.absolute else ""
        return (
            f"Corrected: the smaller group is found first{start}, and a group of one person gets the noise of a group "
            "of two, where the published formula is not smooth."
        )


@dataclass(frozen=True, slots=True)
class SmoothCauchy(_Smooth):
    """Attribute-Conceal: Cauchy noise of scale 6 S/ε with β = ε/(6m), ε-differentially private (theorem 7).

    Cauchy noise has no mean: speak of its median and of quantiles.
    """

    noise: ClassVar[str] = "cauchy"
    factor: ClassVar[float] = 6.0

    def beta(self, m: int) -> float:
        """Return the smoothness the noise needs for m questions."""
        return self.epsilon / (6 * m)


@dataclass(frozen=True, slots=True)
class SmoothLaplace(_Smooth):
    """Laplace noise of scale 2 S/ε with β = ε/(4(m + ln(2/δ))), (ε, δ)-differentially private (theorem 8).

    The theorem is stated for ε and δ below 1. Above, nothing is promised in general; for given questions and vectors δ
    can be bounded, and it kept to that wherever it was tried (ε up to 50).

    Attributes
    ----------
    delta : float, in (0, 1)
        Probability that the loss may exceed ε, roughly.
    """

    delta: float
    noise: ClassVar[str] = "laplace"
    factor: ClassVar[float] = 2.0

    def __post_init__(self) -> None:
        positive_epsilon(self.epsilon)
        if not 0 < self.delta < 1:
            raise InputError(f"delta must be in (0, 1), got {self.delta!r}.")

    def holds(self, n_advantaged: int, n_disadvantaged: int) -> bool:
        """Return whether (ε, δ) is proved for these answers; theorem 8 is stated for ε below 1 only."""
        return self.epsilon < 1 and _Smooth.holds(self, n_advantaged, n_disadvantaged)

    def beta(self, m: int) -> float:
        """Return the smoothness the noise needs for m questions."""
        return self.epsilon / (4 * (m + math.log(2 / self.delta)))
