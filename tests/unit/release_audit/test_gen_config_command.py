"""``fairleak init``: what it guesses, what it is told, and what the plan it prints promises."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io

from core.__main__ import main
from core.policy import default_policy, predictions_policy
from core.release_audit import OutputsPlan, catalogue_plan, kept_tolerance, load_model, load_table, read_plan
from core.release_audit.inputs import dataset_of
from core.release_audit.run import audited_of
from core.report import from_json
from tests import model_samples, samples

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def no_folders_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("core.cli.audit.default_cache_folder", lambda: tmp_path / "cache" / "datasets")
    monkeypatch.delenv("FAIRLEAK_DATA", raising=False)


def test_gen_config_takes_the_columns_it_is_told(tmp_path: Path, capsys: Capture):
    people = samples.frame(300).rename(columns={"origin": "Wohnort", "hired": "Ergebnis"}).assign(flag=[1, 0] * 150)
    people.to_csv(tmp_path / "people.csv", index=False)
    asked = ["init", "--file", str(tmp_path / "people.csv"), "--attribute", "Wohnort"]
    assert main([*asked, "--label", "Ergebnis"]) == 0
    told = capsys.readouterr()
    roles = read_plan(told.out).config.roles
    assert roles is not None and (roles.label, roles.sensitive, roles.group) == ("Ergebnis", "Wohnort", ("north",))
    assert told.err.startswith("Groups are guesses")
    assert main(asked) == 0
    told = capsys.readouterr()
    guessed = read_plan(told.out).config.roles
    assert guessed is not None and (guessed.label, guessed.sensitive) == ("flag", "Wohnort")
    assert told.err.startswith("Label and groups are guesses")


def given_people(n: int) -> pd.DataFrame:
    """Return people with the answers of somebody's model, which prefers one group."""
    people = samples.frame(n)
    p = 1 / (1 + np.exp(-1.5 * people["skill"].to_numpy() - (people["origin"] == "north").to_numpy()))
    return people.assign(prediction=np.where(p > 0.5, "yes", "no"))


def test_gen_config_promises_what_the_predictions_keep_to(tmp_path: Path, capsys: Capture):
    """And the audit by that plan finds the promise true, one step below it false."""
    given_people(900).to_csv(tmp_path / "people.csv", index=False)
    assert main(["init", "--file", str(tmp_path / "people.csv")]) == 0
    told = capsys.readouterr()
    plan = read_plan(told.out)
    table = load_table(plan, folder=tmp_path, data_folder=None, cache_folder=None)
    achieved, promised = audited_of(plan, table).model.unfairness_train, plan.config.tolerance
    assert achieved > 0.05 and promised - 0.001 < achieved <= promised == round(promised, 3)
    assert "# Guessed: the smallest, in steps of 0.001, that the predictions keep to" in told.out
    assert promised == kept_tolerance(dataset_of(plan, table), plan.config)


def test_a_model_file_promises_what_its_answers_keep_to(tmp_path: Path, capsys: Capture):
    people = model_samples.people().assign(sex=["F" if i % 3 else "M" for i in range(len(model_samples.people()))])
    people.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "model.skops").write_bytes(skops.io.dumps(model_samples.pipeline(texts=False)))
    asked = ["init", "--file", str(tmp_path / "people.csv"), "--model", str(tmp_path / "model.skops")]
    assert main([*asked, "--label", "approved"]) == 0
    plan = read_plan(capsys.readouterr().out)
    table = load_table(plan, folder=tmp_path, data_folder=None, cache_folder=None)
    achieved = audited_of(plan, table, model_file=load_model(plan, folder=tmp_path)).model.unfairness_train
    assert plan.config.tolerance - 0.001 < achieved <= plan.config.tolerance
    assert plan.outputs == OutputsPlan() and plan.answers.questions == 0


def test_a_model_that_answers_with_words_is_asked_for_the_labels_word(tmp_path: Path, capsys: Capture):
    people = model_samples.people().assign(sex=["F" if i % 3 else "M" for i in range(len(model_samples.people()))])
    people.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "model.skops").write_bytes(skops.io.dumps(model_samples.pipeline()))
    asked = ["init", "--file", str(tmp_path / "people.csv"), "--model", str(tmp_path / "model.skops")]
    assert main([*asked, "--label", "approved"]) == 0
    told = capsys.readouterr().out
    plan = read_plan(told)
    assert plan.model.positive == "yes" and "# Guessed: the label's positive value, which is" in told
    table = load_table(plan, folder=tmp_path, data_folder=None, cache_folder=None)
    assert dataset_of(plan, table, model_file=load_model(plan, folder=tmp_path)).n == len(people)
    told = told.replace('positive = "yes"', "", 2).replace("[data]", '[data]\npositive = "yes"', 1)
    (tmp_path / "plan.toml").write_text(told, encoding="utf-8")
    assert main(["audit", str(tmp_path / "plan.toml"), "--out", str(tmp_path / "out")]) == 3
    said = capsys.readouterr().err
    assert "The model answers 'no', 'yes'" in said and "model.positive" in said and said.count("\n") == 1


@pytest.mark.parametrize(
    ("columns", "outputs"),
    [
        ({}, OutputsPlan(released="labels")),
        ({"score": np.linspace(0, 1, 300).round(3)}, OutputsPlan(decimals=3)),
        ({"score": np.arange(300) % 2}, OutputsPlan(decimals=0)),
        ({"score": np.linspace(0, 1, 300).round(6)}, OutputsPlan(decimals=6)),
        ({"score": np.linspace(0, 1, 300).round(7)}, OutputsPlan()),
    ],
)
def test_gen_config_says_what_is_released_and_promises_no_answers(
    columns: dict[str, object], outputs: OutputsPlan, tmp_path: Path, capsys: Capture
):
    given_people(300).drop(columns="score").assign(**columns).to_csv(tmp_path / "people.csv", index=False)
    assert main(["init", "--file", str(tmp_path / "people.csv")]) == 0
    plan = read_plan(capsys.readouterr().out)
    assert (plan.outputs, plan.answers.questions, plan.model.kind) == (outputs, 0, "predictions")
    assert catalogue_plan("demo").outputs == OutputsPlan() and catalogue_plan("demo").answers.questions == 0


def test_a_plan_for_predictions_names_the_policy_for_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
):
    given_people(900).to_csv(tmp_path / "people.csv", index=False)
    assert main(["init", "--file", str(tmp_path / "people.csv")]) == 0
    told = capsys.readouterr()
    assert read_plan(told.out).policy == "" and 'policy = "predictions"' in told.err
    (tmp_path / "plan.toml").write_text(told.out.replace('# policy = "pred', 'policy = "pred'), encoding="utf-8")
    monkeypatch.setattr("core.release_audit.run.CHECKS", ("unfairness",))
    asked = ["audit", str(tmp_path / "plan.toml"), "--out", str(tmp_path / "out"), "--no-self-test"]
    main(asked)
    assert f"policy: {predictions_policy().name}" in capsys.readouterr().out
    assert (
        from_json((tmp_path / "out" / "internal" / "report.json").read_text(encoding="utf-8"))["policy"]["name"]
        == predictions_policy().name
    )
    main([*asked, "--force", "--policy", "default"])
    assert f"policy: {default_policy().name}, version" in capsys.readouterr().out


def test_gen_config_of_a_file_guesses_roles_that_can_be_audited(tmp_path: Path, capsys: Capture):
    people = samples.frame(300).assign(model_score=np.linspace(0, 1, 300))
    people.to_csv(tmp_path / "people.csv", index=False)
    assert main(["init", "--file", str(tmp_path / "people.csv")]) == 0
    told = capsys.readouterr()
    assert "are guesses" in told.err
    plan = read_plan(told.out)
    roles = plan.config.roles
    assert roles is not None and (roles.label, roles.positive) == ("hired", "yes")
    assert (roles.sensitive, roles.group) == ("origin", ("north",))
    assert plan.model.kind == "predictions" and roles.score == "model_score"
    assert told.out.count("\n# ") > 15
