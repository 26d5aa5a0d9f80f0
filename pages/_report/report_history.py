"""The history of this server on the Report page: audits kept, signed, and compared with each other.

The history is opened once a session, in the place that FAIRLEAK_HISTORY names, or the default file, and no other. A
report that somebody brings is verified in a process of its own, and kept in the session and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import streamlit as st

import core
from core.base.errors import FairLeakError, InputError
from core.base.serialize import short_fingerprint
from core.report import Report, Reports
from core.report.comparison import NO_PROOF, Comparison, compare, comparison_html
from core.report.one_page import disagreement
from core.report.report import day_text
from core.report.verification import readable_in_child
from core.store.events import DECISIONS, Entry, Signature, needs_reason, not_releasable, parts_of
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


def _read(what: Callable[[History], tuple[T, ...]]) -> tuple[T, ...]:
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


def signatures_of(fingerprint: str) -> tuple[Signature, ...]:
    """Return what was signed for a report, in any project of the history."""
    return _read(
        lambda history: tuple(
            signature for signature in history.signatures() if signature.fingerprint == fingerprint
        )
    )


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
        for entry in _read(History.entries)
        if entry.fingerprint != now.fingerprint
    }
    labels = {
        key: f"{day_text(entry.when)} · {entry.short} · {entry.project}"
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
        (document,) = _read(lambda history: (history.document(entries[name]),)) or (None,)
    if document is None:
        return None
    compared = compare(document, now)
    headline.markdown(f"**{shell.escape(compared.headline)}**")
    return compared


def _brought() -> Any:
    """Draw the box for a report; return the one that is read, None where there is none."""

    def take(file: Any) -> None:
        st.session_state[_DOCUMENT] = readable_in_child(file.getvalue(), name="The file")

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


# Kept and signed ------------------------------------------------------------------------------------------------------

_PROJECT, _DECISION, _WHO, _REASON = (
    f"sign_{part}" for part in ("project", "decision", "who", "reason")
)
_MOST_LISTED = 3
"""Signatures shown at once."""

_SOMEBODY = "Dashboard, not signed in"
"""Who keeps an audit where nobody has to sign in."""


def card(reports: Reports, *, testing: bool) -> None:
    """Draw the card; `testing` says that the self-test, which is part of the report, still runs."""
    document = reports.document
    mark = short_fingerprint(document.fingerprint)
    entries = _read(History.entries)
    with st.container(border=True, gap="small", key="sign_off"):
        heading, project, button = st.columns([6, 3.4, 1], vertical_alignment="bottom")
        with project:
            name = _project(entries, document)
        entry = next(
            (
                entry
                for entry in entries
                if (entry.project, entry.fingerprint) == (name, document.fingerprint)
            ),
            None,
        )
        with heading:
            status = "Not in the history yet; signing keeps it there"
            if entry is not None:
                status = (
                    f"Kept as audit {entry.id} on {entry.when[:10]} by {shell.escape(entry.who)}"
                )
            shell.whisper(":material/draw: Sign-off", status)
        button.button(
            "Keep",
            key="keep_audit",
            on_click=_keep,
            args=(document,),
            disabled=testing or not name or entry is not None,
            help="Keeps the report's findings, plan, policy and verdict in the history; never the table.",
            width="stretch",
        )
        signatures = _signatures(name, document)
        for signature in signatures[:_MOST_LISTED]:
            st.markdown(signature_line(signature))
        valid_signatures = [signature for signature in signatures if not signature.void]
        if differ := disagreement(valid_signatures):
            st.markdown(f":orange[:material/warning:] {differ}")
        if (more := len(signatures) - _MOST_LISTED) > 0:
            st.caption(f"Earlier signatures: {more} (fairleak history show).")
        _form(document, mark, valid_signatures, testing=testing, has_project=bool(name))
        panels.kept_problem("sign_problem")
        if _PROBLEM in st.session_state:
            panels.kept_problem(_PROBLEM)
            again: dict[str, Any] = {"on_click": panels.forget, "args": (_PROBLEM,)}
            st.button("Try again", key="history_again", icon=":material/refresh:", **again)


def _project(entries: tuple[Entry, ...], document: Report) -> str:
    """Choose a project, or name a new one; by itself that of the last audit of this table and attribute."""
    projects = list(dict.fromkeys(entry.project for entry in entries))
    if (chosen := st.session_state.get(_PROJECT)) and chosen not in projects:
        projects.append(chosen)
    about = (document.data.title, document.data.attribute)
    last = next(
        (entry.project for entry in entries if (entry.dataset, entry.attribute) == about), None
    )
    index = None if last is None else projects.index(last)
    project = st.selectbox(
        "Project",
        projects,
        index=index,
        key=_PROJECT,
        placeholder="choose or type a name",
        accept_new_options=True,
        persist_state="session",
    )
    return " ".join((project or "").split())


def _signatures(project: str, document: Report) -> list[Signature]:
    """Return what was signed in a project, latest first, as it stands beside the report on screen."""
    if not project:
        return []
    parts = parts_of(document)
    signed = _read(lambda history: history.signatures(project=project))
    return [signature.beside(document.fingerprint, parts) for signature in reversed(signed)]


def signature_line(signature: Signature) -> str:
    """Return a signature as a line of Markdown; one that is void says so."""
    if signature.void:
        icon = ":gray[:material/block:]"
    elif signature.proven:
        icon = ":green[:material/verified:]"
    else:
        icon = ":material/draw:"
    if signature.void:
        title = f"~~{signature.title}~~"
    else:
        title = f"**{signature.title}**"
    who = ", ".join(
        shell.escape(part)
        for part in (signature.name, signature.role, f"{signature.when[:10]}, {signature.short}")
    )
    if signature.reason:
        reason = f": {shell.escape(signature.reason.rstrip('.'))}"
    else:
        reason = ""
    void = f" **Void: {signature.void}.**" if signature.void else ""
    return f"{icon} {title} by {who}{reason}.{void}"


def _form(
    document: Report,
    mark: str,
    valid_signatures: list[Signature],
    *,
    testing: bool,
    has_project: bool,
) -> None:
    if not signin.is_officer():
        st.caption("An officer signs.")
        return
    left, middle, right, last = st.columns([33, 27, 27, 13], vertical_alignment="bottom")
    decision = panels.pick(
        "Decision", DECISIONS, key=_DECISION, default="do_not_release", container=left
    )
    label = "Name and role"
    placeholder = "name, role"
    if name := signin.name():
        label = f"Role of {name}"
        placeholder = "role"
    middle.text_input(label, key=_WHO, placeholder=placeholder, persist_state="session")
    right.text_input(
        "Reason (required for “Accept the risk”)", key=_REASON, persist_state="session"
    )
    missing = not_releasable(document)
    last.button(
        f"Sign {mark}",
        key="sign_audit",
        on_click=_keep,
        args=(document,),
        kwargs={"sign": True},
        disabled=testing or not has_project or (decision == "release" and bool(missing)),
        width="stretch",
    )
    opens = "" if has_project else "Name a project to sign."
    if testing:
        opens = "Keep and Sign open when the self-test has ended."
    if decision != "release":
        missing = needs_reason(decision, valid_signatures)
    sentences = (
        "“Release” opens when all required checks pass and every limit has a source.",
        missing,
        opens,
        f"The signature covers the fingerprint {mark}, {datetime.now(UTC).date()}, FairLeak {core.__version__}.",
    )
    panels.notes(" ".join(filter(None, sentences)))


def _keep(document: Report, *, sign: bool = False) -> None:
    """Keep a report in the project, and sign it; what is wrong is said in the card, and nothing typed is lost."""
    history = current(create=True)
    if history is None:
        return
    with panels.keeping_problem("sign_problem"):  # callbacks run before the page looks at roles
        if signin.role() in (None, signin.Role.ASKER):
            raise InputError("This sign-in may not keep audits any more.")
        project = str(st.session_state.get(_PROJECT) or "")
        entry = history.keep(document, project=project, who=signin.name() or _SOMEBODY)
        if sign:
            _sign(history, entry)


def _sign(history: History, entry: Entry) -> None:
    """Sign an audit that is kept with what stands on the form."""
    if not signin.is_officer():
        raise InputError("Only an officer signs, and this sign-in is none any more.")
    typed = " ".join(str(st.session_state.get(_WHO) or "").split())
    proven = signin.name()
    name, comma, role = (proven, ",", typed) if proven else typed.partition(",")
    if not (comma and name.strip() and role.strip()):
        if proven:
            rule = "Role must be given"
        else:
            rule = "Name and role must be two parts with a comma between them"
        raise InputError(f"{rule}, got {typed!r}.")
    reason = str(st.session_state.get(_REASON) or "")
    decision = st.session_state.get(_DECISION) or "do_not_release"
    history.sign(entry, decision=decision, name=name, role=role, reason=reason, proven=bool(proven))
    st.session_state[_WHO] = st.session_state[_REASON] = ""
    st.session_state[_DECISION] = "do_not_release"  # the next audit is another decision
