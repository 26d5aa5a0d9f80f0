"""The designs of questions: their shapes, their ranges and what each promises."""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import InputError
from core.queries import DESIGNS, design_scores, most_questions


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


BASE = np.array([0.0, 0.05, 0.5, 0.97, 1.0])


@pytest.mark.parametrize("design", DESIGNS)
def test_scores_stay_in_range_and_repeat_with_the_seed(design: str):
    base = rng(1).random(120)
    first, again = (design_scores(design, base, 3, rng=rng(5)) for _ in range(2))
    assert first.shape == (3, 120)
    assert first.min() >= 0 and first.max() <= 1
    assert (first == again).all()
    other = design_scores(design, base, 3, rng=rng(6))
    assert (first == other).all() == (design in ("targeted", "bits"))


def test_jitter_stays_near_the_base_and_within_the_range():
    scores = design_scores("jitter", BASE, 4000, rng=rng(), width=0.1)
    assert (np.abs(scores - BASE) <= 0.1).all()
    middle = scores[:, 2] - 0.5
    assert middle.std() == pytest.approx(0.1 / np.sqrt(3), rel=0.05) and abs(middle.mean()) < 0.005
    assert (scores[:, 0] == 0).mean() == pytest.approx(0.5, abs=0.05)  # what was clipped
    assert (design_scores("jitter", BASE, 3, rng=rng(), width=0.0) == BASE).all()


def test_random_binary_tosses_a_fair_coin():
    scores = design_scores("random_binary", BASE, 4000, rng=rng())
    assert set(np.unique(scores)) == {0.0, 1.0}
    assert scores.mean(axis=0) == pytest.approx(0.5, abs=0.05)


def test_targeted_differs_from_the_base_for_one_person_a_row():
    scores = design_scores("targeted", BASE, 6, rng=rng())
    assert (scores[0] == BASE).all()
    flipped = scores[1:].diagonal()
    assert flipped == pytest.approx(1 - BASE)
    away = ~np.eye(5, dtype=bool)
    assert (scores[1:][away] == np.tile(BASE, (5, 1))[away]).all()
    assert (design_scores("targeted", BASE, 3, rng=rng()) == scores[:3]).all()


@pytest.mark.parametrize(("n", "questions"), [(1, 1), (50, 1), (51, 2), (100, 2), (1000, 20)])
def test_bits_give_everybody_a_power_of_two_in_one_question(n: int, questions: int):
    assert most_questions("bits", n) == questions
    scores = design_scores("bits", np.zeros(n), questions, rng=rng())
    assert ((scores > 0).sum(axis=0) == 1).all()
    told = scores.max(axis=0)
    assert (np.log2(told) == -(np.arange(n) % 50)).all()
    assert all(len(set(row[row > 0])) == (row > 0).sum() for row in scores)


@pytest.mark.parametrize(
    ("design", "base", "m", "width", "message"),
    [
        ("dots", BASE, 3, 0.1, "design must be one of jitter, random_binary, targeted, bits, got 'dots'."),
        ("targeted", BASE, 7, 0.1, "m must be a whole number from 1 to 6 with targeted questions about 5 people"),
        ("bits", BASE, 2, 0.1, "m must be a whole number from 1 to 1"),
        ("jitter", BASE, 0, 0.1, "m must be a whole number of at least 1"),
        ("jitter", BASE, 2.5, 0.1, "m must be a whole number of at least 1"),
        ("jitter", BASE, 3, 1.5, r"width must be in \[0, 1\]"),
        ("jitter", BASE + 1, 3, 0.1, r"scores must be in \[0, 1\]"),
        ("jitter", [BASE, BASE], 3, 0.1, "base must have one score a person, got 2 rows."),
    ],
)
def test_what_cannot_be_designed_is_told(design, base, m, width, message):
    with pytest.raises(InputError, match=message):
        design_scores(design, base, m, rng=rng(), width=width)
