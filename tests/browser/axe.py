"""axe-core, which finds what keeps people with a disability out of a page."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import axe_playwright_python

_ENGINE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")

_RUN = """(async () => (await axe.run(document, {resultTypes: ['violations']})).violations.flatMap(
    ({id, nodes}) => nodes.map(node => {
        const at = document.querySelector(node.target.flat().at(-1)), around = at?.closest('[data-testid]');
        return [id, `${at?.tagName} in ${around?.dataset.testid}`, `${node.html} ${node.failureSummary}`];
    })))()"""


class Violation(NamedTuple):
    """A rule of axe-core that an element breaks: the element's tag, and the part of Streamlit it is in."""

    rule: str
    kind: str


def violations(page):
    """Return what is wrong with a page as it is now, with one element as an example.

    It is asked past the page's content security policy, as a browser's extension would be.
    """
    session = page.context.new_cdp_session(page)
    session.send("Runtime.evaluate", {"expression": f"{_ENGINE};0"})
    response = session.send("Runtime.evaluate", {"expression": _RUN, "awaitPromise": True, "returnByValue": True})
    session.detach()
    assert "exceptionDetails" not in response, response
    return {Violation(rule, kind): description for rule, kind, description in response["result"]["value"]}
