"""Every page says what it said: titles, texts, labels, helps, values, tables, and the titles of its charts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.dashboard import Dashboard
from tests.golden.make import compare, page_text

QUICK = ("start", "data", "model", "correction", "desk", "learn")
LONG = ("bias_queries", "attriguard", "membership", "release", "report")


@pytest.mark.parametrize("page", [*QUICK, *(pytest.param(page, marks=pytest.mark.long) for page in LONG)])
def test_pages(page: str, dashboard: Dashboard, tmp_path: Path):
    dashboard.open(page)
    compare(f"pages/{page}.txt", page_text(dashboard.test, tmp_path))


def test_every_page_has_a_golden_text():
    pages = Path(__file__).resolve().parents[2] / "pages"
    assert {path.stem for path in pages.glob("*.py")} - {"__init__"} == {*QUICK, *LONG}
