"""What the noise does to the audited model's decisions: accuracy, unfairness, and every group's positive rate.

The audited model is trained as ever, on clean records; it decides on the protected people's noisy ones. Its decision
about a person depends on which noise is drawn for her, so each is counted by its probability: with acceptance
a_ki of person k under noise i, her expected decision is e_k = Σ_i M_ki a_ki. Accuracy is the mean probability of a
right decision, unfairness the distance between expected positive rates; the rates of single draws scatter around
them, the less the more people there are. Noise that hides an attribute is no fairness method: the gap may grow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from core.attriguard.allocation import expected_size
from core.attriguard.changes import Floats
from core.attriguard.table.guard import TableGuard
from core.config import AuditConfig
from core.datasets.dataset import AuditDataset
from core.datasets.splits import split
from core.errors import InputError
from core.estimates import Estimate, mean, mean_rate
from core.fairness import folded_difference, row_sets
from core.models import GIVEN, fit_model
from core.results import Result
from core.strongest import strongest
from core.validation import one_length


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPositive(Result):
    """How often a group's people are decided positively.

    Attributes
    ----------
    part, group : str
        The records the metric compares ("all", "label 0", "label 1"), and the group.
    """

    part: str
    group: str
    rate: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityPoint(Result):
    """The audited model at one budget.

    Attributes
    ----------
    budget : float or None
        β; None without noise.
    spent : Estimate
        Columns changed per person, on average.
    accuracy : Estimate
        Probability of a right decision, over people and draws.
    unfairness : Estimate
        Largest distance of a group's expected positive rate from everybody's, by the audit's metric.
    rates : tuple of GroupPositive
    """

    budget: float | None
    spent: Estimate
    accuracy: Estimate
    unfairness: Estimate
    rates: tuple[GroupPositive, ...]

    @property
    def gap(self) -> float:
        """Largest difference between two groups' positive rates, over the sets of records the metric compares.

        Groups without people count for nothing; nan where no set holds people of two groups.
        """
        own: dict[str, list[float]] = {}
        for rate in self.rates:
            if rate.rate.n:
                own.setdefault(rate.part, []).append(rate.rate.value)
        return max((max(values) - min(values) for values in own.values() if len(values) > 1), default=math.nan)


@dataclass(frozen=True, kw_only=True)
class TableUtility(Result):
    """The audited model's decisions with every noise, weighed by budget.

    Attributes
    ----------
    metric : str
        One of `core.fairness.METRICS`.
    labels : ndarray of shape (u,), 0 or 1
    clean : ndarray of shape (u,), in [0, 1]
        Probability of a positive decision without noise.
    noisy : ndarray of shape (u, m), in [0, 1]
        The same with the noise for each value.
    """

    guard: TableGuard = field(repr=False)
    metric: str
    labels: npt.NDArray[np.uint8] = field(repr=False)
    clean: Floats = field(repr=False)
    noisy: Floats = field(repr=False)

    def without_noise(self) -> UtilityPoint:
        """Return the model on the clean records."""
        return self._point(None, self.clean, np.zeros(self.labels.size))

    def at(self, budget: float) -> UtilityPoint:
        """Return the model at a budget."""
        used = self.guard.mechanism(budget)
        expected = np.einsum("ki,ki->k", used, self.noisy)
        return self._point(budget, expected, expected_size(used, self.guard.noise.size))

    def curve(self, budgets: Sequence[float]) -> tuple[UtilityPoint, ...]:
        """Return the model at these budgets."""
        return tuple(self.at(budget) for budget in budgets)

    def _point(self, budget: float | None, positive: Floats, spent: Floats) -> UtilityPoint:
        right = np.where(self.labels == 1, positive, 1.0 - positive)
        people = self.guard.people
        parts = row_sets(self.metric, self.labels, self.labels.size)
        chosen = [(part, np.ones(self.labels.size, bool) if rows is None else rows) for part, rows in parts]
        rates = tuple(
            GroupPositive(part=part, group=name, rate=mean_rate(positive[rows & (people.truth == group)]))
            for part, rows in chosen
            for group, name in enumerate(people.values)
        )
        return UtilityPoint(
            budget=budget,
            spent=mean(spent),
            accuracy=mean_rate(right),
            unfairness=_unfairness([(positive[rows], people.truth[rows]) for _, rows in chosen]),
            rates=rates,
        )


def table_utility(guard: TableGuard, dataset: AuditDataset, config: AuditConfig) -> TableUtility:
    """Train the audited model on the audit's training records and let it decide on the noisy test records.

    Raises
    ------
    InputError
        If the audited model was given as predictions: nobody knows what it says of other records.
    """
    if config.method == GIVEN:
        raise InputError(
            "What the noise does to the model's decisions needs a model that can be asked about changed records, not "
            "predictions that came with the table."
        )
    train = split(dataset, train_share=config.train_share, seed=config.seed).train
    model = fit_model(
        config.method,
        dataset.features[train],
        dataset.labels[train],
        dataset.sensitive[train],
        metric=config.metric,
        tolerance=config.tolerance,
        seed=config.seed,
        epsilon=config.epsilon,
        domains=dataset.domains,
    )
    return utility_of(guard, model.acceptance, labels=dataset.labels[guard.people.rows], metric=config.metric)


def utility_of(
    guard: TableGuard,
    acceptance: Callable[[Floats, npt.NDArray[np.uint8]], Floats],
    *,
    labels: npt.NDArray[np.uint8],
    metric: str = "statistical_parity",
) -> TableUtility:
    """Let any model decide on the noisy records.

    Parameters
    ----------
    acceptance : callable
        From records (n, d) and the people's groups (n,) to probabilities of a positive decision (n,).
    labels : ndarray of shape (u,), 0 or 1
        The protected people's.
    metric : str
        One of `core.fairness.METRICS`.

    Raises
    ------
    InputError
        If the metric is unknown, or compares records without people of two groups.
    """
    people = guard.people
    one_length(labels=labels, people=people.truth)
    for part, rows in row_sets(metric, labels, labels.size):
        if np.unique(people.truth if rows is None else people.truth[rows]).size < 2:
            raise InputError(f"Unfairness needs protected people of two groups with {part}, got fewer.")
    groups = people.truth.astype(np.uint8)
    u, m = guard.noise.size.shape
    noisy = acceptance(guard.noise.noisy, np.repeat(groups, m)).reshape(u, m)
    return TableUtility(guard=guard, metric=metric, labels=labels, clean=acceptance(people.public, groups), noisy=noisy)


def _unfairness(parts: Sequence[tuple[Floats, npt.NDArray[np.int64]]]) -> Estimate:
    """Return the largest distance of a group's mean from everybody's, over sets of (values, groups).

    A group's distance is its difference from all others times their share; the distances to the limits of the two
    means' intervals add as squares and are folded at 0; of all the distances compared (of two groups one, as they share
    it) the interval is that of `core.strongest`.
    """
    compared = []
    for values, groups in parts:
        present = np.unique(groups)
        own = present if present.size > 2 else present[[np.bincount(groups)[present].argmin()]]
        compared += [(values[groups == group], values[groups != group]) for group in own]
    found = {}
    for place, (inside, others) in enumerate(compared):
        rates, share = (mean_rate(inside), mean_rate(others)), others.size
        found[str(place)] = folded_difference(*rates, weight=share / (inside.size + share))
    _, largest = strongest(found, within=(0.0, 1.0))
    return replace(largest, n=sum(values.size for values, _ in parts))
