"""The curve of trained models: it grows, can be stopped, waits for whoever leaves the page, and can be finished."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from core.sweep import TOLERANCES
from tests.browser.conftest import Open
from tests.browser.view import PATIENT, WHOLE_CURVE


def test_grows_stops_waits_and_finishes(look: Open):
    view = look("correction")
    view.found("%")
    cancel, again = view.keyed("cancel_sweep"), view.keyed("start_sweep")
    progress = view.page.locator("[data-testid=stMain] [data-testid=stProgress]")

    counts = set()
    view.until(lambda: counts.add(len(view.trained())) or len(counts - {0}) >= 2, "two sizes of the growing curve")
    expect(progress).to_contain_text(f"of {len(TOLERANCES)} models")
    cancel.get_by_role("button").click()
    expect(again).to_be_visible(timeout=PATIENT)
    expect(progress).to_have_count(0)
    expect(again).to_contain_text("Stopped after")
    told = re.search(r"Stopped after (\d+) model", again.inner_text())
    assert told and 2 <= int(told[1]) < len(TOLERANCES)
    view.until(lambda: len(view.trained()) == int(told[1]), "all models that were finished")
    stopped = view.steady(view.trained, "the curve that was stopped")
    assert len(stopped) == int(told[1]) and set(stopped) <= set(TOLERANCES)

    view.go("Model")
    view.found("unfairness")
    view.painted(2)
    view.in_order()
    view.go("Correction")
    view.found("%")
    view.until(lambda: view.trained() == stopped, "the models trained before")
    expect(again).to_be_visible()

    again.get_by_role("button").click()
    expect(cancel).to_be_visible(timeout=PATIENT)
    view.go("Data")
    view.found("%")
    view.go("Correction")
    view.train_all()
    expect(cancel.or_(again)).to_have_count(0, timeout=PATIENT)
    finished = view.steady(view.trained, "the whole curve")
    assert len(finished) >= WHOLE_CURVE and set(finished) <= set(TOLERANCES)
    view.in_order()
