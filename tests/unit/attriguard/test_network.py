"""PANDA against networks: their scores and gradients as scikit-learn has them, and noise that misleads them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse

from core.attriguard import representatives
from core.attriguard.classifiers import network_scores
from core.errors import InputError


def fitted(values: int, activation: str, hidden: tuple[int, ...] = (12,)):
    """Return sparse records and a network taught by them for a few rounds."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPClassifier

    rng = np.random.default_rng(3)
    truth = np.arange(200) % values
    likes = rng.random((200, 30)) < 0.1 + 0.5 * (np.arange(30) % values == truth[:, None])
    records = sparse.csr_array(np.where(likes, rng.choice([0.4, 1.0], (200, 30)), 0.0))
    network = MLPClassifier(hidden, activation=activation, max_iter=60, learning_rate_init=0.02, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return records, network.fit(records, truth)


CASES = pytest.mark.parametrize("activation", ["relu", "tanh", "logistic", "identity"])
NUMBERS = pytest.mark.parametrize("values", [2, 3])


@CASES
@NUMBERS
def test_scores_are_what_the_network_decides_by(values, activation):
    records, network = fitted(values, activation, hidden=(8, 5))
    own = network_scores(network)
    told = own.scores(own.enter(records))
    weights = np.exp(told - told.max(axis=1, keepdims=True))
    assert weights / weights.sum(axis=1, keepdims=True) == pytest.approx(network.predict_proba(records), abs=1e-9)


@CASES
@NUMBERS
def test_gradients_are_those_of_differences(values, activation):
    records, network = fitted(values, activation, hidden=(8, 5))
    own, x = network_scores(network), records[:3].toarray() + 0.123
    direction = np.eye(values)[[0, 1, values - 1]]
    gradient = own.gradient(own.enter(x), direction)
    for j in range(30):
        up, down = x.copy(), x.copy()
        up[:, j] += 1e-6
        down[:, j] -= 1e-6
        change = ((own.scores(own.enter(up)) - own.scores(own.enter(down))) * direction).sum(axis=1) / 2e-6
        assert gradient[:, j] == pytest.approx(change, abs=1e-6)


@CASES
@NUMBERS
@pytest.mark.parametrize("order", ["scores", "softmax"])
def test_networks_are_misled_by_few_changes(values, activation, order):
    records, network = fitted(values, activation)
    noise = representatives(records[:40], network, order=order)
    wanted = np.tile(np.arange(values), 40)
    found = noise.found.ravel()
    assert found.mean() > 0.95
    assert np.array_equal(network.predict(noise.noisy)[found], wanted[found])
    changed = noise.noisy.toarray() != np.repeat(records[:40].toarray(), values, axis=0)
    assert np.array_equal(changed.sum(axis=1), noise.size.ravel()) and not changed[~found].any()
    assert (noise.size[noise.found] > 0).sum() == found.sum() - 40


def test_without_hidden_layers_a_network_is_a_linear_classifier():
    records, network = fitted(3, "relu", hidden=())
    from tests.linear_cases import classifier_of

    linear = classifier_of(network.coefs_[0].T, network.intercepts_[0], multinomial=False)
    told, known = representatives(records[:50], network), representatives(records[:50], linear)
    assert np.array_equal(told.size, known.size)
    assert np.array_equal(told.noisy.toarray(), known.noisy.toarray())


@pytest.mark.parametrize("policy", ["modify_exist", "add_new"])
def test_networks_and_policies(policy):
    records, network = fitted(3, "relu")
    noise = representatives(records[:40], network, policy=policy, step=0.5)
    changed = noise.noisy.toarray() != np.repeat(records[:40].toarray(), 3, axis=0)
    existing = np.repeat(records[:40].toarray(), 3, axis=0) > 0
    as_asked = ~noise.fallback.ravel()
    forbidden = ~existing if policy == "modify_exist" else existing
    assert changed[as_asked].any() and not (changed & forbidden)[as_asked].any()


def test_several_yes_no_outputs_are_refused():
    records, network = fitted(3, "relu")
    network.out_activation_ = "logistic"
    with pytest.raises(InputError, match="must name one value a record, it has 3 yes-no outputs"):
        representatives(records, network)
