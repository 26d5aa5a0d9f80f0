"""What PANDA is compared with: FGSM, JSMA, and the exact minimum by integer programming."""

from __future__ import annotations

import numpy as np
import pytest

from core.attriguard import panda
from core.errors import InputError
from tests.linear_cases import classifier_of
from tests.oracles.fgsm import fgsm
from tests.oracles.jsma import jsma
from tests.oracles.least_noise import least_noise

THREE = classifier_of(
    [[2.0, -1.0, 0.5, 0.0], [-1.0, 2.0, 0.5, 0.1], [0.0, 0.2, -1.0, 3.0]], [0.3, 0.0, -0.5], multinomial=False
)
RECORDS = np.array([[1.0, 0.0, 0.4, 0.0], [0.0, 0.8, 0.0, 0.2]])


def test_fgsm_moves_every_entry_along_the_sign():
    done = fgsm(RECORDS, THREE, 2)
    assert done.noisy.tolist() == [[1.0, 1.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0]]
    assert done.size.tolist() == [3, 2] and done.found.all()


def test_fgsm_with_a_small_step_changes_as_many_and_may_fail():
    done = fgsm(RECORDS[:1], THREE, 2, step=0.1)
    assert not done.found[0] and np.array_equal(done.noisy, RECORDS[:1])
    assert fgsm(RECORDS, THREE, [0, 1], step=0.1).size.tolist() == [0, 0]


def test_jsma_takes_saliency_for_its_order():
    weights = [[3.0, 2.0, 0.0], [-1.0, -4.0, 0.0], [0.0, 0.0, 1.0]]
    defender = classifier_of(weights, [0.0, 1.0, 0.0], multinomial=False)
    done = jsma(np.zeros((1, 3)), defender, 0)
    assert done.noisy.tolist() == [[0.0, 1.0, 0.0]]  # 2 · 4 before 3 · 1, where PANDA takes 3
    assert panda(np.zeros((1, 3)), defender, 0).noisy.tolist() == [[1.0, 0.0, 0.0]]


def test_jsma_that_may_only_lower_finds_less():
    assert jsma(RECORDS, THREE, 2, direction="lower").found.tolist() == [False, False]
    lowered = jsma(RECORDS, THREE, 1, direction="lower")
    assert lowered.noisy.tolist()[1] == RECORDS[1].tolist() and lowered.found[1]


def test_the_minimum_may_lie_between_the_borders():
    # one entry, of which just a half makes value 1 lead both others
    defender = classifier_of([[0.0], [2.0], [4.0]], [0.9, 0.0, -1.2], multinomial=False)
    least = least_noise(np.zeros((1, 1)), defender, 1)
    assert least.status == ("optimal",) and least.size.tolist() == [1]
    assert 0.45 < least.noisy[0, 0] < 0.6
    assert not panda(np.zeros((1, 1)), defender, 1).found[0]


def test_the_minimum_is_below_the_greedy_search_where_rivals_are_many():
    weights = [[3.0, 2.0, 2.0, 0.0], [3.0, -2.0, 0.0, 0.0], [3.0, 0.0, -2.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    defender = classifier_of(weights, [0.0, 1.0, 1.0, 0.0], multinomial=False)
    least, greedy = least_noise(np.zeros((1, 4)), defender, 0), panda(np.zeros((1, 4)), defender, 0)
    assert least.status == ("optimal",) and least.bound.tolist() == [1] == least.size.tolist()
    assert greedy.size.tolist() == [2]


def test_statuses_say_what_was_proved():
    defender = classifier_of([[0.5, 0.0], [0.0, 0.5], [0.0, 0.0]], [0.0, 0.0, -2.0], multinomial=False)
    records = np.array([[1.0, 0.0], [0.0, 1.0]])
    assert least_noise(records, defender, 2).status == ("infeasible", "infeasible")
    assert not least_noise(records, defender, 2).found.any()
    done = least_noise(records, defender, 0)
    assert done.status == ("optimal", "optimal") and done.size.tolist() == [0, 2] == done.bound.tolist()
    unknown = least_noise(records, defender, 7)
    assert unknown.status == ("infeasible", "infeasible") and not unknown.found.any()


def test_without_time_the_first_solution_stands_unproved():
    rng = np.random.default_rng(4)
    defender = classifier_of(rng.normal(size=(8, 60)), rng.normal(size=8), multinomial=True)
    records = np.zeros((12, 60))
    short, free = least_noise(records[:1], defender, 3, seconds=1e-9), least_noise(records[:1], defender, 3)
    assert free.status == ("optimal",) and free.bound.tolist() == free.size.tolist()
    assert short.found.all() and short.size[0] >= free.size[0] and short.bound[0] <= free.size[0]
    assert short.status == (("optimal" if short.size[0] == short.bound[0] else "feasible"),)


@pytest.mark.parametrize("policy", ["modify_exist", "add_new"])
def test_the_minimum_keeps_to_the_policy(policy):
    least = least_noise(RECORDS, THREE, [1, 0], policy=policy)
    changed, existing = least.noisy != RECORDS, RECORDS > 0
    assert not (changed & (existing if policy == "add_new" else ~existing)).any()
    assert (THREE.predict(least.noisy)[least.found] == np.array([1, 0])[least.found]).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fgsm(RECORDS, THREE, 0, step=0.0), "step must be above 0 and at most 1, got 0.0"),
        (lambda: jsma(RECORDS, THREE, 0, direction="up"), "direction must be one of raise, lower, got 'up'"),
        (lambda: least_noise(RECORDS, THREE, 0, seconds=0.0), "seconds must be above 0, got 0.0"),
        (lambda: least_noise(RECORDS, THREE, 0, policy="any"), "policy must be one of"),
    ],
)
def test_what_they_refuse(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_the_minimum_needs_a_linear_classifier():
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.neural_network import MLPClassifier

    forest = RandomForestClassifier(2, random_state=0).fit(RECORDS, [0, 1])
    network = MLPClassifier((2,), random_state=0).partial_fit(RECORDS, [0, 1], classes=[0, 1])
    for classifier in (forest, network):
        with pytest.raises(InputError, match=f"must be a fitted linear one, got {type(classifier).__name__}"):
            least_noise(RECORDS, classifier, 0)
