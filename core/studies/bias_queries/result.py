"""The result of bias queries, which grows by decoder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ...base.serialize import Result
from ...stats.estimates import Estimate, strongest
from .guarantees import ErrorQuantiles
from .trials import Leak, QuestionAccuracy


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
