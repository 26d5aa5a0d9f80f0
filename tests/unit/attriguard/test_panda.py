"""PANDA on the classifiers of scikit-learn, on records of every form, and on what it must refuse."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from core.attriguard import panda, representatives
from core.attriguard.classifiers import linear_scores
from core.errors import InputError
from tests.linear_cases import classifier_of, dense


@pytest.fixture(scope="module")
def people() -> tuple[sparse.csr_array, np.ndarray]:
    """Sparse ratings of 300 people who prefer their own value's items; the last item nobody has rated."""
    rng = np.random.default_rng(5)
    values = np.arange(300) % 4
    likes = rng.random((300, 40)) < 0.08 + 0.4 * (np.arange(40) % 4 == values[:, None])
    ratings = np.where(likes, rng.choice([0.2, 0.6, 0.8, 1.0], (300, 40)), 0.0)
    ratings[:, -1] = 0.0
    return sparse.csr_array(ratings), values


def defenders():
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.svm import LinearSVC

    return {
        "multinomial": LogisticRegression(),
        "without offsets": LogisticRegression(fit_intercept=False),
        "one versus rest": OneVsRestClassifier(LogisticRegression(solver="liblinear", C=0.3)),
        "support vectors": LinearSVC(random_state=0),
        "ridge": RidgeClassifier(),
        "gradient descent": SGDClassifier(random_state=0),
        "discriminant": LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.5),
    }


@pytest.mark.parametrize("two", [False, True], ids=["four values", "two values"])
@pytest.mark.parametrize("name", sorted(defenders()))
def test_every_linear_classifier_is_misled(people, name, two):
    records, values = people
    defender = defenders()[name].fit(records.toarray(), values % 2 if two else values)
    noise = representatives(records[:60], defender)
    m = 2 if two else 4
    assert noise.found.all() and noise.size.shape == (60, m)
    wanted = np.tile(np.arange(m), 60)
    assert np.array_equal(defender.predict(noise.noisy), wanted)
    assert (noise.size > 0).sum() == 60 * (m - 1)


def test_only_weights_that_share_a_softmax_are_centred():
    weights, offsets = [[3.0, 1.0], [1.0, 1.0], [2.0, 4.0]], [1.0, 0.0, 2.0]
    centred = linear_scores(classifier_of(weights, offsets, multinomial=True))
    own = linear_scores(classifier_of(weights, offsets, multinomial=False))
    assert centred.weights[0].T.tolist() == [[1.0, -1.0], [-1.0, -1.0], [0.0, 2.0]] and centred.offsets[0].tolist() == [
        0,
        -1,
        1,
    ]
    assert own.weights[0].T.tolist() == weights and own.offsets[0].tolist() == offsets


def test_a_lead_over_one_other_value_is_the_decision_value():
    made = classifier_of([[2.0, -1.0]], [0.5], multinomial=True)
    told = linear_scores(made).enter(np.array([[0.5, 1.0]]))
    assert told[:, 1] - told[:, 0] == pytest.approx(made.decision_function([[0.5, 1.0]]))


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array, np.asarray, np.float32])
def test_noisy_records_are_of_the_form_of_the_records(people, form):
    records, values = people
    defender = defenders()["multinomial"].fit(records, values)
    given = records.toarray().astype(np.float32) if form is np.float32 else form(records.toarray())
    noise, known = representatives(given, defender), representatives(records, defender)
    assert isinstance(noise.noisy, sparse.sparray | sparse.spmatrix) == sparse.issparse(given)
    assert isinstance(noise.noisy, sparse.spmatrix) == isinstance(given, sparse.spmatrix)
    assert np.array_equal(noise.size, known.size)
    assert dense(noise.noisy) == pytest.approx(dense(known.noisy), abs=1e-7)


def test_sparse_noisy_records_hold_no_zeros_and_values_that_were_set(people):
    records, values = people
    defender = defenders()["multinomial"].fit(records, values)
    noise = representatives(records, defender)
    clean = np.repeat(records.toarray(), 4, axis=0)
    changed = noise.noisy.toarray() != clean
    assert (noise.noisy.data != 0).all() and noise.noisy.has_sorted_indices
    assert set(noise.noisy.toarray()[changed].tolist()) == {0.0, 1.0}
    assert noise.noisy.indices.dtype == np.int32


def test_the_records_are_left_as_they_were(people):
    records, values = people
    defender = defenders()["multinomial"].fit(records, values)
    given = records.toarray()
    before = given.copy()
    panda(given, defender, 2)
    assert np.array_equal(given, before)


def test_one_person_without_ratings_is_given_some():
    defender = classifier_of([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]], [0.2, 0.0, 0.1], multinomial=False)
    noise = representatives(sparse.csr_array((1, 2)), defender, policy="modify_exist")
    assert noise.predicted.tolist() == [0]
    assert noise.found.tolist() == [[True, True, False]] and noise.fallback.tolist() == [[False, True, False]]
    assert noise.noisy.toarray().tolist() == [[0.0, 0.0], [0.0, 1.0], [0.0, 0.0]]


def test_nobody_is_a_set_of_people_too():
    defender = classifier_of([[1.0, -1.0]], [0.0], multinomial=True)
    noise = representatives(sparse.csr_array((0, 2)), defender)
    assert noise.noisy.shape == (0, 2) and noise.size.shape == (0, 2)


def test_modify_add_finds_nothing_where_there_is_nothing():
    defender = classifier_of([[0.5, 0.0], [0.0, 0.5], [0.0, 0.0]], [0.0, 0.0, -2.0], multinomial=False)
    done = panda(np.array([[1.0, 0.0]]), defender, 2)
    assert not done.found[0] and done.size[0] == 0 and done.noisy.tolist() == [[1.0, 0.0]]


def test_a_value_the_classifier_never_learned_has_no_noise(people):
    records, values = people
    defender = defenders()["multinomial"].fit(records, np.where(values == 1, 3, values))
    noise = representatives(records[:20], defender, n_values=6)
    assert noise.found.any(axis=0).tolist() == [True, False, True, True, False, False]
    assert not panda(records[:20], defender, 1).found.any()


def test_the_margin_is_led_by_and_clean_records_stay_clean(people):
    records, values = people
    defender = defenders()["multinomial"].fit(records, values)
    noise, plain = representatives(records, defender, margin=2.0), representatives(records, defender)
    told = np.sort(defender.decision_function(noise.noisy), axis=1)
    assert (told[:, -1] - told[:, -2])[(noise.size > 0).ravel()].min() > 2.0
    assert not noise.size[np.arange(300), noise.predicted].any()
    assert noise.size.mean() > plain.size.mean()


def test_progress_is_told_to_the_end(people):
    records, values = people
    defender = defenders()["multinomial"].fit(records, values)
    for order in ("scores", "softmax"):
        told = []
        representatives(
            records, defender, order=order, report=lambda done, total, told=told: told.append((done, total))
        )
        assert told[-1] == (900, 900) and told == sorted(told)


class Contrary:
    """A classifier that names other values than its scores lead to."""

    def __init__(self, inner) -> None:
        self.coef_, self.intercept_, self.classes_ = inner.coef_, inner.intercept_, inner.classes_
        self.decision_function = inner.decision_function

    def predict(self, rows):
        return np.zeros(rows.shape[0], dtype=int)


def test_noise_that_does_not_mislead_is_reported_and_undone():
    contrary = Contrary(classifier_of([[1.0, -1.0]], [0.0], multinomial=True))
    records = np.array([[0.2, 0.4], [0.0, 1.0]])
    done = panda(records, contrary, 1, policy="add_new")
    assert not done.found.any() and not done.fallback.any() and not done.size.any()
    assert np.array_equal(done.noisy, records)


GOOD = classifier_of([[1.0, -1.0]], [0.0], multinomial=True)


def unfitted():
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression()


def named():
    made = classifier_of([[1.0, -1.0]], [0.0], multinomial=True)
    made.classes_ = np.array(["city 0", "city 1"])
    return made


def pairwise():
    from sklearn.svm import SVC

    return SVC(kernel="linear").fit(np.eye(6)[:, :2], [0, 1, 2, 0, 1, 2])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"policy": "modify"}, "policy must be one of modify_exist, add_new, modify_add, got 'modify'"),
        ({"order": "random"}, "order must be one of scores, softmax"),
        ({"step": 0.0}, "step must be above 0 and at most 1, got 0.0"),
        ({"step": 1.5}, "step must be above 0 and at most 1, got 1.5"),
        ({"margin": -1.0}, "margin must be a number of at least 0, got -1.0"),
        ({"margin": np.nan}, "margin must be a number of at least 0, got nan"),
        ({"margin": "a"}, "margin must be a number of at least 0, got 'a'"),
        ({"target": 0.5}, "target must be the number of a value, or one for each of 2 people, got 0.5"),
        ({"target": [0, 1, 1]}, "target must be the number of a value, or one for each of 2 people"),
        ({"public": np.zeros(2)}, "public must have one row a person and 2 columns, got shape \\(2,\\)"),
        ({"public": np.zeros((2, 3))}, "public must have one row a person and 2 columns, got shape \\(2, 3\\)"),
        ({"public": np.full((2, 2), 5.0)}, "public must hold values in \\[0, 1\\], got 5"),
        ({"public": np.full((2, 2), np.nan)}, "public must hold values in \\[0, 1\\], got nan"),
        ({"public": np.full((2, 2), "x")}, "public must hold numbers"),
        ({"classifier": unfitted()}, "must be a fitted linear one or a fitted MLPClassifier, got LogisticRegression"),
        ({"classifier": named()}, "must name values by their numbers, 0 and up"),
        ({"classifier": pairwise()}, "must decide by one linear score a value, SVC does otherwise"),
    ],
)
def test_what_panda_refuses(changed, message):
    arguments = {"public": np.zeros((2, 2)), "classifier": GOOD, "target": 1} | changed
    with pytest.raises(InputError, match=message):
        panda(**arguments)


def test_fewer_values_than_the_classifier_names_are_refused():
    with pytest.raises(InputError, match="n_values must be at least 2"):
        representatives(np.zeros((1, 2)), GOOD, n_values=1)
