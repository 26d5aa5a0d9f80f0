"""The form that changes one limit of the policy, or what is said of the policy as a whole."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from core.config import AuditConfig
from core.errors import InputError
from core.fingerprint import fingerprint
from core.policy import CHECKS, Limit, Policy
from pages.common import panels, shell
from pages.common.deciding import policy as policies

__all__ = ["editor"]

_WHOLE = "whole"
_PROBLEM = "release_limit_problem"

_UNITS: dict[str, tuple[str, float, float, float, float, str, float]] = {
    "points": ("in points", 100.0, -100.0, 100.0, 0.5, "%.2f", 0.05),
    "percent": ("in percent", 100.0, 0.0, 100.0, 0.5, "%.2f", 0.75),
    "gap": ("from 0 to 1", 1.0, 0.0, 1.0, 0.005, "%.3f", 0.05),
    "ratio": ("from 0 to 1", 1.0, 0.0, 1.0, 0.01, "%.3f", 0.8),
    "bits": ("in bits a person", 1.0, -10.0, 10.0, 0.01, "%.3f", 0.05),
    "columns": ("in columns", 1.0, 0.0, 999_999_999.0, 0.5, "%.1f", 3.0),
}
"""Unit -> how it is told, factor from a share, least, most, step, format, and the value a new limit starts with."""


def editor(config: AuditConfig, attribute: str) -> None:
    """Draw the choice of a limit and its form; a change is judged by at once."""
    policy = policies.current(config)
    limits = {limit.check: limit for limit in policy.limits}

    def title(name: str) -> str:
        if name == _WHOLE:
            return "Name, author and confidence of the whole policy"
        told = CHECKS[name].title.format(attribute=attribute)
        return told[:1].upper() + told[1:] + ("" if name in limits else " (not asked)")

    options = [*limits, *(name for name in CHECKS if name not in limits), _WHOLE]
    chosen = st.selectbox("Limit", options, key="release_limit", format_func=title) or options[0]
    mark = f"{chosen}_{fingerprint(policy)[:8]}"
    with st.form(f"limit_form_{mark}"):
        if chosen == _WHOLE:
            wanted, gone = _whole(policy, mark), False
        else:
            wanted, gone = _one(policy, chosen, limits.get(chosen), mark)
    if wanted is not None:
        _keep(config, wanted)
    elif gone:
        _keep(config, policies.without_limit(policy, chosen))
    if sentence := st.session_state.get(_PROBLEM):
        panels.problem(sentence)


def _one(policy: Policy, check: str, limit: Limit | None, mark: str) -> tuple[Policy | None, bool]:
    """Draw the form of one limit; returns the changed policy, and whether the limit is to go."""
    found = CHECKS[check]
    unit, factor, least, most, step, shape, first = _UNITS[found.unit]
    st.caption(shell.escape(found.definition))
    left, right = st.columns(2, vertical_alignment="bottom")
    shown = round(factor * (first if limit is None else float(limit.value)), 10)
    typed = left.number_input(
        f"{'At least' if found.at_least else 'At most'}, {unit}",
        min_value=least,
        max_value=most,
        value=shown,
        step=step,
        format=shape,
        key=f"limit_value_{mark}",
    )
    required = right.toggle("A release needs it", value=limit is None or limit.required, key=f"limit_required_{mark}")
    now = limit or Limit(check=check, value=first)
    texts = _texts({"author": now.author, "date": now.date, "rationale": now.rationale, "source": now.source}, mark)
    left, right = st.columns([2, 1])
    judge = left.form_submit_button("Judge by this limit", key=f"limit_keep_{mark}", type="primary")
    gone = limit is not None and right.form_submit_button("Do not ask for it", key=f"limit_drop_{mark}")
    if not judge:
        return None, gone
    value = now.value if limit is not None and typed == shown else round(float(typed or 0.0) / factor, 12)
    after = replace(now, value=value, required=bool(required), **texts)
    return policies.with_limit(policy, policies.changed_limit(limit, after)), False


def _texts(fields: dict[str, str], mark: str) -> dict[str, str]:
    """Draw a box for each text; returns what is in them."""
    labels = {
        "author": "Who set it",
        "date": "When (YYYY-MM-DD)",
        "rationale": "Why this value",
        "source": "Source: law, standard, paper or document (may be empty)",
    }
    places = dict(zip(("author", "date"), st.columns(2), strict=True))
    made = {}
    for name, value in fields.items():
        if name in places:
            made[name] = places[name].text_input(labels[name], value=value, key=f"limit_{name}_{mark}")
        else:
            made[name] = st.text_area(labels[name], value=value, key=f"limit_{name}_{mark}", height=90)
    return {name: (value or "").strip() for name, value in made.items()}


def _whole(policy: Policy, mark: str) -> Policy | None:
    """Draw the form of what is said of the policy as a whole; returns the changed policy."""
    made: dict[str, Any] = {}
    labels = {"name": "Name", "version": "Version", "author": "Who answers for it", "date": "Since (YYYY-MM-DD)"}
    for place, (name, label) in zip(st.columns(2) * 2, labels.items(), strict=True):
        made[name] = (place.text_input(label, value=getattr(policy, name), key=f"policy_{name}_{mark}") or "").strip()
    made["rationale"] = st.text_area(
        "What it is for, and why it leaves out what it does not ask for",
        value=policy.rationale,
        key=f"policy_rationale_{mark}",
        height=120,
    ).strip()
    level = st.number_input(
        "Confidence over all limits together, in percent",
        min_value=50.0,
        max_value=99.99,
        value=round(100 * policy.level, 10),
        step=0.5,
        format="%.2f",
        key=f"policy_level_{mark}",
    )
    if not st.form_submit_button("Judge by this policy", key=f"policy_keep_{mark}", type="primary"):
        return None
    return replace(policy, **made, level=round(float(level) / 100.0, 12))


def _keep(config: AuditConfig, policy: Policy) -> None:
    try:
        policies.keep(config, policy)
    except InputError as error:
        st.session_state[_PROBLEM] = str(error)
        return
    st.session_state.pop(_PROBLEM, None)
    st.rerun()
