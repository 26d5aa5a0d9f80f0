"""Properties of corrections with K groups, shares, exact unfairness and several disclosures."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.correction import Disclosed, correct, correct_jointly
from core.correction.exact import smallest_fraction
from core.fairness import unfairness
from tests.problem_bank import METRICS

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


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(8, 120), st.integers(2, 5), SEEDS, st.sampled_from(METRICS), st.sampled_from([0.0, 0.01, 0.05, 0.2]))
def test_exact_and_integer_program_agree(n, k, seed, metric, tolerance):
    guess, predictions, labels, _, cost = drawn(n, k, seed)
    told = {"metric": metric, "labels": labels, "cost": cost, "tolerance": tolerance, "n_groups": k}
    exact, ilp = (correct(guess, predictions, **told, solver=solver) for solver in ("exact", "ilp"))
    assert objective(exact) == pytest.approx(objective(ilp), rel=2e-9)
    assert exact.smallest_tolerance == ilp.smallest_tolerance


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(6, 200), st.integers(3, 5), SEEDS, st.sampled_from([0.0, 0.02, 0.1]))
def test_record_order_and_group_names_do_not_matter(n, k, seed, tolerance):
    guess, predictions, _, truth, cost = drawn(n, k, seed)
    rng = np.random.default_rng(seed)
    order, names = rng.permutation(n), rng.permutation(k)
    share = np.bincount(truth, minlength=k) / n
    shares = [None if value == 0 or g else float(value) for g, value in enumerate(share)]
    renamed = [shares[g] for g in np.argsort(names)]
    told = {"tolerance": tolerance, "n_groups": k}
    values = [
        objective(correct(guess, predictions, cost=cost, group_shares=shares, **told)),
        objective(correct(guess[order], predictions[order], cost=cost[order], group_shares=shares, **told)),
        objective(correct(names[guess], predictions, cost=cost, group_shares=renamed, **told)),
        objective(correct(guess, 1 - predictions, cost=cost, group_shares=shares, **told)),
    ]
    assert values == pytest.approx([values[0]] * 4, rel=2e-9)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(10, 150), st.integers(2, 4), SEEDS, st.sampled_from(METRICS))
def test_knowing_more_never_costs_less_and_the_truth_stays_feasible(n, k, seed, metric):
    guess, predictions, labels, truth, cost = drawn(n, k, seed)
    truth[: 4 * k] = np.tile(np.arange(k), 4)[:n]
    labels[: 4 * k] = np.repeat([0, 0, 1, 1], k)[:n]
    if np.unique(truth[labels == 0]).size < k or np.unique(truth[labels == 1]).size < k:
        return
    value = unfairness(predictions, truth, metric=metric, labels=labels)
    share = [float(count / n) for count in np.bincount(truth, minlength=k)]
    told = {"metric": metric, "labels": labels, "cost": cost, "n_groups": k}
    loose = objective(correct(guess, predictions, tolerance=value, **told))
    rounded = objective(correct(guess, predictions, unfairness=(max(0.0, value - 0.01), value), **told))
    pinned = objective(correct(guess, predictions, unfairness=value, **told))
    shared = objective(correct(guess, predictions, unfairness=value, group_shares=share, **told))
    other = Disclosed(predictions=1 - labels, tolerance=unfairness(1 - labels, truth, metric=METRICS[0]))
    first = Disclosed(predictions=predictions, metric=metric, labels=labels, unfairness=value)
    joint = objective(correct_jointly(guess, [first, other], cost=cost, n_groups=k, group_shares=share))
    upwards = [loose, rounded, pinned, shared, joint, math.fsum(cost[truth != guess])]
    assert all(low <= high * (1 + 2e-9) for low, high in itertools.pairwise(upwards))
    assert upwards[-2] < math.inf


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.integers(2, 10**6), st.floats(0, 1), st.integers(2, 19))
def test_smallest_tolerance_grows_with_the_groups(n, share, k):
    positives = round(n * share)
    few, many = smallest_fraction(n, positives, k), smallest_fraction(n, positives, k + 1)
    assert (few is None) == (n < k) and (many is None) == (n <= k)
    if many is not None:
        assert few <= many <= 1
        assert (many == 0) == (math.gcd(n, positives) >= k + 1)
        assert many == smallest_fraction(n, n - positives, k + 1)
