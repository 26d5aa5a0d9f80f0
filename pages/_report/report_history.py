"""The register of this server on the Report page: the audit kept as a version of a model, decided on, and compared.

The history is opened once a session, in the place that FAIRLEAK_HISTORY names, or the default file, and no other. A
report that somebody brings is verified in a process of its own, and kept in the session and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import streamlit as st

import core
from core.auditing import RegisterPlan
from core.base.errors import FairLeakError, InputError
from core.base.serialize import short_fingerprint
from core.report import Report, Reports
from core.report.comparison import NO_PROOF, Comparison, compare, comparison_html
from core.report.report import DECISIONS, day_text
from core.report.verification import readable_in_child
from core.store.events import (
    BAN,
    DecisionState,
    Entry,
    RegisteredModel,
    Signature,
    changed_parts,
    is_banned,
    name_key,
    needs_reason,
    not_releasable,
    parts_of,
)
from core.store.history import History, history_location, today
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


# Kept and decided -----------------------------------------------------------------------------------------------------

_MODEL, _VERSION, _DECISION, _WHO, _REASON, _UNTIL, _CONDITION = (
    f"sign_{part}"
    for part in ("model", "version", "decision", "who", "reason", "until", "condition")
)
_MOST_LISTED = 3
"""Decisions shown at once."""

_STYLE = "<style>[data-testid=stPopoverBody]:has(.st-key-sign_off) {width: min(680px, 94vw); max-width: 94vw}</style>"

_SOMEBODY = "Dashboard, not signed in"
"""Who keeps an audit where nobody has to sign in."""


def register_plan() -> RegisterPlan:
    """Return which version of which model the audit is of, as typed; nothing while a part is missing or wrong."""
    model = _typed(_MODEL)
    version = _typed(_VERSION)
    try:
        if model and version:
            return RegisterPlan(model=model, version=version)
    except InputError:  # said when somebody keeps it
        pass
    return RegisterPlan()


def _typed(key: str) -> str:
    return " ".join(str(st.session_state.get(key) or "").split())


def keep_name() -> str:
    """Return who keeps something: the name that is proven, or that nobody signed in."""
    return signin.name() or _SOMEBODY


def card(reports: Reports, *, testing: bool) -> None:
    """Draw the card; `testing` says that the self-test, which is part of the report, still runs."""
    document = reports.document
    mark = short_fingerprint(document.fingerprint)
    models = records(History.models)
    with st.container(gap="small", key="sign_off"):
        st.html(_STYLE)
        heading = st.empty()
        name_column, version_column, button = st.columns([5, 3, 2], vertical_alignment="bottom")
        with name_column:
            name = _model_box(models, document)
        with version_column:
            st.text_input("Version", key=_VERSION, placeholder="1.0", persist_state="session")
        version = _typed(_VERSION)
        model = next((model for model in models if name_key(model.name) == name_key(name)), None)
        entry = _entry_of(model, version, document)
        with heading:
            shell.whisper("Model and version", _status(model, version, entry))
        is_complete = bool(name and version)
        button.button(
            "Keep",
            key="keep_audit",
            on_click=_keep,
            args=(document,),
            disabled=testing or not is_complete or entry is not None,
            help="Keeps the report's findings, plan, policy and verdict in the register; never the table.",
            width="stretch",
        )
        signatures = _decisions(model, version)
        for signature in signatures[:_MOST_LISTED]:
            st.markdown(signature_line(signature, document))
        if (more := len(signatures) - _MOST_LISTED) > 0:
            st.caption(f"Earlier decisions on {shell.escape(version)}: {more}, on Models.")
        _form(document, mark, signatures, testing=testing, is_complete=is_complete)
        panels.kept_problem("sign_problem")
        problem()


def bans(document: Report) -> tuple[str, ...]:
    """Return the standing bans on the model of the card, a line of Markdown each, to be said beside a new verdict."""
    models = records(History.models)
    name = name_key(_typed(_MODEL) or _last_name(models, document))
    banned = [ban for model in models if name_key(model.name) == name for ban in model.bans()]
    return tuple(
        f"{shell.escape(f'{ban.model} {ban.version}')}: {signature_line(ban, document)}"
        for ban in banned
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


DECISION_ICONS = {
    BAN: ":red[:material/block:]",
    "accept_risk": ":yellow[:material/event_busy:]",
    "release": ":green[:material/verified:]",
}
"""Decision -> its icon, while it stands."""


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


def _form(
    document: Report,
    mark: str,
    signatures: list[Signature],
    *,
    testing: bool,
    is_complete: bool,
) -> None:
    if not signin.is_officer():
        st.caption("An officer signs.")
        return
    decision = panels.pick("Decision", DECISIONS, key=_DECISION, default=BAN)
    left, right = st.columns(2, vertical_alignment="bottom")
    label = "Name and role"
    placeholder = "name, role"
    if name := signin.name():
        label = f"Role of {name}"
        placeholder = "role"
    left.text_input(label, key=_WHO, placeholder=placeholder, persist_state="session")
    right.text_input("Reason (required, but for “Release”)", key=_REASON, persist_state="session")
    left, middle, right = st.columns(3, vertical_alignment="bottom")
    is_ban = decision == BAN
    until_help = (
        "Last day on which the decision stands; required for “Accept the risk”. "
        "A ban has none: a person revokes it."
    )
    left.date_input(
        "Until",
        value=None,
        min_value="today",
        key=_UNTIL,
        disabled=is_ban,
        help=until_help,
        persist_state="session",
    )
    middle.text_input(
        "Condition",
        key=_CONDITION,
        placeholder="no scores to partners",
        disabled=is_ban,
        persist_state="session",
    )
    closed = is_banned(decision, signatures)
    missing = ""
    if decision == "release":
        missing = not_releasable(document)
    right.button(
        f"Sign report {mark}",
        key="sign_audit",
        on_click=_keep,
        args=(document,),
        kwargs={"sign": True},
        disabled=testing or not is_complete or bool(closed or missing),
        width="stretch",
    )
    if decision != "release":
        missing = needs_reason(decision, signatures)
    opens = ""
    if testing:
        opens = "Keep and Sign open when the self-test has ended."
    elif not is_complete:
        opens = (
            "Name model and version to sign; they are in the fingerprint, so take the brief after."
        )
    review = "not set"
    if document.plan.register.review:
        review = day_text(document.plan.register.review)
    sentences = (
        "“Release” opens when all required checks pass and every limit has a source.",
        closed or missing,
        opens,
        f"The decision is about the version, signed on {mark}, {today()}, FairLeak {core.__version__}.",
        f"Next review: {review} (“Purpose and attackers”, below).",
    )
    panels.notes(" ".join(filter(None, sentences)))


def _keep(document: Report, *, sign: bool = False) -> None:
    """Keep a report as a version, and sign it; what is wrong is said in the card, and nothing typed is lost."""
    history = current(create=True)
    if history is None:
        return
    with panels.keeping_problem("sign_problem"):  # callbacks run before the page looks at roles
        if signin.role() in (None, signin.Role.ASKER):
            raise InputError("This sign-in may not keep audits any more.")
        entry = history.keep(
            document, model=_typed(_MODEL), version=_typed(_VERSION), who=keep_name()
        )
        if sign:
            _sign(history, entry)


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


def _sign(history: History, entry: Entry) -> None:
    """Sign a decision on an audit that is kept, with what stands on the form."""
    who = signer(_typed(_WHO))
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
