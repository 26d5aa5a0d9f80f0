"""The card "Sign-off": keep the audit on screen in a project, sign it, and see which signatures are void."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import streamlit as st

import core
from core.errors import FairLeakError, InputError
from core.estimates import in_words
from core.history import DECISIONS, Entry, History, Signature, needs_reason, not_releasable, parts_of
from core.report import Reports
from pages.common import panels, report_history, shell, signin

_PROJECT, _DECISION, _WHO, _REASON = (f"sign_{part}" for part in ("project", "decision", "who", "reason"))
_PROBLEM = "sign_problem"
_SHOWN = 3
"""Signatures shown at once."""

_SOMEBODY = "Dashboard, not signed in"
"""Who keeps an audit where nobody has to sign in."""


def signer() -> str:
    """Return the proven name of who is signed in; "" where nobody has to."""
    return signin.name()


def card(reports: Reports, *, testing: bool) -> None:
    """Draw the card; `testing` says that the self-test, which is part of the report, still runs."""
    document = reports.document()
    mark = short(document["fingerprint"])
    entries = report_history.entries()
    with st.container(border=True, gap="small", key="sign_off"):
        heading, project, button = st.columns([6, 3.4, 1], vertical_alignment="bottom")
        with project:
            name = _project(entries, document)
        kept = next((one for one in entries if (one.project, one.fingerprint) == (name, document["fingerprint"])), None)
        with heading:
            shell.whisper(":material/draw: Sign-off", _kept_words(kept))
        button.button(
            "Keep",
            key="keep_audit",
            on_click=_keep,
            args=(document,),
            disabled=testing or not name or kept is not None,
            help="Keeps the report's findings, plan, policy and verdict in the history; never the table.",
            width="stretch",
        )
        signatures = _signatures(name, document)
        _show(signatures)
        _form(document, mark, [one for one in signatures if not one.void], testing=testing, named=bool(name))
        panels.kept_problem(_PROBLEM)
        report_history.problem()


def short(fingerprint: str) -> str:
    """Return the beginning of a fingerprint as the page prints it."""
    return f"{fingerprint[:4]} {fingerprint[4:8]}"


def _project(entries: tuple[Entry, ...], document: dict[str, Any]) -> str:
    """Choose a project, or name a new one; by itself that of the last audit of this table and attribute."""
    projects = list(dict.fromkeys(one.project for one in entries))
    if (chosen := st.session_state.get(_PROJECT)) and chosen not in projects:
        projects.append(chosen)
    about = (document["data"]["title"], document["data"]["attribute"])
    last = next((one.project for one in entries if (one.dataset, one.attribute) == about), None)
    found = st.selectbox(
        "Project",
        projects,
        index=None if last is None else projects.index(last),
        key=_PROJECT,
        placeholder="choose or type a name",
        accept_new_options=True,
        persist_state="session",
    )
    return " ".join((found or "").split())


def _kept_words(kept: Entry | None) -> str:
    if kept is None:
        return "Not in the history yet; signing keeps it there"
    return f"Kept as audit {kept.id} on {kept.when[:10]} by {shell.escape(kept.who)}"


def _signatures(project: str, document: dict[str, Any]) -> list[Signature]:
    """Return what was signed in a project, latest first, as it stands beside the report on screen."""
    history = report_history.current()
    if history is None or not project:
        return []
    try:
        signed = history.signatures(project=project)
    except FairLeakError as error:
        report_history.unusable(error)
        return []
    parts = parts_of(document)
    return [one.beside(document["fingerprint"], parts) for one in reversed(signed)]


def _show(signatures: list[Signature]) -> None:
    """Draw who signed what, and why it is void where it is."""
    for one in signatures[:_SHOWN]:
        st.markdown(signature_words(one))
    if (more := len(signatures) - _SHOWN) > 0:
        st.caption(f"{in_words(more).capitalize()} earlier: fairleak history show.")


def signature_words(one: Signature) -> str:
    """Return a signature as a line of Markdown; one that is void says so."""
    icon = ":gray[:material/block:]" if one.void else ":green[:material/verified:]" if one.proven else ":material/draw:"
    title = f"~~{one.title}~~" if one.void else f"**{one.title}**"
    who = ", ".join(shell.escape(part) for part in (one.name, one.role, f"{one.when[:10]}, {one.short}"))
    reason = f": {shell.escape(one.reason.rstrip('.'))}" if one.reason else ""
    void = f" **Void: {one.void}.**" if one.void else ""
    return f"{icon} {title} by {who}{reason}.{void}"


def _form(document: dict[str, Any], mark: str, standing: list[Signature], *, testing: bool, named: bool) -> None:
    if not signin.is_officer():
        st.caption("An officer signs.")
        return
    left, middle, right, last = st.columns([33, 27, 27, 13], vertical_alignment="bottom")
    decision = panels.pick("Decision", DECISIONS, key=_DECISION, default="do_not_release", place=left)
    name = signer()
    middle.text_input(
        f"Role of {name}" if name else "Name and role",
        key=_WHO,
        placeholder="role" if name else "name, role",
        persist_state="session",
    )
    right.text_input("Reason (required for “Accept the risk”)", key=_REASON, persist_state="session")
    missing = not_releasable(document)
    last.button(
        f"Sign {mark}",
        key="sign_audit",
        on_click=_sign,
        args=(document,),
        disabled=testing or not named or (decision == "release" and bool(missing)),
        width="stretch",
    )
    rule = "“Release” opens when all required checks pass and every limit has a source."
    told = [rule, missing if decision == "release" else needs_reason(decision, standing)]
    told += [
        "Keep and Sign open when the self-test has ended." if testing else "" if named else "Name a project to sign."
    ]
    today = datetime.now(UTC).date().isoformat()
    told += [f"The signature covers the fingerprint {mark}, {today}, FairLeak {core.__version__}."]
    st.caption(shell.escape(" ".join(filter(None, told))))


def _keep(document: dict[str, Any]) -> None:
    """Keep a report in the project."""
    _with_history(document, lambda history, entry: None)


def _sign(document: dict[str, Any]) -> None:
    """Sign a report, which is kept where it is not yet."""

    def sign(history: History, entry: Entry) -> None:
        if not signin.is_officer():  # callbacks run before the page looks at roles
            raise InputError("Only an officer signs, and this sign-in is none any more.")
        told = " ".join(str(st.session_state.get(_WHO) or "").split())
        proven = signer()
        name, comma, role = (proven, ",", told) if proven else told.partition(",")
        if not (comma and name.strip() and role.strip()):
            wanted = "Role must be given" if proven else "Name and role must be two parts with a comma between them"
            raise InputError(f"{wanted}, got {told!r}.")
        reason = str(st.session_state.get(_REASON) or "")
        decision = st.session_state.get(_DECISION) or "do_not_release"
        history.sign(entry, decision=decision, name=name, role=role, reason=reason, proven=bool(proven))
        st.session_state[_WHO] = st.session_state[_REASON] = ""
        st.session_state[_DECISION] = "do_not_release"  # the next audit is another decision

    _with_history(document, sign)


def _with_history(document: dict[str, Any], do: Any) -> None:
    """Keep a report and do something with its entry; what is wrong is said in the card, and nothing typed is lost."""
    history = report_history.current(create=True)
    if history is None:
        return
    with panels.keeping_problem(_PROBLEM):
        if signin.role() in (None, signin.Role.ASKER):
            raise InputError("This sign-in may not keep audits any more.")
        project = str(st.session_state.get(_PROJECT) or "")
        do(history, history.keep(document, project=project, who=signer() or _SOMEBODY))
