"""An open row of the register: the model's versions side by side, its decisions, its audits, two of them compared."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import streamlit as st

from core.auditing.policy import VERDICT_TITLES
from core.report import to_json
from core.report.comparison import change_range, change_text, compare, number_and_interval
from core.report.report import day_text
from core.store.events import DecisionState, Entry, RegisteredModel, Signature
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
from pages._models import model_dialogs
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
                    on_click=model_dialogs.ask_revocation,
                    args=(model,),
                )
            st.button(
                "Change…",
                key="open_model_change",
                icon=":material/edit:",
                help="Purpose, owner and next review.",
                on_click=model_dialogs.ask_model,
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
            on_click=model_dialogs.ask_deletion,
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
