"""What a disclosure measures: by hand, with its switches, where there is no correction; costs and their exponent."""

import math
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from core.adversaries import STRONG, AttackedRecords
from core.base.errors import InputError
from core.stats.estimates import Estimate
from core.stats.fairness import METRICS
from core.studies.correction import STUDY, CorrectionResult, CorrectionSettings, correct, disclose, findings
from core.studies.correction.attribute_attacks import ATTACKERS
from core.studies.correction.disclosure import choose_exponent, corrected_accuracy, log_odds_cost, published_cost
from core.studies.correction.numbers import number_of
from core.studies.correction.study import _unsolved
from tests.problem_bank import brute_force
from tests.unit.correction.test_bootstrap import people


def _both(first):
    """Return P(s = 0) and P(s = 1) side by side."""
    return np.column_stack([1 - first, first])


def records_of(p, predictions, truth, labels=None):
    """Return records of these probabilities, which are calibrated, with label 1 unless it is said."""
    columns = {"predictions": predictions, "truth": truth, "labels": np.ones(len(p)) if labels is None else labels}
    codes = {name: np.asarray(values, dtype=np.uint8) for name, values in columns.items()}
    return AttackedRecords(probability=p, calibrated=p, **codes)


ATTACKED, HELD_OUT = people(900, 1, bias=1.0), people(500, 2, bias=1.0)


ODD = records_of(_both(np.linspace(0.1, 0.9, 7)), [1, 1, 1, 0, 0, 0, 0], [0, 1, 0, 1, 0, 1, 1])
"""No two groups of these seven have the same rate."""


def test_ten_people_by_hand():
    """Six positives among ten; group 1 guessed on five of them: rate 5/5, so somebody must change."""
    probability = _both(np.array([0.9, 0.8, 0.7, 0.6, 0.55, 0.1, 0.4, 0.3, 0.2, 0.1]))
    attacked = records_of(probability, [1, 1, 1, 1, 1, 1, 0, 0, 0, 0], [1, 1, 1, 0, 0, 0, 1, 1, 0, 0])
    disclosure = disclose(attacked, HELD_OUT, tolerance=0.0, cost="log_odds")
    # Rate 6/10 in both groups means 3 of 5 and 3 of 5: two leave group 1 among the positives, two join it,
    # and the unsure go first.
    assert (disclosure.n_changed, disclosure.n_right) == (4, 4)
    assert disclosure.before.value == pytest.approx(0.6)
    assert disclosure.after.value == pytest.approx(1.0)
    assert [before.value for before, _ in disclosure.groups.values()] == pytest.approx([0.6, 0.6])


def test_a_tolerance_is_raised_in_thousandths_until_it_is_true():
    plain = disclose(ATTACKED, HELD_OUT, tolerance=0.0105)
    assert not plain.is_true
    assert plain.used == 0.0105
    raised = disclose(ATTACKED, HELD_OUT, tolerance=0.0105, raise_until_true=True)
    assert raised.is_true
    assert raised.used - 0.001 < raised.achieved <= raised.used
    steps = (raised.used - raised.disclosed_tolerance) / 0.001
    assert steps == pytest.approx(round(steps))


def test_log_odds_start_from_the_calibrated_guess_and_find_the_most_probable_answer():
    """Where calibration moves guesses over the border, brute force over all answers confirms the result."""
    rng = np.random.default_rng(3)
    raw = rng.uniform(0.2, 0.9, 11)
    calibrated = np.clip(raw - 0.25, 0.05, 0.95)
    records = records_of(_both(raw), rng.random(11) < 0.5, rng.random(11) < 0.5)
    records = replace(records, calibrated=_both(calibrated))
    disclosure = disclose(records, HELD_OUT, tolerance=0.1, cost="log_odds")
    assert disclosure.before.value == pytest.approx((records.calibrated_guess == records.truth).mean())
    assert not np.array_equal(records.guess, records.calibrated_guess)
    cost = np.abs(np.log(calibrated / (1 - calibrated))).tolist()  # in log-probability, of another answer
    guess, predictions = records.calibrated_guess.tolist(), records.predictions.tolist()
    best = brute_force(guess, predictions, Fraction(1, 10), cost=cost)
    assert disclosure.certificate.objective == pytest.approx(best, abs=1e-5)


@pytest.mark.parametrize(("confidence", "sentence"), [([0.6, 1.2], "at most 1, got 1.2"), ([0.0, 0.9], "above 0")])
def test_log_odds_refuse_what_is_no_probability(confidence, sentence):
    with pytest.raises(InputError, match=sentence):
        log_odds_cost(confidence)


def rounded(n, decimals=9):
    """Return n people of whom an attacker is as sure as so many decimals say."""
    records = people(n, n, bias=1.0)
    p = _both(np.round(records.probability[:, 1], decimals))
    return replace(records, probability=p, calibrated=p)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("n", "decimals"), [(400, 9), (401, 1)])
@pytest.mark.parametrize("tolerance", [0.0, 0.002])
def test_curve_is_the_accuracy_of_the_corrections(metric, n, decimals, tolerance):
    records = rounded(n, decimals)
    arguments = {"tolerance": tolerance, "metric": metric, "labels": records.labels}
    tried = (0, 1, 2, 7, 40, 99)
    curve = corrected_accuracy(records, tolerance=tolerance, metric=metric, exponents=tried)
    chosen = choose_exponent(records, tolerance=tolerance, metric=metric, exponents=tried)
    for exponent, accuracy in zip(tried, curve, strict=True):
        cost = published_cost(records.confidence, exponent)
        vector = correct(records.guess, records.predictions, cost=cost, **arguments).reconstruction
        if vector is None:
            assert math.isnan(accuracy) and chosen is None
        else:
            assert accuracy == np.mean(vector == records.truth)


def ran(subject):
    *_, result = STUDY.run(subject, CorrectionSettings())
    return result


@pytest.fixture(scope="module")
def leaking():
    return ran(STUDY.plants[0].make(1, True)[0])


@pytest.mark.parametrize(("loosest", "helps"), [(0.0, True), (0.045, False)])
def test_by_tolerance_compares_the_tightest_with_the_loosest(leaking, loosest, helps):
    """Gains of 5 and 4.5 points, and of 0 or 4.5 at the loosest tolerance, each within 1 point."""
    disclosure = leaking.disclose(0.1)
    gains = [Estimate(value=gain, low=gain - 0.01, high=gain + 0.01, n=9) for gain in (0.05, 0.045, loosest)]
    sentence = findings.by_tolerance([replace(disclosure, gain=gain) for gain in gains])
    assert ("Tighter" in sentence) == helps


def test_a_tolerance_that_no_guess_meets_names_the_smallest_that_some_do(leaking):
    odd, _ = leaking.attack("features")
    columns = ("probability", "calibrated", "labels", "truth")
    predictions = np.array([1, 1, 1, 0, 0, 0, 0], dtype=np.uint8)
    few = replace(odd, **{name: getattr(odd, name)[:7] for name in columns}, predictions=predictions)
    attacks = {key: (few, held_out) for key, (_, held_out) in leaking.attacks.items()}
    result = CorrectionResult(subject=replace(leaking.subject), attacks=attacks)
    point = STUDY.findings(result, CorrectionSettings(tolerance=0.0))[0].point
    smallest = result.disclose(0.0).smallest_tolerance
    tolerance = float(point.rstrip(".").rpartition(" ")[2])
    assert smallest <= tolerance < smallest + 1e-4
    assert result.disclose(tolerance).after is not None


@pytest.mark.parametrize("tolerance", [0.0004, 0.4])
def test_the_disclosed_tolerance_is_judged_as_it_is(leaking, tolerance):
    """However fine, and however loose: the truth of another one is no truth of it."""
    subject = replace(leaking.subject, config=replace(leaking.subject.config, tolerance=tolerance))
    result = replace(leaking, subject=subject)
    assert subject.model.unfairness_train < 0.0004 and findings.first_tolerance(result) == tolerance
    assert STUDY.findings(result, CorrectionSettings())[2].point == "The disclosed tolerance holds."


@pytest.mark.parametrize(
    ("gain", "effect"),
    [
        ((0.01, 0.0003, 0.02), "helps"),
        ((0.01, 0.0, 0.02), "has no"),
        ((-0.01, -0.02, 0.0), "has no"),
        ((-0.01, -0.02, -0.0003), "misleads"),
    ],
)
def test_headline_calls_a_gain_one_where_its_interval_excludes_nought(leaking, gain, effect):
    now = leaking.disclose(0.1)
    now = replace(now, gain=replace(now.gain, value=gain[0], low=gain[1], high=gain[2]))
    point = findings.headline(leaking, now, adversary="features").point
    assert point.startswith(f"Publishing the fairness tolerance {effect} ")
    untrue = findings.headline(leaking, replace(now, achieved=0.1234), adversary="features")
    assert ("not statistically significant" in untrue.point) == (effect == "has no")
    assert "The smallest tolerance that holds is 0.124." in untrue.to_do


def test_the_best_attacker_is_unknown_where_a_correction_was_not_solved(leaking):
    solved = leaking.disclose(0.1)
    unsolved = replace(solved, after=None)
    first, second, *_ = ATTACKERS
    assert _unsolved({first: solved, second: solved}) == ""
    assert ATTACKERS[second] in _unsolved({first: solved, second: unsolved})
    assert f"tolerance {solved.used:g} was found" in _unsolved({first: unsolved, second: unsolved})


@pytest.mark.parametrize(
    ("gain", "expected"),
    [
        ((0.0006, 0.0002, 0.001), [0.06, 0.02, 0.10]),
        ((-0.0006, -0.001, -0.0002), [-0.06, -0.10, -0.02]),
        ((0.0006, -0.0002, 0.0014), [0.1, 0.0, 0.1]),
    ],
)
def test_change_that_excludes_nought_never_looks_like_it(gain, expected):
    value, low, high = gain
    text = findings._change(Estimate(value=value, low=low, high=high, n=1000)).replace("−", "-")
    assert [float(number) for number in re.findall(r"[+-]?\d+\.\d+", text)] == pytest.approx(expected)


def test_attack_as_published_of_the_strong_keeps_to_held_out_records(leaking):
    for adversary in STRONG:
        assert leaking.attack(adversary, as_published=True) is leaking.attack(adversary)
    assert STRONG


def test_balanced_accuracy_is_compared_with_an_even_guess_of_the_groups(leaking):
    control = number_of("attack_balanced_before", leaking, CorrectionSettings()).control
    assert control.value == control.low == control.high == 1 / 2
