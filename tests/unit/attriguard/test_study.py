"""What is made of guesses: points, intervals, the majority, a table of the values, sentences; the study in an audit."""

from dataclasses import replace

import numpy as np
import pytest

from core.stats.estimates import mean, proportion
from core.studies.attriguard import findings
from core.studies.attriguard.attackers import ATTACKER_TITLES
from core.studies.attriguard.result import AttriGuardSettings, Guesses
from core.studies.attriguard.study import AttriGuardStudy
from tests.unit.attriguard.conftest import exposure

TRUTH = np.array([0, 0, 0, 0, 0, 1, 2, 2])


def study(truth=TRUTH, *, guesses=()):
    """Return a study of three values, in which people read as their true value and one change makes another."""
    return exposure(truth, (0.3, 0.2, 0.5), guesses)


def naming(guesses, *, attacker="forest", trained_at=None):
    """Return the guesses of an attacker whom noise does not bother."""
    noisy = np.repeat(guesses[:, None], 3, axis=1)
    return Guesses(attacker=attacker, trained_at=trained_at, clean=guesses, noisy=noisy)


def test_balanced_by_hand():
    # of the five with value 0 three are named, the one with 1 is not, of the two with 2 one is
    guesses = np.array([0, 0, 0, 1, 1, 2, 2, 0])
    (point,) = study(guesses=(naming(guesses),)).undefended()
    assert point.accuracy.value == 4 / 8
    assert point.balanced.value == pytest.approx((3 / 5 + 0 / 1 + 1 / 2) / 3)
    rates = (mean([1, 1, 1, 0, 0]), proportion(0, 1), mean([1, 0]))
    high = np.sqrt(sum((min(1.0, rate.high) - rate.value) ** 2 for rate in rates)) / 3
    low = np.sqrt(sum((rate.value - max(0.0, rate.low)) ** 2 for rate in rates)) / 3
    assert point.balanced.high == pytest.approx(min(1.0, point.balanced.value + high))
    assert point.balanced.low == pytest.approx(max(0.0, point.balanced.value - low))


@pytest.mark.parametrize(("budget", "nearest"), [(0.0, 1.0), (1.9, 1.0), (2.1, 3.0), (9.0, 3.0)])
def test_at_uses_the_attacker_trained_at_the_nearest_budget(budget, nearest):
    trained = tuple(naming((TRUTH + k) % 3, attacker="adversarial", trained_at=b) for k, b in enumerate((1.0, 3.0)))
    plain, point = study(guesses=(naming(TRUTH), *trained)).at(budget)
    assert plain.trained_at is None
    assert point.trained_at == nearest
    assert point.accuracy.value == pytest.approx(float(nearest == 1.0))


def read_by(*, read, trained, clean=95):
    """Return 100 people, 80 of value 0: classifier and trained attacker read the truth of so many under all noise."""
    truth = np.repeat([0, 1], [80, 20])

    def guesses(name, right):
        noisy_guess = np.where(np.arange(100) < right, truth, 1 - truth)
        without = np.where(np.arange(100) < clean, truth, 1 - truth)
        return Guesses(attacker=name, clean=without, noisy=np.column_stack([noisy_guess, noisy_guess]))

    return exposure(truth, (0.8, 0.2), (guesses("logistic", read), guesses("adversarial", trained)))


def headline(read, trained, budget=0.5, clean=95):
    exposure_study = read_by(read=read, trained=trained, clean=clean)
    return findings.headline(exposure_study, AttriGuardSettings(budget=budget))


@pytest.mark.parametrize(
    ("read", "trained", "best", "advises"),
    [
        (90, 93, "Best attacker: Adversarial AT-A, trained on noise (93%).", True),
        (40, 70, "Best attacker: Adversarial AT-A, trained on noise (70%, no more than the baseline).", False),
        (90, 60, "No attacker tried does better.", True),
    ],
)
def test_the_headline_compares_who_ignores_the_noise_with_the_best(read, trained, best, advises):
    finding = headline(read, trained)
    assert finding.point.endswith(best)
    assert bool(finding.so_what) == bool(finding.to_do) == advises
    assert finding.estimate.value == pytest.approx(max(read, trained) / 100)


@pytest.mark.parametrize(("read", "best"), [(40, 80), (93, 93)])
def test_checks_of_an_audit(read, best):
    """The target is uniform: half of the noises change a column, whatever the budget of 2 allows."""
    checks = AttriGuardStudy().checks(read_by(read=read, trained=30), AttriGuardSettings(budget=2.0))
    exposed, spent = checks["attriguard_exposure"], checks["attriguard_cost"]
    assert (exposed.estimate.value, exposed.control.value) == (best / 100, 0.95)
    assert (spent.estimate.low, spent.estimate.value, spent.estimate.high) == (0.5, 0.5, 0.5)


@pytest.mark.parametrize("seed", range(4))
def test_checks_where_everybody_spends_the_budget_leave_nothing_to_estimate(seed):
    size = np.random.default_rng(seed).integers(2000, 9000, (100, 2))
    size[np.arange(100), np.repeat([0, 1], [80, 20])] = 0
    costly = replace(read_by(read=90, trained=30), size=size)
    spent = AttriGuardStudy().checks(costly, AttriGuardSettings(budget=0.7))["attriguard_cost"].estimate
    assert spent.low == spent.value == spent.high == pytest.approx(0.7)


@pytest.mark.parametrize(("attackers", "little"), [(1, False), (8, True)])
def test_the_best_of_many_attackers_beats_the_majority_guess_by_more_than_luck(attackers, little):
    exposure_study = read_by(read=88, trained=88, clean=88)  # one alone does at 95%
    tried = tuple(replace(exposure_study.guesses[0], attacker=name) for name in ATTACKER_TITLES)[:attackers]
    finding = findings.headline(replace(exposure_study, guesses=tried), AttriGuardSettings(budget=0.5))
    assert any("Little to hide" in caveat for caveat in finding.caveats) == little


def test_noise_needed_is_of_those_inferred_otherwise():
    """None was found for value 1 of two people of the seven inferred otherwise, nor for value 0 of one of the three."""
    reached = np.ones((TRUTH.size, 3), dtype=bool)
    reached[[0, 1], 1] = reached[7, 0] = False
    finding = findings.noise_needed(exposure(TRUTH, (0.3, 0.2, 0.5), reached=reached))
    assert finding.point.startswith("Inferring another value takes 1.00 ")
    assert "3 of 16 pairs" in finding.evidence
    assert finding.evidence.index("“Ulm” for 33.3%") < finding.evidence.index("“Bonn” for 28.6%")
    assert "Trier" not in finding.evidence


def test_value_rows_of_no_budget_draw_the_values_people_are_read_as():
    """Five, one and two of eight."""
    rows = findings.value_rows(study(), 0.0)
    drawn = {row["town"]: row["drawn"].value for row in rows}
    assert drawn == pytest.approx({"Ulm": 5 / 8, "Bonn": 1 / 8, "Trier": 2 / 8})
    assert {row["town"]: row["people inferred otherwise"] for row in rows} == {"Ulm": 3, "Bonn": 7, "Trier": 6}
