"""What is made of guesses: points, intervals, the majority, a table of the values, sentences; the study in an audit."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from core.stats.estimates import Estimate, mean, plain_row, proportion
from core.studies.attriguard import Exposure, attacker_label, findings
from core.studies.attriguard.attackers import ATTACKER_TITLES
from core.studies.attriguard.charts import draw_budget
from core.studies.attriguard.findings import value_rows
from core.studies.attriguard.result import AttriGuardSettings, Guesses
from core.studies.attriguard.study import AttriGuardStudy
from core.studies.attriguard.utility import UtilityPoint
from core.studies.study import Finding
from tests.unit.attriguard.conftest import exposure

TRUTH = np.array([0, 0, 0, 0, 0, 1, 2, 2])


def study(truth: np.ndarray = TRUTH, *, guesses: tuple[Guesses, ...] = ()) -> Exposure:
    """Return a study of three values, in which people read as their true value and one change makes another."""
    return exposure(truth, (0.3, 0.2, 0.5), guesses)


def naming(guesses: np.ndarray, *, attacker: str = "forest", trained_at: float | None = None) -> Guesses:
    """Return the guesses of an attacker whom noise does not bother."""
    noisy = np.repeat(guesses[:, None], 3, axis=1)
    return Guesses(attacker=attacker, trained_at=trained_at, clean=guesses, noisy=noisy)


def test_one_person_and_everybody_right_keep_their_doubt() -> None:
    for truth in (TRUTH[:1], TRUTH):
        of = study(truth, guesses=(naming(truth),))
        assert truth.size > 1 or (of.majority.value == 0.0 and of.majority.high > 0.5)
        for point in (*of.at(0.5), *of.undefended()):
            assert point.accuracy.value == pytest.approx(1.0) and point.balanced.value == pytest.approx(1.0)
            assert point.accuracy.low == pytest.approx(proportion(truth.size, truth.size).low)
            assert point.balanced.low < 0.8 and point.accuracy.n == truth.size


def test_balanced_by_hand() -> None:
    # of the five with value 0 three are named, the one with 1 is not, of the two with 2 one is
    guesses = np.array([0, 0, 0, 1, 1, 2, 2, 0])
    (point,) = study(guesses=(naming(guesses),)).undefended()
    assert point.accuracy.value == 4 / 8
    assert point.balanced.value == pytest.approx((3 / 5 + 0 / 1 + 1 / 2) / 3)
    first_rate, second_rate, third_rate = mean([1, 1, 1, 0, 0]), proportion(0, 1), mean([1, 0])
    high = [min(1.0, rate.high) - rate.value for rate in (first_rate, second_rate, third_rate)]
    low = [rate.value - max(0.0, rate.low) for rate in (first_rate, second_rate, third_rate)]
    assert point.balanced.high == pytest.approx(min(1.0, point.balanced.value + np.sqrt(np.square(high).sum()) / 3))
    assert point.balanced.low == pytest.approx(max(0.0, point.balanced.value - np.sqrt(np.square(low).sum()) / 3))
    (tied,) = study(guesses=(naming(np.full_like(TRUTH, 2)),)).undefended()  # as good as the majority class
    assert tied.reported == tied.accuracy and tied.accuracy.value == 2 / 8


@pytest.mark.parametrize("truth", [TRUTH, TRUTH[[0, 6]], TRUTH[:1]])
def test_the_balanced_baseline_is_what_its_guess_reaches(truth: np.ndarray) -> None:
    exposure_study = study(truth, guesses=(naming(np.full_like(truth, 2)),))  # the value most of the known people have
    (point,) = exposure_study.undefended()
    assert exposure_study.baseline(balanced=True).value == pytest.approx(point.balanced.value)


def test_points_use_the_attacker_of_the_nearest_budget() -> None:
    trained = tuple(naming((TRUTH + k) % 3, attacker="adversarial", trained_at=b) for k, b in enumerate((1.0, 3.0)))
    of = study(guesses=(naming(TRUTH), *trained))
    for budget, nearest in ((0.0, 1.0), (1.9, 1.0), (2.1, 3.0), (9.0, 3.0)):
        plain, point = of.at(budget)
        assert plain.trained_at is None and point.trained_at == nearest
        assert point.accuracy.value == pytest.approx(float(nearest == 1.0))
    assert of.undefended()[1].trained_at == 1.0
    for used in (trained, trained[:1]):
        assert ("of the nearest budget" in findings.guide(study(guesses=used), "logistic")) == (len(used) > 1)


@pytest.mark.long
def test_points_are_the_mean_over_the_draws(full_exposure: Exposure) -> None:
    used, guesses = full_exposure.mechanism(1.0), full_exposure.guesses[0].noisy
    right = [sum(used[k, i] for i in range(4) if guesses[k, i] == full_exposure.truth[k]) for k in range(100)]
    assert full_exposure.at(1.0)[0].accuracy.value == pytest.approx(np.mean(right))
    for points in full_exposure.curves.values():
        for point in points:
            assert 0 <= point.accuracy.low <= point.accuracy.value <= point.accuracy.high <= 1
            assert point.reported.value == max(point.accuracy.value, full_exposure.majority.value)


@pytest.mark.parametrize("missing", [(1,), (0, 1, 2)])
def test_values_without_noise_have_no_mean_size(missing: tuple[int, ...]) -> None:
    of = study()
    reachable = of.reached.copy()
    reachable[:, missing] = of.size[:, missing] == 0
    rows = [plain_row(row) for row in value_rows(replace(of, reached=reachable), 1.0)]
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    mean_changes = [row["columns changed, mean"] for row in rows]
    assert mean_changes == [1.0] * (3 - len(missing)) + [None] * len(missing)


def read_by(*, read: int, trained: int, clean: int = 95) -> Exposure:
    """Return 100 people, 80 of value 0: classifier and trained attacker read the truth of so many under all noise."""
    truth = np.repeat([0, 1], [80, 20])

    def guesses(name: str, right: int) -> Guesses:
        noisy_guess = np.where(np.arange(100) < right, truth, 1 - truth)
        without = np.where(np.arange(100) < clean, truth, 1 - truth)
        return Guesses(attacker=name, clean=without, noisy=np.column_stack([noisy_guess, noisy_guess]))

    return exposure(truth, (0.8, 0.2), (guesses("logistic", read), guesses("adversarial", trained)))


def headline(read: int, trained: int, budget: float = 0.5, clean: int = 95) -> Finding:
    exposure_study = read_by(read=read, trained=trained, clean=clean)
    return findings.headline(exposure_study, AttriGuardSettings(budget=budget))


@pytest.mark.parametrize(
    ("read", "trained", "point", "advises"),
    [
        (90, 93, "leaves an attacker who ignores it at 90% (Logistic: 95% without noise). Best attacker: Adversarial "
         "AT-A, trained on noise (93%).", True),
        (40, 93, "fools an attacker who ignores it (Logistic: 40%, below the 80% baseline). Best attacker: Adversarial "
         "AT-A, trained on noise (93%).", True),
        (40, 70, "Best attacker: Adversarial AT-A, trained on noise (70%, no more than the baseline).", False),
        (90, 60, "(Logistic: 95% without noise). No attacker tried does better.", True),
    ],
)  # fmt: skip
def test_the_headline_compares_who_ignores_the_noise_with_the_best(read: int, trained: int, point: str, advises: bool):
    finding = headline(read, trained)
    assert finding.point.endswith(point) and bool(finding.so_what) == bool(finding.to_do) == advises
    assert "Budget β = 0.5 changed columns per person on average; 0.50 used. Without noise 95%." in finding.evidence
    assert "Baseline: always “Ulm”, 80%." in finding.evidence
    assert finding.estimate is not None and finding.estimate.value == pytest.approx(max(read, trained) / 100)


def test_only_who_ignores_the_noise_is_said_to():
    exposure_study = read_by(read=40, trained=90)
    adaptive, forest = exposure_study.guesses[1], replace(exposure_study.guesses[0], attacker="forest")
    for guesses, whom in (
        ((adaptive,), "an adaptive attacker at 90% (Adversarial AT-A"),
        ((adaptive, forest), "an attacker who ignores it (Forest: 40%"),
    ):
        of = replace(exposure_study, guesses=guesses)
        assert whom in findings.headline(of, AttriGuardSettings(budget=0.5, defender="network")).point


@pytest.mark.parametrize(("read", "best"), [(40, 80), (93, 93)])
def test_the_checks_of_an_audit(read: int, best: int):
    """The target is uniform: half of the noises change a column, whatever the budget of 2 allows."""
    checks = AttriGuardStudy().checks(read_by(read=read, trained=30), AttriGuardSettings(budget=2.0))
    exposed, spent = checks["attriguard_exposure"], checks["attriguard_cost"]
    assert (exposed.estimate.value, exposed.control.value, spent.estimate.value) == (best / 100, 0.95, 0.5)
    assert spent.estimate.low == spent.estimate.high == 0.5
    assert "whose records change by at most 2 columns each on average, inferred by logistic" in exposed.attacked
    assert exposed.details == {
        "Logistic regression": read / 100,
        "Adversarial training (AT-A)": 0.3,
        "Logistic regression, without noise": 0.95,
        "Adversarial training (AT-A), without noise": 0.95,
        "majority-class baseline": 0.8,
    }


@pytest.mark.parametrize("balanced", [False, True])
def test_the_headline_names_the_attacker_whose_curve_is_highest(balanced: bool):
    """Of 80 and 20 people one attacker is right about most, the other about most values."""
    exposure_study = read_by(read=85, trained=90)
    few = np.where(exposure_study.truth == 1, 1, np.arange(100) % 4 == 0)[:, None]  # all of the 20, and 60 of the 80
    often = replace(exposure_study.guesses[0], attacker="forest", noisy=np.hstack([few, few]).astype(np.int64))
    exposure_study = replace(exposure_study, guesses=(*exposure_study.guesses, often))
    now = exposure_study.at(0.5)
    best = max(now, key=lambda point: point.rate(balanced=balanced).value)
    settings = AttriGuardSettings(budget=0.5, balanced=balanced)
    chart = draw_budget(exposure_study, settings)
    assert best.attacker == ("forest" if balanced else "adversarial")
    finding = findings.headline(exposure_study, settings)
    assert attacker_label(best.attacker) in finding.point
    assert attacker_label(best.attacker) in chart.alt.partition("at 0.5: ")[2].partition(";")[0]
    assert ("Balanced accuracy" in finding.evidence) == balanced


@pytest.mark.parametrize(("clean", "little"), [(95, False), (83, True)])
def test_where_nobody_beats_the_majority_guess_there_is_little_to_hide(clean: int, little: bool):
    caveats = headline(read=70, trained=75, clean=clean).caveats
    assert ("Little to hide: even without noise the best attacker reaches only 83%." in caveats) == little


@pytest.mark.parametrize(("attackers", "little"), [(1, False), (8, True)])
def test_the_best_of_many_attackers_beats_the_majority_guess_by_more_than_luck(attackers: int, little: bool):
    exposure_study = read_by(read=88, trained=88, clean=88)  # one alone does at 95%
    tried = tuple(replace(exposure_study.guesses[0], attacker=name) for name in ATTACKER_TITLES)[:attackers]
    finding = findings.headline(replace(exposure_study, guesses=tried), AttriGuardSettings(budget=0.5))
    assert any("Little to hide" in caveat for caveat in finding.caveats) == little
    assert (finding.so_what == "") == little


def estimate(value: float, half: float) -> Estimate:
    return Estimate(value=value, low=value - half, high=value + half, n=400)


@pytest.mark.parametrize(("half", "changed"), [(0.05, False), (0.01, True)])
def test_decisions_follow_the_interval_of_the_change(half: float, changed: bool):
    """The two intervals of unfairness overlap in either case: they are about the same people."""
    before = UtilityPoint(
        budget=None, accuracy=estimate(0.7, 0.01), unfairness=estimate(0.068, 0.03), change=estimate(0, 0), gap=0.0
    )
    after = replace(before, budget=0.5, unfairness=estimate(0.042, 0.03), change=estimate(-0.026, half))
    sentence = findings.decisions(before, after, estimate(0.6, 0.01), "statistical_parity").point
    assert ("shows no significant change: 0.042 (95% CI 0.012 to 0.072), 0.068" in sentence) != changed
    assert ("changes from 0.068 to 0.042 (by −0.026, 95% CI −0.036 to −0.016)" in sentence) == changed
    same = findings.decisions(before, before, estimate(0.6, 0.01), "statistical_parity").point
    assert "shows no significant change: 0.068" in same


def test_noise_needed_names_unreachable_values():
    exposure_study = read_by(read=90, trained=93)
    assert findings.noise_needed(exposure_study).evidence == "Noise was found for every person and value."
    reachable = exposure_study.reached.copy()
    reachable[:20, 1] = False  # of the 80 who are read as Ulm
    finding = findings.noise_needed(replace(exposure_study, reached=reachable))
    assert "None was found for 20 of 100 pairs of person and value: “Bonn” for 25.0% of the people" in finding.evidence
    assert finding.caveats == ("People without any noise, who stay as they are: 20.",)
