"""``python -m core attriguard``: curves of invented ratings and of a table, the files of numbers, bad input."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from core.__main__ import main
from core.attriguard import ATTACKER_TITLES, PUBLISHED_CURVE
from core.attriguard.attackers import RATING_ATTACKERS, TABLE_ATTACKERS
from core.datasets import Ratings
from tests import ratings_samples, samples

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Small data under the names of the large, and no folders of this machine."""
    monkeypatch.setattr("core.cli.attriguard.demo_ratings", ratings_samples.ratings)
    monkeypatch.setattr("core.cli.arguments.load", lambda name, **_: samples.table(1500))
    monkeypatch.setattr("core.cli.arguments.default_cache_folder", lambda: tmp_path / "cache")
    monkeypatch.delenv("FAIRLEAK_DATA", raising=False)


def cells(told: str, title: str) -> list[float]:
    """Return the accuracies in an attacker's row."""
    row = next(line for line in told.splitlines() if line.startswith(f"{title}  "))
    return [float(cell) for cell in row[len(title) :].split() if not cell.startswith("±")]


def test_ratings(tmp_path: Path, capsys: Capture):
    csv, out = tmp_path / "numbers.csv", tmp_path / "all.json"
    asked = ["attriguard", "--dataset", "demo_ratings", "--budgets", "0,0.5,3,0", "--csv", str(csv), "--json", str(out)]
    assert main(asked) == 0
    told = capsys.readouterr()
    assert "100 people of Sample ratings; private: town, 4 values" in told.out
    assert "Majority guess: 2" in told.out and "at 1, 3, 5 ratings" in told.out
    assert "The paper's network" not in told.out  # said of the paper's own data only
    assert f"Every number is in {csv}." in told.err and f"Everything is in {out}." in told.err
    assert "31 of 31 steps" in told.err
    table, content = pd.read_csv(csv), json.loads(out.read_text(encoding="utf-8"))
    assert list(table["attacker"]) == 3 * list(RATING_ATTACKERS) and set(table["budget"]) == {0.0, 0.5, 3.0}
    for name in RATING_ATTACKERS:
        own = table[table["attacker"] == name]
        assert len(own) == 3  # budget 0 is what there is without noise
        assert cells(told.out, ATTACKER_TITLES[name]) == [round(100 * value, 1) for value in own["accuracy"]]
        assert (own["accuracy low"] <= own["accuracy"]).all() and (own["accuracy"] <= own["accuracy high"]).all()
        assert (own["reported"] >= content["majority"]["value"]).all()
    assert content["settings"]["policy"] == "modify_add" and content["spent"]["0.5"]["value"] <= 0.5 + 1e-9
    assert [point["accuracy"]["value"] for point in content["points"]] == pytest.approx(list(table["accuracy"]))
    assert [row["town"] for row in content["values"]] == [f"town {i}" for i in range(4)]


def test_budget_0_alone(tmp_path: Path, capsys: Capture):
    csv = tmp_path / "numbers.csv"
    few = ["--attackers", "logistic,forest", "--trained-at", "2"]
    assert main(["attriguard", "--dataset", "demo_ratings", "--budgets", "0", *few, "--csv", str(csv)]) == 0
    assert list(pd.read_csv(csv)["attacker"]) == ["logistic", "forest"]
    told = capsys.readouterr().out
    assert all(len(cells(told, ATTACKER_TITLES[name])) == 1 for name in ("logistic", "forest"))
    assert "The paper" not in told and "are trained at 2 ratings" in told


def test_the_file_of_everything_is_json_where_no_noise_is_found(tmp_path: Path, capsys: Capture):
    out = tmp_path / "all.json"
    asked = ["attriguard", "--dataset", "demo_ratings", "--budgets", "1", "--margin", "100", "--attackers", "logistic"]
    assert main([*asked, "--json", str(out)]) == 0
    assert "None was found for 300 of 300" in capsys.readouterr().out

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    content = json.loads(out.read_text(encoding="utf-8"), parse_constant=refuse)
    assert [row["ratings changed, mean"] for row in content["values"]] == [None] * 4


@pytest.mark.long
def test_settings_of_ratings(capsys: Capture):
    few = ["attriguard", "--dataset", "demo_ratings", "--budgets", "2"]

    def told(*arguments: str) -> str:
        assert main([*few, *arguments]) == 0
        return capsys.readouterr().out

    chosen = told("--policy", "add_new", "--defender", "network", "--margin", "0.5", "--seed", "7")
    assert "policy add_new, defender network, target train_shares, margin 0.5, seed 7" in chosen
    given = told("--target", "given", "--given", "0.7,0.1,0.1,0.1")
    assert "target given" in given and given != told("--target", "uniform")


def test_the_papers_own_data_come_with_its_curve(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Capture):
    def read(folder: Path) -> Ratings:
        assert folder == tmp_path
        return ratings_samples.ratings()

    monkeypatch.setattr("core.cli.attriguard.read_ratings", read)
    asked = ["attriguard", "--dataset", "ratings", "--data", str(tmp_path), "--attackers", "adversarial,network"]
    assert main([*asked, "--budgets", "1,2,2.5"]) == 0
    told = capsys.readouterr().out
    assert cells(told, "Jia and Gong (2018): network, noise of a network") == [
        100 * PUBLISHED_CURVE[1.0],
        100 * PUBLISHED_CURVE[2.0],
    ]
    trained, other = (cells(told, ATTACKER_TITLES[name])[-1] for name in ("adversarial", "network"))
    said = next(line for line in told.splitlines() if line.startswith("Here at β = 2.5"))
    read = [float(rate) for rate in re.findall(r"(?:Network|AT-A) ([\d.]+)%", said)]
    assert read == pytest.approx([other, trained], abs=0.56)


def test_a_table(tmp_path: Path, capsys: Capture):
    csv = tmp_path / "numbers.csv"
    assert main(["attriguard", "--budgets", "0.25", "--csv", str(csv)]) == 0
    told = capsys.readouterr()
    assert "people of Sample; private: origin, 2 values" in told.out and "changed columns on average" in told.out
    table = pd.read_csv(csv)
    assert set(table["attacker"]) == set(TABLE_ATTACKERS) and set(table["budget"]) == {0.0, 0.25}
    for name in TABLE_ATTACKERS:
        own = table[table["attacker"] == name]
        assert cells(told.out, ATTACKER_TITLES[name]) == [round(100 * value, 1) for value in own["accuracy"]]


ON_RATINGS = ["--dataset", "demo_ratings"]
BAD = [
    (["--dataset", "nowhere"], "--dataset must be one of ratings, demo_ratings, demo, adult"),
    (["--dataset", "ratings"], "cannot be downloaded; name their folder with --data or FAIRLEAK_DATA"),
    (["--dataset", "ratings", "--data", "/no/such/folder"], "--data (or FAIRLEAK_DATA) must be a folder"),
    ([*ON_RATINGS, "--attribute", "sex"], "--attribute is for tables, got it with --dataset demo_ratings"),
    (["--policy", "add_new"], "--policy is for ratings, got it with --dataset demo"),
    ([*ON_RATINGS, "--frozen", "age"], "--frozen is for tables, got it with --dataset demo_ratings"),
    ([*ON_RATINGS, "--policy", "magic"], "policy must be one of modify_exist, add_new, modify_add, got 'magic'"),
    ([*ON_RATINGS, "--defender", "magic"], "defender must be one of logistic"),
    ([*ON_RATINGS, "--given", "0.5,0.5"], "--given must come with --target given, got --target None"),
    ([*ON_RATINGS, "--target", "given"], "--given must come with --target given, got --target given"),
    ([*ON_RATINGS, "--target", "given", "--given", "0.5,0.6,0,0"], "must add up to 1, got 1.1"),
    ([*ON_RATINGS, "--budgets", "1,x"], "--budgets must be a list of finite numbers, got '1,x'"),
    (["--budgets", "-1"], "--budgets must be at least 0, got -1.0"),
    (["--csv", "/no/such/folder/out.csv"], "--csv must be a file in a folder that exists"),
    (["--attribute", "shoes"], "--attribute must be one of sex, origin, age/ranges, got 'shoes'"),
]


@pytest.mark.parametrize("arguments, words", BAD, ids=[" ".join(a) for a, _ in BAD])
def test_bad_input_is_one_sentence_and_code_3(arguments: list[str], words: str, capsys: Capture):
    assert main(["attriguard", *arguments]) == 3
    told = capsys.readouterr()
    assert not told.out and words in told.err and told.err.startswith("python -m core attriguard: ")
    assert len(told.err.splitlines()) == 1
