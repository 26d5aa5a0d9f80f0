"""The verdict: its sentence, and all checks under each other on one scale, as styled elements.

Whatever comes from a table or a policy file is escaped here.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from core.estimates import Estimate, count, interval, percent, tolerance_text
from core.fairness import METRIC_TITLES
from core.policy import CHECKS, VERDICT_TITLES, CheckVerdict, Policy, Verdict, limit_text, source_text
from core.policy import bullet as places_of
from core.release_audit import SelfTest
from core.report import BASIS_WORDS, CheckRow
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


_TOP = (
    "<div class='top'><div>Verdict</div><div>What was attacked</div>"
    "<div class='scale'><span>0</span><span>limit</span><span>twice</span></div><div>Limit and its source</div></div>"
)


def board(rows: Sequence[CheckRow]) -> str:
    """Return the checks as HTML; those without a limit in one line below, with what was found all the same."""
    asked = "".join(check_row(row) for row in rows if row.verdict.verdict != "not_asked")
    told = []
    for row in rows:
        if row.verdict.verdict == "not_asked":
            value = f" ({row.value})" if row.found.outcome == "done" else ""
            told.append(escape(f"{row.verdict.title}{value}"))
    rest = f"<p class='rest'>Not asked by the policy: {'; '.join(told)}.</p>" if told else ""
    return f"<div class='fl-board'>{_TOP}{asked}{rest}</div>"


def draw(rows: Sequence[CheckRow], overall: str) -> None:
    """Draw the checks, and the icon of the verdict on all of them in its colour."""
    st.html(style(overall))
    st.html(board(rows))


def draw_waiting(verdict: Verdict) -> None:
    """Draw the limits while nothing is attacked yet."""
    rows = "".join(_waiting_row(row) for row in verdict.rows if row.limit is not None)
    st.html(style())
    st.html(f"<div class='fl-board'>{_TOP}{rows}</div>")


_MARKS = {"fail": "✕", "inconclusive": "?", "not_run": "–", "pass": "✓", "not_asked": "·", "waiting": "…"}


def check_row(found: CheckRow) -> str:
    """Return the row of a check the policy sets a limit to."""
    verdict = found.verdict
    told = verdict.why if verdict.verdict == "not_run" else found.found.attacked
    interval = f", {found.interval}" if found.interval else ""
    kind = f" <span class='kind'>{found.found.basis}</span>" if found.found.estimate is not None else ""
    bar = bullet(verdict, f"{found.value}{interval}. Limit: {found.limit}.")
    bar += f"<div class='small'><b>{escape(found.value)}</b>{escape(interval)}{kind}</div>"
    cells = _cells(verdict, verdict.verdict, told, bar, found.limit, found.source)
    return f"<details><summary class='row'>{cells}</summary><div class='more'><dl>{_opened(found)}</dl></div></details>"


def _waiting_row(verdict: CheckVerdict) -> str:
    """Return the row of a check whose attack is not done yet."""
    assert verdict.limit is not None
    limit = limit_text(verdict.check, verdict.limit.value)
    bar = bullet(verdict, f"No value yet. Limit: {limit}.") + "<div class='small'>no value yet</div>"
    cells = _cells(verdict, "waiting", "Not attacked yet.", bar, limit, source_text(verdict.limit))
    return f"<div class='row still'>{cells}</div>"


def _cells(verdict: CheckVerdict, kind: str, told: str, bar: str, limit: str, source: str) -> str:
    optional = "" if verdict.limit is None or verdict.limit.required else "<div class='small'>not required</div>"
    mark = f"<span class='mark' aria-hidden='true'><span>{_MARKS[kind]}</span></span>"
    return (
        f"<div><div class='word {kind}'>{mark}{VERDICT_TITLES.get(kind, 'Not yet')}</div>{optional}</div>"
        f"<div><div class='name'>{escape(verdict.title)}</div><div class='small brief'>{escape(told)}</div></div>"
        f"<div>{bar}</div>"
        f"<div><div>{escape(limit)}</div><div class='small brief'>{escape(source)}</div></div>"
    )


def _opened(found: CheckRow) -> str:
    """Return everything there is to be told of a check, one line a question."""
    verdict, measured, limit = found.verdict, found.found, found.verdict.limit
    why = f"{verdict.why} {found.p_value} over all limits." if found.p_value else verdict.why
    lines = [("Why", why), ("The number", found.definition)]
    lines += [("What was attacked", measured.attacked), ("The attacker knows", measured.knows)]
    if found.control:
        lines.append(("Control", f"{measured.control_name}: {found.control}"))
    lines.append(("Taken for granted", "\n".join(measured.assumptions)))
    if measured.estimate is not None:
        word, meaning = BASIS_WORDS[measured.basis]
        lines.append(("Rests on", f"{word}: {meaning}."))
    lines.append(("Further numbers", found.details))
    if limit is not None:
        needed = "a release needs it" if limit.required else "shown, not required"
        who = ", ".join(text for text in (limit.author, limit.date) if text) or "nobody named"
        lines.append(("The limit", f"{found.limit}, item {verdict.item} of the policy, {needed}; set by {who}."))
        lines += [("Why this limit", limit.rationale.strip() or "No reason given."), ("Its source", found.source)]
    return "".join(f"<dt>{name}</dt><dd>{escape(told)}</dd>" for name, told in lines if told)


def bullet(row: CheckVerdict, label: str) -> str:
    """Return the bar of one check with a limit as HTML; without a number it is empty. The label tells it in words."""
    places = places_of(row)
    sides = ("forbidden", "allowed") if CHECKS[row.check].at_least else ("allowed", "forbidden")
    left, right = sides if places else ("", "")
    parts = [_piece(f"side {left}"), _piece(f"side right {right}"), _piece("limit")]
    if places is not None:
        if places.high > places.low:
            width = 100 * (places.high - places.low)
            parts.append(_piece("span", f"left: {100 * places.low:.2f}%; width: {width:.2f}%"))
        parts.append(_piece("dot", f"left: {100 * places.value:.2f}%"))
        for right_end in places.arrows:
            parts.append(_piece("beyond right", told="▸") if right_end else _piece("beyond left", told="◂"))
    return f'<div class="bar {row.verdict}" role="img" aria-label="{escape(label)}">{"".join(parts)}</div>'


def _piece(name: str, style: str = "", told: str = "") -> str:
    styled = f' style="{style}"' if style else ""
    return f'<span class="{name.strip()}"{styled}>{told}</span>'


_COLUMNS = ("Attack, and what was planted", "Called leaking without a leak", "Planted leaks caught", "Result")


def self_test_board(tests: Sequence[SelfTest]) -> str:
    """Return the tests as HTML; its style sheet is the board's of the checks."""
    head = "".join(f"<div role='columnheader'>{name}</div>" for name in _COLUMNS)
    body = "".join(_test_row(test) for test in tests)
    return (
        "<div class='fl-tested' role='table' aria-label='FairLeak, tested on itself'>"
        f"<div class='row top' role='row'>{head}</div>{body}</div>"
    )


def _test_row(test: SelfTest) -> str:
    kind, result = ("pass", "✓ passed") if test.passed else ("fail", "✕ failed")
    named = f"<div class='name'>{escape(test.attack)}</div><div class='small'>{escape(test.told)}</div>"
    cells = (
        f"<div role='cell'>{named}</div>",
        _rate(_COLUMNS[1], test.false_alarms),
        _rate(_COLUMNS[2], test.detected),
        f"<div role='cell' class='word {kind}'>{result}</div>",
    )
    return f"<div class='row' role='row'>{''.join(cells)}</div>"


def _rate(name: str, rate: Estimate) -> str:
    told = f"<b>{percent(rate)}</b> ({interval(rate)}) of {count(rate.n)}"
    return f"<div role='cell'><span class='term'>{name}: </span>{told}</div>"


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
.fl-board, .fl-tested {font-size: .95rem; line-height: 1.35; color: var(--fl-ink)}
.fl-board .top, .fl-board .row {display: grid; column-gap: 1.5rem;
  grid-template-columns: 7.7rem minmax(0, 1fr) 16.6rem 9.6rem}
.fl-board .top {color: var(--fl-grey); font-size: .85rem; padding-bottom: .3rem;
  border-bottom: 1px solid var(--fl-line)}
.fl-board .scale {display: grid; grid-template-columns: 1fr 1fr 1fr; margin-right: .7rem}
.fl-board .scale :nth-child(2) {text-align: center}
.fl-board .scale :nth-child(3) {text-align: right}
.fl-board details {border-bottom: 1px solid var(--fl-line)}
.fl-board .row {padding: .42rem 0 .38rem}
.fl-board summary {list-style: none; cursor: pointer}
.fl-board summary::-webkit-details-marker {display: none}
.fl-board summary:hover {background: var(--fl-hover)}
.fl-board summary:focus-visible {outline: 2px solid var(--fl-grey); outline-offset: 2px}
.fl-board .still {border-bottom: 1px solid var(--fl-line)}
.fl-board .word {font-weight: 600; display: flex; align-items: center; gap: .45rem}
.fl-board .mark {flex: none; width: 1.3rem; height: 1.3rem; border-radius: 50%; display: grid; place-items: center;
  font: 700 .85rem/1 "Source Sans", sans-serif; background: currentColor}
.fl-board .mark > span {color: var(--fl-paper)}
.fl-board .fail, .fl-tested .fail {color: var(--fl-fail)}
.fl-board .inconclusive {color: var(--fl-inconclusive)}
.fl-board .pass, .fl-tested .pass {color: var(--fl-pass)}
.fl-board .not_run, .fl-board .not_asked, .fl-board .waiting {color: var(--fl-none)}
.fl-board .name {font-weight: 600; overflow-wrap: anywhere}
.fl-board .name::after {content: " ▸"; color: var(--fl-grey); font-weight: 400}
.fl-board details[open] .name::after {content: " ▾"}
.fl-board .still .name::after {content: none}
[data-testid=stMain] h2 .stMarkdownColoredText {color: var(--fl-verdict) !important}
.fl-board .small {color: var(--fl-grey); font-size: .85rem; overflow-wrap: anywhere}
.fl-board .brief {display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 1; overflow: hidden}
.fl-board details[open] .brief {-webkit-line-clamp: none}
.fl-board .kind {border: 1px solid var(--fl-line); border-radius: 4px; padding: 0 .3rem; font-size: .78rem;
  white-space: nowrap}
.fl-board .bar {position: relative; height: 1.3rem; margin-right: .7rem}
.fl-board .bar span {position: absolute; display: block}
.fl-board .side {top: .4rem; height: .5rem; width: 50%; left: 0; background: var(--fl-empty)}
.fl-board .side.right {left: 50%}
.fl-board .side.allowed {background: var(--fl-allowed)}
.fl-board .side.forbidden {background: var(--fl-forbidden)}
.fl-board .limit {left: calc(50% - 1px); top: 0; width: 2px; height: 1.3rem; background: var(--fl-ink)}
.fl-board .span {top: .49rem; height: .32rem; background: currentColor}
.fl-board .dot {top: .25rem; width: .8rem; height: .8rem; margin-left: -.4rem; border-radius: 50%;
  background: currentColor; border: 1.5px solid var(--fl-paper); box-sizing: border-box}
.fl-board .beyond {top: .2rem; font-size: 1rem; line-height: .9rem; right: -.8rem}
.fl-board .beyond.left {right: auto; left: -.8rem}
.fl-board .more {padding: .2rem 0 .9rem 9.2rem; font-size: .9rem}
.fl-board .more dl {display: grid; grid-template-columns: 9.5rem minmax(0, 1fr); gap: .3rem 1rem; margin: 0; padding: 0}
.fl-board .more dt {color: var(--fl-grey); font-weight: 400}
.fl-board .more dd {margin: 0; overflow-wrap: anywhere; white-space: pre-line}
.fl-board .rest {color: var(--fl-grey); font-size: .85rem; margin: .5rem 0 0; overflow-wrap: anywhere}
.fl-tested .row {display: grid; column-gap: 1.5rem; padding: .42rem 0; border-bottom: 1px solid var(--fl-line);
  grid-template-columns: minmax(0, 1fr) 13rem 13rem 5.5rem}
.fl-tested .top, .fl-tested .small {color: var(--fl-grey); font-size: .85rem}
.fl-tested .name, .fl-tested .word {font-weight: 600; overflow-wrap: anywhere}
.fl-tested .term {display: none; color: var(--fl-grey)}
@media (max-width: 1000px) {
  .fl-tested .top {display: none}
  .fl-tested .row {grid-template-columns: minmax(0, 1fr); row-gap: .15rem; padding: .7rem 0}
  .fl-tested .term {display: inline}
  .fl-board .top {display: none}
  .fl-board .row {grid-template-columns: minmax(0, 1fr); row-gap: .15rem; padding: .7rem 0}
  .fl-board details[open] .brief, .fl-board .brief {-webkit-line-clamp: none}
  .fl-board .bar {margin: 0 .7rem}
  .fl-board .row > :last-child > :first-child::before {content: "Limit: "; color: var(--fl-grey)}
  .fl-board .more {padding-left: 0}
  .fl-board .more dl {grid-template-columns: minmax(0, 1fr); gap: 0}
  .fl-board .more dd {margin-bottom: .5rem}
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
    return f"<style>:root {{{told}}}{_STYLE}</style>"
