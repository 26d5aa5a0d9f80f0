"""What is asked of the browser: selectors, and scripts that read a page in one moment."""

from __future__ import annotations

__all__ = ["FINDING", "FOUND", "FRESH", "INKS", "LABELS", "TRACES", "WIDER"]

FRESH = "[data-testid=stElementContainer]:not([data-stale=true])"
"""Elements that are not the remainder of an earlier run."""

FINDING = f"[data-testid=stMain] {FRESH} h2"
"""The page's finding."""

FOUND = f"""words => {{
    const idle = document.querySelector('[data-testid=stApp][data-test-script-state=notRunning]');
    const found = document.querySelectorAll('{FINDING}');
    if (!idle || found.length !== 1) return null;
    const plain = text => text.replace(/[\\u200b\\u00ad]/g, '').replace(/\\s+/g, ' ');
    const told = plain((found[0].closest('[data-testid=stMarkdownContainer]') || found[0]).textContent);
    return words.every(word => told.includes(plain(word))) ? found[0].innerText : null;
}}"""
"""The finding's text if it and what stands below hold all words and no script runs, else null; in one moment."""

TRACES = """(plots, mode) => ((plots.length && plots[0].data) || []).filter(t => t.mode === mode)
    .map(t => ({x: Array.from(t.x || []), y: Array.from(t.y || []), fill: t.fill || ''}))"""
"""The first chart's traces of one mode; none while it is painted anew."""

INKS = "plots => plots.map(plot => plot.layout?.font?.color)"
"""The colour each chart is written in."""

LABELS = "tags => tags.map(tag => tag.getAttribute('aria-label'))"
"""The labels of tags."""

WIDER = """() => {
    const main = document.querySelector('[data-testid=stMain]'), root = document.documentElement;
    const charts = Array.from(document.querySelectorAll('.js-plotly-plot .main-svg'));
    return [root.scrollWidth - window.innerWidth, main.scrollWidth - main.clientWidth,
        ...charts.map(chart => Math.round(chart.getBoundingClientRect().right - window.innerWidth))];
}"""
"""By how many pixels the window, the main part and each chart are too wide."""
