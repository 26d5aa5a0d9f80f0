"""Queries and how far they can move: designs, and sensitivities against brute force over all attribute vectors."""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.studies.bias_queries import global_sensitivity, smooth_sensitivity
from core.studies.bias_queries.gaps import design_scores, local_sensitivity
from tests.reference.table_1 import printed_smooth_sensitivity
from tests.unit.queries.people import largest_move, neighbours, vectors


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


BASE = np.array([0.0, 0.05, 0.5, 0.97, 1.0])


def test_each_design_asks_what_it_says():
    scores = design_scores("jitter", BASE, 4000, rng=rng())
    assert (np.abs(scores - BASE) <= 0.1).all()
    middle = scores[:, 2] - 0.5
    assert middle.std() == pytest.approx(0.1 / np.sqrt(3), rel=0.05) and abs(middle.mean()) < 0.005
    assert (scores[:, 0] == 0).mean() == pytest.approx(0.5, abs=0.05)  # what was clipped
    scores = design_scores("random_binary", BASE, 4000, rng=rng())
    assert set(np.unique(scores)) == {0.0, 1.0}
    assert scores.mean(axis=0) == pytest.approx(0.5, abs=0.05)
    scores = design_scores("targeted", BASE, 6, rng=rng())
    assert (scores[0] == BASE).all()
    flipped = scores[1:].diagonal()
    assert flipped == pytest.approx(1 - BASE)
    away = ~np.eye(5, dtype=bool)
    assert (scores[1:][away] == np.tile(BASE, (5, 1))[away]).all()
    assert (design_scores("targeted", BASE, 3, rng=rng()) == scores[:3]).all()


SIZES = range(3, 11)
BETAS = (0.0, 0.01, 0.1, 0.3, 1.0, 3.0, math.inf)


def by_size(n: int, *, absolute: bool) -> dict[int, float]:
    """Return the local sensitivity for each size of the disadvantaged group: by symmetry one vector stands for all."""
    firsts = [(0,) * n0 + (1,) * (n - n0) for n0 in range(1, n)]
    return {a.count(0): max(largest_move(a, b, absolute=absolute) for b in neighbours(a)) for a in firsts}


@pytest.mark.long
@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("n", SIZES)
def test_local_and_global_are_what_brute_force_finds(n: int, absolute: bool):
    sensitivities = by_size(n, absolute=absolute)
    for n0, value in sensitivities.items():
        assert local_sensitivity(n - n0, n0, 3, absolute=absolute) == pytest.approx(3 * value, rel=1e-9)
    assert global_sensitivity(n, 3, absolute=absolute) == pytest.approx(3 * max(sensitivities.values()), rel=1e-9)


@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("n", SIZES)
def test_smooth_is_the_definition_over_all_vectors(n: int, beta: float, absolute: bool):
    everybody = vectors(n)
    values = np.array([local_sensitivity(a.sum(), n - a.sum(), 1, absolute=absolute) for a in everybody.astype(int)])
    for n0 in range(1, n):
        a = np.array((0,) * n0 + (1,) * (n - n0))
        distance = (everybody != a).sum(axis=1)
        decay = np.where(distance == 0, 1.0, np.exp(-beta * np.maximum(distance, 1)))
        expected = float((values * decay).max())
        assert smooth_sensitivity(n - n0, n0, 2, beta, absolute=absolute) == pytest.approx(2 * expected, rel=1e-9)


def test_the_published_form_breaks_at_one_person_and_when_unsorted():
    beta = 5 / (6 * 25)
    alone = printed_smooth_sensitivity(99, 1, 25, beta)
    pair = printed_smooth_sensitivity(98, 2, 25, beta)
    assert alone / pair > 1.9 > math.exp(beta)
    unsorted = printed_smooth_sensitivity(2, 98, 25, 5.0)
    assert unsorted < 0.68 * local_sensitivity(2, 98, 25)  # less than what one neighbour moves


@pytest.mark.parametrize("n0", range(2, 50))
def test_both_forms_agree_where_the_paper_is_right(n0: int):
    for beta in (0.01, 0.2, 4.0):
        printed = printed_smooth_sensitivity(100 - n0, n0, 25, beta)
        assert smooth_sensitivity(100 - n0, n0, 25, beta) == pytest.approx(printed, rel=1e-12)
