"""What a user chooses about bias queries: how they are answered, and after how many the leak is read off."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from core.config import AuditConfig
from core.param import Param
from core.queries.mechanisms import Exact, LaplaceGlobal, Mechanism, NoisySums, Rounded, SmoothCauchy, SmoothLaplace
from core.settings import Settings, params

NOISES = {
    "exact": "None",
    "rounded": "Rounded",
    "laplace": "Laplace",
    "cauchy": "Cauchy",
    "smooth_laplace": "Smooth Laplace",
    "noisy_sums": "Noisy sums",
}
"""Ways to answer, and what to call them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering(Settings):
    """How answers are made; `absolute` ones do not tell the gap's sign."""

    noise: Annotated[str, Param("Noise on the answers", "How they are answered: {options}.", options=NOISES)] = "exact"
    epsilon: Annotated[
        float,
        Param(
            "Privacy budget ε (all answers together)", "Privacy budget of all answers together.", least=0.0, above=True
        ),
    ] = 5.0
    delta: Annotated[float, Param("Delta", "Of smooth_laplace.", least=0.0, most=1.0, above=True, below=True)] = 1e-5
    decimals: Annotated[int, Param("Decimals of an answer", "Of rounded answers.", least=0, most=15)] = 3
    as_published: Annotated[bool, Param("As published", "Noise as the paper prints it.")] = False
    absolute: bool = False

    @property
    def private(self) -> bool:
        """Whether a privacy budget applies."""
        return self.noise not in ("exact", "rounded")

    def mechanism(self, noise: str | None = None, *, epsilon: float | None = None) -> Mechanism:
        """Return the mechanism of these settings, or another kind of noise with the same settings."""
        absolute, budget = self.absolute, self.epsilon if epsilon is None else epsilon
        told: dict[str, Any] = {"absolute": absolute, "as_published": self.as_published}
        make: dict[str, Callable[[], Mechanism]] = {
            "exact": lambda: Exact(absolute=absolute),
            "rounded": lambda: Rounded(self.decimals, absolute=absolute),
            "laplace": lambda: LaplaceGlobal(budget, **told),
            "cauchy": lambda: SmoothCauchy(budget, **told),
            "smooth_laplace": lambda: SmoothLaplace(budget, self.delta, **told),
            "noisy_sums": lambda: NoisySums(budget, absolute=absolute),
        }
        return make[noise or self.noise]()


@dataclass(frozen=True, slots=True, kw_only=True)
class RevealSettings(Settings):
    """Which model is asked about, and after how many answers its leak is measured: None follows from the people."""

    questions: Annotated[
        tuple[int, ...] | None,
        Param("Answered questions", "Numbers of questions, such as 10,25,40.", least=0, some=True),
    ] = None
    model_epsilon: Annotated[float, params(AuditConfig)["epsilon"].param] = math.inf
