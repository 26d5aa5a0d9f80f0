"""What the model's owner states of it on the Report page: purpose, owner, next review, and which attackers are met.

None of it is measured, so that a changed statement needs no new attack. It stands in the brief, the plan and the
report, and the register takes purpose, owner and review from there when the audit is kept.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from core.auditing import AuditPlan, RegisterPlan
from core.auditing.plausible_attackers import ATTACKERS, AttackersPlan, Met
from core.base.settings import params
from core.datasets.dataset import Table
from core.store.history import today
from pages.shell import panels, shell
from pages.shell.controls import control, filled

_STATED = "release_stated"
"""Where the session keeps the statements: on a table's model by its use, and on attackers."""

_PROBLEM = "release_statement_problem"
_USE_FIELDS = ("purpose", "owner", "review")


def stated_plan(plan: AuditPlan, table: Table) -> AuditPlan:
    """Return a plan with what was stated in this session of the model of this table."""
    statements = st.session_state.get(_STATED, {})
    use, attackers = statements.get(table.fingerprint, (RegisterPlan(), AttackersPlan()))
    changes = {name: getattr(use, name) for name in _USE_FIELDS}
    return replace(plan, register=replace(plan.register, **changes)).with_attackers(attackers)


def statement_form(plan: AuditPlan, table: Table) -> None:
    """Draw the form of the statement, as the plan has it."""
    statement = plan.attackers
    mark = table.fingerprint[:8]
    shell.whisper(
        "Purpose and attackers", "Stated by the owner, not measured; it stands on the brief"
    )
    with st.form("statement"):
        places = st.columns(len(_USE_FIELDS))
        use = filled(plan.register, _USE_FIELDS, f"stated_{{}}_{mark}", places)
        for key, attacker in ATTACKERS.items():
            left, middle, right = st.columns([4, 2, 5], vertical_alignment="center")
            attribute = "the attribute"
            needs = attacker.needs.format(attribute=attribute, outputs="outputs", known="others")
            left.markdown(f"**{attacker.title}**  \n:small[Needs: {needs[:1].lower()}{needs[1:]}]")
            met, why = statement.met(key)
            middle.selectbox(
                f"{attacker.title}: met here?",
                list(Met),
                index=list(Met).index(met),
                key=f"stated_met_{key}_{mark}",
                label_visibility="collapsed",
                persist_state=None,
            )
            right.text_input(
                f"{attacker.title}: why?",
                why,
                key=f"stated_why_{key}_{mark}",
                placeholder="Why? Up to 120 letters",
                label_visibility="collapsed",
                persist_state=None,
            )
        author = control(
            params(AttackersPlan)["author"],
            f"stated_author_{mark}",
            value=statement.author,
            persist_state=None,
        )
        if st.form_submit_button("State this", key="keep_statement", type="primary"):
            _state(table, use, author or "")
    panels.kept_problem(_PROBLEM)
    if table.fingerprint in st.session_state.get(_STATED, {}):
        st.success(_confirmation(plan), icon=":material/check_circle:")


def _confirmation(plan: AuditPlan) -> str:
    """Say what is stated, by whom and when, and where it stands."""
    statement = plan.attackers
    stated = sum(statement.met(key)[0] != Met.NOT_STATED for key in ATTACKERS)
    text = f"Stated: {stated} of {len(ATTACKERS)} attackers"
    if statement.date:
        text = f"{text}, by {statement.author or 'the owner'}, on {statement.date}"
    uses = [name for name in _USE_FIELDS if getattr(plan.register, name)]
    if uses:
        text = f"{text}; {', '.join(uses)} given"
    return shell.escape(f"{text}. It is part of the report and of the brief from now on.")


def _state(table: Table, use: dict[str, Any], author: str) -> None:
    """Keep what was typed; what breaks a rule is said below the form."""
    mark = table.fingerprint[:8]
    statements = {}
    for key in ATTACKERS:
        met = st.session_state[f"stated_met_{key}_{mark}"]
        why = " ".join(st.session_state[f"stated_why_{key}_{mark}"].split())
        if met != Met.NOT_STATED:
            statements[key] = ": ".join(filter(None, (str(met), why)))
    day = ""
    if statements:
        day = today()
    with panels.keeping_problem(_PROBLEM):
        texts = {name: value or "" for name, value in use.items()}
        stated = (RegisterPlan(**texts), AttackersPlan(author=author, date=day, **statements))
        st.session_state[_STATED] = {
            **st.session_state.get(_STATED, {}),
            table.fingerprint: stated,
        }
        st.rerun()
