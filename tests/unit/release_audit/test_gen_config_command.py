"""``fairleak init``: what it guesses, what it is told, and what the plan it prints promises."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io

from core.__main__ import main
from core.policy import default_policy, predictions_policy
from core.release_audit import (
    AuditPlan,
    OutputsPlan,
    catalogue_plan,
    kept_tolerance,
    load_model,
    load_table,
    read_plan,
)
from core.release_audit.inputs import dataset_of
from core.release_audit.run import audited_of
from core.report import from_json
from tests import model_samples, samples
from tests.refusals import refused

Capture = pytest.CaptureFixture[str]


Init = Callable[..., tuple[AuditPlan, str, str]]


@pytest.fixture
def init(tmp_path: Path, capsys: Capture) -> Init:
    """Write people and perhaps a model of them, and return the plan for them, as it is printed, and the notes."""

    def of(people: pd.DataFrame, *words: str, model: object = None) -> tuple[AuditPlan, str, str]:
        people.to_csv(tmp_path / "people.csv", index=False)
        if model is not None:
            (tmp_path / "model.skops").write_bytes(skops.io.dumps(model))
            words = (*words, "--model", str(tmp_path / "model.skops"))
        assert main(["init", "--file", str(tmp_path / "people.csv"), *words]) == 0
        told = capsys.readouterr()
        return read_plan(told.out), told.out, told.err

    return of


def given_people(n: int) -> pd.DataFrame:
    """Return people with the answers of somebody's model, which prefers one group."""
    people = samples.frame(n)
    p = 1 / (1 + np.exp(-1.5 * people["skill"].to_numpy() - (people["origin"] == "north").to_numpy()))
    return people.assign(prediction=np.where(p > 0.5, "yes", "no"))


def applicants() -> pd.DataFrame:
    """Return the people of the model files, with a sex."""
    people = model_samples.people()
    return people.assign(sex=["F" if i % 3 else "M" for i in range(len(people))])


def test_gen_config_takes_the_columns_it_is_told(init: Init):
    people = samples.frame(300).rename(columns={"origin": "Wohnort", "hired": "Ergebnis"}).assign(flag=[1, 0] * 150)
    plan, _, notes = init(people, "--attribute", "Wohnort", "--label", "Ergebnis")
    roles = plan.config.roles
    assert roles is not None and (roles.label, roles.sensitive, roles.group) == ("Ergebnis", "Wohnort", ("north",))
    assert notes.startswith("Groups are guesses")
    plan, _, notes = init(people, "--attribute", "Wohnort")
    roles = plan.config.roles
    assert roles is not None and (roles.label, roles.sensitive) == ("flag", "Wohnort")
    assert notes.startswith("Label and groups are guesses")


def test_gen_config_of_a_file_guesses_roles_that_can_be_audited(init: Init):
    plan, text, notes = init(samples.frame(300).assign(model_score=np.linspace(0, 1, 300)))
    roles = plan.config.roles
    assert roles is not None and (roles.label, roles.positive) == ("hired", "yes")
    assert (roles.sensitive, roles.group) == ("origin", ("north",))
    assert plan.model.kind == "predictions" and roles.score == "model_score"
    assert "are guesses" in notes and text.count("\n# ") > 15


def test_gen_config_promises_what_the_predictions_keep_to(init: Init, tmp_path: Path):
    """And the audit by that plan finds the promise true, one step below it false."""
    plan, text, _ = init(given_people(900))
    table = load_table(plan, folder=tmp_path, data_folder=None, cache_folder=None)
    achieved, promised = audited_of(plan, table).model.unfairness_train, plan.config.tolerance
    assert achieved > 0.05 and promised - 0.001 < achieved <= promised == round(promised, 3)
    assert "# Guessed: the smallest, in steps of 0.001, that the predictions keep to" in text
    assert promised == kept_tolerance(dataset_of(plan, table), plan.config)


def test_a_model_file_promises_what_its_answers_keep_to(init: Init, tmp_path: Path):
    plan, _, _ = init(applicants(), "--label", "approved", model=model_samples.pipeline(texts=False))
    table = load_table(plan, folder=tmp_path, data_folder=None, cache_folder=None)
    achieved = audited_of(plan, table, model_file=load_model(plan, folder=tmp_path)).model.unfairness_train
    assert plan.config.tolerance - 0.001 < achieved <= plan.config.tolerance
    assert plan.outputs == OutputsPlan() and plan.answers.questions == 0


def test_a_model_that_answers_with_words_is_asked_for_the_labels_word(init: Init, tmp_path: Path, capsys: Capture):
    plan, text, _ = init(applicants(), "--label", "approved", model=model_samples.pipeline())
    assert plan.model.positive == "yes" and "# Guessed: the label's positive value, which is" in text
    table = load_table(plan, folder=tmp_path, data_folder=None, cache_folder=None)
    assert dataset_of(plan, table, model_file=load_model(plan, folder=tmp_path)).n == table.frame.shape[0]
    text = text.replace('positive = "yes"', "", 2).replace("[data]", '[data]\npositive = "yes"', 1)
    (tmp_path / "plan.toml").write_text(text, encoding="utf-8")
    said = refused(capsys, "audit", tmp_path / "plan.toml", "--out", tmp_path / "out")
    assert "The model answers 'no', 'yes'" in said and "model.positive" in said


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
    columns: dict[str, object], outputs: OutputsPlan, init: Init
):
    plan, _, _ = init(given_people(300).drop(columns="score").assign(**columns))
    assert (plan.outputs, plan.answers.questions, plan.model.kind) == (outputs, 0, "predictions")
    assert catalogue_plan("demo").outputs == OutputsPlan() and catalogue_plan("demo").answers.questions == 0


def test_a_plan_for_predictions_names_the_policy_for_them(
    init: Init, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
):
    plan, text, notes = init(given_people(900))
    assert plan.policy == "" and 'policy = "predictions"' in notes
    (tmp_path / "plan.toml").write_text(text.replace('# policy = "pred', 'policy = "pred'), encoding="utf-8")
    monkeypatch.setattr("core.release_audit.run.CHECKS", ("unfairness",))
    asked = ["audit", str(tmp_path / "plan.toml"), "--out", str(tmp_path / "out"), "--no-self-test", "--force"]
    for more, policy in (([], predictions_policy()), (["--policy", "default"], default_policy())):
        main([*asked, *more])
        assert f"policy: {policy.name}, version" in capsys.readouterr().out
        report = (tmp_path / "out" / "internal" / "report.json").read_text(encoding="utf-8")
        assert from_json(report)["policy"]["name"] == policy.name


def test_a_plan_names_its_file_from_its_own_folder_or_is_refused(tmp_path: Path, capsys: Capture):
    (tmp_path / "data").mkdir()
    (tmp_path / "plans").mkdir()
    table, plan = tmp_path / "data" / "people.csv", tmp_path / "plan.toml"
    samples.frame(300).to_csv(table, index=False)
    assert main(["init", "--file", str(table), "-o", str(plan)]) == 0
    found = read_plan(plan.read_text(encoding="utf-8"))
    assert found.data.file == "data/people.csv"
    assert len(load_table(found, folder=tmp_path, data_folder=None, cache_folder=None).frame) == 300
    capsys.readouterr()
    elsewhere = tmp_path / "plans" / "plan.toml"
    assert main(["init", "--file", str(table), "-o", str(elsewhere)]) == 3
    assert "--file must be a file in the folder of the plan, or below it" in capsys.readouterr().err
    assert not elsewhere.exists()
