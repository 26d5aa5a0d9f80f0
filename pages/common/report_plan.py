"""What a release audit is about: the plan that sidebar and page describe, and the form that asks for the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.config import AuditConfig
from core.datasets.dataset import Table
from core.fingerprint import fingerprint
from core.models import GIVEN
from core.release_audit import (
    AuditPlan,
    DataPlan,
    GuardPlan,
    MembershipPlan,
    ModelPlan,
    OutputsPlan,
    PlannedAnswers,
    catalogue_plan,
    suggested_outputs,
)
from core.settings import Setting, params
from pages.common import cached, shell
from pages.common.controls import Kind, control

if TYPE_CHECKING:
    from core.models.model_files import ModelFile


_ASKED, _RELEASED = "release_asked", "release_outputs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is audited: the table as it was uploaded, where a model file answers, and settings that hold the roles."""

    plan: AuditPlan
    table: Table
    config: AuditConfig
    model_file: ModelFile | None = None


def plan_of(config: AuditConfig, table: Table) -> AuditPlan:
    """Return what was asked on the page, or what is asked before anybody has: what the model at hand allows.

    It is a plan whose data, model and settings are still to be filled in from the sidebar. What is released goes with
    the people and predictions it was said of; everything else stays for others.
    """
    kept: AuditPlan | None = st.session_state.get(_ASKED)
    if kept is None:
        first = catalogue_plan("demo")
        membership = first.membership if config.method != GIVEN else MembershipPlan(shadows=0)
        kept = AuditPlan(answers=first.answers, membership=membership, guard=first.guard)
    released: dict[Any, OutputsPlan] = st.session_state.get(_RELEASED, {})
    return replace(kept, outputs=released.get(_released_of(config, table)) or _first_outputs(config, table))


def _released_of(config: AuditConfig, table: Table) -> tuple[Any, ...]:
    roles = config.roles
    return (table.fingerprint, config.method == GIVEN, roles and roles.prediction, roles and roles.score)


def _first_outputs(config: AuditConfig, table: Table) -> OutputsPlan:
    roles = config.roles or table.roles[0]
    if config.method != GIVEN:
        return OutputsPlan()
    answered = cached.own_model()
    kind = "file" if answered is not None and roles.prediction == answered.prediction else "predictions"
    return suggested_outputs(cached.dataset_of(table, roles), kind)


def subject(config: AuditConfig, table: Table, wanted: AuditPlan) -> Subject:
    """Return what the settings describe; as a plan the command line reads from a file and repeats."""
    roles = config.roles or table.roles[0]
    if roles in table.roles:
        data = DataPlan(dataset=table.name, attribute=roles.key)
        plan = replace(wanted, data=data, config=replace(config, roles=None))
        return Subject(plan=plan, table=table, config=config)
    data = DataPlan(dataset="", file=table.title) if table.uploaded else DataPlan(dataset=table.name)
    model, model_file = ModelPlan(), None
    threshold = roles.threshold
    roles = replace(roles, threshold=model.threshold)
    answered = cached.own_model() if table.uploaded else None
    columns = (roles.prediction, roles.score)
    if answered is not None and columns == (answered.prediction, answered.score):
        model_file, table = answered.model_file, answered.asked
        model = answered.plan
        roles = replace(roles, prediction="", score="")
    elif roles.gives_predictions:
        model = ModelPlan(kind="predictions", threshold=threshold)
    plan = replace(wanted, data=data, model=model, config=replace(config, roles=roles))
    return Subject(plan=plan, table=table, config=config, model_file=model_file)


def released(outputs: OutputsPlan) -> str:
    """Say what is released about each person."""
    if outputs.released == "labels":
        return "Labels only"
    if outputs.decimals is None:
        return "Scores as they are"
    return f"Scores rounded to {outputs.decimals} decimal{'s' * (outputs.decimals != 1)}"


SECTIONS = {
    "judged": "Policy and limits",
    "attacked": "Audit plan",
    "edition": "External report",
    "self_test": "Self-test",
    "numbers": "Tables",
    "guide": "How to read this",
}

_MOST_DECIMALS = 6
_SHADOWS = (0, 4, 8, 16, 32, 64, 128)

_PLAN, _OUTPUTS, _ANSWERS = params(AuditPlan), params(OutputsPlan), params(PlannedAnswers)


def section() -> str | None:
    """Choose what is shown below the verdict; nothing, until somebody chooses."""
    return st.segmented_control(
        "Look further",
        list(SECTIONS),
        key="further_release",
        format_func=SECTIONS.__getitem__,
        persist_state="session",
        label_visibility="collapsed",
    )


def attacks(config: AuditConfig, table: Table) -> None:
    """Draw the form of what is attacked; its button starts the attacks anew."""
    now = plan_of(config, table)
    mark = fingerprint("asked", now)[:8]
    shell.whisper(
        "What is attacked", "The model and its promise are in the sidebar; what else is planned with it, here"
    )

    def asked(setting: Setting, kind: Kind | None = None, **told: Any) -> Any:
        return control(setting, f"asked_{setting.name}_{mark}", kind, persist_state=None, **told)

    with st.form(f"attacks_{mark}"):
        left, right = st.columns(2, vertical_alignment="bottom")
        title = asked(_PLAN["title"], place=left, value=now.title, help=None, placeholder="the table's")
        offered = _outputs(config, now.outputs)
        outputs = right.selectbox(
            _OUTPUTS["released"].param.title,
            offered,
            index=offered.index(now.outputs),
            key=f"asked_outputs_{mark}",
            format_func=released,
            help="Attacks use all of it: scores with the decimals they are released with, and the labels.",
        )
        planned = _asked_answers(asked, now.answers)
        left, right = st.columns(2, vertical_alignment="bottom")
        shadows = asked(
            params(MembershipPlan)["shadows"],
            "select_slider",
            place=left,
            options=sorted({*_SHADOWS, now.membership.shadows}),
            value=now.membership.shadows,
            disabled=config.method == GIVEN,
            help="Models trained like the audited one, with and without each person; 0 leaves out the attacks that "
            "need them. Given predictions cannot be trained again.",
        )
        budget = asked(
            params(GuardPlan)["budget"],
            place=right,
            value=now.guard.budget,
            help="On average; 0 if records are published as they are. The default policy sets no limit to it.",
        )
        if not st.form_submit_button("Attack by this plan", key=f"asked_keep_{mark}", type="primary"):
            return
    plan = AuditPlan(
        title=(title or "").strip(),
        outputs=outputs,
        answers=planned,
        membership=MembershipPlan(shadows=int(shadows)),
        guard=GuardPlan(budget=float(budget)),
    )
    st.session_state[_ASKED] = plan
    st.session_state[_RELEASED] = {_released_of(config, table): plan.outputs}
    st.rerun()


def _asked_answers(asked: Callable[..., Any], answers: PlannedAnswers) -> PlannedAnswers:
    """Ask which answers to questions about fairness are planned."""
    helps = {
        "questions": "How many are planned in all; 0 promises to answer none. More than 100 take long.",
        "people": None,
        "mechanism": None,
        "epsilon": "Not used by exact and rounded answers. Rounded answers have three decimals.",
    }
    planned = {}
    for place, (name, told) in zip(st.columns(4, vertical_alignment="bottom"), helps.items(), strict=True):
        value = getattr(answers, name)
        more = {"min_value": 0.01, "value": max(0.01, value)} if name == "epsilon" else {"value": value}
        planned[name] = asked(_ANSWERS[name], place=place, help=told, **more)
    return replace(answers, **planned)


def _outputs(config: AuditConfig, now: OutputsPlan) -> list[OutputsPlan]:
    """Return what can be released: of given labels without scores only these."""
    labels = OutputsPlan(released="labels")
    if config.method == GIVEN and not (config.roles and config.roles.score):
        return [labels]
    rounded = [OutputsPlan(decimals=places) for places in range(1, _MOST_DECIMALS + 1)]
    offered = [OutputsPlan(), *rounded, labels]
    return offered if now in offered else [now, *offered]
