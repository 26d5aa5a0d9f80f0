"""What is done at the desk, one thing at a time: ask, register, look back, export and verify."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from core.queries.ledger import Ledger, LedgerStatus

__all__ = ["show"]

_SECTIONS = {
    "ask": "Ask a question",
    "register": "Register a test set",
    "log": "Answered questions",
    "record": "Export and verify",
}


def show(ledger: Ledger, now: LedgerStatus | None) -> None:
    """Choose a section and draw it; without a registration there is nothing to ask and nothing answered."""
    there = [name for name in _SECTIONS if now is not None or name in ("register", "record")]
    section = st.segmented_control(
        "At the desk",
        there,
        default=there[0],
        required=True,
        key="desk_section" if now is not None else "desk_first_section",
        format_func=_SECTIONS.__getitem__,
        persist_state="session",
    )
    if section == "register":
        from pages.common.desk import register

        register.form(ledger)
    elif section == "record":
        from pages.common.desk import record

        record.export_and_verify(ledger, None if now is None else now.seal)
    elif section == "log" and now is not None:
        from pages.common.desk import record

        record.log(now)
    elif now is not None:
        from pages.common.desk import ask

        ask.form(ledger, now)
