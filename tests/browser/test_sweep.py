"""The curve of trained models: it grows, can be stopped, waits for whoever leaves the page, and can be finished."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from core.sweep import TOLERANCES
from tests.browser.conftest import Open
from tests.browser.view import View


def trained(view: View) -> list[float]:
    """Return the tolerances of the models on the curve."""
    return sorted(tolerance for trace in view.points("trained_chart") for tolerance in trace["x"])


def test_grows_stops_waits_and_finishes(look: Open):
    view = look("correction")
    view.found("%")
    cancel, again = view.keyed("cancel_sweep"), view.keyed("start_sweep")
    progress = view.page.locator("[data-testid=stMain] [data-testid=stProgress]")

    counts = set()
    view.until(lambda: counts.add(len(trained(view))) or len(counts - {0}) >= 2, "two sizes of the growing curve")
    expect(progress).to_contain_text(f"of {len(TOLERANCES)} models")
    cancel.get_by_role("button").click()
    expect(again).to_be_visible(timeout=30_000)
    expect(progress).to_have_count(0)
    told = re.search(r"Stopped after (\d+) model", again.inner_text())
    assert told and 2 <= int(told[1]) < len(TOLERANCES)
    view.until(lambda: len(trained(view)) == int(told[1]), "all models that were finished", seconds=20)
    stopped = trained(view)
    assert set(stopped) <= set(TOLERANCES)

    view.go("Model")
    view.found("unfairness")
    view.painted(2)
    view.in_order()
    view.go("Correction")
    view.found("%")
    view.until(lambda: trained(view) == stopped, "the models trained before", seconds=20)
    expect(again).to_be_visible()

    again.get_by_role("button").click()
    expect(cancel).to_be_visible(timeout=30_000)
    view.go("Data")
    view.found("%")
    view.go("Correction")
    view.until(lambda: len(trained(view)) >= 15, "a whole curve", seconds=120)
    expect(cancel.or_(again)).to_have_count(0, timeout=60_000)
    assert len(trained(view)) >= 15 and set(trained(view)) <= set(TOLERANCES)
    view.in_order()
