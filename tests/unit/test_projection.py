"""The projection against a general-purpose optimiser, by hand, at its edges, and with what it refuses."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import rel_entr

from core.base.errors import InputError
from core.stats.fairness import METRICS
from core.stats.projection import Constraints, project
from core.studies.correction import soft_correct
from core.studies.correction.soft import soft_constraints


def one_row(bound, *, n, width=0.0, variance=0.0):
    """Return a single statistic about the expected size of group 1, within a width or up to noise."""
    return Constraints(
        pattern=np.zeros(n, dtype=np.intp),
        weights=np.ones((1, 1)),
        groups=np.array([[0.0, 1.0]]),
        bound=np.array([bound]),
        equality=np.array([True]),
        width=np.array([width]),
        variance=np.array([variance]),
    )


def by_primal(posterior, constraints):
    """Return the projection found by minimising the divergence itself over all n·K probabilities (SLSQP)."""
    n, k = posterior.shape
    features = constraints.weights[:, constraints.pattern, None] * constraints.groups[:, None, :]  # f_k(i, g)
    features = features.reshape(-1, n * k)
    is_equal, q = constraints.equality, posterior.ravel()
    rows = np.vstack([np.kron(np.eye(n), np.ones(k)), features[is_equal]])
    ranks = [0, *(np.linalg.matrix_rank(rows[: i + 1]) for i in range(len(rows)))]
    keep = np.flatnonzero(np.diff(ranks))  # none of these rows follows from those before it
    a, b = rows[keep], np.concatenate([np.ones(n), constraints.bound[is_equal]])[keep]
    upper, most = features[~is_equal], constraints.bound[~is_equal]
    rules = [{"type": "eq", "fun": lambda x: a @ x - b, "jac": lambda x: a}]
    if len(upper):
        rules.append({"type": "ineq", "fun": lambda x: most - upper @ x, "jac": lambda x: -upper})
    options = {"method": "SLSQP", "bounds": [(1e-12, 1)] * (n * k), "options": {"maxiter": 500, "ftol": 1e-15}}
    objective = {"fun": lambda x: float(x @ np.log(x / q)), "jac": lambda x: np.log(x / q) + 1}
    solution = minimize(x0=q.copy(), constraints=rules, **objective, **options)
    assert np.abs(a @ solution.x - b).max() < 1e-8
    return solution.x.reshape(n, k)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("tolerance", [0.0, 0.02])
@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("shared", [False, True])
def test_it_is_what_minimising_the_divergence_finds(metric, tolerance, k, shared):
    rng = np.random.default_rng(k)
    n = 12
    predictions, labels = np.arange(n) % 3 == 0, np.arange(n) % 2
    posterior = rng.dirichlet(np.full(k, 1.5), n) * 0.9 + 0.1 / k
    posterior[:, 0] += 1.5 * predictions  # so that the bounds are broken at first
    posterior /= posterior.sum(axis=1, keepdims=True)
    shares = [1.2 / k, (0.1 / k, 0.9 / k), *[None] * (k - 2)] if shared else None
    disclosed = {"tolerance": tolerance, "metric": metric, "labels": labels, "group_shares": shares}
    constraints = soft_constraints(predictions, n_groups=k, **disclosed)
    ours, theirs = project(posterior, constraints), by_primal(posterior, constraints)
    assert ours.converged and ours.value > 1e-3
    assert ours.value == pytest.approx(rel_entr(theirs, posterior).sum(), abs=1e-7)
    assert ours.probability == pytest.approx(theirs, abs=2e-4)  # the divergence is flat: 1e-7 in it is 3e-4 here


def test_a_known_share_and_a_bound_only_certainty_can_meet_by_hand():
    # all at 1/5, share 1/2, so everybody is shifted by log 4 and the divergence is n · log(5/4)
    done = project(np.full(6, 0.2), one_row(3.0, n=6))
    assert done.probability == pytest.approx(0.5, abs=1e-10)
    assert (*done.multipliers, done.value) == pytest.approx((-math.log(4), 6 * math.log(5 / 4)), abs=1e-9)
    done = project(np.full(4, 0.3), one_row(0.0, n=4))
    assert done.converged and done.value == pytest.approx(4 * math.log(1 / 0.7), abs=1e-7)
    assert (done.probability > 0).all() and done.probability.sum() < 1e-8


@pytest.mark.parametrize(("bound", "missed"), [(-1.0, 3), (4.5, 0.5), (1.0, 1)])
def test_what_nobody_can_meet_is_said_and_changes_nothing(bound, missed):
    q = np.array([1.0, 1.0, 0.5, 0.2])
    done = project(q, one_row(bound, n=4))
    assert done.status == "infeasible" and not done.converged and np.array_equal(done.probability, q)
    assert done.value == 0 and done.multipliers == 0
    assert done.reason == f"No probabilities meet the constraints: the closest miss one by {missed} records."


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"metric": "parity"}, "metric must be one of"),
        ({"metric": "equal_opportunity"}, "labels must be given for equal_opportunity"),
        ({"group_shares": [0.5]}, r"group_shares must have one entry a group \(2\), got 1"),
        ({"group_shares": [0.5, 0.7]}, "group_shares must allow a sum of 1"),
        ({"group_shares": [(0.6, 0.5), None]}, "in rising order"),
        ({"group_shares": [-0.1, None]}, r"group_shares of group 0 must be in \[0, 1\]"),
        ({"probability": [0.5, 1.2]}, r"probability must be in \[0, 1\], got 1.2"),
        ({"probability": [0.5]}, "same length"),
        ({"probability": [[0.5, 0.4], [0.5, 0.5]]}, "must add up to 1"),
        ({"probability": [[1.0], [1.0]]}, "at least 2 groups, got 1"),
        ({"probability": [], "predictions": []}, "at least one record"),
    ],
)
def test_bad_settings_are_answered_in_one_sentence(settings, message):
    with pytest.raises(InputError, match=message):
        soft_correct(**{"probability": [0.5, 0.4], "predictions": [0, 1], "tolerance": 0.1} | settings)


def test_a_search_gone_wrong_is_thrown_away(monkeypatch):
    """Multipliers of negative dual value would break the promise; then nothing is moved."""
    monkeypatch.setattr("core.stats.projection.climb", lambda dual, point: dual.at(np.array([5.0])))
    q = np.full(6, 0.2)
    done = project(q, one_row(3.0, n=6))
    assert done.status == "not_converged" and done.value == 0 and np.array_equal(done.probability, q)


def test_an_interval_is_two_inequalities():
    rng = np.random.default_rng(5)
    q, pattern, weights = rng.uniform(0.05, 0.95, 200), rng.integers(0, 6, 200), rng.normal(size=(3, 6))
    bound = (rng.random(200) < q) @ weights[:, pattern].T + rng.uniform(-1.5, 1.5, 3)

    def projected(weights, bound, **settings):
        groups = np.tile([0.0, 1.0], (len(bound), 1))
        return project(q, Constraints(pattern=pattern, groups=groups, weights=weights, bound=bound, **settings))

    first = projected(weights, bound, equality=np.ones(3, bool), width=np.full(3, 1.5))
    ends = np.concatenate([bound + 1.5, 1.5 - bound])
    second = projected(np.vstack([weights, -weights]), ends, equality=np.zeros(6, bool))
    assert first.converged and second.converged
    assert first.value == pytest.approx(second.value, abs=1e-9)
    assert first.probability == pytest.approx(second.probability, abs=1e-7)


def test_noise_is_weighed_by_its_variance():
    # the size is 50 ± 5 before; told 60 with variance 25, the mode of both is half way, up to the curvature
    q = np.full(100, 0.5)
    size = project(q, one_row(60.0, n=100, variance=25.0)).probability.sum()
    assert size == pytest.approx(55.0, abs=0.1)
    assert math.log(size / (100 - size)) * 25.0 == pytest.approx(60.0 - size, abs=1e-6)  # λ v = b − E F
    assert project(q, one_row(60.0, n=100, variance=1e-9)).probability.sum() == pytest.approx(60.0, abs=1e-6)
    assert project(q, one_row(60.0, n=100, variance=1e12)).probability == pytest.approx(q, abs=1e-6)


def test_noise_may_say_what_is_impossible_and_a_width_may_not():
    q = np.full(10, 0.5)
    noisy = project(q, one_row(13.0, n=10, variance=4.0))
    assert noisy.converged and 5 < noisy.probability.sum() < 10
    projection = project(q, one_row(13.0, n=10, width=1.0))
    assert projection.status == "infeasible" and "by 2 records" in projection.reason
    assert project(q, one_row(11.0, n=10, width=2.0)).probability.sum() == pytest.approx(9.0, abs=1e-7)
