"""PANDA on linear classifiers, networks, records of every form; that it is Algorithm 1: test_attriguard_properties."""

import warnings
from functools import cache

import numpy as np
import pytest
from scipy import sparse

from core.base.errors import InputError
from core.studies.attriguard import RatingsDefense, allocate, comparators, expected_size, representatives
from core.studies.attriguard.comparators import LEVELS, _mapping
from core.studies.attriguard.panda import read_scores
from tests import ratings_samples
from tests.linear_cases import dense
from tests.unit.attriguard.conftest import SETTINGS


@pytest.fixture(scope="module")
def people():
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


@pytest.mark.parametrize("m", [4, 2])
@pytest.mark.parametrize("name", sorted(defenders()))
def test_every_linear_classifier_is_misled(people, name, m):
    records, values = people
    defender = defenders()[name].fit(records.toarray(), values % m)
    noise = representatives(records[:60], defender)
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


@cache
def fitted(values):
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


@pytest.mark.parametrize(
    ("size", "goal", "budget", "reachable", "mechanism"),
    [
        ([0, 2], [0.5, 0.5], 0.5, None, [0.75, 0.25]),
        ([1, 1, 2], [0.3, 0.1, 0.6], 1.0, None, [0.75, 0.25, 0]),
        ([1, 1, 2], [0.0, 0.0, 1.0], 1.0, None, [0.5, 0.5, 0]),
        # the free value has no share and the budget is short: what is left over goes there
        ([0, 2, 4], [0.0, 0.5, 0.5], 1.0, None, [0.625, 0.25, 0.125]),
        # it has no share, and the budget is enough without it
        ([0, 1, 4], [0.0, 0.5, 0.5], 2.0, None, [0.0, 2 / 3, 1 / 3]),
        # a noise that was not found has its share given to the others
        ([0, 0, 1], [0.5, 0.25, 0.25], 9.0, [True, False, True], [2 / 3, 0, 1 / 3]),
        # of what was found nothing has a share
        ([0, 1, 1], [0.0, 0.0, 1.0], 9.0, [True, True, False], [1, 0, 0]),
    ],
)
def test_borders(size, goal, budget, reachable, mechanism):
    actual = allocate([size], goal, budget, available=None if reachable is None else [reachable])
    assert actual[0] == pytest.approx(mechanism, abs=1e-12)
    assert expected_size(actual, [size])[0] <= budget + 1e-12


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"noise_size": [[2, 3]]}, "budget must be at least everybody's smallest noise, 2, got 1"),
        ({"available": [[False, False]]}, "Everybody needs a noise that was found, 1 of 1 people have none"),
    ],
)
def test_what_allocation_refuses(changed, message):
    arguments = {"noise_size": [[0, 1]], "target_distribution": [0.5, 0.5], "budget": 1.0} | changed
    with pytest.raises(InputError, match=message):
        allocate(**arguments)


SAMPLE = ratings_samples.ratings()


def test_blurme_adds_what_speaks_against_a_value(guarded):
    classifier = guarded.classifier("logistic")
    noisy = comparators.blurme(SAMPLE.people_test, SAMPLE.values_test, SAMPLE.people_train, classifier, n_added=2)
    for k in range(5):
        new = (noisy[[k]] - SAMPLE.people_test[[k]]).tocoo().col
        weight = classifier.coef_[SAMPLE.values_test[k]]
        free = np.setdiff1d(np.arange(60), SAMPLE.people_test[[k]].indices)
        assert set(new) == set(free[np.argsort(weight[free])[:2]])
    two = ratings_samples.ratings(values=2)
    records, truth, classifier = two.people_test, two.values_test, RatingsDefense(two, SETTINGS).classifier("logistic")
    noisy = comparators.blurme(records, truth, two.people_train, classifier, n_added=5)
    assert classifier.score(noisy, truth) < classifier.score(records, truth) - 0.2


def test_chisquare_adds_items_of_another_value(guarded):
    noisy = comparators.chisquare(SAMPLE.people_test, SAMPLE.values_test, *guarded.known_people, n_added=1)
    rows, columns = (noisy - SAMPLE.people_test).nonzero()
    assert (rows == np.arange(100)).all()
    by_value = np.array([(SAMPLE.people_train[SAMPLE.values_train == i] > 0).mean(axis=0) for i in range(4)])
    assert (by_value[:, columns].argmax(axis=0) != SAMPLE.values_test).all()


def test_local_dp_rounds_what_is_no_level():
    records = np.random.default_rng(0).random((50, 80))
    noisy, exact = (
        comparators.local_dp(sparse.csr_array(records), epsilon=epsilon, rng=np.random.default_rng(1)).toarray()
        for epsilon in (4.0, 1e6)
    )
    rounded = np.round(5 * records) / 5
    assert set(np.round(5 * np.unique(noisy)) / 5) == set(LEVELS) and np.allclose(noisy, np.round(5 * noisy) / 5)
    assert np.isclose(noisy, rounded).mean() == pytest.approx(np.exp(4) / (np.exp(4) + 5), abs=0.02)
    assert np.allclose(exact, rounded)


def test_qpm_hides_more_the_more_it_may_change():
    joint, distance = np.diag([0.4, 0.6]), np.array([[0.0, 2.0], [2.0, 0.0]])
    differences = []
    for slack in (0.05, 0.5, 1.0):
        mapping = _mapping(joint, distance, slack)
        assert mapping.sum(axis=1) == pytest.approx([1, 1]) and (mapping >= 0).all()
        assert (joint.sum(axis=0) @ (mapping * distance).sum(axis=1)) <= slack * 0.8 + 1e-5
        differences.append(abs(mapping[0, 0] - mapping[1, 0]))
    assert differences[0] > differences[1] > differences[2] and differences[2] == pytest.approx(0, abs=0.01)
