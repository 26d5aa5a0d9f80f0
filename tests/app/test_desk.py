"""The query desk in-process: before there is a ledger, who is registered, and what stays on record."""

from __future__ import annotations

import numpy as np
import pytest
from google.protobuf import text_format

from core.desk import Columns, TestSet, default_ledger, open_ledger
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
    assert "Example: three fairness queries about 1,000 synthetic people used ε 0.3" in finding
    assert "synthetic example" in " ".join(dashboard.texts)
    assert not default_ledger().parent.exists()
    assert any("it holds nobody's attribute" in caption.value for caption in dashboard.test.caption)


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
