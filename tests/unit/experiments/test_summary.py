"""Means and intervals over seeds against pandas and scipy, and what stands in tables about models that disclose."""

from __future__ import annotations

import itertools
import math
import zlib
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from core.auditing import catalogue_plan
from core.experiments.attacked_models import (
    EVERY_ATTACKER,
    MEASURES,
    attacked_by,
    before_disclosure,
    method_points,
    method_rows,
    tolerance_points,
    trained_tolerances_finding,
)
from core.experiments.experiment import SEED, ExperimentRow, SeedSummary, summarise, summary_frame
from core.stats.estimates import Estimate, certain, percent, proportion
from core.studies.correction.findings import signed
from core.studies.study import Measurement, not_run
from core.studies.subject import AuditConfig
from tests.reference.table_three import table_three

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
        measurement = Measurement(check=name, estimate=at(value), control=at(control), control_name="chance")
        if name == "attack_gain":
            measurement = replace(measurement, estimate=at(rng.uniform(-0.1, 0.1)))
        if name in FACTS:
            measurement = Measurement(check=name, estimate=certain(value, 100))
        if name == "tolerance_holds":
            measurement = Measurement(check=name, estimate=certain(float(seed < 2), 100))
        if name in CORRECTED and seed == 1 and setting["model.tolerance"] == 0:
            measurement = not_run(name, "No correction was found.")
        rows.append(
            ExperimentRow(values={**setting, SEED: seed}, study="correction", measurement=measurement, seed=seed)
        )
    return rows


@pytest.fixture(scope="module")
def rows() -> list[ExperimentRow]:
    many = [row for setting in SETTINGS for seed in SEEDS for row in invented(setting, seed)]
    np.random.default_rng(0).shuffle(many)  # type: ignore[arg-type]
    return many


def test_means_deviations_and_intervals_agree_with_pandas_and_scipy(rows: list[ExperimentRow]):
    keys = ["model.method", "model.metric", "model.tolerance", "check"]
    lines = pd.DataFrame(
        [
            {**row.values, "check": row.measurement.check, "value": row.measurement.estimate.value}
            for row in rows
            if row.measurement.estimate is not None
        ]
    )
    frame = summary_frame(summarise(rows)).set_index(keys)
    assert len(frame) == len(SETTINGS) * len(MEASURES) and set(frame["of seeds"]) == {3}
    for setting, values in lines[lines["check"] != "tolerance_holds"].groupby(keys)["value"]:
        line = frame.loc[setting]
        assert line["value"] == pytest.approx(values.mean(), rel=1e-12)
        assert line["value, sd"] == pytest.approx(values.std(), rel=1e-9)
        assert line["seeds"] == len(values) and line["interval over"] == "seeds"
        low, high = stats.t.interval(0.95, len(values) - 1, loc=values.mean(), scale=stats.sem(values))
        least = -1 if setting[-1] == "attack_gain" else 0
        assert (line["value, low"], line["value, high"]) == pytest.approx((max(low, least), min(high, 1)))


def test_a_fact_is_counted_with_the_interval_of_a_share(rows: list[ExperimentRow]):
    for summary in summarise(rows):
        assert summary.count("tolerance_holds") == 2
        holds, share = summary.numbers["tolerance_holds"], proportion(2, 3)
        assert (holds.value, holds.low, holds.high, holds.seeds) == (share.value, share.low, share.high, 3)


def test_baselines_are_of_the_seeds_that_have_the_number(rows: list[ExperimentRow]):
    for summary in summarise(rows):
        is_missing = summary.values["model.tolerance"] == 0
        assert summary.numbers["attack_before"].seeds == 3
        assert before_disclosure(summary).seeds == summary.numbers["attack_after"].seeds == 3 - is_missing
        assert summary.reasons == (dict.fromkeys(CORRECTED, "No correction was found.") if is_missing else {})
    none = summarise([row for row in rows if row.seed == 1 and row.values["model.tolerance"] == 0])
    assert all(before_disclosure(summary) == summary.numbers["attack_before"] for summary in none)
    assert summary_frame(none).set_index("check").loc["attack_after", "reason"].eq("No correction was found.").all()


def test_one_seed_keeps_its_interval(rows: list[ExperimentRow]):
    only = [row for row in rows if row.seed == 0]
    for summary in summarise(only):
        (row,) = (
            row
            for row in only
            if row.measurement.check == "attack_before" and summary.values.items() <= row.values.items()
        )
        number = summary.numbers["attack_before"]
        assert number.estimate == row.measurement.estimate and number.over == "people" and math.isnan(number.sd)
        fact = summary.numbers["unfairness_train"]
        assert fact.over == "" and math.isnan(fact.low) and summary.seeds == (0,)  # a fact, no estimate


def test_missing_corrections_are_counted(rows: list[ExperimentRow]):
    for seeds, counted in (((0, 1, 2), "2 of 3"), ((0, 1), "1 of 2")):  # of one seed its interval is over people
        some = [row for row in rows if row.seed in seeds and row.values["model.tolerance"] == 0]
        cells = [line["Before / after disclosure"] for line in method_rows(summarise(some))]
        assert cells and all(cell.endswith(f"% ({counted} seeds)") for cell in cells)
    summary = summarise(rows)[0]
    (line,) = method_rows([summary])
    gain = summary.numbers["attack_gain"]
    assert line["Gain, points"] == signed(gain.value, gain.low, gain.high)
    assert line["Model accuracy"] == percent(summary.numbers["accuracy_test"].value)
    assert line["Unfairness"] == f"{summary.numbers['unfairness_train'].value:.4f}"
    assert line["Difference between groups"] == f"{summary.numbers['difference_train'].value:.4f}"
    assert line["Disclosed tolerance holds in"] == "2 of 3"


def test_tolerances_at_which_disclosure_helps_and_misleads_are_both_counted_and_said_to_be_uncorrected():
    (summary,) = summarise(invented(SETTINGS[1], 0))
    gain = summary.numbers["attack_gain"]

    def gaining(value: float) -> SeedSummary:
        changed = replace(gain, value=value, low=value - 0.05, high=value + 0.03)
        return replace(summary, numbers={**summary.numbers, "attack_gain": changed})

    several = [gaining(value) for value in (0.06, 0.07, -0.06, -0.07, -0.08, 0.0)]
    config = AuditConfig()
    finding = trained_tolerances_finding(several, config, as_published=True)
    assert finding.point == "Disclosure helps the attacker significantly at 2, misleads at 3 of 6 tolerances"
    assert "not corrected for the number of tolerances" in finding.evidence
    before = percent(summary.numbers["attack_before"].value)
    assert f"against the same attack before disclosure ({before})" in finding.evidence
    few = trained_tolerances_finding(several[:3], config, as_published=True)
    assert few.point == "Sweep over trained tolerances" and "before disclosure" not in few.evidence


def test_a_method_without_a_tolerance_discloses_the_smallest_that_holds():
    plan = catalogue_plan("demo")
    points = method_points(plan, metrics=("statistical_parity",), seeds=(1, 2), epsilon=3.0)
    tolerances = {point.values["model.method"]: point.plan.config.tolerance for point in points}
    assert tolerances["exponentiated_gradient"] == plan.config.tolerance and tolerances["unmitigated"] == 0.0
    epsilons = {point.values["model.method"]: point.plan.config.epsilon for point in points}
    assert epsilons["dp_id3"] == 3.0 and epsilons["unmitigated"] == math.inf
    assert [point.values[SEED] for point in points[:2]] == [1, 2]


def test_every_attacker_of_a_model_has_a_plan_with_their_settings():
    points = tolerance_points(catalogue_plan("demo"), (0.0, 0.1), (5,))
    assert len(EVERY_ATTACKER) == 24 == len(set(EVERY_ATTACKER))
    for attacker in EVERY_ATTACKER[::7]:
        for point, before in zip(attacked_by(points, attacker), points, strict=True):
            assert point.plan.settings_of("correction", type(attacker)) == attacker
            assert point.plan.fingerprint == before.plan.fingerprint
            assert point.values["correction.adversary"] == attacker.adversary


def test_table_three_has_the_threshold_optimizer_and_both_attackers(rows: list[ExperimentRow]):
    settings = [
        {"correction.adversary": adversary, "correction.as_published": published, "correction.cost": "published"}
        for adversary in ("features", "predictions", "strong")
        for published in (False, True)
    ]
    zero = [setting for setting in SETTINGS if setting["model.tolerance"] == 0.0]
    summaries = summarise(
        [
            row
            for setting in zero
            for attacker in settings
            for seed in SEEDS
            for row in invented(setting | attacker, seed)
        ]
    )
    table = table_three(summaries)
    assert list(table["metric"]) == ["statistical_parity", "equal_opportunity"] and set(table["n_seeds"]) == {3}
    for line in table.to_dict("records"):
        for label, adversary in (("A", "features"), ("A'", "predictions")):
            (summary,) = (
                summary
                for summary in summaries
                if summary.values["correction.adversary"] == adversary
                and summary.values["correction.as_published"]
                and summary.values["model.method"] == "threshold_optimizer"
                and summary.values["model.metric"] == line["metric"]
            )
            gain = summary.numbers["attack_gain"]
            assert (line[f"{label} gain"], line[f"{label} gain_sd"], line[f"{label} gain_low"]) == (
                gain.value,
                gain.sd,
                gain.low,
            )
            assert line[f"{label} before"] == before_disclosure(summary).value
            assert adversary == "features" or line["model_train"] == summary.numbers["accuracy_train"].value
    held_out = table_three(summaries, as_published=False)
    assert (held_out["A after"] != table["A after"]).all()
