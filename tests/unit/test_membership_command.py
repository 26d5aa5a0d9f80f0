"""``python -m core membership``: tables, files of numbers and curves of a small table, and bad input."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from core.__main__ import main
from core.membership import (
    DELETION_REMINDER,
    MembershipSettings,
    epsilon_curve,
    member_people,
    summarise_curve,
)
from tests import samples

Capture = pytest.CaptureFixture[str]
FEW = ["membership", "--shadows", "8", "--depth", "3"]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A small table under the name of the demo, and no folders of this machine."""
    monkeypatch.setattr("core.cli.arguments.load", lambda name, **_: samples.table(1500))
    monkeypatch.setattr("core.cli.arguments.default_cache_folder", lambda: tmp_path / "cache")
    monkeypatch.delenv("FAIRLEAK_DATA", raising=False)


def read(path: Path) -> Any:
    """Return the content of a JSON file that has no NaN and no Infinity."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)


def rows(told: str, *beginning: str) -> list[list[str]]:
    """Return the rows of all tables that begin with these cells, cells apart by two blanks."""
    split = [re.split(r"\s{2,}", line.strip()) for line in told.splitlines()]
    return [cells for cells in split if cells[: len(beginning)] == list(beginning)]


def test_over_repeats(tmp_path: Path, capsys: Capture):
    out = tmp_path / "all.json"
    assert main([*FEW, "--attacks", "loss", "--epsilon", "1,inf", "--repeats", "2", "--json", str(out)]) == 0
    told = capsys.readouterr()
    assert "in 2 repeats" not in told.out and "over 2 repeats" in told.out and "north minus south" in told.out
    assert "6 of 6 steps" in told.err and "FairPick" not in told.out and read(out)["fairpick"] is None
    people = member_people(samples.table(1500), samples.ROLES)
    points = epsilon_curve(people, MembershipSettings(max_depth=3), epsilons=(1.0, float("inf")), repeats=2)
    bands = {"inf" if band.at > 1 else 1.0: band for band in summarise_curve(points)}
    content = read(out)["over epsilon"]
    assert {band["epsilon"] for band in content} == set(bands)
    for band in content:
        for name, value in bands[band["epsilon"]].values.items():
            assert band["values"][name]["value"] == pytest.approx(value.value), name
    *_, last = rows(told.out, "inf")
    assert last[1].startswith(f"{100 * bands['inf'].values['accuracy_test'].value:.1f} [")


def test_fairpick_beside_its_control(tmp_path: Path, capsys: Capture):
    out = tmp_path / "all.json"
    asked = [*FEW, "--attacks", "loss", "--epsilon", "1", "--theta", "0.5", "--repeats", "2", "--json", str(out)]
    assert main(asked) == 0
    told, content = capsys.readouterr(), read(out)
    deleted = content["fairpick"]["deleted"]
    assert f"deletes {sum(deleted.values())} of the 750 people trained on above, in the split of seed 42" in told.out
    assert "with splits of their own" in told.out
    assert set(deleted) == {"north", "south"} and sum(deleted.values()) > 0
    said = next(line for line in told.out.splitlines() if line.startswith("FairPick, theta 0.5"))
    assert f"{deleted['north']:,} north" in said
    assert content["fairpick"]["largest_after"] < content["fairpick"]["largest_before"]
    everybody, picked, control = rows(told.out, "1")[-3:]
    assert everybody[1:3] == ["everybody", "0"]
    assert picked[1] == "FairPick" and control[1] == "as many deleted at random" and picked[2] == control[2] != "0"
    assert told.out.rstrip().endswith(DELETION_REMINDER)


@pytest.mark.parametrize("target", ["decision_tree", "audited"])
def test_other_targets(target: str, tmp_path: Path, capsys: Capture):
    csv = tmp_path / "numbers.csv"
    more = [] if target == "audited" else ["--repeats", "2"]
    assert main([*FEW, "--target", target, "--attacks", "loss,network", *more, "--csv", str(csv)]) == 0
    told, table = capsys.readouterr().out, pd.read_csv(csv)
    assert list(table["attack"]) == ["loss", "network"] and set(table["target"]) == {target}
    assert len(rows(told, "none")) == 5 + bool(more) and "accounting" not in told
    assert ("depth 3" in told) == (target == "decision_tree")
    assert ("510 people trained on" in told) == (target == "audited")  # the audit's own share


def test_the_naive_accounting_is_said_not_to_be_private(tmp_path: Path, capsys: Capture):
    asked = [*FEW, "--accounting", "naive", "--epsilon", "1", "--attacks", "loss"]
    assert main(asked) == 0
    told = capsys.readouterr()
    assert "the tree is not private" in told.err and rows(told.out, "1", "no bound")


# what one setting's own bounds refuse is in test_settings
BAD = [
    (["--attribute", "shoes"], "--attribute must be one of sex, origin, age/ranges, got 'shoes'"),
    (["--target", "logistic", "--epsilon", "1"], "--epsilon is for the target dp_id3, got it with --target logistic"),
    (["--target", "logistic", "--accounting", "naive"], "--accounting is for the target dp_id3"),
    (["--target", "audited", "--theta", "0.5"], "--theta is not for the target audited"),
    (["--target", "audited", "--repeats", "2"], "--repeats is not for the target audited"),
    (["--group", "2"], "--group must be below 2, how many there are, got 2"),
    (["--target", "given"], "--target must be one of dp_id3, decision_tree, random_forest, logistic, audited, got"),
    (["--shadows", "5"], "--shadows must be even, half of them with each person, got 5"),
]


@pytest.mark.parametrize("arguments, words", BAD, ids=[" ".join(a) for a, _ in BAD])
def test_bad_input_is_one_sentence_and_code_3(arguments: list[str], words: str, capsys: Capture):
    try:
        code = main(["membership", *arguments])
    except SystemExit as left:
        code = int(left.code or 0)
    told = capsys.readouterr()
    assert code == 3 and not told.out and words in told.err and told.err.startswith("python -m core membership: ")
    assert len(told.err.splitlines()) == 1
