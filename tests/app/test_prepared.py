"""Pages that read a prepared result: the same as pages that compute it, and nothing of an upload is stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import streamlit as st

from core.store.prepared import PreparedResults, ResultWriter
from pages.shell import cached, preparation
from pages.shell.background import ResultStore
from tests import samples
from tests.app.conftest import Start
from tests.app.dashboard import Dashboard, RecordedJob


def content(dashboard: Dashboard) -> list[str]:
    """Return all that a page sends to the browser when it is drawn once more, element by element."""
    dashboard.test.run()
    parts: list[str] = []

    def walk(block: Any) -> None:
        for child in block.children.values():
            if hasattr(child, "children"):
                walk(child)
            else:
                parts.append(str(getattr(child, "proto", child)))

    walk(dashboard.test._tree)
    return parts


def use(monkeypatch: pytest.MonkeyPatch, results: PreparedResults) -> None:
    """Let a server that starts now use a folder."""
    monkeypatch.setattr(cached, "open_results", lambda: results)
    st.cache_resource.clear()


@pytest.mark.long
def test_a_page_that_reads_shows_what_one_that_computes_shows_and_nothing_of_an_own_table_is_stored(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = tmp_path / "prepared" / "fairleak-1"
    use(monkeypatch, ResultWriter(folder))
    computed = {page: content(start().open(page)) for page in ("correction", "membership")}
    stored = sorted(path.name for path in folder.iterdir())
    uploaded = start().bring("own.csv", samples.frame().to_csv(index=False).encode(), samples.ROLES)
    assert "%" in uploaded.open("model").finding
    assert sorted(path.name for path in folder.iterdir()) == stored
    use(monkeypatch, PreparedResults(folder))
    RecordedJob.started.clear()
    monkeypatch.setattr(cached, "run", None)  # whoever trains or attacks again breaks
    for page, parts in computed.items():
        assert len(parts) > 20 and content(start().open(page)) == parts
    assert {job.lane for job in RecordedJob.started} <= {"fetch", "audit"}


def test_a_store_of_an_upload_cannot_have_prepared_results(tmp_path: Path):
    with pytest.raises(ValueError, match="upload"):
        ResultStore("session store", entries=1, uploaded=True, prepared=PreparedResults(tmp_path))


def test_the_sidebar_says_how_many_pages_are_prepared_while_some_are_not(
    dashboard: Dashboard, monkeypatch: pytest.MonkeyPatch
):
    line = "Preparing the demo: 1 of 12 pages. Each page can be used already."
    monkeypatch.setattr(preparation.preparation, "finished_pages", {"model"})
    for busy in (False, True):
        monkeypatch.setattr(preparation.preparation, "busy", busy)
        assert (line in dashboard.open("glossary").page_text) == busy
