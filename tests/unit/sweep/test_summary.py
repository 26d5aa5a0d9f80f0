"""Means and intervals over seeds against pandas and scipy, and the paper's figures and table as frames."""

from __future__ import annotations

import itertools
import math
import zlib
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from core.base.errors import InputError
from core.experiments.sweep import PAPER_TOLERANCES, SweepPoint, grid, measure, summarise, summary_frame, table_three
from core.experiments.sweep.findings import method_rows, trained_tolerances
from core.models import METHODS, PRIVATE_METHODS, TOLERANCE_METHODS
from core.stats.estimates import Estimate, percent
from core.stats.fairness import METRICS
from core.studies.config import AuditConfig
from core.studies.correction.findings import signed
from tests.experiment_work import BASE, people

ATTACKERS = list(itertools.product(("features", "predictions"), ("held_out", "as_published"), ("published", "count")))
GRID = grid(
    BASE,
    tolerances=(0.0, 0.1),
    methods=("exponentiated_gradient", "threshold_optimizer"),
    metrics=("statistical_parity", "equal_opportunity"),
    seeds=(0, 1, 2),
)


@cache
def real() -> SweepPoint:
    return measure(BASE, people())


def at(value: float) -> Estimate:
    return Estimate(value=value, low=value - 0.05, high=value + 0.03, n=100)


def invented_point(config: AuditConfig) -> SweepPoint:
    """Return a point with numbers of its own; at seed 1 and tolerance 0 no correction is possible, seed 2 lacks one."""
    rng = np.random.default_rng(zlib.crc32(repr(config).encode()))
    disclosures = {}
    for attacker in ATTACKERS[config.seed == 2 :]:
        plain, after, gain = rng.uniform(0.6, 0.7, 3), at(rng.uniform(0.7, 0.8)), at(rng.uniform(-0.1, 0.1))
        none = config.seed == 1 and config.tolerance == 0
        disclosures[attacker] = replace(
            real().disclosures["features", "held_out", "published"],
            majority=at(plain[0]),
            before=at(plain[1]),
            balanced_before=at(plain[2]),
            after=None if none else after,
            balanced_after=None if none else at(after.value - 0.2),
            gain=None if none else gain,
            achieved=0.01 * config.seed,
            used=0.015,
        )
    model = rng.uniform(0.5, 0.9, 7)
    return replace(
        real(),
        config=config,
        achieved=float(model[0]),
        unfairness_test=at(model[1]),
        accuracy_train=at(model[2]),
        accuracy_test=at(model[3]),
        majority_test=at(model[4]),
        difference_train=float(model[5]),
        difference_test=at(model[6]),
        disclosures=disclosures,
    )


@pytest.fixture(scope="module")
def points() -> list[SweepPoint]:
    swept = [invented_point(config) for config in GRID]
    np.random.default_rng(0).shuffle(swept)  # type: ignore[arg-type]
    return swept


SETTING = ["method", "metric", "tolerance", "adversary", "protocol", "cost"]
GUESSES = ["majority", "before", "balanced_before", "after", "balanced_after", "gain"]
RATES = ["accuracy_train", "accuracy_test", "majority_test", "unfairness_test", "difference_test"]
FACTS = ["achieved", "difference_train"]
MODEL = ["model_train", "model_test", "model_majority", "unfairness_test", "difference_test"]
MODEL += ["unfairness_train", "difference_train"]
NUMBERS = [*GUESSES, "before_corrected", *MODEL]


def long(points: list[SweepPoint]) -> pd.DataFrame:
    """Return one line a point and attacker: the second formulation's input."""
    lines = []
    for point in points:
        c = point.config
        model = [*(getattr(point, name).value for name in RATES), *(getattr(point, name) for name in FACTS)]
        for attacker, disclosure in point.disclosures.items():
            rates = [estimate.value if (estimate := getattr(disclosure, name)) else math.nan for name in GUESSES]
            corrected = disclosure.before.value if disclosure.after else math.nan
            lines.append((c.method, c.metric, c.tolerance, *attacker, *rates, corrected, *model))
    return pd.DataFrame(lines, columns=[*SETTING, *NUMBERS])


def test_means_deviations_and_intervals_agree_with_pandas_and_scipy(points: list[SweepPoint]):
    frame = summary_frame(summarise(points)).set_index(SETTING).sort_index()
    lines = long(points)
    groups = lines[lines[SETTING[3:]].apply(tuple, axis=1) != ATTACKERS[0]].groupby(SETTING)  # which one seed lacks
    assert len(frame) == len(groups) == 2 * (2 + 1) * 7
    for name in NUMBERS:
        values = groups[name]
        np.testing.assert_allclose(frame[name], values.mean(), rtol=1e-12)
        np.testing.assert_allclose(frame[f"{name}_sd"], values.std(), rtol=1e-9)
        assert (frame[f"{name}_n"] == values.count()).all() and set(frame[f"{name}_interval"]) == {"seeds"}
        for setting, series in values:
            present = series.dropna()
            ends = stats.t.interval(0.95, len(present) - 1, loc=present.mean(), scale=stats.sem(present))
            low, high = np.clip(ends, -1 if name == "gain" else 0, 1)
            line = frame.loc[setting]
            assert (line[f"{name}_low"], line[f"{name}_high"]) == pytest.approx((low, high))
    assert (frame["n_seeds"] == 3).all() and (frame["n_true"] == 2).all()


def test_missing_corrections_are_counted(points: list[SweepPoint]):
    rows = summarise(points)
    assert {(r.tolerance, r.after.seeds, r.before.seeds) for r in rows if r.after} == {(0.0, 2, 3), (0.1, 3, 3)}
    for seeds, counted in (((0, 1, 2), "2 of 3"), ((0, 1), "1 of 2")):  # of one seed its interval is over people
        some = [r for r in summarise([p for p in points if p.config.seed in seeds]) if r.tolerance == 0]
        cells = [line["Before / after disclosure"] for line in method_rows(some)]
        assert cells and all(cell.endswith(f"% ({counted} seeds)") for cell in cells)
    row = next(r for r in rows if r.gain)
    (line,) = method_rows([row])
    assert line["Gain, points"] == signed(row.gain.value, row.gain.low, row.gain.high)
    assert line["Model accuracy"] == percent(row.model_test.value)
    assert line["Unfairness"] == f"{row.unfairness_train.value:.4f}"
    assert line["Difference between groups"] == f"{row.difference_train.value:.4f}"
    assert line["Disclosed tolerance holds in"] == f"{row.n_true} of 3"
    alone = summarise([p for p in points if p.config == replace(GRID[0], tolerance=0.0, seed=1)])
    assert len(alone) == 8 and all(r.after is None and r.gain is None for r in alone)
    assert summary_frame(alone)["after"].isna().all()


def test_one_seed_keeps_its_interval(points: list[SweepPoint]):
    only = {(p.config.method, p.config.metric, p.tolerance): p for p in points if p.config.seed == 0}
    for row in summarise(list(only.values())):
        lone_point = only[row.method, row.metric, row.tolerance]
        before = lone_point.disclosures[row.adversary, row.protocol, row.cost].before
        assert (row.before.value, row.before.low, row.before.high) == (before.value, before.low, before.high)
        assert row.before.over == "people" and math.isnan(row.before.sd) and row.seeds == (0,)
        assert row.unfairness_train.over == "" and math.isnan(row.unfairness_train.low)  # a fact, no estimate


def test_table_three_has_the_threshold_optimizer_and_both_attackers(points: list[SweepPoint]):
    summary = summarise(points)
    table = table_three(summary)
    assert list(table.metric) == ["equal_opportunity", "statistical_parity"] and set(table.tolerance) == {0.0}
    frame = summary_frame(summary).set_index(SETTING)
    for line in table.to_dict("records"):
        for label, adversary in (("A", "features"), ("A'", "predictions")):
            summary_row = frame.loc[
                ("threshold_optimizer", line["metric"], 0.0, adversary, "as_published", "published")
            ]
            for name, column in (("before", "before_corrected"), ("after", "after"), ("gain", "gain")):
                for part in ("", "_sd", "_low", "_high"):
                    assert line[f"{label} {name}{part}"] == summary_row[f"{column}{part}"]
            assert line[f"{label} n"] == 2 and line["n_seeds"] == 3
            for name in ("model_train", "unfairness_test_sd", "majority", "difference_test_low"):
                assert adversary == "predictions" or line[name] == summary_row[name]
    held_out = table_three(summary, protocol="held_out", cost="count")
    assert set(held_out.tolerance) == {0.0} and (held_out["A after"] != table["A after"]).all()


def test_tolerances_at_which_disclosure_helps_and_misleads_are_both_counted_and_said_to_be_uncorrected():
    row = next(row for row in summarise([invented_point(GRID[0])]) if row.gain is not None)
    gains = (at(value) for value in (0.06, 0.07, -0.06, -0.07, -0.08, 0.0))
    several = [replace(row, gain=replace(row.gain, value=g.value, low=g.low, high=g.high)) for g in gains]
    finding = trained_tolerances(several, BASE, as_published=True)
    assert finding.point == "Disclosure helps the attacker significantly at 2, misleads at 3 of 6 tolerances"
    assert "not corrected for the number of tolerances" in finding.evidence
    assert f"against the same attack before disclosure ({percent(row.before.value)})" in finding.evidence
    few = trained_tolerances(several[:3], BASE, as_published=True)
    assert few.point == "Sweep over trained tolerances" and "before disclosure" not in few.evidence


def test_a_grid_holds_what_each_method_takes():
    base = AuditConfig(dataset="sample", train_share=0.4, seed=7)
    configs = grid(base, tolerances=PAPER_TOLERANCES, methods=METHODS, metrics=METRICS, seeds=(0, 1))
    assert len(configs) == len(set(configs)) == 2 * 4 * (2 * 49 + 4)
    assert {c.tolerance for c in configs if c.method not in TOLERANCE_METHODS} == {0.0}
    assert {(c.method, c.metric, c.seed) for c in configs} == set(itertools.product(METHODS, METRICS, (0, 1)))
    assert all(c.train_share == 0.4 and c.dataset == "sample" for c in configs)
    configs = grid(replace(base, epsilon=2.0), tolerances=(0.0, 0.1, 0.1), methods=METHODS)
    assert len(configs) == 2 * 2 + 4 and {(c.metric, c.seed) for c in configs} == {(base.metric, 7)}
    assert {c.method: c.epsilon for c in configs} == {m: 2.0 if m in PRIVATE_METHODS else math.inf for m in METHODS}
    for name in ("tolerances", "methods", "metrics", "seeds"):
        with pytest.raises(InputError, match=f"{name} must hold at least one"):
            grid(base, **{name: ()})
