"""``fairleak choose``: real models and real attacks on planted answers, a time budget, resume, bad input."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from core.auditing import AuditPlan, read_plan
from core.experiments.choose import CandidateSet, ChooseSettings, candidate_configs, candidates, measure_all
from core.experiments.choose.candidates import in_choosing_half, measured_candidate
from core.experiments.engine import MemoryStore
from core.studies.subject import AuditConfig
from tests import samples
from tests.refusals import exit_code, refused
from tests.unit.choose.candidate_samples import SAFE, point

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

LIMIT = """[[limit]]
check = "{}"
value = {}
author = "test"
date = "2026-01-01"
rationale = "test"
"""
POLICY = 'schema = 1\nname = "planted"\nversion = "1"\nauthor = "test"\ndate = "2026-01-01"\nrationale = "test"\n'
POLICY += LIMIT.format("attribute_excess", 0.05) + LIMIT.format("unfairness", 0.25)
COLUMNS = ("leaks", "fair", "coarse")


@pytest.fixture
def folder(tmp_path):
    """Plans for three columns of answers: the best gives the group away, the next is fair, the last is random."""
    people, rng = samples.frame(4000), np.random.default_rng(1)
    hired, north = people["hired"] == "yes", people["origin"] == "north"
    answers = {
        "leaks": np.where(rng.random(4000) < 0.45, hired, north),
        "fair": np.where(rng.random(4000) < 0.6, hired, rng.random(4000) < 0.5),
        "coarse": rng.random(4000) < 0.5,
    }
    plans = {
        name: PLAN.format(column=name, excluded=", ".join(f'"{column}"' for column in answers if column != name))
        for name in answers
    }
    plans["strict"] = f'policy = "policy.toml"{plans["fair"]}'
    train = PLAN.format(column="", excluded=", ".join(f'"{name}"' for name in answers))
    plans["train"] = train.replace('prediction = ""', "").replace('"predictions"', '"train"\nseed = 9')
    for name, text in {**plans, "policy": POLICY}.items():
        (tmp_path / f"{name}.toml").write_text(text)
    people.assign(**{name: answer.astype(int) for name, answer in answers.items()}).to_csv(
        tmp_path / "people.csv", index=False
    )
    return tmp_path


def chosen(folder, *more, columns=COLUMNS):
    plans = [folder / f"{name}.toml" for name in columns]
    policy = ("--policy", folder / "policy.toml")
    return exit_code("choose", *plans, *policy, "--store", "none", "--least-accuracy", "0.55", *more)


@pytest.mark.long
def test_of_planted_answers_the_fair_ones_are_recommended(folder, capsys):
    out, choice = folder / "chosen.toml", folder / "choice.json"
    assert chosen(folder, "-o", out, "--json", choice) == 0
    assert read_plan(out.read_text(), name="plan").config.roles.prediction == "fair"
    assert json.loads(choice.read_text())["model"] == "fair"
    audit = ["--choice", choice, "--no-self-test", "--out", folder / "report", "--policy", folder / "policy.toml"]
    assert exit_code("audit", out, *audit) < 3
    assert "How this model was chosen: Choose fair" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("choose", "none.toml"), "PLAN"),
        (("choose", "fair.toml", "strict.toml"), "under one policy alone, got plans with several"),
        (("choose", "fair.toml", "coarse.toml", "--depths", "4"), "--depths must be left out where plans say it"),
        (("choose", "--policy", "none.toml"), "--policy"),
        (("audit", "fair.toml", "--out", "x", "--choice", "policy.toml"), "--choice must be a file of fairleak choose"),
    ],
)
def test_commands_refuse(arguments, sentence, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    assert sentence in refused(capsys, *arguments)


@pytest.fixture
def slow(monkeypatch):
    """Models that take a minute of a clock of their own each: how many were measured, and what they leak."""
    slow = SimpleNamespace(measured=0, leaks=SAFE)

    def measure(config, dataset, **_):
        slow.measured += 1
        settings = {"seed": config.seed, "method": config.method, "depth": config.depth}
        return point(slow.measured, 0.7, slow.leaks, np.random.default_rng(0), **settings)

    monkeypatch.setattr(candidates, "measured_candidate", measure)
    monkeypatch.setattr(candidates, "time", SimpleNamespace(monotonic=lambda: 60.0 * slow.measured))
    return slow


def test_a_time_budget_ends_it_and_the_rest_follows_later(slow):
    store = MemoryStore()
    configs = candidate_configs(AuditPlan(), ChooseSettings(), (1,))
    sets = [CandidateSet(configs, samples.dataset(400), AuditPlan())]
    assert len(list(measure_all(sets, seconds=150.0, store=store))) == 3 == slow.measured
    for _ in range(2):  # nothing is measured again
        assert len(list(measure_all(sets, store=store))) == len(configs) == slow.measured


FEW = ["--methods", "unmitigated", "--depths", "2", "--store", "none"]


@pytest.mark.parametrize(("more", "seed"), [((), 9), (("--seeds", "3"), 3)])
def test_choose_trains_with_the_seed_of_the_plan_or_of_the_option(more, seed, slow, folder):
    out = folder / "chosen.toml"
    assert exit_code("choose", folder / "train.toml", *FEW, "-o", out, *more) < 3
    assert read_plan(out.read_text(), name="plan").config.seed == seed


@pytest.mark.parametrize(("output", "elsewhere"), [("chosen.toml", False), ("below/chosen.toml", True)])
def test_choose_says_to_move_a_plan_that_is_not_beside_its_files(output, elsewhere, slow, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    Path("below").mkdir()
    assert exit_code("choose", "train.toml", *FEW, "-o", output) < 3
    assert ("move it there" in capsys.readouterr().err) == elsewhere


def test_choose_ends_with_1_where_it_recommends_none(slow, folder):
    slow.leaks = {**SAFE, "attribute_excess": 0.2}
    assert chosen(folder, *FEW, columns=("train",)) == 1


@pytest.mark.parametrize(("group", "label"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_in_choosing_half_is_half_of_each_cell(group, label):
    data = samples.dataset(600)
    cell = (data.sensitive == group) & (data.labels == label)
    assert abs(int(in_choosing_half(data)[cell].sum()) - cell.sum() / 2) <= 1


@pytest.mark.long
def test_candidate_measure_has_two_halves():
    config = AuditConfig(method="unmitigated", tolerance=0.0, depth=3)
    candidate = measured_candidate(config, samples.dataset(600), plan=AuditPlan())
    assert candidate.choosing.accuracy.n + candidate.judging.accuracy.n == candidate.majority.n
    for side in (candidate.choosing, candidate.judging):
        assert side.correct.sum() == round(side.accuracy.value * side.accuracy.n)
        assert {"attribute_excess", "membership_auc", "unfairness"} <= {*side.checks}
    assert candidate.choosing.checks["attribute_excess"] != candidate.judging.checks["attribute_excess"]
