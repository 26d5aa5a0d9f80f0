"""``python -m core attriguard``: what changes what it says, and bad input; its output is frozen in golden files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from core.__main__ import main
from core.attriguard import ATTACKER_TITLES, PUBLISHED_CURVE
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


ON_RATINGS = ["--dataset", "demo_ratings"]
BAD = [
    (["--dataset", "nowhere"], "--dataset must be one of ratings, demo_ratings, demo, adult"),
    (["--dataset", "ratings"], "cannot be downloaded; name their folder with --data or FAIRLEAK_DATA"),
    (["--dataset", "ratings", "--data", "/no/such/folder"], "--data (or FAIRLEAK_DATA) must be a folder"),
    ([*ON_RATINGS, "--attribute", "sex"], "--attribute is for tables, got it with --dataset demo_ratings"),
    (["--policy", "add_new"], "--policy is for ratings, got it with --dataset demo"),
    ([*ON_RATINGS, "--frozen", "age"], "--frozen is for tables, got it with --dataset demo_ratings"),
    ([*ON_RATINGS, "--given", "0.5,0.5"], "--given must come with --target given, got --target None"),
    ([*ON_RATINGS, "--target", "given"], "--given must come with --target given, got --target given"),
    ([*ON_RATINGS, "--target", "given", "--given", "0.5,0.6,0,0"], "must add up to 1, got 1.1"),
    (["--csv", "/no/such/folder/out.csv"], "--csv must be a file in a folder that exists"),
]


@pytest.mark.parametrize("arguments, words", BAD, ids=[" ".join(a) for a, _ in BAD])
def test_bad_input_is_one_sentence_and_code_3(arguments: list[str], words: str, capsys: Capture):
    assert main(["attriguard", *arguments]) == 3
    told = capsys.readouterr()
    assert not told.out and words in told.err and told.err.startswith("python -m core attriguard: ")
    assert len(told.err.splitlines()) == 1
