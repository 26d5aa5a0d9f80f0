"""The verdict: its sentence, and all checks under each other on one scale, as the report draws them."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.compare import Comparison, since
from core.config import AuditConfig
from core.estimates import epsilon_text, tolerance_text
from core.fairness import METRIC_TITLES
from core.models import GIVEN, METHOD_TITLES
from core.policy import Policy, Verdict, placeholders_text
from core.report import CheckRow, board_html, board_style
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
    constraint = f"{METRIC_TITLES[config.metric].lower()} within {tolerance_text(config.tolerance)}"
    if config.method not in ("exponentiated_gradient", GIVEN):  # which know nothing of it
        constraint = f"disclosed {constraint}"
    return (
        f"{subject.table.title}, {wording.attribute(config)}. {_model_words(config)}, {constraint}, "
        f"seed {config.seed}. "
        f"Released: {released(subject.plan.outputs).lower()}. Policy: {policy.name}, version {policy.version}."
    )


def _model_words(config: AuditConfig) -> str:
    """Name the audited model: "Private tree (DP-ID3), ε = 3, depth 8"."""
    told = [METHOD_TITLES[config.method]]
    if config.method == "dp_id3":
        told.append(f"ε = {epsilon_text(config.epsilon)}")
    return ", ".join(told if config.method == GIVEN else [*told, f"depth {config.depth}"])


def placeholders(policy: Policy) -> None:
    """Say how many limits are FairLeak's starting values, while one is."""
    first, _, rest = placeholders_text(policy).partition(". ")
    if rest:
        with st.container(key="placeholders"):
            st.markdown(f":material/edit_note: **{shell.escape(first)}.** {shell.escape(rest)}")


def draw(rows: Sequence[CheckRow], overall: str, compared: Comparison | None = None) -> None:
    """Draw the checks, with their changes where there is a comparison, and the icon of the verdict in its colour."""
    st.html(style(overall))
    if compared is None:
        st.html(board_html(rows))
        return
    changes = {found.check: since(found) for found in compared.checks}
    st.html(board_html(rows, since=changes, day=compared.since))


def draw_waiting(verdict: Verdict) -> None:
    """Draw the limits while nothing is attacked yet."""
    st.html(style())
    st.html(board_html([CheckRow(verdict=row, definition="") for row in verdict.rows], waiting=True))


def style(overall: str = "none") -> str:
    """Return the style sheet for `st.html`, with the colour of the verdict's icon in the finding."""
    own = (
        "[data-testid=stMain] h2 .stMarkdownColoredText {color: var(--fl-verdict) !important}"
        ".st-key-placeholders {background: var(--fl-banner); border-radius: 6px; padding: .3rem .8rem}"
        ".st-key-placeholders {margin-top: -.7rem}"
        "@media (min-width: 641px) {.st-key-compare > div:last-child {margin-left: auto}}"
        "@media (max-width: 640px) {.st-key-compare_row, .st-key-compare_row > div, .st-key-compare_with"
        " {width: 100% !important; flex: 1 1 100% !important}}"
        ".st-key-placeholders p, .st-key-placeholders [data-testid=stMarkdownContainer] {margin: 0}"
    )
    return f"<style>{board_style(shell.palette(), overall)}{own}</style>"
