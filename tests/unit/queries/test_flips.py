"""Single and double query, and algorithm 1: against a linear solver, and against every attribute vector."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from core.errors import InputError
from core.queries import (
    design_scores,
    recover_flips,
    reveal_double,
    reveal_flips,
    reveal_single,
    statistical_parity_gap,
)
from tests.unit.queries.people import attribute, vectors


def flip_answers(base: np.ndarray, a: np.ndarray) -> np.ndarray:
    scores = design_scores("targeted", base, a.size + 1, rng=np.random.default_rng(0))
    return statistical_parity_gap(scores, a)[1:]


@pytest.mark.parametrize("n_disadvantaged", [1, 4, 5, 9])
def test_one_question_about_one_person(n_disadvantaged: int):
    a = attribute(10, n_disadvantaged)
    told = [reveal_single(float(statistical_parity_gap(row, a)[0])) for row in np.eye(10)]
    assert told == a.tolist()


@pytest.mark.parametrize("n_disadvantaged", [1, 5, 9])
def test_two_questions_that_differ_for_one_person(n_disadvantaged: int):
    a = attribute(10, n_disadvantaged)
    base = np.random.default_rng(3).random(10)
    for j, step in itertools.product(range(10), (0.3, -0.3)):
        other = base.copy()
        other[j] = base[j] + step if 0 <= base[j] + step <= 1 else base[j] - step
        answers = statistical_parity_gap([base, other], a)
        assert reveal_double(tuple(answers), (base[j], other[j])) == a[j]


def test_questions_that_tell_nothing_are_refused():
    with pytest.raises(InputError, match=r"scores of the two models must differ .* got 0\.4 twice"):
        reveal_double((0.1, 0.2), (0.4, 0.4))
    with pytest.raises(InputError, match=r"answer must be 1/N1 or -1/N0 .* got 0\.0"):
        reveal_single(0.0)


@pytest.mark.parametrize("n", [4, 7, 12])
@pytest.mark.parametrize("seed", range(8))
def test_closed_form_agrees_with_solving_the_system(n: int, seed: int):
    a = attribute(n, 1 + seed % (n - 1), seed)
    base = np.random.default_rng(seed).random(n)
    scores = np.tile(base, (n, 1))
    np.fill_diagonal(scores, 1 - base)
    if np.linalg.cond(scores) > 1e4:
        pytest.skip("too badly conditioned for the solver")
    answers = statistical_parity_gap(scores, a)
    v = np.linalg.solve(scores, answers)
    found = recover_flips(base, answers)
    n_advantaged = int(a.sum())
    assert found.values == pytest.approx(1 / n_advantaged - v, abs=1e-9)
    assert found.threshold == pytest.approx((1 / n_advantaged + 1 / (n - n_advantaged)) / 2)
    assert (found.recovered == a).all() and (found.recovered == (v > 0)).all()


@pytest.mark.parametrize("n", [4, pytest.param(6, marks=pytest.mark.long)])
def test_every_attribute_with_every_binary_base(n: int):
    for base in itertools.product((0.0, 1.0), repeat=n):  # those that accept exactly half are among them
        for a in vectors(n):
            assert (reveal_flips(base, flip_answers(np.array(base), a)) == a).all()


@pytest.mark.parametrize("n", [3, 4, 5, pytest.param(6, marks=pytest.mark.long)])
def test_without_the_last_answer_nobody_is_lost_whom_the_answers_tell_apart(n: int):
    rng = np.random.default_rng(n)
    bases = [*itertools.product((0.0, 1.0), repeat=n), *rng.random((20, n)), *rng.choice([0.2, 0.5, 1.0], (20, n))]
    for base in map(np.asarray, bases):
        told = [flip_answers(base, a)[:-1] for a in vectors(n)]
        answers = {tuple(np.round(one, 9)) for one in told}
        found = [recover_flips(base, one) for one in told]
        open_questions = [one.status == "undetermined" for one in found]
        if len(answers) == 2**n - 2 and not all(open_questions):
            right = [(one.recovered == a).all() for one, a in zip(found, vectors(n), strict=True)]
            assert all(right)
        assert all(open_questions) == any(open_questions)  # a matter of the base scores alone


def test_a_score_of_one_half_hides_its_person():
    base = np.array([0.5, 0.1, 0.9, 0.5, 0.3, 0.2])
    same = [np.array([1, 0, 1, 0, 1, 1]), np.array([0, 0, 1, 1, 1, 1])]
    answers = [flip_answers(base, a) for a in same]
    assert answers[0] == pytest.approx(answers[1])
    found = recover_flips(base, answers[0])
    assert np.isnan(found.values[[0, 3]]).all() and not np.isnan(found.values[[1, 2, 4, 5]]).any()
    assert (found.recovered[[1, 2, 4, 5]] == [0, 1, 1, 1]).all()
    assert found.reason == "2 people have a score of 1/2, which hides them."


def test_a_base_of_halves_tells_nothing():
    found = recover_flips(np.full(5, 0.5), flip_answers(np.full(5, 0.5), attribute(5, 2)))
    assert found.values is None and found.status == "undetermined"


@pytest.mark.parametrize("base", [(0.2, 0.6), (0.5, 0.1), (1.0, 1.0)])
def test_two_people(base: tuple[float, float]):
    for a in vectors(2):
        assert (reveal_flips(base, flip_answers(np.array(base), a)) == a).all()


def test_two_people_whose_scores_sum_to_one_stay_hidden():
    answers = [flip_answers(np.array([0.0, 1.0]), a) for a in vectors(2)]
    assert (answers[0] == answers[1]).all()
    assert recover_flips((0.0, 1.0), answers[0]).status == "undetermined"


@pytest.mark.parametrize(
    ("base", "answers", "message"),
    [
        ([0.1, 0.2, 0.3], [0.1], r"answers must be 3 or 2 for 3 people, got 1\."),
        ([0.1, 0.2, 0.3], [0.1, np.nan, 0.2], r"answers must be finite, got nan\."),
        ([0.1], [0.1], "base_scores must have one score for each of two people or more"),
        ([0.1, 1.2, 0.3], [0.1, 0.2, 0.3], r"scores must be in \[0, 1\], got 1.2."),
    ],
)
def test_unusable_input_is_told(base, answers, message):
    with pytest.raises(InputError, match=message):
        recover_flips(base, answers)


@pytest.mark.parametrize("others", [(1, 0, 1), (0, 0, 1)])
def test_several_hidden_people_get_what_most_of_them_are(others: tuple[int, int, int]):
    base = np.array([0.5, 0.5, 0.5, 0.1, 0.9, 0.3])
    found = recover_flips(base, flip_answers(base, np.array([*others, 1, 0, 1])))
    assert found.recovered.tolist() == [round(np.mean(others))] * 3 + [1, 0, 1]


def test_a_hidden_person_stands_in_for_the_missing_base_answer():
    """Without the last answer, a score of 1/2 gives SP_0, and that the last person's attribute."""
    base = np.array([0.5, 0.2, 1.0, 1.0, 0.0])
    for a in vectors(5):
        assert (reveal_flips(base, flip_answers(base, a)[:-1]) == a).all()
