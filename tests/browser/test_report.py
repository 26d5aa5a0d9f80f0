"""The report in a browser: as a file, without a network, on paper and on a telephone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

from core.report import AttackedPeople, document, to_html
from tests.browser.axe import violations
from tests.browser.driver import CHROMIUM, LAUNCH_ARGS
from tests.report_people import people_of
from tests.samples_report import sample

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    told = document(sample(), edition="disclosure", people=AttackedPeople(**people_of()))
    path.write_text(to_html(told), encoding="utf-8", newline="")
    return path


@pytest.fixture
def page() -> Iterator[Page]:
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=LAUNCH_ARGS)
        opened = browser.new_page(viewport={"width": 1280, "height": 900})
        opened.context.set_offline(True)
        yield opened
        browser.close()


def test_the_report_opens_by_itself(page: Page, report: Path, tmp_path: Path):
    asked, said = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    page.goto(report.as_uri())
    assert asked == [report.as_uri()] and said == []
    assert page.get_by_role("heading", level=1).inner_text() == "Do not release: two of seven checks fail."
    assert page.get_by_role("img").count() == 8 + 1 + 1
    assert page.evaluate("document.scripts.length") == 0
    text = page.locator("#findings").text_content() or ""
    copy = tmp_path / "report.json"
    copy.write_text(text.strip() + "\n", encoding="utf-8")

    from core.report import embedded_document, from_json

    assert from_json(copy.read_text(encoding="utf-8")) == embedded_document(report.read_text(encoding="utf-8"))


_CUT = """() => [...document.querySelectorAll('.scroll, main td, main th, svg.chart text')].filter(part => {
    const box = part.getBoundingClientRect();
    return box.width > 1 && (box.right > innerWidth || box.left < 0 || part.scrollWidth > part.clientWidth + 1
        && part.matches('.scroll'));
}).map(part => part.getAttribute('aria-label') || part.textContent)"""


@pytest.mark.parametrize("edition", ["internal", "disclosure"])
def test_every_table_and_chart_is_whole_on_a_telephone(page: Page, tmp_path: Path, edition: str):
    path = tmp_path / "report.html"
    path.write_text(
        to_html(document(sample(), edition=edition, people=AttackedPeople(**people_of()))), encoding="utf-8"
    )
    page.set_viewport_size({"width": 400, "height": 844})
    page.goto(path.as_uri())
    assert page.evaluate(_CUT) == [] and page.evaluate("document.documentElement.scrollWidth") <= 400
    limits = page.get_by_role("region", name="Table: Limits")
    rationale = limits.locator("[data-name=Rationale]").first
    assert rationale.evaluate("e => getComputedStyle(e, '::before').content") == '"Rationale: "'
    row = limits.locator("tbody tr").first
    room = sum(cell.bounding_box()["height"] for cell in row.locator("th, td").all())
    assert row.bounding_box()["height"] <= room + 20  # no blanks beside or between
    for chart in page.locator("svg.chart.narrow").all():
        assert chart.is_visible()
    assert page.locator("svg.chart.wide:visible").count() == 0
    assert violations(page) == {}
    for width in (800, 1000, 1200):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.locator("svg.chart.narrow:visible").count() == 0 and page.evaluate(_CUT) == [], width
    assert limits.locator("thead").is_visible()
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 640, "height": 900})  # about what a page of A4 leaves
    assert limits.locator("thead").is_visible() and page.locator("svg.chart.narrow:visible").count() == 0


def test_the_report_on_paper(page: Page, report: Path):
    page.goto(report.as_uri())
    page.emulate_media(media="print")
    assert not page.get_by_role("navigation").is_visible()
    assert not page.locator("#findings").is_visible()
    assert page.locator("table.checks thead").evaluate("e => getComputedStyle(e).display") == "table-header-group"
    printed = page.pdf(prefer_css_page_size=True, print_background=True)
    assert printed.startswith(b"%PDF") and 3 <= printed.count(b"/Type /Page\n") <= 30
