"""What a user chooses about bias queries: how they are answered, whom they are about, how many answers are planned."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Annotated, Any

from core.config import AuditConfig
from core.errors import InputError
from core.param import Param
from core.queries.gaps import DESIGNS
from core.queries.mechanisms import Exact, LaplaceGlobal, Mechanism, NoisySums, Rounded, SmoothCauchy, SmoothLaplace
from core.serialize import Result
from core.settings import Settings, params, validate
from core.validation import LEAST_EPSILON, seed_value

NOISES = {
    "exact": "None",
    "rounded": "Rounded",
    "laplace": "Laplace",
    "cauchy": "Cauchy",
    "smooth_laplace": "Smooth Laplace",
    "noisy_sums": "Noisy sums",
}
"""Ways to answer, and what to call them."""

NOISE_TITLES = NOISES | {
    "cauchy": "Cauchy (paper)",
    "smooth_laplace": "Smooth Laplace (paper)",
    "noisy_sums": "Noisy sums (ours)",
}
"""The same with whose they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering(Settings):
    """How answers are made; `absolute` ones do not tell the gap's sign."""

    noise: Annotated[str, Param("Answer noise", "Noise on the answers: {options}.", options=NOISE_TITLES)] = "exact"
    epsilon: Annotated[
        float,
        Param(
            "Privacy budget ε (all answers together)",
            "Privacy budget of all answers together; smaller is more private and less accurate. Exact and rounded "
            "answers have none.",
            least=0.0,
            above=True,
        ),
    ] = 5.0
    delta: Annotated[
        float,
        Param(
            "Failure probability δ",
            "Probability with which smooth_laplace may fail.",
            least=0.0,
            most=1.0,
            above=True,
            below=True,
        ),
    ] = 1e-5
    decimals: Annotated[int, Param("Decimals of an answer", "Decimals of rounded answers.", least=0, most=15)] = 3
    as_published: Annotated[bool, Param("Paper's protocol", "Noise scales as the paper prints them.")] = False
    absolute: bool = False

    @property
    def private(self) -> bool:
        """Whether a privacy budget applies."""
        return self.noise not in ("exact", "rounded")

    def mechanism(self, noise: str | None = None, *, epsilon: float | None = None) -> Mechanism:
        """Return the mechanism of these settings, or another kind of noise with the same settings."""
        absolute, budget = self.absolute, self.epsilon if epsilon is None else epsilon
        kind: dict[str, Any] = {"absolute": absolute, "as_published": self.as_published}
        make: dict[str, Callable[[], Mechanism]] = {
            "exact": lambda: Exact(absolute=absolute),
            "rounded": lambda: Rounded(self.decimals, absolute=absolute),
            "laplace": lambda: LaplaceGlobal(budget, **kind),
            "cauchy": lambda: SmoothCauchy(budget, **kind),
            "smooth_laplace": lambda: SmoothLaplace(budget, self.delta, **kind),
            "noisy_sums": lambda: NoisySums(budget, absolute=absolute),
        }
        return make[noise or self.noise]()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking(Result):
    """What is asked, of how many people and how often."""

    n: Annotated[
        int, Param("Test-set size n", "People the queries are about, drawn from the test records.", 4, flag="--people")
    ] = 100
    design: Annotated[str, Param("Query design", "How queries are made: {options}.", options=DESIGNS)] = "jitter"
    """One of `core.queries.DESIGNS`, or "single": question j accepts person j only (for absolute gaps)."""
    repeats: Annotated[int, Param("Repeats", "Draws of people, queries and noise.", least=1)] = 50
    seed: int = 42
    width: float = 0.1
    """Half width of the jitter, in (0, 1]."""

    def __post_init__(self) -> None:
        validate(self, but=("n", "design") if self.design == "single" else ("n",))  # the pool says how many it can give
        seed_value(self.seed)
        if not 0.0 < self.width <= 1.0:
            raise InputError(f"width must be in (0, 1], got {self.width}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class RevealSettings(Settings):
    """Which model is asked about, and after how many answers its leak is measured: None follows from the people."""

    questions: Annotated[
        tuple[int, ...] | None,
        Param("Answered queries m", "Numbers of answered queries, such as 10,25,40.", least=0, some=True),
    ] = None
    model_epsilon: Annotated[float, params(AuditConfig)["epsilon"].param] = math.inf


_ANSWERING, _ASKING = params(Answering), params(Asking)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedAnswers(Settings):
    """The answers to bias queries that are planned, about people drawn from the test records."""

    questions: Annotated[
        int,
        Param(
            "Planned answers",
            "Answers to bias queries that are planned; 0 for none. More than 100 take long.",
            least=0,
            most=1_000,
        ),
    ] = 0
    people: Annotated[int, replace(_ASKING["n"].param, most=5_000)] = 100
    mechanism: Annotated[
        str,
        replace(
            _ANSWERING["noise"].param,
            options={key: name for key, name in NOISE_TITLES.items() if key != "smooth_laplace"},
        ),
    ] = "noisy_sums"
    epsilon: Annotated[
        float, replace(_ANSWERING["epsilon"].param, least=LEAST_EPSILON, most=1_000.0, step=0.1, above=False)
    ] = 1.0
    decimals: Annotated[int, _ANSWERING["decimals"].param] = 3
    repeats: Annotated[int, replace(_ASKING["repeats"].param, least=2, most=1_000)] = 20

    @property
    def answering(self) -> Answering:
        """How they are made."""
        return Answering(noise=self.mechanism, epsilon=self.epsilon, decimals=self.decimals)
