"""What a release audit is about: the plan that sidebar and page describe, its table, and a model file if any."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.config import AuditConfig
from core.datasets.dataset import Table
from core.decision import (
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
from core.models import GIVEN
from pages.common import cached

if TYPE_CHECKING:
    from core.models.files import ModelFile

__all__ = ["Asked", "Subject", "asked", "keep_asked", "subject"]

_ASKED, _RELEASED = "release_asked", "release_outputs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the page asks beyond the sidebar.

    Attributes
    ----------
    title : str
        What to call the audit in the report; the table's title when empty.
    outputs, answers, membership, guard
        As in `core.decision.AuditPlan`.
    """

    outputs: OutputsPlan
    answers: PlannedAnswers
    membership: MembershipPlan
    guard: GuardPlan
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is audited.

    Attributes
    ----------
    plan : AuditPlan
    table : Table
        As it was uploaded, where a model file answers.
    config : AuditConfig
        With the roles, also where the plan leaves them to the catalogue.
    model_file : ModelFile or None
    """

    plan: AuditPlan
    table: Table
    config: AuditConfig
    model_file: ModelFile | None = None


def asked(config: AuditConfig, table: Table) -> Asked:
    """Return what was asked on the page, or what is asked before anybody has: what the model at hand allows.

    What is released goes with the people and predictions it was said of; everything else stays for others.
    """
    kept: Asked | None = st.session_state.get(_ASKED)
    released: dict[Any, OutputsPlan] = st.session_state.get(_RELEASED, {})
    outputs = released.get(_released_of(config, table)) or _outputs(config, table)
    return replace(kept or _standard(config), outputs=outputs)


def keep_asked(config: AuditConfig, table: Table, wanted: Asked) -> None:
    """Ask this from now on."""
    st.session_state[_ASKED] = wanted
    st.session_state[_RELEASED] = {_released_of(config, table): wanted.outputs}


def _released_of(config: AuditConfig, table: Table) -> tuple[Any, ...]:
    roles = config.roles
    return (table.fingerprint, config.method == GIVEN, roles and roles.prediction, roles and roles.score)


def _outputs(config: AuditConfig, table: Table) -> OutputsPlan:
    roles = config.roles or table.roles[0]
    if config.method != GIVEN:
        return OutputsPlan()
    answered = cached.own_model()
    kind = "file" if answered is not None and roles.prediction == answered.prediction else "predictions"
    return suggested_outputs(cached.dataset_of(table, roles), kind)


def _standard(config: AuditConfig) -> Asked:
    first = catalogue_plan("demo")
    return Asked(
        outputs=first.outputs,
        answers=first.answers,
        membership=first.membership if config.method != GIVEN else MembershipPlan(shadows=0),
        guard=first.guard,
    )


def subject(config: AuditConfig, table: Table, wanted: Asked) -> Subject:
    """Return what the settings describe; as a plan the command line reads from a file and repeats."""
    roles = config.roles or table.roles[0]
    parts: dict[str, Any] = {
        "outputs": wanted.outputs,
        "answers": wanted.answers,
        "membership": wanted.membership,
        "guard": wanted.guard,
        "title": wanted.title,
    }
    if roles in table.roles:
        data = DataPlan(dataset=table.name, attribute=roles.key)
        plan = AuditPlan(data=data, config=replace(config, roles=None), **parts)
        return Subject(plan=plan, table=table, config=config)
    data = DataPlan(dataset="", file=table.title) if table.uploaded else DataPlan(dataset=table.name)
    model, model_file = ModelPlan(), None
    threshold = roles.threshold
    roles = replace(roles, threshold=model.threshold)
    answered = cached.own_model() if table.uploaded else None
    columns = (roles.prediction, roles.score)
    if answered is not None and columns == (answered.prediction, answered.score):
        model_file, table = answered.model_file, answered.asked
        model = ModelPlan(
            kind="file",
            file=answered.name,
            threshold=answered.threshold,
            features=answered.features,
            positive=answered.positive,
        )
        roles = replace(roles, prediction="", score="")
    elif roles.gives_predictions:
        model = ModelPlan(kind="predictions", threshold=threshold)
    plan = AuditPlan(data=data, model=model, config=replace(config, roles=roles), **parts)
    return Subject(plan=plan, table=table, config=config, model_file=model_file)
