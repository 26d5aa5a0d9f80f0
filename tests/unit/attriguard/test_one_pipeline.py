"""One setting gives one number: on the page, by the command, in the report's row, and in a notebook."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.__main__ import main
from core.auditing import read_plan
from core.auditing.inputs import load_table
from core.auditing.plan import AuditPlan, plan_text
from core.auditing.run import audited_of, measured
from core.studies.attriguard import AttriGuardSettings, ProtectedRecords, ratings_subject
from core.studies.attriguard.study import STUDY
from core.studies.subject import AuditConfig
from pages._attriguard import attriguard_controls
from tests import ratings_samples, samples

ROLES = ("--label", "hired", "--attribute", "origin", "--favourable", "yes")

CHECKS = ("attriguard_exposure", "attriguard_cost")


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> AuditPlan:
    """A plan for a table of 400 people, whose model is a plain tree; it lies in the working folder of the test."""
    folder = tmp_path_factory.mktemp("plan")
    samples.frame(400).rename(columns={"score": "income"}).to_csv(folder / "people.csv", index=False)
    path = folder / "plan.toml"
    assert main(["init", "--file", str(folder / "people.csv"), *ROLES, "-o", str(path), "-q"]) == 0
    plan = read_plan(path.read_bytes())
    return replace(plan, config=replace(plan.config, method="unmitigated", seed=5), title=str(folder))


def command_rows(path: Path, *flags: str) -> dict[str, Any]:
    """Return check -> row of what `attack attriguard` writes."""
    output = path / "found.json"
    assert main(["attack", "attriguard", *flags, "-q", "--json", str(output)]) == 0
    return {row["check"]: row for row in json.loads(output.read_text("utf-8"))["tables"]["Checks"]}


def values(measurement: Any) -> tuple[float, float, float]:
    estimate = measurement.estimate
    return estimate.value, estimate.low, estimate.high


@pytest.mark.long
@pytest.mark.parametrize(
    "settings",
    [
        AttriGuardSettings(budget=0.5),
        AttriGuardSettings(
            budget=0.4, trained_budgets=(0.25, 0.75), defender="ranges", margin=0.5, rules=False, balanced=True
        ),
    ],
    ids=("budget alone", "most settings"),
)
def test_a_table_has_one_number(settings: AttriGuardSettings, plan: AuditPlan, tmp_path: Path):
    folder = Path(plan.title)
    planned = replace(plan, attriguard=settings, title="")
    (folder / "set.toml").write_text(plan_text(planned), encoding="utf-8")
    rows = command_rows(tmp_path, "--plan", str(folder / "set.toml"))
    audited = audited_of(planned, load_table(planned, folder=folder, data_folder=None, cache_folder=None))
    division = AuditConfig(dataset="upload", train_share=audited.config.train_share, seed=audited.config.seed)
    *_, notebook = STUDY.run(audited, settings)
    *_, page = attriguard_controls.STUDY.run(ProtectedRecords(dataset=audited.dataset, config=division), settings)
    assert attriguard_controls.STUDY.findings(page, settings) == STUDY.findings(notebook, settings)
    for name in CHECKS:
        report = measured(name, audited)
        assert (
            STUDY.checks(notebook, settings)[name] == attriguard_controls.STUDY.checks(page, settings)[name] == report
        )
        assert values(report) == tuple(rows[name][key] for key in ("value", "value, low", "value, high"))


def test_ratings_have_one_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("core.studies.attriguard.defense.demo_ratings", ratings_samples.ratings)
    settings = AttriGuardSettings(budget=1.5, attackers=("logistic", "adversarial"), noise_policy="add_new")
    flags = ("--budget", "1.5", "--attackers", "logistic,adversarial", "--noise-policy", "add_new")
    rows = command_rows(tmp_path, "--dataset", "demo_ratings", *flags)
    *_, page = attriguard_controls.STUDY.run(ratings_subject(ratings_samples.ratings()), settings)
    for name, measurement in attriguard_controls.STUDY.checks(page, settings).items():
        assert values(measurement) == tuple(rows[name][key] for key in ("value", "value, low", "value, high"))
    assert page.curves["logistic"][0].accuracy == page.undefended()[0].accuracy
