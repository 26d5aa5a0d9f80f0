"""Settings of bias queries: what a plan's [bias_queries], the command, the page and an experiment set."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from ...base.param import Param
from ...base.serialize import UNSAID
from ...base.settings import Settings
from ...base.validation import LEAST_EPSILON
from .gaps import DESIGNS, SINGLE
from .mechanisms import DELTA, NOISE_TITLES, Mechanism, mechanism_of


@dataclass(frozen=True, slots=True, kw_only=True)
class BiasQueriesSettings(Settings):
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
    people: Annotated[
        int,
        Param(
            "Test-set size n",
            "People the queries are about, drawn from the test records.",
            least=4,
            most=5_000,
        ),
    ] = 100
    mechanism: Annotated[
        str, Param("Answer noise", "Noise on the answers: {options}.", options=NOISE_TITLES)
    ] = "noisy_sums"
    epsilon: Annotated[
        float,
        Param(
            "Privacy budget ε (all answers together)",
            "Privacy budget of all answers together; smaller is more private and less accurate. Exact and rounded "
            "answers have none.",
            least=LEAST_EPSILON,
            most=1_000.0,
            step=0.1,
            flag="--answer-epsilon",
        ),
    ] = 1.0
    decimals: Annotated[
        int, Param("Decimals of an answer", "Decimals of rounded answers.", least=0, most=15)
    ] = 3
    repeats: Annotated[
        int,
        Param("Repeats", "Repetitions with other people, queries and noise.", least=2, most=1_000),
    ] = 20
    design: Annotated[
        str,
        Param(
            "Query design", "Query design: {options}.", options={**DESIGNS, **SINGLE}, written=False
        ),
    ] = field(default="jitter", metadata=UNSAID)
    """A name of `DESIGNS`, or "single": question j accepts person j only, and the gap has no sign."""
    delta: Annotated[
        float,
        Param(
            "Failure probability δ",
            "Probability with which smooth_laplace may fail.",
            least=0.0,
            most=1.0,
            above=True,
            below=True,
            only=("mechanism", ("smooth_laplace",)),
        ),
    ] = field(default=DELTA, metadata=UNSAID)

    @property
    def answer_mechanism(self) -> Mechanism:
        """How answers are made."""
        return mechanism_of(
            self.mechanism,
            epsilon=self.epsilon,
            decimals=self.decimals,
            delta=self.delta,
            absolute=self.design in SINGLE,
        )
