"""What PANDA is compared with: FGSM, JSMA, and the exact minimum by integer programming."""

from __future__ import annotations

import numpy as np

from core.attriguard import panda
from tests.linear_cases import classifier_of
from tests.oracles.evasion import fgsm, jsma
from tests.oracles.least_noise import least_noise

THREE = classifier_of(
    [[2.0, -1.0, 0.5, 0.0], [-1.0, 2.0, 0.5, 0.1], [0.0, 0.2, -1.0, 3.0]], [0.3, 0.0, -0.5], multinomial=False
)
RECORDS = np.array([[1.0, 0.0, 0.4, 0.0], [0.0, 0.8, 0.0, 0.2]])


def test_fgsm_moves_every_entry_along_the_sign():
    done = fgsm(RECORDS, THREE, 2)
    assert done.noisy.tolist() == [[1.0, 1.0, 0.0, 1.0], [0.0, 1.0, 0.0, 1.0]]
    assert done.size.tolist() == [3, 2] and done.found.all()


def test_jsma_takes_saliency_for_its_order():
    weights = [[3.0, 2.0, 0.0], [-1.0, -4.0, 0.0], [0.0, 0.0, 1.0]]
    defender = classifier_of(weights, [0.0, 1.0, 0.0], multinomial=False)
    done = jsma(np.zeros((1, 3)), defender, 0)
    assert done.noisy.tolist() == [[0.0, 1.0, 0.0]]  # 2 · 4 before 3 · 1, where PANDA takes 3
    assert panda(np.zeros((1, 3)), defender, 0).noisy.tolist() == [[1.0, 0.0, 0.0]]


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
