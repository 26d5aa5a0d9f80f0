"""The front page: a finished audit without a click, in every size and theme."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from core.figures import DARK
from tests.browser.conftest import Open

PAGES = {"": 2, "data": 1, "model": 2, "correction": 3}


def test_a_finished_audit_without_a_click(look: Open):
    view = look()
    finding = view.found("%", "sex")
    view.painted(2)
    assert finding.count("%") >= 2
    expect(view.page.get_by_text("Synthetic").first).to_be_visible()
    doors = view.page.locator("[data-testid=stMain] [data-testid=stPageLink]")
    expect(doors).to_have_count(3)
    assert [door.inner_text().split("\n")[-1] for door in doors.all()] == ["Data", "Model", "Correction"]
    view.in_order()
    assert view.hosts == {"localhost"}


def test_a_door_opens_its_page(look: Open):
    view = look()
    view.found("%", "sex")
    view.page.locator("[data-testid=stMain] [data-testid=stPageLink]", has_text="Model").get_by_role("link").click()
    view.page.wait_for_url("**/model")
    view.found("fair to within")
    view.in_order()


@pytest.mark.parametrize(("width", "theme"), [(420, "light"), (1440, "dark")])
def test_fits_every_screen(look: Open, width: int, theme: str):
    view = look(None, viewport={"width": width, "height": 900}, color_scheme=theme)
    for path, charts in PAGES.items():
        view.open(path)
        view.found("%")
        view.painted(charts)
        assert max(view.overflow()) <= 0, (path, view.overflow())
        ink = view.page.locator(".js-plotly-plot").first.evaluate("plot => plot.layout.font.color")
        assert (ink == DARK.ink) == (theme == "dark")
        background = view.page.locator("[data-testid=stApp]").evaluate("app => getComputedStyle(app).backgroundColor")
        assert (int(background.split("(")[1].split(",")[0]) < 60) == (theme == "dark")
        view.in_order()
        if path == "correction":
            view.stop_training()
