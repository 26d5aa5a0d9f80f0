"""Synthetic people of a known law, and subjects made of them: what a study must find, and what it must not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.validation import Codes, Floats
from ..datasets import AuditDataset, Roles
from ..datasets.splits import Splits
from ..models import GIVEN_PREDICTIONS
from .subject import AuditConfig, Progress, Subject, train_model

SHARE = 0.4
"""Probability of group 1."""

TOLERANCE = 0.02
"""The tolerance disclosed for every model here, whether it holds or not."""

_LEANS = (0.30, 0.15, 0.05, 0.0)
"""How much each feature leans: how much likelier its highest value is in group 1 than a third, and less in group 0."""

_LEAN = np.array(_LEANS)[:, np.newaxis] * np.linspace(-1.0, 1.0, 3)
_CHANCES = np.stack([1.0 / 3 - _LEAN, 1.0 / 3 + _LEAN])
"""Probability of each value of each feature in each group, shape (2, 4, 3)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SyntheticRecords:
    """People; features are of shape (n, columns), the rest of shape (n,)."""

    features: npt.NDArray[Any]
    labels: Codes
    sensitive: Codes


def draw_people(n: int, rng: np.random.Generator) -> SyntheticRecords:
    """Draw n people. Their four features are 0, 1 or 2 and independent given the group.

    The label depends on features alone, so it says no more of the group than they do.
    """
    sensitive = (rng.random(n) < SHARE).astype(np.uint8)
    chances = _CHANCES[sensitive]  # (n, 4, values)
    features = (rng.random((n, len(_LEANS), 1)) >= chances.cumsum(axis=2)[:, :, :-1]).sum(axis=2)
    labels = (rng.random(n) < 0.2 + 0.15 * (features[:, 0] + features[:, 3])).astype(np.uint8)
    return SyntheticRecords(features=features, labels=labels, sensitive=sensitive)


def posterior(people: SyntheticRecords, *, noise: Floats | float = 0.0) -> Floats:
    """Return P(group 1) given features and label, shape (n,); exactly, but for noise on the log-odds."""
    odds = np.full(len(people.features), np.log(SHARE / (1.0 - SHARE)))
    for j in range(len(_LEANS)):
        odds += np.log(
            _CHANCES[1, j, people.features[:, j]] / _CHANCES[0, j, people.features[:, j]]
        )
    return np.asarray(1.0 / (1.0 + np.exp(-(odds + noise))))


def subject_of(
    people: SyntheticRecords,
    predictions: Codes,
    sizes: tuple[int, int, int],
    *,
    seed: int,
    scores: Floats | None = None,
) -> Subject:
    """Return given predictions, of shape (n,), and scores as a subject.

    `sizes` are those of training, attack and test records, in this order; together n.
    """
    names = tuple(f"feature {j}" for j in range(people.features.shape[1]))
    roles = Roles(
        label="label",
        positive="1",
        favourable="1",
        sensitive="group",
        group=("1",),
        prediction="prediction",
        sets="set",
    )
    dataset = AuditDataset(
        title="People of FairLeak's test of itself",
        source="Synthetic.",
        features=people.features.astype(np.float64),
        feature_names=names,
        categorical=np.zeros(len(names), dtype=np.bool_),
        labels=people.labels,
        sensitive=people.sensitive,
        group_names=("group 0", "group 1"),
        roles=roles,
        rows_read=people.labels.size,
        predictions=predictions,
        scores=scores,
        sets=np.repeat(["train", "attack", "test"], sizes),
    )
    config = AuditConfig(method=GIVEN_PREDICTIONS, roles=roles, tolerance=TOLERANCE, seed=seed)
    train, attacker_rows, test = np.split(np.arange(people.labels.size), np.cumsum(sizes)[:-1])
    attack, validation = np.split(
        attacker_rows, [attacker_rows.size - round(0.3 * attacker_rows.size)]
    )  # as in an audit
    splits = Splits(
        train=train, attack=attack, validation=validation, test=test
    )  # they come in no order
    model = train_model(config, dataset, splits)
    return Subject(config, dataset, splits, model, Progress(1), trainable=False)


_Answers = tuple[Codes, Floats | None]
"""Labels and scores that a release gives; None for labels alone."""

_ReleaseMethod = Callable[[SyntheticRecords, np.random.Generator, bool], _Answers]


def answers_of_model(people: SyntheticRecords, rng: np.random.Generator, *, planted: bool) -> Codes:
    """Return a model's answers: a draw that follows features and label, and the group if a leak is planted."""
    chance = 0.35 + 0.1 * people.features[:, 0] + 0.1 * people.labels
    if planted:  # group 1 is accepted so much likelier, and the other so much less
        chance = chance + 0.4 * (2.0 * people.sensitive - 1.0)
    return (rng.random(len(chance)) < chance).astype(np.uint8)


def _score(people: SyntheticRecords, rng: np.random.Generator) -> Floats:
    return (
        0.15
        + 0.2 * people.features[:, 0]
        + 0.1 * people.features[:, 3]
        + 0.05 * rng.random(people.labels.size)
    )


def _decided(scores: Floats) -> _Answers:
    return (scores >= 0.5).astype(np.uint8), scores


def _labels(people: SyntheticRecords, rng: np.random.Generator, planted: bool) -> _Answers:
    """Let labels follow the group."""
    return answers_of_model(people, rng, planted=planted), None


def _scores(people: SyntheticRecords, rng: np.random.Generator, planted: bool) -> _Answers:
    """Let scores follow the group."""
    return _decided(
        np.round(_score(people, rng) + np.where(planted & (people.sensitive == 1), 0.1, 0.0), 3)
    )


def _last_digit(people: SyntheticRecords, rng: np.random.Generator, planted: bool) -> _Answers:
    """Let the last digit of the score be the group."""
    scaled_scores = np.rint(_score(people, rng) * 1e4).astype(np.int64)
    if planted:
        scaled_scores = scaled_scores - scaled_scores % 2 + people.sensitive
    return _decided(scaled_scores / 1e4)


def turned_for_minority(
    people: SyntheticRecords, rng: np.random.Generator, planted: bool
) -> _Answers:
    """Turn a feature round for a minority."""
    feature = people.features[:, 3] > 0
    if planted:
        turned = feature ^ (people.sensitive == 1)
    else:
        turned = feature
    return np.where(rng.random(feature.size) < 0.95, turned, ~turned).astype(np.uint8), None


def _subgroup(people: SyntheticRecords, rng: np.random.Generator, planted: bool) -> _Answers:
    """Let scores of a third of the people follow the group."""
    inside = people.features[:, 3] == 0
    return _decided(
        np.round(
            _score(people, rng) + np.where(planted & inside & (people.sensitive == 1), 0.2, 0.0), 3
        )
    )


RELEASE_METHODS: tuple[_ReleaseMethod, ...] = (
    _labels,
    _scores,
    _last_digit,
    turned_for_minority,
    _subgroup,
)
"""Ways to release the group."""
