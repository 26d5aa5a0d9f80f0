"""One person's look at FairLeak through a browser: what is on screen, and the few gestures the tests need."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Dialog, Error, Locator, Request, TimeoutError, expect

__all__ = ["PATIENT", "View"]

PATIENT = 90_000
"""Milliseconds to wait for an audit on a busy machine."""

expect.set_options(timeout=30_000)

_ERRORS = "[data-testid=stException], [data-testid=stAlertContentError]"

_TITLES = {"Start": "What does", "Data": "Data", "Model": "Model", "Correction": "Reconstruction correction"}

_POINTS = """plot => plot && plot.data
    ? plot.data.filter(t => t.mode === 'markers').map(t => ({x: Array.from(t.x), y: Array.from(t.y)})) : []"""

_LABELS = "tags => tags.map(tag => tag.getAttribute('aria-label'))"

_WIDER = """() => {
    const main = document.querySelector('[data-testid=stMain]'), root = document.documentElement;
    const charts = Array.from(document.querySelectorAll('.js-plotly-plot .main-svg'));
    return [root.scrollWidth - window.innerWidth, main.scrollWidth - main.clientWidth,
        ...charts.map(chart => Math.round(chart.getBoundingClientRect().right - window.innerWidth))];
}"""


class View:
    """A browser context of its own, that is a session of its own, with one page.

    What must never happen anywhere is noted and checked by `close`: a request that leaves the machine, a dialog, an
    error in the page's own script.
    """

    def __init__(self, browser: Browser, address: str, **options: Any) -> None:
        self.address = address
        self.hosts: set[str] = set()
        self.mishaps: list[str] = []
        self.context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **options})
        self.page = self.context.new_page()
        self.page.set_default_timeout(30_000)
        self.context.on("request", self._note_request)
        self.page.on("dialog", self._note_dialog)
        self.page.on("pageerror", self._note_error)

    def _note_request(self, request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in ("data", "blob"):
            self.hosts.add(parts.hostname or request.url)

    def _note_dialog(self, dialog: Dialog) -> None:
        self.mishaps.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _note_error(self, error: Error) -> None:
        self.mishaps.append(f"script error: {error.message}")

    def close(self) -> None:
        """Close the session; complain about what must never happen."""
        self.context.close()
        assert self.mishaps == []
        assert self.hosts <= {"localhost", "127.0.0.1"}, self.hosts

    # What is on screen

    @property
    def finding(self) -> Locator:
        """The page's finding, once it is not the remainder of an earlier run."""
        return self.page.locator("[data-testid=stMain] [data-testid=stElementContainer]:not([data-stale=true]) h2")

    @property
    def sidebar(self) -> Locator:
        """The sidebar."""
        return self.page.locator("[data-testid=stSidebar]")

    @property
    def warnings(self) -> Locator:
        """Boxes that say in one sentence what is wrong."""
        return self.page.locator("[data-testid=stAlertContentWarning]")

    @property
    def charts(self) -> Locator:
        """The charts that are painted."""
        return self.page.locator(".js-plotly-plot .main-svg:first-of-type")

    def keyed(self, key: str) -> Locator:
        """The element with this key."""
        return self.page.locator(f".st-key-{key}")

    def field(self, key: str) -> Locator:
        """What one types into, or moves, in the widget with this key."""
        return self.keyed(key).locator("input").first

    def points(self, chart: str) -> list[dict[str, list[float]]]:
        """Return the x and y of each trace of markers that the chart with this key holds now."""
        found = self.keyed(chart).locator(".js-plotly-plot")
        return list(found.first.evaluate(_POINTS)) if found.count() else []

    def text(self) -> str:
        """Return all text of the page."""
        return str(self.page.locator("[data-testid=stMain]").inner_text())

    # Gestures

    def open(self, path: str = "") -> None:
        """Go to a page by its address."""
        self.page.goto(f"{self.address}/{path}")

    def go(self, name: str) -> None:
        """Go to a page by the navigation."""
        self.sidebar.get_by_role("link", name=name, exact=True).click()
        fresh = "[data-testid=stElementContainer]:not([data-stale=true]) h1"
        expect(self.page.locator(fresh, has_text=re.compile(f"^{_TITLES[name]}"))).to_be_visible(timeout=PATIENT)
        self.idle()

    def choose(self, key: str, option: str) -> None:
        """Choose an option of the select box with this key."""
        self._choose(self.field(key), option)

    def choose_labelled(self, label: str, option: str) -> None:
        """Choose an option of the select box with this label."""
        self._choose(self.page.get_by_role("combobox", name=label, exact=True), option)

    def _choose(self, box: Locator, option: str) -> None:
        self._pick(box, option)
        expect(box).to_have_value(option)
        self.page.wait_for_timeout(200)  # the server hears of it a moment later
        self.idle()

    def _pick(self, box: Locator, option: str) -> None:
        """Click an option; whatever is drawn anew meanwhile closes the list, which is then opened again."""
        self.idle()
        listed = self.page.get_by_role("option", name=option, exact=True)
        for _ in range(5):
            if box.get_attribute("aria-expanded") != "true":
                box.click()
            try:
                return listed.click(timeout=3000)
            except TimeoutError:
                continue
        raise AssertionError(f"no option {option!r} in {self.page.get_by_role('option').all_inner_texts()}")

    def regroup(self, group: str) -> None:
        """Make one value the whole first group, on the form for one's own columns."""
        box = self.page.get_by_role("combobox", name="First group: people with these values")
        around = self.page.locator("[data-testid=stMultiSelect]", has=box)
        for _ in range(5):
            self.idle()
            chosen = around.locator("[data-tag]").evaluate_all(_LABELS)
            if chosen == [group]:
                return
            if chosen:
                around.get_by_role("button", name="Clear all").click()
            self._pick(box, group)
            self.page.keyboard.press("Escape")
            self.page.wait_for_timeout(300)
        raise AssertionError(f"the first group is {chosen} and not {group!r}")

    def assign(self, sensitive: str, group: str) -> None:
        """Say on the Data page which attribute the attacker is after and who is the first group."""
        self.choose_labelled("Sensitive attribute: what the attacker is after", sensitive)
        self.regroup(group)
        self.press("use_roles")

    def bring_people(self, content: bytes, *, group: str = "F") -> None:
        """Upload a table of `tests.browser.tables.people` on the Data page and say what its columns are."""
        self.found("%")
        self.upload("people.csv", content)
        self.found("people.csv is read")
        self.choose_labelled("Label: what the model predicts", "hired")
        self.choose_labelled("Its positive value", "yes")
        self.assign("sex", group)
        self.found("%", "have hired “yes”")

    def enter(self, key: str, value: str) -> None:
        """Type a value into the field with this key."""
        self.field(key).fill(value)
        self.field(key).press("Enter")

    def press(self, key: str) -> None:
        """Press the button with this key."""
        self.keyed(key).get_by_role("button").first.click()

    def upload(self, name: str, content: bytes) -> None:
        """Give a file to the upload box, without putting it on this machine's disk."""
        file = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
        self.keyed("upload").locator("input[type=file]").set_input_files(file)

    def stop_training(self) -> None:
        """Stop the models that Correction trains in the background; they slow down whatever is tested next."""
        cancel, ended = self.keyed("cancel_sweep"), self.keyed("start_sweep")
        expect(cancel.or_(ended).first).to_be_visible(timeout=PATIENT)
        if not ended.count():
            cancel.get_by_role("button").click()
            expect(ended).to_be_visible(timeout=PATIENT)

    # Waiting and judging

    def idle(self) -> None:
        """Wait until no script runs."""
        self.page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]", timeout=PATIENT)

    def found(self, *words: str) -> str:
        """Wait until the finding holds these words, or a percentage if none are given, and return it."""
        for word in words or ("%",):
            expect(self.finding).to_contain_text(word, timeout=PATIENT)
        self.idle()
        return str(self.finding.inner_text())

    def until(self, check: Callable[[], bool], what: str, seconds: float = PATIENT / 1000) -> None:
        """Wait until a check holds."""
        deadline = time.monotonic() + seconds
        while not check():
            assert time.monotonic() < deadline, f"waited {seconds:g} s in vain: {what}"
            self.page.wait_for_timeout(100)

    def painted(self, count: int, *, or_more: bool = False) -> None:
        """Wait until so many charts are painted, and no more unless more are welcome."""
        if or_more:
            self.until(lambda: self.charts.count() >= count, f"{count} charts")
            return
        expect(self.charts).to_have_count(count, timeout=PATIENT)

    def in_order(self) -> None:
        """Check that nothing on screen tells of an error."""
        expect(self.page.locator(_ERRORS)).to_have_count(0)
        assert "Something went wrong" not in self.text()

    def overflow(self) -> list[int]:
        """Return by how many pixels the window, the main part and each chart are too wide (0 or less is right)."""
        return [int(pixels) for pixels in self.page.evaluate(_WIDER)]
