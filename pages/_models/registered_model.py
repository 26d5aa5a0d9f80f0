"""An open model of the register, and the dialogs that change the register.

The open row shows the model's versions side by side, its decisions and its audits, two of them compared. The dialogs
say what a model is, revoke a decision and delete a report; what is wrong is said in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from functools import partial
from typing import Any

import streamlit as st

from core.auditing import RegisterPlan
from core.auditing.policy import VERDICT_TITLES
from core.base.errors import InputError
from core.base.settings import params
from core.report import to_json
from core.report.comparison import change_range, change_text, compare, number_and_interval
from core.report.report import day_text
from core.store.events import BAN, DecisionState, Entry, RegisteredModel, Signature
from core.store.history import History
from core.store.register import (
    MOST_CHECKS,
    MOST_VERSIONS,
    VersionAudit,
    chart_width,
    draw_check,
    version_audits,
    version_rows,
    visible_checks,
)
from pages._report import report_history
from pages.shell import panels, shell, signin

_DOCUMENTS = "models_audits"
"""The versions of the model that is open, as they were read: which entries, and what came of them."""


def draw(model: RegisteredModel, day: str) -> None:
    """Draw everything about one model."""
    with st.container(key="model_versions"):
        left, right = st.columns([7, 3], gap="large")
        audits = _audits(model)
        with left:
            _draw_versions(model, audits)
        with right:
            _draw_decisions(model, day)
        _draw_audits(model, audits)


def _audits(model: RegisteredModel) -> list[VersionAudit]:
    """Return the versions to show; read from the register once a session."""
    key = [(entry.id, entry.deleted is None) for entry in model.entries]
    mark, audits = st.session_state.get(_DOCUMENTS, (None, []))
    if mark != key:
        history = report_history.current()
        if history is None:
            return []
        audits = list(
            report_history.records(lambda now: tuple(version_audits(model, now.document)))
        )
        st.session_state[_DOCUMENTS] = (key, audits)
    return list(audits)


def _draw_versions(model: RegisteredModel, audits: Sequence[VersionAudit]) -> None:
    n = len({audit.entry.version for audit in audits})
    heading = f"{shell.escape(model.name)}: checks over {n} version{'s' * (n != 1)}"
    if not audits:
        shell.whisper(
            f"{shell.escape(model.name)}: no report to show",
            "Audit a version and keep it on Report; of deleted reports only verdict and decisions stay.",
        )
        return
    marks = "● pass, ◆ inconclusive, ✕ fail, ▲ beyond twice"
    shell.whisper(
        heading, f"Below: chance. Line: the limit. {marks}; strokes: interval of the verdict"
    )
    checks = visible_checks(audits)
    with st.grid(min_column_width=chart_width(len(audits)), gap="small"):
        for check in checks:
            panels.chart(draw_check(check, audits), key=f"versions_{check}")
    notes = []
    if len({audit.entry.policy for audit in audits}) > 1:
        notes.append("The audits follow different policies: the line is each one's own limit.")
    if len({audit.entry.dataset for audit in audits}) > 1:
        notes.append("The audits are of different tables.")
    n_checks = len({check for audit in audits for check, row in audit.checks.items() if row.limit})
    if n_checks > len(checks):
        notes.append(f"The {MOST_CHECKS} worst of {n_checks} checks; all of them are in the table.")
    if len(model.versions) > MOST_VERSIONS:
        notes.append(
            f"The last {MOST_VERSIONS} audited; earlier versions are in the list of audits."
        )
    panels.notes(" ".join(notes))


def _draw_decisions(model: RegisteredModel, day: str) -> None:
    shell.whisper("Decisions", "Newest first; nothing is deleted")
    with st.container(key="model_decisions"):
        for signature in model.signatures:
            st.markdown(_decision_text(signature, day))
    if not model.signatures:
        st.caption("Nothing was decided yet. Keep and sign an audit on Report.")
    with st.container(horizontal=True, gap="small"):
        if signin.is_officer():
            stands = any(signature.stands for signature in model.signatures)
            if stands:
                st.button(
                    "Revoke…",
                    key="open_revocation",
                    icon=":material/undo:",
                    on_click=ask_revocation,
                    args=(model,),
                )
            st.button(
                "Change…",
                key="open_model_change",
                icon=":material/edit:",
                help="Purpose, owner and next review.",
                on_click=ask_model,
                args=(model,),
            )
        shell.link("data", "Audit another version")


def _decision_text(signature: Signature, day: str) -> str:
    """Return a decision with who, when, why, and what has become of it."""
    state = signature.state(day)
    icon = ":gray[:material/history:]"
    if state == DecisionState.STANDS:
        icon = report_history.DECISION_ICONS[signature.decision]
    lines = [f"{icon} **{shell.escape(signature.version)}: {signature.title}**"]
    typed = "" if signature.proven else ", name typed"
    lines.append(
        shell.escape(
            f"{day_text(signature.when)}, {signature.name} ({signature.role}{typed}), on audit {signature.short}."
        )
    )
    details = []
    if signature.reason:
        details.append(signature.reason)
    if signature.condition:
        details.append(f"Condition: {signature.condition}")
    if state == DecisionState.LAPSED:
        details.append(f"Lapsed: its last day was {day_text(signature.until)}")
    elif signature.stands and signature.until:
        details.append(f"Until {day_text(signature.until)}")
    elif signature.end:
        details.append(f"{signature.end[:1].upper()}{signature.end[1:]}")
    else:
        details.append("Stands")
    sentences = " ".join(f"{detail.rstrip('.')}." for detail in details)
    lines.append(shell.escape(sentences))
    return f"{lines[0]}  \n:small[:gray[{lines[1]}]]  \n:small[{lines[2]}]"


# Audits and what is different between two of them ---------------------------------------------------------------------


def _label(entry: Entry) -> str:
    return f"{entry.version}, {entry.outputs}, {entry.attribute} · {day_text(entry.when)} · {entry.short}"


def _draw_audits(model: RegisteredModel, audits: Sequence[VersionAudit]) -> None:
    with st.expander(f"All {len(model.entries)} audits", icon=":material/list:"):
        _audit_table(model)
    entries = {entry.id: entry for entry in model.entries if entry.deleted is None}
    if len(entries) > 1:
        with st.expander("Compare two audits", icon=":material/difference:"):
            _compare(entries)
    if audits:
        panels.numbers({"Checks by version": panels.frame(version_rows(audits))}, key="versions")


def _audit_table(model: RegisteredModel) -> None:
    rows = []
    for entry in model.entries:
        signed = [signature.title for signature in model.signatures if signature.covers(entry)]
        rows.append(
            {
                "Version": entry.version,
                "Verdict": VERDICT_TITLES[entry.verdict],
                "Released": entry.outputs,
                "Attribute": entry.attribute,
                "Table": entry.dataset,
                "Kept": entry.when[:10],
                "By": entry.who,
                "Policy": entry.policy,
                "Fingerprint": entry.short,
                "Decided": "; ".join(dict.fromkeys(signed)),
                "Deleted": entry.deleted.sentence if entry.deleted else "",
            }
        )
    if not rows:
        st.caption("None yet.")
        return
    st.dataframe(rows, hide_index=True, height=panels.table_height(rows, 12, 380))
    available = {entry.id: _label(entry) for entry in model.entries if entry.deleted is None}
    if not available:
        return
    number = panels.choose("Report", available, key="models_report")
    chosen = next((entry for entry in model.entries if entry.id == number), None)
    if chosen is not None:
        panels.download(
            "report.json",
            partial(_report_bytes, chosen),
            f"fairleak-internal-{chosen.fingerprint[:8]}.json",
            key="models_download",
            mime="application/json",
            icon=":material/data_object:",
        )
    if chosen is not None and signin.is_officer():
        st.button(
            "Delete this report…",
            key="open_deletion",
            icon=":material/delete:",
            help="Its verdict, who kept and signed it, and all decisions stay on record.",
            on_click=ask_deletion,
            args=(model, chosen),
        )


def _report_bytes(entry: Entry) -> bytes:
    (text,) = report_history.records(lambda history: (to_json(history.document(entry)),)) or ("",)
    return text.encode("utf-8")


def _compare(entries: dict[int, Entry]) -> None:
    titles = {number: _label(entry) for number, entry in entries.items()}
    left, right = st.columns(2)
    after = panels.choose("After", titles, key="models_after", container=right)
    earlier = {number: title for number, title in titles.items() if number != after}
    before = panels.choose("Before", earlier, key="models_before", container=left)
    chosen = [entries.get(number) for number in (before, after)]
    if None in chosen:
        return

    def documents(history: History) -> tuple[Any, ...]:
        return tuple(history.document(entry) for entry in chosen if entry is not None)

    read = report_history.records(documents)
    if len(read) != 2:
        return
    comparison = compare(*read)
    st.markdown(f"**{shell.escape(comparison.headline)}** {shell.escape(comparison.detail)}")
    rows = [
        {
            "Check": check.title,
            "Before": number_and_interval(check.check, check.before)[0],
            "After": number_and_interval(check.check, check.after)[0],
            "Change": change_text(check),
            "95% CI of the change": change_range(check),
            "Verdict": str(check.turn),
            "Required": check.required,
        }
        for check in comparison.checks
    ]
    st.dataframe(rows, hide_index=True, height=panels.table_height(rows, 12, 380))
    report_history.below(comparison)


# Dialogs --------------------------------------------------------------------------------------------------------------

_DIALOG = "models_dialog"
"""Which dialog is open: its name, and what it is about."""

_PROBLEM = "models_problem"

_FIELDS = ("name", "purpose", "owner")
_KEYS = {field: f"model_{field}" for field in (*_FIELDS, "review")}
_PLAN_KEYS = {"name": "model"}
"""Field -> key of a plan, where that has another name."""

_DECISION, _WHO, _REASON = (f"revoke_{part}" for part in ("decision", "who", "reason"))
_DELETED_BY = "delete_who"
_DELETED_WHY = "delete_reason"


def ask_model(model: RegisteredModel | None = None) -> None:
    """Open the dialog that registers a model, or changes what is said of one."""
    for field in _FIELDS:
        st.session_state[_KEYS[field]] = getattr(model, field, "")
    review = getattr(model, "review", "")
    st.session_state[_KEYS["review"]] = date.fromisoformat(review) if review else None
    panels.forget(_PROBLEM)
    st.session_state[_DIALOG] = ("register", getattr(model, "name", ""))


def ask_revocation(model: RegisteredModel) -> None:
    """Open the dialog that revokes a decision."""
    st.session_state[_WHO] = st.session_state[_REASON] = ""
    panels.forget(_PROBLEM, _DECISION)
    st.session_state[_DIALOG] = ("revoke", model.name)


def ask_deletion(model: RegisteredModel, entry: Entry) -> None:
    """Open the dialog that deletes the report of an audit."""
    st.session_state[_DELETED_BY] = st.session_state[_DELETED_WHY] = ""
    panels.forget(_PROBLEM)
    st.session_state[_DIALOG] = ("delete", (model.name, entry.id))


def draw_dialog(models: Sequence[RegisteredModel]) -> None:
    """Draw the dialog that was asked for."""
    name, about = st.session_state.get(_DIALOG, ("", ""))
    if name == "register":
        title = f"Change {about}" if about else "Register a model"
        st.dialog(title, on_dismiss=_close)(_model_form)(about)
    elif name == "revoke":
        model = next((model for model in models if model.name == about), None)
        if model is not None:
            st.dialog("Revoke a decision", on_dismiss=_close)(_revocation_form)(model)
    elif name == "delete":
        model_name, number = about
        entries = [entry for model in models if model.name == model_name for entry in model.entries]
        entry = next((entry for entry in entries if entry.id == number), None)
        if entry is not None:
            st.dialog("Delete a report", on_dismiss=_close)(_deletion_form)(entry)


def _close() -> None:
    panels.forget(_DIALOG, _PROBLEM)


def _leave_when_done() -> None:
    """Close the dialog once what was asked is done: it is a fragment, and only a run of the page takes it away."""
    if _DIALOG not in st.session_state:
        st.rerun()


def _model_form(about: str) -> None:
    _leave_when_done()
    settings = params(RegisterPlan)
    for field in _FIELDS:
        param = settings[_PLAN_KEYS.get(field, field)].param
        st.text_input(
            param.title,
            key=_KEYS[field],
            help=param.help,
            max_chars=int(param.most or 80),
            disabled=field == "name" and bool(about),
        )
    st.date_input("Next review", key=_KEYS["review"], value=None)
    panels.kept_problem(_PROBLEM)
    label = "Change" if about else "Register"
    st.button(label, key="register_done", type="primary", on_click=_register, args=(about,))


def _register(about: str) -> None:
    history = report_history.current(create=True)
    if history is None:
        st.session_state[_PROBLEM] = "The register cannot be opened; the page says why."
        return
    with panels.keeping_problem(_PROBLEM):
        if not signin.is_officer():
            raise InputError("Only an officer registers models, and this sign-in is none any more.")
        values = {field: str(st.session_state.get(key) or "") for field, key in _KEYS.items()}
        name = about or values["name"]
        if not about and any(
            model.name == name for model in report_history.records(type(history).models)
        ):
            raise InputError(f"Model must be a new name, got {name!r}, which is registered.")
        del values["name"]
        history.register(name, who=report_history.keep_name(), **values)
        panels.forget(_DIALOG)
        st.query_params["model"] = name


def _title(signature: Signature) -> str:
    return f"{signature.version}: {signature.title}, {signature.name}, {signature.when[:10]}"


def _revocable(model: RegisteredModel) -> list[Signature]:
    """Return the decisions that a person may revoke, bans first."""
    stand = [signature for signature in model.signatures if signature.stands]
    return sorted(stand, key=lambda signature: signature.decision != BAN)


def _revocation_form(model: RegisteredModel) -> None:
    _leave_when_done()
    titles = {signature.number: _title(signature) for signature in _revocable(model)}
    st.markdown(
        f"{shell.escape(model.name)}: the decision stays on record, with who revoked it and why."
    )
    panels.choose("Decision", titles, key=_DECISION)
    label = "Name and role"
    if name := signin.name():
        label = f"Role of {name}"
    st.text_input(label, key=_WHO, placeholder="name, role")
    st.text_input("Reason", key=_REASON, max_chars=2000)
    panels.kept_problem(_PROBLEM)
    st.button("Revoke", key="sign_revocation", type="primary", on_click=_revoke, args=(model,))


def _revoke(model: RegisteredModel) -> None:
    history = report_history.current()
    if history is None:
        return
    with panels.keeping_problem(_PROBLEM):
        who = report_history.signer(" ".join(str(st.session_state.get(_WHO) or "").split()))
        number = st.session_state.get(_DECISION)
        revocable = _revocable(model)
        chosen = [signature for signature in revocable if signature.number == number] or revocable[
            :1
        ]
        history.revoke(*chosen, reason=str(st.session_state.get(_REASON) or ""), **who)
        panels.forget(_DIALOG)


def _deletion_form(entry: Entry) -> None:
    _leave_when_done()
    st.markdown(
        f"{shell.escape(entry.model)} {shell.escape(entry.version)}, audit {entry.short}: "
        "the report cannot be brought back. Its fingerprint, verdict and decisions stay, with who deleted it and why."
    )
    if not signin.name():
        st.text_input("Your name", key=_DELETED_BY)
    st.text_input("Reason", key=_DELETED_WHY, max_chars=2000)
    panels.kept_problem(_PROBLEM)
    st.button(
        "Delete the report", key="remove_report", type="primary", on_click=_delete, args=(entry,)
    )


def _delete(entry: Entry) -> None:
    history = report_history.current()
    if history is None:
        return
    with panels.keeping_problem(_PROBLEM):
        if not signin.is_officer():
            raise InputError("Only an officer deletes reports, and this sign-in is none any more.")
        who = signin.name() or " ".join(str(st.session_state.get(_DELETED_BY) or "").split())
        reason = " ".join(str(st.session_state.get(_DELETED_WHY) or "").split())
        if not who or not reason:
            raise InputError("Name and reason must be given before a report is deleted.")
        history.delete(entry, who=who, reason=reason)
        panels.forget(_DIALOG)
