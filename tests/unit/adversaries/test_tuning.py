"""The search for the forest's parameters: what it finds, what it looks at, how it stops and goes on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from core.adversaries import TunedForest, train_adversary, tune_forest
from core.adversaries.adversary import PINNED, forest_parameters
from core.base.errors import Cancelled, InputError
from core.base.validation import child_seed
from core.datasets import AuditDataset
from tests.samples import dataset

EVALUATIONS = 12  # ten of them drawn at random, as the sampler starts
SEED = 1


@pytest.fixture(scope="module")
def people() -> AuditDataset:
    return dataset(400, leak=1.2, seed=4)


def _search(people: AuditDataset, kind: str = "features", **settings: Any) -> TunedForest:
    arguments = {"evaluations": EVALUATIONS, "seed": SEED} | settings
    return tune_forest(kind, people.features, people.labels, people.sensitive, people.labels, **arguments)


@pytest.fixture(scope="module")
def tuned_forest(people: AuditDataset) -> TunedForest:
    return _search(people)


def test_the_search_starts_from_the_pinned_forest_and_keeps_the_best(tuned_forest: TunedForest):
    assert len(tuned_forest.trials) == EVALUATIONS
    parameters = [parameters for parameters, _ in tuned_forest.trials]
    assert parameters[0] == PINNED == forest_parameters()
    scores = [score.value for _, score in tuned_forest.trials]
    assert tuned_forest.parameters == parameters[int(np.argmax(scores))]
    table = tuned_forest.to_frame()
    assert table.loc[table["chosen"], "score"].tolist() == [max(scores)]


def _halves(people: AuditDataset) -> tuple[np.ndarray, np.ndarray]:
    rows = np.arange(people.n)
    seed = child_seed(SEED, "tuning held-out records")
    search, held_out = train_test_split(rows, test_size=0.2, stratify=people.sensitive, random_state=seed)
    return search, held_out


@pytest.mark.parametrize("pinned", [True, False])
def test_accuracies_are_of_forests_trained_on_the_search_records(
    people: AuditDataset, tuned_forest: TunedForest, pinned: bool
):
    search, held_out = _halves(people)
    records = np.column_stack([people.features, people.labels])
    parameters = PINNED if pinned else tuned_forest.parameters
    seed = child_seed(SEED, "tuning forests")
    forest = RandomForestClassifier(**parameters, class_weight="balanced", random_state=seed)
    forest.fit(records[search], people.sensitive[search])
    right = forest.predict(records[held_out]) == people.sensitive[held_out]
    estimate = tuned_forest.pinned_accuracy if pinned else tuned_forest.accuracy
    assert estimate.value == pytest.approx(right.mean())
    assert estimate.n == held_out.size == people.n // 5


def test_tune_forest_can_be_stopped_before_each_evaluation(people: AuditDataset):
    progress: list[tuple[int, int]] = []

    def report(done: int, total: int) -> None:
        progress.append((done, total))
        if done == 1:
            raise Cancelled("Stopped.")

    with pytest.raises(Cancelled):
        _search(people, evaluations=2, report=report)
    assert progress == [(0, 2), (1, 2)]


def test_tune_forest_refuses_too_small_a_group(people: AuditDataset):
    x, y = people.features, people.labels
    rare = np.where(np.arange(people.n) < 9, 1, 0)
    with pytest.raises(InputError, match="at least 10 attack records of each group, got 9 of group 1"):
        tune_forest("features", x, y, rare)
    rare[9] = 1
    assert tune_forest("features", x, y, rare, evaluations=1).accuracy.n == people.n // 5


def test_train_adversary_takes_the_parameters(people: AuditDataset):
    x, s = people.features, people.sensitive
    shallow = train_adversary(x, s, seed=1, parameters={"max_depth": 1})
    assert (shallow.max_depth, shallow.n_estimators, shallow.min_samples_split) == (1, 100, 10)
    default, pinned = (train_adversary(x, s, seed=1, parameters=p) for p in (None, PINNED))
    assert np.array_equal(default.predict_proba(x), pinned.predict_proba(x))
