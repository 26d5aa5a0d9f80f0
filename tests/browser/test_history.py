"""Back and forward: table, sidebar, badge, address and numbers always belong together."""

from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import expect

from tests.browser.tables import people
from tests.browser.view import FINDING, PATIENT

PAGES = ("Model", "Correction", "Bias queries", "Data")

DEMO, UPLOADED = ("Loan applicants (built-in demo)", "synthetic data"), ("people.csv", "your file")
"""Table in the sidebar, and its badge."""


class Screen(NamedTuple):
    """What a page says, and of which table: address, title with badge, sidebar, finding with its numbers."""

    address: str
    title: str
    audited: str
    finding: str

    def is_about(self, table):
        """Return whether sidebar and badge name this table, and the address no other."""
        name, badge = table
        datasets = parse_qs(urlsplit(self.address).query).get("dataset", [])
        return name in self.audited and badge in self.title and datasets == ["Your table"] * (table == UPLOADED)


LOOK = f"""() => {{
    const idle = document.querySelector('[data-testid=stApp][data-test-script-state=notRunning]');
    const title = document.querySelectorAll('[data-testid=stMain] h1');
    const found = document.querySelectorAll('{FINDING}');
    const audited = document.querySelectorAll('[data-testid=stSidebar] [data-testid=stMarkdownContainer]:has(h4)');
    if (!idle || [title, found, audited].some(parts => parts.length !== 1)) return null;
    return [location.pathname + location.search, ...[title, audited, found].map(parts => parts[0].innerText)];
}}"""
"""Address, title, sidebar and finding in one moment in which no script runs; null in any other."""


def screen(view):
    return Screen(*view.page.wait_for_function(LOOK, timeout=PATIENT).json_value())


def settled(view):
    return view.steady(lambda: screen(view), "the same screen for a while")


def step(view, direction):
    before = view.page.url
    getattr(view.page, f"go_{direction}")(wait_until="commit")
    view.until(lambda: view.page.url != before, f"another address after going {direction}")
    return settled(view)


def test_back_and_forward_over_two_tables_and_four_pages(look):
    view = look("data")
    visits = [settled(view)]
    for page in (*PAGES, "", *PAGES):  # of the demo, then of a table of one's own
        if page:
            view.go(page)
        else:
            view.bring_people(people())
        visits.append(settled(view))
    demo = len(visits) // 2
    for number, visit in enumerate(visits):
        assert visit.is_about(DEMO if number < demo else UPLOADED), visit
    numbers = [{visit.finding for visit in part if "%" in visit.finding} for part in (visits[:demo], visits[demo:])]
    assert all(numbers) and not numbers[0] & numbers[1]  # so that a number tells its table
    for direction, ways in (("back", visits[-2::-1]), ("forward", visits[1:])):
        for visit in ways:
            reached = step(view, direction)
            for _ in range(3):  # confirming a table's roles leaves entries of its own
                if reached == visit:
                    break
                assert "/report" in reached.address or reached.is_about(UPLOADED)
                reached = step(view, direction)
            assert reached == visit
    view.in_order()


def test_an_audit_s_settings_come_back_with_their_numbers(look):
    view = look("model")
    strict = settled(view)
    view.enter("tolerance", "0.05")
    view.until(lambda: "0.05 ·" in screen(view).audited, "the sidebar to follow")
    loose = settled(view)
    assert loose.finding != strict.finding and "tolerance=0.05" in loose.address
    view.go("Data")
    view.go("Correction")
    assert "tolerance=0.05" in settled(view).address
    step(view, "back")
    assert step(view, "back") == loose
    expect(view.field("tolerance")).to_have_value("0.050")


def test_a_table_that_is_gone(look):
    view = look("data")
    view.bring_people(people())
    view.go("Model")
    assert settled(view).is_about(UPLOADED)
    view.go("Data")
    view.press("remove_upload")
    view.finding_with("%", "Approved")
    demo = settled(view)
    assert demo.is_about(DEMO)
    expect(view.warnings).to_have_count(0)
    for _ in range(2):  # to the Data page with the table, then to the Model page
        visit = step(view, "back")
        expect(view.warnings).to_contain_text("made for an uploaded table that is gone")
        assert visit.is_about(DEMO)
    view.go("Overview")
    expect(view.warnings).to_have_count(0)
