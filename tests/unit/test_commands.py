"""Commands that measure: what they print stands in their files too, settings change it, bad input is one sentence."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from core.__main__ import main
from core.datasets import Table, demo_table, load
from core.stats.estimates import Estimate, percent
from core.studies.attriguard import ATTACKER_TITLES
from core.studies.bias_queries import DECODER_TITLES, DECODERS, NOISES, mechanism_of
from core.studies.membership import DELETION_REMINDER, MembershipSettings, epsilon_curve, member_people, summarise_curve
from tests import ratings_samples, samples
from tests.refusals import refused

Capture = pytest.CaptureFixture[str]
Content = dict[str, Any]


@cache
def sample() -> Table:
    return samples.table(1500)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A small table under the name of the demo, and no folders of this machine."""
    monkeypatch.setattr("core.cli.arguments.load", lambda name, **_: sample())
    monkeypatch.setattr("core.cli.attriguard.demo_ratings", ratings_samples.ratings)
    monkeypatch.setattr("core.cli.attriguard.read_ratings", lambda folder: ratings_samples.ratings())
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
        output, content = capsys.readouterr(), read(files[1])
        frame = pd.read_csv(files[0])
        for title, rows in content["tables"].items():
            assert len(frame[frame.table == title]) == len(rows), title
            assert not rows or f"\n{title}\n" in output.out or title in output.out.splitlines()[-1], title
        for finding in content["findings"]:
            assert finding["point"] in output.out and finding["evidence"] in output.out
        return output.out, output.err, content

    return measure


MEMBERS = "attack membership --shadows 8 --depth 3"


def test_membership_over_repeats(run: Any):
    out, err, content = run(
        MEMBERS, "--attacks", "loss", "--train-epsilons", "1,inf", "--repeats", "2", "--level", "0.8"
    )
    assert (
        "noise and training: 2" in " ".join(out.split())
        and "gaps north − south" in out
        and "6 of 6 steps" in err
        and "FairPick" not in out
    )
    people = member_people(sample(), samples.ROLES)
    points = epsilon_curve(people, MembershipSettings(max_depth=3), epsilons=(1.0, float("inf")), repeats=2)
    (rows,) = (rows for title, rows in content["tables"].items() if title.startswith("Over ε"))
    names = {"accuracy_test": "accuracy, test", "auc": "AUC", "vd": "VD", "fpr_gap": "FPR gap", "recall": "recall"}
    for row, band in zip(rows, summarise_curve(points, level=0.8), strict=True):
        assert float(row["ε"]) == band.at and band.values["vd"].level == 0.8
        assert row["VD, low"] == pytest.approx(band.values["vd"].low)
        for name, title in names.items():
            assert row[title] == pytest.approx(band.values[name].value), name


def test_fairpick_beside_its_control(run: Any):
    out, _, content = run(MEMBERS, "--attacks", "loss", "--train-epsilons", "1", "--theta", "0.5")
    deleted = content["tables"]["Rows deleted by FairPick"]
    rows = sum(row["rows deleted"] for row in deleted)
    assert f"At θ = 0.5 FairPick deletes {rows} of 750 training rows.\n" in out and DELETION_REMINDER in out
    assert "Repeats of a curve have other splits" in out
    assert {row["group"] for row in deleted} == {"north", "south"} and rows > 0
    assert all(row["after"] < row["largest difference of shares, before"] for row in deleted)
    (curve,) = (rows for title, rows in content["tables"].items() if title.startswith("Over θ, ε = 1: "))
    assert [row["rows deleted"] for row in curve] == ["by FairPick", "at random", "none"]
    assert curve[0]["deleted on average"] == curve[1]["deleted on average"] > curve[2]["deleted on average"] == 0


@pytest.mark.parametrize("target", ["decision_tree", "audited"])
def test_other_targets_of_membership(target: str, run: Any):
    command, more = (MEMBERS.replace("--depth 3", ""), []) if target == "audited" else (MEMBERS, ["--repeats", "2"])
    out, _, content = run(command, "--target", target, "--attacks", "loss,network", *more)
    tables = content["tables"]
    assert [row["attack"] for row in tables["Attacks"]] == ["Loss threshold", "The published attack"]
    assert len(tables["Models"]) == 1 and "accounting" not in out and "ε" not in tables["Models"][0]
    assert ("depth 3" in out) == (target == "decision_tree") == any(title.startswith("Over θ") for title in tables)
    assert ("510 people trained on" in out) == (target == "audited")  # the audit's own share


def test_the_naive_accounting_is_said_not_to_be_private(run: Any):
    _, err, content = run(MEMBERS, "--accounting", "naive", "--train-epsilons", "1", "--attacks", "loss")
    assert "the tree is not private" in err and content["tables"]["Models"][0]["ε spent in truth"] == "no bound"


REVEAL = "attack bias_queries --method unmitigated --people 30 --repeats 4 --questions 18"


@pytest.mark.parametrize("noise", NOISES)
def test_every_noise(noise: str, run: Any):
    out, err, content = run(REVEAL, "--mechanism", noise, "--answer-epsilon", "1")
    how = mechanism_of(noise, epsilon=1).text
    assert f"(answers: 18, {how})" in " ".join(out.split()) and "Features alone give" in out
    rows = content["tables"]["Planned answers"]
    assert [row["attacker"] for row in rows[1:]] == [DECODER_TITLES[decoder] for decoder in DECODERS]
    assert [row["answers"] for row in rows] == [0, 18, 18, 18]
    name = "balanced accuracy"
    assert all(0 <= row[f"{name}, low"] <= row[name] <= row[f"{name}, high"] <= 1 for row in rows)
    keeps_epsilon = noise in ("laplace", "cauchy", "noisy_sums")
    assert ("If the prior is right, no attacker can expect more than" in out) == keeps_epsilon
    assert err.splitlines()[2].startswith("3 of 3 steps")
    best = max(rows[1:], key=lambda row: row[name])
    best_estimate = Estimate(value=best[name], low=best[f"{name}, low"], high=best[f"{name}, high"], n=4)
    assert f"\nBest decoder: {percent(best_estimate)} balanced accuracy" in out


@pytest.fixture
def really(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables from where they are, and no network."""
    monkeypatch.setattr("core.cli.arguments.load", load)

    def none(*_: object, **__: object) -> None:
        raise OSError("no network in tests")

    monkeypatch.setattr("urllib.request.OpenerDirector.open", none)


def test_a_table_that_is_nowhere_says_where_to_put_it(really: None, tmp_path: Path, capsys: Capture):
    message = refused(capsys, "attack", "bias_queries", "--dataset", "adult", "--data", tmp_path)
    assert "adult/adult.data" in message and "FAIRLEAK_DATA" in message


GUARD = "defend attriguard --dataset demo_ratings"


def test_budget_0_alone_and_no_noise_that_is_enough(run: Any):
    out, _, content = run(GUARD, "--budgets", "0", "--attackers", "logistic,forest")
    rows = content["tables"]["Accuracy by noise budget"]
    titles = [ATTACKER_TITLES[name] for name in ("logistic", "forest")]
    assert [(row["attacker"], row.get("β")) for row in rows] == [(title, 0) for title in titles] + [("Baseline", None)]
    assert "The paper" not in out and "are trained at" not in out
    out, _, content = run(GUARD, "--budgets", "1", "--margin", "100", "--attackers", "logistic")
    assert "No noise was found that" in out and "None was found for 300 of 300" in out
    assert [row["ratings changed, mean"] for row in content["tables"]["Perturbation size"]] == [None] * 4


def test_the_google_play_ratings_come_from_a_folder(tmp_path: Path, run: Any):
    arguments = ["--data", str(tmp_path), "--attackers", "network", "--budgets", "1"]
    _, _, content = run("defend attriguard --dataset ratings", *arguments)
    budgets = [row["β"] for row in content["tables"]["Accuracy by noise budget"] if "β" in row]
    assert budgets == [0.0, 1.0]


# what one setting's own bounds refuse is in test_settings
BAD = {
    "defend attriguard --dataset nowhere": "--dataset must be one of ratings, demo_ratings, demo, adult",
    "defend attriguard --dataset ratings": "cannot be downloaded; name their folder with --data or FAIRLEAK_DATA",
    "defend attriguard --dataset ratings --data /no/such/folder": "--data (or FAIRLEAK_DATA) must be a folder",
    f"{GUARD} --attribute sex": "--attribute is for tables, got it with --dataset demo_ratings",
    "defend attriguard --noise-policy add_new": "--noise-policy is for ratings, got it with --dataset demo",
    f"{GUARD} --given 0.5,0.5": "--given must come with --target given, got --target None",
    f"{GUARD} --target given": "--given must come with --target given, got --target given",
    f"{GUARD} --target given --given 0.5,0.6,0,0": "must add up to 1, got 1.1",
    "defend attriguard --csv /no/such/folder/out.csv": "--csv must be a file in a folder that exists",
    "attack bias_queries --method unmitigated --train-epsilon 2": (
        "--train-epsilon is for the method dp_id3 alone, got 2"
    ),
    f"{REVEAL} --questions 1001": "--questions must be from 0 to 1,000, got 1001",
    f"{REVEAL} --design bits": "questions must be a whole number from 0 to 1 with bits",
    "attack membership --attribute shoes": "--attribute must be one of sex, origin, age/ranges, got 'shoes'",
    "attack membership --target logistic --train-epsilons 1": "--train-epsilons is for the target dp_id3, got it",
    "attack membership --target logistic --accounting naive": "--accounting is for the target dp_id3",
    "attack membership --target logistic --depth 3": "--depth is for trees that are trained here, got it with",
    "attack membership --target audited --repeats 2": "--repeats is not for the target audited",
    "attack membership --target audited --theta 0.5": "--theta is not for the target audited",
    "attack membership --group 2": "--group must be below 2, how many there are, got 2",
    "attack membership --shadows 5": "--shadows must be an even number of at least 4, got 5.",
    "sweep --tolerances=0.1 --dataset nowhere": "--dataset must be one of demo, adult",
    "sweep --tolerances=0.1 --train-epsilon 2": "is for the method dp_id3 alone, got 2 with exponentiated_gradient.",
    "sweep --tolerances=0.1 --jobs 0": "n_jobs must be a whole number of at least 1",
    "sweep --tolerances=0.1 --store /dev/null/store": "The store must be a folder that can be written to",
    "sweep --tolerances=0.1 --magic": "unrecognized arguments: --magic",
    "attack bias_queries --set beauty=1": "--set must be KEY=VALUE with a key among dataset,",
    "attack attriguard --set plan=none.toml": "--plan must be a file that can be read",
    "attack model_card --file none.csv": "--file must be a file that can be read",
    "attack bias_queries --file none.csv": "--file must be a file that can be read",
    "attack membership --set file=none.csv": "--file must be a file that can be read",
    "attack correction --train-epsilon 2": "--train-epsilon is for the method dp_id3 alone, got 2 with exponentiated",
    "attack correction --attribute shoes": "--attribute must be one of sex, origin, age/ranges, got 'shoes'",
    "attack people --shadows 5": "shadows must be 0 or an even number of at least 4, got 5.",
    "attack beauty": "ACTION must be one of attribute, attriguard, bias_queries,",
}


@pytest.mark.parametrize("line", BAD)
def test_bad_input_is_one_sentence_and_code_3(line: str, monkeypatch: pytest.MonkeyPatch, capsys: Capture):
    monkeypatch.setattr("core.cli.arguments.load", lambda name, **_: demo_table())
    message = refused(capsys, *line.split())
    command = "attack" if line == "attack beauty" else " ".join(word for word in line.split()[:2] if word[0] != "-")
    assert BAD[line] in message and message.startswith(f"fairleak {command}: ")
