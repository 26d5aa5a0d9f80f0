"""Queries and how far they can move: designs, and sensitivities against brute force over all attribute vectors."""

from __future__ import annotations

import math

import cvxpy
import numpy as np
import pytest

from core.base.errors import InputError
from core.studies.bias_queries import global_sensitivity, smooth_sensitivity, statistical_parity_gap
from core.studies.bias_queries.gaps import design_scores, local_sensitivity
from tests.reference.table_1 import printed_smooth_sensitivity
from tests.unit.queries.people import neighbours, vectors, weights


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


BASE = np.array([0.0, 0.05, 0.5, 0.97, 1.0])


def test_jitter_moves_scores_by_a_tenth_at_most():
    scores = design_scores("jitter", BASE, 4000, rng=rng())
    assert (np.abs(scores - BASE) <= 0.1).all()
    middle = scores[:, 2] - 0.5
    assert middle.std() == pytest.approx(0.1 / np.sqrt(3), rel=0.05)
    assert abs(middle.mean()) < 0.005
    assert (scores[:, 0] == 0).mean() == pytest.approx(0.5, abs=0.05)  # what was clipped


def test_random_binary_tosses_a_coin():
    scores = design_scores("random_binary", BASE, 4000, rng=rng())
    assert set(np.unique(scores)) == {0.0, 1.0}
    assert scores.mean(axis=0) == pytest.approx(0.5, abs=0.05)


def test_targeted_flips_one_person_a_question():
    scores = design_scores("targeted", BASE, 6, rng=rng())
    expected = np.where(np.eye(5), 1 - BASE, BASE)
    assert scores == pytest.approx(np.vstack([BASE, expected]))


BETAS = (0.0, 0.1, 1.0, math.inf)


def largest_move(a: tuple[int, ...], b: tuple[int, ...], *, absolute: bool) -> float:
    """Return the largest change of a gap from a to b that any scores h in [0, 1] can make.

    Signed: the positive (or negative) part of the change of v, at binary scores. Absolute: the largest of
    ±h·v(b) − |h·v(a)| over both signs, and the same with a, b swapped.
    """
    v, w = weights(a), weights(b)
    if not absolute:
        return float(max(np.maximum(w - v, 0).sum(), np.maximum(v - w, 0).sum()))
    h = cvxpy.Variable(len(a), bounds=[0, 1])
    moves = [far @ h - cvxpy.abs(near @ h) for far, near in ((w, v), (-w, v), (v, w), (-v, w))]
    return max(cvxpy.Problem(cvxpy.Maximize(move)).solve(solver=cvxpy.SCIPY) for move in moves)


@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("n", [3, 4, 7])
def test_local_and_global_are_what_brute_force_finds(n: int, absolute: bool):
    """By symmetry one vector stands for all of a size."""
    largest = []
    for n0 in range(1, n):
        a = (0,) * n0 + (1,) * (n - n0)
        sizes = {sum(b): b for b in neighbours(a)}
        largest.append(max(largest_move(a, b, absolute=absolute) for b in sizes.values()))
        assert local_sensitivity(n - n0, n0, 3, absolute=absolute) == pytest.approx(3 * largest[-1], rel=1e-9)
    assert global_sensitivity(n, 3, absolute=absolute) == pytest.approx(3 * max(largest), rel=1e-9)


@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("n", [3, 6, 9])
def test_smooth_is_the_definition_over_all_vectors(n: int, beta: float, absolute: bool):
    everybody = vectors(n)
    values = np.array([local_sensitivity(a.sum(), n - a.sum(), 1, absolute=absolute) for a in everybody.astype(int)])
    for n0 in range(1, n):
        a = np.array((0,) * n0 + (1,) * (n - n0))
        distance = (everybody != a).sum(axis=1)
        decay = np.where(distance == 0, 1.0, np.exp(-beta * np.maximum(distance, 1)))
        expected = float((values * decay).max())
        assert smooth_sensitivity(n - n0, n0, 2, beta, absolute=absolute) == pytest.approx(2 * expected, rel=1e-9)


@pytest.mark.parametrize("n0", [2, 3, 17, 49])
def test_smooth_is_the_published_form_where_the_paper_is_right(n0: int):
    for beta in (0.01, 0.2, 4.0):
        printed = printed_smooth_sensitivity(100 - n0, n0, 25, beta)
        assert smooth_sensitivity(100 - n0, n0, 25, beta) == pytest.approx(printed, rel=1e-12)


@pytest.mark.parametrize(
    ("sensitive", "composition"), [([1, 1, 1], "all 3 are 1"), ([0, 0], "all 2 are 0"), ([], "nobody")]
)
def test_statistical_parity_gap_refuses_one_group_alone(sensitive: list[int], composition: str):
    with pytest.raises(InputError, match=composition):
        statistical_parity_gap(np.full((2, len(sensitive)), 0.5), sensitive)
