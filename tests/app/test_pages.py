"""Every page, in-process: it renders with its sidebar, follows its settings and says what must be said."""

import re

import pytest
import streamlit as st

from core.learn.examples import EXAMPLES, example
from core.models import METHODS, PRIVATE_METHODS, TOLERANCE_METHODS
from core.stats.estimates import change_decimals, percent, tolerance_text
from core.store.prepared import PreparedResults, ResultWriter
from core.studies.correction.findings import first_tolerance
from pages.shell import cached, preparation, shell
from pages.shell.background import ResultStore
from pages.shell.panels import csv_name
from tests import expected, samples
from tests.app.dashboard import RecordedJob, sweep_job


def test_the_overview_draws_the_prepared_leaks_and_does_without_them(start, monkeypatch, tmp_path):
    monkeypatch.setattr("core.studies.subject.train_model", None)  # which breaks whatever is computed
    dashboard = start().open("overview")
    for title, before, after in (("Fairness answers", 79, 92), ("Tolerance", 81, 81), ("Training data", 50, 60)):
        dashboard.choose(overview_attack=title)
        text = " ".join(html.value for html in dashboard.test.get("html"))
        assert f"{before} of 100" in text and f"{after} of 100" in text and "built-in demo" in text
    (empty := tmp_path / "empty.json").write_text("{}")
    for path in (tmp_path / "missing.json", empty):
        monkeypatch.setattr("core.experiments.leak_pictures.read_pictures.__defaults__", (path,))
        assert "prepared picture of the demo is missing" in start().open("overview").page_text


@pytest.mark.long
@pytest.mark.parametrize("method", METHODS)
def test_every_method(start, method):
    dashboard = start().open("model").choose(method=method)
    model = expected.model(method=method)
    assert percent(model.accuracy_test) in dashboard.finding
    assert tolerance_text(model.unfairness_train) in dashboard.finding
    text = " ".join(box.value for box in dashboard.test.info)
    assert ("method needs each person" in text) == model.needs_sensitive
    assert ("not used" in text) == (method not in TOLERANCE_METHODS)
    assert bool(dashboard.test.select_slider) == (method in PRIVATE_METHODS)
    dashboard.open("correction")
    assert dashboard.test.slider(key="told").value == first_tolerance(expected.audit(method=method))


@pytest.mark.parametrize(
    "link",
    [
        {"tolerance": "nan", "seed": "1e99", "train_share": "0.99", "metric": "<b>none</b>", "attribute": "savings"},
        {"dataset": "upload"},
    ],
    ids=str,
)
def test_a_nonsensical_link_cannot_leave_the_ranges(start, link):
    dashboard = start(link).open("data")
    test = dashboard.test
    assert 0.0 <= test.number_input(key="tolerance").value <= 1.0
    assert 0 <= test.number_input(key="seed").value < 2**32
    assert 0.1 <= test.slider(key="train_share").value <= 0.8
    assert test.selectbox(key="dataset").value == "demo"
    assert test.selectbox(key="attribute").value in ("sex", "origin")
    assert not test.warning and "%" in dashboard.finding


def test_a_setting_put_back_stays_so_on_the_next_page(dashboard):
    dashboard.open("overview", settled=False)
    for metric in ("equal_opportunity", "statistical_parity"):
        dashboard.test.selectbox(key="metric").set_value(metric).run()
        dashboard.open("model", settled=False)
        assert dashboard.test.selectbox(key="metric").value == metric


def test_the_slider_adds_points_that_are_not_precomputed_and_attackers_are_chosen(dashboard):
    dashboard.open("correction")
    for tolerance in (0.137, 0.0, 0.2):
        dashboard.choose(told=tolerance)
        now = expected.audit().disclose(tolerance)
        assert f"after disclosure of {tolerance_text(tolerance)} (95% CI" in dashboard.plain_finding
        decimals = change_decimals(now.before, now.after, now.gain)
        assert percent(now.after, decimals=decimals) in dashboard.finding
    for adversary, published, cost in (("predictions", False, "count"), ("features", True, "log_odds")):
        dashboard.choose(adversary=adversary, as_published=published, cost=cost)
        now = expected.audit().disclose(0.2, adversary=adversary, cost=cost, as_published=published)
        assert percent(now.after) in dashboard.finding


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "*a*_b_", "[x](javascript:alert(1))", ":red[x] $5$ `c`"])
def test_escape_leaves_no_character_that_markdown_obeys(text):
    escaped = shell.escape(text)
    assert re.sub(r"\\(.)", r"\1", escaped) == text
    assert not re.search(r"(?<!\\)[*_<>\[\]`$:()]", escaped)


def test_a_file_is_called_like_its_page_and_table():
    names = {"First 20 rows": "first-20-rows", "Over ε": "over-ε", "../<b>Up</b> & *down*": "b-up-b-down"}
    names["x" * 500] = "x" * 60
    for title, name in names.items():
        assert csv_name("data", title) == f"fairleak-data-{name}.csv"


def content(dashboard):
    """Return all that a page sends to the browser when it is drawn once more, element by element."""
    dashboard.test.run()
    return [str(getattr(node, "proto", node)) for node in dashboard.nodes() if not hasattr(node, "children")]


@pytest.mark.long
def test_a_page_that_reads_shows_what_one_that_computes_shows_and_nothing_of_an_own_table_is_stored(
    start, tmp_path, monkeypatch
):
    folder = tmp_path / "prepared" / "fairleak-1"
    monkeypatch.setattr(cached, "open_results", lambda: ResultWriter(folder))
    st.cache_resource.clear()
    computed = {page: content(start().open(page)) for page in ("correction", "membership")}
    stored = sorted(path.name for path in folder.iterdir())
    uploaded = start().bring("own.csv", samples.frame().to_csv(index=False).encode(), samples.ROLES)
    assert "%" in uploaded.open("model").finding
    assert sorted(path.name for path in folder.iterdir()) == stored
    monkeypatch.setattr(cached, "open_results", lambda: PreparedResults(folder))
    st.cache_resource.clear()
    RecordedJob.started.clear()
    monkeypatch.setattr(cached, "run", None)  # whoever trains or attacks again breaks
    for page, parts in computed.items():
        assert len(parts) > 20 and content(start().open(page)) == parts
    assert {job.lane for job in RecordedJob.started} <= {"fetch", "audit"}


def test_a_store_of_an_upload_cannot_have_prepared_results(tmp_path):
    with pytest.raises(ValueError, match="upload"):
        ResultStore("session store", entries=1, uploaded=True, prepared=PreparedResults(tmp_path))


def test_the_sidebar_says_how_many_pages_are_prepared_while_some_are_not(dashboard, monkeypatch):
    line = "Preparing the demo: 1 of 12 pages. Each page can be used already."
    monkeypatch.setattr(preparation.preparation, "finished_pages", {"model"})
    for busy in (False, True):
        monkeypatch.setattr(preparation.preparation, "busy", busy)
        assert (line in dashboard.open("glossary").page_text) == busy


def test_more_disclosed_is_computed_without_new_models(dashboard):
    dashboard.open("correction").choose(further="more")
    assert "Answers proved optimal: 5 of 5" in dashboard.page_text


@pytest.mark.long
def test_a_tuned_attacker_is_found_and_used(dashboard):
    dashboard.open("correction").choose(further="tuning", evaluations=10).click("start_tuning")
    sweep_job().end()
    assert sweep_job().state == "finished", sweep_job().error
    dashboard.settle()
    (frame,) = (f.value for f in dashboard.test.dataframe)
    assert list(frame["Parameter"])[:2] == ["trees", "depth"]
    dashboard.click("use_tuned")
    chosen = dashboard.test.session_state["forest"][1]
    assert str(dict(chosen)["max_depth"]) == frame["Found"][1]
    now = expected.audit(forest=chosen).disclose(0.005)
    assert percent(now.after) in dashboard.finding and "tuned" in dashboard.finding
    dashboard.click("use_pinned")
    assert percent(expected.audit().disclose(0.005).before) in dashboard.finding and "tuned" not in dashboard.finding


def test_a_question_first_then_feedback_and_the_steps(dashboard):
    def answer(number):
        dashboard.test.number_input(key="answer_correction").set_value(number)
        next(button for button in dashboard.test.button if button.label == "Answer").click()
        dashboard.settle()

    dashboard.open("learn")
    case = example("correction")
    assert case.title in dashboard.finding and case.question in dashboard.page_text
    assert case.goal not in dashboard.page_text  # it may reveal the answer
    answer(3)
    assert "Not yet" in dashboard.plain_problem() and case.steps[0].result not in dashboard.page_text
    answer(2)
    assert not dashboard.test.warning and dashboard.test.success[0].value.startswith(r"Right\: 2.")
    assert case.goal in dashboard.page_text and all(step.result in dashboard.page_text for step in case.steps)


def test_an_address_restores_an_example_and_the_next_one_follows(start):
    dashboard = start({"example": "split"}).open("learn").choose(steps_split=True)
    case = example("split")
    for step in case.steps:
        assert step.text in dashboard.page_text and step.computation in dashboard.page_text
    formulas = [line for step in case.steps for line in step.formula.splitlines()]
    assert [formula.value.strip("$\n") for formula in dashboard.test.latex] == formulas
    assert case.lesson in dashboard.test.info[0].value.replace("\\", "") and case.discuss in dashboard.page_text
    names = list(EXAMPLES)
    dashboard.choose(example=names[-2])
    for name in (names[-1], names[0]):  # after the last comes the first
        dashboard.click("example_next")
        assert dashboard.test.query_params["example"] in (name, [name])
        assert example(name).title in dashboard.finding
    nonsense = start({"example": "<script>"}).open("learn")
    assert nonsense.test.selectbox(key="example").value == names[0]
