"""The policy of the Report page: which one judges, and the table of its limits, changed and saved in versions.

A policy is a template of FairLeak's, a version saved in the history, or the user's file, with the changes made on the
page. What is not saved stays in the session. A change needs a reason and a source, and a name or version of its own.
One that breaks a rule is answered in one sentence, and the policy before it stays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamlit as st

from core.auditing.policy import (
    CHECKS,
    UNITS,
    Limit,
    Policy,
    check_title,
    policy_text,
    read_policy,
)
from core.base.errors import InputError
from core.base.serialize import fingerprint
from core.report.policy_drafts import LimitUse, check_change, policy_templates
from core.store.history import History, today
from core.studies.subject import AuditConfig
from pages._report import report_history
from pages.shell import cached, panels, shell, signin, state

_UPLOADED = "own"
_SAVED = "saved "
_CHOSEN, _BOX, _FILE, _CHANGED = (
    f"release_policy_{part}" for part in ("chosen", "box", "file", "kept")
)
_PROBLEM = "release_policy_problem"


# Which policy ---------------------------------------------------------------------------------------------------------


def _offered() -> dict[str, tuple[str, Callable[[], Policy]]]:
    """Return the policies on offer, those saved in the history newest first: what to call each, and what makes it.

    None are saved where the history cannot be read, which its card says.
    """
    offered = policy_templates()
    for saved in report_history.records(History.policies):
        title = f"{saved.name}, version {saved.version}"
        offered[f"{_SAVED}{saved.number}"] = (title, lambda saved=saved: saved.policy)  # type: ignore[misc]
    file, uploaded = st.session_state.get(_FILE, ("", None))
    if uploaded is not None:
        offered[_UPLOADED] = (file, lambda: uploaded)
    return offered


def _fitting_key(config: AuditConfig) -> str:
    """Return the template that fits what is brought, as the command chooses it."""
    policy = cached.policy_that_fits(config)
    return next(key for key, (_, make) in policy_templates().items() if make() == policy)


def policy_name(config: AuditConfig) -> str:
    """Return which policy is chosen; before anybody has, the one that fits what is brought."""
    chosen = st.session_state.get(_CHOSEN)
    if chosen in _offered():
        return str(chosen)
    return _fitting_key(config)


def _base(config: AuditConfig) -> Policy:
    return _offered()[policy_name(config)][1]()


def current_policy(config: AuditConfig) -> Policy:
    """Return the chosen policy as it stands, changes of this session included."""
    changed: Policy | None = st.session_state.get(_CHANGED, {}).get(policy_name(config))
    return changed or _base(config)


def keep_policy(config: AuditConfig, policy: Policy) -> None:
    """Apply a changed policy from now on; raises `InputError` if a rule of changes or of files is broken."""
    check_change(_base(config), policy)
    try:
        read_policy(policy_text(policy), name="The policy")
    except InputError as error:
        raise InputError(str(error).removeprefix("The policy: ")) from None
    st.session_state.setdefault(_CHANGED, {})[policy_name(config)] = policy


def choose_policy(config: AuditConfig) -> None:
    """Draw the choice of a policy, and the box for a file; to whom may not set limits, only which it is."""
    if signin.is_officer():
        _choices(config)
    policy = current_policy(config)
    fits = ""
    if policy == _offered()[_fitting_key(config)][1]():
        fits = "It fits what is brought; fairleak audit judges by the same."
    panels.notes(
        f"{policy.name}, version {policy.version}, by {policy.author}, {policy.date}. {fits}".strip(),
        policy.rationale,
    )
    if policy != _base(config):  # in this session
        st.button(
            "Undo all changes",
            key="reset_policy",
            icon=":material/undo:",
            on_click=_reset,
            args=(config,),
        )


def _choices(config: AuditConfig) -> None:
    titles = {name: title for name, (title, _) in _offered().items()}
    st.session_state[_BOX] = policy_name(config)
    arguments: dict[str, Any] = {"format_func": titles.__getitem__, "help": "Applied at once."}
    st.selectbox("Policy", list(titles), key=_BOX, on_change=_choose, **arguments)
    panels.upload(
        "Your own policy (TOML)",
        "policy_file",
        _read,
        max_upload_size=1,
        help="Kept in this session only, until it is saved below. The policy downloaded here is an example.",
    )


def _read(file: Any) -> None:
    """Judge by a policy of the user's own from now on."""
    st.session_state[_FILE] = (file.name, read_policy(file.getvalue(), name=file.name))
    st.session_state.get(_CHANGED, {}).pop(_UPLOADED, None)
    st.session_state[_CHOSEN] = _UPLOADED
    st.rerun()


def _choose() -> None:
    st.session_state[_CHOSEN] = st.session_state[_BOX]


def _reset(config: AuditConfig) -> None:
    st.session_state.get(_CHANGED, {}).pop(policy_name(config), None)


# Its limits -----------------------------------------------------------------------------------------------------------

_COLUMNS = (2.7, 1.2, 1.5, 2.6, 2.2)
_HEADINGS = ("Check", "Limit", "Use", "Reason", "Source")


def policy_editor(config: AuditConfig) -> None:
    """Draw all limits in one table; they are applied together, and saved as a version of the policy."""
    if not signin.is_officer():
        st.caption("The limits are an officer's to set.")
        return
    policy = current_policy(config)
    mark = fingerprint(policy)[:8]
    with st.form(f"policy_form_{mark}"):
        heading = _heading_fields(policy, mark)
        for column, title in zip(st.columns(_COLUMNS), _HEADINGS, strict=True):
            column.caption(title)
        limits = {limit.check: limit for limit in policy.limits}
        order = [*limits, *(name for name in CHECKS if name not in limits)]
        attribute = state.attribute_of(config)
        rows = [_limit_row(name, limits.get(name), attribute, mark) for name in order]
        apply, save = st.columns([1, 3], vertical_alignment="bottom")
        is_applied = apply.form_submit_button(
            "Apply", key=f"policy_keep_{mark}", type="primary", help="A new verdict, no new attack."
        )
        is_saved = save.form_submit_button(
            "Apply and save in the history",
            key=f"policy_register_{mark}",
            icon=":material/save:",
            help="A saved version never changes; everybody who uses this history can choose it.",
        )
    if is_applied or is_saved:
        author = heading["author"]
        after = replace(
            policy,
            **heading,
            limits=tuple(
                _dated(limit, limits.get(limit.check), author)
                for limit in rows
                if limit is not None
            ),
        )
        with panels.keeping_problem(_PROBLEM):
            if after != policy:
                keep_policy(config, replace(after, date=today()))
            if is_saved:
                _save(current_policy(config))
            st.rerun()
    panels.kept_problem(_PROBLEM)


def _heading_fields(policy: Policy, mark: str) -> dict[str, Any]:
    """Draw name, version, author, confidence and reason of the whole policy; return them."""
    name, version, author, level = st.columns([3, 1.2, 2, 1.2])
    fields: dict[str, Any] = {
        "name": name.text_input("Name", policy.name, key=f"policy_name_{mark}"),
        "version": version.text_input("Version", policy.version, key=f"policy_version_{mark}"),
        "author": author.text_input("Author", policy.author, key=f"policy_author_{mark}"),
        "rationale": st.text_area(
            "Reason of this version", policy.rationale, key=f"policy_rationale_{mark}", height=80
        ),
    }
    percent = level.number_input(
        "Confidence (%)",
        50.0,
        99.9,
        100.0 * policy.level,
        step=0.5,
        key=f"policy_level_{mark}",
        help="Of all decisions together.",
    )
    texts = {name: text.strip() for name, text in fields.items()}
    return {**texts, "level": round(percent / 100.0, 6)}


def _limit_row(check: str, limit: Limit | None, attribute: str, mark: str) -> Limit | None:
    """Draw one limit as a row; return it as it stands, None where the check is not covered."""
    definition = CHECKS[check]
    unit = UNITS[definition.unit]
    now = limit or Limit(check=check, value=unit.first)
    title, value, use, reason, source = st.columns(_COLUMNS, vertical_alignment="top")
    name = check_title(check, attribute)
    title.markdown(shell.escape(name), help=shell.escape(definition.definition))
    displayed = round(unit.factor * float(now.value), 10)
    side = "at least" if definition.at_least else "at most"
    if definition.unit != "ratio":  # a number whose name is the check's
        side = f"{side}, {unit.axis.lower()}"
    labelled: dict[str, Any] = {"label_visibility": "collapsed"}
    typed = value.number_input(
        f"{name}: {side}",
        min_value=unit.factor * unit.least,
        max_value=min(unit.factor * unit.most, 999_999_999.0),
        value=displayed,
        step=5.0 * 10.0**-unit.decimals,
        format=f"%.{unit.decimals + (unit.factor > 1.0)}f",
        key=f"limit_value_{check}_{mark}",
        help=None,
        **labelled,
    )
    value.caption(side)
    uses = list(LimitUse)
    chosen = use.selectbox(
        f"{name}: use",
        uses,
        index=uses.index(LimitUse.of(limit)),
        format_func=lambda item: item.label,
        key=f"limit_status_{check}_{mark}",
        **labelled,
    )
    texts = {
        "rationale": reason.text_area(
            f"{name}: reason",
            now.rationale,
            key=f"limit_rationale_{check}_{mark}",
            height=68,
            **labelled,
        ),
        "source": source.text_area(
            f"{name}: source",
            now.source,
            key=f"limit_source_{check}_{mark}",
            height=68,
            placeholder="law, standard, DPIA, policy",
            **labelled,
        ),
    }
    if chosen == LimitUse.NOT_COVERED:
        return None
    exact_value = now.value
    if typed != displayed:
        exact_value = round(float(typed or 0.0) / unit.factor, 12)
    stripped = {name: text.strip() for name, text in texts.items()}
    return chosen.applied(replace(now, value=exact_value, **stripped))


def _dated(limit: Limit, before: Limit | None, author: str) -> Limit:
    """Return a limit; who changed it, and when, stands in one that differs from before."""
    if limit == before:
        return limit
    return replace(limit, author=author, date=today())


def _save(policy: Policy) -> None:
    """Save a version in the history, and judge by what is saved from now on."""
    history = report_history.current(create=True)
    if history is None:
        raise InputError("The history cannot be opened, so the policy is not saved.")
    saved = history.save_policy(
        policy, who=signin.name() or policy.author, reason=" ".join(policy.rationale.split())
    )
    st.session_state[_CHOSEN] = f"{_SAVED}{saved.number}"
