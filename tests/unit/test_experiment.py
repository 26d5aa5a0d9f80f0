"""An experiment: its rows are the numbers of its plans' audits, whoever asks for them, each once whatever stops it."""

from __future__ import annotations

import pytest

from core.auditing.run import audited_of, measured
from core.base.errors import InputError
from core.experiments.experiment import grid_of, rows_frame, run_experiment
from tests import samples

TABLE = samples.table(600)
PLAN = samples.plan()


def test_a_row_has_the_number_of_the_audit_of_its_plan():
    points = grid_of(PLAN, {"model.method": ("unmitigated", "private_fair"), "model.epsilon": (3.0,)})
    rows = list(run_experiment(points, TABLE, studies=("fairness", "membership")))
    assert len(rows) == 2 * 7
    for plan, values in points.items():
        audited = audited_of(plan, TABLE)
        for row in rows:
            assert row.values != values or row.measurement == measured(row.measurement.check, audited)


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
        grid_of(PLAN, varied)


def test_a_frame_has_a_reason_where_there_is_no_number():
    points = grid_of(PLAN, {"outputs.released": ("labels",)})
    (row, *_) = run_experiment(points, TABLE, studies=("membership",))
    line = rows_frame([row]).iloc[0]
    assert line["check"] == "membership_caught" and line["reason"] and line["value"] is None
