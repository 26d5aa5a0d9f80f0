"""The query desk in-process: before there is a ledger, who is registered, and what stays on record."""

from __future__ import annotations

import numpy as np
import pytest
from google.protobuf import text_format

from core.desk import Columns, TestSet, default_ledger, open_ledger
from pages.common import desk_board
from tests import desk_files
from tests.app.conftest import Start
from tests.app.dashboard import Dashboard
from tests.app.desk import (
    ask,
    audited,
    desk,
    give,
    ledger,
    plain,
    section,
    state,
)
from tests.unit.datasets.bad_tables import assert_one_sentence

pytestmark = pytest.mark.usefixtures("start")


def test_an_example_before_any_click_and_nothing_on_disk(dashboard: Dashboard):
    desk(dashboard, create=False)
    finding = plain(dashboard.finding)
    assert "Example: four fairness queries about 1,000 synthetic people used ε 0.3" in finding
    assert "synthetic example" in " ".join(dashboard.texts)
    assert not default_ledger().parent.exists()
    assert any(desk_board.STORED in caption.value for caption in dashboard.test.caption)


def test_the_examples_number_is_the_worst_error():
    from pages.common.desk_board import _play

    found = _play()
    errors = [abs(a.gap.value - t) for a, t in zip(found.status.answers, found.truths, strict=True)]
    assert found.worst == max(errors) > 0
    assert [a.charged for a in found.status.answers] == [0.1, 0.1, 0, 0]
    assert found.truths[2] == pytest.approx(-found.truths[0])
    assert all(a.gap.low <= t <= a.gap.high for a, t in zip(found.status.answers, found.truths, strict=True))


def test_an_existing_default_ledger_is_open_without_a_click(dashboard: Dashboard):
    made = open_ledger(default_ledger(), create=True)
    people = TestSet(ids=tuple("abcdef"), attribute=np.array([1, 0, 1, 0, 1, 1]))
    made.register("loans", people, budget=2, columns=Columns(attribute="sex"))
    dashboard.open("desk")
    assert plain(dashboard.finding).startswith("## ε 1.8 of 2 is left for loans; no query was asked yet.")


def test_the_chart_says_how_many_answers_it_leaves_out(dashboard: Dashboard):
    made = open_ledger(default_ledger(), create=True)
    people = TestSet(ids=tuple("abcdef"), attribute=np.array([1, 0, 1, 0, 1, 1]))
    made.register("loans", people, budget=20, columns=Columns(attribute="sex"))
    for k in range(6):
        made.ask("loans", people, np.eye(6)[k], epsilon=1, asker=f"team {k}")
    dashboard.open("desk")
    assert not any("The last 6 of" in text for text in dashboard.texts)
    made.ask("loans", people, 1.0 - np.eye(6)[0], epsilon=1, asker="team 7")
    dashboard.test.run()
    assert any("The last 6 of 7." in text for text in dashboard.texts)


def test_the_record_asks_for_the_model(dashboard: Dashboard):
    audited(dashboard)
    field = dashboard.test.text_input(key="desk_asker")
    assert "about which model" in field.label and field.placeholder == "team A, model 7"


def test_the_same_people_get_no_second_budget(dashboard: Dashboard):
    audited(dashboard)
    section(dashboard, "register")
    next(f for f in dashboard.test.text_input if (f.key or "").startswith("desk_new_name")).set_value("again")
    dashboard.test.button(key="desk_register").click()
    dashboard.settle()
    assert_one_sentence(dashboard.plain_problem(), ("have a budget for this attribute already", "demo, sex"))
    assert ledger().names() == ("demo, sex",)


def test_four_groups_have_no_gap(dashboard: Dashboard):
    desk(dashboard)
    dashboard.test.selectbox(key="attribute").set_value("age/ranges")
    dashboard.settle()
    assert_one_sentence(dashboard.plain_problem(), ("two groups", "4"))
    assert dashboard.test.button(key="desk_register").disabled


def test_two_sessions_share_one_budget(start: Start):
    first, second = start(), start()
    audited(first)
    second.open("desk")
    ask(first, asker="team A")
    ask(second, asker="team B", epsilon=0.3)
    assert [(a.asker, a.charged) for a in state().answers] == [("team A", 0.1)]
    assert second.test.success  # the same answer, free
    section(first, "log")
    (frame,) = (found.value for found in first.test.dataframe)
    assert list(frame["Who"]) == ["team A"] and list(frame["Free"]) == [False]


def test_an_export_is_verified_and_a_changed_one_is_not(dashboard: Dashboard):
    ask(audited(dashboard))
    content = ledger().record()[0]
    section(dashboard, "record")
    assert any(state().seal in text for text in dashboard.texts)
    give(dashboard, "desk_verify", "record.jsonl", content)
    assert "Verification of record.jsonl passed: 3 entries, 1 answer, 1 budget" in plain(
        dashboard.test.success[0].value
    )
    dashboard.test.text_input(key="desk_noted").set_value(state().seal[:32])
    dashboard.settle()
    assert dashboard.test.success
    dashboard.test.text_input(key="desk_noted").set_value("0123456789abcdef" * 2)
    dashboard.settle()
    assert "noted hash" in plain(dashboard.test.error[0].value)
    dashboard.test.text_input(key="desk_noted").set_value("")
    dashboard.settle()
    give(dashboard, "desk_verify", "record.jsonl", content.replace(b"team A", b"team B"))
    assert not dashboard.test.success and "Verification failed" in dashboard.test.error[0].value
    give(dashboard, "desk_verify", "people.csv", desk_files.test_set())
    assert_one_sentence(dashboard.plain_problem(), ("not an export",))


def test_names_are_shown_and_never_obeyed(dashboard: Dashboard):
    hostile = "<img src=x onerror=alert(1)> *x* [y](z) :red[w]"
    made = open_ledger(default_ledger(), create=True)
    people = TestSet(ids=tuple("abcdef"), attribute=np.array([1, 0, 1, 0, 1, 1]))
    made.register(hostile, people, budget=2, columns=Columns(attribute=hostile, advantaged=hostile))
    made.ask(hostile, people, np.linspace(0, 1, 6), epsilon=0.5, asker=hostile)
    dashboard.open("desk")
    for name in ("ask", "log", "record"):
        section(dashboard, name)
        assert hostile in plain(dashboard.finding)
        for text in (*dashboard.texts, *(caption.value for caption in dashboard.test.caption)):
            assert hostile not in text
        html = [text_format.MessageToString(one.proto) for one in dashboard.test.get("html")]
        assert not [words for words in html if "<img" in words]
