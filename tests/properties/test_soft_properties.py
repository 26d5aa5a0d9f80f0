"""The promise of the soft correction, and its symmetries, on whatever hypothesis finds.

The promise: where the truth meets what was disclosed, its log-loss never rises. Unfairness is computed here in exact
fractions, straight from the definition, with nothing of core involved.
"""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.stats.projection import Constraints, project
from core.studies.correction.soft import soft_constraints
from tests.problem_bank import METRICS, parts

EXTREME = st.sampled_from([0.0, 1.0, 5e-324, 1e-300, 1e-17, 1e-12, 1e-9, 0.5, 1 - 1e-9, 1 - 1e-12, 1 - 2**-53])
CHANCE = st.one_of(EXTREME, st.floats(0, 1), st.sampled_from([0.25, 0.5, 0.75]))
MASS = st.one_of(st.sampled_from([0.0, 1e-300, 1e-17, 1e-9, 1.0, 1.0]), st.floats(1e-6, 1))


def exact_unfairness(predictions, truth, metric, labels):
    """Return the largest distance of a group's rate from the overall rate, over the groups there are."""
    worst = Fraction(0)
    for rows in parts(metric, labels, len(truth)):
        for group in {truth[i] for i in rows}:
            inside = [i for i in rows if truth[i] == group]
            overall = Fraction(sum(predictions[i] for i in rows), len(rows))
            worst = max(worst, abs(Fraction(sum(predictions[i] for i in inside), len(inside)) - overall))
    return worst


@st.composite
def true_shares(draw, truth, k):
    """Draw what is known of the groups' shares, all of it true: values, intervals, nothing."""
    shares = []
    for group in range(k):
        share = truth.count(group) / len(truth)
        wide = (share * draw(st.floats(0, 1)), min(1.0, share + draw(st.sampled_from([0.0, 1e-3, 0.3]))))
        shares.append(draw(st.sampled_from([None, share, wide])))
    return draw(st.sampled_from([None, shares]))


@st.composite
def true_disclosures(draw):
    """Draw a posterior, a truth, and disclosures that are true of it."""
    n, k = draw(st.integers(1, 14)), draw(st.sampled_from([0, 2, 3, 4, 5]))  # 0: two groups in one number
    bits = st.lists(st.integers(0, 1), min_size=n, max_size=n)
    predictions, labels, metric = draw(bits), draw(bits), draw(st.sampled_from(METRICS))
    truth = draw(st.lists(st.integers(0, max(k, 2) - 1), min_size=n, max_size=n))
    if k:
        mass = np.array(draw(st.lists(st.lists(MASS, min_size=k, max_size=k), min_size=n, max_size=n)))
        mass[mass.sum(axis=1) == 0] = 1.0
        posterior = mass / mass.sum(axis=1, keepdims=True)
    else:
        posterior = np.array(draw(st.lists(CHANCE, min_size=n, max_size=n)))
    reached = float(exact_unfairness(predictions, truth, metric, labels))
    tolerance = draw(st.sampled_from([reached, reached, min(1.0, reached + 0.01), min(1.0, 2 * reached), None]))
    disclosed = {"tolerance": tolerance, "metric": metric, "labels": labels}
    return posterior, predictions, truth, disclosed | {"group_shares": draw(true_shares(truth, max(k, 2)))}


def surprise(posterior, truth):
    """Return the log-loss of each record's truth, inf where it was held to be impossible."""
    rows = np.column_stack([1 - posterior, posterior]) if posterior.ndim == 1 else posterior
    with np.errstate(divide="ignore"):
        return -np.log(rows[np.arange(len(truth)), truth])


@pytest.mark.long
@settings(max_examples=700)
@given(true_disclosures())
def test_a_true_disclosure_never_raises_the_log_loss_and_a_posterior_that_meets_the_bounds_comes_back(case):
    posterior, predictions, truth, disclosed = case
    n_groups = 2 if posterior.ndim == 1 else posterior.shape[1]
    done = project(posterior, soft_constraints(predictions, n_groups=n_groups, **disclosed))
    check_promise(done, posterior, truth)
    check_posterior(done, posterior, predictions, disclosed)


def check_promise(done, posterior, truth):
    """Check what holds of the truth: the disclosures are true of it."""
    before, after = surprise(posterior, truth), surprise(done.probability, truth)
    impossible = np.isinf(before)
    assert np.array_equal(impossible, np.isinf(after))
    if impossible.any():
        return
    assert done.status == "converged", done.reason  # the truth itself meets the bounds, so they can be met
    assert done.value >= 0
    assert before.sum() - after.sum() >= done.value - 1e-9


def check_posterior(done, posterior, predictions, disclosed):
    """Check that certainties stay, and that the bounds are met in expectation."""
    p = done.probability
    assert p.shape == posterior.shape and ((p >= 0) & (p <= 1)).all()
    assert ((p == 0) == (posterior == 0)).all()
    if p.ndim == 1:
        assert ((p == 1) == (posterior == 1)).all()
    else:
        assert p.sum(axis=1) == pytest.approx(1, abs=1e-12)
    if not done.converged:
        assert done.reason
        return
    rows = np.column_stack([1 - p, p]) if p.ndim == 1 else p
    yhat, n = np.array(predictions), len(p)
    if disclosed["tolerance"] is not None:
        for inside in parts(disclosed["metric"], disclosed["labels"], n):
            overall = yhat[inside].mean() if inside else 0.0
            for mass in rows[inside].T:
                assert abs(mass @ (yhat[inside] - overall)) <= disclosed["tolerance"] * mass.sum() + 1e-8
    for group, share in enumerate(disclosed["group_shares"] or []):
        low, high = share if isinstance(share, tuple) else (0, 1) if share is None else (share, share)
        assert low * n - 1e-8 <= rows[:, group].sum() <= high * n + 1e-8


@settings(max_examples=400)
@given(true_disclosures())
def test_a_true_disclosure_is_true_in_floats(case):
    """The truth meets the very numbers handed to the projection, added up in exact fractions."""
    posterior, predictions, truth, disclosed = case
    k = 2 if posterior.ndim == 1 else posterior.shape[1]
    constraints = soft_constraints(predictions, n_groups=k, **disclosed)
    for row, unit, bound, equality in zip(
        constraints.weights, constraints.groups, constraints.bound, constraints.equality, strict=True
    ):
        features = (Fraction(row[p]) * Fraction(unit[s]) for p, s in zip(constraints.pattern, truth, strict=True))
        missed = sum(features) - Fraction(bound)
        assert missed == 0 if equality else missed <= 0


@st.composite
def statistics(draw):
    """Draw a posterior over K groups and statistics of any shape that a drawn truth meets."""
    n, k, rows, patterns = (draw(st.integers(*span)) for span in ((1, 10), (2, 4), (1, 6), (1, 5)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    truth, pattern = rng.integers(k, size=n), rng.integers(patterns, size=n)
    weights = rng.integers(-3, 4, (rows, patterns)) * draw(st.sampled_from([1.0, 1e-3, 1e4]))
    groups = rng.integers(-2, 3, (rows, k)).astype(float)
    equality = rng.random(rows) < 0.4
    reached = (weights[:, pattern] * groups[:, truth]).sum(axis=1)
    bound = reached + np.where(equality, 0.0, draw(st.sampled_from([0.0, 0.5])) * np.abs(weights).max())
    posterior = rng.dirichlet(np.full(k, draw(st.sampled_from([0.02, 0.3, 3.0]))), n)
    return (
        posterior,
        truth,
        Constraints(pattern=pattern, weights=weights, groups=groups, bound=bound, equality=equality),
    )


@settings(max_examples=800)
@given(statistics())
def test_the_promise_holds_for_any_true_statistics(case):
    posterior, truth, constraints = case
    done = project(posterior, constraints)
    before, after = surprise(posterior, truth), surprise(done.probability, truth)
    assert (done.multipliers[~constraints.equality] >= 0).all()
    if np.isinf(before).any():
        return
    assert done.status != "infeasible"
    assert before.sum() - after.sum() >= done.value - 1e-9
    assert done.value >= 0
