"""The dialogs of the register: what a model is, a decision revoked, a report deleted. What is wrong is said in them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import streamlit as st

from core.auditing import RegisterPlan
from core.base.errors import InputError
from core.base.settings import params
from core.store.events import BAN, Entry, RegisteredModel, Signature
from pages._report import report_history
from pages.shell import panels, shell, signin

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


def opened(models: Sequence[RegisteredModel]) -> None:
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
