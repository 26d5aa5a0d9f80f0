"""Which ledger is open in this session, the box that opens another, its record exported and verified.

A database's password is taken out of whatever was typed before the page is drawn again, kept in the session's memory,
and never sent back to the browser. Where FAIRLEAK_LEDGER names a place, the page opens that one and no other: without
it, anybody who reaches the page can have the server open any file or database it can reach.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import quote, unquote

import streamlit as st

from core.base.errors import FairLeakError, InputError
from core.datasets.columns import quoted
from core.desk import Ledger, LedgerStatus, default_ledger, open_ledger, verify_export
from core.desk import findings as desk_findings
from pages._desk.desk_forms import upload_box
from pages.shell import panels, shell, signin

_FIELD = "desk_place"
_SECRET_FIELD = "desk_password_field"
_LEDGER = "desk_ledger"
_SECRET = "desk_password"
_PROBLEM = "desk_place_problem"
_CREDENTIALS = re.compile(r"^([A-Za-z0-9+.-]+://[^:/@?]*):(.*)@([^@]*)$", re.DOTALL)
_SECRETS = re.compile(r"(?i)(?<=[?&])((?:ssl)?password|passfile)=([^&]*)&?")


def current() -> Ledger | None:
    """Return the open ledger; the default one is opened without a click if it is there."""
    if _LEDGER not in st.session_state:
        st.session_state[_LEDGER] = None
        if _pinned() or default_ledger().exists():
            _open("")
    ledger: Ledger | None = st.session_state[_LEDGER]
    return ledger


def still() -> None:
    """Say whose results these are after another ledger could not be opened."""
    ledger = st.session_state.get(_LEDGER)
    if ledger is not None and st.session_state.get(_PROBLEM):
        sentence = f"Everything here is still about the ledger {shell.escape(ledger.location)}."
        st.caption(f"The other ledger was not opened. {sentence}")


def unreadable(sentence: str) -> None:
    """Say what is wrong with the open ledger; it stays open, to be tried again."""
    panels.problem(_without_secret(sentence))
    st.button("Try again", key="desk_try_again", icon=":material/refresh:")


def box(*, expanded: bool) -> None:
    """Draw the field, the password's field where a database is named, and the buttons."""
    ledger = st.session_state.get(_LEDGER)
    if ledger is None:
        name = "Ledger"
    else:
        name = f"Ledger {shell.escape(ledger.location)}"
    with st.expander(name, icon=":material/menu_book:", expanded=expanded):
        if _pinned():
            st.caption("This server keeps one ledger, at the place FAIRLEAK_LEDGER names.")
        else:
            _place_fields()
        with st.container(horizontal=True):
            st.button("Open", key="desk_open", icon=":material/folder_open:", on_click=_open_typed)
            st.button(
                "Create",
                key="desk_create",
                icon=":material/add:",
                on_click=_open_typed,
                args=(True,),
            )
    panels.kept_problem(_PROBLEM)


def _place_fields() -> None:
    st.text_input(
        "A file, or a PostgreSQL URL for several machines",
        value=str(default_ledger()),
        key=_FIELD,
        on_change=_hide_password,
        help="A password in a URL is taken out at once and kept in this session's memory only.",
        persist_state="session",
    )
    if "://" in str(st.session_state.get(_FIELD)):
        placeholder = "leave empty if it needs none"
        if st.session_state.get(_SECRET):
            placeholder = "kept in this session"
        st.text_input(
            "Password of the database",
            type="password",
            key=_SECRET_FIELD,
            on_change=_take_password,
            placeholder=placeholder,
            persist_state="session",
        )


def _pinned() -> str:
    """Return the only place this server may open, with any password in it; empty if it may open any."""
    return os.environ.get("FAIRLEAK_LEDGER", "").strip()


def _split(location: str) -> tuple[str, dict[str, str]]:
    """Return a place without its passwords, and these by their names."""
    secrets = {}
    if credentials := _CREDENTIALS.match(location):
        secrets["password"] = credentials[2]
        location = f"{credentials[1]}@{credentials[3]}"
    for match in _SECRETS.finditer(location):
        secrets.setdefault(match[1].lower(), match[2])
    return _SECRETS.sub("", location).rstrip("?&"), secrets


def _hide_password() -> None:
    """Take a password out of the place and into the session's memory."""
    location, secrets = _split(str(st.session_state.get(_FIELD) or "").strip())
    st.session_state[_FIELD] = location
    st.session_state[_SECRET] = secrets.get("password", "")
    panels.forget(_PROBLEM)


def _take_password() -> None:
    """Take a password out of its own field."""
    if typed := st.session_state.get(_SECRET_FIELD):
        st.session_state[_SECRET] = quote(typed, safe="")
        st.session_state[_SECRET_FIELD] = ""


def _open_typed(create: bool = False) -> None:
    """Open the ledger of the server's setting, or the one whose place was typed; an officer does."""
    if not signin.is_officer():  # callbacks run before the page looks at roles
        return
    if not _pinned():
        if _split(str(st.session_state.get(_FIELD) or ""))[1]:
            _hide_password()
        _take_password()
    _open(str(st.session_state.get(_FIELD) or "").strip(), create)


def _open(location: str, create: bool = False) -> None:
    """Open a ledger, that of the server's setting if there is one; if that fails, the open one stays open."""
    panels.forget(_PROBLEM)
    try:
        address = _address(location)
        if not create and isinstance(address, Path) and not address.exists():
            raise InputError(
                f"There is no ledger at {quoted(address, 200)}; press Create to make one."
            )
        st.session_state[_LEDGER] = open_ledger(address, create=create)
        panels.forget("desk_name")
    except FairLeakError as error:
        st.session_state[_PROBLEM] = _without_secret(str(error))


def _address(location: str) -> str | Path:
    """Return the place with its password, or a path with the user's home spelled out."""
    location = _pinned() or location
    secret = "" if _pinned() else st.session_state.get(_SECRET)
    if "://" not in location:
        if location:
            return Path(os.path.expanduser(location))
        return default_ledger()
    if secret and (cut := re.match(r"^([A-Za-z0-9+.-]+://)([^/@?]*)@(.*)$", location, re.DOTALL)):
        return f"{cut[1]}{cut[2]}:{secret}@{cut[3]}"
    return location


def _without_secret(sentence: str) -> str:
    """Return a sentence without any password this session or this server knows."""
    secrets = {st.session_state.get(_SECRET) or "", *_split(_pinned())[1].values()}
    for secret in (secrets | {unquote(secret) for secret in secrets}) - {""}:
        sentence = sentence.replace(secret, "…")
    return sentence


# The record -----------------------------------------------------------------------------------------------------------


def export(ledger: Ledger, status: LedgerStatus | None) -> None:
    """Draw the export's button."""
    shell.whisper(
        "Export", "Every entry with its hash, without key, predictions or anybody's attribute"
    )
    if status is None or status.seal is None:
        st.caption("There is nothing on record yet.")
        return
    st.markdown(f"Last hash of the ledger, to be noted elsewhere: `{status.seal}`")
    panels.download(
        "Download the record",
        lambda: ledger.record()[0],
        "fairleak-ledger.jsonl",
        key="desk_export",
        mime="application/jsonl",
    )


def verify() -> None:
    """Draw the check of an export, which needs no ledger."""
    shell.whisper(
        "Verify",
        "An export's chain of hashes, every budget's sum, every gap and standard error computed again; not the "
        "intervals' bounds, which follow from predictions it does not hold",
    )
    upload = upload_box("desk_verify", "An exported record")
    noted = st.text_input(
        "A hash noted earlier, if there is one (32 digits or more)",
        key="desk_noted",
        persist_state="session",
    )
    if upload is None:
        return
    try:
        verification = verify_export(upload.content, noted=(noted or "").strip() or None)
    except FairLeakError as error:
        panels.problem(str(error))
        return
    sentence = shell.escape(desk_findings.verified(verification, upload.name))
    if verification.ok:
        st.success(sentence, icon=":material/verified:")
    else:
        st.error(sentence, icon=":material/error:")
