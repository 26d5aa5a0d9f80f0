"""AttriGuard in-process: studies that grow and are stopped, ratings of one's own, the paper's."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tests.app.conftest import Start
from tests.app.dashboard import Dashboard
from tests.app.guarding import (
    Gate,
    assert_tells,
    choose,
    few_attackers,
    few_ratings,
    study_of,
    told,
    widget,
)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    """Few attackers, and studies that other tests have made."""
    return few_attackers(monkeypatch)


def test_attackers_come_one_after_the_other_and_can_be_stopped(dashboard: Dashboard, gate: Gate):
    gate.free = 2
    gate.open.clear()
    dashboard.open("attriguard", settled=False)
    while not gate.reached.wait(0.1):  # the table is being prepared
        dashboard.test.run()
    dashboard.test.run()
    assert "adversarial training is still learning" in dashboard.finding
    widget(dashboard, "further_guard_table").set_value("transfer")
    dashboard.test.run()
    assert "is fooled least so far: by" in told(dashboard)
    dashboard.press("cancel_attackers")
    gate.open.set()
    dashboard.settle()
    assert "adversarial training is not trained yet" in dashboard.finding
    assert dashboard.button("start_attackers").label == "Stopped after 3 of 7 attackers. Go on"
    choose(dashboard, guard_budget=0.1)
    assert "is not trained yet" in dashboard.finding  # the slider starts nothing
    choose(dashboard, further_guard_table="cost")  # other work does not lose what is there
    assert "is not trained yet" in dashboard.finding and "no fairness method" in told(dashboard)
    assert dashboard.has_button("start_attackers")
    dashboard.button("start_attackers").click()
    dashboard.settle()
    study = study_of()
    assert_tells(dashboard, study, 0.1)
    assert gate.begun == 1  # what was there is not computed again


def long_table(people_: int = 60) -> bytes:
    """Return ratings of one's own as one long table."""
    rng = np.random.default_rng(3)
    rows = ["user,item,rating,town"]
    for k in range(people_):
        town = "Up" if k % 3 else "Down"
        liked = rng.permutation(12)[:5] + (0 if town == "Up" else 6)
        rows += [f"u{k},film {item},{rng.integers(1, 6)},{town}" for item in liked]
    return "\n".join(rows).encode()


def test_ratings_of_ones_own_stay_in_the_session(dashboard: Dashboard, gate: Gate):
    dashboard.open("attriguard")
    choose(dashboard, guard_data="own_ratings")
    assert not dashboard.findings and not dashboard.test.warning
    box = dashboard.test.file_uploader(key="guard_upload")
    box.set_value([("films.csv", long_table(), "text/csv")])
    dashboard.settle()
    assert "inferring the town" in dashboard.finding
    before = dashboard.finding
    box = dashboard.test.file_uploader(key="guard_upload")
    box.set_value([("films.csv", b"user,item\n1,2\n", "text/csv")])
    dashboard.settle()
    problem = dashboard.plain_problem()
    assert len(re.findall(r"[.!?](?:\s|$)", problem)) == 1
    assert dashboard.finding == before  # what was computed is not lost
    dashboard.button("guard_remove").click()
    dashboard.settle()
    assert not dashboard.findings
    choose(dashboard, guard_data="table")
    assert "inferring the sex" in dashboard.finding


def test_the_papers_ratings_are_offered_where_they_are(
    start: Start, gate: Gate, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    folder = tmp_path / "google_play_ratings"
    folder.mkdir()
    for part, rows in (("train", range(160)), ("test", range(160, 240))):
        ratings = few_ratings()
        people_, values = (getattr(ratings, f"{name}_{part}") for name in ("people", "values"))
        lines = [
            " ".join(f"{item}:{rating:g}" for item, rating in zip(row.indices, row.data, strict=True))
            for row in (people_[[k]] for k in range(len(rows)))
        ]
        (folder / f"{part}_user.txt").write_text("\n".join(lines) + "\n")
        (folder / f"{part}_label.txt").write_text("".join(f"{value}\n" for value in values))
    monkeypatch.setenv("FAIRLEAK_DATA", str(tmp_path))
    dashboard = start().open("attriguard")
    choose(dashboard, guard_data="google_play")
    assert "inferring the city" in dashboard.finding
    assert "The paper finds that adversarial training hardly helps." in told(dashboard)
