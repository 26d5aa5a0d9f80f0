"""The gate of the Data page: tables as people bring them, repairs, questions, and what keeps the button closed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from core.datasets import Roles, build_dataset, read_table, suggest_roles
from core.datasets.checked_table import Fact, Severity
from core.datasets.input_check import check_input, shared_lines
from tests.app.dashboard import UNIQUE_ROLES, Dashboard, plain
from tests.input_cases import CASES, csv_of


def bring(dashboard: Dashboard, frame: pd.DataFrame) -> Dashboard:
    return dashboard.open("data").upload("people.csv", csv_of(frame))


def facts_of(frame: pd.DataFrame, **changes: Any) -> tuple[Fact, ...]:
    """Return the facts of a table under its suggested roles with some changes."""
    table = read_table(csv_of(frame), "people.csv").frame
    guess = suggest_roles(table)
    roles = replace(guess.roles, **changes)
    return check_input(table, roles, guesses=guess.questions)


def lines(dashboard: Dashboard, sign: str) -> list[str]:
    """Return the lines of the card with an icon, without it, as they are read."""
    icon = {"bad": "block", "ask": "help", "look": "warning", "ok": "check_circle"}[sign]
    assert "What the columns mean" in dashboard.page_text
    texts = [plain(text) for text in dashboard.texts if f":material/{icon}:" in text]
    return [text.partition("] ")[2].replace("**", "").replace("  \n:small[", " ") for text in texts]


def line_with(dashboard: Dashboard, sign: str, text: str) -> str:
    """Return the one line of the card with this text."""
    (line,) = (line for line in lines(dashboard, sign) if text in line)
    return line


def open_buttons(dashboard: Dashboard) -> list[str]:
    return [button.key for button in dashboard.test.button if (button.key or "").startswith("use_repair_")]


def first_repairs(dashboard: Dashboard) -> Dashboard:
    """Press the first repair of the first blocking line until none is left."""
    for _ in range(6):
        if not lines(dashboard, "bad"):
            return dashboard
        before = len(lines(dashboard, "bad"))
        dashboard.click(open_buttons(dashboard)[0])
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
    signs = {Severity.BLOCKING: "bad", Severity.QUESTION: "ask", Severity.CAUTION: "look", Severity.GUESS: "ok"}
    for fact in shared_lines(facts_of(frame)):
        assert any(fact.more in line for line in lines(dashboard, signs[fact.severity])), fact.kind
    assert len(lines(dashboard, "bad")) == bool(right.blocking)
    assert dashboard.button("use_roles").disabled
    if not roles_name_label(roles):
        assert "Missing: a label" in dashboard.page_text and "true outcome" in dashboard.page_text
        return
    assert "which outcome is good for the person" in dashboard.page_text
    dashboard.favour()
    answer_questions(dashboard)
    assert dashboard.button("use_roles").disabled == bool(right.blocking)
    first_repairs(dashboard).click("use_roles")
    assert not dashboard.test.warning
    (applied,) = dashboard.test.session_state["own_roles_upload"]
    assert applied.favourable
    table = read_table(csv_of(frame), "people.csv")
    assert not {*right.left_out} & set(build_dataset(table, applied).feature_names)


def answer_questions(dashboard: Dashboard) -> None:
    """Answer what is asked besides, always with the last answer, which changes no role."""
    for _ in range(3):
        questions = [widget for widget in dashboard.widgets("answer_") if widget.value is None]
        if not questions:
            return
        questions[0].set_value(questions[0].options[-1])
        dashboard.settle()
    raise AssertionError("questions do not end")


def roles_name_label(roles: dict[str, str]) -> bool:
    return "label" in roles.values()


def test_a_repair_is_undone_and_what_was_changed_since_stays(dashboard: Dashboard):
    bring(dashboard, CASES["reversed_score"].frame()).favour()
    before = lines(dashboard, "bad")
    assert len(before) == 1
    key = next(key for key in open_buttons(dashboard) if key.startswith("use_repair_contradiction_"))
    dashboard.click(key)
    assert dashboard.widget("positive_").value == "no" and lines(dashboard, "bad") == []
    assert "score is turned round" in line_with(dashboard, "ok", "Before: ")
    assert not dashboard.button("use_roles").disabled
    dashboard.role_box("age").set_value("excluded")
    dashboard.settle()
    dashboard.click("back_repaired_0")
    assert dashboard.widget("positive_").value == "yes" and lines(dashboard, "bad") == before
    assert dashboard.column_roles()["age"] == "excluded" and dashboard.button("use_roles").disabled


def test_a_fact_that_is_confirmed_is_a_green_line_and_in_the_roles(dashboard: Dashboard):
    bring(dashboard, CASES["reversed_score"].frame()).favour()
    for _ in range(2):  # the scores contradict the predictions, and the label
        dashboard.click(open_buttons(dashboard)[-1])
    assert lines(dashboard, "bad") == []
    dashboard.click("back_repaired_1")
    assert len(lines(dashboard, "bad")) == 1 and dashboard.button("use_roles").disabled
    dashboard.click(open_buttons(dashboard)[-1]).click("use_roles")
    (applied,) = dashboard.test.session_state["own_roles_upload"]
    assert set(applied.confirmed) == {"contradiction", "reversed_score"}


def test_the_value_that_a_score_predicts_has_its_evidence_and_blocks_when_reversed(dashboard: Dashboard):
    bring(dashboard, CASES["base"].frame())
    assert "1 question" in dashboard.page_text
    dashboard.favour()
    assert "AUC 0.8" in line_with(dashboard, "ok", "A higher score means approved = yes.")
    dashboard.choose(positive_="no")
    assert "A higher score means" not in " ".join(lines(dashboard, "ok"))
    assert "AUC 0.1" in line_with(dashboard, "bad", "predicted contradicts score")
    dashboard.choose(positive_="yes")
    assert applied(dashboard).positive == "yes"


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
    assert "bonus looks like an output" in line and dashboard.column_roles()["bonus"] == "feature"
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


def test_a_lone_risk_score_is_answered_before_the_audit(dashboard: Dashboard):
    bring(dashboard, CASES["risk_score_alone"].frame()).favour()
    assert "risk_score may be a model's answer" in line_with(dashboard, "ask", "risk_score")
    assert dashboard.button("use_roles").disabled and "a column is the model's answer" in dashboard.page_text
    question = dashboard.widget("answer_possible_answers_")
    question.set_value(question.options[0])
    dashboard.settle()
    assert dashboard.column_roles()["risk_score"] == "score" and lines(dashboard, "ask") == []
    dashboard.click("back_repaired_0")
    assert dashboard.column_roles()["risk_score"] == "excluded" and dashboard.button("use_roles").disabled
    question = dashboard.widget("answer_possible_answers_")
    question.set_value(question.options[0])
    dashboard.settle()
    assert applied(dashboard).score == "risk_score"


def test_people_on_both_sides_block_until_they_are_repaired(dashboard: Dashboard):
    bring(dashboard, CASES["two_rows_a_person"].frame()).favour()
    assert "the test is not of strangers" in line_with(dashboard, "bad", "800 people have several rows")
    first_repairs(dashboard)
    assert "Each of 800 people stands on one side" in line_with(dashboard, "ok", "Before: ")
    roles = applied(dashboard)
    assert (roles.person, roles.confirmed) == ("student_id", ("person",))


def test_no_more_than_eight_lines_are_open(dashboard: Dashboard):
    frame = CASES["trailing_period"].frame()
    for name in ("fold", "part"):
        frame[name] = range(len(frame))
        frame[name] = frame[name] % 5
    for name in ("weight", "sample_weight", "propensity"):
        frame[name] = frame["score"].sample(frac=1, random_state=len(name)).to_numpy() + 0.5
    frame["half"] = frame["age"].where(frame["age"] > 60)
    bring(dashboard, frame)
    folded = [box.label for box in dashboard.test.expander if "more, guessed" in box.label]
    n_lines = sum(len(lines(dashboard, sign)) for sign in ("bad", "ask", "look", "ok"))
    assert folded == [f"{n_lines - 8} more, guessed"]
