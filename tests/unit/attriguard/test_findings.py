"""The sentences of AttriGuard that depend on how things turn out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.attriguard import Exposure, attacker_label, findings
from core.attriguard.exposure import Guesses
from core.attriguard.noisy_records import Noise
from core.attriguard.utility import Recommendation, UtilityPoint
from core.charts.attriguard import draw_budget
from core.estimates import Estimate
from core.study import Finding
from tests.unit.attriguard.conftest import exposure


def study(*, read: int, trained: int, clean: int = 95) -> Exposure:
    """Return 100 people, 80 of value 0: classifier and trained attacker read the truth of so many under all noise."""
    truth = np.repeat([0, 1], [80, 20])

    def guesses(name: str, right: int) -> Guesses:
        named = np.where(np.arange(100) < right, truth, 1 - truth)
        without = np.where(np.arange(100) < clean, truth, 1 - truth)
        return Guesses(attacker=name, clean=without, noisy=np.column_stack([named, named]))

    return exposure(truth, (0.8, 0.2), (guesses("logistic", read), guesses("adversarial", trained)))


def told(read: int, trained: int, budget: float = 0.5, clean: int = 95) -> Finding:
    found = study(read=read, trained=trained, clean=clean)
    return findings.headline(found, found.at(budget))


@pytest.mark.parametrize(
    ("read", "trained", "point", "advises"),
    [
        (90, 93, "leaves an attacker who ignores it at 90% (Logistic: 95% without noise); one trained on its noise "
         "(Adversarial AT-A: 93%) is better.", True),
        (40, 93, "fools an attacker who ignores it (Logistic: 40%, below the 80% baseline) but not one trained on its "
         "noise (Adversarial AT-A: 93%).", True),
        (40, 70, "baseline) and one trained on its noise (Adversarial AT-A: 70%, no more than the baseline).", False),
        (90, 60, "(Logistic: 95% without noise); no attacker tried does better.", True),
    ],
)  # fmt: skip
def test_the_headline_compares_who_ignores_the_noise_with_the_best(read: int, trained: int, point: str, advises: bool):
    found = told(read, trained)
    assert found.point.endswith(point) and bool(found.so_what) == bool(found.to_do) == advises
    assert "Budget β = 0.5 changed columns per person on average; 0.50 used. Without noise 95%." in found.evidence
    assert "Baseline: always “Ulm”, 80%." in found.evidence
    assert "0.5 columns" in found.redacted and "%" not in found.redacted
    assert found.estimate is not None and found.estimate.value == pytest.approx(max(read, trained) / 100)


@pytest.mark.parametrize("balanced", [False, True])
def test_the_headline_names_the_attacker_whose_curve_is_highest(balanced: bool):
    """Of 80 and 20 people one attacker is right about most, the other about most values."""
    shown = study(read=85, trained=90)
    few = np.where(shown.truth == 1, 1, np.arange(100) % 4 == 0)[:, None]  # all of the 20, and 60 of the 80
    often = replace(shown.guesses[0], attacker="forest", noisy=np.hstack([few, few]).astype(np.int64))
    shown = replace(shown, guesses=(*shown.guesses, often))
    now = shown.at(0.5)
    best = max(now, key=lambda point: point.rate(balanced=balanced).value)
    floor = shown.baseline(balanced=balanced)
    chart = draw_budget(
        shown.curves([0.0, 0.5]), now, floor, last=1, budget=0.5, unit="columns", attribute="town",
        balanced=balanced,
    )  # fmt: skip
    assert best.attacker == ("forest" if balanced else "adversarial")
    found = findings.headline(shown, now, balanced=balanced)
    assert attacker_label(best.attacker) in found.point
    assert attacker_label(best.attacker) in chart.alt.partition("at 0.5: ")[2].partition(";")[0]
    assert ("Balanced accuracy" in found.evidence) == balanced


@pytest.mark.parametrize(("clean", "little"), [(95, False), (83, True)])
def test_where_nobody_beats_the_majority_guess_there_is_little_to_hide(clean: int, little: bool):
    caveats = told(read=70, trained=75, clean=clean).caveats
    assert ("Little to hide: even without noise the best attacker reaches only 83%." in caveats) == little


def estimate(value: float, half: float) -> Estimate:
    return Estimate(value=value, low=value - half, high=value + half, n=400)


@pytest.mark.parametrize(("before", "here", "half", "changed"), [(0.068, 0.042, 0.03, False), (0.09, 0.04, 0.01, True)])
def test_a_change_within_the_interval_is_no_change(before: float, here: float, half: float, changed: bool):
    def point(value: float, half: float) -> UtilityPoint:
        return UtilityPoint(budget=0.5, accuracy=estimate(0.7, 0.01), unfairness=estimate(value, half), rates={})

    said = findings.decisions(point(before, 0.02), point(here, half), estimate(0.6, 0.01), "statistical_parity").point
    assert ("shows no significant change" in said) != changed and f"{here:.3f} (95% CI" in said
    precise = np.full(400, here) + np.linspace(-half, half, 400)
    made = Recommendation(
        clean=np.full(400, before),
        popular=precise,
        noisy=np.column_stack([precise, precise]),
        noise=Noise(
            noisy=np.zeros((800, 1)),
            size=np.zeros((400, 2), dtype=np.int64),
            found=np.ones((400, 2), dtype=bool),
            predicted=np.zeros(400, dtype=np.int64),
        ),
        target=np.array([0.5, 0.5]),
        recommended=10,
    )
    assert "instead of 9.0%" in findings.recommendations(made, 1.0).point or not changed


def test_values_that_cannot_be_reached_are_named():
    whole = study(read=90, trained=93)
    assert findings.noise_needed(whole).evidence == "Noise was found for every person and value."
    found = whole.found.copy()
    found[:20, 1] = False  # of the 80 who are read as Ulm
    said = findings.noise_needed(replace(whole, found=found))
    assert "None was found for 20 of 100 pairs of person and value: “Bonn” for 25.0% of the people" in said.evidence
    assert said.caveats == ("20 people have no noise at all and stay as they are.",)
