"""Other defences of ratings, each beside the property it is known for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from core.studies.attriguard import RatingsDefense, comparators, comparison
from core.studies.attriguard.comparators import LEVELS, _mapping
from tests import ratings_samples
from tests.unit.attriguard.conftest import SETTINGS

SAMPLE = ratings_samples.ratings()


def test_comparison(guarded: RatingsDefense):
    rows = list(comparison(guarded))
    assert len({row.method for row in rows}) == 4
    best = {(row.method, row.parameter, row.knows_truth): row for row in rows}
    for method in ("blurme", "chisquare"):
        for n in (1, 3, 5):
            assert best[method, f"{n} added", True].size.value == best[method, f"{n} added", False].size.value == n
        three = [best[method, "3 added", knows].accuracy["logistic"].value for knows in (True, False)]
        assert three[0] < three[1] < guarded.classifier("logistic").score(SAMPLE.people_test, SAMPLE.values_test)
    assert best["local_dp", "epsilon 7 an entry", False].size.value == pytest.approx(60 * 5 / (np.exp(7) + 5), abs=0.15)


def test_blurme_adds_what_speaks_against_a_value(guarded: RatingsDefense):
    classifier = guarded.classifier("logistic")
    noisy = comparators.blurme(SAMPLE.people_test, SAMPLE.values_test, guarded.known_people, classifier, n_added=2)
    for k in range(5):
        new = (noisy[[k]] - SAMPLE.people_test[[k]]).tocoo().col
        weight = classifier.coef_[SAMPLE.values_test[k]]
        free = np.setdiff1d(np.arange(60), SAMPLE.people_test[[k]].indices)
        assert set(new) == set(free[np.argsort(weight[free])[:2]])
    two = RatingsDefense(ratings_samples.ratings(values=2), SETTINGS)
    records, truth, classifier = two.ratings.people_test, two.ratings.values_test, two.classifier("logistic")
    noisy = comparators.blurme(records, truth, two.known_people, classifier, n_added=5)
    assert classifier.score(noisy, truth) < classifier.score(records, truth) - 0.2


def test_chisquare_adds_items_of_another_value(guarded: RatingsDefense):
    noisy = comparators.chisquare(SAMPLE.people_test, SAMPLE.values_test, guarded.known_people, n_added=1)
    rows, columns = (noisy - SAMPLE.people_test).nonzero()
    assert (rows == np.arange(100)).all()
    by_value = np.array([(SAMPLE.people_train[SAMPLE.values_train == i] > 0).mean(axis=0) for i in range(4)])
    assert (by_value[:, columns].argmax(axis=0) != SAMPLE.values_test).all()


def test_local_dp_rounds_what_is_no_level():
    records = np.random.default_rng(0).random((50, 80))
    noisy = comparators.local_dp(sparse.csr_array(records), epsilon=4.0, rng=np.random.default_rng(1)).toarray()
    rounded = np.round(5 * records) / 5
    assert set(np.round(5 * np.unique(noisy)) / 5) == set(LEVELS) and np.allclose(noisy, np.round(5 * noisy) / 5)
    stays = np.exp(4) / (np.exp(4) + 5)
    assert np.isclose(noisy, rounded).mean() == pytest.approx(stays, abs=0.02)
    exact = comparators.local_dp(sparse.csr_array(records), epsilon=1e6, rng=np.random.default_rng(1))
    assert np.allclose(exact.toarray(), rounded)


def test_qpm_hides_more_the_more_it_may_change():
    joint, distance = np.diag([0.4, 0.6]), np.array([[0.0, 2.0], [2.0, 0.0]])
    differences = []
    for slack in (0.05, 0.5, 1.0):
        mapping = _mapping(joint, distance, slack)
        assert mapping.sum(axis=1) == pytest.approx([1, 1]) and (mapping >= 0).all()
        assert (joint.sum(axis=0) @ (mapping * distance).sum(axis=1)) <= slack * 0.8 + 1e-5
        differences.append(abs(mapping[0, 0] - mapping[1, 0]))
    assert differences[0] > differences[1] > differences[2] and differences[2] == pytest.approx(0, abs=0.01)
