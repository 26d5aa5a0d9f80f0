"""The gate of the Data page: tables as people bring them, repairs, questions, and what keeps the button closed."""

from dataclasses import replace

import numpy as np
import pytest

from core.auditing import suggested_plan
from core.datasets import Roles, build_dataset, read_table, suggest_roles
from core.datasets.checked_table import Fact, Repair, Severity
from core.datasets.input_check import check_input, shared_lines
from pages._data.gate import Repaired
from tests.app.dashboard import UNIQUE_ROLES, plain
from tests.input_cases import CASES, csv_of


def bring(dashboard, frame):
    return dashboard.open("data").upload("people.csv", csv_of(frame))


def lines(dashboard, sign):
    """Return the lines of the card with an icon, without it, as they are read."""
    icon = {"bad": "block", "ask": "help", "look": "warning", "ok": "check_circle"}[sign]
    assert "What the columns mean" in dashboard.page_text
    texts = [plain(text) for text in dashboard.texts if f":material/{icon}:" in text]
    return [text.partition("] ")[2].replace("**", "").replace("  \n:small[", " ") for text in texts]


def line_with(dashboard, sign, text):
    (line,) = (line for line in lines(dashboard, sign) if text in line)
    return line


def repairs(dashboard):
    return [button.key for button in dashboard.test.button if (button.key or "").startswith("use_repair_")]


def applied(dashboard):
    dashboard.click("use_roles")
    assert not dashboard.test.warning
    (roles,) = dashboard.test.session_state["own_roles_upload"]
    return roles


@pytest.mark.parametrize("case", ["without_true_label", "three_outcomes", "h2o", "two_rows_a_person"])
def test_the_card_says_what_is_right_of_a_table(dashboard, case):
    """Cases that no test below draws; the facts of all are tested where they are found."""
    right, frame = CASES[case], CASES[case].frame()
    bring(dashboard, frame)
    roles = dashboard.column_roles()
    for role, column in right.roles.items():
        if role in UNIQUE_ROLES:
            assert next((name for name, has in roles.items() if has == role), "") == column, role
    signs = {Severity.BLOCKING: "bad", Severity.QUESTION: "ask", Severity.CAUTION: "look", Severity.GUESS: "ok"}
    table = read_table(csv_of(frame), "people.csv")
    guess = suggest_roles(table.frame)
    for fact in shared_lines(check_input(table.frame, guess.roles, guesses=guess.questions)):
        assert any(fact.more in line for line in lines(dashboard, signs[fact.severity])), fact.kind
    assert len(lines(dashboard, "bad")) == bool(right.blocking)
    assert dashboard.button("use_roles").disabled
    if "label" not in roles.values():
        assert "Missing: a label" in dashboard.page_text
        return
    dashboard.favour()
    while questions := [widget for widget in dashboard.widgets("answer_") if widget.value is None]:
        questions[0].set_value(questions[0].options[-1])  # the last answer changes no role
        dashboard.settle()
    assert dashboard.button("use_roles").disabled == bool(right.blocking)
    while before := lines(dashboard, "bad"):
        dashboard.click(repairs(dashboard)[0])
        assert len(lines(dashboard, "bad")) < len(before)
    used = applied(dashboard)
    assert not {*right.left_out} & set(build_dataset(table, used).feature_names)
    if not right.blocking:
        plan = suggested_plan(table, "people.csv", favourable=used.favourable).plan
        assert used == plan.config.roles  # as the command makes it


def test_a_repair_is_undone_and_what_was_changed_since_stays(dashboard):
    bring(dashboard, CASES["reversed_score"].frame()).favour()
    before = lines(dashboard, "bad")
    assert len(before) == 1
    dashboard.click(next(key for key in repairs(dashboard) if key.startswith("use_repair_contradiction_")))
    assert dashboard.widget("positive_").value == "no" and lines(dashboard, "bad") == []
    assert "score is turned round" in line_with(dashboard, "ok", "Before: ")
    dashboard.role_box("age").set_value("excluded")
    dashboard.settle().click("back_repaired_0")
    assert dashboard.widget("positive_").value == "yes" and lines(dashboard, "bad") == before
    assert dashboard.column_roles()["age"] == "excluded" and dashboard.button("use_roles").disabled
    for _ in range(2):  # the scores contradict the predictions, and the label
        dashboard.click(repairs(dashboard)[-1])
    confirmed = [line for line in lines(dashboard, "look") if "This is confirmed." in line]
    assert lines(dashboard, "bad") == [] and len(confirmed) == 2
    assert set(applied(dashboard).confirmed) == {"contradiction", "reversed_score"}


def test_a_repair_holds_while_other_columns_come_and_go():
    before = Roles(label="paid", positive="1", sensitive="sex", excluded=("id", "score"))
    fact = Fact(kind="copy", severity=Severity.BLOCKING, point="It is a copy.")
    after = replace(before, excluded=("id", "score", "copy"))
    entry = Repaired(fact, Repair(title="Leave it out", changes={"excluded": after.excluded}), before, after)
    assert entry.holds(replace(after, score="score", excluded=("id", "copy")))
    assert not entry.holds(before)
    assert entry.undo(replace(after, score="score", excluded=("id", "copy"))).excluded == ("id",)
    changes = {"score": "score", "excluded": ("id",)}
    taken_back = replace(before, **changes)
    entry = Repaired(fact, Repair(title="It is the score", changes=changes), before, taken_back)
    assert entry.holds(taken_back)
    assert not entry.holds(replace(taken_back, excluded=("id", "score")))


def test_a_column_of_bare_codes_becomes_the_set_of_two_clicks(dashboard):
    people = CASES["base"].frame()
    people["zq"] = people.pop("set").replace({"train": "A", "test": "B"})
    bring(dashboard, people).favour()
    dashboard.click(next(key for key in repairs(dashboard) if key.startswith("use_repair_sets_missing_")))
    assert "AUC of 0." in line_with(dashboard, "ask", "Which value of zq")
    assert "Missing: which value means training." in dashboard.page_text
    question = dashboard.widgets("answer_training_value_")[0]
    question.set_value(next(option for option in question.options if option.startswith("A ")))
    dashboard.settle()
    roles = applied(dashboard)
    assert (roles.sets, roles.training_value) == ("zq", "A")


def test_the_two_settings_of_the_label_are_two_and_the_score_s_has_its_evidence(dashboard):
    bring(dashboard, CASES["base"].frame()).favour()
    assert "AUC 0.8" in line_with(dashboard, "ok", "A higher score means approved = yes.")
    dashboard.choose(positive_="no")
    assert "AUC of 0.8" in line_with(dashboard, "bad", "predicted contradicts score")
    dashboard.choose(positive_="yes", favourable_="no")
    roles = applied(dashboard)
    assert (roles.positive, roles.favourable) == ("yes", "no")


def test_no_choice_of_a_label_is_a_crash(dashboard):
    frame = CASES["base"].frame().drop(columns=["predicted", "score", "set"]).head(90)
    frame["code"] = frame["sex"].map({"male": "m", "female": "f"})
    frame["known"] = frame["sex"].where(frame["approved"] == "yes")
    frame["late"] = frame["approved"]
    frame["age"] = frame["age"] % 3
    bring(dashboard, frame).favour()
    assert "no model of this table can pass" in dashboard.page_text and not dashboard.button("use_roles").disabled
    labels = {
        "the attribute itself": {"label": "sex", "sensitive": "sex"},
        "another writing of the attribute": {"label": "code", "sensitive": "sex"},
        "one value left": {"label": "late", "sensitive": "known"},
        "a column of many values": {"label": "age", "sensitive": "sex"},
    }
    for name, columns in labels.items():
        for role, column in columns.items():
            dashboard.role_box(column).set_value(role)
            dashboard.settle()
        dashboard.favour()
        assert not dashboard.test.error and "Something went wrong" not in dashboard.page_text, name
        if dashboard.button("use_roles").disabled:
            assert lines(dashboard, "bad") or "Missing: " in dashboard.page_text, name


def test_a_missing_label_is_given_by_its_only_button(dashboard):
    bring(dashboard, CASES["without_true_label"].frame())
    assert "The role Label can be given in the table below." in line_with(dashboard, "ask", "the true outcome")
    (button,) = repairs(dashboard)
    dashboard.click(button)
    assert dashboard.column_roles()["dept"] == "label"
    assert line_with(dashboard, "ok", "dept is the true outcome.")


def test_a_lone_risk_score_is_answered_before_the_audit(dashboard):
    bring(dashboard, CASES["risk_score_alone"].frame()).favour()
    assert "risk_score may be a model's answer" in line_with(dashboard, "ask", "risk_score")
    for undone in (True, False):
        assert dashboard.column_roles()["risk_score"] == "excluded" and dashboard.button("use_roles").disabled
        question = dashboard.widget("answer_possible_answers_")
        question.set_value(question.options[0])
        dashboard.settle()
        assert dashboard.column_roles()["risk_score"] == "score" and lines(dashboard, "ask") == []
        if undone:
            dashboard.click("back_repaired_0")
    assert applied(dashboard).score == "risk_score"


def test_no_more_than_eight_lines_are_open(dashboard):
    frame = CASES["trailing_period"].frame()
    for name in ("fold", "part"):
        frame[name] = np.arange(len(frame)) % 5
    for name in ("weight", "sample_weight", "propensity"):
        frame[name] = frame["score"].sample(frac=1, random_state=len(name)).to_numpy() + 0.5
    frame["half"] = frame["age"].where(frame["age"] > 60)
    bring(dashboard, frame)
    folded = [box.label for box in dashboard.test.expander if "more, guessed" in box.label]
    n_lines = sum(len(lines(dashboard, sign)) for sign in ("bad", "ask", "look", "ok"))
    assert folded == [f"{n_lines - 8} more, guessed"]
