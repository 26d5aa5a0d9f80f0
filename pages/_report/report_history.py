"""The register of this server as pages use it: the history, who keeps and signs in it, and an audit compared.

The history is opened once a session, in the place that FAIRLEAK_HISTORY names, or the default file, and no other. A
report that somebody brings is verified in a process of its own, and kept in the session and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import streamlit as st

from core.base.errors import FairLeakError, InputError
from core.report import Reports
from core.report.comparison import NO_PROOF, Comparison, compare, comparison_html
from core.report.report import day_text
from core.report.verification import readable_in_child
from core.store.events import (
    BAN,
    Signature,
)
from core.store.history import History, history_location
from pages.shell import panels, shell, signin

T = TypeVar("T")

_HISTORY = "history"
_PROBLEM = "history_problem"


def current(*, create: bool = False) -> History | None:
    """Return the history; None where nothing is kept yet, or where it cannot be opened (`problem`)."""
    if _HISTORY not in st.session_state and _PROBLEM not in st.session_state:
        location = history_location()
        if create or not isinstance(location, Path) or location.exists():
            with panels.keeping_problem(_PROBLEM):
                st.session_state[_HISTORY] = History.open(location)
    history: History | None = st.session_state.get(_HISTORY)
    return history


def records(what: Callable[[History], tuple[T, ...]]) -> tuple[T, ...]:
    """Return what the history holds; none where it cannot be read, which is opened again when somebody asks for it."""
    history = current()
    try:
        if history is None:
            return ()
        return what(history)
    except FairLeakError as error:
        panels.forget(_HISTORY)
        st.session_state[_PROBLEM] = str(error)
        return ()


def problem() -> None:
    """Say why the history cannot be read, if it cannot, and offer to try again."""
    if _PROBLEM in st.session_state:
        panels.kept_problem(_PROBLEM)
        again: dict[str, Any] = {"on_click": panels.forget, "args": (_PROBLEM,)}
        st.button("Try again", key="history_again", icon=":material/refresh:", **again)


def signatures_of(fingerprint: str) -> tuple[Signature, ...]:
    """Return what was signed on a report, as any version of a model."""
    return records(
        lambda history: tuple(
            signature for signature in history.signatures() if signature.fingerprint == fingerprint
        )
    )


def next_review(signatures: Sequence[Signature]) -> str:
    """Return the first day of a next review of the signed models by the register; "" where none is set."""
    names = {signature.model for signature in signatures}
    models = records(lambda history: history.models())
    days = [model.next_review for model in models if model.name in names]
    return min(filter(None, days), default="")


# Compared with another ------------------------------------------------------------------------------------------------

_BOX = "compare_with"
_FILE = "compare_file"
_DOCUMENT = "compare_report"

_NOTHING = ""
_BROUGHT = "brought"

_MOST = 4
"""Megabytes of a report that somebody brings."""


def chosen(release: Reports) -> Comparison | None:
    """Draw the choice of an earlier audit; return it compared with the page's, None where none is chosen."""
    now = release.document
    entries = {
        str(entry.id): entry
        for entry in records(History.entries)
        if entry.fingerprint != now.fingerprint
    }
    labels = {
        key: f"{entry.title} · {day_text(entry.when)} · {entry.short}"
        for key, entry in entries.items()
    }
    titles = {_NOTHING: "Nothing", **labels, _BROUGHT: "A report of yours"}
    if (
        st.session_state.get(_BOX) not in titles
    ):  # deleted since it was chosen, or the audit on the page by now
        panels.forget(_BOX)
    with st.container(
        horizontal=True,
        horizontal_alignment="distribute",
        vertical_alignment="center",
        key="compare",
    ):
        headline = st.empty()
        layout: dict[str, Any] = {
            "horizontal": True,
            "vertical_alignment": "center",
            "gap": "small",
        }
        with st.container(**layout, width="content", key="compare_row"):
            st.markdown("Compare with", width="content")
            name = panels.choose(
                "Compare with", titles, key=_BOX, label_visibility="collapsed", width=260
            )
    document = _brought() if name == _BROUGHT else None
    if name in entries:
        (document,) = records(lambda history: (history.document(entries[name]),)) or (None,)
    if document is None:
        return None
    compared = compare(document, now)
    headline.markdown(f"**{shell.escape(compared.headline)}**")
    return compared


def _brought() -> Any:
    """Draw the box for a report; return the one that is read, None where there is none."""

    def take(file: Any) -> None:
        st.session_state[_DOCUMENT] = readable_in_child(file.getvalue())

    panels.upload(
        "Earlier report (report.json or report.html)",
        _FILE,
        take,
        doing="Verifying the report",
        forgets=(_DOCUMENT, f"{_FILE}_read"),
        max_upload_size=_MOST,
        help="Kept in this session only.",
    )
    return st.session_state.get(_DOCUMENT)


def below(compared: Comparison | None) -> None:
    """Draw under the checks what the comparison takes for granted, and what else changed."""
    if compared is None:
        return
    panels.notes(f"{NO_PROOF} {compared.people}")
    with st.expander(
        f"What changed since {shell.escape(compared.before.name)}", icon=":material/difference:"
    ):
        if compared.changed:
            rows = [
                {
                    "Part": change.part,
                    "What": change.what,
                    "Before": change.before,
                    "After": change.after,
                }
                for change in compared.changed
            ]
            st.dataframe(rows, hide_index=True, height=panels.table_height(rows, 12, 380))
        else:
            st.markdown(compared.nothing_changed)
        panels.notes(compared.detail)
        panels.download(
            "Comparison (HTML)",
            lambda: comparison_html(compared).encode(),
            "fairleak-comparison.html",
            key="download_comparison",
            mime="text/html",
            icon=":material/description:",
        )


# Who keeps and signs --------------------------------------------------------------------------------------------------

_SOMEBODY = "Dashboard, not signed in"
"""Who keeps an audit where nobody has to sign in."""


def keep_name() -> str:
    """Return who keeps something: the name that is proven, or that nobody signed in."""
    return signin.name() or _SOMEBODY


def signer(typed: str) -> dict[str, Any]:
    """Return name and role as typed, or the name that the sign-in proves; InputError if a part is missing."""
    if not signin.is_officer():
        raise InputError("Only an officer signs, and this sign-in is none any more.")
    proven = signin.name()
    name, comma, role = (proven, ",", typed) if proven else typed.partition(",")
    if not (comma and name.strip() and role.strip()):
        if proven:
            rule = "Role must be given"
        else:
            rule = "Name and role must be two parts with a comma between them"
        raise InputError(f"{rule}, got {typed!r}.")
    return {"name": name, "role": role, "proven": bool(proven)}


DECISION_ICONS = {
    BAN: ":red[:material/block:]",
    "accept_risk": ":yellow[:material/event_busy:]",
    "release": ":green[:material/verified:]",
}
"""Decision -> its icon, while it stands."""
