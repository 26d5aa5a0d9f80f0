"""Every page and section, narrow in the dark and wide by day: nothing is too wide, and axe-core finds nothing wrong."""

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

from core.charts import DARK, LIGHT
from core.charts.theme import NARROW
from core.desk import TestSet, desk_roles, open_ledger
from core.models import METHOD_TITLES
from core.store.history import History
from tests.browser.axe import violations
from tests.browser.driver import Server
from tests.browser.reports import verdict_headline
from tests.browser.tables import people, predicted
from tests.browser.view import View
from tests.history_work import report

SETTINGS = f"?method={METHOD_TITLES['unmitigated'].replace(' ', '+')}"
PAGES = {
    "correction": (
        3,
        "further",
        ("Tolerance sweep", "Compare methods", "Seeds and controls", "Tune the attack", "Stronger disclosure"),
    ),
    "attriguard": (
        2,
        "further_guard_table",
        ("Transferability", "Noise concentration", "Utility loss", "Allowed changes", "One person"),
    ),
    "bias_queries": (2, "further_queries", ("Targeted query", "How much noise, and why", "Recovered values")),
    "membership": (2, "further_members", ("VD by probability", "FairPick", "Other groups")),
    "desk": (1, "desk_section", ("Ask a question", "Register a test set", "Answered questions", "Export and verify")),
    "report": (0, "further_release", ("Policy and limits", "Purpose and attackers")),
    **dict.fromkeys(("data", "people", "choose"), (1, "", ())),
    **dict.fromkeys(("model", "attribute"), (2, "", ())),
    "model_card": (3, "", ()),
    **dict.fromkeys(("", "experiment", "models", "learn", "glossary"), (0, "", ())),
}
"""Address -> charts at least, key of the sections below, and these."""


@pytest.fixture(scope="module")
def server(start_server, tmp_path_factory):
    """A server whose query desk has two test sets and a few answers, and whose register has a model."""
    folder = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(3)
    ledger = open_ledger(folder / "fairleak" / "ledger.sqlite", create=True)
    for name, n in (("Card limits", 900), ("Loans", 1500)):
        test_set = TestSet(ids=tuple(f"{name} {k}" for k in range(n)), attribute=rng.integers(0, 2, n))
        ledger.register(name, test_set, budget=2, roles=desk_roles("sex", group=("men",)))
        for k in range(4):
            ledger.ask(name, test_set, rng.random(n), epsilon=0.2, asker=f"team {k}")
    history = History.open(folder / "fairleak" / "history.sqlite")
    for version in ("1.0", "2.0", "2.1"):
        entry = history.keep(report(version), model="Vendor default", version=version, who="A. Auditor")
        history.sign(entry, decision="do_not_release", name="M. Keller", role="DPO", reason="Checks fail.")
    history.register("Branch staffing", purpose="How many counters", owner="Operations", review="2026-01-01", who="A")
    return start_server(XDG_DATA_HOME=str(folder))


def settled(view, charts):
    """Wait for what a page computes by itself, and stop what would slow down the next test."""
    view.painted(charts, or_more=True)
    view.gone(view.keyed("cancel_attriguard").or_(view.keyed("cancel_members")))
    for name in ("choose", "curves", "epsilon", "fairpick", "sweep"):
        view.halt(f"cancel_{name}")
    view.idle()


@pytest.fixture(scope="module")
def baseline(browser):
    """What Streamlit itself has wrong: the violations of a page with nothing of FairLeak's in it."""
    with Server(app=Path(__file__).with_name("bare.py")) as bare:
        view = View(browser, bare.address)
        view.open()
        expect(view.page.get_by_test_id("stFileUploaderDropzone")).to_be_visible()
        view.idle()
        present = set(violations(view.page))
        view.close()
    assert {rule for rule, _ in present} <= {"list", "listitem", "presentation-role-conflict"}
    return present


@pytest.mark.parametrize(("theme", "width"), [("light", 1440), ("dark", 400)])
def test_the_gate_of_a_table_fits_and_nothing_is_wrong(look, baseline, theme, width):
    view = look("data", viewport={"width": width, "height": 900}, color_scheme=theme)
    view.finding_with("%")
    view.give("upload", "people.csv", predicted(people()))
    view.finding_with("people.csv", "until you press")
    view.idle()
    view.fits("the gate")
    assert [text for violation, text in violations(view.page).items() if violation not in baseline] == []
    view.in_order()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES)
def test_every_page_and_section_fits_and_nothing_is_wrong(look, baseline, path, theme):
    """A narrow screen in the dark, and a wide one by day; nothing is wrong but what Streamlit itself has wrong."""
    charts, key, sections = PAGES[path]
    size = {"width": 400 if theme == "dark" else 1440, "height": 900}
    view = look(f"{path}{SETTINGS}", viewport=size, color_scheme=theme)
    view.until(lambda: view.finding.count() == 1, "the finding")
    settled(view, charts)
    for section in sections if theme == "dark" else sections[-1:]:
        view.segment(key, section)
        settled(view, charts)
        view.fits(section)
        view.in_order()
    if path == "models":
        view.press("open_model_1")
        view.painted(6)
    view.fits(path)
    if path == "report":
        verdict_headline(view)
        view.page.locator(".fl-board summary").first.click()
    if path == "learn":
        view.keyed("steps_correction").locator("label").click()
        expect(view.page.get_by_role("heading", level=3).first).to_be_visible()
    view.idle()
    if charts:
        ink = DARK.ink if theme == "dark" else LIGHT.ink
        view.until(lambda: view.inks() == {ink}, f"{theme} charts")
    assert [text for violation, text in violations(view.page).items() if violation not in baseline] == []
    view.in_order()
    drawn = view.page.locator(".stPlotlyChart:visible")
    room = "all => all.map(chart => chart.clientWidth)"
    least = {"models": 200}.get(path, NARROW)  # where several versions stand side by side in each of many charts
    for width in (1024, 720) if theme == "light" else ():  # a small laptop, or this screen magnified
        view.page.set_viewport_size({"width": width, "height": 900})
        view.until(lambda: min(drawn.evaluate_all(room), default=least) >= least, f"charts in {width} px")
        view.fits(f"{path} at {width} px")
