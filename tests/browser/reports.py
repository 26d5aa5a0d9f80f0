"""Reports as they come out of the Report page: downloaded, opened alone without a network, printed, looked through."""

import json
from types import SimpleNamespace

from core.auditing.policy import VERDICT_TITLES
from core.report import from_json
from core.report.page import embedded_document
from tests.browser.axe import violations

_LIVE = "script, img, iframe, object, embed, form, input, link, b b, [onerror], [onload], a:not([href^='#'])"


def verdict_headline(view):
    """Wait for the verdict on the Report page, stop what is tested after it, and return the headline."""
    headline = view.finding_with(" of ")
    view.wait_for(view.page.locator(".fl-people"))
    view.halt("cancel_self_test")
    view.page.wait_for_timeout(2500)  # the page is drawn anew when it sees, every 1.5 s, that the test has ended
    view.idle()
    view.steady(view.page.get_by_test_id("stMain").inner_text, "report")  # a file is of the page's last run alone
    return headline


def _file(view, key):
    with view.page.expect_download() as download:
        view.press(key)
    return download.value.path().read_bytes().decode("utf-8")


def downloaded(view):
    """Download internal report and public summary: HTML, what the JSON holds, what it is headed with.

    Both have the verdict of the page's headline.
    """
    headline = verdict_headline(view)
    view.press("files")
    view.wait_for(view.keyed("download_public_json"))
    text = _file(view, "download_internal_json")
    from_json(text)
    findings = json.loads(text)
    html, heading = _file(view, "download_internal_html"), findings["verdict"]["headline"]
    internal = SimpleNamespace(html=html, findings=findings, heading=heading)
    assert embedded_document(html) == findings
    assert heading in headline, (heading, headline)
    summary = json.loads(_file(view, "download_public_json"))
    decision = summary["decision"]
    assert decision["verdict"] == findings["verdict"]["overall"]
    heading = f"{VERDICT_TITLES[decision['verdict']]}. {decision['sentence']}"
    public = SimpleNamespace(html=_file(view, "download_public_html"), findings=summary, heading=heading)
    view.page.keyboard.press("Escape")
    return {"internal": internal, "public": public}


def read_alone(browser, report, folder):
    """Open a report as a file in a browser without a network, print it, and return what it says."""
    path = folder / f"{report.findings['kind'].replace(' ', '-')}.html"
    path.write_bytes(report.html.encode("utf-8"))
    context = browser.new_context(offline=True, viewport={"width": 1280, "height": 900})
    page, requests, messages = context.new_page(), [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("dialog", lambda dialog: (messages.append(dialog.message), dialog.dismiss()))
    page.goto(path.as_uri())
    assert page.locator("h1 > span:last-child").inner_text() == report.heading
    page.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
    assert violations(page) == {}
    assert page.locator(_LIVE).count() == 0
    printed = page.pdf(prefer_css_page_size=True, print_background=True)
    assert printed.startswith(b"%PDF") and 1 <= printed.count(b"/Type /Page\n") <= 40
    text = page.locator("body").inner_text()
    assert requests == [path.as_uri()] and messages == []
    context.close()
    return text
