"""The history of this server: opened once a session, and what is wrong with it in one sentence.

The page opens the place that FAIRLEAK_HISTORY names, or the default file, and no other.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from core.errors import FairLeakError
from core.history import Entry, History, history_place
from pages.common import panels

_HISTORY, _PROBLEM = "history", "history_problem"


def current(*, create: bool = False) -> History | None:
    """Return the history; None where nothing is kept yet, or where it cannot be opened (`problem`)."""
    if _HISTORY not in st.session_state and _PROBLEM not in st.session_state:
        place = history_place()
        if create or not isinstance(place, Path) or place.exists():
            with panels.keeping_problem(_PROBLEM):
                st.session_state[_HISTORY] = History.open(place)
    found: History | None = st.session_state.get(_HISTORY)
    return found


def entries() -> tuple[Entry, ...]:
    """Return all audits kept, newest first; none where the history cannot be read."""
    history = current()
    if history is None:
        return ()
    try:
        return history.entries()
    except FairLeakError as error:
        unusable(error)
        return ()


def unusable(error: FairLeakError) -> None:
    """Keep what is wrong with the history, which is opened again when somebody asks for it."""
    panels.forget(_HISTORY)
    st.session_state[_PROBLEM] = str(error)


def problem() -> None:
    """Say what is wrong with the history, if anything is, and offer to try again."""
    if _PROBLEM in st.session_state:
        panels.kept_problem(_PROBLEM)
        st.button("Try again", key="history_again", icon=":material/refresh:", on_click=panels.forget, args=(_PROBLEM,))
