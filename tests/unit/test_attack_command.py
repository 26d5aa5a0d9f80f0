"""``fairleak attack NAME`` on a table of one's own: every study, what it lacks, and the options shared with init."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import numpy as np
import pytest

from core.__main__ import main, parser
from core.cli.attack import StudyParser, attack_studies
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


def test_tables_of_more_than_forty_rows_are_in_files_alone(
    people: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
):
    tables = {f"Of {n}": [{"row": f"{n}-{row}"} for row in range(n)] for n in (40, 41)}
    monkeypatch.setattr(type(attack_studies()["fairness"]), "tables", lambda *_: tables)
    assert main(["attack", "fairness", "--file", str(people), *ROLES, "--method", "unmitigated", "-q"]) == 0
    printed = capsys.readouterr().out
    assert "40-39" in printed and "41-0" not in printed
    assert printed.splitlines()[-1].endswith(": Of 41.")


LACKING: dict[str, str] = {
    "two_models": "Two models of the same records are needed; only the predictions of one are given.",
    "membership": SETS_UNKNOWN,
    "bias_queries": "Scores are needed; only predicted labels are given.",
    "attriguard --budget 0": "AttriGuard is not planned.",
    "model_card --decimals 2 --publish-epsilon 3": (
        "A release is rounded or has privacy noise, got decimals 2 and epsilon 3."
    ),
    "correction --method dp_id3": "--method must be left out where the model is given, got dp_id3.",
}
"""Study and settings -> why a table of predicted labels cannot serve it."""


@pytest.mark.parametrize("command", LACKING)
def test_a_table_that_does_not_serve_a_study_is_one_sentence(command: str, predicted: Path, capsys: Capture):
    name, *settings = command.split()
    message = refused(capsys, "attack", name, "--file", str(predicted), *ROLES, *settings, "-q")
    assert message == f"fairleak attack {name}: {LACKING[command]}\n"


def test_given_predictions_are_attacked_at_the_tolerance_they_keep(predicted: Path, tmp_path: Path):
    path = tmp_path / "found.json"
    line = ["attack", "fairness", "--file", str(predicted), *ROLES, "-q", "--json", str(path)]
    for settings in (["--metric", "statistical_parity"], ["--metric", "predictive_equality"]):
        assert main([*line, *settings]) == 0
        content = json.loads(path.read_text("utf-8"))
        audited, _ = [row for row in content["tables"]["Four fairness metrics"] if row["audited"] == "yes"]
        assert audited["unfairness"] <= content["model"]["tolerance"] < audited["unfairness"] + 0.001


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
    both = refused(capsys, "attack", "attriguard", "--plan", str(plan), "--label", "hired")
    assert both == "fairleak attack attriguard: --label must be left out with --plan, got 'hired'.\n"


@pytest.mark.parametrize(
    ("assignments", "quiet", "forest"),
    [
        ("quiet=true forest=false", True, False),
        ("quiet=false forest=true", False, True),
    ],
)
def test_set_turns_a_flag_on_or_off(assignments: str, quiet: bool, forest: bool, capsys: Capture):
    flags = StudyParser(prog="attack")
    flags.add_argument("-q", "--quiet", action="store_true")
    flags.add_argument("--forest", action=argparse.BooleanOptionalAction)
    arguments = flags.parse_args([f"--set={word}" for word in assignments.split()])
    assert (arguments.quiet, arguments.forest) == (quiet, forest)
    for key in ("quiet", "forest"):
        with pytest.raises(SystemExit):
            flags.parse_args(["--set", f"{key}=maybe"])
        assert f"{key} must be true or false, got 'maybe'" in capsys.readouterr().err


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
