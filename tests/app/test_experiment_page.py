"""Experiment: the page measures the grid that its command and a notebook measure, and trains nothing it need not."""

from __future__ import annotations

import numpy as np

from core import experiment
from core.experiments.experiment import grid_finding, measurable, summarise
from tests import samples
from tests.app.conftest import Start
from tests.app.dashboard import Dashboard

UNMITIGATED = {"experiment_method": ["unmitigated"], "experiment_studies": ["fairness"]}


def measured(dashboard: Dashboard) -> Dashboard:
    """Measure the grid to its end."""
    dashboard.click("start_experiment")
    dashboard.until(lambda: "Settings measured" in dashboard.page_text)
    dashboard.until(lambda: not dashboard.has_button("cancel_experiment"))
    return dashboard


def test_page_command_and_notebook_measure_one_grid(start: Start):
    dashboard = start().open("experiment").choose(**UNMITIGATED, experiment_seeds=3)
    assert "Models in the grid: 3." in dashboard.plain_finding
    (command,) = [code.value for code in dashboard.test.code if "fairleak experiment" in code.value]
    assert "--vary data.attribute=sex --vary model.method=unmitigated" in command
    measured(dashboard)
    vary = {"membership.shadows": [0]}
    result = experiment("demo", methods=["unmitigated"], seeds=[42, 43, 44], studies=["fairness"], vary=vary)
    name = next(name for name, (study, _) in measurable().items() if study == "fairness")
    finding = grid_finding(summarise(result.rows), name)
    assert finding.point in dashboard.page_text and finding.evidence in dashboard.page_text
    dashboard.choose(experiment_seeds=1, experiment_attribute=["sex", "origin"])
    assert "Models in the grid: 2." in dashboard.plain_finding
    assert "attribute sex" in measured(dashboard).page_text


def test_a_given_model_trains_nothing(start: Start):
    frame = samples.frame(600).rename(columns={"score": "points"})
    wrong = np.random.default_rng(1).random(600) < 0.2
    frame["answer"] = np.where((frame["skill"] > 0) != wrong, "yes", "no")
    dashboard = start().open("data").upload("people.csv", frame.to_csv(index=False).encode())
    dashboard.assign(
        label="hired", sensitive="origin", prediction="answer", positive="yes", favourable="yes", group=["north"]
    )
    dashboard.open("experiment").choose(experiment_studies=["fairness"])
    assert "The model is given: nothing is trained." in dashboard.plain_finding
    assert not dashboard.widgets("experiment_method")
    measured(dashboard)
