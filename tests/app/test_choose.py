"""Choose a model: the page finds a model or says what holds the nearest back, and hands it to the Report."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from core.auditing import AuditPlan, OutputsPlan
from core.base.settings_text import add_arguments, from_arguments
from core.cli.arguments import Parser
from core.datasets import load
from core.experiments.choose import CandidatePoint, CandidateSet, ChooseSettings
from core.experiments.engine import point_key
from core.stats.estimates import proportion
from pages._report import report_plan
from pages.shell.background import ResultStore
from tests import samples
from tests.app.dashboard import Dashboard
from tests.app.deciding import Attacks, attacks
from tests.unit.choose.candidate_samples import SAFE, half

__all__ = ["attacks"]


class Measured:
    """Stands in for the measuring: every model gets the truth of its method, its accuracy falls with stricter ones."""

    def __init__(self, truth: dict[str, float]) -> None:
        self.truth, self.count = truth, 0
        self.read: set[tuple[str, ...]] = set()

    def __call__(self, candidate_sets: Sequence[CandidateSet], **_: Any) -> Iterator[CandidatePoint]:
        for candidate_set in candidate_sets:
            self.read.add(candidate_set.dataset.feature_names)
            for config in candidate_set.configs:
                rng = np.random.default_rng(self.count)
                self.count += 1
                accuracy = 0.85 if (config.method, config.depth, config.tolerance) == BEST else 0.75
                choosing, two = (half(accuracy, self.truth, rng) for _ in range(2))
                majority = proportion(600, 1000)
                yield CandidatePoint(
                    config=config, name=candidate_set.name, choosing=choosing, judging=two, majority=majority
                )


BEST = ("exponentiated_gradient", 4, 0.05)


def opened(dashboard: Dashboard) -> Dashboard:
    dashboard.open("choose")
    dashboard.until(lambda: "Models compared: " in dashboard.page_text and "Not finished" not in dashboard.page_text)
    return dashboard


@pytest.fixture
def safe(monkeypatch: pytest.MonkeyPatch) -> Measured:
    measured = Measured(SAFE)
    monkeypatch.setattr("pages._choose.choose_candidates.measure_all", measured)
    return measured


def test_it_recommends_the_most_accurate_and_opens_its_report(dashboard: Dashboard, safe: Measured):
    opened(dashboard)
    assert safe.count == 2 * (4 + 1 + 1 + 1 + 2) == 18
    assert dashboard.plain_finding.startswith(
        "## Choose exponentiated gradient (tolerance 0.05, depth 4): best of 18 within all limits."
    )
    assert "Not measured for candidates" in dashboard.page_text and "ε = 26 together" in dashboard.page_text
    assert "if two are released, their difference can reveal people" in dashboard.page_text
    assert re.search(r"Choosing the best of 18 flatters its accuracy by about \d\.\d points", dashboard.page_text)
    assert len(dashboard.test.get("plotly_chart")) == 1 and not dashboard.test.error
    assert "Why this one." in dashboard.page_text.replace("*", "")
    opened(dashboard).press("audit_chosen")
    state = dashboard.test.session_state
    assert (state["method"], state["depth"], state["tolerance"]) == BEST


@pytest.mark.long
def test_the_chosen_private_tree_is_audited_with_its_own_budget(dashboard: Dashboard, safe: Measured):
    opened(dashboard).choose(choose_methods=["dp_id3"], choose_epsilons=[3.0])
    dashboard.until(lambda: "private tree (DP-ID3) (ε = 3, depth" in dashboard.plain_finding)
    dashboard.press("audit_chosen")
    dashboard.open("model", settled=False)
    assert dashboard.test.session_state["method"] == "dp_id3"
    assert dashboard.test.session_state["epsilon"] == 3.0  # which the page's slider offers


def test_another_model_can_be_audited_and_its_report_says_who_picked_it(
    dashboard: Dashboard, safe: Measured, monkeypatch: pytest.MonkeyPatch
):
    box = opened(dashboard).test.selectbox(key="choose_audited")
    assert box.value == "" and len(box.options) == 19
    box.select_index(2)
    dashboard.settle()
    picked = dashboard.test.selectbox(key="choose_audited").value
    dashboard.press("audit_chosen")
    config, digits, (outputs, policy), choice = dashboard.test.session_state["chosen_model"]
    assert picked.endswith(f"depth {config.depth}") and (config.method, config.depth, config.tolerance) != BEST
    assert "picked by hand. By the policy it would be exponentiated gradient (tolerance 0.05" in str(choice.findings[1])
    state = {"chosen_model": (config, digits, (outputs, policy), choice)}
    monkeypatch.setattr(report_plan, "st", SimpleNamespace(session_state=state))
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


def test_the_command_beside_the_choice_makes_the_same_choice(dashboard: Dashboard, safe: Measured):
    opened(dashboard).choose(choose_methods=["dp_id3", "unmitigated"], choose_epsilons=[3.0, math.inf])
    dashboard.test.slider(key="choose_least").set_value(55)
    dashboard.settle()
    (line,) = [block.value for block in dashboard.test.code if block.value.startswith("fairleak choose")]
    parser = Parser()
    add_arguments(parser, ChooseSettings)
    parser.add_argument("plan")
    parser.add_argument("--seeds")
    parser.add_argument("-o", "--output")
    arguments = parser.parse_args(line.split()[2:])
    assert (arguments.plan, arguments.output, arguments.seeds) == ("choose.toml", "chosen.toml", "42")
    assert from_arguments(arguments, ChooseSettings) == ChooseSettings(
        methods=("dp_id3", "unmitigated"), epsilons=(3.0, math.inf), least_accuracy=0.55
    )
    assert {"choose_plan", "choose_policy_file"} <= {
        button.proto.id.split("-")[-1] for button in dashboard.test.get("download_button")
    }


def test_without_a_model_within_all_limits_it_says_what_holds_the_nearest_back(
    dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("pages._choose.choose_candidates.measure_all", Measured({**SAFE, "membership_auc": 0.62}))
    opened(dashboard)
    assert "No model is within all limits. Nearest: " in dashboard.plain_finding
    assert "Why none." in dashboard.page_text.replace("*", "")
    assert len(dashboard.test.table[0].value) == 18


def test_a_least_accuracy_that_no_model_reaches(dashboard: Dashboard, safe: Measured):
    opened(dashboard)
    dashboard.test.slider(key="choose_least").set_value(95)
    dashboard.test.run()
    assert "is accurate enough" in dashboard.plain_finding
    assert safe.count == 18  # what is there is not measured again


def test_too_many_models_are_one_sentence(dashboard: Dashboard, safe: Measured, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys.modules["core.experiments.choose.candidates"], "MOST_CANDIDATES", 5)
    dashboard.open("choose")
    assert dashboard.plain_problem() == "There may be at most 5 models to compare, seeds counted, got 18."
    assert safe.count == 0


def test_models_of_ones_own_table_are_measured_once_however_much_is_looked_at_between(
    dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch
):
    measured = Measured(SAFE)

    def filing(candidate_sets: Sequence[CandidateSet], *, store: Any, **_: Any) -> Iterator[CandidatePoint]:
        for pair, point in zip(
            [(a, c) for a in candidate_sets for c in a.configs], measured(candidate_sets), strict=True
        ):
            store.save(point_key(pair[1], pair[0].dataset, CandidatePoint, *pair[0].measure.parts), point)
            yield point

    stores, put = dict[str, ResultStore](), ResultStore.put

    def noting(store: ResultStore, key: str, value: Any, **options: Any) -> None:
        stores[store.name] = store
        put(store, key, value, **options)

    monkeypatch.setattr("pages._choose.choose_candidates.measure_all", filing)
    monkeypatch.setattr(ResultStore, "put", noting)
    dashboard.bring("people.csv", samples.frame(600).to_csv(index=False).encode(), samples.ROLES)
    opened(dashboard)
    assert measured.count == 18
    for i in range(40):  # more than the store keeps of other results
        stores["session store"].put(f"another result {i}", i)
    dashboard.choose(choose_methods=["unmitigated", "dp_id3"])
    dashboard.until(lambda: "Models compared: 6." in dashboard.page_text)
    assert measured.count == 18 and not dashboard.has_button("start_choose")


@pytest.mark.long
def test_columns_of_answers_in_ones_own_table_are_compared(
    dashboard: Dashboard, safe: Measured, attacks: Attacks, monkeypatch: pytest.MonkeyPatch
):
    people = samples.frame(600)
    logit = people["skill"] - 0.6 * people["score"]
    people["one"], people["two"] = (logit > 0).astype(int), (logit > 0.5).astype(int)
    people["certainty"] = 1 / (1 + np.exp(-logit))
    people.loc[people.index[:9], "hired"] = "maybe"  # as is any label with more than two values
    people["three"] = people["hired"].sample(frac=1, random_state=1).to_numpy()
    roles = replace(samples.ROLES, prediction="one", score="certainty", excluded=("two", "three"))
    least = opened(dashboard).test.slider(key="choose_least").value
    safe.read.clear()
    dashboard.bring("people.csv", people.to_csv(index=False).encode(), roles)
    opened(dashboard)
    assert dashboard.test.slider(key="choose_least").value != least  # the majority class of another table
    assert safe.count == 19 and "one" in dashboard.plain_finding
    dashboard.test.multiselect(key="choose_columns").set_value(["one", "two"])
    dashboard.test.run()
    dashboard.until(lambda: "Models compared: 2." in dashboard.page_text)
    assert safe.count == 21 and not dashboard.test.warning
    assert safe.read == {("score", "skill", "town")}  # no model's answers
    dashboard.test.multiselect(key="choose_columns").set_value(["two", "three"])
    dashboard.test.run()
    dashboard.until(lambda: "Models compared: 2." in dashboard.page_text and not dashboard.test.warning)
    monkeypatch.setattr(
        "pages._choose.choose_candidates.measure_all", lambda *_, **__: iter(())
    )  # with other roles, there is nothing yet
    dashboard.press("audit_chosen")
    assert "choose_report" not in dashboard.test.session_state
    assert "The model was picked from several on these people" in dashboard.open("report").plain_finding
