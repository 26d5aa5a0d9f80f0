"""``fairleak report replay``: the same to the bit, another table, a report somebody changed, and bad input."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from core.__main__ import main
from core.config import AuditConfig
from core.datasets import Roles, read_table
from core.errors import InputError
from core.policy import default_policy
from core.release_audit import AuditPlan, DataPlan, ModelPlan, audit_with_people, plan_of
from core.report import Reports, from_json, to_json
from tests.refusals import refused

ROLES = Roles(label="paid", positive="yes", sensitive="sex", group=("w",), prediction="said", score="", sets="")
PLAN = AuditPlan(
    title="Given answers",
    data=DataPlan(dataset="", file="people.csv"),
    model=ModelPlan(kind="predictions"),
    config=AuditConfig(dataset="upload", roles=ROLES, method="given", tolerance=0.1, seed=3),
)

Capture = pytest.CaptureFixture[str]


def people() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    woman, age = rng.random(400) < 0.4, rng.integers(20, 60, 400)
    paid, said = rng.random(400) < 0.5 + 0.2 * (age > 40), rng.random(400) < 0.5 - 0.1 * woman
    sides = {"sex": np.where(woman, "w", "m"), "age": age, "town": rng.choice(["a", "b", "c"], 400)}
    return pd.DataFrame(sides | {"paid": np.where(paid, "yes", "no"), "said": np.where(said, "yes", "no")})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table, and the report of an audit of it."""
    made = tmp_path_factory.mktemp("replay")
    people().to_csv(made / "renamed.csv", index=False)
    table = read_table((made / "renamed.csv").read_bytes(), "people.csv")
    (made / "report.json").write_text(
        to_json(Reports(*audit_with_people(PLAN, table, default_policy())).document()), encoding="utf-8"
    )
    return made


def replayed(report: Path, *further: str | Path) -> int:
    return main(["report", "replay", str(report), *map(str, further)])


def changed(folder: Path, change: Any) -> Path:
    told = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    change(told)
    (folder / "changed.json").write_text(json.dumps(told), encoding="utf-8")
    return folder / "changed.json"


def test_the_same_table_gives_the_same_bits_under_another_name(folder: Path, capsys: Capture) -> None:
    assert replayed(folder / "report.json", "--file", folder / "renamed.csv") == 0
    assert capsys.readouterr().out.startswith("The same to the bit: ")


def test_a_number_somebody_changed_is_named(folder: Path, capsys: Capture) -> None:
    def change(told: dict[str, Any]) -> None:
        told["measurements"][0]["estimate"]["value"] += 0.01
        told["provenance"]["packages"]["numpy"] = "1.0"

    assert replayed(changed(folder, change), "--file", folder / "renamed.csv") == 1
    said = capsys.readouterr().out
    assert said.startswith("Not the same: 1 of ") and "measurements[attribute_excess].estimate.value" in said
    assert "Run on something else than the report: packages.numpy 1.0, now " in said


def test_a_report_of_an_older_wording_is_the_same_in_numbers(folder: Path, capsys: Capture) -> None:
    def change(told: dict[str, Any]) -> None:
        told["verdict"]["checks"][0]["why"] = "The interval is within the limit."

    assert replayed(changed(folder, change), "--file", folder / "renamed.csv") == 0
    said = capsys.readouterr().out
    assert said.startswith("Same numbers, other wording: of ") and " values 1 is worded otherwise." in said
    assert "verdict.checks[" in said


def test_another_table_and_other_unusable_input_are_told_in_a_sentence(folder: Path, capsys: Capture) -> None:
    other = people()
    other.loc[5, "age"] += 1
    other.to_csv(folder / "other.csv", index=False)
    (folder / "text.json").write_text("nothing", encoding="utf-8")
    table = ("--file", folder / "renamed.csv")

    def of_others(told: dict[str, Any]) -> None:
        told["edition"] = "disclosure"

    cases: list[tuple[tuple[Any, ...], str]] = [
        ((folder / "report.json", "--file", folder / "other.csv"), "The table must be the one the report is about"),
        ((folder / "report.json",), "--file must name the file that was 'people.csv' in the report"),
        ((folder / "report.json", "--file", folder / "none.csv"), "--file must be a file that can be read"),
        ((folder / "report.json", *table, "--model", folder / "text.json"), "--model is for an audit of a model file"),
        ((folder / "none.json",), "REPORT must be a file that can be read"),
        ((folder / "text.json",), "REPORT must be the report.json of an internal edition, got 'text.json'"),
        ((folder / "renamed.csv",), "REPORT must be the report.json of an internal edition, got 'renamed.csv'"),
        ((changed(folder, of_others), *table), "REPORT must be the internal edition"),
    ]
    for arguments, sentence in cases:
        assert sentence in refused(capsys, "report", "replay", *arguments)


def test_the_plan_comes_back_from_the_report(folder: Path) -> None:
    told = from_json((folder / "report.json").read_text(encoding="utf-8"))
    assert plan_of(told) == PLAN
    for plan in (None, {}, {**told["plan"], "schema": 2}, {**told["plan"], "extra": 1}, {**told["plan"], "model": 5}):
        with pytest.raises(InputError, match=r"^The report's plan must be"):
            plan_of({**told, "plan": plan})
    broken = {**told["plan"], "config": {**told["plan"]["config"], "tolerance": 7}}
    with pytest.raises(InputError, match="tolerance"):
        plan_of({**told, "plan": broken})
    assert replace(plan_of(told), title="x") != PLAN


def test_a_plan_that_no_file_could_say_is_refused(folder: Path) -> None:
    """A report may have been written by anybody: its plan keeps the rules of a plan file."""
    told = from_json((folder / "report.json").read_text(encoding="utf-8"))
    plan = told["plan"]
    for title, key, value, words in (
        ("data", "file", "../people.csv", "data.file"),
        ("answers", "questions", 10**9, "questions must"),
        ("membership", "shadows", 10**9, "shadows must"),
        ("config", "epsilon", 0.5, "contradict"),
        ("model", "file", "m.onnx", "contradict"),
    ):
        with pytest.raises(InputError) as caught:
            plan_of({**told, "plan": {**plan, title: {**plan[title], key: value}}})
        assert str(caught.value).startswith("The report's plan") and words in str(caught.value)
    with pytest.raises(InputError, match=r"^The report's plan: title must"):
        plan_of({**told, "plan": {**plan, "title": "x" * 201}})
