"""Fifty people a question."""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import InputError
from core.queries import design_scores, leakage, most_questions, reveal_bits, statistical_parity_gap
from tests.unit.queries.people import attribute, sizes


def answers(a: np.ndarray, m: int | None = None) -> np.ndarray:
    m = m or most_questions("bits", a.size)
    return statistical_parity_gap(design_scores("bits", np.zeros(a.size), m, rng=np.random.default_rng(0)), a)


@pytest.mark.parametrize("n", [2, 3, 50, 51, 100, 1000])
def test_everybody_is_revealed_whatever_the_sizes(n: int):
    rng = np.random.default_rng(n)
    for seed in range(60):
        a = attribute(n, int(rng.integers(1, n)), seed)
        told = answers(a)
        assert told.size == -(-n // 50)
        assert (reveal_bits(told, n, **sizes(a)) == a).all(), (seed, sizes(a))


@pytest.mark.parametrize(("n", "n_disadvantaged", "seed"), [(51, 48, 98), (100, 76, 178), (100, 88, 229)])
def test_rounding_inside_the_answer_is_undone(n: int, n_disadvantaged: int, seed: int):
    """Attributes for which the sum's own rounding moves K by one or more; found by trying 600."""
    rng = np.random.default_rng(seed)
    assert (rng.choice([50, 51, 100, 1000]), rng.integers(1, n)) == (n, n_disadvantaged)
    a = np.ones(n, dtype=np.uint8)
    a[rng.permutation(n)[:n_disadvantaged]] = 0
    assert (reveal_bits(answers(a), n, **sizes(a)) == a).all()


def test_answers_summed_otherwise_reveal_as_much():
    for seed in range(60):
        a = attribute(100, 1 + seed, seed)
        scores = design_scores("bits", np.zeros(100), 2, rng=np.random.default_rng(0))
        told = [row[a == 1].mean() - row[a == 0].mean() for row in scores]
        assert (reveal_bits(told, 100, **sizes(a)) == a).all()


def test_people_nobody_asked_about_get_the_larger_group():
    a = attribute(120, 30)
    found = reveal_bits(answers(a, 2), 120, **sizes(a))
    assert (found[:100] == a[:100]).all() and (found[100:] == 1).all()
    a = 1 - a
    assert (reveal_bits(answers(a, 1), 120, **sizes(a))[50:] == 0).all()


def test_rounded_answers_keep_the_first_of_each_fifty():
    """Three decimals are ten binary digits less the sizes'; a carry may reach them, and nobody knows the rest."""
    told = []
    for seed in range(20):
        a = attribute(100, 40, seed)
        found = reveal_bits(np.round(answers(a), 3), 100, **sizes(a))
        told.append(found == a)
    first, rest = np.mean(told, axis=0)[[0, 1, 2, 50, 51, 52]], np.mean(told, axis=0)[20:50]
    assert first.min() >= 0.9 and 0.3 < rest.mean() < 0.7
    assert leakage(a, found) < 1


@pytest.mark.parametrize(
    ("told", "n", "message"),
    [
        ([0.1, 0.2, 0.3], 100, r"answers must be 1 to 2 for 100 people, got 3\."),
        ([], 100, r"answers must be 1 to 2 for 100 people, got 0\."),
        ([np.nan], 100, r"answers must be finite, got nan\."),
        ([0.1], 99, "n_advantaged and n_disadvantaged must sum to 99 people, got 90 and 10."),
    ],
)
def test_unusable_input_is_told(told, n, message):
    with pytest.raises(InputError, match=message):
        reveal_bits(told, n, n_advantaged=90, n_disadvantaged=10)
