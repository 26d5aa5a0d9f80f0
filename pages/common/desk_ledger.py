"""Which ledger is open in this session, the box that opens another, and the form that registers a test set.

A database's password is taken out of whatever was typed before the page is drawn again, kept in the session's memory,
and never sent back to the browser. Where FAIRLEAK_LEDGER names a place, the page opens that one and no other: without
it, whoever reaches the page can have the server open any file or database it can reach.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import streamlit as st

from core.datasets.columns import quoted
from core.desk import Columns, Ledger, RegisterSettings, TestSet, default_ledger, open_ledger
from core.desk.findings import everybody_else, price_of_size, together
from core.errors import FairLeakError, InputError
from core.settings import Setting, params
from pages.common import desk_people as people
from pages.common import panels, shell, state
from pages.common.controls import control
from pages.common.upload import values_of

_FIELD, _SECRET_FIELD = "desk_place", "desk_password_field"
_LEDGER, _SECRET, _PROBLEM = "desk_ledger", "desk_password", "desk_place_problem"
_CREDENTIALS = re.compile(r"^([A-Za-z0-9+.-]+://[^:/@?]*):(.*)@([^@]*)$", re.DOTALL)
_SECRETS = re.compile(r"(?i)([?&])((?:ssl)?password|passfile)=([^&]*)")


def current() -> Ledger | None:
    """Return the open ledger; the default one is opened without a click if it is there."""
    if _LEDGER not in st.session_state:
        st.session_state[_LEDGER] = None
        if _pinned() or _there(_default()):
            _open(_pinned() or _default(), False)
    ledger: Ledger | None = st.session_state[_LEDGER]
    return ledger


def still() -> None:
    """Say whose results these are after another ledger could not be opened."""
    ledger = st.session_state.get(_LEDGER)
    if ledger is not None and st.session_state.get(_PROBLEM):
        told = f"Everything here is still about the ledger {shell.escape(ledger.place)}."
        st.caption(f"The other ledger was not opened. {told}")


def unreadable(sentence: str) -> None:
    """Say what is wrong with the open ledger; it stays open, to be tried again."""
    panels.problem(_without_secret(sentence))
    st.button("Try again", key="desk_try_again", icon=":material/refresh:")


def box(*, expanded: bool) -> None:
    """Draw the field, the password's field where a database is named, and the buttons."""
    ledger = st.session_state.get(_LEDGER)
    name = "Ledger" if ledger is None else f"Ledger {shell.escape(ledger.place)}"
    with st.expander(name, icon=":material/menu_book:", expanded=expanded):
        if _pinned():
            st.caption("This server keeps one ledger, at the place FAIRLEAK_LEDGER names.")
        else:
            _place_fields()
        with st.container(horizontal=True):
            st.button("Open", key="desk_open", icon=":material/folder_open:", on_click=_open_wanted)
            st.button("Create", key="desk_create", icon=":material/add:", on_click=_open_wanted, args=(True,))
    panels.kept_problem(_PROBLEM)


def _place_fields() -> None:
    st.text_input(
        "A file, or a PostgreSQL URL for several machines",
        value=_default(),
        key=_FIELD,
        on_change=_hide_password,
        help="A password in a URL is taken out at once and kept in this session's memory only.",
        persist_state="session",
    )
    if "://" in str(st.session_state.get(_FIELD)):
        kept = bool(st.session_state.get(_SECRET))
        st.text_input(
            "Password of the database",
            type="password",
            key=_SECRET_FIELD,
            on_change=_take_password,
            placeholder="kept in this session" if kept else "leave empty if it needs none",
            persist_state="session",
        )


def _pinned() -> str:
    """Return the only place this server may open, with any password in it; empty if it may open any."""
    return os.environ.get("FAIRLEAK_LEDGER", "").strip()


def _default() -> str:
    return str(default_ledger())


def _there(place: str) -> bool:
    try:
        return Path(place).exists()
    except (OSError, ValueError):
        return False


def _hide_password() -> None:
    """Take a password out of the field and into the session's memory."""
    typed = str(st.session_state.get(_FIELD) or "").strip()
    secret = ""
    if found := _CREDENTIALS.match(typed):
        secret, typed = found[2], f"{found[1]}@{found[3]}"
    if told := _SECRETS.search(typed):
        secret = secret or (told[3] if told[2].lower() == "password" else "")
        typed = re.sub(r"[?&]+$", "", _SECRETS.sub(r"\1", typed)).replace("?&", "?").replace("&&", "&")
    st.session_state[_SECRET] = secret
    st.session_state[_FIELD] = typed
    st.session_state.pop(_PROBLEM, None)


def _take_password() -> None:
    if typed := st.session_state.get(_SECRET_FIELD):
        from urllib.parse import quote

        st.session_state[_SECRET] = quote(typed, safe="")
        st.session_state[_SECRET_FIELD] = ""


def _without_secret(sentence: str) -> str:
    from urllib.parse import unquote

    secrets = {st.session_state.get(_SECRET) or ""}
    if found := _CREDENTIALS.match(_pinned()):
        secrets.add(found[2])
    secrets |= {told[3] for told in _SECRETS.finditer(_pinned())}
    for told in (secrets | {unquote(one) for one in secrets}) - {""}:
        sentence = sentence.replace(told, "…")
    return sentence


def _open_wanted(create: bool = False) -> None:
    """Open the pinned ledger, or the one whose place was typed."""
    typed = str(st.session_state.get(_FIELD) or "")
    if not _pinned():
        if _CREDENTIALS.match(typed.strip()) or _SECRETS.search(typed):
            _hide_password()
            typed = str(st.session_state[_FIELD])
        _take_password()
    _open(typed.strip(), create)


def _open(place: str, create: bool = False) -> None:
    """Open a ledger, the pinned one whatever is asked for; if that fails, the one that is open stays open."""
    st.session_state.pop(_PROBLEM, None)
    try:
        address = _address(place)
        if not create and isinstance(address, Path) and not address.exists():
            raise InputError(f"There is no ledger at {quoted(address, 200)}; press Create to make one.")
        st.session_state[_LEDGER] = open_ledger(address, create=create)
        st.session_state.pop("desk_name", None)
    except FairLeakError as error:
        st.session_state[_PROBLEM] = _without_secret(str(error))


def _address(place: str) -> Any:
    """Return the place with its password, or a path with the user's home spelled out."""
    place, secret = _pinned() or place, "" if _pinned() else st.session_state.get(_SECRET)
    if "://" not in place:
        return Path(os.path.expanduser(place)) if place else Path(_default())
    if secret and (cut := re.match(r"^([A-Za-z0-9+.-]+://)([^/@?]*)@(.*)$", place, re.DOTALL)):
        return f"{cut[1]}{cut[2]}:{secret}@{cut[3]}"
    return place


_NONE = "none"
_MOST_VALUES = 200
_COLUMNS, _REGISTER = params(Columns), params(RegisterSettings)
_SOURCES = {"file": "A file", "audited": "Test records of the audited table"}
_REGISTER_PROBLEM = "desk_register_problem"


def register_form(ledger: Ledger) -> None:
    """Draw the form and its button."""
    shell.whisper("Register a test set", "Who is asked about, and how much may ever be told about them")
    source = panels.pick("People", _SOURCES, key="desk_source", default="audited")
    found, frame = (people.audited(), None) if source != "file" else _from_file()
    if found is not None:
        test_set, columns = found
        labels = "" if test_set.n_positive is None else f" {test_set.n_positive:,} of them have the positive label."
        st.markdown(
            f"{test_set.n:,} people; attribute **{shell.escape(columns.attribute)}**, advantaged group "
            f"**{shell.escape(columns.advantaged or '1')}**, compared with everybody else.{labels}"
        )
        rest = {} if frame is None else everybody_else(frame, columns.attribute, columns.advantaged)
        if others := together(rest):
            st.markdown(f"The disadvantaged group takes together {shell.escape(others)}.")
    left, right = st.columns([3, 2], gap="large")
    suggested = f"{state.dataset_name()}, {found[1].attribute}" if found and source != "file" else ""
    name = left.text_input(
        "Name, as askers will call it",
        value=suggested,
        max_chars=80,
        key=f"desk_new_name_{source}_{suggested[:60]}",
        persist_state="session",
    )
    budget = control(
        _REGISTER["budget"],
        "desk_budget",
        "number_input",
        place=right,
        min_value=0.00001,
        max_value=1000.0,
        value=1.0,
        step=0.1,
        format="%g",
        help="Smaller protects more and answers less. 1 is strict, 10 protects little.",
    )
    st.caption(price_of_size(float(budget)))
    another = control(
        _REGISTER["another_attribute"],
        "desk_another_attribute",
        help="Needed where these people have a budget for another attribute. It is believed, and goes on record.",
    )
    pressed = st.button(
        "Register", key="desk_register", type="primary", icon=":material/how_to_reg:", disabled=found is None
    )
    if pressed and found is not None:
        _register(ledger, name or "", found, float(budget), another=another)
    panels.kept_problem(_REGISTER_PROBLEM)


def _register(ledger: Ledger, name: str, found: tuple[TestSet, Columns], budget: float, *, another: bool) -> None:
    test_set, columns = found
    with panels.keeping_problem(_REGISTER_PROBLEM):
        if not name.strip():
            raise InputError("Give the test set a name; askers need it.")
        made = ledger.register(name, test_set, budget=round(budget, 6), columns=columns, another_attribute=another)
        state.choose("desk_name", made.name)
        state.choose("desk_section", "ask")
        state.choose("desk_another_attribute", False)
        st.rerun()


def _from_file() -> tuple[tuple[TestSet, Columns] | None, Any]:
    """Ask for a file and what its columns are; returns both and the file's cells, as far as they are there."""
    upload = people.upload_box(
        "desk_test_set",
        "Test set: a CSV or Parquet file with a record a person (up to 200 MB)",
        help="Read in this session's memory. The ledger keeps a keyed hash of it, to know it again.",
    )
    frame = people.from_file(upload) if upload is not None else None
    if upload is None or frame is None:
        return None, None
    columns = _columns(frame)
    test_set = people.uploaded_test_set(upload, columns)
    return None if test_set is None else (test_set, columns), frame


def _columns(frame: Any) -> Columns:
    """Ask which column is which, and which values count."""
    named = [str(column) for column in frame.columns]
    left, middle, right = st.columns(3, gap="medium")
    usual = next((i for i, name in enumerate(named) if name.casefold() in ("id", "person", "identifier")), 0)
    identifier = _choose(left, _COLUMNS["id"], named, "desk_id_column", value=named[usual])
    others = [name for name in named if name != identifier]
    attribute = _choose(middle, _COLUMNS["attribute"], others, "desk_attribute_column")
    values = values_of(frame, attribute, _MOST_VALUES)
    advantaged = _choose(middle, _COLUMNS["advantaged"], values, f"desk_advantaged_{attribute}")
    labels = [_NONE, *(name for name in others if name != attribute)]
    told = "Counts as public: those who ask may know it."
    at = _choose(right, _COLUMNS["label"], dict(enumerate(labels)), "desk_label_column", help=told)
    label, positive = labels[at] if at else None, None
    if label is not None:
        values = values_of(frame, label, _MOST_VALUES)
        positive = _choose(right, _COLUMNS["positive"], values, f"desk_positive_{label}")
    return Columns(id=identifier, attribute=attribute, advantaged=advantaged, label=label, positive=positive)


def _choose(place: Any, setting: Setting, options: Any, key: str, *, help: str | None = None, **told: Any) -> Any:
    """Draw the choice of one column or value of a test set's file."""
    return control(setting, key, "selectbox", place=place, options=options, help=help, persist_state=None, **told)
