"""K groups, shares, exact unfairness and several disclosures: every solver on the bank, certificates, bad settings."""

import math
from fractions import Fraction

import numpy as np
import pytest

from core.base.errors import InputError
from core.studies.correction import Disclosed, correct, correct_jointly
from core.studies.correction.exact import smallest_fraction
from core.studies.correction.problem import SOLVERS, Claim, certify
from tests.problem_bank import all_told_true, joint_bank, shares_true

BANK = joint_bank()


def check_vector(problem, result):
    """Check a reconstruction in exact fractions, with nothing of core."""
    vector = result.reconstruction
    for disclosed in problem.disclosures:
        assert all_told_true(disclosed, vector[np.newaxis], problem.n_groups).all()
    assert shares_true(problem.shares, vector.tolist())
    changed = vector != problem.guess
    cost = np.array(problem.cost or [1.0] * vector.size)
    assert result.n_changed == changed.sum()
    assert result.objective == pytest.approx(math.fsum(cost[changed]), rel=1e-12)


@pytest.mark.parametrize(
    ("problem", "solver"),
    [(problem, solver) for i, problem in enumerate(BANK) for solver in (SOLVERS if i % 4 == 0 else SOLVERS[:1])],
    ids=lambda parameter: getattr(parameter, "name", parameter),
)
def test_bank(problem, solver):
    results = [correct_jointly(**problem.arguments(), solver=solver)]
    if len(problem.disclosures) == 1:
        results.append(correct(**problem.single(), solver=solver))
    for result in results:
        if math.isinf(problem.objective):
            assert result.certificate.status == "infeasible" and result.reconstruction is None
            assert result.reason.endswith(".") and result.reason.count(". ") == 0
        else:
            assert result.certificate.status == "optimal" and result.reason == ""
            assert result.objective == pytest.approx(problem.objective, rel=1e-9)
            check_vector(problem, result)


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_smallest_tolerance_is_the_least_over_all_splits(k):
    for n in range(k, 11):
        for positives in range(n + 1):
            assert smallest_fraction(n, positives, k) == _least_over_splits(n, positives, k)


def _least_over_splits(n, positives, k):
    """Return the least over all group sizes and hits of the largest distance, group by group, in whole numbers."""
    unit, distances = math.lcm(*range(1, n + 1)), {(0, 0): 0}  # distances are multiples of 1 / (n unit)
    for _ in range(k):
        longer = {}
        for (m, a), worst in distances.items():
            for size in range(1, n - m + 1):
                for hits in range(min(size, positives - a) + 1):
                    key = (m + size, a + hits)
                    value = max(worst, abs(hits * n - positives * size) * (unit // size))
                    longer[key] = min(longer.get(key, 2 * n * unit), value)
        distances = longer
    return Fraction(distances[n, positives], n * unit)


UNFAIR = (Disclosed(predictions=[1, 0, 1, 0, 1, 0], unfairness=1 / 6),)
WIDE, NARROW = ((1, 2), (1, 6), (1, 6)), ((1, 2), (2, 6), (1, 1))


@pytest.mark.parametrize(
    ("bounds", "sizes", "vector", "off"),
    [
        (UNFAIR, WIDE, (0, 0, 1, 1, 2, 2), 1 / 6),  # fair: not as unfair as disclosed
        (UNFAIR, WIDE, (0, 0, 0, 0, 1, 1), math.inf),  # an empty group
        (UNFAIR, WIDE, (1, 1, 1, 0, 0, 2), 1 / 3),
        (UNFAIR, None, (0, 0, 0, 1, 1, 2), 1 / 3),
        ((), NARROW, (0, 0, 0, 1, 1, 2), 1 / 6),  # the most records a group is off, of six
        ((), NARROW, (0, 1, 1, 1, 2, 2), 1 / 6),
        ((), NARROW, (0, 0, 0, 0, 1, 2), 2 / 6),
        ((), NARROW, (0, 0, 1, 1, 1, 2), 0),
    ],
)
def test_certify_checks_groups_shares_and_values(bounds, sizes, vector, off):
    guess = np.array([0, 0, 1, 1, 2, 2], dtype=np.uint8)
    claim = Claim(guess=guess, cost=np.ones(6), n_groups=3, bounds=bounds, sizes=sizes)
    certificate = certify(claim, np.array(vector, dtype=np.uint8), [0.0], solver="any", started=0.0)
    assert certificate.residual == pytest.approx(off)
    assert (off == 0) == (certificate.status in ("optimal", "feasible"))


@pytest.mark.parametrize(
    ("guess", "predictions", "disclosed", "smallest", "reason"),
    [
        ([0, 1, 2], [1, 0, 1], {"tolerance": 1.0, "n_groups": 4}, math.inf, "4 groups"),
        ([1, 0], [1, 0], {"tolerance": 1.0, "metric": "equalized_odds", "labels": [1, 1]}, math.inf, ""),
        ([1] + [0] * 29, [1] + [0] * 29, {"tolerance": 0.0}, 1 / 30, "the smallest that some meet is 0.0333334."),
        ([0, 1, 0, 1], [1, 0, 1, 0], {"tolerance": 0.0, "group_shares": (0.25, 0.75)}, None, "disclosed at once."),
        ([0, 1, 0], [1, 0, 1], {"unfairness": 0.1}, None, "disclosed at once."),  # no three people differ by so little
    ],
)
def test_correct_says_why_nothing_is_feasible(guess, predictions, disclosed, smallest, reason):
    result = correct(guess, predictions, **disclosed)
    assert result.certificate.status == "infeasible"
    assert result.smallest_tolerance == (None if smallest is None else pytest.approx(smallest))
    assert reason in result.reason


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"tolerance": math.nan}, "tolerance must be in \\[0, 1\\]"),
        ({"metric": "equalized_odds"}, "labels must be given for equalized_odds"),
        ({"solver": "simplex"}, "solver must be one of exact, ilp, ilp_general"),
        ({"time_limit": 0}, "time_limit must be above 0 seconds, got 0"),
        ({"cost": [1, 1, 0, 1]}, "cost must be finite and above 0, got 0"),
        ({"predictions": [1]}, "same length"),
        ({"guess": [2, 0, 0, 0], "n_groups": 2}, "guess must hold only 0 and 1, got 2"),
        ({"tolerance": None}, "Exactly one of tolerance and unfairness must be given, got neither"),
        ({"unfairness": 0.1}, "Exactly one of tolerance and unfairness must be given, got both"),
        ({"tolerance": None, "unfairness": (0.2, 0.1)}, "an interval .low, high. in rising order, got .0.2, 0.1."),
        ({"tolerance": None, "unfairness": (0.1, 0.2, 0.3)}, "unfairness must be a number or an interval"),
        ({"n_groups": 1}, "n_groups must be a whole number from 2 to 20, got 1"),
        ({"guess": [0, 1, 2, 20]}, "n_groups must be a whole number from 2 to 20, got 21"),
        ({"guess": [0, 1, 1.5, 2]}, "guess must hold whole numbers from 0 to 2, got 1.5"),
        ({"group_shares": (0.5, 0.5)}, "group_shares must have one entry a group \\(3\\), got 2"),
        ({"group_shares": (0.5, 0.5, 0.5)}, "group_shares must be able to add up to all 4 records, got 6"),
        ({"group_shares": (0.0, 0.5, 0.5)}, "must allow a whole count from 1 of 4 records, got 0.0"),
    ],
)
def test_bad_settings_are_told_in_one_sentence(changed, message):
    arguments = {"guess": [0, 1, 2, 0], "predictions": [1, 1, 0, 0], "tolerance": 0.1}
    with pytest.raises(InputError, match=message) as caught:
        correct(**(arguments | changed))
    assert str(caught.value).endswith(".") and str(caught.value).count(". ") == 0


def test_disclosures_are_needed_and_of_the_same_people():
    with pytest.raises(InputError, match="At least one disclosure or group share"):
        correct_jointly([0, 1, 0, 1], [])
    with pytest.raises(InputError, match="same length"):
        correct_jointly([0, 1, 0, 1], [Disclosed(predictions=[0, 1], tolerance=0.1)])
