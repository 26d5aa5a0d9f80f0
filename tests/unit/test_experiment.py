"""An experiment: its rows are the numbers of its plans' audits, whoever asks for them, each once whatever stops it."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from core import experiment
from core.__main__ import main
from core.auditing import AuditPlan, DataPlan, MembershipSettings, catalogue_plan
from core.auditing.run import audited_of, measured
from core.base.errors import Cancelled, InputError
from core.datasets import load
from core.experiments.engine import FileStore
from core.experiments.experiment import grid_of, in_grid_order, rows_frame, run_experiment
from core.studies.subject import AuditConfig
from tests import samples

TABLE = samples.table(600)
PLAN = AuditPlan(
    data=DataPlan(dataset="", file="people.csv"),
    config=AuditConfig(dataset="upload", roles=samples.ROLES, method="unmitigated", tolerance=0.05, seed=3),
    membership=MembershipSettings(shadows=0),
)


def test_a_row_has_the_number_of_the_audit_of_its_plan():
    points = grid_of([PLAN], {"model.method": ("unmitigated", "private_fair"), "model.epsilon": (3.0,)})
    rows = list(run_experiment(points, TABLE, studies=("fairness", "membership")))
    assert len(rows) == 2 * 7
    for point in points:
        audited = audited_of(point.plan, TABLE)
        for row in rows:
            assert row.values != point.values or row.measurement == measured(row.measurement.check, audited)


def test_notebook_and_command_give_the_same_rows(tmp_path: Path):
    frame = experiment("demo", methods=["unmitigated"], seeds=[1, 2], studies=["fairness"]).frame()
    arguments = "experiment --vary model.method=unmitigated --vary model.seed=1,2 --studies fairness --store none"
    assert main([*arguments.split(), "--csv", str(tmp_path / "rows.csv")]) == 0
    printed = list(csv.DictReader((tmp_path / "rows.csv").read_text(encoding="utf-8-sig").splitlines()))
    assert [(row["check"], row["seed"], float(row["value"])) for row in printed] == [
        (row["check"], str(row["seed"]), row["value"]) for row in frame.to_dict("records")
    ]
    assert {"baseline", "n", "seconds", "versions"} <= set(frame)


def test_what_was_measured_is_not_measured_again(tmp_path: Path):
    plan = catalogue_plan("demo")
    plan = replace(plan, config=replace(plan.config, method="unmitigated"))
    points, table = grid_of([plan], {"model.seed": (1, 2, 3)}), load("demo")
    store, steps = FileStore(tmp_path / "store"), []

    def stop(done: int, total: int) -> None:
        steps.append(done)
        if done == 2:
            raise Cancelled

    with pytest.raises(Cancelled):
        list(run_experiment(points, table, studies=("fairness",), store=store, report=stop))
    assert steps == [0, 1, 2] and len(store) == 2
    resumed = list(run_experiment(points, table, studies=("fairness",), store=store))
    unbroken = list(run_experiment(points, table, studies=("fairness",)))
    assert in_grid_order(resumed, points) == in_grid_order(unbroken, points)
    assert [row.seed for row in in_grid_order(resumed, points)] == sorted(row.seed for row in resumed)
    assert len({(row.seed, row.measurement.check) for row in resumed}) == len(resumed)


def test_a_key_that_does_not_go_with_the_method_is_left_out():
    points = grid_of([PLAN], {"model.method": ("unmitigated", "dp_id3"), "model.epsilon": (1.0, 3.0)})
    assert [point.values["model.epsilon"] for point in points] == [None, 1.0, 3.0]


@pytest.mark.parametrize(
    ("varied", "message"),
    [
        ({"model.beauty": (1,)}, "must be TABLE.KEY"),
        ({"model.tolerance": (2.0,)}, r"model.tolerance must be in \[0, 1\], got 2.0"),
        ({"model.tolerance": ()}, "model.tolerance must have at least one value"),
        ({"model.seed": tuple(range(2001))}, "at most 2,000 plans"),
    ],
    ids=["key", "rule", "empty", "many"],
)
def test_a_grid_that_there_cannot_be(varied: dict[str, tuple[object, ...]], message: str):
    with pytest.raises(InputError, match=message):
        grid_of([PLAN], varied)


def test_a_frame_has_a_reason_where_there_is_no_number():
    points = grid_of([PLAN], {"outputs.released": ("labels",)})
    (row, *_) = run_experiment(points, TABLE, studies=("membership",))
    line = rows_frame([row]).iloc[0]
    assert line["check"] == "membership_caught" and line["reason"] and line["value"] is None
