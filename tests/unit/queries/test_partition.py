"""Sizes from one answer and theorem 4, against every attribute vector."""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import InputError
from core.queries import partition_absolute, sizes_from_answer, statistical_parity_gap
from tests.unit.queries.people import attribute, vectors


class Team:
    """Answers with absolute gaps and counts the questions."""

    def __init__(self, a: np.ndarray) -> None:
        self.a, self.asked = a, 0

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        self.asked += len(scores)
        return np.abs(statistical_parity_gap(scores, self.a))


@pytest.mark.parametrize("n", [2, 3, 4, 6, 8])
def test_everybody_is_parted_with_n_questions(n: int):
    for a in vectors(n):  # among them three times as many of one as of the other, and as many
        team = Team(a)
        found = partition_absolute(team, n)
        assert team.asked == n
        assert (found == a).all() or (found == 1 - a).all()
        assert found.mean() >= 0.5  # 1 is the larger group,
        if a.mean() == 0.5:
            assert found[0] == 1  # or the first person's


@pytest.mark.parametrize("n_disadvantaged", [1, 98, 500, 999])
def test_a_thousand_people(n_disadvantaged: int):
    a = attribute(1000, n_disadvantaged)
    found = partition_absolute(Team(a), 1000)
    assert (found == a).all() or (found == 1 - a).all()


@pytest.mark.parametrize("n", [2, 3, 10, 5000])
def test_one_answer_tells_the_sizes(n: int):
    for n_disadvantaged in {1, n // 3 + 1 if n > 3 else 1, n // 2, n - 1}:
        a = attribute(n, n_disadvantaged)
        for person in (a.argmax(), a.argmin()):
            row = np.zeros(n)
            row[person] = 1
            told = float(statistical_parity_gap(row, a)[0])
            assert sizes_from_answer(told, n) == (n - n_disadvantaged, n_disadvantaged)


@pytest.mark.parametrize("answer", [0.0, 0.27, -0.3, 1.4, float("nan"), 0.1, 1e-300])
def test_an_answer_no_size_explains_is_told(answer: float):
    with pytest.raises(InputError, match=r"accepts one of 8 people must be one over a group's size, got"):
        sizes_from_answer(answer, 8)


def test_a_team_that_answers_something_else_is_told():
    with pytest.raises(InputError, match=r"ask must return one answer for each of 1 questions, got 2\."):
        partition_absolute(lambda scores: [0.5, 0.5], 4)
    with pytest.raises(InputError, match=r"n must be at least 2, got 1\."):
        partition_absolute(lambda scores: [1.0], 1)
