"""Means and intervals over seeds against pandas and scipy, and what stands in tables about models that disclose."""

import heapq
import itertools
import math
import sqlite3
from contextlib import closing
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from core.auditing import AuditPlan
from core.base.errors import InputError
from core.base.serialize import fingerprint
from core.experiments import engine
from core.experiments.attacked_models import (
    MAP_EPSILONS,
    MAP_TOLERANCES,
    MEASURES,
    before_disclosure,
    map_finding,
    method_rows,
    trained_tolerances_finding,
)
from core.experiments.engine import FileStore, TimeLeft, interleaved, point_key
from core.experiments.experiment import SEED, ExperimentRow, grid_finding, summarise, summary_frame
from core.stats.estimates import certain, epsilon_text, percent, proportion
from core.stats.fairness import METRICS
from core.store.history import History
from core.studies.study import Measurement, not_run
from core.studies.subject import AuditConfig
from tests.experiment_work import BASE, MeasuredModel, measure, people
from tests.ledger_work import altered
from tests.patience import PATIENT
from tests.policy_samples import done

SETTINGS = [
    {"model.method": method, "model.tolerance": tolerance}
    for method in ("exponentiated_gradient", "threshold_optimizer")
    for tolerance in (0.0, 0.1)
]
CORRECTED = ("attack_after", "attack_gain", "attack_balanced_after")


@pytest.fixture(scope="module")
def rows():
    """Invented numbers of three seeds; at seed 1 and tolerance 0 no correction is possible."""
    rng, rows = np.random.default_rng(0), []
    for seed, setting, name in itertools.product(range(3), SETTINGS, MEASURES):
        value = rng.uniform(-0.1, 0.1) if name == "attack_gain" else rng.uniform(0.6, 0.9)
        measurement = done(name, value, 0.05, control=certain(0.5, 100), control_name="chance")
        if name in ("tolerance_holds", "unfairness_train", "difference_train"):
            fact = float(seed < 2) if name == "tolerance_holds" else value
            measurement = Measurement(check=name, estimate=certain(fact, 100))
        if name in CORRECTED and seed == 1 and setting["model.tolerance"] == 0:
            measurement = not_run(name, "No correction was found.")
        values = {**setting, SEED: seed}
        rows.append(ExperimentRow(values=values, study="correction", measurement=measurement, seed=seed))
    return rows


def test_means_deviations_and_intervals_agree_with_pandas_and_scipy(rows):
    keys = ["model.method", "model.tolerance", "check"]
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


def test_facts_are_counted_as_shares_and_baselines_are_of_the_seeds_of_a_number(rows):
    for summary in summarise(rows):
        assert summary.count("tolerance_holds") == 2
        holds, share = summary.numbers["tolerance_holds"], proportion(2, 3)
        assert (holds.value, holds.low, holds.high, holds.seeds) == (share.value, share.low, share.high, 3)
        is_missing = summary.values["model.tolerance"] == 0
        assert summary.numbers["attack_before"].seeds == 3
        assert before_disclosure(summary).seeds == summary.numbers["attack_after"].seeds == 3 - is_missing
        assert summary.reasons == (dict.fromkeys(CORRECTED, "No correction was found.") if is_missing else {})


def test_method_rows_and_the_finding_over_tolerances_say_what_seeds_measured(rows):
    summaries = [replace(summary, values=summary.values | {"model.metric": METRICS[0]}) for summary in summarise(rows)]
    table = method_rows(summaries[::-1])
    assert [row["Method"] for row in table] == ["Exponentiated gradient"] * 2 + ["Threshold optimizer"] * 2
    assert ["2 of 3 seeds" in row["Before / after disclosure"] for row in table] == [False, True] * 2
    assert {row["Disclosed tolerance holds in"] for row in table} == {"2 of 3"}
    gain = replace(summaries[0].numbers["attack_gain"], low=0.01)
    clear = [replace(summary, numbers=summary.numbers | {"attack_gain": gain}) for summary in summaries]
    before = [summary.numbers["attack_before"].value for summary in summaries]
    finding = trained_tolerances_finding(clear, BASE, as_published=False)
    assert f"({percent(min(before))} to {percent(max(before))})" in finding.evidence


def test_map_finding_names_the_largest_gain_and_membership_at_both_ends_of_the_budgets():
    rows = []
    for (i, tolerance), (j, epsilon) in itertools.product(enumerate(MAP_TOLERANCES), enumerate(MAP_EPSILONS)):
        values = {"model.tolerance": tolerance, "model.epsilon": epsilon, SEED: 0}
        for check, value in (("correction_gain", 0.2 * ((i, j) == (1, 2))), ("membership_auc", 0.5 + 0.01 * j)):
            rows.append(ExperimentRow(values=values, study="", measurement=done(check, value, 0.05), seed=0))
    finding = map_finding(rows)
    assert f"+20.0 points (+15.0 to +25.0), at tolerance {MAP_TOLERANCES[1]:g} and " in finding.point
    assert f"Membership AUC: 0.50 (0.45 to 0.55) at ε = {epsilon_text(MAP_EPSILONS[0])}, " in finding.evidence
    last = 0.5 + 0.01 * (len(MAP_EPSILONS) - 1)
    assert f"{last:.2f} ({last - 0.05:.2f} to {last + 0.05:.2f}) at ε = " in finding.evidence


def test_grid_finding_names_the_settings_of_the_smallest_and_the_largest_number():
    rows = []
    for tolerance, value in ((0.0, 0.7), (0.05, 0.62), (0.1, 0.81), (0.2, 0.66)):
        measurement = done("membership_caught", value, 0.05)
        values = {"model.tolerance": tolerance, SEED: 0}
        rows.append(ExperimentRow(values=values, study="membership", measurement=measurement, seed=0))
    finding = grid_finding(summarise(rows), "membership_caught")
    smallest, _, largest = finding.point.partition(" Largest: ")
    assert smallest.startswith("Smallest: 62%") and smallest.endswith("tolerance 0.05.")
    assert largest.startswith("81%") and largest.endswith("tolerance 0.1.")
    assert "Settings measured: 4" in finding.evidence


COSTS = {
    "exponentiated_gradient": 20.0,
    "private_fair": 6.0,
    "threshold_optimizer": 3.0,
    "dp_id3": 1.0,
    "unmitigated": 0.5,
}


AXES = {"method": tuple(COSTS), "tolerance": tuple(k / 50 for k in range(9)), "seed": (0, 1)}


@pytest.mark.parametrize("keys", [*itertools.permutations(AXES)], ids="-".join)
@pytest.mark.parametrize("workers", [1, 2])
def test_after_a_fifth_the_estimate_is_right_within_a_half(keys, workers, monkeypatch):
    """In every order of the keys; workers start in 2 minutes, a strict tolerance takes twice as long as a lax one."""
    clock = SimpleNamespace(now=0.0, monotonic=lambda: clock.now)
    monkeypatch.setattr(engine, "time", clock)
    grid = [AuditConfig(**dict(zip(keys, values, strict=True))) for values in itertools.product(*map(AXES.get, keys))]
    free, ends, left = [120.0] * workers, [], TimeLeft()
    for _, config in interleaved(list(enumerate(grid))):
        ends.append(heapq.heappop(free) + COSTS[config.method] * (2.0 - config.tolerance / 0.17))
        heapq.heappush(free, ends[-1])
    ends.sort()
    for end in ends[: len(grid) // 5]:
        clock.now = end
        left.add()
    ratio = left.seconds(len(grid) - len(grid) // 5) / (ends[-1] - clock.now)
    assert 1 / 1.5 < ratio < 1.5


def test_jobs_of_one_model_stay_together_and_none_is_lost():
    configs = [AuditConfig(method=method, seed=seed) for method in COSTS for seed in range(4)]
    jobs = list(enumerate(AuditPlan(config=config) for config in configs for _ in range(3)))
    order = interleaved(jobs)
    assert sorted(order, key=lambda job: job[0]) == jobs
    runs = [config for config, _ in itertools.groupby(plan.config for _, plan in order)]
    assert sorted(map(repr, runs)) == sorted(map(repr, configs))
    assert {config.method for config in runs[:5]} == set(COSTS)


KEY = fingerprint("some key")


@pytest.fixture(scope="module")
def point():
    return measure(BASE, people())


@pytest.fixture
def store(tmp_path):
    return FileStore(tmp_path / "store")


def test_points_come_back_equal_infinities_and_nan_too(tmp_path, point):
    path = tmp_path / "folder" / "store"
    unbounded = replace(point, bounds=(math.nan, math.inf, -math.inf))
    FileStore(path).save(KEY, unbounded)
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(path.parent.iterdir()) == [path]
    back = FileStore(path).load(KEY, MeasuredModel)
    assert back == unbounded and back.seconds == point.seconds


@pytest.mark.parametrize(
    "change",
    [
        "body = NULL",
        "body = 7",
        "body = CAST(replace(CAST(body AS TEXT), 'sample', 'simple') AS BLOB)",
        "checksum = NULL",
    ],
)
def test_a_damaged_record_is_ignored_and_noted(change, store, point):
    store.save(KEY, point)
    altered(store.path, f"UPDATE points SET {change}")
    assert store.load(KEY, MeasuredModel) is None
    assert store.notes == [f"The record {KEY[:12]} is ignored and measured again: it is damaged."]
    store.save(KEY, point)
    assert store.load(KEY, MeasuredModel) == point


def test_another_version_has_separate_records_and_they_go_after_a_month(store, point, monkeypatch):
    key = partial(point_key, BASE, people(), MeasuredModel)
    store.save(key(), point)
    with monkeypatch.context() as patch:
        patch.setattr(engine, "__version__", "99.0")
        engine.environment.cache_clear()
        foreign = FileStore(store.path)
        assert foreign.load(key(), MeasuredModel) is None and len(foreign) == 0
        foreign.save(fingerprint("other"), point)
    engine.environment.cache_clear()
    altered(store.path, "UPDATE points SET saved = saved - ?", 29.9 * 86_400)
    assert FileStore(store.path).notes[0].startswith("Records of other versions are ignored: 1;")
    altered(store.path, "UPDATE points SET saved = saved - ?", 0.2 * 86_400)
    later = FileStore(store.path)
    assert not later.notes and later.load(key(), MeasuredModel) == point  # its own are kept, however old


@pytest.mark.parametrize("content", [b"damaged", bytes(10_000), None], ids=["short", "zeros", "database"])
def test_another_file_is_refused_and_left_as_it_is(content, tmp_path):
    path = tmp_path / "notes.txt"
    if content is None:
        History.open(path)
        content = path.read_bytes()
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"notes.txt' is no store of experiments and was left as it is\.$"):
        FileStore(path)
    assert path.read_bytes() == content and list(tmp_path.iterdir()) == [path]


def test_a_store_whose_maker_was_killed_is_made_again(tmp_path, point):
    path = tmp_path / "store"
    altered(path, "PRAGMA auto_vacuum = FULL")  # its first step
    assert path.stat().st_size > 0
    store = FileStore(path)
    store.save(KEY, point)
    assert FileStore(path).load(KEY, MeasuredModel) == point


def test_a_busy_file_is_waited_for_a_while(store, point, monkeypatch):
    monkeypatch.setattr("core.experiments.engine.BUSY_SECONDS", 0.2)
    with closing(sqlite3.connect(store.path, isolation_level=None)) as busy:
        busy.execute("BEGIN EXCLUSIVE")
        for refused in (lambda: store.save(KEY, point), lambda: store.load(KEY, MeasuredModel)):
            with pytest.raises(InputError, match=r"was busy for 0\.2 seconds; start again\.$"):
                refused()
    store.save(KEY, point)
    assert store.load(KEY, MeasuredModel) == point


def test_several_processes_write_at_once(store, point):
    def save_some(first):
        for k in range(first, first + 25):
            FileStore(store.path).save(fingerprint(k), point)

    writers = [get_context("fork").Process(target=save_some, args=(25 * k,)) for k in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(PATIENT)
    assert [writer.exitcode for writer in writers] == [0] * 4
    assert [store.load(fingerprint(k), MeasuredModel) for k in range(100)] == [point] * 100
