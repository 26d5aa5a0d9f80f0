"""The study of privacy budgets: its numbers, words, check and progress; planted violations are seen, nulls are not."""

import itertools
import math

import cvxpy
import numpy as np
import pytest
from scipy.stats import binom, binomtest

from core.auditing.policy import default_policy
from core.models.id3 import BudgetLedger
from core.studies.bias_queries.mechanisms import LaplaceGlobal
from core.studies.measured_epsilon import audits
from core.studies.measured_epsilon.study import STUDY, MeasuredEpsilonSettings, demonstrable, exceeding
from tests.unit.charts.checks import check


def last(settings):
    *_, result = STUDY.run(STUDY.plants[0].make(1, False)[0], settings)
    return result


LAPLACE = LaplaceGlobal(1.0)


@pytest.mark.long
def test_half_the_noise_is_seen_although_the_ledger_does_not_change():
    settings = MeasuredEpsilonSettings(noise=0.5)
    result = last(settings)
    above = {audit.mechanism for audit in exceeding(result)}
    assert above == {"Private tree", "Laplace answers", "Noisy sums", "Query desk", "Model card"}
    assert STUDY.checks(result, settings)["measured_epsilon"].estimate.value == pytest.approx(5 / 7)
    assert result[0].spent == pytest.approx(1.0)


@pytest.mark.parametrize(("epsilon", "able"), [(3.0, 6), (10.0, 0)])
def test_mechanisms_of_which_no_more_than_is_promised_can_be_shown_are_not_called_within_it(epsilon, able):
    few = MeasuredEpsilonSettings(canaries=50, repeats=1_000, noise=0.1, epsilon=epsilon)
    result = last(few)
    check = STUDY.checks(result, few)["measured_epsilon"]
    assert len(demonstrable(result)) == able
    if able:
        assert 0 < check.estimate.value == pytest.approx(len(exceeding(result)) / able)
    else:
        assert "cannot show more than the promised ε = 10: at most 3.9" in check.reason


def test_charts_measure_with_the_confidence_of_the_settings():
    """Of 50 guesses without a mistake every ε is rejected whose chance of that is below 1 minus the confidence."""
    seen = audits.OneRun(guesses=50, correct=50)
    audit = audits.MechanismAudit(mechanism="Tree", promised=9.0, spent=None, seen=seen)
    for confidence in (0.5, 0.99):
        settings = MeasuredEpsilonSettings(epsilon=9.0, confidence=confidence)
        (drawing,) = STUDY.charts((audit,), settings).values()
        (length,) = (bar.x[0] for bar in check(drawing).data if bar.type == "bar")
        chance = (1 - confidence) ** (1 / 50)
        assert length == pytest.approx(math.log(chance / (1 - chance)), abs=0.01)


def printed(canaries, guesses, correct, epsilon, delta):
    """Return the p-value as Steinke et al. print it (appendix D)."""
    q, i = 1 / (1 + math.exp(-epsilon)), np.arange(1, correct + 1)
    reached = binom.sf(correct - 1, guesses, q)
    return float(reached + 2 * canaries * delta * ((binom.sf(correct - i - 1, guesses, q) - reached) / i).max())


def test_the_printed_p_value_gives_the_printed_figure_and_can_be_exceeded():
    assert printed(1_000, 100, 75, 0.67298, 1e-4) == pytest.approx(0.05, abs=1e-4)  # they print 0.673
    with_delta, pure = (audits.one_run_bound(100, 75, delta=delta, confidence=0.95) for delta in (1e-4, 0.0))
    assert 0.60 < with_delta < pure < 0.77
    epsilon = 2.0  # three canaries: the chance of a guess falls with e^ε a mistake, and three mistakes are never made
    law = np.exp(epsilon * np.array([2.0, 1.0, 0.0]))
    law /= (law * [1, 3, 3]).sum()
    delta = law[2]  # all that its neighbours cannot make up for; the other ratios are e^ε
    assert printed(3, 3, 1, epsilon, delta) < 0.999 < 1.0 == audits.one_run_p_value(3, 1, epsilon, delta)


@pytest.mark.parametrize(("m", "r"), [(4, 4), (6, 6), (6, 3)])
def test_randomised_response_attains_the_p_value(m, r):
    epsilon, law = 0.8, np.zeros(r + 1)
    keep = 1 / (1 + math.exp(-epsilon))
    for included in itertools.product((0, 1), repeat=m):
        for output in itertools.product((0, 1), repeat=m):  # the first r are guessed as the output says
            chance = math.prod(keep if a == b else 1 - keep for a, b in zip(included, output, strict=True)) / 2**m
            law[sum(a == b for a, b in zip(included[:r], output[:r], strict=True))] += chance
    for v in range(r + 1):
        assert audits.one_run_p_value(r, v, epsilon) == pytest.approx(law[v:].sum(), abs=1e-12)


def best_guessing(v, epsilon, delta):
    """Return how often the best (ε, δ)-private mechanism guesses v of three canaries, by linear programming.

    Bit i of a number says whether canary i is included, or guessed to be.
    """
    law = cvxpy.Variable((8, 8), nonneg=True)  # of the guess, given who is included
    wrong = [[(included ^ guess).bit_count() for guess in range(8)] for included in range(8)]
    constraints = [cvxpy.sum(law, axis=1) == 1]
    for included, i in itertools.product(range(8), range(3)):
        excess = law[included] - math.exp(epsilon) * law[included ^ (1 << i)]
        constraints.append(cvxpy.sum(cvxpy.pos(excess)) <= delta)
    reached = cvxpy.sum(law[3 - np.array(wrong) >= v]) / 8
    return float(cvxpy.Problem(cvxpy.Maximize(reached), constraints).solve(solver=cvxpy.SCIPY))


@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.0), (1.0, 0.1)])
def test_no_private_mechanism_exceeds_the_p_value(epsilon, delta):
    for v in range(1, 4):
        best, bound = best_guessing(v, epsilon, delta), audits.one_run_p_value(3, v, epsilon, delta)
        assert best <= bound + 1e-9
        assert delta or bound == pytest.approx(best, abs=1e-8)
    assert not delta or best > audits.one_run_p_value(3, 3, epsilon) + delta / 4  # δ does buy something


@pytest.mark.parametrize(
    ("r", "v", "delta", "confidence"), [(40, 33, 0.0, 0.95), (500, 400, 1e-6, 0.9999), (9, 9, 0.0, 0.95)]
)
def test_one_run_bound_is_where_the_p_value_crosses(r, v, delta, confidence):
    bound = audits.one_run_bound(r, v, delta=delta, confidence=confidence)
    assert bound > 0.8 and audits.one_run_bound(100, 50, confidence=0.95) == 0.0
    assert audits.one_run_p_value(r, v, bound, delta) == pytest.approx(1 - confidence, abs=1e-6)


def test_two_table_bound_is_by_exact_limits():
    assert audits.two_table_bound(10, 0, 0, confidence=0.95) == 0.0
    seen, by_chance = (binomtest(k, 1_000).proportion_ci(0.95, method="exact") for k in (300, 90))
    for delta in (0.0, 0.05):
        bound = audits.two_table_bound(1_000, 300, 90, delta=delta, confidence=0.95)
        assert bound == pytest.approx(math.log((seen.low - delta) / by_chance.high), abs=1e-12)


@pytest.mark.long
@pytest.mark.parametrize(
    ("run", "runs", "least"),
    [
        (lambda seed: audits.answer_draws(LAPLACE, LAPLACE, 4_000, seed=seed, name="t", delta=0.0), 200, 0.65),
        (lambda seed: audits.card_draws(1.0, 1.0, 400, seed=seed), 50, 0.2),
        (lambda seed: audits.desk_draws(1.0, 1.0, 400, seed=seed)[0], 50, 0.2),
        (lambda seed: audits.tree_run(1.0, 300, seed=seed), 50, 0.4),
    ],
)
def test_bounds_of_every_mechanism_hold(run, runs, least):
    bounds = np.array([run(seed).bound(0.95) for seed in range(runs)])
    assert np.count_nonzero(bounds > 1.0) <= binom.isf(0.02, runs, 0.05)
    assert np.median(bounds) >= least


def test_a_distinguishing_event():
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=4_000), rng.normal(size=4_000)
    assert audits.distinguished(first, second).bound(0.95) < 0.1
    assert audits.distinguished(first, second - 2).bound(0.95) > 2.0
    rare = np.where(rng.random(4_000) < 0.02, 9.0, 0.0)
    for near, far in ((first + rare, second), (first, second - rare)):  # seen on one table alone, on whichever
        assert audits.distinguished(near, far).bound(0.95) > 1.0
        assert audits.distinguished(near, far, delta=0.02).bound(0.95) < 0.5


def test_the_leaves_of_the_tree_are_read_as_well_as_their_noise_allows():
    depth = audits.COLUMNS
    ledger = BudgetLedger(accounting="savings", requested_epsilon=2.0, depth=depth, n_attributes=depth)
    assert ledger.leaf(1) == pytest.approx(0.85 * 2.0)
    seen = audits.tree_run(2.0, 5_000, seed=4)
    q = 1 / (1 + math.exp(-ledger.leaf(1)))
    assert seen.correct / 5_000 == pytest.approx(q, abs=4 * math.sqrt(q * (1 - q) / 5_000))


def test_lower_bounds_are_as_sure_as_the_intervals_a_policy_decides_by():
    settings = MeasuredEpsilonSettings()
    assert (settings.confidence, settings.level) == (default_policy().level, "95%")
