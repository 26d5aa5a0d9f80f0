"""The attribution against figures computed by hand, its edges, and sentences that claim no more than the intervals."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student

from core.adversaries import AttackedRecords
from core.experiments.experiment import ExperimentRow, summarise
from core.experiments.leak_over_seeds import attribution_of
from core.stats.estimates import Estimate, accuracy_gain, certain, plain_row, summarize_seeds
from core.studies.correction import MEASURES, STEP_TITLES, STEPS, Attribution, soft_correct
from core.studies.correction.attribution import BUILDS_ON, LeakStep, attribute_leak
from core.studies.correction.findings import constraint_effect, step_rows
from core.studies.correction.numbers import step_measurements
from core.studies.study import Measurement
from core.studies.subject import AuditConfig
from tests.unit.correction.test_bootstrap import people


def records(seed: int = 0, *, k: int = 2) -> tuple[AttackedRecords, AttackedRecords]:
    """Return 600 people as an attacker sees them without predictions and with them."""
    without, with_ = (people(600, seed, groups=k, bias=bias) for bias in (0.0, 0.5))
    return without, with_


def attributed(features: AttackedRecords, with_predictions: AttackedRecords, *, tolerance: float = 0.08) -> Attribution:
    """Return the attribution, told the groups' true sizes before."""
    prior = (np.bincount(features.truth) / 600).tolist()
    return attribute_leak(
        "test", features, with_predictions, prior=prior, metric="statistical_parity", tolerance=tolerance
    )


def by_name(attribution: Attribution) -> dict[str, LeakStep]:
    return {step.step: step for step in attribution.steps}


@pytest.mark.parametrize(("k", "tolerance"), [(2, 0.08), (4, 0.08), (2, 0.9)], ids=str)  # 0.9 says nothing
def test_every_step_is_what_its_posterior_says(k: int, tolerance: float) -> None:
    features, with_predictions = records(k=k)
    truth, yhat, q = features.truth, features.predictions, with_predictions.probability
    shares = (np.bincount(truth) / 600).tolist()
    arguments = {"metric": "statistical_parity", "labels": None}
    posteriors = {
        "majority": np.tile(shares, (600, 1)),
        "features": features.probability,
        "predictions": q,
        "shares": soft_correct(q, yhat, tolerance=None, group_shares=shares, **arguments),
        "constraint": soft_correct(q, yhat, tolerance=tolerance, group_shares=shares, **arguments),
        "constraint_without_shares": soft_correct(q, yhat, tolerance=tolerance, **arguments),
    }
    steps = by_name(attributed(features, with_predictions, tolerance=tolerance))
    assert list(steps) == list(posteriors)
    figures: dict[str, tuple[float, float, float]] = {}
    for name, p in posteriors.items():
        right = p.argmax(axis=1) == truth
        recalls = [right[truth == g].mean() for g in range(k)]
        figures[name] = (
            right.mean(),
            float(np.mean(recalls)),
            -np.log([row[g] for row, g in zip(p, truth, strict=True)]).mean(),
        )
    for name, step in steps.items():
        assert [step.values[m].value for m in MEASURES] == pytest.approx(figures[name])
        base = BUILDS_ON.get(name)
        if base:
            changes = [step.changes[m] for m in MEASURES]
            expected = [after - before for after, before in zip(figures[name], figures[base], strict=True)]
            assert [c.value for c in changes] == pytest.approx(expected, abs=1e-12)
            assert all(c.low <= c.value <= c.high for c in changes)
    if tolerance == 0.9:  # it changes nothing, in no resample: the interval is that of two guesses that are the same
        guess, change = posteriors["shares"].argmax(axis=1), steps["constraint"].changes["accuracy"]
        unchanged = accuracy_gain(truth, guess, guess)
        assert (change.value, change.low, change.high) == pytest.approx((0.0, unchanged.low, unchanged.high), abs=1e-6)


def over_seeds(seeds: list[Attribution]) -> Attribution:
    """Return attributions, one a seed, put together as an experiment does."""
    rows = [
        ExperimentRow(values={"model.seed": seed}, study="correction", measurement=measurement, seed=seed)
        for seed, leak in enumerate(seeds)
        for measurement in (
            *step_measurements(leak).values(),
            Measurement(check="tolerance_holds", estimate=certain(float(leak.n_true), 600)),
        )
    ]
    (summary,) = summarise(rows)
    config = AuditConfig(metric=seeds[0].metric, tolerance=seeds[0].tolerance)
    return attribution_of(summary, seeds[0].attacker, config)


def test_what_cannot_be_met_is_a_reason_and_not_a_figure() -> None:
    features, certain = records()
    wrong = np.arange(600) < np.flatnonzero(certain.truth)[19]  # twenty people of group 1, for certain
    certain = replace(certain, probability=np.eye(2)[certain.truth * ~wrong])
    seed = attributed(features, certain, tolerance=0.0)
    steps = by_name(seed)
    assert steps["shares"].reasons[0].startswith("No probabilities meet the constraints")
    assert all(math.isnan(steps["shares"].values[m].value) and not steps["shares"].changes[m].seeds for m in MEASURES)
    assert steps["predictions"].values["accuracy"].value == 1 - 19 / 600
    assert steps["constraint_without_shares"].reasons[0].startswith("No probabilities")
    summary = over_seeds([seed] * 2)
    assert summary.step("shares").n_seeds == 0 and summary.step("shares").reasons
    assert "could not be measured" in constraint_effect(summary).text
    measured = [plain_row(row)["accuracy"] is not None for row in step_rows(summary)]
    assert measured == [True, True, True, False, False, False]


def test_constraint_effect_says_whether_the_bound_holds() -> None:
    true, false = attributed(*records()), attributed(*records(), tolerance=0.0)
    assert (true.n_true, false.n_true) == (1, 0)
    assert "does not hold" not in constraint_effect(true).text
    assert constraint_effect(false).caveats == ("The disclosed tolerance does not hold. Seeds: 1 of 1.",)
    many = over_seeds([attributed(*records(seed), tolerance=0.0) for seed in range(3)])
    assert constraint_effect(many).text.endswith("does not hold. Seeds: 3 of 3.")


def test_seeds_are_summed_up_by_student() -> None:
    seeds = [attributed(*records(seed)) for seed in range(5)]
    summary = over_seeds(seeds)
    assert (summary.n_seeds, summary.n_true) == (5, sum(s.n_true for s in seeds))
    for name in [*STEPS, "constraint_without_shares"]:
        for measure in MEASURES:
            values = np.array([seed.step(name).values[measure].value for seed in seeds])
            spread = summary.step(name).values[measure]
            half = student.ppf(0.975, 4) * values.std(ddof=1) / math.sqrt(5)
            assert (spread.value, spread.low, spread.high) == pytest.approx(
                (values.mean(), values.mean() - half, values.mean() + half)
            )
            assert spread.sd == pytest.approx(values.std(ddof=1)) and (spread.seeds, spread.over) == (5, "seeds")
    gained = [seed.step("constraint").changes["accuracy"] for seed in seeds]
    assert summary.step("constraint").changes["accuracy"].value == pytest.approx(np.mean([g.value for g in gained]))
    rows = list(step_rows(summary))
    assert [row["step"] for row in rows] == [STEP_TITLES[step.step] for step in summary.steps]
    assert {row["interval over"] for row in rows} == {"seeds"}
    assert plain_row(rows[1])["accuracy, sd"] == summary.steps[1].values["accuracy"].sd


def test_one_seed_keeps_the_interval_over_people_and_says_so() -> None:
    attribution = attributed(*records())
    summary = over_seeds([attribution])
    for step in attribution.steps:
        assert summary.step(step.step) == step
    change = attribution.step("features").changes["accuracy"]
    assert change.over == "people" and "600 people, one seed" in constraint_effect(attribution).text
    assert math.isnan(attribution.step("features").values["accuracy"].sd)


def change_and_sentence(changes: list[float]) -> tuple[Estimate, str]:
    """Return a change made of hand-made ones, one a seed, in one step, and what is said of it."""
    flat = dict.fromkeys(MEASURES, summarize_seeds([Estimate(value=0.5, low=0.4, high=0.6, n=100)]))

    def attribution_of(value: float) -> Attribution:
        change = summarize_seeds([Estimate(value=value, low=value - 0.01, high=value + 0.01, n=100)])
        before = LeakStep(step="shares", builds_on=None, values=flat, changes=flat, n_seeds=1)
        step = LeakStep(
            step="constraint", builds_on="shares", values=flat, changes=flat | {"accuracy": change}, n_seeds=1
        )
        facts: dict[str, Any] = {"metric": "statistical_parity", "tolerance": 0.1, "n_seeds": 1, "n_true": 1}
        return Attribution(attacker="a", steps=(before, step), **facts)

    summary = over_seeds([attribution_of(value) for value in changes])
    return summary.step("constraint").changes["accuracy"].estimate, constraint_effect(summary).text


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(st.floats(-0.5, 0.5), min_size=1, max_size=6))
def test_a_verdict_is_given_only_where_the_interval_excludes_zero(changes: list[float]) -> None:
    change, sentence = change_and_sentence(changes)
    assert (" raises the " in sentence) == (change.low > 0)
    assert (" lowers the " in sentence) == (change.high < 0)
    assert ("no statistically significant effect" in sentence) == (change.low <= 0 <= change.high)
