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

from core.config import AuditConfig
from core.estimates import Estimate
from core.sweep import SweepPoint, grid, measure, summarise, summary_frame, table_three
from core.sweep.findings import method_rows, trained_tolerances
from tests.sweep_work import BASE, people

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


def made(config: AuditConfig) -> SweepPoint:
    """Return a point with numbers of its own; at seed 1 and tolerance 0 no correction is possible."""
    rng = np.random.default_rng(zlib.crc32(repr(config).encode()))
    told = {}
    for attacker in ATTACKERS:
        plain, after, gain = rng.uniform(0.6, 0.7, 3), at(rng.uniform(0.7, 0.8)), at(rng.uniform(-0.1, 0.1))
        none = config.seed == 1 and config.tolerance == 0 and config.method == "exponentiated_gradient"
        told[attacker] = replace(
            real().disclosures["features", "held_out", "published"],
            majority=at(plain[0]),
            before=at(plain[1]),
            balanced_before=at(plain[2]),
            after=None if none else after,
            balanced_after=None if none else after,
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
        disclosures=told,
    )


@pytest.fixture(scope="module")
def points() -> list[SweepPoint]:
    found = [made(config) for config in GRID]
    np.random.default_rng(0).shuffle(found)  # type: ignore[arg-type]
    return found


def long(points: list[SweepPoint]) -> pd.DataFrame:
    """Return one line a point and attacker: the second formulation's input."""
    lines = []
    for point in points:
        c = point.config
        for (adversary, protocol, cost), told in point.disclosures.items():
            after, gain = (told.after.value, told.gain.value) if told.after and told.gain else (math.nan, math.nan)
            setting = (c.method, c.metric, c.tolerance, adversary, protocol, cost)
            rates = (told.majority.value, told.before.value, after, gain)
            model = (point.accuracy_train.value, point.accuracy_test.value, point.majority_test.value)
            fairness = (
                point.achieved,
                point.unfairness_test.value,
                point.difference_train,
                point.difference_test.value,
            )
            lines.append((*setting, *rates, *model, *fairness))
    return pd.DataFrame(lines, columns=[*SETTING, *NUMBERS])


SETTING = ["method", "metric", "tolerance", "adversary", "protocol", "cost"]
NUMBERS = [
    "majority", "before", "after", "gain", "model_train", "model_test", "model_majority", "unfairness_train",
    "unfairness_test", "difference_train", "difference_test",
]  # fmt: skip


def test_means_deviations_and_intervals_agree_with_pandas_and_scipy(points: list[SweepPoint]):
    frame = summary_frame(summarise(points)).set_index(SETTING).sort_index()
    groups = long(points).groupby(SETTING)
    assert len(frame) == len(groups) == 2 * (2 + 1) * 8
    for name in NUMBERS:
        values = groups[name]
        np.testing.assert_allclose(frame[name], values.mean(), rtol=1e-12)
        np.testing.assert_allclose(frame[f"{name}_sd"], values.std(), rtol=1e-9)
        assert (frame[f"{name}_n"] == values.count()).all() and set(frame[f"{name}_interval"]) == {"seeds"}
        for setting, told in values:
            there = told.dropna()
            low, high = stats.t.interval(0.95, len(there) - 1, loc=there.mean(), scale=stats.sem(there))
            least = -1 if name == "gain" else 0
            line = frame.loc[setting]
            assert line[f"{name}_low"] == pytest.approx(max(low, least)) and line[f"{name}_high"] == pytest.approx(
                min(high, 1)
            )
    assert (frame["n_seeds"] == 3).all() and (frame["n_true"] == 2).all()


def test_missing_corrections_are_counted_one_seed_keeps_its_interval_and_table_three_has_both(points: list[SweepPoint]):
    rows = summarise(points)
    missing = [r for r in rows if r.method == "exponentiated_gradient" and r.tolerance == 0]
    assert missing and all(r.after is not None and r.after.seeds == 2 and r.before.seeds == 3 for r in missing)
    assert all(r.after is not None and r.after.seeds == 3 for r in rows if r not in missing)
    for seeds, counted in (((0, 1, 2), "2 of 3"), ((0, 1), "1 of 2")):  # of one seed its interval is over people
        some = [r for r in summarise([p for p in points if p.config.seed in seeds]) if r.tolerance == 0]
        cells = [line["Before / after disclosure"] for line in method_rows(some) if "Exponentiated" in line["Method"]]
        assert cells and all(cell.endswith(f"% ({counted} seeds)") for cell in cells)
    alone = summarise([p for p in points if p.config == replace(GRID[0], tolerance=0.0, seed=1)])
    assert len(alone) == 8 and all(r.after is None and r.gain is None for r in alone)
    assert summary_frame(alone)["after"].isna().all()
    only = [p for p in points if p.config.seed == 0]
    for row in summarise(only):
        told = next(p for p in only if (p.config.method, p.config.metric, p.tolerance) == row_setting(row))
        before = told.disclosures[row.adversary, row.protocol, row.cost].before
        assert (row.before.value, row.before.low, row.before.high) == (before.value, before.low, before.high)
        assert row.before.over == "people" and math.isnan(row.before.sd) and row.seeds == (0,)
        assert row.unfairness_train.over == "" and math.isnan(row.unfairness_train.low)  # a fact, no estimate
    summary = summarise(points)
    table = table_three(summary)
    assert list(table.metric) == ["equal_opportunity", "statistical_parity"] and set(table.tolerance) == {0.0}
    whole = summary_frame(summary).set_index(SETTING)
    for line in table.to_dict("records"):
        for label, adversary in (("A", "features"), ("A'", "predictions")):
            here = whole.loc[("threshold_optimizer", line["metric"], 0.0, adversary, "as_published", "published")]
            for name in ("before", "after", "gain"):
                assert line[f"{label} {name}"] == here[name] and line[f"{label} {name}_sd"] == here[f"{name}_sd"]
            assert line["model_train"] == here.model_train and line["unfairness_test_sd"] == here.unfairness_test_sd
    assert set(table_three(summary, cost="count").tolerance) == {0.0}


def row_setting(row: object) -> tuple[str, str, float]:
    return row.method, row.metric, row.tolerance  # type: ignore[attr-defined]


def test_tolerances_at_which_disclosure_helps_and_misleads_are_both_counted_and_said_to_be_uncorrected():
    rows = [row for row in summarise([made(GRID[0])]) if row.gain is not None][:1]
    gains = (0.06, 0.07, -0.06, -0.07, -0.08, 0.0)
    several = [replace(rows[0], gain=replace(rows[0].gain, **vars_of(at(value)))) for value in gains]
    told = trained_tolerances(several, BASE, as_published=True)
    assert told.point == (
        "Disclosure helps the attacker significantly at 2 and misleads the attacker significantly at 3 of 6 tolerances"
    )
    assert "not corrected for the number of tolerances" in told.evidence
    none = trained_tolerances([several[5]] * 6, BASE, as_published=True)
    assert "no statistically significant effect" in none.point and "corrected" not in none.evidence


def vars_of(found: Estimate) -> dict[str, float]:
    return {name: getattr(found, name) for name in ("value", "low", "high")}
