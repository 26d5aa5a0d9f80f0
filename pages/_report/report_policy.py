"""Policy of a release: one of FairLeak's or the user's file, with the limits changed on the page.

Policies stay in the session. A file that breaks a rule is answered in one sentence; the policy before it stays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from core.auditing.policy import (
    CHECKS,
    UNITS,
    Limit,
    Policy,
    default_policy,
    limit_text,
    policy_text,
    predictions_policy,
    read_policy,
)
from core.base.errors import InputError
from core.base.fingerprint import fingerprint
from core.base.settings import params
from core.models import GIVEN_PREDICTIONS
from core.studies.config import AuditConfig
from pages.shell import cached, panels, shell, signin
from pages.shell.controls import filled

_UPLOADED = "own"
_CHOSEN, _BOX, _FILE, _CHANGED = (
    f"release_policy_{part}" for part in ("chosen", "box", "file", "kept")
)

CHANGED = "changed on the Report page"
"""What stands for the author of a change of which nobody has said who made it."""

_ROOM = 170
"""Characters kept of a name to which something is added."""


def _offered() -> dict[str, tuple[str, Callable[[], Policy]]]:
    """Return the policies on offer, the user's file among them: what to call each, and what makes it."""
    shipped: dict[str, tuple[str, Callable[[], Policy]]] = {
        "default": ("FairLeak's default", default_policy),
        "predictions": ("FairLeak's, for predictions alone", predictions_policy),
    }
    file, uploaded = st.session_state.get(_FILE, ("", None))
    if uploaded is None:
        return shipped
    return {**shipped, _UPLOADED: (file, lambda: uploaded)}


def chosen(config: AuditConfig) -> str:
    """Return which policy is chosen; before anybody has, the one that asks for what is at hand."""
    roles = config.roles
    has_scores_and_sets = (
        roles is not None and roles.score and (roles.sets or cached.answering(roles))
    )
    # alone: what needs scores, or whom the model was trained on, cannot be run
    alone = config.method == GIVEN_PREDICTIONS and not has_scores_and_sets
    name = str(st.session_state.get(_CHOSEN) or ("predictions" if alone else "default"))
    if name in _offered():
        return name
    return "default"


def _base(config: AuditConfig) -> Policy:
    return _offered()[chosen(config)][1]()


def current(config: AuditConfig) -> Policy:
    """Return the chosen policy as it stands, changes of this session included."""
    changed: Policy | None = st.session_state.get(_CHANGED, {}).get(chosen(config))
    return changed or _base(config)


def keep(config: AuditConfig, policy: Policy) -> None:
    """Apply a changed policy from now on; one that only differs from the file by its limits gets a name of its own.

    Raises `InputError` if it could not be read back from a file.
    """
    base = _base(config)
    if policy.name == base.name and policy != base:
        policy = replace(
            policy, name=_marked(base.name), author=_marked(base.author), date=_today()
        )
    try:
        read_policy(policy_text(policy), name="The policy")
    except InputError as error:
        raise InputError(str(error).removeprefix("The policy: ")) from None
    st.session_state.setdefault(_CHANGED, {})[chosen(config)] = policy


def changed_limit(before: Limit | None, after: Limit) -> Limit:
    """Return a limit that does not give another's author, reason and source for a value these were not about.

    Fields that were left as they stood `before` are filled in again where the value has changed.
    """
    if before is None:
        reason = "Added on the Report page; no reason was given."
        first: dict[str, Any] = {
            "author": CHANGED.capitalize(),
            "date": _today(),
            "rationale": reason,
        }
        return replace(
            after, **{key: getattr(after, key).strip() or text for key, text in first.items()}
        )
    if (before.value, before.required) == (after.value, after.required):
        return after
    was = limit_text(before.check, before.value) + ("" if before.required else ", not required")
    left: dict[str, Any] = {
        "author": _marked(before.author),
        "date": _today(),
        "rationale": f"Changed on the Report page from {was}; no reason was given.",
        "source": "" if before.value != after.value else before.source,
    }
    return replace(
        after,
        **{key: new for key, new in left.items() if getattr(after, key) == getattr(before, key)},
    )


def with_limit(policy: Policy, check: str, limit: Limit | None) -> Policy:
    """Return a policy with one limit in the place of the same check's, or at the end; None asks for no such check."""
    limits: dict[str, Limit | None] = {current.check: current for current in policy.limits}
    limits[check] = limit
    return replace(
        policy, limits=tuple(current for current in limits.values() if current is not None)
    )


def _marked(text: str) -> str:
    return f"{text.removesuffix(f', {CHANGED}')[:_ROOM]}, {CHANGED}"


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def choose(config: AuditConfig) -> None:
    """Draw the choice of a policy, and the box for a file; to whom may not set limits, only which it is."""
    if signin.is_officer():
        _choices(config)
    policy = current(config)
    panels.notes(
        f"{policy.name}, version {policy.version}, by {policy.author}, {policy.date}.",
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
    st.session_state[_BOX] = chosen(config)
    arguments: dict[str, Any] = {"format_func": titles.__getitem__, "help": "Applied at once."}
    st.selectbox("Policy", list(titles), key=_BOX, on_change=_choose, **arguments)
    panels.upload(
        "Your own policy (TOML)",
        "policy_file",
        _read,
        max_upload_size=1,
        help="Kept in this session only. The policy downloaded on this page is an example to start from.",
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
    st.session_state.get(_CHANGED, {}).pop(chosen(config), None)


_POLICY = "whole"
_LIMIT_PROBLEM = "release_limit_problem"


def editor(config: AuditConfig) -> None:
    """Draw the choice of a limit and its form; a change is applied at once."""
    if not signin.is_officer():
        st.caption("The limits are an officer's to set.")
        return
    policy = current(config)
    limits = {limit.check: limit for limit in policy.limits}

    def title(name: str) -> str:
        if name == _POLICY:
            return "Name, author and confidence of the whole policy"
        title_text = CHECKS[name].title.format(
            attribute=config.roles.attribute if config.roles else "the attribute"
        )
        return (
            title_text[:1].upper() + title_text[1:] + ("" if name in limits else " (not covered)")
        )

    options = [*limits, *(name for name in CHECKS if name not in limits), _POLICY]
    chosen = st.selectbox("Limit", options, key="release_limit", format_func=title) or options[0]
    mark = f"{chosen}_{fingerprint(policy)[:8]}"
    with st.form(f"limit_form_{mark}"):
        if chosen == _POLICY:
            changed = _policy_form(policy, mark)
        else:
            changed = _limit_form(policy, chosen, limits.get(chosen), mark)
    if changed is not None:
        with panels.keeping_problem(_LIMIT_PROBLEM):
            keep(config, changed)
            st.rerun()
    panels.kept_problem(_LIMIT_PROBLEM)


def _limit_form(policy: Policy, check: str, limit: Limit | None, mark: str) -> Policy | None:
    """Draw the form of one limit; returns the changed policy."""
    definition = CHECKS[check]
    unit = UNITS[definition.unit]
    now = limit or Limit(check=check, value=unit.first)
    st.caption(shell.escape(definition.definition))
    left, right = st.columns(2, vertical_alignment="bottom")
    displayed = round(unit.factor * float(now.value), 10)
    typed = left.number_input(
        f"{'At least' if definition.at_least else 'At most'}, {unit.axis.lower()}",
        min_value=unit.factor * unit.least,
        max_value=min(unit.factor * unit.most, 999_999_999.0),
        value=displayed,
        step=5.0 * 10.0**-unit.decimals,
        format=f"%.{unit.decimals + (unit.factor > 1.0)}f",
        key=f"limit_value_{mark}",
    )
    required = filled(now, ["required"], f"limit_{{}}_{mark}", [right])
    texts = _widgets(now, ("author", "date", "rationale", "source"), f"limit_{{}}_{mark}")
    left, right = st.columns([2, 1])
    judge = left.form_submit_button("Apply limit", key=f"limit_keep_{mark}", type="primary")
    if limit is not None and right.form_submit_button("Remove limit", key=f"limit_drop_{mark}"):
        return with_limit(policy, check, None)
    if not judge:
        return None
    if limit is not None and typed == displayed:
        value = now.value
    else:
        value = round(float(typed or 0.0) / unit.factor, 12)
    after = replace(now, value=value, **required, **texts)
    return with_limit(policy, check, changed_limit(limit, after))


def _widgets(about: Limit | Policy, names: Sequence[str], key: str) -> dict[str, Any]:
    """Draw the widgets of some of its settings, lines in two columns; returns their values."""
    settings = params(type(about))
    columns = st.columns(2)
    places = [
        st if settings[name].param.form == "prose" else columns[i % 2]
        for i, name in enumerate(names)
    ]
    values = filled(about, names, key, places)
    return {
        name: value.strip() if isinstance(value, str) else value for name, value in values.items()
    }


def _policy_form(policy: Policy, mark: str) -> Policy | None:
    """Draw the form of what is said of the policy as a whole; returns the changed policy."""
    values = _widgets(
        policy, ("name", "version", "author", "date", "level", "rationale"), f"policy_{{}}_{mark}"
    )
    if not st.form_submit_button("Apply policy", key=f"policy_keep_{mark}", type="primary"):
        return None
    return replace(policy, **values)
