"""The part of the roles form that asks for what a table says about a model: its predictions, scores, and sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from pages.common import guesses

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.datasets.dataset import Table
    from core.datasets.roles import Roles
    from core.datasets.suggestion import Suggestion

__all__ = ["ask"]

_ASKED = {
    "prediction": (
        "Model's prediction",
        "The label your model predicts, written as the label is, or as 0 and 1, false and true, no and yes. Choose it "
        "or the score to audit your own model: nothing is trained then.",
    ),
    "score": (
        "Model's score",
        "The probability your model gives to the positive value, from 0 to 1. Bias queries and membership attacks need "
        "it.",
    ),
    "sets": (
        "Which set a record is in",
        "Train: your model was trained on it, and it is attacked. Attack: the attacker knows its sensitive attribute. "
        "Test: neither. Without such a column the sets are drawn, and membership of your model cannot be attacked.",
    ),
}


def ask(table: Table, options: Sequence[str], current: Roles | None, guess: Suggestion) -> dict[str, Any]:
    """Draw three boxes, and the threshold where only scores are given; returns the fields of `Roles` they set.

    Parameters
    ----------
    options : sequence of str
        Columns that are neither label nor sensitive attribute.
    current : Roles or None
        The roles in use; before there are any, columns are guessed.
    guess : Suggestion
    """
    found: dict[str, Any] = {}
    columns = ["", *options]
    for place, (role, (title, told)) in zip(st.columns(3, gap="large"), _ASKED.items(), strict=True):
        preset = getattr(current or guess.roles, role)
        with place:
            chosen = st.selectbox(
                title,
                columns,
                index=columns.index(preset) if preset in columns else 0,
                key=f"{role}_{table.fingerprint[:16]}_{preset}",
                format_func=lambda column: column or "no column",
                help=told,
            )
            guesses.because(guess, role, chosen, current)
        found[role] = chosen or ""
    found["threshold"] = current.threshold if current else 0.5
    if found["score"] and not found["prediction"]:
        found["threshold"] = st.number_input(
            "A score predicts the positive value from",
            min_value=0.0,
            max_value=1.0,
            value=found["threshold"],
            step=0.01,
            key=f"threshold_{table.fingerprint[:16]}",
        )
    return found
