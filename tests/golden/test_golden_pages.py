"""Every page says what it said: titles, texts, labels, helps, values, tables, and the words in its charts.

The Report page audits with few attacks, as its other tests do; the other pages do all their work but sweeps, which
wait for their turn: how far one is would depend on the machine.
"""

import re
from pathlib import Path

import pytest

from pages.shell import background
from pages.shell.job_queue import Urgency
from tests.app.deciding import attacks
from tests.golden.texts import FILES, page_text

__all__ = ["attacks"]

QUICK = (
    "overview",
    "data",
    "model",
    "correction",
    "desk",
    "learn",
    "glossary",
    "model_card",
    "models",
)
GUIDE = re.compile(r"\[expander\] How to read this\n(.*?)(?=\n\[)", re.DOTALL)
LONG = ("bias_queries", "attriguard", "membership", "attribute", "report")


@pytest.fixture
def no_sweeps(monkeypatch):
    """Let no sweep begin, and the self-test, which has the places of sweeps, among the jobs that take minutes."""
    monkeypatch.setitem(background.QUEUE.places, Urgency.SWEEP, 0)
    monkeypatch.setitem(background.JOB_KINDS, "self_test", background.JOB_KINDS["decision"])


@pytest.mark.usefixtures("no_sweeps")
@pytest.mark.parametrize("page", [*QUICK, *(pytest.param(page, marks=pytest.mark.long) for page in LONG)])
def test_pages(page, dashboard, attacks, tmp_path, compare):
    dashboard.open(page)
    compare(f"pages/{page}.txt", page_text(dashboard.test, tmp_path))


def test_every_page_has_a_golden_text():
    pages = Path(__file__).resolve().parents[2] / "pages"
    page_names = {path.stem for path in pages.glob("*.py")} - {"__init__", "study"}
    many_models = {"choose", "experiment", "people"}  # which have tests of their own
    assert page_names - many_models == {*QUICK, *LONG} - {"attribute"}


def test_how_to_read_this_is_short():
    pages = [path for path in (FILES / "pages").glob("*.txt") if path.stem != "glossary"]
    guides = {page.stem: GUIDE.findall(page.read_text(encoding="utf-8")) for page in pages}
    guides = {name: texts for name, texts in guides.items() if texts}
    assert len(guides) >= 9
    assert {name: count for name, (text, *_) in guides.items() if (count := len(text.split())) > 130} == {}


def test_every_example(dashboard, tmp_path, compare):
    dashboard.open("learn")
    (box,) = dashboard.test.main.selectbox
    for title in box.options:
        dashboard.test.main.selectbox[0].select(title)
        dashboard.settle()
        example = dashboard.test.main.selectbox[0].value
        compare(f"pages/learn/{example}.txt", page_text(dashboard.test, tmp_path).partition("======== sidebar")[0])
