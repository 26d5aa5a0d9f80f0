"""Asking the desk: what a question would cost and tell, before; the answer, after; and what else is done there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from core.desk import AskSettings
from core.desk.prices import prices, suggested_price
from core.errors import FairLeakError
from core.fairness import METRIC_TITLES
from core.fingerprint import fingerprint
from core.settings import params
from pages.common import desk_board as board
from pages.common import desk_ledger, panels, shell, state
from pages.common import desk_people as people
from pages.common import desk_words as words
from pages.common.controls import control

if TYPE_CHECKING:
    from core.desk import Ledger, LedgerAnswer, LedgerStatus, Quote, Registration, TestSet


_SECTIONS = {
    "ask": "Ask a question",
    "register": "Register a test set",
    "log": "Answered questions",
    "record": "Export and verify",
}


def show(ledger: Ledger, now: LedgerStatus | None) -> None:
    """Choose a section and draw it; without a registration there is nothing to ask and nothing answered."""
    there = [name for name in _SECTIONS if now is not None or name in ("register", "record")]
    section = panels.pick(
        "At the desk",
        {name: _SECTIONS[name] for name in there},
        key="desk_section" if now is not None else "desk_first_section",
        default=there[0],
    )
    if section == "register":
        desk_ledger.register_form(ledger)
    elif section == "record":
        board.export_and_verify(ledger, None if now is None else now.seal)
    elif section == "log" and now is not None:
        board.log(now)
    elif now is not None:
        question_form(ledger, now)


_ASKED = params(AskSettings)
_SOURCES = {"audited": "Of the audited model", "file": "A file"}
_EPSILON, _PRICED, _SHOWN = "desk_epsilon", "desk_priced", "desk_shown"


def question_form(ledger: Ledger, status: LedgerStatus) -> None:
    """Draw the question at the left, its price and the button at the right."""
    made = status.registration
    left, right = st.columns([3, 2], gap="large")
    with left:
        shell.whisper(f"Ask about {shell.escape(made.name)}", "The price is shown before anything is charged")
        metric, epsilon = _how(ledger, status)
        test_set = _test_set(made)
        scores = None if test_set is None else _scores(test_set, made)
    with right:
        _price(ledger, made, test_set, scores, metric=metric, epsilon=epsilon)


def _how(ledger: Ledger, status: LedgerStatus) -> tuple[str, float]:
    made = status.registration
    metrics = ["statistical_parity"] + (["equal_opportunity"] if (made.n_positive or 0) >= 2 else [])
    metric = panels.pick(
        _ASKED["metric"].param.title,
        {name: METRIC_TITLES[name] for name in metrics},
        key=f"desk_metric_{len(metrics)}",
        default="statistical_parity",
        help="The answer is a difference of mean scores: of all people, or of those with the good outcome where it is "
        "known. Of labels, 0 or 1, it is the gap of this name.",
    )
    return metric, _epsilon(ledger, status)


def _epsilon(ledger: Ledger, status: LedgerStatus) -> float:
    """Return the price of a new answer: a small share of what remains until another one is chosen."""
    made = status.registration
    offered = prices(status.remaining, least=made.least_epsilon)
    if len(offered) < 2:
        if not offered:
            st.caption("The budget is spent: only what the past answers can still be asked.")
        return offered[0] if offered else made.least_epsilon
    about = (ledger.place, status.registration.name)
    if st.session_state.get(_PRICED) != (about, offered):
        kept = st.session_state.get(_EPSILON)
        if st.session_state.get(_PRICED, ("",))[0] != about or kept not in offered:
            st.session_state[_EPSILON] = suggested_price(status.remaining, least=made.least_epsilon)
        st.session_state[_PRICED] = (about, offered)
    epsilon = control(
        _ASKED["epsilon"],
        _EPSILON,
        "select_slider",
        options=offered,
        format_func=lambda value: f"{value:.10g}",
        help="Half of it means twice the noise. Nothing is charged where the past answers the question.",
    )
    return float(epsilon)


def _test_set(made: Registration) -> TestSet | None:
    """Return the registered people, whose attribute the ledger does not keep."""
    if people.is_audited(made):
        found = people.audited()
        return None if found is None else found[0]
    upload = people.upload_box(
        "desk_test_set",
        "The test set's file again: the ledger does not keep the attribute",
        help="The file it was registered with; the order of its records may differ.",
    )
    return None if upload is None else people.uploaded_test_set(upload, made.columns)


def _scores(test_set: TestSet, made: Registration) -> Any | None:
    """Return the predictions asked about."""
    source = "file"
    if people.is_audited(made):
        source = panels.pick("Predictions", _SOURCES, key="desk_predictions_source", default="audited")
    if source == "audited":
        scores = people.predicted()
        return scores if len(scores) == test_set.n else None
    upload = people.upload_box(
        "desk_predictions",
        "Predictions: a CSV or Parquet file with identifier and score",
        help="A score from 0 to 1 for each person of the test set, in any order.",
    )
    if people.is_audited(made):
        _record_numbers(test_set)
    if upload is None:
        return None
    return people.uploaded_predictions(upload, test_set, made, "desk_predictions")


def _record_numbers(test_set: TestSet) -> None:
    """Offer the records' numbers, for those who predict elsewhere."""

    def content() -> bytes:
        return "\n".join(["record,score", *(f"{one},0.5" for one in test_set.ids), ""]).encode()

    panels.download("These records' numbers, to fill in", content, "fairleak-records.csv", key="desk_numbers")


def _price(
    ledger: Ledger, made: Registration, test_set: TestSet | None, scores: Any | None, *, metric: str, epsilon: float
) -> None:
    """Draw what the question would cost and tell, who asks, and the button."""
    with st.container(border=True):
        quote, again = None, False
        if test_set is None or scores is None:
            shell.whisper("No question yet", "Add the files at the left; then its price and its precision stand here.")
        else:
            quote, again = _quoted(ledger, made, test_set, scores, metric=metric, epsilon=epsilon)
        asker = st.text_input(
            "Who asks, and about which model, for the record",
            max_chars=80,
            key="desk_asker",
            placeholder="team A, model 7",
            help="The record keeps this text and has no other field for the model.",
            persist_state="session",
        )
        sure = _sure(made, quote)
        pressed = st.button(
            words.button(quote),
            key="desk_ask",
            type="primary",
            icon=":material/front_hand:",
            disabled=quote is None or quote.refused or not sure,
        )
        shown = st.session_state.get(_SHOWN)
        st.session_state[_SHOWN] = words.button(quote)
        question = (
            None if quote is None else fingerprint("desk question", ledger.place, made.name, np.asarray(scores), metric)
        )
        if pressed and question is not None and shown != words.button(quote):
            _keep_problem(question, "The price has changed since it was shown; press again if it suits you.")
        elif pressed and question is not None and test_set is not None and sure:
            how = {"epsilon": epsilon, "metric": metric, "asker": asker or "", "again": again}
            _ask(ledger, made, test_set, scores, question, **how)
        _show_outcome(ledger, made, question, epsilon=epsilon, again=again)


def _sure(made: Registration, quote: Quote | None) -> bool:
    """Ask for a tick where a question takes more than half of what is left; each price needs its own."""
    if quote is None or quote.refused or 2 * quote.charged <= quote.remaining:
        return True
    key = fingerprint("desk sure", made.name, quote.charged, quote.remaining)
    return st.checkbox(words.sure(quote), key=f"desk_sure_{key[:16]}")


def _quoted(
    ledger: Ledger, made: Registration, test_set: TestSet, scores: Any, *, metric: str, epsilon: float
) -> tuple[Quote | None, bool]:
    """Draw the price and the typical error; returns them, and whether a free answer shall be paid for anew."""
    told: dict[str, Any] = {"epsilon": epsilon, "metric": metric}
    try:
        quote = ledger.quote(made.name, test_set, scores, **told)
        again = quote.from_past and control(
            _ASKED["again"], "desk_again", help="New noise, combined with what is known already."
        )
        if again:
            quote = ledger.quote(made.name, test_set, scores, **told, again=True)
    except FairLeakError as error:
        panels.problem(str(error))
        if people.is_audited(made):
            st.caption(words.other_table())
        return None, False
    shell.whisper(*words.price(quote, epsilon))
    if made_of := words.counted(quote.charged, epsilon):
        st.caption(made_of)
    if quote.coarse:
        st.caption(words.coarse(quote, epsilon))
    if quote.refused:
        panels.problem(quote.reason or "", point="It would be refused.")
    shell.whisper(*words.expected(quote))
    return quote, bool(again)


def _ask(ledger: Ledger, made: Registration, test_set: TestSet, scores: Any, question: str, **how: Any) -> None:
    st.session_state.pop(_PROBLEM, None)
    if not how["asker"].strip():
        _keep_problem(question, "Say who asks; the record needs it.")
        return
    try:
        answer = ledger.ask(made.name, test_set, scores, **how)
    except FairLeakError as error:
        _keep_problem(question, str(error))
        return
    state.choose("desk_again", False)
    if answer.refused:
        board.count_refusal(made.name)
    st.session_state[_ANSWER] = _Answered(question, answer, how["epsilon"])
    st.rerun()


_ANSWER, _PROBLEM = "desk_answer", "desk_ask_problem"


@dataclass(slots=True)
class _Answered:
    """An answer, its question, what was paid, and the price on the slider when it was first shown."""

    question: str
    answer: LedgerAnswer
    paid: float
    place: str = ""
    slider: float | None = None


def _keep_problem(question: str, sentence: str) -> None:
    """Remember why there is none."""
    st.session_state[_PROBLEM] = (question, sentence)


def _show_outcome(ledger: Ledger, made: Registration, question: str | None, *, epsilon: float, again: bool) -> None:
    """Say what came of the question; of another question, only its answer, named as such.

    The slider's end follows what remains, so the price on it may move by itself while an answer arrives: the price it
    then shows is the one that belongs to the answer.
    """
    problem = st.session_state.get(_PROBLEM)
    if problem is not None and problem[0] == question:
        panels.problem(problem[1])
    kept: _Answered | None = st.session_state.get(_ANSWER)
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
