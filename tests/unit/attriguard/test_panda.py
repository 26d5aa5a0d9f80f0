"""PANDA on linear classifiers and networks, and on records of every form.

That it is Algorithm 1 and keeps its promises: tests/properties/test_attriguard_properties.py.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse

from core.studies.attriguard import representatives
from core.studies.attriguard.panda import read_scores
from tests import ratings_samples
from tests.linear_cases import dense


@pytest.fixture(scope="module")
def people() -> tuple[sparse.csr_array, np.ndarray]:
    """Sparse ratings of 300 people, and their values; the last item nobody has rated."""
    sample = ratings_samples.ratings(items=40)
    records = sample.people_train.tolil()
    records[:, -1] = 0.0
    return sparse.csr_array(records), sample.values_train


def defenders():
    from sklearn.linear_model import LogisticRegression, RidgeClassifier
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.svm import LinearSVC

    return {
        "multinomial": LogisticRegression(),
        "without offsets": LogisticRegression(fit_intercept=False),
        "one versus rest": OneVsRestClassifier(LogisticRegression(solver="liblinear", C=0.3)),
        "support vectors": LinearSVC(random_state=0),
        "ridge": RidgeClassifier(),
    }


@pytest.mark.parametrize("two", [False, True], ids=["four values", "two values"])
@pytest.mark.parametrize("name", sorted(defenders()))
def test_every_linear_classifier_is_misled(people, name, two):
    records, values = people
    defender = defenders()[name].fit(records.toarray(), values % 2 if two else values)
    noise = representatives(records[:60], defender)
    m = 2 if two else 4
    assert noise.reached.all() and noise.size.shape == (60, m)
    assert np.array_equal(defender.predict(noise.noisy), np.tile(np.arange(m), 60))
    assert (noise.size > 0).sum() == 60 * (m - 1)


@pytest.mark.parametrize("form", [sparse.csc_array, np.asarray, np.float32])
def test_records_of_every_form_are_changed_alike_and_left_as_they_were(people, form):
    records, values = people
    defender = defenders()["multinomial"].fit(records, values)
    input_records = records.toarray().astype(np.float32) if form is np.float32 else form(records.toarray())
    before = dense(input_records).copy()
    noise, expected = representatives(input_records, defender), representatives(records, defender)
    assert sparse.issparse(noise.noisy) == sparse.issparse(input_records)
    assert np.array_equal(noise.size, expected.size) and np.array_equal(dense(input_records), before)
    assert dense(noise.noisy) == pytest.approx(dense(expected.noisy), abs=1e-7)
    assert (expected.noisy.data != 0).all() and expected.noisy.has_sorted_indices
    assert expected.noisy.indices.dtype == np.int32  # liblinear takes no other


def fitted(values: int):
    """Return sparse records and a network taught by them for a few rounds."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    sample = ratings_samples.ratings(people=268, items=30, values=values)
    network = MLPClassifier((12,), max_iter=60, learning_rate_init=0.02, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return sample.people_train, network.fit(sample.people_train, sample.values_train)


@pytest.mark.parametrize("values", [2, 3])
def test_scores_and_gradients_are_the_networks(values):
    records, network = fitted(values)
    scorer = read_scores(network)
    scores = scorer.scores(scorer.enter(records))
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    assert weights / weights.sum(axis=1, keepdims=True) == pytest.approx(network.predict_proba(records), abs=1e-9)
    x, targets = records[:3].toarray() + 0.123, np.array([0, 1, values - 1])
    gradient = scorer.gradient(scorer.enter(x), targets)
    for j in range(30):
        moved = 1e-6 * (np.arange(30) == j)
        change = scorer.scores(scorer.enter(x + moved)) - scorer.scores(scorer.enter(x - moved))
        assert gradient[:, j] == pytest.approx(change[np.arange(3), targets] / 2e-6, abs=1e-6)


@pytest.mark.parametrize("policy", ["modify_add", "modify_exist", "add_new"])
@pytest.mark.parametrize("values", [2, 3])
def test_networks_are_misled_by_few_changes_of_the_policy(values, policy):
    records, network = fitted(values)
    clean = np.repeat(records[:40].toarray(), values, axis=0)
    noise = representatives(records[:40], network, policy=policy, step=0.5)
    targets, reached = np.tile(np.arange(values), 40), noise.reached.ravel()
    assert reached.mean() > 0.9 and np.array_equal(network.predict(noise.noisy)[reached], targets[reached])
    changed = noise.noisy.toarray() != clean
    assert np.array_equal(changed.sum(axis=1), noise.size.ravel()) and not changed[~reached].any()
    widest = representatives(records[:40], network, step=0.5).noisy.toarray()
    within_policy = (noise.noisy.toarray() != widest).any(axis=1) & (policy != "modify_add")
    forbidden = clean == 0 if policy == "modify_exist" else clean > 0
    assert not (changed & forbidden)[within_policy].any()
