"""The gate of the Data page: tables as people bring them, repairs, questions, and what keeps the button closed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from core.datasets import Roles, build_dataset, read_table, suggest_roles
from core.datasets.checked_table import Fact, Severity
from core.datasets.input_check import check_input
from pages.shell.upload import SETTINGS, sentences
from tests.app.dashboard import UNIQUE_ROLES, Dashboard
from tests.input_cases import CASES, csv_of


def bring(dashboard: Dashboard, frame: pd.DataFrame) -> Dashboard:
    return dashboard.open("data").upload("people.csv", csv_of(frame))


def facts_of(frame: pd.DataFrame, **changes: Any) -> tuple[Fact, ...]:
    """Return the facts of a table under its suggested roles with some changes."""
    table = read_table(csv_of(frame), "people.csv").frame
    guess = suggest_roles(table)
    roles = replace(guess.roles, **changes)
    return check_input(table, roles, guesses=guess.questions)


def line_of(fact: Fact) -> str:
    point, more = sentences(fact.text)
    return f"**{point}** {more}".strip()


def lines(dashboard: Dashboard, sign: str) -> list[str]:
    """Return the lines of the card with an icon, without it, as they are read."""
    icon = {"bad": "block", "ask": "help", "ok": "check_circle"}[sign]
    page_text = dashboard.page_text
    assert "What the columns mean" in page_text
    from tests.app.dashboard import plain

    texts = map(plain, dashboard.texts)
    return [text.partition("] ")[2] for text in texts if f":material/{icon}:" in text]


def open_buttons(dashboard: Dashboard) -> list[str]:
    return [button.key for button in dashboard.test.button if (button.key or "").startswith("use_repair_")]


def first_repairs(dashboard: Dashboard) -> Dashboard:
    """Press the first repair of the first blocking line until none is left."""
    for _ in range(6):
        if not lines(dashboard, "bad"):
            return dashboard
        before = len(lines(dashboard, "bad"))
        blocking = next(key for key in open_buttons(dashboard) if not key.startswith("use_repair_positive_"))
        dashboard.click(blocking)
        assert len(lines(dashboard, "bad")) < before
    raise AssertionError("repairs do not end")


@pytest.mark.parametrize("case", CASES)
def test_the_card_says_what_is_right_of_a_table(dashboard: Dashboard, case: str):
    right, frame = CASES[case], CASES[case].frame()
    bring(dashboard, frame)
    roles = dashboard.column_roles()
    for role, column in right.roles.items():
        if role in UNIQUE_ROLES:
            assert next((name for name, has in roles.items() if has == role), "") == column, role
    assert all(roles[name] == "excluded" for name in right.left_out)
    facts = facts_of(frame)
    for fact in facts:
        if fact.kind not in SETTINGS and fact.severity != Severity.NOTE:
            sign = "bad" if fact.severity == Severity.BLOCKING else "ask"
            assert line_of(fact) in lines(dashboard, sign), fact.kind
    kinds = {fact.kind for fact in facts if fact.severity == Severity.BLOCKING}
    assert kinds == right.blocking | ({"favourable"} if right.roles.get("label") != "" else set())
    assert dashboard.button("use_roles").disabled
    if not roles_name_label(roles):
        assert "Missing: a label" in dashboard.page_text and "true outcome" in dashboard.page_text
        return
    assert "which outcome is good for the person" in dashboard.page_text
    dashboard.favour()
    assert dashboard.button("use_roles").disabled == bool(right.blocking)
    first_repairs(dashboard).click("use_roles")
    assert not dashboard.test.warning
    (applied,) = dashboard.test.session_state["own_roles_upload"]
    assert applied.favourable
    table = read_table(csv_of(frame), "people.csv")
    assert not {*right.left_out} & set(build_dataset(table, applied).feature_names)


def roles_name_label(roles: dict[str, str]) -> bool:
    return "label" in roles.values()


def test_a_repair_is_undone_and_what_was_changed_since_stays(dashboard: Dashboard):
    bring(dashboard, CASES["reversed_score"].frame()).favour()
    before = lines(dashboard, "bad")
    assert len(before) == 2
    key = next(key for key in open_buttons(dashboard) if key.startswith("use_repair_contradiction_"))
    dashboard.click(key)
    assert dashboard.widget("positive_").value == "no" and lines(dashboard, "bad") == []
    done = [line for line in lines(dashboard, "ok") if "contradicts score" in line]
    assert len(done) == 1 and not dashboard.button("use_roles").disabled
    dashboard.role_box("age").set_value("excluded")
    dashboard.settle()
    dashboard.click("back_repaired_0")
    assert dashboard.widget("positive_").value == "yes" and lines(dashboard, "bad") == before
    assert dashboard.column_roles()["age"] == "excluded" and dashboard.button("use_roles").disabled


def test_a_fact_that_is_confirmed_is_a_green_line_and_in_the_roles(dashboard: Dashboard):
    bring(dashboard, CASES["reversed_score"].frame()).favour()
    for kind in ("contradiction", "reversed_score"):
        key = [key for key in open_buttons(dashboard) if key.startswith(f"use_repair_{kind}_")][-1]
        dashboard.click(key)
    assert lines(dashboard, "bad") == []
    assert sum("This is confirmed." in line for line in lines(dashboard, "ok")) == 2
    dashboard.click("back_confirmed_0")
    assert len(lines(dashboard, "bad")) == 1 and dashboard.button("use_roles").disabled
    key = [key for key in open_buttons(dashboard) if not key.startswith("use_repair_positive_")][-1]
    dashboard.click(key).click("use_roles")
    (applied,) = dashboard.test.session_state["own_roles_upload"]
    assert set(applied.confirmed) == {"contradiction", "reversed_score"}


def test_what_the_score_predicts_is_confirmed_by_a_click_or_answered_by_the_other_value(dashboard: Dashboard):
    bring(dashboard, CASES["base"].frame()).favour()
    question = "2 questions" if "2 questions" in dashboard.page_text else "1 question"
    assert question in dashboard.page_text
    dashboard.click("use_repair_positive_")
    assert "positive" in applied(dashboard).confirmed


def applied(dashboard: Dashboard) -> Roles:
    dashboard.click("use_roles")
    (roles,) = dashboard.test.session_state["own_roles_upload"]
    assert isinstance(roles, Roles)
    return roles


def test_the_two_settings_of_the_label_are_two(dashboard: Dashboard):
    frame = CASES["base"].frame()
    bring(dashboard, frame)
    dashboard.assign(positive="yes", favourable="no")
    (roles,) = dashboard.test.session_state["own_roles_upload"]
    assert (roles.positive, roles.favourable) == ("yes", "no")
    assert "approved = no" in dashboard.plain_finding.casefold().replace("approved", "approved")


def test_a_copy_of_the_score_is_left_out_by_its_repair(dashboard: Dashboard):
    frame = CASES["base"].frame()
    frame["bonus"] = (300 + 100 * frame["score"]).round(1)
    bring(dashboard, frame).favour()
    (line,) = lines(dashboard, "bad")
    assert "bonus" in line and dashboard.column_roles()["bonus"] == "feature"
    first_repairs(dashboard)
    assert dashboard.column_roles()["bonus"] == "excluded" and not dashboard.button("use_roles").disabled


LABELS = {
    "the attribute itself": {"label": "sex", "sensitive": "sex"},
    "another writing of the attribute": {"label": "code", "sensitive": "sex"},
    "one value left": {"label": "late", "sensitive": "known"},
    "a column of many values": {"label": "age", "sensitive": "sex"},
}


@pytest.mark.long
@pytest.mark.parametrize("label", LABELS)
def test_no_choice_of_a_label_is_a_crash(dashboard: Dashboard, label: str):
    frame = CASES["base"].frame().drop(columns=["predicted", "score", "set"])
    frame["code"] = frame["sex"].map({"male": "m", "female": "f"})
    frame["known"] = frame["sex"].where(frame["approved"] == "yes")
    frame["late"] = frame["approved"]
    frame["age"] = frame["age"] % 3
    bring(dashboard, frame)
    for role, column in LABELS[label].items():
        dashboard.role_box(column).set_value(role)
        dashboard.settle()
    assert not dashboard.test.error
    dashboard.favour()
    if dashboard.button("use_roles").disabled:
        assert lines(dashboard, "bad") or "Missing: " in dashboard.page_text
        return
    dashboard.click("use_roles")
    assert len(dashboard.test.warning) <= 1
    for page in ("data", "model"):
        dashboard.open(page)
        assert not dashboard.test.error and "Something went wrong" not in dashboard.page_text


def test_too_few_people_say_what_works_before_the_button_is_pressed(dashboard: Dashboard):
    frame = CASES["base"].frame().drop(columns=["predicted", "score", "set"]).head(90)
    bring(dashboard, frame)
    assert "no model of this table can pass" in dashboard.page_text
    dashboard.favour()
    assert not dashboard.button("use_roles").disabled
