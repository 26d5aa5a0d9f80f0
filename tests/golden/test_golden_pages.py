"""Every page says what it said: titles, texts, labels, helps, values, tables, and the words in its charts.

The Report page audits with few attacks, as its other tests do; the other pages do all their work but sweeps, which
wait for their turn: how far one is would depend on the machine.
"""

import re

import pytest

from pages.shell import background
from pages.shell.job_queue import Urgency
from tests.golden.texts import FILES, page_text
from tests.hermetic import ROOT

QUICK = ("overview", "data", "model", "correction", "desk", "learn", "glossary", "model_card", "models")
LONG = ("bias_queries", "attriguard", "membership", "attribute", "report")


@pytest.mark.parametrize("page", [*QUICK, *(pytest.param(page, marks=pytest.mark.long) for page in LONG)])
def test_pages(page, dashboard, attacks, tmp_path, compare, monkeypatch):
    # No sweep begins, and the self-test, which has the places of sweeps, is among the jobs that take minutes.
    monkeypatch.setitem(background.QUEUE.places, Urgency.SWEEP, 0)
    monkeypatch.setitem(background.JOB_KINDS, "self_test", background.JOB_KINDS["decision"])
    dashboard.open(page)
    compare(f"pages/{page}.txt", page_text(dashboard.test, tmp_path))


def test_every_page_has_a_golden_text():
    page_names = {path.stem for path in (ROOT / "pages").glob("*.py")} - {"__init__", "study"}
    many_models = {"choose", "experiment", "people"}  # which have tests of their own
    assert page_names - many_models == {*QUICK, *LONG} - {"attribute"}


def test_how_to_read_this_is_short():
    guide = re.compile(r"\[expander\] How to read this\n(.*?)(?=\n\[)", re.DOTALL)
    pages = [path for path in (FILES / "pages").glob("*.txt") if path.stem != "glossary"]
    texts = {page.stem: guide.findall(page.read_text(encoding="utf-8")) for page in pages}
    lengths = {name: len(guides[0].split()) for name, guides in texts.items() if guides}
    assert len(lengths) >= 9 and max(lengths.values()) <= 130, lengths


def test_every_example(dashboard, tmp_path, compare):
    dashboard.open("learn")
    for title in dashboard.test.main.selectbox[0].options:
        dashboard.test.main.selectbox[0].select(title)
        dashboard.settle()
        example = dashboard.test.main.selectbox[0].value
        compare(f"pages/learn/{example}.txt", page_text(dashboard.test, tmp_path).partition("======== sidebar")[0])
