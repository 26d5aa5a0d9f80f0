"""Files at the query desk, in-process: test sets and predictions, good and bad, and nothing of them on disk."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from core.queries import statistical_parity_gap
from tests import desk_files
from tests.app.dashboard import Dashboard
from tests.app.desk import (
    ask,
    bring_test_set,
    desk,
    from_file,
    give,
    plain,
    state,
)

pytestmark = pytest.mark.usefixtures("start")


def test_values_that_are_taken_together_are_named(dashboard: Dashboard):
    content = desk_files.test_set()
    bring_test_set(desk(dashboard), "people.csv", content)
    dashboard.test.selectbox(key="desk_attribute_column").set_value("sex")
    dashboard.settle()
    assert not any("takes together" in plain(text) for text in dashboard.texts)
    women = content.count(b"Female")
    give(dashboard, "desk_test_set", "three.csv", content.replace(b",Female", b",divers", 3))
    assert any(f"takes together {women - 3} 'Female' and 3 'divers'." in plain(text) for text in dashboard.texts)
    assert any("Male**, compared with everybody else" in plain(text) for text in dashboard.texts)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_test_set_and_predictions_from_files(dashboard: Dashboard, kind: str):
    content = desk_files.test_set() if kind == "csv" else desk_files.test_set_parquet()
    from_file(dashboard, f"people.{kind}", content)
    made = state("loans").registration
    assert (made.n_people, made.columns.advantaged, made.columns.positive) == (400, "Male", "yes")
    assert dashboard.test.button(key="desk_ask").disabled
    give(dashboard, "desk_predictions", "model.csv", desk_files.predictions())
    ask(dashboard, epsilon=0.7)
    (answer,) = state("loans").answers
    sex = np.array([line.split(",")[1] == "Male" for line in desk_files.test_set().decode().splitlines()[1:]])
    truth = statistical_parity_gap(desk_files.scores(), sex.astype(np.uint8))[0]
    assert abs(answer.gap.value - truth) < 0.15 < truth  # right people in the right order
    give(dashboard, "desk_predictions", "copy.csv", desk_files.predictions())
    assert dashboard.test.button(key="desk_ask").label == "Ask, free"
    assert state("loans").spent == pytest.approx(0.8)


def test_files_are_still_there_after_another_page(dashboard: Dashboard):
    from_file(dashboard)
    give(dashboard, "desk_predictions", "model.csv", desk_files.predictions())
    dashboard.open("data").open("desk")
    assert sorted(text.value for text in dashboard.test.text) == [
        "model.csv is still here.",
        "people.csv is still here.",
    ]
    ask(dashboard)
    assert len(state("loans").answers) == 1
    dashboard.test.button(key="desk_predictions_remove").click()
    dashboard.settle()
    assert dashboard.test.button(key="desk_ask").disabled


def test_nothing_but_the_ledger_is_written(dashboard: Dashboard, tmp_path: Path):
    from_file(dashboard)
    give(dashboard, "desk_predictions", "model.csv", desk_files.predictions())
    ask(dashboard)
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path.name.removesuffix("-wal").removesuffix("-shm") for path in written} == {"ledger.sqlite"}
    content = b"".join(path.read_bytes() for path in written)
    assert b"team A" in content and b"Female" not in content
