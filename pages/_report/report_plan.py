"""What a release audit is about: the plan that sidebar and page describe, and the forms that ask for the rest.

One form asks what is attacked. In the other the model's owner states purpose, owner, next review, and which attackers
are met. None of that is measured, so that a changed statement needs no new attack. It stands in the brief, the plan and
the report, and the register takes purpose, owner and review from there when the audit is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import streamlit as st

from core.auditing import (
    AttriGuardSettings,
    AuditPlan,
    BiasQueriesSettings,
    DataPlan,
    MembershipSettings,
    ModelPlan,
    OutputsPlan,
    RegisterPlan,
    catalogue_plan,
    suggested_outputs,
)
from core.auditing.plausible_attackers import ATTACKERS, AttackersPlan, Met
from core.auditing.policy import Policy
from core.base.serialize import fingerprint
from core.base.settings import params
from core.datasets.dataset import Table
from core.models import GIVEN_PREDICTIONS
from core.store.history import today
from core.studies.people import PEOPLE
from core.studies.subject import AuditConfig
from pages._report.report_policy import current_policy
from pages.shell import cached, panels, shell
from pages.shell.controls import control, filled

if TYPE_CHECKING:
    from core.auditing.result import StudyFindings
    from core.models.model_files import ModelFile

P = TypeVar("P", BiasQueriesSettings, MembershipSettings, AttriGuardSettings)

_REQUEST = "release_asked"
_RELEASED = "release_outputs"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRequest:
    """What is audited: the plan, and the table as it was uploaded, where a model file answers."""

    plan: AuditPlan
    table: Table
    policy: Policy
    """By which the audit decides what else it tries; a changed limit needs no new audit."""
    model_file: ModelFile | None = None
    picked: bool = False
    """Whether it was picked from several in this session."""
    tried_for: str = ""
    """Policy, by its fingerprint, for which narrower releases are tried again; empty for that of the first audit."""
    chosen: StudyFindings | None = None
    """How it was chosen, where this was by the policy and for the outputs that it is audited with."""


CHOSEN = "chosen_model"
"""Where the session keeps the picked model's settings, its table's fingerprint, outputs and policy of the choice, and
how it was chosen."""


def _chosen(config: AuditConfig, table: Table, outputs: OutputsPlan) -> dict[str, Any]:
    """Return what a subject says of how the model of these settings, roles included, was chosen."""
    picked_config, of, basis, choice_findings = st.session_state.get(CHOSEN, (None, "", (), None))
    if (
        picked_config is not None and config.method == GIVEN_PREDICTIONS
    ):  # of given predictions the tolerance is only assumed
        picked_config = replace(picked_config, tolerance=config.tolerance)
    picked = (picked_config, of) == (config, table.fingerprint)
    if not (picked and basis == (outputs, current_policy(config))):
        choice_findings = None
    return {"picked": picked, "chosen": choice_findings}


def plan_of(config: AuditConfig, table: Table) -> AuditPlan:
    """Return what was asked on the page, or what is asked before anybody has: what the model at hand allows.

    It is a plan whose data, model and settings are still to be filled in from the sidebar. Title and outputs go with
    the people and predictions they were said of; everything else stays for others.
    """
    plan = _asked_before()
    if config.method == GIVEN_PREDICTIONS:  # no shadow models are trained
        plan = replace(plan, membership=replace(plan.membership, shadows=0))
    outputs_by_subject: dict[Any, tuple[str, OutputsPlan]] = st.session_state.get(_RELEASED, {})
    title, outputs = outputs_by_subject.get(_released_of(config, table)) or (
        "",
        _first_outputs(config, table),
    )
    return replace(plan, title=title, outputs=outputs)


def _asked_before() -> AuditPlan:
    first = catalogue_plan("demo")
    request: AuditPlan | None = st.session_state.get(_REQUEST)
    return request or AuditPlan(
        bias_queries=first.bias_queries, membership=first.membership, attriguard=first.attriguard
    )


def _released_of(config: AuditConfig, table: Table) -> tuple[Any, ...]:
    roles = config.roles
    return (
        table.fingerprint,
        config.method == GIVEN_PREDICTIONS,
        roles and roles.prediction,
        roles and roles.score,
    )


def _first_outputs(config: AuditConfig, table: Table) -> OutputsPlan:
    kind = cached.model_kind(config)
    if kind == "train":
        return OutputsPlan()
    return suggested_outputs(cached.dataset_of(table, config.roles), kind)


def subject(config: AuditConfig, table: Table, requested_plan: AuditPlan) -> AuditRequest:
    """Return what the settings describe; as a plan the command line reads from a file and repeats."""
    roles = config.roles or table.roles[0]
    chosen = _chosen(config, table, requested_plan.outputs)
    policy_mark = fingerprint(current_policy(config))
    if st.session_state.get(_TRIED) == policy_mark:
        chosen["tried_for"] = policy_mark
    if roles in table.roles:
        data = DataPlan(dataset=table.name, attribute=roles.key)
        plan = replace(requested_plan, data=data, config=replace(config, roles=None))
        return AuditRequest(plan=plan, table=table, policy=current_policy(config), **chosen)
    if table.uploaded:
        data = DataPlan(dataset="", file=table.title)
    else:
        data = DataPlan(dataset=table.name)
    model = ModelPlan()
    model_file = None
    threshold = roles.threshold
    roles = replace(roles, threshold=model.threshold)
    if table.uploaded and (answered := cached.answering(roles)) is not None:
        model_file = answered.model_file
        table = answered.source_table
        model = answered.plan
        roles = replace(roles, prediction="", score="", prediction_positive="")
    elif roles.gives_predictions:
        model = ModelPlan(kind="predictions", threshold=threshold)
    plan = replace(requested_plan, data=data, model=model, config=replace(config, roles=roles))
    return AuditRequest(
        plan=plan,
        table=table,
        policy=current_policy(config),
        model_file=model_file,
        **chosen,
    )


def released(outputs: OutputsPlan) -> str:
    """Say what is released about each person."""
    if outputs.released == "labels":
        return "Labels only"
    if outputs.decimals is None:
        return "Scores as they are"
    return f"Scores rounded to {outputs.decimals} decimal{'s' * (outputs.decimals != 1)}"


_MOST_DECIMALS = 6
_SHADOWS = (0, 4, 8, 16, 32, 64, 128)


def attacks(config: AuditConfig, table: Table) -> None:
    """Draw the form of the plan; its button starts the attacks again."""
    now = plan_of(config, table)
    mark = fingerprint("asked", now)[:8]
    shell.whisper("Audit plan", "Model and fairness constraint are set in the sidebar")
    with st.form(f"attacks_{mark}"):
        left, right = st.columns(2, vertical_alignment="bottom")
        options: dict[str, Any] = {
            "help": None,
            "placeholder": "the table's",
            "persist_state": None,
        }
        title = control(
            params(AuditPlan)["title"],
            f"asked_title_{mark}",
            container=left,
            value=now.title,
            **options,
        )
        offered = _outputs(config, now.outputs)
        outputs = right.selectbox(
            params(OutputsPlan)["released"].param.title,
            offered,
            index=offered.index(now.outputs),
            key=f"asked_outputs_{mark}",
            format_func=released,
            help="Attacks use all of it: scores with the decimals they are released with, and the labels.",
        )
        answers = _edited_part(
            now.bias_queries, ("questions", "people", "mechanism", "epsilon"), mark
        )
        shadows = sorted({*_SHADOWS, now.membership.shadows})
        slider_options: dict[str, Any] = {
            "options": shadows,
            "disabled": config.method == GIVEN_PREDICTIONS,
        }
        membership = _edited_part(
            now.membership, ("shadows",), mark, kind="select_slider", **slider_options
        )
        guard = _edited_part(now.attriguard, ("budget",), mark)
        people = st.checkbox(
            "List people at risk (internal report only)",
            now.people is not None,
            key=f"asked_listed_{mark}",
            help="Attacks up to 1,000 training records with these answers and shadow models, and lists whom they find. "
            "Nothing of it stands in the public summary.",
        )
        if not st.form_submit_button("Run the attacks", key=f"asked_keep_{mark}", type="primary"):
            return
    if config.method == GIVEN_PREDICTIONS:
        membership = _asked_before().membership
    parts: dict[str, Any] = {"bias_queries": answers, "membership": membership, "attriguard": guard}
    request = AuditPlan(**parts)
    if people:
        request = replace(request, studies=((PEOPLE.name, request.people_settings),))
    st.session_state[_REQUEST] = request
    st.session_state[_RELEASED] = {_released_of(config, table): ((title or "").strip(), outputs)}
    st.rerun()


_TRIED = "release_tried_for"


def try_narrower(config: AuditConfig) -> None:
    """Attack again from now on, so that narrower releases are tried for the policy as it stands."""
    st.session_state[_TRIED] = fingerprint(current_policy(config))


def release_instead(config: AuditConfig, table: Table, outputs: OutputsPlan) -> None:
    """Audit another release of the same model from now on."""
    title = plan_of(config, table).title
    st.session_state[_RELEASED] = {_released_of(config, table): (title, outputs)}


def _edited_part(part: P, names: tuple[str, ...], mark: str, **options: Any) -> P:
    """Draw the widgets of some settings of a part of the plan beside each other; return the part as it is set."""
    places = st.columns(len(names), vertical_alignment="bottom")
    return replace(part, **filled(part, names, f"asked_{{}}_{mark}", places, **options))


def _outputs(config: AuditConfig, now: OutputsPlan) -> list[OutputsPlan]:
    """Return what can be released: of given labels without scores only these."""
    labels = OutputsPlan(released="labels")
    if config.method == GIVEN_PREDICTIONS and not (config.roles and config.roles.score):
        return [labels]
    rounded = [OutputsPlan(decimals=places) for places in range(1, _MOST_DECIMALS + 1)]
    offered = [OutputsPlan(), *rounded, labels]
    if now in offered:
        return offered
    return [now, *offered]


# What the owner states ------------------------------------------------------------------------------------------------

_STATED = "release_stated"
"""Where the session keeps the statements: on a table's model by its use, and on attackers."""

_STATEMENT_PROBLEM = "release_statement_problem"
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
    panels.kept_problem(_STATEMENT_PROBLEM)
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
    with panels.keeping_problem(_STATEMENT_PROBLEM):
        texts = {name: value or "" for name, value in use.items()}
        stated = (RegisterPlan(**texts), AttackersPlan(author=author, date=day, **statements))
        st.session_state[_STATED] = {
            **st.session_state.get(_STATED, {}),
            table.fingerprint: stated,
        }
        st.rerun()
