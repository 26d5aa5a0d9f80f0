"""Recovery in closed form and by linear programs: against every vector and what is planted."""

import itertools
import warnings

import numpy as np
import pytest
import scipy.optimize
from scipy.optimize import _constraints

from core.base.errors import InputError
from core.studies.bias_queries import partition_absolute, recover_flips, statistical_parity_gap
from core.studies.bias_queries.gaps import design_scores, most_questions
from core.studies.bias_queries.reveal import recover_compressed, reveal_bits, solve_program
from tests.unit.queries.people import attribute, scores_and_gaps, sizes, vectors


def flip_answers(base, a):
    scores = design_scores("targeted", base, a.size + 1, rng=np.random.default_rng(0))
    return statistical_parity_gap(scores, a)[1:]


@pytest.mark.parametrize("n", [2, 3, 4])
def test_flips_without_the_last_answer(n):
    """It is a matter of the base scores alone whether the rest suffices; where it does, everybody is recovered."""
    rng = np.random.default_rng(n)
    bases = [*itertools.product((0.0, 1.0), repeat=n), *rng.random((20, n)), *rng.choice([0.2, 0.5, 1.0], (20, n))]
    for base in map(np.asarray, bases):
        recoveries = [(recover_flips(base, flip_answers(base, a)[:-1]), a) for a in vectors(n)]
        answered = [recovery.values is not None for recovery, _ in recoveries]
        assert all(answered) == any(answered)
        distinct = len({tuple(np.round(flip_answers(base, a)[:-1], 9)) for a in vectors(n)})
        if all(answered) and distinct == len(recoveries):
            assert all((recovery.recovered == a).all() for recovery, a in recoveries)


def bit_answers(a, m=None):
    m = m or most_questions("bits", a.size)
    return statistical_parity_gap(design_scores("bits", np.zeros(a.size), m, rng=np.random.default_rng(0)), a)


@pytest.mark.parametrize("n", [2, 3, 50, 51, 100, 1000])
def test_everybody_is_revealed_whatever_the_sizes(n):
    rng = np.random.default_rng(n)
    for seed in range(20):
        a = attribute(n, int(rng.integers(1, n)), seed)
        answers = bit_answers(a)
        assert answers.size == -(-n // 50)
        assert (reveal_bits(answers, n, **sizes(a)) == a).all(), (seed, sizes(a))


@pytest.mark.parametrize(("n", "n_disadvantaged", "seed"), [(51, 48, 98), (100, 76, 178), (100, 88, 229)])
def test_rounding_inside_the_answer_is_undone(n, n_disadvantaged, seed):
    """Attributes for which the sum's own rounding moves K by one or more; found by trying 600."""
    rng = np.random.default_rng(seed)
    assert (rng.choice([50, 51, 100, 1000]), rng.integers(1, n)) == (n, n_disadvantaged)
    a = np.ones(n, dtype=np.uint8)
    a[rng.permutation(n)[:n_disadvantaged]] = 0
    assert (reveal_bits(bit_answers(a), n, **sizes(a)) == a).all()


@pytest.mark.parametrize("n", [2, 3, 4, 6, 8])
def test_everybody_is_parted_with_n_questions(n):
    for a in vectors(n):  # among them three times as many of one as of the other, and as many
        questions = []

        def ask(scores, a=a, questions=questions):
            questions.extend(scores)
            return np.abs(statistical_parity_gap(scores, a))

        parts = partition_absolute(ask, n)
        assert len(questions) == n
        assert (parts == a).all() or (parts == 1 - a).all()
        assert parts.mean() >= 0.5  # 1 is the larger group,
        assert a.mean() != 0.5 or parts[0] == 1  # or the first person's


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: recover_flips([0.1, 0.2, 0.3], [0.1, np.nan, 0.2]), r"answers must be finite, got nan\."),
        (lambda: recover_flips([0.1], [0.1]), "base_scores must have one score for each of two people or more"),
        (lambda: recover_flips([0.1, 1.2, 0.3], [0.1, 0.2, 0.3]), r"scores must be in \[0, 1\], got 1.2."),
        (lambda: partition_absolute(lambda _: [0.5, 0.5], 4), r"ask must return one answer .* 1 questions, got 2\."),
    ],
)
def test_unreadable_input(call, message):
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize("seed", range(8))
def test_box_with_prior_is_the_most_probable_vector(seed):
    """Against brute force over all vectors: the program's optimum is never less likely, and equal when it is whole."""
    rng = np.random.default_rng(seed)
    a = attribute(10, 4, seed)
    scores, answers = scores_and_gaps(a, 3, seed=seed)
    prior = rng.uniform(0.05, 0.95, 10)
    rounded = np.round(answers, 2)
    fitting = [
        v
        for v in vectors(10)
        if v.sum() == 6 and (np.abs(statistical_parity_gap(scores, v) - rounded) <= 0.005 + 1e-12).all()
    ]
    best = max(np.log(prior[v == 1]).sum() + np.log(1 - prior[v == 0]).sum() for v in fitting)
    recovery = recover_compressed(scores, rounded, method="box", prior=prior, slack=0.005, **sizes(a))
    x = recovery.values / (2 * recovery.threshold)
    reached = float(((1 - x) * np.log(prior) + x * np.log(1 - prior)).sum())
    assert reached >= best - 1e-6
    if np.abs(x - np.round(x)).max() < 1e-6:
        assert reached == pytest.approx(best)


COST, MATRIX, RIGHT = np.ones(3), np.array([[1.0, 0.5, 0.0], [0.0, 0.5, 1.0]]), np.array([1.0, 1.0])


def test_an_unsolved_program_and_a_wrong_solution(monkeypatch):
    rng = np.random.default_rng(0)
    matrix = rng.random((150, 600))
    right = matrix @ (rng.random(600) < 0.1)
    assert solve_program(np.ones(600), matrix, right, right, time_limit=1e-3) is None
    real = scipy.optimize.milp

    def lying(*args, **keywords):
        solution = real(*args, **keywords)
        solution.x = solution.x + 0.01
        return solution

    monkeypatch.setattr(scipy.optimize, "milp", lying)
    assert solve_program(COST, MATRIX, RIGHT, RIGHT) is None


def test_a_program_leaves_other_threads_warnings_alone(monkeypatch):
    """What scipy does inside is done to the whole process: a model trained meanwhile would fail on a warning."""
    entered = []

    class Watched(warnings.catch_warnings):
        def __enter__(self):
            entered.append(True)
            return super().__enter__()

    monkeypatch.setattr(_constraints, "catch_warnings", Watched)
    assert solve_program(np.ones(3), np.eye(3)[:2], np.ones(2), np.ones(2)) is not None
    assert not entered


@pytest.mark.parametrize(("hidden", "visible"), [([0, 0], [1, 1, 0]), ([1, 1], [1, 0, 0]), ([0, 0, 0], [1, 1, 1, 0])])
def test_recover_flips_gives_the_hidden_the_group_that_the_sizes_leave(hidden, visible):
    """No flip tells of who has a score of one half, but the sizes do: all that are missing of one group are they."""
    a = np.array(hidden + visible, dtype=np.uint8)
    base = np.where(np.arange(a.size) < len(hidden), 0.5, 0.2)
    recovery = recover_flips(base, flip_answers(base, a))
    assert recovery.recovered.tolist() == a.tolist()
