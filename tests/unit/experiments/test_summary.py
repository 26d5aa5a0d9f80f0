"""Means and intervals over seeds against pandas and scipy, and what stands in tables about models that disclose."""

from __future__ import annotations

import itertools
import zlib

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from core.experiments.attacked_models import (
    MEASURES,
    before_disclosure,
)
from core.experiments.experiment import SEED, ExperimentRow, grid_finding, summarise, summary_frame
from core.stats.estimates import Estimate, certain, proportion
from core.studies.study import Measurement, not_run

SEEDS = (0, 1, 2)
SETTINGS = [
    {"model.method": method, "model.metric": metric, "model.tolerance": tolerance}
    for method, metric, tolerance in itertools.product(
        ("exponentiated_gradient", "threshold_optimizer"), ("statistical_parity", "equal_opportunity"), (0.0, 0.1)
    )
]
CORRECTED = ("attack_after", "attack_gain", "attack_balanced_after")
FACTS = ("unfairness_train", "difference_train")


def at(value: float) -> Estimate:
    return Estimate(value=value, low=value - 0.05, high=value + 0.03, n=100)


def invented(setting: dict[str, object], seed: int) -> list[ExperimentRow]:
    """Return rows with numbers of their own; at seed 1 and tolerance 0 no correction is possible."""
    rng = np.random.default_rng(zlib.crc32(repr((setting, seed)).encode()))
    rows = []
    for name in MEASURES:
        value, control = rng.uniform(0.6, 0.9, 2)
        estimate = at(rng.uniform(-0.1, 0.1)) if name == "attack_gain" else at(value)
        measurement = Measurement(check=name, estimate=estimate, control=at(control), control_name="chance")
        if name in (*FACTS, "tolerance_holds"):
            fact = float(seed < 2) if name == "tolerance_holds" else value
            measurement = Measurement(check=name, estimate=certain(fact, 100))
        if name in CORRECTED and seed == 1 and setting["model.tolerance"] == 0:
            measurement = not_run(name, "No correction was found.")
        values = {**setting, SEED: seed}
        rows.append(ExperimentRow(values=values, study="correction", measurement=measurement, seed=seed))
    return rows


@pytest.fixture(scope="module")
def rows() -> list[ExperimentRow]:
    many = [row for setting in SETTINGS for seed in SEEDS for row in invented(setting, seed)]
    np.random.default_rng(0).shuffle(many)
    return many


def test_means_deviations_and_intervals_agree_with_pandas_and_scipy(rows):
    keys = ["model.method", "model.metric", "model.tolerance", "check"]
    lines = pd.DataFrame(
        {**row.values, "check": row.measurement.check, "value": row.measurement.estimate.value}
        for row in rows
        if row.measurement.estimate is not None
    )
    frame = summary_frame(summarise(rows)).set_index(keys)
    assert len(frame) == len(SETTINGS) * len(MEASURES) and set(frame["of seeds"]) == {3}
    for setting, values in lines[lines["check"] != "tolerance_holds"].groupby(keys)["value"]:
        line = frame.loc[setting]
        low, high = stats.t.interval(0.95, len(values) - 1, loc=values.mean(), scale=stats.sem(values))
        least = -1 if setting[-1] == "attack_gain" else 0
        expected = (values.mean(), values.std(), max(low, least), min(high, 1))
        columns = ["value", "value, sd", "value, low", "value, high"]
        assert line[columns].tolist() == pytest.approx(expected, rel=1e-9)
        assert line["seeds"] == len(values) and line["interval over"] == "seeds"


def test_a_fact_is_counted_with_the_interval_of_a_share(rows):
    for summary in summarise(rows):
        assert summary.count("tolerance_holds") == 2
        holds, share = summary.numbers["tolerance_holds"], proportion(2, 3)
        assert (holds.value, holds.low, holds.high, holds.seeds) == (share.value, share.low, share.high, 3)


def test_baselines_are_of_the_seeds_that_have_the_number(rows):
    for summary in summarise(rows):
        is_missing = summary.values["model.tolerance"] == 0
        assert summary.numbers["attack_before"].seeds == 3
        assert before_disclosure(summary).seeds == summary.numbers["attack_after"].seeds == 3 - is_missing
        assert summary.reasons == (dict.fromkeys(CORRECTED, "No correction was found.") if is_missing else {})


def test_grid_finding_names_the_settings_of_the_smallest_and_the_largest_number():
    measurements = {
        tolerance: Measurement(check="membership_caught", estimate=at(value))
        for tolerance, value in {0.0: 0.7, 0.05: 0.62, 0.1: 0.81, 0.2: 0.66}.items()
    }
    rows = [
        ExperimentRow(values={"model.tolerance": tolerance, SEED: 0}, study="membership", measurement=x, seed=0)
        for tolerance, x in measurements.items()
    ]
    finding = grid_finding(summarise(rows), "membership_caught")
    smallest, _, largest = finding.point.partition(" Largest: ")
    assert smallest.startswith("Smallest: 62%") and smallest.endswith("tolerance 0.05.")
    assert largest.startswith("81%") and largest.endswith("tolerance 0.1.")
    assert "Settings measured: 4" in finding.evidence
