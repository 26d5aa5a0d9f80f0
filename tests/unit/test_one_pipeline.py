"""A study is built once: page, command, report, notebook and experiment read one number of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core import experiment
from core.__main__ import main
from core.auditing import AuditPlan, ModelPlan, plan_text
from core.auditing.plan import changed_plan
from core.auditing.run import audited_of, measured
from core.datasets import read_table
from core.experiments.experiment import grid_of, run_experiment
from core.models import GIVEN_PREDICTIONS
from core.stats.estimates import estimate_columns
from core.studies.registry import STUDIES
from core.studies.study import Measurement, Outcome
from pages.shell.background import ResultStore
from pages.shell.study_jobs import StudyRun
from tests import samples

SLOW = {("train", name) for name in ("correction", "two_models")}
SLOW |= {(model, name) for model in ("train", "predictions") for name in ("attribute", "measured_epsilon")}
CASES = [
    pytest.param(model, name, marks=[pytest.mark.long] * ((model, name) in SLOW))
    for model in ("train", "predictions")
    for name, study in STUDIES.items()
    if study.declared
]
SETTINGS = {
    "train": {
        "attriguard.budget": 0.3,
        "bias_queries.questions": 5,
        "bias_queries.repeats": 2,
        "bias_queries.people": 30,
        "membership.shadows": 4,
        "two_models.companion": "counterpart",
    },
    "predictions": {"attriguard.budget": 0.8, "membership.shadows": 0, "model.seed": 1},
}
"""Kind of the model -> settings, which are not those by default."""


@dataclass
class PageJob:
    """The job of a page, done at once in this process."""

    partial: list[Any] = field(default_factory=list)

    def each_in_subprocess(self, run: Any, about: Any) -> Iterator[Any]:
        """Yield what the page's work yields."""
        yield from run(lambda done, total: None)


def measurements_on_page(name: str, plan: AuditPlan, table: Any) -> Mapping[str, Measurement]:
    """Return what a study's page measures of a plan's model."""
    study = STUDIES[name]
    chosen = plan.settings_of(name, study.settings)
    work = StudyRun(study, audited_of(plan, table), chosen, ResultStore("test", entries=1))
    return study.checks(work._run(PageJob()), chosen)


def by_check(name: str, measurements: Iterable[Measurement]) -> dict[str, Measurement]:
    """Return check -> measurement of a study."""
    checks = {check.name for check in STUDIES[name].declared}
    return {measurement.check: measurement for measurement in measurements if measurement.check in checks}


def plan_of(kind: str) -> AuditPlan:
    """Return the plan of a small table, whose model is trained or given."""
    plan = changed_plan(samples.plan(train_share=0.5), SETTINGS[kind])
    if kind == "train":
        return plan
    config = replace(plan.config, method=GIVEN_PREDICTIONS, roles=replace(samples.ROLES, prediction="answer"))
    return replace(plan, config=config, model=ModelPlan(kind="predictions"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with a table of 300 people and a model's answers about them."""
    frame = samples.frame(300)
    wrong = np.random.default_rng(1).random(300) < 0.2
    frame["answer"] = np.where((frame["skill"] > 0) != wrong, "yes", "no")
    folder = tmp_path_factory.mktemp("one")
    frame.to_csv(folder / "people.csv", index=False)
    return folder


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_report_page_command_notebook_and_experiment_give_one_number(kind, name, folder):
    table, plan = read_table((folder / "people.csv").read_bytes(), "people.csv"), plan_of(kind)
    (folder / "plan.toml").write_text(plan_text(plan))
    audited = audited_of(plan, table)
    audit = {check.name: measured(check.name, audited) for check in STUDIES[name].declared}
    rows = run_experiment(grid_of(plan, {}), table, studies=(name,))
    assert by_check(name, (row.measurement for row in rows)) == audit
    if any(measurement.outcome == Outcome.DONE for measurement in audit.values()):
        assert by_check(name, measurements_on_page(name, plan, table).values()) == audit
    numbers = experiment(folder / "plan.toml", studies=(name,)).frame().replace({np.nan: None}).to_dict("records")
    assert {row["check"] for row in numbers} == set(audit)
    if main(["attack", name, "--plan", str(folder / "plan.toml"), "--json", str(folder / "rows.json")]) == 0:
        numbers += json.loads((folder / "rows.json").read_text())["tables"]["Checks"]
    for row in numbers:
        assert estimate_columns("value", audit[row["check"]].estimate).items() <= row.items()
