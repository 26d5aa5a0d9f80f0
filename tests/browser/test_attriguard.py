"""AttriGuard in a real browser: the marker follows the slider, attackers come one by one, and everything fits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from playwright.sync_api import expect

from core.charts import DARK
from tests.browser.conftest import Open
from tests.browser.view import PATIENT, View

TITLE = "AttriGuard"


def opened(view: View) -> str:
    """Wait until the page has its finding and its first charts."""
    finding = view.found("an attacker who ignores it")
    view.painted(2, or_more=True)
    return finding


def budget(view: View) -> float:
    """Return where the marker of the chart stands."""
    markers = view.points("guard_chart")
    return float(markers[0]["x"][0]) if markers else -1.0


def attackers(view: View) -> int:
    """Return how many attackers the chart holds now."""
    markers = view.points("guard_chart")
    return len(markers[0]["x"]) if markers else 0


def pick(view: View, key: str, name: str) -> None:
    """Choose one of the segments of a control."""
    view.keyed(key).get_by_role("radio", name=name, exact=True).click()
    view.page.wait_for_timeout(200)


def finished(view: View) -> None:
    """Wait until every attacker is there."""
    expect(view.keyed("cancel_attackers")).to_have_count(0, timeout=PATIENT)
    view.idle()


def told(view: View, words: str) -> Callable[[], bool]:
    """Return a check that the page says something."""
    return lambda: words in view.text().replace("\n", " ")


def films(people: int = 150) -> bytes:
    """Return ratings of one's own, as one long table with names that must be shown as they are."""
    rng = np.random.default_rng(3)
    rows = ["user,item,rating,town"]
    for k in range(people):
        town = "*Up*" if k % 3 else "<b>Down</b>"
        liked = rng.permutation(15)[:6] + (0 if k % 3 else 7)
        rows += [f"u{k},film {item},{rng.integers(1, 6)},{town}" for item in liked]
    return "\n".join(rows).encode()


def upload(view: View, name: str, content: bytes) -> None:
    """Give a file to the page's upload box."""
    file: Any = {"name": name, "mimeType": "text/csv", "buffer": content}
    view.keyed("guard_upload").locator("input[type=file]").set_input_files(file)


def test_a_cold_deep_link_then_the_slider(look: Open):
    view = look("attriguard")
    assert "AttriGuard fools an attacker who ignores it" in opened(view)
    finished(view)
    view.until(lambda: attackers(view) == 7, "all attackers")
    view.until(lambda: budget(view) == 0.25, "the marker at 0.25")
    slider = view.keyed("guard_budget").locator("input").first
    slider.focus()
    slider.press("ArrowRight")
    view.until(lambda: abs(budget(view) - 0.26) < 1e-9, "the marker at 0.26")
    view.until(told(view, "Budget β = 0.26 changed columns"), "the budget of 0.26")
    label = view.keyed("guard_chart").locator("[aria-label*='At 0.26']")
    expect(label.first).to_be_visible()
    slider.press("Home")
    view.until(lambda: budget(view) == 0, "the marker at 0")
    view.found("Without noise")
    pick(view, "further_guard_table", "Utility loss")
    view.until(told(view, "AttriGuard is no fairness method"), "the sentence on fairness")
    slider.focus()
    slider.press("End")
    view.until(told(view, "Budget β = 0.5 changed columns"), "the budget of 0.5")
    view.until(lambda: view.points("cost_accuracy_chart")[0]["x"] == [0.5], "the costs at the slider's end")
    view.in_order()


def test_attackers_are_stopped_and_go_on(look: Open):
    view = look("attriguard")
    opened(view)
    view.choose("guard_data", "Synthetic ratings")
    view.until(told(view, "inferring the city"), "the finding on ratings")
    cancel, ended = view.keyed("cancel_attackers"), view.keyed("start_attackers")
    cancel.get_by_role("button").click()
    expect(ended).to_be_visible(timeout=PATIENT)
    expect(ended).to_contain_text("of 9 attackers")
    view.idle()
    view.until(lambda: 0 < attackers(view) < 9, "some attackers")
    before = attackers(view)
    view.page.wait_for_timeout(1500)
    view.until(lambda: attackers(view) == before, "no more attackers")  # nothing grows any more
    ended.get_by_role("button").click()
    view.until(lambda: attackers(view) == 9, "all attackers")
    finished(view)
    opened(view)
    expect(ended).to_have_count(0)
    view.in_order()


def test_ratings_of_ones_own(look: Open):
    view = look("attriguard")
    opened(view)
    view.choose("guard_data", "My ratings")
    upload(view, "films.csv", films())
    view.until(told(view, "inferring the town"), "the finding")
    finished(view)
    upload(view, "films.csv", b"user,item\n1,2\n")
    expect(view.warnings).to_have_count(1)
    view.until(told(view, "inferring the town"), "the finding")  # what was computed is still there
    expect(view.page.get_by_text("always “*Up*”")).to_be_visible()
    assert not any("town" in part for part in view.page.url.split("?"))
    view.in_order()


def test_a_narrow_screen_in_the_dark(look: Open):
    view = look(None, viewport={"width": 400, "height": 900}, color_scheme="dark")
    view.open("attriguard")
    opened(view)
    finished(view)
    for section in ("Transferability", "Noise concentration", "Utility loss", "Allowed changes", "One person"):
        pick(view, "further_guard_table", section)
        view.idle()
        view.painted(2, or_more=True)
        view.fits(section)
    ink = view.page.locator(".js-plotly-plot").first.evaluate("plot => plot.layout.font.color")
    assert ink == DARK.ink
    view.in_order()


def test_the_keyboard_reaches_the_slider(look: Open):
    view = look("attriguard", viewport={"width": 1024, "height": 900})
    opened(view)
    finished(view)
    view.field("guard_data").focus()
    reached = "() => !!document.activeElement.closest('.st-key-guard_budget')"

    def tab() -> bool:
        view.page.keyboard.press("Tab")
        return bool(view.page.evaluate(reached))

    view.until(tab, "the slider in the order of the keys")
    view.page.keyboard.press("Home")
    view.until(lambda: budget(view) == 0, "the marker at 0")
    view.found("Without noise")
    view.fits("AttriGuard")
    view.in_order()
