"""The ways to train, on small data."""

from __future__ import annotations

import numpy as np
import pytest

from core.datasets import AuditDataset
from core.errors import InputError, PrivacyLeakWarning
from core.fairness import METRICS, unfairness
from core.models import METHODS, FairModel, fit_model
from tests.samples import dataset


@pytest.fixture(scope="module")
def people() -> AuditDataset:
    return dataset(1500, seed=3)


def _trained(people: AuditDataset, method: str, **settings: object) -> FairModel:
    """Return a model of a seed of its own, which is trained once."""
    told = people.features, people.labels, people.sensitive
    return people.once((method, *settings.items()), lambda: fit_model(method, *told, seed=1, **settings))  # type: ignore[arg-type]


def _drawn(people: AuditDataset, method: str, **settings: object) -> np.ndarray:
    return _trained(people, method, **settings).predict(people.features, people.sensitive, seed=1)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_predicts_better_than_the_majority(people: AuditDataset, method: str) -> None:
    drawn = _drawn(people, method)
    assert drawn.dtype == np.uint8 and drawn.shape == (people.n,)
    majority = max(people.labels.mean(), 1 - people.labels.mean())
    assert (drawn == people.labels).mean() > majority + 0.05


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("method", ["exponentiated_gradient", "threshold_optimizer"])
def test_mitigation_is_fairer_than_the_control(people: AuditDataset, method: str, metric: str) -> None:
    def gap(drawn: np.ndarray) -> float:
        return unfairness(drawn, people.sensitive, metric=metric, labels=people.labels)

    control = gap(_drawn(people, "unmitigated"))
    assert gap(_drawn(people, method, metric=metric, tolerance=0.0)) < max(0.05, 0.6 * control)


def test_a_looser_tolerance_allows_more_unfairness(people: AuditDataset) -> None:
    gaps = [
        unfairness(_drawn(people, "exponentiated_gradient", tolerance=t), people.sensitive, metric="statistical_parity")
        for t in (0.0, 0.05, 0.1)
    ]
    assert gaps[0] < gaps[1] < gaps[2]
    assert gaps[2] <= 0.13


@pytest.mark.parametrize("method", ["exponentiated_gradient", "threshold_optimizer"])
def test_a_randomised_model_repeats_itself_only_with_its_seed(people: AuditDataset, method: str) -> None:
    model = _trained(people, method)
    assert model.randomised
    first = model.predict(people.features, people.sensitive, seed=1)
    assert np.array_equal(first, model.predict(people.features, people.sensitive, seed=1))
    assert not np.array_equal(first, model.predict(people.features, people.sensitive, seed=2))


def test_which_methods_need_the_attribute_to_predict(people: AuditDataset) -> None:
    for method in METHODS:
        model = _trained(people, method)
        swapped = model.predict(people.features, 1 - people.sensitive, seed=1)
        same = np.array_equal(swapped, model.predict(people.features, people.sensitive, seed=1))
        assert same != model.needs_sensitive


@pytest.mark.parametrize("method", METHODS)
def test_scores_are_what_the_model_decides_by(people: AuditDataset, method: str) -> None:
    model = _trained(people, method)
    scores = model.scores(people.features, people.sensitive)
    assert scores.shape == (people.n,) and scores.dtype == np.float64
    assert scores.min() >= 0 and scores.max() <= 1 and np.unique(scores).size > 2
    assert np.array_equal(scores, model.scores(people.features, people.sensitive))  # nothing is drawn
    swapped = np.array_equal(scores, model.scores(people.features, 1 - people.sensitive))
    assert model.needs_sensitive or swapped
    if not model.randomised:
        assert np.array_equal(scores > 0.5, model.predict(people.features, people.sensitive, seed=1) == 1)
    if method == "threshold_optimizer":
        drawn = [model.predict(people.features, people.sensitive, seed=seed) for seed in range(300)]
        assert np.abs(np.mean(drawn, axis=0) - scores).max() < 0.13  # the probability with which it accepts


def test_scores_of_exponentiated_gradient_are_its_trees_by_weight(people: AuditDataset) -> None:
    model = _trained(people, "exponentiated_gradient", tolerance=0.01)
    weights, trees = np.asarray(model.estimator.weights_), model.estimator.predictors_
    assert (weights > 0).sum() > 1 and weights.sum() == pytest.approx(1)
    each = np.array([tree.predict_proba(people.features)[:, 1] for tree in trees])
    scores = model.scores(people.features, people.sensitive)
    assert scores == pytest.approx(weights @ each)
    assert np.abs(scores - each.mean(axis=0)).max() > 1e-3  # weighted, not counted


def test_the_private_tree_keeps_to_its_budget_on_public_domains(people: AuditDataset) -> None:
    assert people.domains == (
        (people.features[:, 0].min(), people.features[:, 0].max()),
        (people.features[:, 1].min(), people.features[:, 1].max()),
        3,  # up, down, and a missing value
    )
    tree = _trained(people, "dp_id3", epsilon=20.0, domains=people.domains).estimator.tree
    assert tree.domains_ == people.domains and tree.depth_ <= 3
    assert tree.budget_ledger_.total == pytest.approx(20.0) and tree.accounting == "savings"
    with pytest.warns(PrivacyLeakWarning, match="read from the records"):
        fit_model("dp_id3", people.features, people.labels, people.sensitive, epsilon=20.0)


def test_a_missing_category_is_a_value_of_its_own_for_the_private_tree(people: AuditDataset) -> None:
    features = people.features.copy()
    features[::2, 2] = -1
    labels = (features[:, 2] == -1).astype(np.uint8)
    model = fit_model("dp_id3", features, labels, people.sensitive, epsilon=1000.0, domains=people.domains)
    assert np.array_equal(model.predict(features, people.sensitive, seed=0), labels)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"method": "magic"}, "method must be one of"),
        ({"metric": "magic"}, "metric must be one of"),
        ({"tolerance": 1.4}, r"tolerance must be in \[0, 1\], got 1.4"),
        ({"epsilon": 0.0}, "epsilon must be at least 1e-06"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"labels": np.zeros(1500, dtype=np.uint8)}, "both labels and both groups"),
        ({"sensitive": np.zeros(3, dtype=np.uint8)}, "same length"),
    ],
)
def test_bad_arguments_are_told_in_one_sentence(people: AuditDataset, change: dict[str, object], words: str) -> None:
    settings = {"method": "unmitigated", "labels": people.labels, "sensitive": people.sensitive} | change
    with pytest.raises(InputError, match=words):
        fit_model(settings.pop("method"), people.features, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", METHODS)
def test_acceptance_is_the_mean_of_the_draws(people: AuditDataset, method: str) -> None:
    model = _trained(people, method)
    accepted = model.acceptance(people.features, people.sensitive)
    draws = [model.predict(people.features, people.sensitive, seed=seed) for seed in range(60)]
    assert accepted.shape == (people.n,) and ((accepted > 0) & (accepted < 1)).any() == model.randomised
    assert np.abs(np.mean(draws, axis=0) - accepted).max() <= (0.35 if model.randomised else 0.0)
    assert np.mean(draws) == pytest.approx(accepted.mean(), abs=0.01)
