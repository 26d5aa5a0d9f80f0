"""Choose a model: the page finds a model or says what holds the nearest back, and hands it to the Report."""

import math
import re
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from core.__main__ import parser
from core.auditing import AuditPlan, OutputsPlan
from core.base.settings_text import from_arguments
from core.datasets import load
from core.experiments.choose import CandidatePoint, ChooseSettings
from core.experiments.engine import point_key
from pages._report import report_plan
from pages.shell.background import ResultStore
from tests import samples
from tests.unit.choose.candidate_samples import SAFE, point

BEST = ("exponentiated_gradient", 4, 0.05)


class Measured:
    """Stands in for the measuring: every model gets the truth of its method, its accuracy falls with stricter ones."""

    def __init__(self, truth):
        self.truth, self.count = truth, 0
        self.read = set()

    def __call__(self, candidate_sets, *, store, **_):
        for candidate_set in candidate_sets:
            self.read.add(candidate_set.dataset.feature_names)
            for config in candidate_set.configs:
                rng = np.random.default_rng(self.count)
                self.count += 1
                accuracy = 0.85 if (config.method, config.depth, config.tolerance) == BEST else 0.75
                measured = replace(point(0, accuracy, self.truth, rng), config=config, name=candidate_set.name)
                store.save(point_key(config, candidate_set.dataset, CandidatePoint, *candidate_set.parts), measured)
                yield measured


def opened(dashboard):
    dashboard.open("choose")
    dashboard.until(lambda: "Models compared: " in dashboard.page_text and "Not finished" not in dashboard.page_text)
    return dashboard


@pytest.fixture
def safe(monkeypatch):
    measured = Measured(SAFE)
    monkeypatch.setattr("pages._choose.choose_candidates.measure_all", measured)
    return measured


def test_it_recommends_the_most_accurate_and_says_the_command(dashboard, safe):
    opened(dashboard)
    assert safe.count == 2 * (4 + 1 + 1 + 1 + 2) == 18
    assert dashboard.plain_finding.startswith(
        "## Choose exponentiated gradient (tolerance 0.05, depth 4): best of 18 within all limits."
    )
    assert re.search(r"Choosing the best of 18 flatters its accuracy by about \d\.\d points", dashboard.page_text)
    assert len(dashboard.test.get("plotly_chart")) == 1 and not dashboard.test.error
    dashboard.choose(choose_least=95)
    assert "is accurate enough" in dashboard.plain_finding
    assert safe.count == 18  # what is there is not measured again
    dashboard.choose(choose_least=55, choose_methods=["dp_id3", "unmitigated"], choose_epsilons=[3.0, math.inf])
    (line,) = [block.value for block in dashboard.test.code if block.value.startswith("fairleak choose")]
    arguments = parser().parse_args(line.split()[1:])
    assert (arguments.plans, arguments.output, arguments.seeds) == ([Path("choose.toml")], Path("chosen.toml"), "42")
    assert from_arguments(arguments, ChooseSettings) == ChooseSettings(
        methods=("dp_id3", "unmitigated"), epsilons=(3.0, math.inf), least_accuracy=0.55
    )


@pytest.mark.parametrize(
    ("offered", "settings"),
    [
        ({}, {"method": BEST[0], "depth": BEST[1], "tolerance": BEST[2]}),
        ({"choose_methods": ["dp_id3"], "choose_epsilons": [3.0]}, {"method": "dp_id3", "epsilon": 3.0}),
    ],
    ids=["default", "private tree"],
)
def test_the_recommended_model_is_audited(dashboard, safe, offered, settings):
    opened(dashboard).choose(**offered)
    dashboard.until(lambda: "Not finished" not in dashboard.page_text and dashboard.has_button("audit_chosen"))
    dashboard.press("audit_chosen")
    assert {name: dashboard.test.session_state[name] for name in settings} == settings


def test_another_model_can_be_audited_and_its_report_says_who_picked_it(dashboard, safe, monkeypatch):
    box = opened(dashboard).test.selectbox(key="choose_audited")
    assert box.value == "" and len(box.options) == 19
    box.select_index(2)
    dashboard.settle()
    dashboard.press("audit_chosen")
    chosen = dashboard.test.session_state["chosen_model"]
    config, _, (_, policy), choice = chosen
    assert (config.method, config.depth, config.tolerance) != BEST
    assert "picked by hand. By the policy it would be exponentiated gradient (tolerance 0.05" in str(choice.findings[1])
    monkeypatch.setattr(report_plan, "st", SimpleNamespace(session_state={"chosen_model": chosen}))
    monkeypatch.setattr(report_plan, "current_policy", lambda _: policy)
    table = load("demo")
    assert report_plan.subject(config, table, AuditPlan()).chosen is choice
    labels = report_plan.subject(config, table, AuditPlan(outputs=OutputsPlan(released="labels")))
    monkeypatch.setattr(report_plan, "current_policy", lambda _: replace(policy, limits=policy.limits[:1]))
    for variant in (labels, report_plan.subject(config, table, AuditPlan())):
        assert variant.picked and variant.chosen is None, "by another policy, or of other outputs"
    race = replace(config, roles=table.roles[1])
    assert not report_plan.subject(race, table, AuditPlan()).picked, "another attribute, another model"
    assert not report_plan.subject(config, replace(table, frame=table.frame.head(500)), AuditPlan()).picked


def test_without_a_model_within_all_limits_it_says_what_holds_the_nearest_back(dashboard, monkeypatch):
    measured = Measured({**SAFE, "membership_auc": 0.62})
    monkeypatch.setattr("pages._choose.choose_candidates.measure_all", measured)
    opened(dashboard)
    assert "No model is within all limits. Nearest: " in dashboard.plain_finding
    assert len(dashboard.test.table[0].value) == 18
    monkeypatch.setattr(sys.modules["core.experiments.choose.candidates"], "MOST_CANDIDATES", 5)
    dashboard.settle()
    assert dashboard.plain_problem() == "There may be at most 5 models to compare, seeds counted, got 18."


def test_models_of_ones_own_table_are_measured_once_however_much_is_looked_at_between(dashboard, safe, monkeypatch):
    stores, put = dict[str, ResultStore](), ResultStore.put

    def noting(store, key, value, **options):
        stores[store.name] = store
        put(store, key, value, **options)

    monkeypatch.setattr(ResultStore, "put", noting)
    dashboard.bring("people.csv", samples.frame(600).to_csv(index=False).encode(), samples.ROLES)
    opened(dashboard)
    assert safe.count == 18
    for i in range(40):  # more than the store keeps of other results
        stores["session store"].put(f"another result {i}", i)
    dashboard.choose(choose_methods=["unmitigated", "dp_id3"])
    dashboard.until(lambda: "Models compared: 6." in dashboard.page_text)
    assert safe.count == 18 and not dashboard.has_button("start_choose")


@pytest.mark.long
def test_columns_of_answers_in_ones_own_table_are_compared(dashboard, safe, attacks):
    people = samples.frame(600)
    logit = people["skill"] - 0.6 * people["score"]
    people["one"], people["two"] = (logit > 0).astype(int), (logit > 0.5).astype(int)
    people["certainty"] = 1 / (1 + np.exp(-logit))
    people.loc[people.index[:9], "hired"] = "maybe"  # as is any label with more than two values
    roles = replace(samples.ROLES, prediction="one", score="certainty", excluded=("two",))
    dashboard.bring("people.csv", people.to_csv(index=False).encode(), roles)
    opened(dashboard)
    assert safe.count == 1 and "one" in dashboard.plain_finding
    dashboard.test.multiselect(key="choose_columns").set_value(["one", "two"])
    dashboard.until(lambda: "Models compared: 2." in dashboard.page_text)
    assert safe.count == 2 and not dashboard.test.warning
    assert safe.read == {("score", "skill", "town")}  # no model's answers
    dashboard.press("audit_chosen")
    assert "The model was picked from several on these people" in dashboard.open("report").plain_finding
