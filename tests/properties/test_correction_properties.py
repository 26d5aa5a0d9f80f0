"""Properties of the exact correction: against brute force and an integer program, against itself, with K groups."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.stats.fairness import unfairness
from core.studies.correction import Disclosed, correct, correct_jointly, exact, smallest_tolerance
from core.studies.correction.exact import WIDENING, RowProblem, RowSetCounts
from tests.problem_bank import METRICS, brute_force

COSTS = (
    st.integers(1, 3).map(float),
    st.floats(1e-3, 1e3),
    st.floats(1.0, 2.0).map(lambda base: base**60),
)
TOLERANCES = st.one_of(
    st.just(Fraction(0)), st.just(Fraction(1)), st.fractions(0, 1, max_denominator=60), st.fractions(0, "1/5")
)


@st.composite
def problems(draw):
    """Draw the arguments of `brute_force`, which are those of `correct` with the tolerance as a fraction."""
    n = draw(st.integers(1, 9))
    bits = st.lists(st.integers(0, 1), min_size=n, max_size=n)
    cost = draw(st.lists(draw(st.sampled_from(COSTS)), min_size=n, max_size=n))
    metric = draw(st.sampled_from(METRICS))
    return {
        "guess": draw(bits),
        "predictions": draw(bits),
        "tolerance": draw(TOLERANCES),
        "metric": metric,
        "labels": draw(bits),
        "cost": cost,
    }


@settings(max_examples=150)
@given(problems())
def test_exact_is_brute_force(problem):
    result = correct(**(problem | {"tolerance": float(problem["tolerance"])}))
    best = brute_force(**problem)
    if math.isinf(best):
        assert result.certificate.status == "infeasible"
    else:
        assert result.certificate.status == "optimal"
        assert result.objective == pytest.approx(best, rel=1e-12)


@settings(max_examples=150)
@given(st.integers(4, 1500), st.sampled_from([2, 2, 3, 4]), st.floats(0, 1), st.integers(0, 2**32 - 1))
def test_the_edge_of_feasibility(n, k, share, seed):
    rng = np.random.default_rng(seed)
    predictions = rng.random(n if k == 2 else n % 80 + k) < share
    guess = rng.integers(0, k, predictions.size)
    smallest = smallest_tolerance(predictions, n_groups=k)
    assert correct(guess, predictions, tolerance=smallest, n_groups=k).certificate.status == "optimal"
    if smallest > 0:
        below = correct(guess, predictions, tolerance=smallest * (1 - 1e-9), n_groups=k)
        assert below.certificate.status == "infeasible" and below.smallest_tolerance == smallest


def random_rows(rng):
    """Return a random row set: sizes to 3,000, ties, magnitudes, tolerances from 0 to 1, equal to today's too."""
    n = int(rng.choice([rng.integers(2, 40), rng.integers(40, 3000)]))
    predictions = (rng.random(n) < rng.random()).astype(np.uint8)
    guess = (rng.random(n) < np.where(predictions, rng.random(), rng.random())).astype(np.uint8)
    base = 1 + rng.random(n)
    cost = (base, base**59, np.ones(n), rng.integers(1, 4, n).astype(float), np.round(base, 1))[rng.integers(5)]
    rate = predictions.mean()
    tolerance = (0.0, 1e-3, float(10 ** rng.uniform(-4, 0)), 1 / n, rate, 1 - rate)[rng.integers(6)]
    return RowProblem(guess=guess, predictions=predictions, cost=cost, upper=tolerance * WIDENING)


@pytest.mark.long
def test_short_search_is_the_full_pass():
    rng, short = np.random.default_rng(7), 0
    for _ in range(1600):
        problem = random_rows(rng)
        counts = problem.counts()
        if counts.allowed(counts.a, counts.b):
            continue
        full, quick = exact.full_search(problem, counts), exact._short_search(problem, counts)
        if quick is not None:
            short += 1
            assert quick[1] == pytest.approx(full[1], rel=1e-12)
            recounted = replace(problem, guess=quick[0]).counts()
            assert recounted.allowed(recounted.a, recounted.b)
    assert short > 200  # the comparison is worth nothing if the search always gives up


@settings(max_examples=150)
@given(st.integers(2, 10**7), st.floats(0.01, 0.99), st.floats(0, 0.5), st.integers(0, 2**32 - 1))
def test_limits_of_the_counts_are_exact_up_to_ten_million(n, share, tolerance, seed):
    positives = max(1, min(n - 1, round(n * share)))
    counts = RowSetCounts(n=n, positives=positives, a=0, b=0, slack=tolerance * WIDENING * n)
    a = np.random.default_rng(seed).integers(0, positives + 1, 50)
    low, high = exact.allowed_interval(counts, a)
    some = low <= high
    assert counts.allowed(a, low)[some].all() and counts.allowed(a, high)[some].all()
    assert not counts.allowed(a, low - 1)[some & (low > 0)].any()
    assert not counts.allowed(a, high + 1)[some & (high < counts.negatives)].any()
    balanced = np.round(a * (counts.negatives / positives)).astype(np.int64)  # where |D| is smallest
    assert not counts.allowed(a, balanced)[~some].any()


SEEDS = st.integers(0, 2**32 - 1)


def drawn(n, k, seed):
    """Return guesses, predictions, labels, a truth and costs over many magnitudes or tied."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    guess = np.where(rng.random(n) < 0.5, truth, rng.integers(0, k, n))
    predictions, labels = (rng.random((2, n)) < rng.uniform(0.2, 0.8, (2, 1))).astype(int)
    base = 1 + rng.random(n)
    cost = (np.ones(n), base, base**60, rng.integers(1, 4, n).astype(float))[seed % 4]
    return guess, predictions, labels, truth, cost


def objective(result):
    """Return the objective, inf when infeasible; nothing else may happen in the given time."""
    assert result.certificate.status in ("optimal", "infeasible")
    return math.inf if result.objective is None else result.objective


@settings(max_examples=40)
@given(st.integers(8, 120), st.integers(2, 5), SEEDS, st.sampled_from(METRICS), st.sampled_from([0.0, 0.01, 0.05, 0.2]))
def test_exact_and_integer_program_agree(n, k, seed, metric, tolerance):
    guess, predictions, labels, _, cost = drawn(n, k, seed)
    disclosure = {"metric": metric, "labels": labels, "cost": cost, "tolerance": tolerance, "n_groups": k}
    solvers = ("exact", "ilp", "ilp_general") if n <= 40 else ("exact", "ilp")
    exact, *programs = (correct(guess, predictions, **disclosure, solver=solver) for solver in solvers)
    for ilp in programs:
        assert objective(exact) == pytest.approx(objective(ilp), rel=2e-9)
        assert exact.smallest_tolerance == ilp.smallest_tolerance


@settings(max_examples=60)
@given(st.integers(6, 200), st.sampled_from([2, 2, 3, 4, 5]), SEEDS, st.sampled_from([0.0, 0.02, 0.1]))
def test_order_and_names_of_groups_do_not_matter(n, k, seed, tolerance):
    guess, predictions, _, truth, cost = drawn(n, k, seed)
    rng = np.random.default_rng(seed)
    order, names = rng.permutation(n), rng.permutation(k)
    first = float((truth == 0).mean())
    shares = np.array([first or None, *[None] * (k - 1)])

    def cheapest(guess, predictions, cost=cost, shares=shares):
        disclosed = {"tolerance": tolerance, "n_groups": k, "group_shares": shares.tolist()}
        return objective(correct(guess, predictions, cost=cost, **disclosed))

    values = [
        cheapest(guess, predictions),
        cheapest(guess[order], predictions[order], cost[order]),
        cheapest(names[guess], predictions, shares=shares[np.argsort(names)]),
        cheapest(guess, 1 - predictions),
    ]
    assert values == pytest.approx([values[0]] * 4, rel=2e-9)


@pytest.mark.long
@settings(max_examples=40)
@given(st.integers(10, 150), st.integers(2, 4), SEEDS, st.sampled_from(METRICS))
def test_knowing_more_never_costs_less_and_the_truth_stays_feasible(n, k, seed, metric):
    guess, predictions, labels, truth, cost = drawn(n, k, seed)
    truth[: 4 * k] = np.tile(np.arange(k), 4)[:n]
    labels[: 4 * k] = np.repeat([0, 0, 1, 1], k)[:n]
    if min(np.unique(truth[labels == label]).size for label in (0, 1)) < k:
        return
    value = unfairness(predictions, truth, metric=metric, labels=labels)
    shares = {"group_shares": (np.bincount(truth, minlength=k) / n).tolist()}
    disclosure = {"metric": metric, "labels": labels, "cost": cost, "n_groups": k}
    knowledge = [{"tolerance": value}, {"unfairness": (max(0.0, value - 0.01), value)}, {"unfairness": value}]
    knowledge.append({"unfairness": value, **shares})
    upwards = [objective(correct(guess, predictions, **disclosure, **published)) for published in knowledge]
    first = Disclosed(predictions=predictions, metric=metric, labels=labels, unfairness=value)
    second = Disclosed(predictions=1 - labels, tolerance=unfairness(1 - labels, truth, metric=METRICS[0]))
    upwards.append(objective(correct_jointly(guess, [first, second], cost=cost, n_groups=k, **shares)))
    upwards.append(math.fsum(cost[truth != guess]))
    assert all(low <= high * (1 + 2e-9) for low, high in itertools.pairwise(upwards))
    assert upwards[-2] < math.inf
