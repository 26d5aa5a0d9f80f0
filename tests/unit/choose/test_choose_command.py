"""``fairleak choose``: real models and real attacks on planted answers, a time budget, resume, bad input."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from core.__main__ import main
from core.auditing import AuditPlan, read_plan
from core.experiments.choose import CandidateSet, ChooseSettings, candidate_configs, measure_all
from core.experiments.choose.candidates import CandidateMeasure, in_choosing_half
from core.experiments.engine import MemoryStore
from core.studies.subject import AuditConfig
from tests import samples
from tests.unit.choose.candidate_samples import SAFE, point

Capture = pytest.CaptureFixture[str]

PLAN = """
[data]
file = "people.csv"
label = "hired"
positive = "yes"
favourable = "yes"
sensitive = "origin"
group = ["north"]
excluded = [{excluded}]
prediction = "{column}"
[model]
kind = "predictions"
tolerance = 0.2
[outputs]
released = "labels"
"""

POLICY = """
schema = 1
name = "planted"
version = "1"
author = "test"
date = "2026-01-01"
rationale = "test"
[[limit]]
check = "attribute_excess"
value = 0.05
author = "test"
date = "2026-01-01"
rationale = "test"
[[limit]]
check = "unfairness"
value = 0.25
author = "test"
date = "2026-01-01"
rationale = "test"
"""

COLUMNS = ("leaks", "fair", "coarse")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Plans for three columns of answers: the best gives the group away, the next is fair, the last is random."""
    people, rng = samples.frame(4000), np.random.default_rng(1)
    hired, north = people["hired"] == "yes", people["origin"] == "north"
    answers = {
        "leaks": np.where(rng.random(4000) < 0.45, hired, north),
        "fair": np.where(rng.random(4000) < 0.6, hired, rng.random(4000) < 0.5),
        "coarse": rng.random(4000) < 0.5,
    }
    for name, answer in answers.items():
        people[name] = answer.astype(int)
        excluded = ", ".join(f'"{column}"' for column in COLUMNS if column != name)
        (tmp_path / f"{name}.toml").write_text(PLAN.format(column=name, excluded=excluded))
    fair = (tmp_path / "fair.toml").read_text()
    (tmp_path / "strict.toml").write_text('policy = "policy.toml"' + fair)
    train = PLAN.format(column="", excluded='"leaks", "fair", "coarse"').replace('prediction = ""', "")
    train = train.replace('"predictions"', '"train"\nseed = 9')
    (tmp_path / "train.toml").write_text(train)
    people.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "policy.toml").write_text(POLICY)
    monkeypatch.setattr("core.cli.arguments.default_cache_folder", lambda: tmp_path / "cache" / "data")
    monkeypatch.delenv("FAIRLEAK_DATA", raising=False)
    return tmp_path


def chosen(folder: Path, *more: str, columns: tuple[str, ...] = COLUMNS) -> int:
    plans = [str(folder / f"{name}.toml") for name in columns]
    policy = ["--policy", str(folder / "policy.toml")]
    return main(["choose", *plans, *policy, "--store", "none", "--least-accuracy", "0.55", *more])


@pytest.mark.long
def test_of_planted_answers_the_fair_ones_are_recommended(folder: Path, capsys: Capture):
    out = folder / "chosen.toml"
    assert chosen(folder, "-o", str(out), "--json", str(folder / "choice.json")) == 0
    output, noted = capsys.readouterr()
    assert "Choose fair: best of 1 within all limits, accurate enough." in output and "move it there" not in noted
    assert f"fairleak audit chosen.toml --policy {folder / 'policy.toml'} runs all attacks on it." in noted
    assert read_plan(out.read_text(), name="plan").config.roles.prediction == "fair"  # type: ignore[union-attr]
    document = json.loads((folder / "choice.json").read_text())
    assert document["model"] == "fair" and document["outcome"] == "recommended"
    audit = ["--policy", str(folder / "policy.toml"), "--choice", str(folder / "choice.json"), "--no-self-test"]
    assert main(["audit", str(folder / "coarse.toml"), "--out", str(folder / "other"), *audit]) == 3
    assert (
        "--choice must be about the data, model and outputs that PLAN says, got others: fair."
        in capsys.readouterr().err
    )
    (folder / "lax.toml").write_text(POLICY.replace("0.05", "1.0"))
    lax = [*audit, "--policy", str(folder / "lax.toml")]
    assert main(["audit", str(out), "--out", str(folder / "other"), *lax]) == 3
    assert "--choice must be by the audit's policy (planted), got one by another policy." in capsys.readouterr().err
    assert main(["audit", str(out), "--out", str(folder / "report"), *audit]) < 3
    assert "How this model was chosen: Choose fair" in capsys.readouterr().out


@pytest.mark.long
def test_a_table_of_ones_own_needs_no_store(folder: Path, capsys: Capture):
    plans = [str(folder / f"{name}.toml") for name in ("fair", "coarse")]
    (folder / "other").mkdir()
    arguments = ["--policy", str(folder / "policy.toml"), "-o", str(folder / "other" / "chosen.toml")]
    assert main(["choose", *plans, *arguments, "--least-accuracy", "0.55"]) == 0
    output, noted = capsys.readouterr()
    assert "Choose fair" in output and "It names files beside the plan it was made of: move it there." in noted
    assert not list((folder / "cache").rglob("*.json*"))


@pytest.mark.long
def test_choose_trains_with_the_seed_of_the_plan_or_of_the_option(folder: Path):
    out, plan = folder / "chosen.toml", str(folder / "train.toml")
    same = ["--methods", "unmitigated", "--depths", "2", "--store", "none", "-o", str(out)]
    for more, seed in (((), 9), (("--seeds", "3"), 3)):
        assert main(["choose", plan, *same, *more]) < 3
        assert read_plan(out.read_text(), name="plan").config.seed == seed


@pytest.mark.long
def test_of_answers_that_leak_none_is_recommended(folder: Path, capsys: Capture):
    assert chosen(folder, columns=("leaks", "coarse")) == 1
    assert "No model" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("choose", "none.toml"), "PLAN"),
        (("choose", "fair.toml", "strict.toml"), "under one policy alone, got plans with several"),
        (("choose", "--policy", "none.toml"), "--policy"),
        (("audit", "fair.toml", "--out", "x", "--choice", "policy.toml"), "--choice must be a file of fairleak choose"),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: tuple[str, ...], sentence: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
):
    monkeypatch.chdir(folder)
    assert main(list(arguments)) == 3
    message = capsys.readouterr().err.strip()
    assert re.search(sentence, message) and "Traceback" not in message and message.count("\n") == 0


class Slow:
    """Takes a minute of a clock of its own for each model."""

    def __init__(self) -> None:
        self.measured = 0

    def __call__(self, measure: CandidateMeasure, config: AuditConfig, dataset: Any) -> Any:
        self.measured += 1
        return point(self.measured, 0.7, SAFE, np.random.default_rng(0), method=config.method, depth=config.depth)


def test_a_time_budget_ends_it_and_the_rest_follows_later(monkeypatch: pytest.MonkeyPatch):
    slow, store = Slow(), MemoryStore()
    monkeypatch.setattr(CandidateMeasure, "__call__", lambda self, config, data: slow(self, config, data))
    monkeypatch.setattr(
        sys.modules["core.experiments.choose.candidates"],
        "time",
        SimpleNamespace(monotonic=lambda: 60.0 * slow.measured),
    )
    data = samples.dataset(400)
    configs = candidate_configs(AuditPlan(), ChooseSettings(), (1,))
    sets = [CandidateSet(configs, data, AuditPlan())]
    first = list(measure_all(sets, seconds=150.0, store=store))
    assert len(first) == 3 == slow.measured
    assert len(list(measure_all(sets, store=store))) == len(configs) == slow.measured
    assert len(list(measure_all(sets, store=store))) == len(configs) == slow.measured  # nothing is measured again


@pytest.mark.long
def test_both_halves_hold_everybody_once_and_differ():
    data = samples.dataset(600)
    half = in_choosing_half(data)
    assert abs(int(half.sum()) - 300) <= 2
    for group in (0, 1):
        for label in (0, 1):
            cell = (data.sensitive == group) & (data.labels == label)
            assert abs(int(half[cell].sum()) - cell.sum() / 2) <= 1
    candidate = CandidateMeasure(AuditPlan())(AuditConfig(method="unmitigated", tolerance=0.0, depth=3), data)
    assert candidate.choosing.accuracy.n + candidate.judging.accuracy.n == candidate.majority.n
    for side in (candidate.choosing, candidate.judging):
        assert side.correct.sum() == round(side.accuracy.value * side.accuracy.n)
        assert {"attribute_excess", "membership_auc", "unfairness"} <= {*side.checks}
    assert candidate.choosing.checks["attribute_excess"] != candidate.judging.checks["attribute_excess"]
