"""What each kind of attacker makes of the answers: exact posteriors, leakages, recovery by formula and program."""

import warnings
from unittest.mock import Mock

import numpy as np
import pytest
import scipy.optimize
from scipy.optimize import _constraints
from sklearn.metrics import balanced_accuracy_score

from core.base.errors import InputError
from core.studies.bias_queries import (
    DECODERS,
    Exact,
    LaplaceGlobal,
    Rounded,
    SmoothCauchy,
    Trials,
    leakage,
    partition_absolute,
    recover_flips,
    statistical_parity_gap,
)
from core.studies.bias_queries.decoders import _explained, propagate, read_answers
from core.studies.bias_queries.gaps import DESIGNS, counted, design_scores, most_questions
from core.studies.bias_queries.guarantees import MOST_CELLS, prior_given_sizes
from core.studies.bias_queries.reveal import DecodedAttribute, recover_compressed, reveal_bits, solve_program
from tests.unit.queries.people import answered, attribute, pool, posterior, scores_and_gaps, sizes, vectors, with_ones


def trials(design="jitter", *, repeats=6, n=40):
    return Trials(pool(), n=n, design=design, repeats=repeats, seed=3)


def leaked(drawn_trials, m, mechanism, decoder):
    return drawn_trials.leak(m, mechanism, decoder).leakage.value


@pytest.mark.parametrize("mechanism", [Exact(), Rounded(6)], ids=str)
@pytest.mark.parametrize("design", ["jitter", "targeted"])
def test_one_answer_about_few_people_is_read_by_all_groups_that_would_give_it(mechanism, design):
    drawn_trials = trials(design, n=16, repeats=20)
    limit = drawn_trials.ceiling(1, mechanism)
    assert limit > 0.9
    for decoder in ("strongest", "without_prior"):
        assert leaked(drawn_trials, 1, mechanism, decoder) == pytest.approx(limit, abs=0.05)


@pytest.mark.parametrize(
    ("design", "m", "mechanism"),
    [("jitter", 8, Rounded(1)), ("random_binary", 8, Rounded(1)), ("random_binary", 2, Exact())],
    ids=str,
)
def test_coarse_answers_leave_nobody_with_a_worse_guess_than_before(design, m, mechanism, monkeypatch):
    """In bits: who is surer than coarse answers allow is often sure of what is false.

    Two answers in whole numbers about 40 people are met by millions of vectors; one of them is no knowledge.
    """
    monkeypatch.setattr("core.studies.bias_queries.guarantees.MOST_CELLS", 0)  # as if people were too many to sum over
    drawn_trials = trials(design, repeats=20)
    advantaged = np.array([people.sensitive for people in drawn_trials.people]) == 1
    bits = []
    for answers in (0, m):
        queries = drawn_trials.ask(answers, mechanism)
        read = np.array([decoded.values for decoded in read_answers(queries, "strongest")])
        bits.append(-np.log2(np.where(advantaged, 1 - read, read)).mean())
    assert read.min() > 0 and read.max() < 1
    assert bits[1] < bits[0]


@pytest.mark.parametrize(("mechanism", "gap"), [(Exact(), 0.0), (Rounded(2), 0.001)])
@pytest.mark.parametrize("cells", [0, MOST_CELLS])
def test_answers_about_people_with_the_same_scores_tell_how_many_they_are_and_not_who(
    mechanism, gap, cells, monkeypatch
):
    """Three people are told apart; of five whose scores are the same, or nearly for rounded answers, two are found."""
    monkeypatch.setattr("core.studies.bias_queries.guarantees.MOST_CELLS", cells)
    scores = np.array([[0.13, 0.39, 0.97, *[gap] * 4, 0.0], [0.83, 0.29, 0.51, 1, 1, 1, 1, 1]])
    truth, prior = np.array([0, 1, 1, 0, 1, 1, 1, 0]), np.array([0.5, 0.5, 0.5, 0.3, 0.6, 0.7, 0.8, 0.9])
    scores = np.vstack([scores, [0.5, 0.9, 0.2, 0, 0, 0, 0, 0], [0.1, 0.3, 0.9, 0, 0, 0, 0, 0]])
    answers = mechanism.draws(scores, truth, rng=None, draws=1)[0]
    queries = answered(mechanism, scores, answers, prior, (5, 3), design="jitter")
    strongest, without = (read_answers(queries, decoder)[0] for decoder in ("strongest", "without_prior"))
    assert without.values == pytest.approx([1, 0, 0, *[0.4] * 5]) and without.threshold == pytest.approx(3 / 8)
    assert without.recovered.tolist() == [0, 1, 1, 0, 0, 0, 0, 0]
    chances = (prior_given_sizes if cells else counted)(prior[np.newaxis, 3:], 3)[0]
    assert strongest.values == pytest.approx([1, 0, 0, *(1 - chances)])
    assert strongest.recovered.tolist() == [0, 1, 1, *(chances > 5 / 8)]


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("design", [*DESIGNS, "single"])
def test_without_answers_there_is_the_prior_or_nothing(design, decoder):
    drawn_trials = trials(design)
    share = drawn_trials.n_advantaged / 40
    for people, decoded in zip(drawn_trials.people, read_answers(drawn_trials.ask(0, Exact()), decoder), strict=True):
        if decoder == "strongest":  # the sizes are known, too
            chances = counted(people.prior[np.newaxis], drawn_trials.n_advantaged)[0]
            assert (decoded.recovered == (chances > share)).all()
            assert decoded.values == pytest.approx(1 - chances)
        else:
            assert decoded.recovered.all() and leakage(people.sensitive, decoded.recovered) == 0.5


def test_answers_that_say_nothing_add_nothing_to_what_the_features_and_the_sizes_say():
    drawn_trials = Trials(pool(4000, 1200), n=20, repeats=400, seed=5, most=3)
    assert drawn_trials.leak(3, LaplaceGlobal(0.001), "strongest").gain.value == pytest.approx(0.0, abs=0.004)


@pytest.mark.parametrize(
    ("decoder", "base", "m", "recovered", "values"),
    [
        ("published", [0.2, 0.8, 0.4, 0.5, 0.3, 0.6], 4, [0, 0, 1, 1, 1, 1], {3: 0, 4: 0, 5: 0}),  # a half hides
        ("strongest", [0.2, 0.8, 0.4, 0.5, 0.3, 0.9], 3, [0, 0, 1, 0, 1, 1], {0: 1, 1: 1, 2: 0}),
        ("without_prior", [0.2, 0.8, 0.4, 0.5, 0.3, 0.9], 3, [0, 0, 1, 0, 1, 1], {0: 1, 1: 1, 2: 0}),
    ],
)
def test_targeted_answers_tell_of_the_first_and_of_the_others_together(decoder, base, m, recovered, values):
    scores = np.tile(base, (m + 1, 1))
    for person in range(m):
        scores[person + 1, person] = 1 - base[person]
    gaps = scores @ np.array([-1, -1, 1, -1, 1, 1]) / 3
    prior = (0.9, 0.3) * 3 if decoder == "published" else [0.5] * 6
    (decoded,) = read_answers(answered(Exact(), scores, gaps, prior, (3, 3), design="targeted"), decoder)
    assert decoded.recovered.tolist() == recovered
    assert {person: decoded.values[person] for person in values} == values


def test_the_reference_leakages():
    """n = 100, m = 40, ε = 100, random binary questions, Cauchy: 65 % without prior, 75 % with the prior of race."""
    people, mechanism = pool(20_000, 2000, strength=0.99), SmoothCauchy(100.0)  # a prior as strong as that of race
    drawn_trials = Trials(people, n=100, design="random_binary", repeats=100, seed=42)
    assert leaked(drawn_trials, 40, mechanism, "without_prior") == pytest.approx(0.65, abs=0.03)
    assert leaked(drawn_trials, 0, mechanism, "strongest") == pytest.approx(0.69, abs=0.02)
    assert leaked(drawn_trials, 40, mechanism, "strongest") == pytest.approx(0.75, abs=0.03)


@pytest.mark.parametrize("make", [LaplaceGlobal, SmoothCauchy])
def test_an_absolute_gap_of_one_person_is_read_by_the_law_of_the_noise(make):
    rng, (n1, n0) = np.random.default_rng(9), (90, 10)
    mechanism, h, prior = make(2000.0, absolute=True), np.eye(100), rng.uniform(0.02, 0.98, 100)
    y = mechanism.answer(h, attribute(100, n0), rng=rng)
    chances = posterior(h, y, mechanism, prior=prior, n_advantaged=n1, n_disadvantaged=n0)
    first, second = ((y - 1 / size) / mechanism.scale(n1, n0, 100) for size in (n1, n0))
    law = {LaplaceGlobal: lambda x: np.exp(-np.abs(x)), SmoothCauchy: lambda x: 1 / (1 + x**2)}[make]
    assert chances == pytest.approx(prior * law(first) / (prior * law(first) + (1 - prior) * law(second)), abs=1e-9)


NOISES = {
    "laplace": (lambda r: -np.abs(r), lambda rng, size: rng.laplace(size=size)),
    "cauchy": (lambda r: -np.log1p(r**2), lambda rng, size: rng.standard_cauchy(size)),
}


def exact(rows, target, *, noise, scale, n_ones, prior):
    """Return P(z = 1), shape (R, n), by going through all vectors with that many ones."""
    log_law, _ = NOISES[noise]
    every, posteriors = with_ones(rows.shape[2], n_ones), []
    for g, y, p in zip(rows, target, prior, strict=True):
        weight = log_law((y - every @ g.T) / scale).sum(axis=1) + every @ (np.log(p) - np.log1p(-p))
        law = np.exp(weight - weight.max())
        posteriors.append(law @ every / law.sum())
    return np.array(posteriors)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(("scale", "informed"), [(0.05, True), (0.3, False), (0.3, True), (2.0, True)])
def test_close_to_the_exact_posterior(noise, scale, informed):
    """Of 60 times 10 people, of whom 3 are ones, from 5 answers each."""
    rng = np.random.default_rng([0, 10, 5])
    rows = rng.random((60, 5, 10))
    rows -= rows.mean(axis=2, keepdims=True)
    truth = np.zeros((60, 10))
    for z in truth:
        z[rng.permutation(10)[:3]] = 1
    odds = np.where(truth == 1, 0.5, -0.5) + rng.normal(size=truth.shape) + np.log(3 / 7)
    target = np.einsum("rmn,rn->rm", rows, truth) + scale * NOISES[noise][1](rng, (60, 5))
    prior = 1 / (1 + np.exp(-odds)) if informed else np.full_like(odds, 0.3)
    case = {"rows": rows, "target": target, "noise": noise, "scale": scale, "n_ones": 3, "prior": prior}
    approximate = counted(propagate(**case), 3)  # as the decoder uses them: shifted until they add up
    right = exact(**case)
    before = exact(**(case | {"scale": 1e9}))  # what the number of ones alone makes of the prior
    assert np.abs(approximate - right).mean() < 0.01 + 0.35 * np.abs(before - right).mean()
    ours, best = (balanced_accuracy_score(truth.ravel(), chances.ravel() > 0.3) for chances in (approximate, right))
    assert ours > best - 0.02
    assert approximate.shape == truth.shape and (approximate > 0).all() and (approximate < 1).all()


def bit_answers(a):
    scores = design_scores("bits", np.zeros(a.size), most_questions("bits", a.size), rng=np.random.default_rng(0))
    return statistical_parity_gap(scores, a)


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
    assert solve_program(np.ones(3), np.array([[1.0, 0.5, 0.0], [0.0, 0.5, 1.0]]), np.ones(2), np.ones(2)) is None


@pytest.mark.parametrize("changed", [0.0, 0.3], ids=["true answers", "answers that no vector gives"])
def test_a_vector_explains_answers_only_where_it_gives_them(changed):
    """Of a program without a solution the groups alone are left, which are whole numbers as well."""
    a = attribute(8, 3)
    scores, gaps = scores_and_gaps(a, 7)
    gaps[0] += changed
    queries = answered(Exact(), scores, gaps, np.full(8, 5 / 8), (5, 3))
    guess = DecodedAttribute(values=np.linspace(1, 0, 8), threshold=0.5, recovered=a)
    explained = _explained(queries, 0, guess, aware=False)
    if changed:
        assert explained is None
    else:
        assert explained.tolist() == (1 - a).tolist()


def test_a_program_leaves_other_threads_warnings_alone(monkeypatch):
    """What scipy does inside is done to the whole process: a model trained meanwhile would fail on a warning."""
    watched = Mock(wraps=warnings.catch_warnings)
    monkeypatch.setattr(_constraints, "catch_warnings", watched)
    assert solve_program(np.ones(3), np.eye(3)[:2], np.ones(2), np.ones(2)) is not None
    watched.assert_not_called()


@pytest.mark.parametrize(("hidden", "visible"), [([0, 0], [1, 1, 0]), ([1, 1], [1, 0, 0]), ([0, 0, 0], [1, 1, 1, 0])])
def test_recover_flips_gives_the_hidden_the_group_that_the_sizes_leave(hidden, visible):
    """No flip tells of who has a score of one half, but the sizes do: all that are missing of one group are they."""
    a = np.array(hidden + visible, dtype=np.uint8)
    base = np.where(np.arange(a.size) < len(hidden), 0.5, 0.2)
    scores = design_scores("targeted", base, a.size + 1, rng=np.random.default_rng(0))
    assert recover_flips(base, statistical_parity_gap(scores, a)[1:]).recovered.tolist() == a.tolist()
