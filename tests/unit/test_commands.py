"""Commands that measure: what they print stands in their files too, settings change it, bad input is one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from core.__main__ import main
from core.membership import DELETION_REMINDER, MembershipSettings, epsilon_curve, member_people, summarise_curve
from tests import samples

Capture = pytest.CaptureFixture[str]
Content = dict[str, Any]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A small table under the name of the demo, and no folders of this machine."""
    monkeypatch.setattr("core.cli.arguments.load", lambda name, **_: samples.table(1500))
    monkeypatch.setattr("core.cli.arguments.default_cache_folder", lambda: tmp_path / "cache")
    monkeypatch.delenv("FAIRLEAK_DATA", raising=False)


def read(path: Path) -> Content:
    """Return the content of a JSON file that has no NaN and no Infinity."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    return dict(json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse))


@pytest.fixture
def run(tmp_path: Path, capsys: Capture) -> Any:
    """A function that runs a command and returns what it printed, beside it, and the content of its files."""

    def measure(command: str, *arguments: str) -> tuple[str, str, Content]:
        files = tmp_path / "numbers.csv", tmp_path / "everything.json"
        assert main([*command.split(), *arguments, "--csv", str(files[0]), "--json", str(files[1])]) == 0
        told, content = capsys.readouterr(), read(files[1])
        frame = pd.read_csv(files[0])
        for title, rows in content["tables"].items():
            assert len(frame[frame.table == title]) == len(rows), title
            assert not rows or f"\n{title}\n" in told.out or title in told.out.splitlines()[-1], title
        for finding in content["findings"]:
            assert finding["point"] in told.out and finding["evidence"] in told.out
        return told.out, told.err, content

    return measure


MEMBERS = "membership --shadows 8 --depth 3"


def test_membership_over_repeats(run: Any):
    out, err, content = run(MEMBERS, "--attacks", "loss", "--epsilon", "1,inf", "--repeats", "2")
    assert "2 repeats" in out and "gaps north − south" in out and "6 of 6 steps" in err and "FairPick" not in out
    people = member_people(samples.table(1500), samples.ROLES)
    points = epsilon_curve(people, MembershipSettings(max_depth=3), epsilons=(1.0, float("inf")), repeats=2)
    (rows,) = (rows for title, rows in content["tables"].items() if title.startswith("Over ε"))
    names = {"accuracy_test": "accuracy, test", "auc": "AUC", "vd": "VD", "fpr_gap": "FPR gap", "recall": "recall"}
    for row, band in zip(rows, summarise_curve(points), strict=True):
        assert float(row["ε"]) == band.at
        for name, title in names.items():
            assert row[title] == pytest.approx(band.values[name].value), name


def test_fairpick_beside_its_control(run: Any):
    out, _, content = run(MEMBERS, "--attacks", "loss", "--epsilon", "1", "--theta", "0.5")
    deleted = content["tables"]["Rows deleted by FairPick"]
    rows = sum(row["rows deleted"] for row in deleted)
    assert f"At θ = 0.5 FairPick deletes {rows} of 750 training rows.\n" in out and DELETION_REMINDER in out
    assert {row["group"] for row in deleted} == {"north", "south"} and rows > 0
    assert all(row["after"] < row["largest difference of shares, before"] for row in deleted)
    (curve,) = (rows for title, rows in content["tables"].items() if title.startswith("Over θ, ε = 1: "))
    assert [row["rows deleted"] for row in curve] == ["by FairPick", "at random", "none"]
    assert curve[0]["deleted on average"] == curve[1]["deleted on average"] > curve[2]["deleted on average"] == 0


@pytest.mark.parametrize("target", ["decision_tree", "audited"])
def test_other_targets_of_membership(target: str, run: Any):
    more = [] if target == "audited" else ["--repeats", "2"]
    out, _, content = run(MEMBERS, "--target", target, "--attacks", "loss,network", *more)
    tables = content["tables"]
    assert [row["attack"] for row in tables["Attacks"]] == ["Loss threshold", "The paper's network"]
    assert len(tables["Models"]) == 1 and "accounting" not in out and "ε" not in tables["Models"][0]
    assert ("depth 3" in out) == (target == "decision_tree") == any(title.startswith("Over θ") for title in tables)
    assert ("510 people trained on" in out) == (target == "audited")  # the audit's own share


def test_the_naive_accounting_is_said_not_to_be_private(run: Any):
    _, err, content = run(MEMBERS, "--accounting", "naive", "--epsilon", "1", "--attacks", "loss")
    assert "the tree is not private" in err and content["tables"]["Models"][0]["ε spent in truth"] == "no bound"


# what one setting's own bounds refuse is in test_settings
BAD = {
    "membership --attribute shoes": "--attribute must be one of sex, origin, age/ranges, got 'shoes'",
    "membership --target logistic --epsilon 1": "--epsilon is for the target dp_id3, got it with --target logistic",
    "membership --target logistic --accounting naive": "--accounting is for the target dp_id3",
    "membership --target audited --theta 0.5": "--theta is not for the target audited",
    "membership --target audited --repeats 2": "--repeats is not for the target audited",
    "membership --group 2": "--group must be below 2, how many there are, got 2",
    "membership --target given": "--target must be one of dp_id3, decision_tree, random_forest, logistic, audited, got",
    "membership --shadows 5": "--shadows must be even, half of them with each person, got 5",
}


@pytest.mark.parametrize("line", BAD)
def test_bad_input_is_one_sentence_and_code_3(line: str, capsys: Capture):
    try:
        code = main(line.split())
    except SystemExit as left:  # argparse's own errors
        code = int(left.code or 0)
    told = capsys.readouterr()
    assert code == 3 and not told.out and BAD[line] in told.err
    assert told.err.startswith(f"python -m core {line.split()[0]}: ") and len(told.err.splitlines()) == 1
