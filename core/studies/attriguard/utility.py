"""What the noise costs: recommendations on ratings, the model's decisions on a table.

Recommendations: five ratings of every person are set aside. From the others, clean or with noise, a truncated singular
value decomposition of the known people's ratings recommends ten items they have not rated; precision is the share of
them among the five. The control recommends everybody the most popular items.

Decisions: the audited model is trained as ever, on clean records; it decides on the protected people's noisy ones. Its
decision about a person depends on which noise is drawn for them, so each is counted by its probability: with acceptance
a_ki of person k under noise i, their expected decision is e_k = Σ_i M_ki a_ki. Accuracy is the mean probability of a
right decision, unfairness the distance between expected positive rates; the rates of single draws scatter around them,
the less the more people there are. Noise that hides an attribute is no fairness method: the gap may grow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...base.errors import InputError
from ...base.serialize import Result
from ...base.validation import Codes, Floats, Ints, child_generator, child_seed, one_length
from ...datasets.dataset import AuditDataset
from ...datasets.splits import split
from ...models import GIVEN_PREDICTIONS
from ...stats.estimates import LEVEL, Estimate, mean, mean_rate, normal_quantile, strongest
from ...stats.fairness import distance_from_all, largest_difference, row_sets
from ..subject import AuditConfig, fit_rows
from .allocation import RepresentativeNoise
from .defense import RatingsDefense, TableDefense

RECOMMENDED = 10
"""Items that everybody is recommended."""

_SET_ASIDE = 5
_MOST_PEOPLE = 400  # who are measured
_RANK = 15  # directions of the factorisation
_ROWS = 500  # records whose scores for all items are held at a time


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation(Result):
    """Precision of the recommendations for u people, with each of their m noises.

    `clean` and `popular`, (u,), are shares of the items recommended that were set aside: from the clean ratings, and of
    the most popular items; `noisy`, (u, m), from the ratings with the noise for each value. `noise` is drawn
    towards the `target` distribution.
    """

    clean: Floats
    popular: Floats
    noisy: Floats
    noise: RepresentativeNoise
    target: Floats

    def at(self, budget: float) -> Estimate:
        """Return the precision at a budget, over people and draws."""
        return mean(self._expected(budget))

    def change(self, budget: float) -> Estimate:
        """Return by how much the precision of the same people changes at a budget."""
        return mean(self._expected(budget) - self.clean)

    def _expected(self, budget: float) -> Floats:
        return np.einsum("ki,ki->k", self.noise.mechanism(self.target, budget), self.noisy)

    @property
    def before(self) -> Estimate:
        """Precision without noise."""
        return mean(self.clean)

    @property
    def control(self) -> Estimate:
        """Precision of recommending the most popular items."""
        return mean(self.popular)


def recommendation(defense: RatingsDefense) -> Recommendation:
    """Measure recommendations before and after the noise, of people drawn among those to protect.

    InputError if none of them rated at least six items.
    """
    from sklearn.decomposition import TruncatedSVD

    ratings = defense.ratings
    seed = defense.seed
    rng = child_generator(seed, "guard recommendation")
    rich = np.flatnonzero(np.diff(ratings.people_test.indptr) > _SET_ASIDE)
    if not rich.size:
        raise InputError(
            f"Recommendations need somebody with more than {_SET_ASIDE} ratings, got nobody."
        )
    chosen = np.sort(rng.permutation(rich)[:_MOST_PEOPLE])
    remaining, aside = _set_aside(ratings.people_test[chosen], rng)
    noise = defense.noise_of(remaining)
    rank = max(1, min(_RANK, ratings.people_train.shape[1] - 1, ratings.people_train.shape[0] - 1))
    model = TruncatedSVD(rank, random_state=child_seed(seed, "guard factorisation")).fit(
        ratings.people_train
    )
    fame = np.asarray((ratings.people_train > 0).sum(axis=0), dtype=np.float64).ravel()
    owner = np.repeat(np.arange(chosen.size), noise.size.shape[1])

    def taste(rows: Any) -> Any:
        return model.transform(rows) @ model.components_

    clean = _precision(remaining, aside, taste)
    noisy = clean[owner]
    changed = np.flatnonzero(noise.size.ravel())
    noisy[changed] = _precision(noise.noisy[changed], aside[owner[changed]], taste)
    popular = _precision(remaining, aside, lambda rows: np.tile(fame, (rows.shape[0], 1)))
    return Recommendation(
        clean=clean,
        popular=popular,
        noisy=noisy.reshape(noise.size.shape),
        noise=noise,
        target=defense.target,
    )


def _set_aside(people: Any, rng: np.random.Generator) -> tuple[Any, Ints]:
    """Take five ratings of everybody away; return what is left and the items taken, (u, 5)."""
    left = people.copy()
    taken = np.empty((people.shape[0], _SET_ASIDE), dtype=np.int64)
    for k in range(people.shape[0]):
        positions = rng.choice(
            np.arange(people.indptr[k], people.indptr[k + 1]), size=_SET_ASIDE, replace=False
        )
        taken[k] = people.indices[positions]
        left.data[positions] = 0.0
    left.eliminate_zeros()
    return left, taken


def _precision(records: Any, aside: Ints, score: Any) -> Floats:
    """Return the share of the best scored items not yet rated that are among those set aside, one a record."""
    precision = np.empty(records.shape[0])
    for start in range(0, records.shape[0], _ROWS):
        rows = records[start : start + _ROWS]
        scores = score(rows)
        scores[np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr)), rows.indices] = -np.inf
        best = np.argpartition(-scores, min(RECOMMENDED, scores.shape[1] - 1), axis=1)[
            :, :RECOMMENDED
        ]
        hits = (best[:, :, None] == aside[start : start + _ROWS, None, :]).any(axis=2)
        precision[start : start + _ROWS] = hits.mean(axis=1)
    return precision


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilityPoint(Result):
    """The audited model's decisions at one budget, or without noise.

    `accuracy` is the probability of a right decision, over people and draws; `unfairness` the largest distance of a
    group's expected positive rate from everybody's, by the audit's metric, and `change` by how much it differs from
    that of the same people without noise; `gap` the largest difference between two groups' rates, over the sets of
    records the metric compares.
    """

    accuracy: Estimate
    unfairness: Estimate
    change: Estimate
    gap: float


@dataclass(frozen=True, kw_only=True)
class TableUtility(Result):
    """The audited model's decisions with every noise, weighed by budget.

    `labels` (u,) are 0 or 1; `clean` (u,) and `noisy` (u, m) probabilities of a positive decision without noise, and
    with the noise for each value.
    """

    defense: TableDefense
    metric: str
    labels: Codes
    clean: Floats
    noisy: Floats

    def without_noise(self) -> UtilityPoint:
        """Return the model on the clean records."""
        return self._point(self.clean)

    def at(self, budget: float) -> UtilityPoint:
        """Return the model at a budget."""
        return self._point(np.einsum("ki,ki->k", self.defense.mechanism(budget), self.noisy))

    def _point(self, positive: Floats) -> UtilityPoint:
        right = np.where(self.labels == 1, positive, 1.0 - positive)
        parts = self._parts(positive)
        rates = [
            [mean_rate(values[groups == group]) for group in np.unique(groups)]
            for values, groups in parts
        ]
        return UtilityPoint(
            accuracy=mean_rate(right),
            unfairness=_unfairness(parts),
            change=_change(self._parts(self.clean), parts),
            gap=largest_difference(rates).value,
        )

    def _parts(self, positive: Floats) -> list[tuple[Floats, Ints]]:
        """Return decisions and groups of each set of records that the metric compares."""
        truth = self.defense.people.truth
        sets = row_sets(self.metric, self.labels, self.labels.size)
        return [
            (positive, truth) if rows is None else (positive[rows], truth[rows]) for _, rows in sets
        ]


def table_utility(
    defense: TableDefense, dataset: AuditDataset, config: AuditConfig
) -> TableUtility:
    """Train the audited model on the audit's training records and let it decide on the noisy test records.

    InputError if the model was given as predictions: nobody knows what it says of other records.
    """
    if config.method == GIVEN_PREDICTIONS:
        raise InputError(
            "What the noise does to the model's decisions needs a model that can be asked about changed records, not "
            "predictions that came with the table."
        )
    train = split(dataset, train_share=config.train_share, seed=config.seed).train
    model = fit_rows(config, dataset, train, seed=config.seed)
    return utility_of(
        defense, model.acceptance, labels=dataset.labels[defense.people.rows], metric=config.metric
    )


def utility_of(
    defense: TableDefense,
    acceptance: Callable[[Floats, Codes], Floats],
    *,
    labels: Codes,
    metric: str = "statistical_parity",
) -> TableUtility:
    """Let any model decide on the noisy records.

    `acceptance` takes records (n, d) and the people's groups (n,) to probabilities of a positive decision; `labels`,
    (u,), are the protected people's. InputError if the metric is unknown, or compares records without people of two
    groups.
    """
    people = defense.people
    one_length(labels=labels, people=people.truth)
    for part, rows in row_sets(metric, labels, labels.size):
        if rows is None:
            groups_inside = people.truth
        else:
            groups_inside = people.truth[rows]
        if np.unique(groups_inside).size < 2:
            raise InputError(
                f"Unfairness needs protected people of two groups with {part}, got fewer."
            )
    groups = people.truth.astype(np.uint8)
    u, m = defense.noise.size.shape
    noisy = acceptance(defense.noise.noisy, np.repeat(groups, m)).reshape(u, m)
    return TableUtility(
        defense=defense,
        metric=metric,
        labels=labels,
        clean=acceptance(people.public, groups),
        noisy=noisy,
    )


def _unfairness(parts: Sequence[tuple[Floats, Ints]]) -> Estimate:
    """Return the largest distance of a group's mean from everybody's, over sets of (values, groups).

    Of all the distances compared (of two groups one, as they share it) the interval is that of `core.stats.estimates`.
    """
    compared = []
    for values, groups in parts:
        present = np.unique(groups)
        if present.size > 2:
            distinct_groups = present
        else:
            distinct_groups = present[[np.bincount(groups)[present].argmin()]]
        compared += [
            (values[groups == group], values[groups != group]) for group in distinct_groups
        ]
    distances = {
        str(index): distance_from_all(mean_rate(inside), mean_rate(outside))
        for index, (inside, outside) in enumerate(compared)
    }
    _, largest = strongest(distances, within=(0.0, 1.0))
    return replace(largest, n=sum(values.size for values, _ in parts))


def _change(
    before: Sequence[tuple[Floats, Ints]], after: Sequence[tuple[Floats, Ints]]
) -> Estimate:
    """Return by how much the unfairness changes, over the same sets of (values, groups).

    The distance of the group that is farthest is a weighted sum over people, and so is the difference of two: its
    variance is that of the people's shares in it, group by group.
    """
    differences = [now - was for now, was in zip(_farthest(after), _farthest(before), strict=True)]
    value = sum(float(difference.sum()) for difference in differences)
    variance = 0.0
    for difference, (_, groups) in zip(differences, after, strict=True):
        for group in np.unique(groups):
            inside = difference[groups == group]
            if inside.size > 1:
                variance += inside.size * float(inside.var(ddof=1))
    half = normal_quantile(LEVEL) * math.sqrt(variance)
    n = sum(difference.size for difference in differences)
    return Estimate(value=value, low=value - half, high=value + half, n=n)


def _farthest(parts: Sequence[tuple[Floats, Ints]]) -> list[Floats]:
    """Return everybody's share, set by set, in the distance between everybody's mean and that farthest from it."""
    shares: list[list[Floats]] = [[np.zeros(values.size) for values, _ in parts]]
    for index, (values, groups) in enumerate(parts):
        for group in np.unique(groups):
            inside = groups == group
            contribution = values * (inside / inside.sum() - 1.0 / values.size)
            shares.append(
                [
                    *shares[0][:index],
                    contribution * np.sign(contribution.sum()),
                    *shares[0][index + 1 :],
                ]
            )
    return max(
        shares, key=lambda candidate: sum(float(contribution.sum()) for contribution in candidate)
    )
