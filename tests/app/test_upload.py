"""One's own table, in-process: every bad file and bad choice of columns is one sentence, and the audit stays."""

from __future__ import annotations

import pickle
from uuid import uuid4

import pytest
import streamlit as st

from core.estimates import percent
from pages.common import cached, shell
from tests import expected
from tests.app.conftest import Start
from tests.app.dashboard import Dashboard, RecordedJob
from tests.browser.tables import HOSTILE_CELL, HOSTILE_NAME, STYLED_NAME, people
from tests.unit.datasets.bad_tables import BAD_ROLES, BAD_UPLOADS, GOOD, BadRoles, BadUpload, assert_one_sentence

ON_THE_FORM = (
    "every value chosen",
    "limit below everybody",
    "everything excluded",
    "numbers and text",
    "nobody complete",
)
UPLOADED = (
    "empty file",
    "unclosed quote",
    "Parquet damaged inside",
    "hostile name twice",
    "hostile file name",
    "pickle",
)


def assign(dashboard: Dashboard, **choices: object) -> None:
    """Fill the form for one's own columns, in its order, and press its button."""
    for name in ("label", "positive", "sensitive", "group", "limit", "excluded", "missing"):
        if name in choices:
            dashboard.widget(f"{name}_upload").set_value(choices[name])
            dashboard.test.run()
            assert not dashboard.test.exception
    dashboard.click("use_roles")


def bring_people(dashboard: Dashboard, **words: str) -> None:
    """Upload people and say what their columns are."""
    dashboard.open("data").upload("people.csv", people(**words))
    assign(dashboard, label="hired", positive="yes", sensitive="sex", group=[words.get("woman", "F")])


@pytest.mark.parametrize("bad", [bad for bad in BAD_UPLOADS if bad.kind in UPLOADED], ids=lambda bad: bad.kind)
def test_a_bad_file_is_one_sentence_and_the_audit_stays(dashboard: Dashboard, bad: BadUpload):
    dashboard.open("data")
    before = dashboard.finding
    dashboard.upload(bad.file_name, bad.data)
    assert_one_sentence(dashboard.plain_problem(), bad.words_expected)
    assert dashboard.finding == before
    assert dashboard.test.selectbox(key="dataset").value == "demo"
    dashboard.test.file_uploader(key="upload").clear()
    dashboard.settle()
    assert not dashboard.test.warning
    assert dashboard.finding == before


def test_other_pages_send_the_owner_of_a_fresh_table_to_the_data_page(dashboard: Dashboard):
    dashboard.open("data").upload("good.csv", GOOD)
    for page in ("start", "model", "correction"):
        dashboard.open(page)
        (info,) = dashboard.test.info
        assert "Data page" in info.value and not dashboard.test.warning


BAD = [bad for bad in BAD_ROLES if bad.kind in ON_THE_FORM]


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.kind)
def test_bad_columns_are_one_sentence_and_the_audit_stays(dashboard: Dashboard, bad: BadRoles):
    dashboard.open("data").upload("table.csv", bad.content)
    before = dashboard.finding
    roles = bad.roles
    choices: dict[str, object] = {"label": roles.label, "positive": roles.positive, "sensitive": roles.sensitive}
    choices |= {"limit": roles.at_most} if roles.at_most is not None else {"group": list(roles.group)}
    assign(dashboard, **choices, excluded=list(roles.excluded), missing=roles.missing)
    assert_one_sentence(dashboard.plain_problem(), bad.words_expected)
    assert dashboard.finding == before


def test_own_names_are_shown_and_never_obeyed(dashboard: Dashboard):
    bring_people(dashboard, woman=HOSTILE_CELL)
    for sensitive, group in ((STYLED_NAME, "*clerk*_x_"), (HOSTILE_NAME, None)):
        dashboard.open("data")
        assign(dashboard, sensitive=sensitive, **({"group": [group]} if group else {}))
        for page in ("start", "data", "model", "correction"):
            dashboard.open(page)
            assert "%" in dashboard.finding
            for name in (HOSTILE_CELL, HOSTILE_NAME, STYLED_NAME):
                for text in (*dashboard.texts, *(caption.value for caption in dashboard.test.caption)):
                    assert name not in text, text
        assert shell.escape(sensitive) in " ".join(dashboard.texts)


def test_a_table_too_small_for_the_split_is_one_sentence(dashboard: Dashboard):
    rows = [f"{i % 41},{'FM'[i < 60]},{'yes' if i % 3 else 'no'}" for i in range(95)]
    dashboard.open("data").upload("small.csv", "\n".join(["age,sex,hired", *rows, ""]).encode())
    assign(dashboard, label="hired", positive="yes", sensitive="sex", group=["F"])
    dashboard.choose(train_share=0.8)
    dashboard.open("correction")
    assert_one_sentence(dashboard.plain_problem())
    assert "at least 3 people" in dashboard.plain_problem()


def test_removing_the_table_brings_the_demo_back(dashboard: Dashboard):
    dashboard.open("data")
    before = dashboard.finding
    bring_people(dashboard)
    assert dashboard.finding != before
    dashboard.click("remove_upload")
    assert dashboard.finding == before
    assert "Your table" not in dashboard.test.selectbox(key="dataset").options
    for page in ("start", "model", "correction"):
        dashboard.open(page)
        assert percent(expected.audit().disclose(0.005).before) in dashboard.finding or page == "model"
        assert dashboard.test.selectbox(key="dataset").value == "demo"


def test_a_table_that_went_with_its_connection(dashboard: Dashboard):
    bring_people(dashboard)
    dashboard.open("correction")
    st.cache_resource.clear()  # what a lost connection does; the session's settings survive it
    for page in ("model", "start", "correction"):
        dashboard.open(page)
        (info,) = dashboard.test.info
        assert "Your table is gone" in info.value
        assert not any("%" in text for text in dashboard.findings)  # no other table's numbers in its place
        assert dashboard.test.selectbox(key="dataset").value == "upload"
    bring_people(dashboard)
    dashboard.open("model")
    assert "%" in dashboard.finding


def test_nothing_of_an_own_table_is_in_the_shared_store(start: Start):
    marker = f"Marker{uuid4().hex}"
    owner = start()
    bring_people(owner, woman=marker)
    for page in ("start", "model", "correction"):
        owner.open(page)
        assert "%" in owner.finding
    shared = cached.store_of("demo")
    assert shared._results
    assert not [key for key, value in shared._results.items() if marker.encode() in pickle.dumps(value)]
    own = [job for job in RecordedJob.started if job.lane == "sweep"]
    assert own and not set(own) & set(shared._jobs.values())
