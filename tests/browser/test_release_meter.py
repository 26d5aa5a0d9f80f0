"""The Release page in a real browser: worth seeing before a click, follows its controls, fits every screen."""

from __future__ import annotations

from core.charts import DARK
from core.models import METHOD_TITLES
from tests.browser.conftest import Open
from tests.browser.view import View

LINK = f"release?method={METHOD_TITLES['unmitigated'].replace(' ', '+')}"


def advised(view: View, start: str) -> None:
    """Wait for a card and for the advice on it."""
    view.found(start)
    view.until(lambda: "these people and these models only" in view.text(), "the advice")
    view.painted(5 if "nobody" in view.found(start) else 6)


def test_a_cold_deep_link_then_the_controls(look: Open):
    view = look(LINK)
    advised(view, "Exact fairness numbers for 20 models reveal")
    heights = [view.keyed(key).bounding_box() for key in ("release_people_chart", "release_bits_chart")]
    assert all(box is not None and box["y"] + box["height"] <= 900 for box in heights)  # both on the first screen
    before = view.points("release_bits_chart")
    view.segment("release_way", "Rounded")
    view.found("Fairness numbers rounded to 3 decimals for 20 models")
    slider = view.field("release_decimals")
    slider.press("Home")
    view.found("Fairness numbers rounded to 1 decimal for 20 models")
    assert view.steady(lambda: view.points("release_bits_chart"), "the chart of bits") != before
    view.field("release_count_50").press("Home")
    view.found("Fairness numbers rounded to 1 decimal for one model")
    view.in_order()


def test_a_narrow_screen_in_the_dark(look: Open):
    view = look(None, viewport={"width": 400, "height": 900}, color_scheme="dark")
    view.open(LINK)
    advised(view, "Exact fairness numbers for 20 models")
    view.fits("a release on a narrow screen")
    assert view.inks() == {DARK.ink}
    view.in_order()
