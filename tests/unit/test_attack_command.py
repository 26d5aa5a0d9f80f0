"""``fairleak attack NAME`` on a table of one's own: every study, what it lacks, and the options shared with init."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import numpy as np
import pytest

from core.__main__ import main, parser
from core.cli.attack import attack_studies
from core.studies.study import Study
from core.studies.subject import SETS_UNKNOWN
from tests import samples
from tests.refusals import refused

Capture = pytest.CaptureFixture[str]

ROLES = ("--label", "hired", "--attribute", "origin", "--favourable", "yes")

INTERVAL = r"95% CI|\d \[[−\d.]+, [−+\d.]+\]|95% lower bound"

SERVED: dict[str, tuple[str, tuple[str, ...]]] = {
    "attribute": ("imputation, without the model", ("--method", "unmitigated")),
    "attriguard": ("Baseline: always “south”", ("--budget", "0.4")),
    "correction": ("the best attacker before disclosure", ("--method", "unmitigated")),
    "measured_epsilon": ("ε = 1 promised", ("--canaries", "300", "--repeats", "2000")),
    "membership": ("random guessing", ("--shadows", "4", "--method", "unmitigated")),
    "model_card": ("Majority-class baseline", ("--people", "60")),
    "fairness": ("majority-class baseline", ()),
    "bias_queries": ("features alone", ("--questions", "6", "--people", "30", "--repeats", "4")),
    "two_models": ("alone, balanced accuracy", ()),
    "people": ("by chance alone", ("--people", "60", "--models", "2", "--shadows", "0", "--answers", "12")),
}
"""Study -> the baseline it prints, and settings that cost little."""


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of 400 people without a model."""
    path = tmp_path_factory.mktemp("own") / "people.csv"
    samples.frame(400).rename(columns={"score": "income"}).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def predicted(people: Path) -> Path:
    """The same table with a model's predicted labels."""
    frame = samples.frame(400).rename(columns={"score": "income"})
    noisy = frame["skill"] + np.random.default_rng(3).normal(size=400)
    path = people.with_name("predicted.csv")
    frame.assign(prediction=np.where(noisy > 0.2, "yes", "no")).to_csv(path, index=False)
    return path


def test_every_study_has_its_case():
    assert set(SERVED) == set(attack_studies())


@pytest.mark.parametrize("name", SERVED)
def test_a_study_on_an_own_table_prints_number_interval_and_baseline(name: str, people: Path, capsys: Capture):
    baseline, settings = SERVED[name]
    assert main(["attack", name, "--file", str(people), *ROLES, *settings, "-q"]) == 0
    printed = capsys.readouterr()
    first, second, *rest = printed.out.splitlines()
    assert first == "people.csv: 400 records; origin: south, north" and not printed.err
    assert second.startswith(f"{attack_studies()[name].title}, model ")
    assert re.search(INTERVAL, "\n".join(rest)), name
    assert baseline in printed.out


LACKING: dict[str, tuple[str, ...]] = {
    "Two models of the same records are needed; only the predictions of one are given.": ("two_models",),
    SETS_UNKNOWN: ("membership",),
    "Scores are needed; only predicted labels are given.": ("bias_queries",),
    "AttriGuard is not planned.": ("attriguard", "--budget", "0"),
    "A release is rounded or has privacy noise, got decimals 2 and epsilon 3.": (
        "model_card",
        "--decimals",
        "2",
        "--publish-epsilon",
        "3",
    ),
    "--method must be left out where the model is given, got dp_id3.": ("correction", "--method", "dp_id3"),
}
"""What a table of predicted labels cannot serve -> the study and its settings."""


@pytest.mark.parametrize("sentence", LACKING)
def test_a_table_that_does_not_serve_a_study_is_one_sentence(sentence: str, predicted: Path, capsys: Capture):
    name, *settings = LACKING[sentence]
    message = refused(capsys, "attack", name, "--file", str(predicted), *ROLES, *settings, "-q")
    assert message == f"fairleak attack {name}: {sentence}\n"


def test_given_predictions_are_attacked_at_the_tolerance_they_keep(predicted: Path, tmp_path: Path):
    def tolerance(*settings: str) -> float:
        path = tmp_path / "found.json"
        line = ["attack", "fairness", "--file", str(predicted), *ROLES, "-q", "--json", str(path)]
        assert main([*line, *settings]) == 0
        content = json.loads(path.read_text("utf-8"))
        unfairness = next(row for row in content["tables"]["Four fairness metrics"] if row["audited"] == "yes")
        assert settings[-1] == "0.001" or unfairness["unfairness"] <= content["model"]["tolerance"]
        return float(content["model"]["tolerance"])

    parity, equality = (tolerance("--metric", name) for name in ("statistical_parity", "predictive_equality"))
    assert parity != equality and tolerance("--tolerance", "0.001") == 0.001


def test_an_unanswered_question_ends_as_in_an_audit(people: Path, tmp_path: Path, capsys: Capture):
    columns = ROLES[:4]
    message = refused(capsys, "attack", "fairness", "--file", str(people), *columns, "-q")
    plan = people.with_name("open.toml")
    assert main(["init", "--file", str(people), *columns, "-o", str(plan)]) == 0
    capsys.readouterr()
    audited = refused(capsys, "audit", str(plan), "--out", str(tmp_path / "out"))
    sentence = audited.splitlines()[-1].removeprefix("fairleak audit: ")
    assert sentence.startswith("data.favourable: Which value of hired is good for the person?")
    assert message == f"fairleak attack fairness: {sentence}\n"


@pytest.mark.long
def test_a_plan_gives_the_same_as_its_file(people: Path, tmp_path: Path, capsys: Capture):
    plan = people.with_name("plan.toml")
    assert main(["init", "--file", str(people), *ROLES, "-o", str(plan)]) == 0
    capsys.readouterr()
    printed = []
    for table in (["--plan", str(plan)], ["--file", str(people), *ROLES], [f"--set=plan={plan}"]):
        assert main(["attack", "fairness", *table, "-q"]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] == printed[2]
    assert main(["attack", "attriguard", "--plan", str(plan), "-q"]) == 0  # which the plan leaves out
    assert "Budget β = 0.5 changed columns" in capsys.readouterr().out
    both = refused(capsys, "attack", "attriguard", "--plan", str(plan), "--label", "hired")
    assert both == "fairleak attack attriguard: --label must be left out with --plan, got 'hired'.\n"


def options(*command: str) -> dict[str, tuple[str, ...]]:
    """Return the long options of a command -> what is declared of each."""
    command_parser: argparse.ArgumentParser = parser()
    for word in command:
        (inner,) = (action for action in command_parser._actions if isinstance(action, argparse._SubParsersAction))
        command_parser = inner.choices[word]
    return {
        flag: (str(action.help), str(action.metavar))
        for action in command_parser._actions
        for flag in action.option_strings
    }


def test_attack_and_experiment_have_the_table_options_of_init():
    shared = {flag: texts for flag, texts in options("init").items() if flag not in ("-o", "--output")}
    assert {"--dataset", "--file", "--attribute", "--label", "--positive", "--favourable", "--model"} < set(shared)
    for command in (("attack", "correction"), ("attack", "people"), ("experiment",)):
        assert shared.items() <= options(*command).items(), command


def test_an_experiment_about_an_own_table_is_kept_in_memory(people: Path, tmp_path: Path, capsys: Capture):
    line = ["experiment", "--vary", "model.method=unmitigated", "--studies", "fairness", "--seeds", "0", *ROLES, "-q"]
    assert main([*line, "--file", str(people)]) == 0
    assert "unmitigated" in capsys.readouterr().out
    stored = refused(capsys, *line, "--file", str(people), "--store", str(tmp_path / "store"))
    assert "must stay in memory, got a store on disk." in stored


def test_settings_of_a_command_are_settings_of_the_study():
    studies: list[Study[object, object]] = list(attack_studies().values())
    assert {study.name for study in studies if study.command_defaults} == {"attriguard", "bias_queries", "two_models"}
    for study in studies:
        study.settings(**study.command_defaults)
