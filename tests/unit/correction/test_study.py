"""The studies of correction and of the model's fairness: they find what is planted, and say what was measured."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from core.adversaries import STRONG
from core.stats.estimates import Estimate
from core.studies.correction import STUDY, CorrectionResult, CorrectionSettings, findings
from core.studies.correction.attribute_attacks import ATTACKERS
from core.studies.correction.numbers import number_of
from core.studies.correction.study import _unsolved
from core.studies.subject import Subject


def ran(subject: Subject) -> CorrectionResult:
    *_, result = STUDY.run(subject, CorrectionSettings())
    return result


@pytest.fixture(scope="module")
def leaking() -> CorrectionResult:
    return ran(STUDY.plants[0].make(1, True)[0])


@pytest.mark.parametrize(("loosest", "helps"), [(0.0, True), (0.045, False)])
def test_by_tolerance_compares_the_tightest_with_the_loosest(leaking: CorrectionResult, loosest: float, helps: bool):
    """Gains of 5 and 4.5 points, and of 0 or 4.5 at the loosest tolerance, each within 1 point."""
    disclosure = leaking.disclose(0.1)
    gains = [Estimate(value=gain, low=gain - 0.01, high=gain + 0.01, n=9) for gain in (0.05, 0.045, loosest)]
    sentence = findings.by_tolerance([replace(disclosure, gain=gain) for gain in gains])
    assert ("Tighter" in sentence) == helps


def test_a_tolerance_that_no_guess_meets_names_the_smallest_that_some_do(leaking: CorrectionResult):
    odd, _ = leaking.attack("features")
    columns = ("probability", "calibrated", "labels", "truth")
    predictions = np.array([1, 1, 1, 0, 0, 0, 0], dtype=np.uint8)
    few = replace(odd, **{name: getattr(odd, name)[:7] for name in columns}, predictions=predictions)
    attacks = {key: (few, held_out) for key, (_, held_out) in leaking.attacks.items()}
    result = CorrectionResult(subject=replace(leaking.subject), attacks=attacks)
    point = STUDY.findings(result, CorrectionSettings(tolerance=0.0))[0].point
    smallest = result.disclose(0.0).smallest_tolerance
    assert smallest is not None
    tolerance = float(point.rstrip(".").rpartition(" ")[2])
    assert smallest <= tolerance < smallest + 1e-4
    assert result.disclose(tolerance).after is not None


@pytest.mark.parametrize("tolerance", [0.0004, 0.4])
def test_the_disclosed_tolerance_is_judged_as_it_is(leaking: CorrectionResult, tolerance: float):
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
def test_headline_calls_a_gain_one_where_its_interval_excludes_nought(
    leaking: CorrectionResult, gain: tuple[float, float, float], effect: str
):
    now = leaking.disclose(0.1)
    assert now.gain is not None
    now = replace(now, gain=replace(now.gain, value=gain[0], low=gain[1], high=gain[2]))
    point = findings.headline(leaking, now, adversary="features").point
    assert point.startswith(f"Publishing the fairness tolerance {effect} ")
    untrue = findings.headline(leaking, replace(now, achieved=0.1234), adversary="features")
    assert ("not statistically significant" in untrue.point) == (effect == "has no")
    assert "The smallest tolerance that holds is 0.124." in untrue.to_do


def test_the_best_attacker_is_unknown_where_a_correction_was_not_solved(leaking: CorrectionResult):
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
def test_change_that_excludes_nought_never_looks_like_it(gain: tuple[float, ...], expected: list[float]):
    value, low, high = gain
    text = findings._change(Estimate(value=value, low=low, high=high, n=1000)).replace("−", "-")
    assert [float(number) for number in re.findall(r"[+-]?\d+\.\d+", text)] == pytest.approx(expected)


def test_attack_as_published_of_the_strong_keeps_to_held_out_records(leaking: CorrectionResult):
    for adversary in STRONG:
        assert leaking.attack(adversary, as_published=True) is leaking.attack(adversary)
    assert STRONG


def test_balanced_accuracy_is_compared_with_an_even_guess_of_the_groups(leaking: CorrectionResult):
    control = number_of("attack_balanced_before", leaking, CorrectionSettings()).control
    assert control is not None
    assert control.value == control.low == control.high == 1 / 2
