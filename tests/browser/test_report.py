"""The report on a telephone, on paper, and with hostile names; as a file it is read in the walks."""

import re

from core.report import report_document
from core.report.page import to_html
from tests.browser.axe import violations
from tests.browser.reports import downloaded, read_alone
from tests.samples_report import sample
from tests.unit.datasets.bad_tables import HOSTILE, HOSTILE_NAMES, hostile_table

_CUT = """() => [...document.querySelectorAll('.scroll, main td, main th, svg.chart text')].filter(part => {
    const box = part.getBoundingClientRect();
    return box.width > 1 && (box.right > innerWidth || box.left < 0 || part.scrollWidth > part.clientWidth + 1
        && part.matches('.scroll'));
}).map(part => part.getAttribute('aria-label') || part.textContent)"""


def test_every_table_and_chart_is_whole_on_a_telephone(browser, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(to_html(report_document(sample())), encoding="utf-8")
    page = browser.new_page(viewport={"width": 400, "height": 844}, offline=True)
    page.goto(path.as_uri())
    assert page.evaluate(_CUT) == [] and page.evaluate("document.documentElement.scrollWidth") <= 400
    limits = page.get_by_role("region", name="Table: Limits")
    rationale = limits.locator("[data-name=rationale]").first
    assert rationale.evaluate("e => getComputedStyle(e, '::before').content") == '"rationale: "'
    row = limits.locator("tbody tr").first
    room = sum(cell.bounding_box()["height"] for cell in row.locator("th, td").all())
    assert row.bounding_box()["height"] <= room + 20  # no blanks beside or between
    assert all(chart.is_visible() for chart in page.locator("svg.chart.narrow").all())
    assert page.locator("svg.chart.wide:visible").count() == 0
    assert violations(page) == {}
    for width in (800, 1000, 1200):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.locator("svg.chart.narrow:visible").count() == 0 and page.evaluate(_CUT) == [], width
    assert limits.locator("thead").is_visible()
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 640, "height": 900})  # about what a page of A4 leaves
    assert limits.locator("thead").is_visible() and page.locator("svg.chart.narrow:visible").count() == 0
    assert not page.get_by_role("navigation").is_visible() and not page.locator("#findings").is_visible()
    assert page.locator("table.checks thead").evaluate("e => getComputedStyle(e).display") == "table-header-group"
    page.close()


def test_hostile_names_are_names_in_the_report(look, browser, tmp_path):
    view = look("data")
    view.finding_with("%")
    roles = {role: HOSTILE[role] for role in ("label", "positive", "prediction", "score", "sensitive", "group")}
    view.bring_predictions("<img src=x onerror=alert(1)>.csv", hostile_table(), **roles)
    view.go("Report")
    reports = downloaded(view)
    assert view.page.locator("[data-testid=stMain]").locator("script, img, iframe, a[href^='javascript']").count() == 0
    texts = {edition: " ".join(read_alone(browser, report, tmp_path).split()) for edition, report in reports.items()}
    unseen = re.compile("[\u200b-\u200f\u202a-\u202e]")  # steer how text is shown; the report shows that there was one
    for name in (name for name in HOSTILE_NAMES if name != HOSTILE["score"]):  # the report does not name that column
        assert " ".join(unseen.sub("\ufffd", name).split()) in texts["internal"], name
    assert HOSTILE["sensitive"] in texts["public"] and HOSTILE["group"] not in texts["public"]
    view.in_order()
