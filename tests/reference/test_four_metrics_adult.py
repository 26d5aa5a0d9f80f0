"""Ferry et al. (SaTML 2023, figures 2 to 4) on Adult: four metrics, A, A′ and the strong adversary.

Exponentiated gradient trained for tolerance 0, the published protocol (tolerance raised in steps of 0.001 until true,
exponent chosen on the test records, learning from all known records); means over seeds 42, 0 and 1. Recorded when the
tests were written: `MEASURED`. As a command: `fairleak experiment --dataset adult --vary model.tolerance=0 --vary
model.metric=... --vary correction.adversary=features,predictions,strong --vary correction.as_published=true --seeds
42,0,1 --measures attack_before,attack_after`.

Independent runs of the first line's A at other seeds: .763 → .823, .766 → .829, .765 → .824. The paper's text has lost
its numbers for the other metrics; its figures show the same order. The strong adversary is this project's own.
Repeated here with seed 42 alone. Bands: accuracies ± .03; the strong adversary's gain lies within ± .01 of nothing.
"""

from dataclasses import replace
from functools import partial

import pytest

from core.auditing import catalogue_plan
from core.experiments.engine import measured_points
from core.experiments.experiment import ModelMeasurements, grid_of, measured_model, models_of, rows_of, summarise
from core.stats.fairness import METRICS
from tests.reference.data import needs_adult

pytestmark = [needs_adult, pytest.mark.long]

MEASURED = {
    ("statistical_parity", "features"): (0.7644, 0.8271),
    ("statistical_parity", "predictions"): (0.7642, 0.8269),
    ("predictive_equality", "features"): (0.7644, 0.8296),
    ("predictive_equality", "predictions"): (0.7629, 0.8299),
    ("equal_opportunity", "features"): (0.7644, 0.7669),
    ("equal_opportunity", "predictions"): (0.7614, 0.7641),
    ("equalized_odds", "features"): (0.7644, 0.8228),
    ("equalized_odds", "predictions"): (0.7641, 0.8230),
} | {(metric, "strong"): (0.8522, 0.852) for metric in METRICS}


@pytest.fixture(scope="module")
def summaries(adult):
    plan = catalogue_plan("adult")
    points = grid_of(
        replace(plan, config=replace(plan.config, roles=adult.roles)),
        {
            "model.metric": METRICS,
            "model.tolerance": (0.0,),
            "model.seed": (42,),
            "correction.adversary": ("features", "predictions", "strong"),
            "correction.as_published": (True,),
        },
    )
    names = ("attack_before", "attack_after", "attack_gain", "tolerance_holds")
    measure = partial(measured_model, names=names)
    results = measured_points(models_of(points), adult, measure=measure, result=ModelMeasurements)
    return {
        (summary.values["model.metric"], summary.values["correction.adversary"]): summary
        for summary in summarise(rows_of(points, list(results)))
    }


@pytest.mark.parametrize(("metric", "adversary"), MEASURED)
def test_before_and_after(summaries, metric, adversary):
    summary, (before, after) = summaries[metric, adversary], MEASURED[metric, adversary]
    assert summary.seeds == (42,) and summary.numbers["attack_after"].seeds == 1
    assert summary.count("tolerance_holds") == 1  # raised until true
    assert summary.numbers["attack_before"].value == pytest.approx(before, abs=0.03)
    assert summary.numbers["attack_after"].value == pytest.approx(after, abs=0.03)
    if adversary == "strong":
        assert abs(summary.numbers["attack_gain"].value) < 0.01
    assert summary.baselines["attack_before"].value == pytest.approx(0.672, abs=0.01)


def test_what_helps_the_papers_attacker(summaries):
    """The promise helps it measurably with every metric but equal opportunity, and never as far as the strong one."""
    for (metric, adversary), summary in summaries.items():
        if adversary in ("features", "predictions"):
            assert (summary.numbers["attack_gain"].value > 0.045) == (metric != "equal_opportunity")
            strong = summaries[metric, "strong"].numbers["attack_before"]
            assert summary.numbers["attack_after"].value < strong.value
