"""All checks under each other on one scale, those that stand against a release first."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from core.policy import Verdict
from core.report import CheckRow
from pages.common.deciding import check
from pages.common.deciding.style import style

__all__ = ["board", "draw", "draw_waiting"]

_TOP = (
    "<div class='top'><div>Verdict</div><div>What was attacked</div>"
    "<div class='scale'><span>0</span><span>limit</span><span>twice</span></div><div>Limit and its source</div></div>"
)


def board(rows: Sequence[CheckRow]) -> str:
    """Return the checks as HTML; those without a limit in one line below."""
    asked = [check.row(row) for row in rows if row.verdict.verdict != "not_asked"]
    return f"<div class='fl-board'>{_TOP}{''.join(asked)}{_rest(rows)}</div>"


def _rest(rows: Sequence[CheckRow]) -> str:
    """Name the checks the policy does not ask for, with what was found all the same."""
    told = []
    for row in rows:
        if row.verdict.verdict == "not_asked":
            value = f" ({row.value})" if row.found.outcome == "done" else ""
            told.append(escape(f"{row.verdict.title}{value}"))
    return f"<p class='rest'>Not asked by the policy: {'; '.join(told)}.</p>" if told else ""


def draw(rows: Sequence[CheckRow], overall: str) -> None:
    """Draw the checks, and the icon of the verdict on all of them in its colour."""
    st.html(style(overall))
    st.html(board(rows))


def draw_waiting(verdict: Verdict) -> None:
    """Draw the limits while nothing is attacked yet."""
    rows = "".join(check.waiting(row) for row in verdict.rows if row.limit is not None)
    st.html(style())
    st.html(f"<div class='fl-board'>{_TOP}{rows}</div>")
