"""What came of a question, shown beside the button as long as the question stands; under another one it says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from core.fingerprint import fingerprint
from pages.common import panels
from pages.common.desk import words

if TYPE_CHECKING:
    from core.queries.ledger import Ledger, LedgerAnswer, Registration

__all__ = ["forget_problem", "keep", "keep_problem", "question_key", "show"]

_ANSWER, _PROBLEM = "desk_answer", "desk_ask_problem"


@dataclass(slots=True)
class _Kept:
    """An answer, its question, what was paid, and the price on the slider when it was first shown."""

    question: str
    answer: LedgerAnswer
    paid: float
    place: str = ""
    slider: float | None = None


def question_key(ledger: Ledger, made: Registration, scores: Any, metric: str) -> str:
    """Return what tells questions apart, but for their price."""
    return fingerprint("desk question", ledger.place, made.name, np.asarray(scores), metric)


def keep(question: str, answer: LedgerAnswer, paid: float) -> None:
    """Remember an answer, to be shown in the next run."""
    st.session_state[_ANSWER] = _Kept(question, answer, paid)


def keep_problem(question: str, sentence: str) -> None:
    """Remember why there is none."""
    st.session_state[_PROBLEM] = (question, sentence)


def forget_problem() -> None:
    """Forget what was wrong with the last attempt."""
    st.session_state.pop(_PROBLEM, None)


def show(ledger: Ledger, made: Registration, question: str | None, *, epsilon: float, again: bool) -> None:
    """Say what came of the question; of another question, only its answer, named as such.

    The slider's end follows what remains, so the price on it may move by itself while an answer arrives: the price it
    then shows is the one that belongs to the answer.
    """
    problem = st.session_state.get(_PROBLEM)
    if problem is not None and problem[0] == question:
        panels.problem(problem[1])
    kept: _Kept | None = st.session_state.get(_ANSWER)
    if kept is None:
        return
    if not kept.place:
        kept.place, kept.slider = ledger.place, epsilon
    if (kept.place, kept.answer.name) != (ledger.place, made.name):
        return
    same = (kept.question, kept.slider) == (question, epsilon) and not again
    if kept.answer.refused:
        if same:
            panels.problem(kept.answer.reason or "", point="Refused.")
    elif same:
        st.success(words.answered(kept.answer, kept.paid), icon=":material/check_circle:")
    else:
        st.caption(words.last_answer(kept.answer))
