"""What is set of AttriGuard, and its result: each attacker's accuracy as a function of the noise budget β.

A plan, a command and a page set the same, on a table and on ratings.

An attacker's guess about a person depends on which noise was drawn for them. All their m noisy records are shown to
every attacker beforehand; at a budget β their exposure is the probability, over random noise, that the
attacker infers their true value, Σ_i M_i [guess_i = truth]. So moving the budget computes a new mechanism M and a
weighted mean, nothing else, and nothing depends on one lucky draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from ...base.object_files import MEMO
from ...base.serialize import UNSAID, Result
from ...base.settings import Param, Settings
from ...base.validation import Floats, Ints, Mask
from ...stats.estimates import Estimate, accuracy, certain, equal_mean, mean, mean_rate
from .allocation import TARGETS, allocate, expected_size
from .attackers import ATTACKER_TITLES
from .panda import POLICIES
from .table import Pair
from .table_search import TABLE_DEFENDERS

MOST_BUDGET = 1_000.0

RATING_DEFENDERS = {
    "logistic": "Logistic regression",
    "logistic_smooth": "Logistic regression, smoother (C = 0.1)",
    "one_vs_rest": "One-vs-rest logistic regression",
    "network": "Neural network",
}
"""What the defender finds noise against on ratings, and what to call it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttriGuardSettings(Settings):
    """AttriGuard, where records are published with its noise.

    The target is uniform by default, for it tells nothing: with two unequal groups the shares of the attacker's records
    would still have most people inferred correctly.
    """

    budget: Annotated[
        float,
        Param(
            "AttriGuard: columns changed per person",
            "Columns AttriGuard changes per person on average; 0 if it is not used.",
            least=0.0,
            most=MOST_BUDGET,
            step=0.5,
        ),
    ] = 0.0
    defender: Annotated[
        str,
        Param(
            "Surrogate classifier",
            f"Classifier that the noise is optimised against: {{options}}; on a table {' or '.join(TABLE_DEFENDERS)}.",
            options=RATING_DEFENDERS | TABLE_DEFENDERS,
            written=False,
        ),
    ] = field(default="logistic", metadata=UNSAID)
    target: Annotated[
        str,
        Param(
            "Target distribution",
            "Target distribution p of inferences: {options}.",
            options=TARGETS,
            written=False,
        ),
    ] = field(default="uniform", metadata=UNSAID)
    margin: Annotated[
        float, Param("Margin", "Lead of the target value.", least=0.0, written=False)
    ] = field(default=0.0, metadata=UNSAID)
    attackers: Annotated[
        tuple[str, ...],
        Param(
            "Attackers",
            "Attackers, in this order; left out: all of a table, or of ratings.",
            options=ATTACKER_TITLES,
            written=False,
        ),
    ] = field(default=(), metadata=UNSAID)
    trained_budgets: Annotated[
        tuple[float, ...],
        Param(
            "Trained at",
            "Noise budgets that adaptive attackers are trained at, of which the nearest counts; left out: the budget.",
            least=0.0,
            written=False,
        ),
    ] = field(default=(), metadata=UNSAID)
    balanced: Annotated[
        bool,
        Param(
            "Count each value alike",
            "Findings and charts count each value alike (balanced accuracy); checks count people.",
            written=False,
        ),
    ] = field(default=False, metadata=UNSAID)
    frozen: Annotated[
        tuple[str, ...], Param("Frozen columns", "Columns the noise leaves alone.", written=False)
    ] = field(default=(), metadata=UNSAID)
    rules: Annotated[
        bool,
        Param(
            "Keep out pairs that never occur together",
            "Rules that keep pairs of values which never occur together out of changed records.",
            written=False,
        ),
    ] = field(default=True, metadata=UNSAID)
    forbidden_pairs: Annotated[
        tuple[Pair, ...],
        Param(
            "More pairs to keep out, a line each",
            "Pairs forbidden besides those in the data, such as [['relationship', 'Husband', 'education', '9th']].",
            written=False,
        ),
    ] = field(default=(), metadata=UNSAID)
    allowed_pairs: Annotated[
        tuple[Pair, ...],
        Param(
            "Found pairs to allow",
            "Pairs found in the data that are allowed all the same, as a list of lists.",
            written=False,
        ),
    ] = field(default=(), metadata=UNSAID)
    noise_policy: Annotated[
        str,
        Param(
            "The noise may",
            "Changes that the noise may make to ratings: {options}.",
            options=POLICIES,
            written=False,
        ),
    ] = field(default="modify_add", metadata=UNSAID)

    @property
    def trained_at(self) -> tuple[float, ...]:
        """Noise budgets that adversarial attackers are trained at."""
        return self.trained_budgets or (self.budget,)


_AXIS_ENDS = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
_LONGEST_AXIS = 200.0
_CURVE_STEPS = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Guesses(Result):
    """What one attacker names, with every noise."""

    attacker: str
    """A key of `core.studies.attriguard.ATTACKER_TITLES`."""
    trained_at: float | None = None
    """Budget of the noise the attacker was trained against; None for attackers that do not know any."""
    clean: Ints
    noisy: Ints
    """Guesses from the records without noise, (u,), and with the noise for value i, (u, m)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExposurePoint(Result):
    """One attacker at one budget β, in entries changed per person on average."""

    attacker: str
    budget: float
    accuracy: Estimate
    balanced: Estimate
    """Probability that the true value is named, over people and draws: the mean over people, and over the values."""
    reported: Estimate
    """The larger of `accuracy` and the majority-class baseline: an attacker who does worse would use that."""
    trained_at: float | None = None

    def rate(self, *, balanced: bool) -> Estimate:
        """Return `balanced` or `accuracy`."""
        if balanced:
            return self.balanced
        return self.accuracy


def strongest_point(points: Sequence[ExposurePoint], *, balanced: bool) -> ExposurePoint:
    """Return the attacker who is right most often: whom a chart shows highest and a sentence calls the best."""
    return max(points, key=lambda point: point.rate(balanced=balanced).value)


@dataclass(frozen=True, kw_only=True)
class Exposure(Result):
    """Everything a defender's noise does to a list of attackers, on the same u people."""

    attribute: str
    unit: str
    """Which attribute is private, and what one unit of noise is ("ratings", "columns")."""
    values: tuple[str, ...]
    """The attribute's m values."""
    truth: Ints = field(repr=False)
    predicted: Ints = field(repr=False)
    """True value, and what the defender's classifier reads off the clean record, (u,)."""
    size: Ints = field(repr=False)
    reached: Mask = field(repr=False)
    """Entries changed by each noise, and whether there is one, (u, m)."""
    target: Floats = field(repr=False)
    shares: Floats = field(repr=False)
    """Target distribution p, and the values' shares among the people everybody trains on, (m,)."""
    n_attacker_records: int = 0
    n_entries: int = 0
    """People everybody trains on, and entries of a record."""
    guesses: tuple[Guesses, ...] = ()
    defense: Any = field(default=None, repr=False, compare=False, metadata=MEMO)
    """The `core.studies.attriguard.Defense` that made it, for further questions about the same people; None where it
    was stored, as a defense holds fitted models."""

    @property
    def attackers(self) -> tuple[str, ...]:
        """The attackers, in the order they were added; "majority" is not among them."""
        return tuple(dict.fromkeys(guess.attacker for guess in self.guesses))

    @cached_property
    def majority(self) -> Estimate:
        """Accuracy of naming the value most frequent among the training people for everybody."""
        return accuracy(self.truth, np.full(self.truth.size, int(np.argmax(self.shares))))

    def baseline(self, *, balanced: bool) -> Estimate:
        """Return how often naming the most frequent value for everybody is right, as it is counted."""
        if not balanced:
            return self.majority
        present = np.unique(self.truth)  # accuracy counts alike the values that somebody has
        return certain(float((present == np.argmax(self.shares)).mean()), self.truth.size)

    def mechanism(self, budget: float) -> Floats:
        """Return how often each noise is used at a budget, (u, m); see `allocate`."""
        return allocate(self.size, self.target, budget, available=self.reached)

    def at(self, budget: float) -> tuple[ExposurePoint, ...]:
        """Return every attacker at a budget."""
        used = self.mechanism(budget)
        right = self.truth[:, None]
        return tuple(
            self._point(guess, np.einsum("ki,ki->k", used, guess.noisy == right), budget)
            for guess in self._attacking(budget)
        )

    @cached_property
    def unlimited_changes(self) -> Floats:
        """Entries that each person's noise changes on average where the budget is no limit, (u,)."""
        return expected_size(self.mechanism(float(self.size.max())), self.size)

    @cached_property
    def last_budget(self) -> float:
        """Right end of the budget's axis: from there on, nine of ten people need not save noise any more."""
        reach = float(np.quantile(self.unlimited_changes, 0.9))
        return next((end for end in _AXIS_ENDS if reach <= end * 1.1), _LONGEST_AXIS)

    @cached_property
    def curves(self) -> dict[str, tuple[ExposurePoint, ...]]:
        """Every attacker's points from no noise to `last_budget`."""
        budgets = np.linspace(0.0, self.last_budget, _CURVE_STEPS + 1).tolist()
        rows = [self.at(budget) for budget in budgets]
        return {name: tuple(row[i] for row in rows) for i, name in enumerate(self.attackers)}

    def undefended(self) -> tuple[ExposurePoint, ...]:
        """Return every attacker on the clean records, at budget 0."""
        return tuple(
            self._point(guess, (guess.clean == self.truth).astype(float), 0.0)
            for guess in self._attacking(0.0)
        )

    def spent(self, budget: float) -> Estimate:
        """Return the entries changed per person on average, over people."""
        return mean(expected_size(self.mechanism(budget), self.size))

    def _attacking(self, budget: float) -> list[Guesses]:
        """Return each attacker's guesses; of one trained against noise, those trained nearest to this budget."""
        nearest = []
        for name in self.attackers:
            guesses = [guess for guess in self.guesses if guess.attacker == name]
            nearest.append(min(guesses, key=lambda guess: abs((guess.trained_at or 0.0) - budget)))
        return nearest

    def _point(self, guess: Guesses, rates: Floats, budget: float) -> ExposurePoint:
        """Return the point of an attacker who names each person's true value this often, (u,)."""
        right = mean_rate(rates)
        reported = self.majority
        if right.value >= self.majority.value:
            reported = right
        return ExposurePoint(
            attacker=guess.attacker,
            budget=budget,
            accuracy=right,
            balanced=equal_mean(
                [mean_rate(rates[self.truth == value]) for value in np.unique(self.truth)]
            ),
            reported=reported,
            trained_at=guess.trained_at,
        )
