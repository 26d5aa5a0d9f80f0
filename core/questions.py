"""The people a compliance team is asked about: audited test records, with what whoever asks already knows of them.

The model's developers hold features, labels and the audited model; the attribute only the compliance team. So the
developers' prior, the probability that a person belongs to the advantaged group, comes from the strong attacker of
`core.adversaries`, trained on the attack records and calibrated on the validation records, and judged on nobody it
learned from.

The larger group of the dataset counts as the advantaged one (Hamman et al. 2023 take N0 <= N1).
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields

import numpy as np
import numpy.typing as npt

from core.adversaries import calibrate, train_strong
from core.arrays import Codes, Floats
from core.config import AuditConfig
from core.datasets.dataset import AuditDataset
from core.datasets.splits import Splits, split
from core.errors import InputError
from core.fairness import METRIC_TITLES
from core.serialize import Result
from core.subject import ModelFindings, train_model

FEWEST_IN_GROUP = 2
"""Fewest sampled people of each group; with one, the first answer names her."""

_ASKED_LABEL = {"equal_opportunity": 1, "predictive_equality": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class People(Result):
    """People whose gap is asked for; arrays of shape (n,)."""

    sensitive: Codes
    """0 or 1; 1 = advantaged."""
    base: Floats
    """In [0, 1]. The audited model's scores."""
    prior: Floats
    """In (0, 1). P(advantaged) before any answer."""
    labels: Codes

    @property
    def n(self) -> int:
        """How many they are."""
        return int(self.sensitive.size)

    @property
    def sizes(self) -> tuple[int, int]:
        """How many advantaged and disadvantaged there are."""
        advantaged = int(self.sensitive.sum())
        return advantaged, self.n - advantaged


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryPool(Result):
    """Everybody in the test set the metric speaks about, and what the groups are called.

    The metric is "statistical_parity", "equal_opportunity" (label 1 only) or "predictive_equality" (label 0 only).
    """

    people: People = field(repr=False)
    advantaged: str
    disadvantaged: str
    metric: str
    advantaged_code: int = 1

    def sizes(self, n: int, n_disadvantaged: int | None = None) -> tuple[int, int]:
        """Return how many advantaged and disadvantaged people a sample of `n` holds: the pool's shares, rounded.

        `n_disadvantaged` asks for another number of the disadvantaged.

        Raises `InputError` if `n` is above the pool's size or leaves fewer than `FEWEST_IN_GROUP` of a group.
        """
        there = self.people.sizes
        if not 2 * FEWEST_IN_GROUP <= n <= self.people.n:
            raise InputError(f"The sample must hold {2 * FEWEST_IN_GROUP} to {self.people.n:,} people, got {n:,}.")
        if n_disadvantaged is None:
            n_disadvantaged = round(n * there[1] / self.people.n)
        sizes = n - n_disadvantaged, n_disadvantaged
        for size, name in zip(sizes, (self.advantaged, self.disadvantaged), strict=True):
            if size < FEWEST_IN_GROUP:
                raise InputError(
                    f"A gap needs at least {FEWEST_IN_GROUP} people of each group, or the first answer names them; "
                    f"a sample of {n} holds {size} of {name}."
                )
        for size, most, name in zip(sizes, there, (self.advantaged, self.disadvantaged), strict=True):
            if size > most:
                raise InputError(f"The test set holds {most:,} of {name}, too few for a sample with {size:,}.")
        return sizes

    def sample(self, n: int, rng: np.random.Generator, *, n_disadvantaged: int | None = None) -> People:
        """Return `n` people drawn without replacement, in random order, in groups of these `sizes`."""
        everybody = self.people
        rows = [
            rng.choice(np.flatnonzero(everybody.sensitive == group), size, replace=False)
            for group, size in zip((1, 0), self.sizes(n, n_disadvantaged), strict=True)
        ]
        drawn = rng.permutation(np.concatenate(rows))
        return People(**{one.name: getattr(everybody, one.name)[drawn] for one in fields(People)})


def query_pool(
    config: AuditConfig, dataset: AuditDataset, model: ModelFindings | None = None, splits: Splits | None = None
) -> QueryPool:
    """Return the audited test set as a compliance team and the developers see it.

    Model and sets are those of dataset (with two groups) and configuration where they are left out; equalized odds is
    asked as equal opportunity, its half about label 1.

    Raises `InputError` if the attribute has more than two groups, the metric speaks of fewer than two people of a
    group, or the audited model was given as labels alone.
    """
    if dataset.n_groups != 2:
        raise InputError(
            f"Bias queries compare two groups, got {dataset.n_groups}; choose a sensitive attribute in two groups."
        )
    splits = split(dataset, train_share=config.train_share, seed=config.seed) if splits is None else splits
    model = train_model(config, dataset, splits) if model is None else model
    if not model.scores_given:
        raise InputError("Bias queries are about a model's scores; the table gives predicted labels alone.")
    y, s = dataset.labels, dataset.sensitive
    metric = "equal_opportunity" if config.metric == "equalized_odds" else config.metric
    rows = splits.test
    if metric in _ASKED_LABEL:
        rows = rows[y[rows] == _ASKED_LABEL[metric]]
    advantaged = int(np.bincount(s, minlength=2).argmax())
    people = People(
        sensitive=(s[rows] == advantaged).astype(np.uint8),
        base=model.scores[rows],
        prior=reader_prior(dataset, splits, rows, seed=config.seed)[:, advantaged],
        labels=y[rows],
    )
    if min(people.sizes) < FEWEST_IN_GROUP:
        raise InputError(
            f"{METRIC_TITLES[metric]} needs at least {FEWEST_IN_GROUP} people of each group among the test records it "
            f"speaks about, got {min(people.sizes)} of one."
        )
    return QueryPool(
        people=people,
        advantaged=dataset.group_names[advantaged],
        disadvantaged=dataset.group_names[1 - advantaged],
        metric=metric,
        advantaged_code=advantaged,
    )


def reader_prior(dataset: AuditDataset, splits: Splits, rows: npt.NDArray[np.intp], *, seed: int) -> Floats:
    """Return what somebody who holds features and labels makes of some records: P(group), shape (rows, K)."""
    x, y, s = dataset.features, dataset.labels, dataset.sensitive
    known, held_out = splits.attack, splits.validation
    adversary = train_strong(x[known], y[known], s[known], categorical=dataset.categorical, seed=seed)
    scale = calibrate(adversary.probability(x[held_out], y[held_out], None), s[held_out])
    return scale.apply(adversary.probability(x[rows], y[rows], None))
