"""The dialog "Decide and sign" of the Report page: a report kept as a version of a model, and a decision about it.

Model and version are part of the report, so that naming them gives it another fingerprint: the dialog says the one that
is signed, and no other. Once a decision stands on that report, the dialog says who signed what; its form comes back
when somebody asks for another decision.
"""

from __future__ import annotations

import streamlit as st

from core.auditing import RegisterPlan
from core.base.errors import InputError
from core.base.serialize import short_fingerprint
from core.report import Report, Reports
from core.report.report import DECISIONS, day_text
from core.store.events import (
    BAN,
    DecisionState,
    Entry,
    RegisteredModel,
    Signature,
    answers_of,
    changed_parts,
    is_banned,
    missing_parts,
    name_key,
    not_releasable,
    parts_of,
)
from core.store.history import History, today
from pages._report import report_audit, report_history
from pages._report.report_history import DECISION_ICONS
from pages.shell import panels, shell, signin

_FIELDS = ("model", "version", "decision", "who", "reason", "until", "condition")
_MODEL, _VERSION, _DECISION, _WHO, _REASON, _UNTIL, _CONDITION = (
    f"sign_{field}" for field in _FIELDS
)
_IS_OPEN = "sign_open"
_AGAIN = "sign_again"
"""Whether the session has the dialog open, and asks in it for another decision on a report that has one."""

_PROBLEM = "sign_problem"
_MOST_LISTED = 3
"""Decisions shown at once."""

_STYLE = (
    "<style>[data-testid=stLayoutWrapper]:has(> .st-key-sign_foot) {position: sticky; bottom: 0; z-index: 2;"
    " background: var(--fl-paper); border-top: 1px solid var(--fl-line); padding: .5rem 0}"
    "[role=dialog]:has(.st-key-sign_off) {max-height: calc(100dvh - 6rem); overflow-y: auto}</style>"
)
"""Keeps the button in sight however long the form is."""


def register_plan() -> RegisterPlan:
    """Return which version of which model the audit is of, as typed; nothing while a part is missing or wrong."""
    model = _typed(_MODEL)
    version = _typed(_VERSION)
    try:
        if model and version:
            return RegisterPlan(model=model, version=version)
    except InputError:  # said in the dialog
        pass
    return RegisterPlan()


def _typed(key: str) -> str:
    return " ".join(str(st.session_state.get(key) or "").split())


def draw(reports: Reports, *, testing: bool) -> None:
    """Draw the button and, where it was pressed, the dialog; `testing` says that the self-test still runs."""
    st.button(
        "Decide and sign",
        icon=":material/draw:",
        key="open_decision",
        width="stretch",
        on_click=_open,
    )
    if _IS_OPEN in st.session_state:
        dialog = st.dialog("Decide and sign", width="medium", on_dismiss=_close)
        dialog(_content)(reports, testing)
    else:
        report_history.problem()


def _open() -> None:
    panels.forget(_PROBLEM, _AGAIN)
    st.session_state[_IS_OPEN] = True


def _close() -> None:
    panels.forget(_IS_OPEN, _AGAIN, _PROBLEM)


def _content(reports: Reports, testing: bool) -> None:
    """Draw the decision that stands on this report, or the form of one."""
    if _IS_OPEN not in st.session_state:
        st.rerun()
    document = reports.document
    signed = [
        signature
        for signature in report_history.signatures_of(document.fingerprint)
        if signature.state(today()) == DecisionState.STANDS
    ]
    with st.container(gap="small", key="sign_off"):
        st.html(_STYLE)
        if signed and _AGAIN not in st.session_state:
            _confirmation(reports, signed)
        else:
            _form(document, testing=testing)
    register = document.plan.register
    typed = register_plan()
    if (typed.model, typed.version) != (register.model, register.version):
        st.rerun()  # the report on the page is not of this model yet


# Signed ---------------------------------------------------------------------------------------------------------------


def _confirmation(reports: Reports, signed: list[Signature]) -> None:
    """Say who signed what on this report, and offer the brief that has it."""
    register = reports.document.plan.register
    mark = short_fingerprint(reports.document.fingerprint)
    version = shell.escape(register.model_version)
    st.success(
        f"**Signed for {version}**, on the report with the fingerprint {mark}.",
        icon=":material/verified:",
    )
    for signature in signed[:_MOST_LISTED]:
        st.markdown(signature_line(signature, reports.document))
    st.caption("The register (page Models) keeps report and decision; the brief names who signed.")
    with st.container(horizontal=True, gap="small", key="sign_foot"):
        report_audit.brief_button(reports, key="download_signed_brief")
        if signin.is_officer():
            st.button("Another decision", key="sign_again_button", on_click=_ask_again)
        st.button("Close", key="sign_close", on_click=_close)


def _ask_again() -> None:
    st.session_state[_AGAIN] = True


def signature_line(signature: Signature, document: Report | None = None) -> str:
    """Return a decision as a line of Markdown; one that was made on another audit than the one on screen says so."""
    stands = signature.state(today()) == DecisionState.STANDS
    icon = ":gray[:material/history:]"
    if stands:
        icon = DECISION_ICONS[signature.decision]
    who = shell.escape(f"{signature.name}, {signature.role}, {signature.when[:10]}")
    parts = [f"{icon} **{signature.title}** by {who}"]
    if not signature.proven:
        parts[0] += " (name typed)"
    if signature.reason:
        parts[0] += f": {shell.escape(signature.reason.rstrip('.'))}"
    if signature.condition:
        parts.append(f"Condition: {shell.escape(signature.condition.rstrip('.'))}")
    if signature.end:
        end = signature.end
        parts.append(shell.escape(f"{end[:1].upper()}{end[1:]}"))
    elif signature.decision == BAN:
        parts.append("Stands until it is revoked, on Models")
    if document is not None and document.fingerprint != signature.fingerprint:
        changed = changed_parts(signature.parts, parts_of(document))
        parts.append(f"Made on audit {signature.short}; different here: {changed}")
    return f"{'. '.join(parts)}."


def is_in_register(document: Report) -> bool:
    """Whether the register has this very report."""
    models = report_history.records(History.models)
    entries = [entry for model in models for entry in model.entries if entry.deleted is None]
    return any(entry.fingerprint == document.fingerprint for entry in entries)


def decision_lines(document: Report) -> tuple[str, ...]:
    """Return, a line of Markdown each, the bans on the model and what else stands on this version."""
    models = report_history.records(History.models)
    name = name_key(_typed(_MODEL) or _last_name(models, document))
    version = name_key(document.plan.register.version)
    lines = []
    for model in models:
        if name_key(model.name) != name:
            continue
        for signature in model.current_decisions(today()):
            if signature.decision == BAN or name_key(signature.version) == version:
                title = shell.escape(f"{signature.model} {signature.version}")
                lines.append(f"{title}: {signature_line(signature, document)}")
    return tuple(lines)


# Form -----------------------------------------------------------------------------------------------------------------


def _form(document: Report, *, testing: bool) -> None:
    """Draw model and version, what was decided about them, and the form of a decision."""
    models = report_history.records(History.models)
    heading = st.empty()
    left, right = st.columns([5, 3], vertical_alignment="bottom")
    with left:
        name = _model_box(models, document)
    right.text_input(
        "Version", key=_VERSION, placeholder="for example 1.0", persist_state="session"
    )
    version = _typed(_VERSION)
    model = next((model for model in models if name_key(model.name) == name_key(name)), None)
    entry = _entry_of(model, version, document)
    heading.caption(_status(model, version, entry))
    signatures = _decisions(model, version)
    for signature in signatures[:_MOST_LISTED]:
        st.markdown(signature_line(signature, document))
    if (more := len(signatures) - _MOST_LISTED) > 0:
        st.caption(f"Earlier decisions on {shell.escape(version)}: {more}, on Models.")
    decision = ""
    if signin.is_officer():
        decision = _decision_fields()
    closed = ""
    if decision == "release":
        closed = not_releasable(document)
    if model is not None:
        answers = answers_of(document)
        closed = is_banned(decision, model.signatures, version=version, answers=answers) or closed
    missing = ""
    if decision not in ("", "release"):
        until = str(st.session_state.get(_UNTIL) or "")
        missing = missing_parts(decision, signatures, reason=_typed(_REASON), until=until)
    has_version = bool(document.plan.register.version)
    with st.container(gap="small", key="sign_foot"):
        panels.kept_problem(_PROBLEM)
        report_history.problem()
        about = _about(document, name, version, testing=testing)
        sentences = (about, closed or missing, _review(document))
        panels.notes(" ".join(filter(None, sentences)))
        with st.container(horizontal=True, gap="small"):
            if decision:
                st.button(
                    f"Sign “{DECISIONS[decision]}”",
                    key="sign_audit",
                    type="primary",
                    on_click=_keep,
                    args=(document,),
                    kwargs={"sign": True},
                    disabled=not has_version or bool(closed),
                )
            st.button(
                "Keep without a decision",
                key="keep_audit",
                on_click=_keep,
                args=(document,),
                disabled=not has_version or entry is not None,
                help="Keeps the report's findings, plan, policy and verdict in the register; never the table.",
            )


def _about(document: Report, name: str, version: str, *, testing: bool) -> str:
    """Return which report is signed, or what has to come first."""
    if not signin.is_officer():
        return "An officer signs."
    register = document.plan.register
    if register.version:
        mark = short_fingerprint(document.fingerprint)
        version_title = register.model_version
        about = f"You sign for {version_title}. The report signed has the fingerprint {mark}."
        if testing:
            return f"{about} {report_audit.NOT_TESTED}"
        return about
    if name and version:
        try:
            RegisterPlan(model=name, version=version)
        except InputError as error:
            return str(error)
        return ""
    return (
        "Name model and version first. They become part of the report; "
        "the fingerprint that is signed stands here then."
    )


def _review(document: Report) -> str:
    """Return the next review, or where it is set with the owner."""
    register = document.plan.register
    if register.review:
        return f"Next review: {day_text(register.review)}."
    open_fields = "Next review" if register.owner else "Owner and next review"
    return (
        f"{open_fields} of the brief: not stated; set under More analyses, Purpose and attackers."
    )


def _last_name(models: tuple[RegisteredModel, ...], document: Report) -> str:
    """Return the model of the last audit of this table and attribute; "" where there is none."""
    about = (document.data.title, document.data.attribute)
    entries = [entry for model in models for entry in model.entries]
    entries.sort(key=lambda entry: entry.id)
    same = [entry.model for entry in entries if (entry.dataset, entry.attribute) == about]
    return same[-1] if same else ""


def _model_box(models: tuple[RegisteredModel, ...], document: Report) -> str:
    """Choose a model, or name a new one; by itself that of the last audit of this table and attribute."""
    names = [model.name for model in models]
    if (chosen := _typed(_MODEL)) and chosen not in names:
        names.append(chosen)
    index = None
    if last := _last_name(models, document):
        index = names.index(last)
    name = st.selectbox(
        "Model",
        names,
        index=index,
        key=_MODEL,
        placeholder="choose or type a name",
        accept_new_options=True,
        persist_state="session",
    )
    return " ".join((name or "").split())


def _entry_of(model: RegisteredModel | None, version: str, document: Report) -> Entry | None:
    """Return the entry under which the report on screen is kept."""
    if model is None:
        return None
    return next(
        (
            entry
            for entry in model.entries
            if entry.deleted is None
            and (name_key(entry.version), entry.fingerprint)
            == (name_key(version), document.fingerprint)
        ),
        None,
    )


def _status(model: RegisteredModel | None, version: str, entry: Entry | None) -> str:
    """Return whether the audit is kept, and what stands on other versions of its model."""
    status = "Not in the register yet; signing keeps it there."
    if entry is not None:
        status = f"Kept on {entry.when[:10]} by {shell.escape(entry.who)}."
    if model is None:
        return status
    banned = dict.fromkeys(ban.version for ban in model.bans() if ban.version != version)
    if banned:
        status += f" Banned: {shell.escape(', '.join(banned))}."
    return status


def _decisions(model: RegisteredModel | None, version: str) -> list[Signature]:
    """Return what was decided about a version, newest first."""
    if model is None:
        return []
    return [
        signature
        for signature in model.signatures
        if name_key(signature.version) == name_key(version)
    ]


def _decision_fields() -> str:
    """Draw the fields of a decision; return which one is chosen. A ban has no last day, and no condition."""
    decision = str(panels.pick("Decision", DECISIONS, key=_DECISION, default=BAN))
    left, right = st.columns(2, vertical_alignment="bottom")
    label = "Your name and role"
    placeholder = "name, role"
    if name := signin.name():
        label = f"Role of {name}"
        placeholder = "role"
    left.text_input(label, key=_WHO, placeholder=placeholder, persist_state="session")
    reason = "Reason"
    if decision == "release":
        reason = "Reason (not required)"
    right.text_input(reason, key=_REASON, persist_state="session")
    if decision == BAN:
        return decision
    left, right = st.columns(2, vertical_alignment="bottom")
    last_day = "Last day (not required)"
    if decision == "accept_risk":
        last_day = "Last day"
    left.date_input(last_day, value=None, min_value="today", key=_UNTIL, persist_state="session")
    right.text_input("Condition (not required)", key=_CONDITION, persist_state="session")
    return decision


def _keep(document: Report, *, sign: bool = False) -> None:
    """Keep a report as a version, and sign it; what is wrong is said in the dialog, and nothing typed is lost."""
    history = report_history.current(create=True)
    if history is None:
        return
    with panels.keeping_problem(_PROBLEM):  # callbacks run before the page looks at roles
        if signin.role() in (None, signin.Role.ASKER):
            raise InputError("This sign-in may not keep audits any more.")
        entry = history.keep(
            document,
            model=_typed(_MODEL),
            version=_typed(_VERSION),
            who=report_history.keep_name(),
        )
        if sign:
            _sign(history, entry)


def _sign(history: History, entry: Entry) -> None:
    """Sign a decision on an audit that is kept, with what stands on the form."""
    who = report_history.signer(_typed(_WHO))
    decision = st.session_state.get(_DECISION) or BAN
    until = ""
    condition = ""
    if decision != BAN:
        until = str(st.session_state.get(_UNTIL) or "")
        condition = _typed(_CONDITION)
    history.sign(
        entry,
        decision=decision,
        reason=_typed(_REASON),
        until=until,
        condition=condition,
        **who,
    )
    st.session_state[_WHO] = st.session_state[_REASON] = st.session_state[_CONDITION] = ""
    st.session_state[_UNTIL] = None
    st.session_state[_DECISION] = BAN  # the next audit is another decision
    panels.forget(_AGAIN)
