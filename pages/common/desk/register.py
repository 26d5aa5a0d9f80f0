"""Registering a test set: whose attribute, from which file or table, with what budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from core.errors import FairLeakError
from core.queries.desk_terms import everybody_else, together
from pages.common import panels, shell, state
from pages.common.desk import people, uploads, words

if TYPE_CHECKING:
    from core.queries.ledger import Columns, Ledger, TestSet

__all__ = ["form"]

_KEPT: dict[str, Any] = {"persist_state": "session"}
_NONE = "none"
_SOURCES = {"file": "A file", "audited": "Test records of the audited table"}
_PROBLEM = "desk_register_problem"


def form(ledger: Ledger) -> None:
    """Draw the form and its button."""
    shell.whisper("Register a test set", "Who is asked about, and how much may ever be told about them")
    source = st.segmented_control(
        "People",
        list(_SOURCES),
        default="audited",
        required=True,
        key="desk_source",
        format_func=_SOURCES.__getitem__,
        **_KEPT,
    )
    found = people.audited() if source != "file" else _from_file()
    if found is not None:
        st.markdown(_told(*found))
        if source == "file" and (others := _together(found[1])):
            st.markdown(words.taken_together(others))
    left, right = st.columns([3, 2], gap="large")
    with left:
        suggested = f"{state.dataset_name()}, {found[1].attribute}" if found and source != "file" else ""
        name = st.text_input(
            "Name, as askers will call it",
            value=suggested,
            max_chars=80,
            key=f"desk_new_name_{source}_{suggested[:60]}",
            **_KEPT,
        )
    with right:
        budget = st.number_input(
            "Lifetime budget ε",
            min_value=0.00001,
            max_value=1000.0,
            value=1.0,
            step=0.1,
            format="%g",
            key="desk_budget",
            help="Smaller protects more and answers less. 1 is strict, 10 protects little.",
            **_KEPT,
        )
    st.caption(words.price_of_size(float(budget)))
    another = st.toggle(
        "People registered before, for another attribute",
        key="desk_another_attribute",
        help="Needed where these people have a budget for another attribute. It is believed, and goes on record.",
        **_KEPT,
    )
    pressed = st.button(
        "Register", key="desk_register", type="primary", icon=":material/how_to_reg:", disabled=found is None
    )
    if pressed and found is not None:
        _register(ledger, name or "", found, float(budget), another=another)
    if sentence := st.session_state.get(_PROBLEM):
        panels.problem(sentence)


def _told(test_set: TestSet, columns: Columns) -> str:
    """Say what was understood, before anything is registered."""
    advantaged = shell.escape(columns.advantaged or "1")
    labels = "" if test_set.n_positive is None else f" {test_set.n_positive:,} of them have the positive label."
    return (
        f"{test_set.n:,} people; attribute **{shell.escape(columns.attribute)}**, advantaged group **{advantaged}**, "
        "compared with everybody else."
        f"{labels}"
    )


def _together(columns: Columns) -> str | None:
    """Name the values that make up the disadvantaged group of the file, where there are several."""
    upload = uploads.given("desk_test_set")
    frame = None if upload is None else people.from_file(upload)
    return None if frame is None else together(everybody_else(frame, columns.attribute, columns.advantaged))


def _register(ledger: Ledger, name: str, found: tuple[TestSet, Columns], budget: float, *, another: bool) -> None:
    test_set, columns = found
    st.session_state.pop(_PROBLEM, None)
    if not name.strip():
        st.session_state[_PROBLEM] = "Give the test set a name; askers need it."
        return
    try:
        made = ledger.register(name, test_set, budget=round(budget, 6), columns=columns, another_attribute=another)
    except FairLeakError as error:
        st.session_state[_PROBLEM] = str(error)
        return
    state.choose("desk_name", made.name)
    state.choose("desk_section", "ask")
    state.choose("desk_another_attribute", False)
    st.rerun()


def _from_file() -> tuple[TestSet, Columns] | None:
    """Ask for a file and what its columns are."""
    upload = uploads.box(
        "desk_test_set",
        "Test set: a CSV or Parquet file with a record a person (up to 200 MB)",
        help="Read in this session's memory. The ledger keeps a keyed hash of it, to know it again.",
    )
    frame = people.from_file(upload) if upload is not None else None
    if upload is None or frame is None:
        return None
    columns = _columns(frame)
    test_set = people.uploaded_test_set(upload, columns)
    return None if test_set is None else (test_set, columns)


def _columns(frame: Any) -> Columns:
    """Ask which column is which, and which values count."""
    from core.queries.ledger import Columns

    named = [str(column) for column in frame.columns]
    left, middle, right = st.columns(3, gap="medium")
    with left:
        usual = next((i for i, name in enumerate(named) if name.casefold() in ("id", "person", "identifier")), 0)
        identifier = st.selectbox("Identifier", named, index=usual, key="desk_id_column")
    with middle:
        others = [name for name in named if name != identifier]
        attribute = st.selectbox("Sensitive attribute", others, key="desk_attribute_column")
        values = _values(frame, attribute)
        advantaged = st.selectbox("Advantaged group", values, key=f"desk_advantaged_{attribute}")
    with right:
        labels = [_NONE, *(name for name in others if name != attribute)]
        at = st.selectbox(
            "True outcome, for equal opportunity",
            range(len(labels)),
            format_func=labels.__getitem__,
            key="desk_label_column",
            help="Counts as public: those who ask may know it.",
        )
        label = labels[at] if at else None
        positive = None
        if label is not None:
            positive = st.selectbox("Its good value", _values(frame, label), key=f"desk_positive_{label}")
    return Columns(id=identifier, attribute=attribute, advantaged=advantaged, label=label, positive=positive)


def _values(frame: Any, column: str) -> list[str]:
    """Return a column's values, the most frequent first."""
    from core.datasets.columns import as_text

    return [str(value) for value in as_text(frame[column]).value_counts().index[:200]]
