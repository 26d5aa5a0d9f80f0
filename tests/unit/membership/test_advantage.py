"""Membership advantage: not optimistic where nothing leaks, and what it is where something does."""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import InputError
from core.membership import advantage

MEMBER = np.repeat([1, 0], [300, 500])


def test_the_best_threshold_of_the_same_people_would_be_optimistic_and_this_is_not():
    rng, found, best = np.random.default_rng(0), [], []
    for seed in range(200):
        score = rng.random(800)
        found.append(advantage(score, MEMBER, seed=seed))
        cuts = np.sort(score)
        above = [1 - np.searchsorted(np.sort(score[kind == MEMBER]), cuts) / (kind == MEMBER).sum() for kind in (1, 0)]
        best.append(float((above[0] - above[1]).max()))
    assert np.mean([one.value for one in found]) == pytest.approx(0.0, abs=0.007)  # three standard errors
    assert np.mean(best) > 0.04
    assert sum(one.low > 0 for one in found) <= 10  # 2.5% of 200, and two standard errors


def test_a_shift_has_the_advantage_of_its_threshold():
    rng = np.random.default_rng(1)
    found = advantage(rng.normal(size=40_000) + np.tile([0, 1], 20_000), np.tile([0, 1], 20_000), seed=0)
    assert found.value == pytest.approx(0.383, abs=0.015)  # 2 Phi(1/2) - 1
    assert found.low < 0.383 < found.high and found.n == 40_000


def test_a_perfect_score_has_all_and_a_constant_none():
    assert advantage(MEMBER, MEMBER, seed=0).value == 1.0
    none = advantage(np.ones(800), MEMBER, seed=0)
    assert none.value == 0.0 and none.low < 0.0 < none.high


def test_too_few_are_told():
    with pytest.raises(InputError, match="needs at least 10 non-members, got 9"):
        advantage(np.arange(29), np.repeat([1, 0], [20, 9]), seed=0)
