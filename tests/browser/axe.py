"""axe-core, which finds what keeps people with a disability out of a page."""

from pathlib import Path

import axe_playwright_python

_ENGINE = Path(axe_playwright_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")

_RUN = """(async () => {
    const looks = new Map();
    for (const node of document.querySelectorAll('body *')) {
        const writes = [...node.childNodes].some(child => child.nodeType === 3 && child.data.trim());
        if (!node.checkVisibility() || !(writes || node.matches('input, select, textarea'))) continue;
        const own = getComputedStyle(node), look = [own.color, own.fontSize, own.fontWeight];
        for (let at = node; at; at = at.parentElement) {
            const style = getComputedStyle(at);
            look.push(style.backgroundColor, style.backgroundImage, style.opacity, style.textShadow);
        }
        looks.set(writes ? look.join() : node, node);
    }
    const settings = {resultTypes: ['violations'], rules: {'color-contrast': {enabled: false}}};
    const contrast = {resultTypes: ['violations'], runOnly: ['color-contrast']};
    const parts = [await axe.run(document, settings), await axe.run({include: [...looks.values()]}, contrast)];
    return parts.flatMap(({violations}) => violations).flatMap(({id, nodes}) => nodes.map(node => {
        const at = document.querySelector(node.target.flat().at(-1)), around = at?.closest('[data-testid]');
        return [id, `${at?.tagName} in ${around?.dataset.testid}`, `${node.html} ${node.failureSummary}`];
    }));
})()"""
"""Every rule over all elements, but for contrast: one element of each look, which takes a third of the time."""


def violations(page):
    """Return what is wrong with a page as it is now: rule, and tag and part of Streamlit, -> an element as an example.

    It is asked past the page's content security policy, as a browser's extension would be.
    """
    session = page.context.new_cdp_session(page)
    session.send("Runtime.evaluate", {"expression": f"{_ENGINE};0"})
    response = session.send("Runtime.evaluate", {"expression": _RUN, "awaitPromise": True, "returnByValue": True})
    session.detach()
    assert "exceptionDetails" not in response, response
    return {(rule, kind): description for rule, kind, description in response["result"]["value"]}
