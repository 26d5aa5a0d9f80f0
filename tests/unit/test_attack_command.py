"""``fairleak attack NAME`` on a table of one's own: every study, what it lacks, and the options shared with init."""

import argparse
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.cli.attack import StudyParser, attack_studies
from core.studies.bias_queries import statistical_parity_gap
from core.studies.subject import SETS_UNKNOWN
from tests import desk_files, samples
from tests.hermetic import ROOT
from tests.input_cases import CASES
from tests.refusals import exit_code, refused

ROLES = ("--label", "hired", "--attribute", "origin", "--favourable", "yes")

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
def people(tmp_path_factory):
    path = tmp_path_factory.mktemp("own") / "people.csv"
    samples.frame(400).rename(columns={"score": "income"}).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def predicted(people):
    frame = pd.read_csv(people)
    noisy = frame["skill"] + np.random.default_rng(3).normal(size=400)
    path = people.with_name("predicted.csv")
    frame.assign(prediction=np.where(noisy > 0.2, "yes", "no")).to_csv(path, index=False)
    return path


SLOW = {"attribute", "people"}


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.long] * (name in SLOW)) for name in SERVED])
def test_a_study_on_an_own_table_prints_number_interval_and_baseline(name, people, capsys):
    baseline, settings = SERVED[name]
    assert exit_code("attack", name, "--file", people, *ROLES, *settings, "-q") == 0
    printed = capsys.readouterr()
    first, second, *rest = printed.out.splitlines()
    assert first == "people.csv: 400 records; origin: south, north" and not printed.err
    assert second.startswith(f"{attack_studies()[name].title}, model ")
    assert re.search(r"95% CI|\d \[[−\d.]+, [−+\d.]+\]|95% lower bound", "\n".join(rest)), name
    assert baseline in printed.out


def test_tables_of_more_than_forty_rows_are_in_files_alone(people, monkeypatch, capsys):
    tables = {f"Of {n}": [{"row": f"{n}-{row}"} for row in range(n)] for n in (40, 41)}
    monkeypatch.setattr(type(attack_studies()["fairness"]), "tables", lambda *_: tables)
    assert exit_code("attack", "fairness", "--file", people, *ROLES, "--method", "unmitigated", "-q") == 0
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
    message = refused(capsys, "attack", name, "--file", predicted, *ROLES, *settings, "-q")
    assert message.startswith(f"fairleak attack {name}: {LACKING[command]}")


@pytest.mark.parametrize("command", ["attack fairness", "experiment --studies fairness"])
def test_people_in_several_sets_are_refused_until_somebody_says_who_is_who(command, tmp_path, capsys):
    CASES["two_rows_a_person"].frame().to_csv(tmp_path / "people.csv", index=False)
    message = refused(capsys, *command.split(), "--file", tmp_path / "people.csv", "--favourable", "yes", "-q")
    assert "several rows, so that the test is not of strangers" in message


@pytest.mark.parametrize("metric", ["statistical_parity", "predictive_equality"])
def test_given_predictions_are_attacked_at_the_tolerance_they_keep(metric, predicted, tmp_path):
    path = tmp_path / "found.json"
    options = ("--metric", metric, "-q", "--json", path)
    assert exit_code("attack", "fairness", "--file", predicted, *ROLES, *options) == 0
    content = json.loads(path.read_text("utf-8"))
    audited, _ = [row for row in content["tables"]["Four fairness metrics"] if row["audited"] == "yes"]
    assert audited["unfairness"] <= content["model"]["tolerance"] < audited["unfairness"] + 0.001


@pytest.mark.long
def test_a_plan_gives_the_same_as_its_file(people, tmp_path, capsys):
    plan = people.with_name("plan.toml")
    assert exit_code("init", "--file", people, *ROLES, "-o", plan) == 0
    capsys.readouterr()
    printed = []
    for table in (["--plan", plan], ["--file", people, *ROLES], [f"--set=plan={plan}"]):
        assert exit_code("attack", "fairness", *table, "-q") == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] == printed[2]
    both = refused(capsys, "attack", "attriguard", "--plan", plan, "--label", "hired")
    assert both == "fairleak attack attriguard: --label must be left out with --plan, got 'hired'.\n"


@pytest.mark.parametrize(("flags", "announced"), [((), True), (("--questions", "4"), False)])
def test_a_plan_that_leaves_a_study_out_is_told_what_is_run(flags, announced, people, capsys, monkeypatch):
    monkeypatch.setattr(type(attack_studies()["bias_queries"]), "command_defaults", {"questions": 3})
    plan = people.with_name(f"plan {announced}.toml")
    assert exit_code("init", "--file", people, *ROLES, "-o", plan) == 0
    small = ("--people", "30", "--repeats", "2", "-q")
    assert exit_code("attack", "bias_queries", "--plan", plan, *flags, *small) == 0
    line = "The plan has questions = 0, which leaves this study out: it is run with questions = 3."
    assert (line in capsys.readouterr().out.splitlines()) == announced


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


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Run commands in a folder with a test set and two models, with a ledger in the user's data folder."""
    (tmp_path / "people.csv").write_bytes(desk_files.test_set())
    for seed, name in enumerate(("one", "two")):
        (tmp_path / f"{name}.csv").write_bytes(desk_files.predictions(seed=seed))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("FAIRLEAK_LEDGER", raising=False)

    def command(text):
        code, output = exit_code("desk", *shlex.split(text)), capsys.readouterr()
        return code, output.out, output.err

    return command


def test_an_answer_is_near_the_truth_and_its_record_fails_once_it_is_changed(run, tmp_path):
    register = "register loans --test-set people.csv --id person --attribute sex --advantaged Male --budget 100"
    _, _, err = run(f"{register} --label repaid --positive yes")
    assert err == f"The ledger is '{tmp_path / 'data' / 'fairleak' / 'ledger.sqlite'}'.\n"
    ask = "ask loans --test-set people.csv --predictions one.csv --answer-epsilon 40 --asker me"
    _, out, err = run(ask)
    gap = float(re.search(r": ([+-]\d\.\d{4}) \[", out).group(1))
    people, model = (pd.read_csv(f"{name}.csv", index_col="person") for name in ("people", "one"))
    truth = statistical_parity_gap(model.score[people.index], people.sex == "Male")[0]
    assert gap == pytest.approx(truth, abs=0.01)
    assert run(f"{ask.replace('40', '60').replace('one', 'two')} --quote")[0] == 1
    _, seal, _ = run("export record.jsonl")
    code, out, _ = run(f"verify record.jsonl --noted {seal[:32]}")
    assert code == 0 and "It contains the noted hash." in out
    text = Path("record.jsonl").read_text("utf-8")
    Path("record.jsonl").write_text(text.replace('"asker":"me"', '"asker":"her"'), "utf-8")
    code, out, err = run("verify record.jsonl")
    assert (code, err) == (1, "fail\n") and "Verification failed: the hash of entry 3" in out


def test_the_documented_sample_can_be_followed(run):
    """The files and commands of the page work as they stand there, in their order."""
    page = (ROOT / "docs" / "how-to" / "query-desk.md").read_text("utf-8")
    blocks = re.findall(r"^```\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    for name, block in zip(("people.csv", "model.csv"), blocks[:2], strict=True):
        assert block.startswith("person,") and block.count("\n") == 5
        Path(name).write_text(block, "utf-8")
    lines = [line.partition(" desk ")[2] for line in blocks[2].splitlines()]
    assert [line.split()[0] for line in lines] == ["register", "ask", "status", "export", "verify"]
    for line in lines:
        code, out, err = run(line)
        assert code == 0 and out, err
