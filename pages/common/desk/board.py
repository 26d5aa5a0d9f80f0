"""The state of the ledger: what was answered, and what is left of every budget."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from core.queries.ledger import LedgerStatus
from pages.common import panels, shell
from pages.common.desk import words

if TYPE_CHECKING:
    from core.figures import Drawing

__all__ = ["budget_bar", "chosen", "count_refusal", "show"]


def chosen(statuses: Sequence[LedgerStatus]) -> LedgerStatus:
    """Choose a test set; the one registered or asked about last stays chosen."""
    names = [status.registration.name for status in statuses]
    if st.session_state.get("desk_name") not in names:
        st.session_state["desk_name"] = names[-1]
    if len(names) > 1:
        st.selectbox("Test set", names, key="desk_name", persist_state="session", width=560)
    return statuses[names.index(st.session_state["desk_name"])]


def show(now: LedgerStatus, statuses: Sequence[LedgerStatus]) -> Drawing | None:
    """Draw the answers of one test set beside all budgets."""
    from core.figures import GapRow, draw_gaps
    from core.figures.desk import MOST_ROWS

    left, right = st.columns([3, 2], gap="large")
    drawing = None
    with left:
        if now.answers:
            shell.whisper("What was answered", words.drawn(len(now.answers), MOST_ROWS))
            rows = [GapRow(words=words.row(a), gap=a.gap, price=a.charged) for a in now.answers]
            drawing = draw_gaps(rows, shell.palette())
            panels.chart(drawing, key="desk_answers_chart")
        else:
            shell.whisper("What was answered", "Nothing yet. Ask below: the price is shown before anything is charged")
    with right:
        shell.whisper("What is left", "Budget ε of each test set, for everybody who asks, for good")
        refused = st.session_state.get("desk_refused", {})
        told = [(status, words.told_budget(status, refused.get(status.registration.name, 0))) for status in statuses]
        st.html("".join(budget_bar(status, line) for status, line in told), width="stretch")
    return drawing


def budget_bar(status: LedgerStatus, line: str) -> str:
    """Return a budget as a bar: filled is spent."""
    colours, made = shell.palette(), status.registration
    share = 100 * status.spent / made.budget
    label = f"{made.name}: ε {status.spent:g} of {made.budget:g} spent, {status.remaining:g} left; {line}"
    return (
        '<div style="margin-bottom:16px">'
        f'<div style="display:flex;justify-content:space-between;gap:12px"><span style="overflow-wrap:anywhere">'
        f"<b>{escape(made.name)}</b>, {escape(made.columns.attribute)}, {made.n_people:,} people</span>"
        f'<span style="white-space:nowrap">ε <b>{status.remaining:g}</b> left</span></div>'
        f'<div role="img" aria-label="{escape(label)}" style="height:10px;margin:5px 0;border-radius:2px;'
        f'background:{colours.grid}"><div style="height:10px;border-radius:2px;width:{share:.2f}%;'
        f'background:{colours.leak}"></div></div>'
        f'<div style="color:var(--fl-grey);font-size:.9rem">ε {status.spent:g} of {made.budget:g} spent; '
        f"{escape(line)}</div></div>"
    )


def count_refusal(name: str) -> None:
    """Count a refused question; the ledger itself keeps no trace of it."""
    refused = st.session_state.setdefault("desk_refused", {})
    refused[name] = refused.get(name, 0) + 1
