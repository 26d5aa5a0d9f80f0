"""AttriGuard in-process: whatever the controls say, the page says what core says."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pages.common import attriguard_controls as controls
from tests.app.dashboard import Dashboard, RecordedJob
from tests.app.guarding import (
    FEW_OF_TABLES,
    Gate,
    assert_tells,
    choose,
    few_attackers,
    few_ratings,
    guard_columns,
    studies_of_demo,
    study_of,
    study_of_ratings,
    told,
    widget,
)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Gate:
    """Few attackers, and studies that other tests have made."""
    return few_attackers(monkeypatch)


def test_opens_on_the_audited_table(dashboard: Dashboard, gate: Gate):
    dashboard.open("attriguard")
    study = study_of()
    assert_tells(dashboard, study, controls.first_budget(study))
    assert any("synthetic" in text.lower() for text in dashboard.texts)
    assert [text.value for text in dashboard.test.sidebar.markdown] == ["#### What is audited"]
    assert "google_play" not in controls.offered()
    assert not dashboard.test.warning and not dashboard.test.error
    assert "safe" not in told(dashboard).lower()
    assert not dashboard.has_button("cancel_attackers") and not dashboard.has_button("start_attackers")


def test_the_slider_moves_the_finding_and_computes_nothing_anew(dashboard: Dashboard, gate: Gate):
    dashboard.open("attriguard")
    study = study_of()
    jobs = len(RecordedJob.started)
    last = controls.last_budget(study)
    for budget in (0.0, 0.1, last):
        choose(dashboard, guard_budget=budget)
        assert_tells(dashboard, study, budget)
    assert len(RecordedJob.started) == jobs and gate.begun == 1


@pytest.mark.parametrize(
    "changes",
    [
        {},
        pytest.param({"policy": "modify_exist"}, marks=pytest.mark.long),
        pytest.param({"policy": "add_new"}, marks=pytest.mark.long),
        {"defender": "network"},
        {"target": "uniform", "margin": 1.0},
    ],
    ids=str,
)
def test_ratings(dashboard: Dashboard, gate: Gate, changes: dict[str, Any]):
    dashboard.open("attriguard")
    keys = {"policy": "guard_policy", "defender": "guard_defender", "target": "guard_target", "margin": "guard_margin"}
    choose(dashboard, guard_data="invented", **{keys[name]: value for name, value in changes.items()})
    study = study_of_ratings(**changes)
    if changes.get("defender") == "network":
        assert "Network: " in told(dashboard)
    else:
        choose(dashboard, guard_budget=1.5)
        assert_tells(dashboard, study, 1.5)
    found = study.found.sum() < study.found.size
    assert ("None was found" in told(dashboard)) == found
    assert not dashboard.test.warning


BAD_SHARES = {
    "men: 30\nwomen: 60": "add up to 100, got 90 in all",
    "men: 130\nwomen: -30": "from 0 to 100, got “men: 130”",
    "men: nan\nwomen: 50": "from 0 to 100, got “men: nan”",
    "men: many\nwomen: 50": "got “men: many”",
    "men: 100": "look at “women”",
    "men: 50\nwomen: 50\nboth: 0": "look at “both”",
}


def test_bad_shares_are_answered_in_one_sentence(dashboard: Dashboard, gate: Gate):
    dashboard.open("attriguard")
    choose(dashboard, guard_target="given", guard_given="men: 30\nwomen: 70")
    begun, finding = gate.begun, dashboard.finding
    for written, sentence in BAD_SHARES.items():
        choose(dashboard, guard_given=written)
        problem = dashboard.plain_problem()
        assert sentence in problem and len(re.findall(r"[.!?](?:\s|$)", problem)) == 1
        assert dashboard.finding == finding  # at the last valid shares
    choose(dashboard, guard_given="men: 30\nwomen: 70")
    assert not dashboard.test.warning
    assert dashboard.finding == finding and gate.begun == begun  # what was there is there still


SECTIONS = {
    "transfer": "is fooled least: by",
    "person": "Inferred as",
    "where": "half of the noise",
    "cost": "Baseline: ",
}


def test_every_section_of_a_table(dashboard: Dashboard, gate: Gate):
    dashboard.open("attriguard")
    study, words = study_of(), {}
    sentences = {**SECTIONS, "changes": "of the changed records hold only pairs of values that somebody has"}
    for section, sentence in sentences.items():
        choose(dashboard, further_guard_table=section)
        words[section] = told(dashboard)
        assert sentence in words[section]
        if section == "person":
            for budget in (0.0, 0.3):
                choose(dashboard, guard_budget=budget, guard_person=7)
                k = 6
                expected_size = float(study.mechanism(budget)[k] @ study.size[k])
                assert f"“{study.values[study.predicted[k]]}”" in told(dashboard)
                assert f"on average {expected_size:.2f} columns change" in told(dashboard)
            (frame,) = (f.value for f in dashboard.test.dataframe)
            assert list(frame.columns)[:2] == ["column", "without noise"] and len(frame) == study.size[k].max()
        if section == "cost":
            assert "no fairness method" in words[section]
            choose(dashboard, guard_budget=0.0)
            assert told(dashboard) != words[section]
    rule = studies_of_demo(FEW_OF_TABLES())[-1][0].found_rules
    example = widget(dashboard, "guard_added").placeholder
    assert example == (" + ".join(f"{a}: {b}" for a, b in (rule[0].pair[:2], rule[0].pair[2:])) if rule else "")


def test_every_section_of_ratings(dashboard: Dashboard, gate: Gate):
    dashboard.open("attriguard")
    choose(dashboard, guard_data="invented")
    words = {}
    for section, sentence in {**SECTIONS, "others": "AttriGuard changes"}.items():
        choose(dashboard, further_guard=section)
        words[section] = told(dashboard)
        assert sentence in words[section]
        if section == "person":
            people_ = few_ratings().people_test.shape[0]
            assert f"Person, 1 to {people_}" in [w.label for w in dashboard.test.number_input]
            choose(dashboard, guard_person=80)  # who rated nothing
            assert "Inferred as" in told(dashboard)
    assert "of the noise against logistic regression fools a network" in words["transfer"]
    assert "of the 10 items recommended are right" in words["cost"]
    for budget in (0.0, 1.5):  # other defences are compared at the slider's budget
        choose(dashboard, guard_budget=budget)
        assert f"AttriGuard changes {study_of_ratings().spent(budget).value:.1f} ratings" in told(dashboard)


def test_frozen_columns_and_rules_make_another_study(dashboard: Dashboard, gate: Gate):
    dashboard.open("attriguard")
    choose(dashboard, further_guard_table="changes", guard_frozen=["sector"])
    assert gate.begun == 1  # nothing happens before the button is pressed
    dashboard.button("guard_use_rules").click()
    dashboard.settle()
    study = study_of(frozen=("sector",))
    assert_tells(dashboard, study, controls.first_budget(study))
    columns = dashboard.test.dataframe[0].value
    assert list(columns[columns["may change"] == "frozen"]["column"]) == ["sector"]
    choose(dashboard, guard_frozen=[], guard_added="purpose: car + origin: nowhere")
    dashboard.button("guard_use_rules").click()
    dashboard.settle()
    problem = dashboard.plain_problem()
    assert "nowhere" in problem and len(re.findall(r"[.!?](?:\s|$)", problem)) == 1
    assert_tells(dashboard, study, controls.first_budget(study))  # all is as it was
    choose(dashboard, guard_added="purposse: car + origin: nowhere")
    dashboard.button("guard_use_rules").click()
    dashboard.settle()
    problem = dashboard.plain_problem()
    assert "“purposse”" in problem and ", ".join(guard_columns()[:5]) in problem
    choose(dashboard, guard_added="", guard_frozen=list(guard_columns()))
    dashboard.button("guard_use_rules").click()
    dashboard.settle()
    assert "At least one column must be free to change" in dashboard.plain_problem() and "%" in dashboard.finding
    choose(dashboard, guard_frozen=[])
    dashboard.button("guard_use_rules").click()
    dashboard.settle()
    study = study_of()
    assert_tells(dashboard, study, controls.first_budget(study))
    choose(dashboard, guard_added="purpose")
    dashboard.button("guard_use_rules").click()
    dashboard.settle()
    assert "must read “column: value + column: value”" in dashboard.plain_problem() and "%" in dashboard.finding


def test_the_numbers_behind_the_charts(dashboard: Dashboard, gate: Gate):
    dashboard.open("attriguard")
    choose(dashboard, further_guard_table="where")
    assert not dashboard.test.dataframe
    dashboard.test.session_state["numbers_attriguard"] = True
    dashboard.settle()
    curves, values = (frame.value for frame in dashboard.test.dataframe)
    study = study_of()
    last = controls.last_budget(study)
    row = curves[(curves.attacker == "adversarial") & (curves["columns changed"] == last)].iloc[0]
    (point,) = (point for point in study.at(last) if point.attacker == "adversarial")
    assert row["accuracy"] == point.accuracy.value and row["or baseline"] == point.reported.value
    assert set(curves.attacker) == {*study.attackers, "baseline"}
    assert set(values["sex"]) == set(study.values)
