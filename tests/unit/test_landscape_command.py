"""The command that makes a map: a table on one stream, progress on the other, and files that can be read again."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from core.__main__ import main
from core.sweep.landscape import LandscapePlan, read_landscape
from tests import samples


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    table = samples.table(500)
    monkeypatch.setattr("core.cli.arguments.load", lambda name, **_: table)
    monkeypatch.delenv("FAIRLEAK_DATA", raising=False)


def test_a_map_is_printed_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path, numbers = tmp_path / "map.json", tmp_path / "map.csv"
    assert main(["landscape", "--seeds", "1", "--out", str(path), "--csv", str(numbers)]) == 0
    told = capsys.readouterr()
    made = read_landscape(path)
    assert made.plan == LandscapePlan(seeds=(1,)) and len(made.readings) == 42
    cell = made.cell(0.01, 3.0)
    (row,) = (line for line in told.out.splitlines() if line.split()[:2] == ["0.01", "3"])
    assert f"{100 * cell.after.value:.1f}" in row and f"{cell.n_true} of 1" in row
    assert "one seed" in told.out and "7 of 7 steps" in told.err and "The map is in" in told.err
    assert len(pd.read_csv(numbers)) == 42


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--metric", "beauty"], "metric"),
        (["--seeds", "0-99"], "at most 50 seeds"),
        (["--out", "/nowhere/at/all.json"], "--out must be a file"),
    ],
)
def test_bad_input(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]):
    assert main(["landscape", *arguments]) == 3
    told = capsys.readouterr()
    assert said in told.err and len(told.err.splitlines()) == 1 and not told.out
