"""One's own table, in-process: bad files and columns, roles and predictions on every page, and whose it stays."""

from __future__ import annotations

import html
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import streamlit as st

from core.auditing import AuditPlan, OutputsPlan, kept_tolerance, plan_text, read_plan, suggested_plan
from core.base.errors import InputError
from core.datasets import build_dataset, cautions, read_table, suggest_roles
from core.datasets.input_check import check_input, shared_lines
from core.datasets.roles import Roles
from core.datasets.splits import split
from core.stats.estimates import accuracy, percent
from core.studies.bias_queries.study import STUDY as BIAS_QUERIES
from core.studies.subject import AuditConfig
from pages.shell import cached, shell
from tests import expected
from tests.app.conftest import Start
from tests.app.dashboard import UNIQUE_ROLES, Dashboard, RecordedJob
from tests.app.deciding import Attacks, attacks, section
from tests.app.test_attriguard import FEW_BUDGETS
from tests.app.test_membership import Coming, gate
from tests.browser.tables import HOSTILE_CELL, HOSTILE_NAME, STYLED_NAME, people
from tests.samples_report import sample
from tests.unit.datasets.bad_tables import (
    BAD_ROLES,
    BAD_UPLOADS,
    GOOD,
    assert_one_sentence,
    csv_bytes,
    rows,
)

__all__ = ["attacks", "gate"]


ON_THE_FORM = ("every value chosen", "limit below everybody", "everything excluded", "numbers and text")
UPLOADED = ("empty file", "unclosed quote", "hostile file name", "pickle")
PAGES = ("data", "model", "correction", "bias_queries", "attriguard", "membership")
TRAINING = ("methods", "seeds", "trained")  # last the one that stays open
ROLES = Roles(
    label="hired",
    positive="yes",
    favourable="yes",
    sensitive="sex",
    group=("M",),
    prediction="predicted",
    score="probability",
    sets="split",
)
N = 240


def scored(count: int = 600) -> bytes:
    """Return a CSV of people with a model's decision, its probability and the set each was in."""
    rng = np.random.default_rng(3)
    man = rng.random(count) < 0.55
    hours = np.where(man, rng.normal(39, 5, count), rng.normal(33, 6, count)).round().astype(int)
    hired = rng.random(count) < 0.2 + 0.4 * man + 0.01 * (hours - 36)
    score = np.clip(0.25 + 0.3 * man + 0.2 * hired + rng.normal(0, 0.1, count), 0, 1).round(3)
    columns = {
        "age": rng.integers(20, 61, count),
        "hours": hours,
        "sex": np.where(man, "M", "F"),
        "hired": np.where(hired, "yes", "no"),
        "predicted": (score >= 0.5).astype(int),
        "probability": score,
        "split": np.array(["train", "attack", "test"])[np.arange(count) % 3],
    }
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True)), ""]
    return "\n".join(lines).encode()


def bring_scored(dashboard: Dashboard, **columns: Any) -> None:
    """Upload people with a model's answers, and choose what is not suggested."""
    dashboard.open("data").upload("scored.csv", scored())
    dashboard.assign(**{"label": "hired", "positive": "yes", "sensitive": "sex", **columns})


def bring_people(dashboard: Dashboard, **options: str) -> None:
    """Upload people and say what their columns are."""
    dashboard.open("data").upload("people.csv", people(**options))
    dashboard.assign(label="hired", positive="yes", sensitive="sex", group=[options.get("woman", "F")])


TABLES = {
    "good": GOOD,
    "styled names": people(),
    "predictions": scored(),
    "several groups": csv_bytes("age,race,hired", [f"{20 + i % 37},{'abc'[i % 3]},{i % 5 % 2}" for i in range(N)]),
    "a number as attribute": csv_bytes(
        "age,job,hired", [f"{20 + i % 37},{'xyz'[i % 3]},{i % 5 % 2}" for i in range(N)]
    ),
    "a near copy": csv_bytes("job2,age,job,sex,hired", [f"{'xy'[i % 2]},{row}" for i, row in enumerate(rows())]),
    "no attribute": csv_bytes("age2,job,kind,hired"),
    "no label": csv_bytes("age,job,sex,hired", [row.rsplit(",", 1)[0] + f",{i % 4}" for i, row in enumerate(rows())]),
}


def boxes(dashboard: Dashboard) -> dict[str, Any]:
    """Return what the form holds, by role."""
    columns = dashboard.column_roles()
    held = {role: next((name for name, has in columns.items() if has == role), "") for role in UNIQUE_ROLES}
    positive = next((widget.value for widget in dashboard.widgets("positive_")), None) or ""
    return {**held, "positive": positive, "excluded": tuple(name for name, has in columns.items() if has == "excluded")}


def reasons(dashboard: Dashboard) -> str:
    """Return all reasons that the form gives."""
    cells = [html.unescape(element.proto.body) for element in dashboard.test.get("html")]
    return " ".join((*cells, *captions(dashboard), *dashboard.texts)).replace("\\", "")


def captions(dashboard: Dashboard) -> list[str]:
    return [caption.value.replace("\\", "") for caption in dashboard.test.caption]


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch, gate: Coming) -> None:
    """Few repeats, few attackers, and few shadow models."""
    monkeypatch.setattr(type(BIAS_QUERIES), "command_defaults", {"questions": 25, "repeats": 2})
    monkeypatch.setattr("pages._attriguard.attriguard_controls.TRAINED_BUDGETS", FEW_BUDGETS)


def test_a_bad_file_is_one_sentence_and_the_audit_stays(dashboard: Dashboard):
    dashboard.open("data")
    before = dashboard.finding
    for bad in BAD_UPLOADS:
        if bad.kind in UPLOADED:
            dashboard.upload(bad.file_name, bad.data)
            assert_one_sentence(dashboard.plain_problem(), bad.words_expected)
            assert dashboard.finding == before, bad.kind
            assert dashboard.test.selectbox(key="dataset").value == "demo"
    dashboard.test.file_uploader(key="upload").clear()
    dashboard.settle()
    assert not dashboard.test.warning
    assert dashboard.finding == before


def test_the_old_audit_stays_until_the_roles_are_applied(dashboard: Dashboard):
    dashboard.open("model")
    before = dashboard.finding
    dashboard.open("data").upload("good.csv", GOOD)
    assert "until you press *Confirm and audit*" in dashboard.finding and "good.csv" in dashboard.plain_finding
    assert dashboard.open("model").finding == before
    dashboard.open("data").favour().click("use_roles")
    assert "good.csv" not in dashboard.plain_finding and "Confirm and audit" not in dashboard.finding
    uploaded_finding = dashboard.open("model").finding
    assert uploaded_finding != before
    dashboard.open("data").upload("people.csv", people())
    assert dashboard.open("model").finding == uploaded_finding  # an earlier table of one's own stays too
    dashboard.open("data").click("remove_upload")
    assert dashboard.test.selectbox(key="dataset").value == "upload"


def test_a_table_with_the_same_columns_starts_with_the_roles_of_the_one_before(dashboard: Dashboard):
    bring_scored(dashboard, prediction="", excluded=("hours", "predicted"))
    dashboard.widget("threshold_").set_value(0.7)
    dashboard.assign(missing="drop")
    before = dashboard.column_roles()
    assert before["hours"] == "excluded" and "prediction" not in before.values()
    dashboard.upload("second.csv", scored(500))
    assert dashboard.column_roles() == before
    assert (dashboard.widget("threshold_").value, dashboard.widget("missing_").value) == (0.7, "drop")
    assert "As in your table before it" in dashboard.page_text
    dashboard.upload("good.csv", GOOD)
    assert "As in your table before it" not in dashboard.page_text


def test_values_of_group_1_that_the_next_table_does_not_have(dashboard: Dashboard):
    dashboard.open("data").upload("races.csv", TABLES["several groups"])
    dashboard.assign(label="hired", positive="1", sensitive="race", way="two", group=["a", "b"])
    dashboard.upload("next.csv", TABLES["several groups"].replace(b",b,", b",d,"))
    assert dashboard.widget("group_").value == ["a"]
    assert "**Not in this table: 'b'.**" in dashboard.page_text
    assert " to look at" in dashboard.plain_finding
    dashboard.upload("same.csv", TABLES["several groups"] + b"20,a,1\n")
    assert dashboard.widget("group_").value == ["a", "b"] and "Not in this table" not in dashboard.page_text


def test_what_is_drafted_outlives_a_look_at_another_page_and_not_the_roles_in_use(dashboard: Dashboard):
    dashboard.open("data").upload("races.csv", TABLES["several groups"])
    dashboard.choose(way_="two", positive_="1", group_=["b", "c"], missing_="drop")
    drafted = {key: dashboard.widget(key).value for key in ("way_", "positive_", "group_", "missing_")}
    dashboard.open("glossary").open("data")
    assert {key: dashboard.widget(key).value for key in drafted} == drafted
    for positive in ("0", "1", "0"):
        dashboard.assign(positive=positive)
        assert dashboard.widget("positive_").value == positive  # nothing of an earlier draft is left


def test_one_column_has_a_role_and_the_other_one_loses_it(dashboard: Dashboard):
    dashboard.open("data").upload("scored.csv", scored())
    dashboard.role_box("age").set_value("prediction")
    dashboard.settle()
    roles = dashboard.column_roles()
    assert (roles["age"], roles["predicted"]) == ("prediction", "feature")
    assert "your choice" in reasons(dashboard) and "another column was chosen" in reasons(dashboard)


def test_a_caution_s_button_is_the_column_s_role(dashboard: Dashboard):
    dashboard.open("data").upload("copy.csv", TABLES["a near copy"])
    assert dashboard.column_roles()["job2"] == "feature"
    dashboard.click("use_repair_near_attribute_")
    assert dashboard.column_roles()["job2"] == "excluded" and "job2 is left out." in dashboard.page_text
    dashboard.role_box("job2").set_value("feature")
    dashboard.settle()
    assert "job2 is left out." not in dashboard.page_text
    dashboard.click("use_repair_near_attribute_")
    dashboard.favour().click("use_roles")
    (roles,) = dashboard.test.session_state["own_roles_upload"]
    assert "job2" in roles.excluded


def test_a_copy_of_the_answers_is_warned_of_though_the_guess_left_it_out(dashboard: Dashboard):
    first, *data_lines = scored().decode().splitlines()
    lines = [f"{first},decision", *(f"{line},{line.split(',')[4]}" for line in data_lines)]
    dashboard.open("data").upload("scored.csv", "\n".join(lines).encode())
    assert dashboard.column_roles()["decision"] == "excluded" and "looks like an output" not in dashboard.page_text
    dashboard.role_box("decision").set_value("feature")
    dashboard.settle()
    assert "decision looks like an output of the model" in dashboard.page_text


def test_a_first_line_of_data_can_be_chosen(dashboard: Dashboard):
    rows = [f"Zoë{i},{20 + i % 30},{'FM'[i % 2]},{'yes' if i % 3 else 'no'}" for i in range(90)]
    dashboard.open("data").upload("people.csv", "\n".join(rows).encode())
    assert "column names look like values" in reasons(dashboard)
    dashboard.choose(header_="data")
    assert list(dashboard.column_roles()) == [f"column {number}" for number in range(1, 5)]
    assert "90 records" in dashboard.plain_finding and "Zoë0" in reasons(dashboard)


def test_bad_columns_are_one_sentence_and_the_audit_stays(dashboard: Dashboard):
    dashboard.open("data")
    for bad in BAD_ROLES:
        if bad.kind in ON_THE_FORM:
            dashboard.upload("table.csv", bad.content)
            roles = bad.roles
            choices = {name: getattr(roles, name) for name in ("label", "positive", "sensitive", "excluded", "missing")}
            choices |= {"limit": roles.at_most} if roles.at_most is not None else {"group": list(roles.group)}
            dashboard.assign(**choices)
            assert_one_sentence(dashboard.plain_problem(), bad.words_expected)
            assert "until you press" in dashboard.finding, bad.kind
    assert "Loan applicants" in dashboard.open("model").page_text


def test_own_names_are_shown_never_obeyed_and_in_no_shared_store(dashboard: Dashboard):
    names = (HOSTILE_CELL, HOSTILE_NAME, STYLED_NAME)
    bring_people(dashboard, woman=HOSTILE_CELL)
    for sensitive, group in ((STYLED_NAME, "*clerk*_x_"), (HOSTILE_NAME, None)):
        dashboard.open("data")
        dashboard.assign(sensitive=sensitive, **({"group": [group]} if group else {}))
        for page in ("data", "model", "correction"):
            dashboard.open(page)
            assert "%" in dashboard.finding
            for name in names:
                for text in (*dashboard.texts, *(caption.value for caption in dashboard.test.caption)):
                    assert name not in text, text
        assert shell.escape(sensitive) in " ".join(dashboard.texts)
    dashboard.choose(further="trained")
    shared = cached.store_of("demo")
    pickles = [pickle.dumps(value) for value in shared._results.values()]
    assert pickles and not [value for value in pickles for name in names if name.encode() in value]
    jobs = [job for job in RecordedJob.started if job.lane == "sweep"]
    assert jobs and not set(jobs) & set(shared._jobs.values())


def test_two_columns_crossed_are_the_groups_or_refused_by_their_smallest_cell(dashboard: Dashboard):
    dashboard.open("data")
    dashboard.assign(sensitive="sex", crossed="origin")
    assert "of “woman × born abroad”" in dashboard.plain_finding
    assert dashboard.test.selectbox(key="attribute").value == "sex × origin"
    before = dashboard.finding
    dashboard.assign(sensitive="age")
    assert "'age × origin' must have 2 to 20 cells" in dashboard.plain_problem()
    assert dashboard.finding == before


def test_a_table_too_small_for_the_split_is_one_sentence(dashboard: Dashboard):
    rows = [f"{i % 41},{'FM'[i < 60]},{'yes' if i % 3 else 'no'}" for i in range(95)]
    dashboard.open("data").upload("small.csv", "\n".join(["age,sex,hired", *rows, ""]).encode())
    dashboard.assign(label="hired", positive="yes", sensitive="sex", group=["F"])
    dashboard.choose(train_share=0.8)
    dashboard.open("correction")
    assert_one_sentence(dashboard.plain_problem())
    assert "at least 3 people" in dashboard.plain_problem()


def test_a_table_too_small_for_the_default_policy_is_known_before_the_verdict(dashboard: Dashboard):
    def notes() -> list[str]:
        return [line for line in captions(dashboard) if "training records identified" in line]

    dashboard.open("data")
    assert notes() == []
    bring_people(dashboard)
    roles = Roles(label="hired", positive="yes", favourable="yes", sensitive="sex", group=("F",))
    dataset = build_dataset(read_table(people(), "people.csv"), roles)
    women = int(
        (dataset.sensitive[split(dataset, seed=AuditConfig().seed).test] == dataset.group_names.index("F")).sum()
    )
    assert f"That takes about 500 test records of each group, and “F” has {women}:" in notes()[0]
    assert women >= 100 and "the comparison may stay inconclusive" in notes()[0]


def test_groups_whose_intervals_overlap_can_differ_significantly(dashboard: Dashboard):
    lines = [f"{20 + i % 37},{'FM'[i % 2]},{'yes' if i // 2 % 50 < 25 + 2 * (i % 2) else 'no'}" for i in range(4000)]
    dashboard.open("data").upload("people.csv", "\n".join(["age,sex,hired", *lines, ""]).encode())
    dashboard.assign(label="hired", positive="yes", sensitive="sex", group=["F"])
    assert "95% CIs 47.8 to 52.2% and 51.8 to 56.2%." in dashboard.plain_finding  # χ² test: p = 0.011
    assert "A model that copies these labels copies the difference." in dashboard.page_text


def test_removing_the_table_brings_the_demo_back(dashboard: Dashboard):
    dashboard.open("data")
    before = dashboard.finding
    assert "Choose a dataset or upload your own" in dashboard.page_text
    bring_people(dashboard)
    assert "Every page now audits this table." in dashboard.page_text and "upload your own" not in dashboard.page_text
    dashboard.click("remove_upload")
    assert dashboard.finding == before
    assert "Your table" not in dashboard.test.selectbox(key="dataset").options
    for page in ("model", "correction"):
        dashboard.open(page)
        assert percent(expected.audit().disclose(0.005).before) in dashboard.finding or page == "model"
        assert dashboard.test.selectbox(key="dataset").value == "demo"


def test_a_table_that_went_with_its_connection(dashboard: Dashboard):
    bring_people(dashboard)
    st.cache_resource.clear()  # what a lost connection does; the session's settings survive it
    for page in ("model", "correction"):
        dashboard.open(page)
        (info,) = dashboard.test.info
        assert "Your table is gone" in info.value
        assert not any("%" in text for text in dashboard.findings)  # no other table's numbers in its place
        assert dashboard.test.selectbox(key="dataset").value == "upload"
    bring_people(dashboard)
    dashboard.open("model")
    assert "%" in dashboard.finding


def test_page_and_command_agree_on_every_table(dashboard: Dashboard):
    dashboard.open("data")
    for name, content in TABLES.items():
        table = read_table(content, f"{name}.csv")
        dashboard.upload(f"{name}.csv", content)
        assert not dashboard.test.warning, name
        guess = suggest_roles(table.frame)
        values = boxes(dashboard)
        assert values.pop("crossed") == ""
        for role, value in values.items():
            assert value == getattr(guess.roles, role), (name, role)
        reason_text = reasons(dashboard)
        unsaid = {"excluded"} if guess.roles.label else {"excluded", "label"}  # a fact says that there is none
        for reason in (
            *guess.left_out.values(),
            *(guess.reasons[role] for role in guess.reasons if role not in unsaid),
        ):
            assert reason in reason_text, (name, reason)
        facts = check_input(table.frame, guess.roles, guesses=guess.questions, settings=True)
        gate_lines = shared_lines((*facts, *cautions(table.frame, guess.roles)))
        for fact in gate_lines:
            assert f"**{fact.point}**" in reason_text and fact.more in reason_text, (name, fact.kind)
        n_lines = sum("] **" in text for text in dashboard.texts)  # an icon, then the point
        assert len(gate_lines) <= n_lines
        assert f"Confirm {n_lines} sentences before the first verdict: " in dashboard.plain_finding, name
        try:
            plan = suggested_plan(table, f"{name}.csv", favourable=guess.roles.positive).plan
        except InputError:
            assert dashboard.button("use_roles").disabled, name
            continue
        dashboard.favour().click("use_roles")
        assert not dashboard.test.warning, name
        assert dashboard.test.session_state["own_roles_upload"] == [plan.config.roles], name
        assert dashboard.test.number_input(key="tolerance").value == plan.config.tolerance, name
        assert not any(line.startswith("Guessed: ") for line in captions(dashboard)), name
        dashboard.click("remove_upload")


def test_the_tolerance_starts_where_the_predictions_keep_to_it(dashboard: Dashboard):
    def tolerance() -> float:
        return float(dashboard.test.number_input(key="tolerance").value)

    dashboard.open("data").upload("scored.csv", scored())
    assert tolerance() == 0.005
    dashboard.favour().click("use_roles")
    table = read_table(scored(), "scored.csv")
    plan = suggested_plan(table, "scored.csv", favourable="yes").plan
    assert tolerance() == plan.config.tolerance > 0.1
    dashboard.choose(metric="equal_opportunity")
    dataset = build_dataset(table, plan.config.roles)
    expected_tolerance = kept_tolerance(dataset, replace(plan.config, metric="equal_opportunity"))
    assert tolerance() == expected_tolerance != plan.config.tolerance
    dashboard.test.number_input(key="tolerance").set_value(0.3)  # the user's own from here on
    dashboard.settle()
    dashboard.choose(metric="statistical_parity")
    dashboard.open("overview", settled=False)
    assert tolerance() == 0.3
    dashboard.open("data").choose(dataset="demo")
    assert tolerance() == 0.005
    dashboard.choose(tolerance=0.02)
    dashboard.open("model", settled=False)
    assert tolerance() == 0.02


def test_what_is_released_is_said_chosen_and_in_the_plan(dashboard: Dashboard, attacks: Attacks):
    def released() -> Any:
        return dashboard.widget("asked_outputs_")

    attacks.instead = sample()
    dashboard.open("data").upload("scored.csv", scored())
    dashboard.favour().click("use_roles")
    dashboard.open("report")
    assert "released: scores rounded to 3 decimals" in dashboard.plain_finding
    section(dashboard, "attacked")
    assert released().options == [
        "Scores as they are",
        "Scores rounded to 1 decimal",
        *(f"Scores rounded to {places} decimals" for places in range(2, 7)),
        "Labels only",
    ]
    released().set_value(OutputsPlan(released="labels"))
    dashboard.widget("asked_title").set_value("Loans, spring")
    dashboard.click("asked_keep")
    assert [plan.outputs for plan in attacks.plans] == [
        OutputsPlan(decimals=3),
        OutputsPlan(released="labels"),
    ]
    assert all(read_plan(plan_text(plan)) == plan for plan in attacks.plans)
    first = suggested_plan(read_table(scored(), "scored.csv"), "scored.csv", favourable="yes").plan
    assert _but_answers(attacks.plans[0]) == _but_answers(first)
    dashboard.test.selectbox(key="dataset").set_value("demo")  # what was said of another model
    dashboard.settle()
    assert "released: scores as they are" in dashboard.plain_finding
    assert attacks.plans[-1].outputs == OutputsPlan() and attacks.plans[-1].bias_queries.questions == 0
    assert [(plan.title, plan.membership.shadows) for plan in attacks.plans[1:]] == [("Loans, spring", 0), ("", 16)]


def _but_answers(plan: AuditPlan) -> tuple[Any, ...]:
    return plan.data, plan.model, plan.config, plan.outputs, plan.bias_queries, plan.membership


def test_no_page_trains_and_none_fails(dashboard: Dashboard, brief: None):
    bring_scored(dashboard)
    values = boxes(dashboard)
    assert [values[role] for role in ("prediction", "score", "sets")] == ["predicted", "probability", "split"]
    dataset = build_dataset(read_table(scored(), "scored.csv"), ROLES)
    assert dataset.predictions is not None
    assert f"positive for {percent(float(dataset.predictions.mean()))}" in dashboard.page_text
    assert "200 train, 200 attack, 200 test" in dashboard.page_text
    test = np.arange(dataset.n) % 3 == 2
    for page in PAGES:
        dashboard.open(page)
        assert not dashboard.test.error
        widgets = {widget.key for widget in (*dashboard.test.selectbox, *dashboard.test.slider)}
        assert not widgets & {"method", "train_share"}, page
        if page not in ("correction", "bias_queries"):  # their warnings are about the tolerance and the noise
            assert not dashboard.test.warning, page
        if page == "model":
            right = accuracy(dataset.labels[test], dataset.predictions[test])
            assert percent(right) in dashboard.finding and "The predictions in your table" in dashboard.page_text
        for part in ("tuning", "more", *TRAINING) if page == "correction" else ():
            dashboard.choose(further=part)
            says = [info.value for info in dashboard.test.info if "trained here" in info.value]
            assert len(says) == (part in TRAINING), part
    assert "the best of 3 attacks tried" in dashboard.plain_finding
    assert "nothing is known of how this model was trained" in dashboard.page_text
    for part in ("ranges", "picking", "others"):
        dashboard.choose(further_members=part)
        assert not dashboard.test.error and not dashboard.test.warning, part


def test_labels_alone_and_no_sets_leave_out_what_needs_them(dashboard: Dashboard, brief: None):
    bring_scored(dashboard, score="", sets="", excluded=("probability", "split"))
    assert "No column says whom the model was trained on" in dashboard.page_text
    dashboard.open("model")
    assert "on the people attacked" in dashboard.finding
    cautions = [info.value for info in dashboard.test.info]
    assert len(cautions) == 2 and "drawn with the seed" in cautions[0] and "without scores" in cautions[1]
    dashboard.open("bias_queries")
    assert_one_sentence(dashboard.plain_problem(), ("Scores are needed",))
    dashboard.open("membership")
    assert_one_sentence(dashboard.plain_problem(), ("trained on",))


def test_scores_with_a_threshold_and_back_to_training(dashboard: Dashboard, brief: None):
    bring_scored(dashboard, prediction="", excluded="predicted")
    threshold = dashboard.widget("threshold_")
    assert threshold.value == 0.5
    threshold.set_value(0.7)
    dashboard.settle()
    dashboard.favour().click("use_roles")
    assert "a score of at least 0.7 is positive" in dashboard.page_text
    dashboard.choose(dataset="demo")
    dashboard.open("model")
    assert dashboard.test.selectbox(key="method").value == "exponentiated_gradient"


def test_a_link_made_for_an_uploaded_table_says_that_the_demo_is_shown_instead(start: Start):
    sentence = "This link was made for an uploaded table, which is not in the link."

    def warned(dashboard: Dashboard) -> bool:
        return any(sentence in warning.value for warning in dashboard.test.warning)

    dashboard = start({"dataset": "Your table"})
    assert warned(dashboard.open("data")) and "Approved" in dashboard.finding
    assert warned(dashboard.open("model"))
    assert not warned(dashboard.open("glossary"))
    bring_people(dashboard)
    assert not warned(dashboard) and not warned(dashboard.open("model"))
    assert not warned(dashboard.open("data").click("remove_upload"))
    assert not warned(start({"dataset": "Loan applicants (built-in demo)"}).open("data"))


def test_a_link_made_with_other_roles_of_a_built_in_table_says_so(start: Start):
    sentence = "This link was made with column roles that are not in the link."

    def warned(dashboard: Dashboard) -> bool:
        return any(sentence in warning.value for warning in dashboard.test.warning)

    sender = start().open("data").assign(excluded="sector")
    link = {"roles": "changed"}
    assert sender.open("model").test.query_params == link and not warned(sender)
    sender.choose(attribute="origin")
    assert "roles" not in sender.test.query_params
    receiver = start(link).open("model")
    assert warned(receiver) and warned(receiver.open("data"))
    assert receiver.test.query_params == link  # which is sent on
    assert not warned(receiver.assign(excluded="sector")) and not warned(receiver.open("model"))
