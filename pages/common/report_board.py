"""The verdict: its sentence, and all checks under each other on one scale, as the report draws them."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.estimates import tolerance_text
from core.fairness import METRIC_TITLES
from core.policy import Policy, Verdict
from core.report import CheckRow, board_html, bullet_style
from pages.common import shell, wording
from pages.common.background import State
from pages.common.report_plan import Subject, released

_ICONS = {
    "fail": ":red[:material/cancel:]",
    "inconclusive": ":yellow[:material/help:]",
    "not_run": ":gray[:material/do_not_disturb_on:]",
    "pass": ":green[:material/check_circle:]",
}

_NONE = {
    State.CANCELLED: ("No verdict: the attacks were stopped.", "What was found so far is not kept"),
    State.FAILED: ("No verdict: the audit could not be made.", "Nothing was judged"),
}
_UNDER_WAY = ("No verdict yet: the attacks are under way.", "Judged as soon as they are done")


def finding(verdict: Verdict, subject: Subject) -> tuple[str, str]:
    """Return the verdict as the page's finding."""
    quantity = f"{verdict.detail} {_subject_words(verdict.policy, subject)}".strip()
    return f"{_ICONS[verdict.overall]} {shell.escape(verdict.headline)}", shell.escape(quantity)


def no_verdict(state: State | None, policy: Policy, subject: Subject) -> tuple[str, str]:
    """Return the finding while there is no verdict: attacks under way, stopped or failed."""
    point, why = _UNDER_WAY if state is None else _NONE.get(state, _UNDER_WAY)
    quantity = f"{why}. {_subject_words(policy, subject)}"
    return f":gray[:material/hourglass_empty:] {point}", shell.escape(quantity)


def _subject_words(policy: Policy, subject: Subject) -> str:
    config = subject.config
    promise = f"{METRIC_TITLES[config.metric].lower()} within {tolerance_text(config.tolerance)}"
    return (
        f"{subject.table.title}, {wording.attribute(config)}, {promise}, seed {config.seed}. "
        f"Released: {released(subject.plan.outputs).lower()}. Policy: {policy.name}, version {policy.version}."
    )


def draw(rows: Sequence[CheckRow], overall: str) -> None:
    """Draw the checks, and the icon of the verdict on all of them in its colour."""
    st.html(style(overall))
    st.html(board_html(rows))


def draw_waiting(verdict: Verdict) -> None:
    """Draw the limits while nothing is attacked yet."""
    st.html(style())
    st.html(board_html([CheckRow(verdict=row, definition="") for row in verdict.rows], waiting=True))


_COLOURS = {
    "fail": ("#A01A13", "#F2837B"),
    "inconclusive": ("#8F6400", "#E3B34C"),
    "pass": ("#1B7F4B", "#5CC48D"),
    "none": ("#5B626D", "#A9B0BA"),
    "allowed": ("#CFE5D6", "#23392F"),
    "forbidden": ("#F3DEDA", "#3A2524"),
    "empty": ("#F0EEE9", "#1F232A"),
    "line": ("#E3DFD8", "#2A2E36"),
    "hover": ("#F7F5F0", "#1A1D23"),
}
"""By what they stand for, in the light and in the dark theme."""

_STYLE = """
.fl-board {font-size: .95rem; line-height: 1.35; color: var(--fl-ink)}
.fl-board .row {display: grid; column-gap: 1.5rem; padding: .42rem 0 .38rem;
  grid-template-columns: 7.7rem minmax(0, 1fr) 16.6rem 9.6rem}
.fl-board p {margin: 0; font-size: inherit; overflow-wrap: anywhere}
.fl-board .top {color: var(--fl-grey); font-size: .85rem}
.fl-board .top, .fl-board details, .fl-board > .row {border-bottom: 1px solid var(--fl-line)}
.fl-board .scale {display: flex; justify-content: space-between; margin-right: .7rem}
.fl-board summary {list-style: none; cursor: pointer}
.fl-board summary::-webkit-details-marker {display: none}
.fl-board summary:hover {background: var(--fl-hover)}
.fl-board summary:focus-visible {outline: 2px solid var(--fl-grey); outline-offset: 2px}
.fl-board .verdict {font-weight: 600; display: flex; align-items: center; gap: .45rem}
.fl-board .fail {color: var(--fl-fail)}
.fl-board .inconclusive {color: var(--fl-inconclusive)}
.fl-board .pass {color: var(--fl-pass)}
.fl-board .not_run, .fl-board .not_asked, .fl-board .waiting {color: var(--fl-none)}
.fl-board .what {font-weight: 600}
.fl-board summary .what::after {content: " ▸"; color: var(--fl-grey); font-weight: 400}
.fl-board details[open] .what::after {content: " ▾"}
[data-testid=stMain] h2 .stMarkdownColoredText {color: var(--fl-verdict) !important}
.fl-board .small, .fl-board .rest {font-size: .85rem}
.fl-board .rest {margin-top: .5rem}
.fl-board .grey, .fl-board .rest, .fl-board dt {color: var(--fl-grey)}
.fl-board .brief {display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 1; overflow: hidden}
.fl-board details[open] .brief {-webkit-line-clamp: none}
.fl-board .chip {border: 1px solid var(--fl-line); border-radius: 4px; padding: 0 .3rem; font-size: .78rem;
  color: var(--fl-grey); white-space: nowrap}
.fl-board .bullet {margin-left: 0}
.fl-board .more {padding: .2rem 0 .9rem 9.2rem; font-size: .9rem}
.fl-board dl {display: grid; grid-template-columns: 9.5rem minmax(0, 1fr); gap: .3rem 1rem; margin: 0; padding: 0}
.fl-board dt {font-weight: 400}
.fl-board dd {margin: 0; overflow-wrap: anywhere}
.fl-board dd ul {margin: 0; padding-left: 1.1rem}
@media (max-width: 1000px) {
  .fl-board .top {display: none}
  .fl-board .row {grid-template-columns: minmax(0, 1fr); row-gap: .15rem; padding: .7rem 0}
  .fl-board details[open] .brief, .fl-board .brief {-webkit-line-clamp: none}
  .fl-board .bullet {margin: 0 .7rem}
  .fl-board .c4 > :first-child::before {content: "Limit: "; color: var(--fl-grey)}
  .fl-board .more {padding-left: 0}
  .fl-board dl {grid-template-columns: minmax(0, 1fr); gap: 0}
  .fl-board dd {margin-bottom: .5rem}
}
"""


def style(overall: str = "none") -> str:
    """Return the style sheet for `st.html`, with the colour of the verdict's icon in the finding."""
    from core.charts import DARK

    palette = shell.palette()
    theme = {name: pair[palette == DARK] for name, pair in _COLOURS.items()}
    colours = {
        **theme,
        "verdict": theme.get(overall, theme["none"]),
        "ink": palette.ink,
        "paper": palette.background,
        "grey": palette.grey,
    }
    told = "; ".join(f"--fl-{name}: {colour}" for name, colour in colours.items())
    return f"<style>:root {{{told}}}{bullet_style()}{_STYLE}</style>"
