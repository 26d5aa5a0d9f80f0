"""What is set of bias queries, and their result, which grows by decoder.

The settings are those of a plan's [bias_queries], the command, the page and an experiment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from ...base.serialize import UNSAID, Result
from ...base.settings import Param, Settings
from ...base.validation import LEAST_EPSILON
from ...stats.estimates import Estimate, strongest
from .gaps import DESIGNS, SINGLE
from .guarantees import ErrorQuantiles
from .mechanisms import DELTA, NOISE_TITLES, Mechanism, mechanism_of
from .trials import Leak, QuestionAccuracy


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


@dataclass(frozen=True, slots=True, kw_only=True)
class BiasQueriesResult(Result):
    """What attackers recover from a number of answers, beside what they infer without."""

    attribute: str
    largest: str = ""
    """With more than two groups the one that is compared with everybody else; "" with two."""
    n_groups: int = 2
    n_people: int = 0
    """Test records."""
    sizes: tuple[int, int] = (0, 0)
    """How many of the people asked about are of the advantaged and the disadvantaged group."""
    prior: Estimate | None = None
    """Balanced accuracy from the features alone; None where nothing was measured."""
    leaks: tuple[Leak, ...] = ()
    """One a decoder, after as many answers as are planned."""
    errors: Mapping[str, ErrorQuantiles] = field(default_factory=dict)
    """Way to answer -> error of one of so many answers; those without noise have none."""
    accuracy: QuestionAccuracy | None = None
    """Of the queried models beside the audited one; None where these are no models."""
    metric: str = "statistical_parity"
    """Whose gap is asked for, which says of whom the accuracy is."""
    targeted: float = 1.0
    """Balanced accuracy against one person whom one query singles out with the whole budget."""
    ceiling: float | None = None
    """Balanced accuracy that no attacker with the prior can exceed, where that is known."""
    reason: str = ""
    """Why nothing was measured."""

    @property
    def best(self) -> Leak:
        """The leak of the decoder that gains most."""
        return max(self.leaks, key=lambda leak: leak.gain.value)

    @property
    def freedom(self) -> int:
        """Degrees of freedom of the intervals over repetitions."""
        return self.leaks[0].leakage.n - 1

    @property
    def gain(self) -> Estimate:
        """The gain of that decoder, with an interval that holds although it was picked among those tried."""
        gains = {leak.decoder: leak.gain for leak in self.leaks}
        return strongest(gains, freedom=self.freedom, within=(-1.0, 1.0))[1]
