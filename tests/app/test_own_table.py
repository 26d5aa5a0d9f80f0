"""One's own table, in-process: bad files and columns, roles and predictions on every page, and whose it stays."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
import streamlit as st

from core.auditing import OutputsPlan, kept_tolerance, plan_text, read_plan, suggested_plan
from core.datasets import build_dataset, read_table
from core.stats.estimates import accuracy, percent
from core.studies.bias_queries.study import STUDY as BIAS_QUERIES
from pages.shell import cached, shell
from tests.app.dashboard import RecordedJob
from tests.app.test_attriguard import FEW_BUDGETS
from tests.app.test_membership import gate
from tests.browser.tables import HOSTILE_CELL, HOSTILE_NAME, STYLED_NAME, people
from tests.input_cases import base_people, csv_of
from tests.samples_report import sample
from tests.unit.datasets.bad_tables import BAD_ROLES, BAD_UPLOADS, GOOD, GOOD_ROLES, assert_one_sentence, csv_bytes
from tests.unit.datasets.test_input_check import decided_people

__all__ = ["gate"]


def scored(count=600):
    """Return a CSV of people with a model's decision, its probability and the set each was in."""
    people = base_people(count).drop(columns=["dept", "set"])
    people = people.rename(columns={"income": "hours", "approved": "hired", "score": "probability"})
    return csv_of(people.assign(split=np.resize(["train", "attack", "test"], count)))


def bring_scored(dashboard, **columns):
    """Upload people with a model's answers, and choose what is not suggested."""
    dashboard.open("data").upload("scored.csv", scored())
    dashboard.assign(**{"label": "hired", "positive": "yes", "sensitive": "sex", **columns})


def bring_people(dashboard, **options):
    dashboard.open("data").upload("people.csv", people(**options))
    dashboard.assign(label="hired", positive="yes", sensitive="sex", group=[options.get("woman", "F")])


def test_own_names_are_shown_never_obeyed_and_in_no_shared_store(dashboard):
    names = (HOSTILE_CELL, HOSTILE_NAME, STYLED_NAME)
    bring_people(dashboard, woman=HOSTILE_CELL)
    group = {"group": ["*clerk*_x_"]}
    for sensitive, values, last in ((STYLED_NAME, group, "model"), (HOSTILE_NAME, {}, "correction")):
        dashboard.open("data")
        dashboard.assign(sensitive=sensitive, **values)
        for page in ("data", last):
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


def test_what_cannot_be_used_is_one_sentence_and_the_audit_stays(dashboard):
    dashboard.open("data")
    before = dashboard.finding
    for bad in BAD_UPLOADS:
        if bad.kind in ("empty file", "unclosed quote", "hostile file name", "pickle"):
            dashboard.upload(bad.file_name, bad.data)
            assert_one_sentence(dashboard.plain_problem(), bad.words_expected)
            assert dashboard.finding == before, bad.kind
    for bad_roles in BAD_ROLES:
        if bad_roles.kind in ("every value chosen", "limit below everybody", "everything excluded", "numbers and text"):
            dashboard.upload("table.csv", bad_roles.content)
            roles = bad_roles.roles
            choices = {name: getattr(roles, name) for name in ("label", "positive", "sensitive", "excluded", "missing")}
            choices |= {"limit": roles.at_most} if roles.at_most is not None else {"group": list(roles.group)}
            dashboard.assign(**choices)
            assert_one_sentence(dashboard.plain_problem(), bad_roles.words_expected)
            assert "until you press" in dashboard.finding, bad_roles.kind
    assert "Loan applicants" in dashboard.open("model").page_text


def test_the_old_audit_stays_until_the_roles_are_applied_and_is_back_when_the_table_is_removed(dashboard):
    before = dashboard.open("model").finding
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
    dashboard.click("remove_upload")
    assert "Your table" not in dashboard.test.selectbox(key="dataset").options
    assert dashboard.open("model").finding == before


def test_a_table_with_the_same_columns_starts_with_the_roles_of_the_one_before(dashboard):
    bring_scored(dashboard, prediction="", excluded=("hours", "predicted"))
    dashboard.widget("threshold_").set_value(0.7)
    dashboard.assign(missing="drop")
    assert "a score of at least 0.7 is positive" in dashboard.page_text
    before = dashboard.column_roles()
    assert before["hours"] == "excluded" and "prediction" not in before.values()
    dashboard.upload("second.csv", scored(500))
    assert dashboard.column_roles() == before
    assert (dashboard.widget("threshold_").value, dashboard.widget("missing_").value) == (0.7, "drop")
    three_groups = csv_bytes("age,race,hired", [f"{20 + i % 37},{'abc'[i % 3]},{i % 5 % 2}" for i in range(240)])
    dashboard.upload("races.csv", three_groups)
    assert "As in your table before it" not in dashboard.page_text
    dashboard.choose(way_="two", positive_="1", group_=["a", "b"], missing_="drop")
    drafted = {key: dashboard.widget(key).value for key in ("way_", "positive_", "group_", "missing_")}
    dashboard.open("glossary").open("data")  # a draft outlives a look at another page
    assert {key: dashboard.widget(key).value for key in drafted} == drafted
    for positive in ("0", "1"):
        dashboard.assign(positive=positive)
        assert dashboard.widget("positive_").value == positive  # nothing of an earlier draft is left
    dashboard.upload("next.csv", three_groups.replace(b",b,", b",d,"))
    assert dashboard.widget("group_").value == ["a"] and "**Not in this table: 'b'.**" in dashboard.page_text


def test_columns_take_one_role_each_and_cautions_have_buttons(dashboard):
    first, *data_lines = scored().decode().splitlines()
    lines = [f"{first},decision", *(f"{line},{line.split(',')[4]}" for line in data_lines)]
    dashboard.open("data").upload("scored.csv", "\n".join(lines).encode())
    assert dashboard.column_roles()["decision"] == "excluded" and "looks like an output" not in dashboard.page_text
    dashboard.role_box("decision").set_value("feature")
    dashboard.settle()
    assert "decision looks like an output of the model" in dashboard.page_text
    dashboard.role_box("age").set_value("prediction")
    dashboard.settle()
    roles = dashboard.column_roles()
    assert (roles["age"], roles["predicted"]) == ("prediction", "feature")
    rows = GOOD.decode().split()[1:]
    near_copy = csv_bytes("job2,age,job,sex,hired", [f"{'xy'[i % 2]},{row}" for i, row in enumerate(rows)])
    dashboard.upload("copy.csv", near_copy)
    dashboard.click("use_repair_near_attribute_")
    assert dashboard.column_roles()["job2"] == "excluded"
    dashboard.role_box("job2").set_value("feature")
    dashboard.settle()
    assert "job2 is left out." not in dashboard.page_text
    dashboard.click("use_repair_near_attribute_").favour().click("use_roles")
    (applied,) = dashboard.test.session_state["own_roles_upload"]
    assert "job2" in applied.excluded


def test_a_first_line_of_data_can_be_chosen(dashboard):
    rows = [f"Zoë{i},{20 + i % 30},{'FM'[i % 2]},{'yes' if i % 3 else 'no'}" for i in range(90)]
    dashboard.open("data").upload("people.csv", "\n".join(rows).encode())
    assert "column names look like values" in dashboard.page_text
    dashboard.choose(header_="data")
    assert list(dashboard.column_roles()) == [f"column {number}" for number in range(1, 5)]
    assert "90 records" in dashboard.plain_finding


def test_two_columns_crossed_are_the_groups_or_refused_by_their_smallest_cell(dashboard):
    dashboard.open("data").assign(sensitive="sex", crossed="origin")
    assert "of “woman × born abroad”" in dashboard.plain_finding
    before = dashboard.finding
    dashboard.assign(sensitive="age")
    assert "'age × origin' must have 2 to 20 cells" in dashboard.plain_problem()
    assert dashboard.finding == before


def test_a_small_table_is_known_before_the_verdict_and_one_too_small_is_one_sentence(dashboard):
    bring_people(dashboard)
    (note,) = [text.value for text in dashboard.test.caption if "looks for training records" in text.value]
    assert "1,000 test records" in note
    small = csv_bytes("age,sex,hired", [f"{i % 41},{'FM'[i < 60]},{'yes' if i % 3 else 'no'}" for i in range(95)])
    dashboard.upload("small.csv", small)
    dashboard.assign(label="hired", positive="yes", sensitive="sex", group=["F"])
    dashboard.choose(train_share=0.8).open("correction")
    assert_one_sentence(dashboard.plain_problem(), ("at least 3 people",))


@pytest.mark.long
def test_a_table_that_went_with_its_connection(dashboard):
    bring_people(dashboard)
    st.cache_resource.clear()  # what a lost connection does; the session's settings survive it
    for page in ("model", "correction"):
        dashboard.open(page)
        (info,) = dashboard.test.info
        assert "Your table is gone" in info.value
        assert not any("%" in text for text in dashboard.findings)  # no other table's numbers in its place
    bring_people(dashboard)
    assert "%" in dashboard.open("model").finding


def test_the_tolerance_starts_where_the_predictions_keep_to_it(dashboard):
    def tolerance():
        return float(dashboard.test.number_input(key="tolerance").value)

    dashboard.open("data").upload("scored.csv", scored())
    assert tolerance() == 0.005
    dashboard.favour().click("use_roles")
    table = read_table(scored(), "scored.csv")
    plan = suggested_plan(table, "scored.csv", favourable="yes").plan
    assert tolerance() == plan.config.tolerance > 0.05
    dashboard.choose(metric="equal_opportunity")
    changed = replace(plan.config, metric="equal_opportunity")
    assert tolerance() == kept_tolerance(build_dataset(table, changed.roles), changed) != plan.config.tolerance
    dashboard.choose(tolerance=0.3, metric="statistical_parity")  # the user's own from here on
    assert tolerance() == 0.3
    dashboard.open("data").choose(dataset="demo")
    assert tolerance() == 0.005


def test_what_is_released_is_said_chosen_and_in_the_plan(dashboard, attacks):
    attacks.instead = sample()
    dashboard.open("data").upload("scored.csv", scored())
    dashboard.favour().press("use_roles")
    assert "released: scores rounded to 3 decimals" in dashboard.plain_finding  # the button leads to the Report
    dashboard.open("report")
    dashboard.choose(further_release="attacked")
    dashboard.submit("asked_keep", asked_outputs_=OutputsPlan(released="labels"), asked_title="Loans, spring")
    assert [plan.outputs for plan in attacks.plans] == [OutputsPlan(decimals=3), OutputsPlan(released="labels")]
    assert all(read_plan(plan_text(plan)) == plan for plan in attacks.plans)
    first = suggested_plan(read_table(scored(), "scored.csv"), "scored.csv", favourable="yes").plan
    assert replace(attacks.plans[0], policy=first.policy, title=first.title) == first
    dashboard.choose(dataset="demo")  # what was said of another model
    assert attacks.plans[-1].outputs == OutputsPlan() and attacks.plans[-1].title == ""


@pytest.mark.long
def test_no_page_trains_and_none_fails(dashboard, gate, monkeypatch):
    monkeypatch.setattr(type(BIAS_QUERIES), "command_defaults", {"questions": 25, "repeats": 2})
    monkeypatch.setattr("pages._attriguard.attriguard_controls.TRAINED_BUDGETS", FEW_BUDGETS)
    bring_scored(dashboard)
    roles = replace(GOOD_ROLES, group=("male",), prediction="predicted", score="probability", sets="split")
    dataset = build_dataset(read_table(scored(), "scored.csv"), roles)
    assert "200 train, 200 attack, 200 test" in dashboard.page_text
    test = np.arange(dataset.n) % 3 == 2
    for page in ("data", "model", "correction", "bias_queries", "attriguard", "membership"):
        dashboard.open(page)
        assert not dashboard.test.error
        widgets = {widget.key for widget in (*dashboard.test.selectbox, *dashboard.test.slider)}
        assert not widgets & {"method", "train_share"}, page
        if page == "model":
            right = accuracy(dataset.labels[test], dataset.predictions[test])
            assert percent(right) in dashboard.finding
        training = ("methods", "seeds", "trained")  # last the one that stays open
        for part in ("more", *training) if page == "correction" else ():
            dashboard.choose(further=part)
            says = [info.value for info in dashboard.test.info if "trained here" in info.value]
            assert len(says) == (part in training), part
    assert "the best of 3 attacks tried" in dashboard.plain_finding
    dashboard.open("data").assign(score="", sets="", excluded=("probability", "split"))
    for page, phrase in (("bias_queries", "Scores are needed"), ("membership", "trained on")):
        dashboard.open(page)
        assert_one_sentence(dashboard.plain_problem(), (phrase,))


def warned(dashboard, sentence):
    return any(sentence in warning.value for warning in dashboard.test.warning)


def test_a_link_made_for_an_uploaded_table_says_that_the_demo_is_shown_instead(start):
    sentence = "This link was made for an uploaded table, which is not in the link."
    dashboard = start({"dataset": "Your table"})
    assert warned(dashboard.open("data"), sentence) and "Approved" in dashboard.finding
    assert not warned(dashboard.open("glossary"), sentence)
    assert "No verdict" in dashboard.open("report").finding  # the demo's could be taken for the table's
    bring_people(dashboard)
    assert not warned(dashboard, sentence)


def test_a_reload_while_a_table_waits_for_its_roles_is_said_beside_the_upload(start):
    sentence = "A table waited here for the roles of its columns."
    dashboard = start({"waiting": "table"}).open("data")
    assert warned(dashboard, sentence)
    assert not warned(dashboard.open("model"), sentence)
    dashboard.open("data").upload("people.csv", decided_people().to_csv(index=False).encode())
    assert not warned(dashboard, sentence)
    assert dashboard.test.query_params["waiting"] == "table"


@pytest.mark.long
def test_a_link_made_with_other_roles_of_a_built_in_table_says_so(start):
    sentence = "This link was made with column roles that are not in the link."
    sender = start().open("data").assign(excluded="sector")
    link = {"roles": "changed"}
    assert sender.open("model").test.query_params == link and not warned(sender, sentence)
    receiver = start(link).open("data")
    assert warned(receiver, sentence) and receiver.test.query_params == link  # which is sent on
    assert not warned(receiver.assign(excluded="sector"), sentence)


def test_a_vendors_words_are_answered_on_the_gate_and_reach_the_plan(dashboard):
    vendor = decided_people()
    dashboard.open("data").upload("vendor.csv", vendor.to_csv(index=False).encode())
    dashboard.draft(score="vendor_score", favourable="no")
    assert dashboard.button("use_roles").disabled
    dashboard.widget("answer_prediction_values_").set_value(0)
    dashboard.test.run()
    dashboard.click("use_roles")
    (applied,) = dashboard.test.session_state["own_roles_upload"]
    assert applied.prediction_positive == "refer"
    table = read_table(vendor.to_csv(index=False).encode(), "vendor.csv")
    plan = suggested_plan(table, "vendor.csv", favourable="no", prediction_positive="Refer").plan
    assert plan.config.roles.prediction_positive == "refer"
    assert read_plan(plan_text(plan)) == plan


def test_a_stale_change_of_a_role_is_no_error_once_the_roles_are_applied(dashboard):
    dashboard.open("data").upload("scored.csv", scored())
    dashboard.favour()
    dashboard.role_box("hours").set_value("excluded")
    stale = dashboard.test._tree.get_widget_states()  # what a slow browser sends again
    dashboard.test.run()
    dashboard.click("use_roles")
    assert "hours" in dashboard.test.session_state["own_roles_upload"][0].excluded
    dashboard.test._run(stale)
    assert not dashboard.test.exception
