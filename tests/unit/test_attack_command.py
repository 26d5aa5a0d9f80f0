"""``fairleak attack NAME`` on a table of one's own: every study, what it lacks, and the options shared with init."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.__main__ import main
from core.cli.attack import StudyParser, attack_studies
from core.studies.subject import SETS_UNKNOWN
from tests import samples
from tests.refusals import refused

ROLES = ("--label", "hired", "--attribute", "origin", "--favourable", "yes")
INTERVAL = r"95% CI|\d \[[−\d.]+, [−+\d.]+\]|95% lower bound"

SERVED = {
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
def people(tmp_path_factory) -> Path:
    """A table of 400 people without a model."""
    path = tmp_path_factory.mktemp("own") / "people.csv"
    samples.frame(400).rename(columns={"score": "income"}).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def predicted(people) -> Path:
    """The same table with a model's predicted labels."""
    frame = pd.read_csv(people)
    noisy = frame["skill"] + np.random.default_rng(3).normal(size=400)
    path = people.with_name("predicted.csv")
    frame.assign(prediction=np.where(noisy > 0.2, "yes", "no")).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("name", SERVED)
def test_a_study_on_an_own_table_prints_number_interval_and_baseline(name, people, capsys):
    baseline, settings = SERVED[name]
    assert main(["attack", name, "--file", str(people), *ROLES, *settings, "-q"]) == 0
    printed = capsys.readouterr()
    first, second, *rest = printed.out.splitlines()
    assert first == "people.csv: 400 records; origin: south, north" and not printed.err
    assert second.startswith(f"{attack_studies()[name].title}, model ")
    assert re.search(INTERVAL, "\n".join(rest)), name
    assert baseline in printed.out


def test_tables_of_more_than_forty_rows_are_in_files_alone(people, monkeypatch, capsys):
    tables = {f"Of {n}": [{"row": f"{n}-{row}"} for row in range(n)] for n in (40, 41)}
    monkeypatch.setattr(type(attack_studies()["fairness"]), "tables", lambda *_: tables)
    assert main(["attack", "fairness", "--file", str(people), *ROLES, "--method", "unmitigated", "-q"]) == 0
    printed = capsys.readouterr().out
    assert "40-39" in printed and "41-0" not in printed
    assert printed.splitlines()[-1].endswith(": Of 41.")


LACKING = {
    "two_models": "Two models of the same records are needed; only the predictions of one are given.",
    "membership": SETS_UNKNOWN,
    "bias_queries": "Scores are needed; only predicted labels are given.",
    "attriguard --budget 0": "AttriGuard is not planned.",
    "model_card --decimals 2 --publish-epsilon 3": "A release is rounded or has privacy noise, got decimals 2 and",
    "correction --method dp_id3": "--method must be left out where the model is given, got dp_id3.",
}
"""Study and settings -> why a table of predicted labels cannot serve it."""


@pytest.mark.parametrize("command", LACKING)
def test_a_table_that_does_not_serve_a_study_is_one_sentence(command, predicted, capsys):
    name, *settings = command.split()
    message = refused(capsys, "attack", name, "--file", str(predicted), *ROLES, *settings, "-q")
    assert message.startswith(f"fairleak attack {name}: {LACKING[command]}")


@pytest.mark.parametrize("metric", ["statistical_parity", "predictive_equality"])
def test_given_predictions_are_attacked_at_the_tolerance_they_keep(metric, predicted, tmp_path):
    path = tmp_path / "found.json"
    line = ["attack", "fairness", "--file", str(predicted), *ROLES, "-q", "--json", str(path)]
    assert main([*line, "--metric", metric]) == 0
    content = json.loads(path.read_text("utf-8"))
    audited, _ = [row for row in content["tables"]["Four fairness metrics"] if row["audited"] == "yes"]
    assert audited["unfairness"] <= content["model"]["tolerance"] < audited["unfairness"] + 0.001


@pytest.mark.long
def test_a_plan_gives_the_same_as_its_file(people, tmp_path, capsys):
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


@pytest.mark.parametrize("quiet", [True, False])
def test_set_turns_a_flag_on_or_off(quiet, capsys):
    flags = StudyParser(prog="attack")
    flags.add_argument("-q", "--quiet", action="store_true")
    flags.add_argument("--forest", action=argparse.BooleanOptionalAction)
    arguments = flags.parse_args([f"--set=quiet={quiet}".lower(), f"--set=forest={not quiet}".lower()])
    assert (arguments.quiet, arguments.forest) == (quiet, not quiet)
    for key in ("quiet", "forest"):
        with pytest.raises(SystemExit):
            flags.parse_args(["--set", f"{key}=maybe"])
        assert f"{key} must be true or false, got 'maybe'" in capsys.readouterr().err
