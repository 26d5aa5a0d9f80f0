"""Why a column is preselected in the form that says what the columns are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from pages.common import shell

if TYPE_CHECKING:
    from core.datasets.roles import Roles
    from core.datasets.suggestion import Suggestion

__all__ = ["because"]


def because(guess: Suggestion, role: str, chosen: Any, current: Roles | None, *, reason: str = "") -> None:
    """Say below a box why it holds the guess, or why nothing was guessed; nothing of another choice or of roles in use.

    Parameters
    ----------
    guess : Suggestion
    role : str
        A field of `Roles`.
    chosen : object
        What the box holds.
    current : Roles or None
        The roles in use.
    reason : str
        Under which name the guess has its reason; the role's when left out.
    """
    told = guess.reasons.get(reason or role)
    if current is None and told and (chosen or "") == (getattr(guess.roles, role) or ""):
        st.caption(shell.escape(f"{'Guessed' if chosen else 'Not guessed'}: {told}."))
