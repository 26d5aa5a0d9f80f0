"""What a release audit is about: its policy, the plan that sidebar and page describe, the form that asks for the rest.

A policy is one of FairLeak's or the user's file, with the limits changed on the page. Policies stay in the session. A
file that breaks a rule is answered in one sentence; the policy before it stays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
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
    catalogue_plan,
    suggested_outputs,
)
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
from core.base.serialize import fingerprint
from core.base.settings import params
from core.datasets.dataset import Table
from core.models import GIVEN_PREDICTIONS
from core.studies.people import PEOPLE, PeopleSettings
from core.studies.subject import AuditConfig
from pages.shell import cached, panels, shell, signin
from pages.shell.controls import control, filled

if TYPE_CHECKING:
    from core.auditing.result import StudyFindings
    from core.models.model_files import ModelFile

# Policy ---------------------------------------------------------------------------------------------------------------

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


def policy_name(config: AuditConfig) -> str:
    """Return which policy is chosen; before anybody has, the one that asks for what is at hand."""
    roles = config.roles
    has_scores_and_sets = (
        roles is not None and roles.score and (roles.sets or cached.answering(roles))
    )
    # alone: what needs scores, or whom the model was trained on, cannot be run
    alone = config.method == GIVEN_PREDICTIONS and not has_scores_and_sets
    first = "predictions" if alone else "default"
    name = str(st.session_state.get(_CHOSEN) or first)
    if name in _offered():
        return name
    return "default"


def _base(config: AuditConfig) -> Policy:
    return _offered()[policy_name(config)][1]()


def current_policy(config: AuditConfig) -> Policy:
    """Return the chosen policy as it stands, changes of this session included."""
    changed: Policy | None = st.session_state.get(_CHANGED, {}).get(policy_name(config))
    return changed or _base(config)


def keep_policy(config: AuditConfig, policy: Policy) -> None:
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
    st.session_state.setdefault(_CHANGED, {})[policy_name(config)] = policy


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
    was = limit_text(before.check, before.value)
    if not before.required:
        was += ", not required"
    left: dict[str, Any] = {
        "author": _marked(before.author),
        "date": _today(),
        "rationale": f"Changed on the Report page from {was}; no reason was given.",
        "source": before.source,
    }
    if before.value != after.value:
        left["source"] = ""
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


def choose_policy(config: AuditConfig) -> None:
    """Draw the choice of a policy, and the box for a file; to whom may not set limits, only which it is."""
    if signin.is_officer():
        _choices(config)
    policy = current_policy(config)
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
    st.session_state[_BOX] = policy_name(config)
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
    st.session_state.get(_CHANGED, {}).pop(policy_name(config), None)


_POLICY = "whole"
_LIMIT_PROBLEM = "release_limit_problem"


def policy_editor(config: AuditConfig) -> None:
    """Draw the choice of a limit and its form; a change is applied at once."""
    if not signin.is_officer():
        st.caption("The limits are an officer's to set.")
        return
    policy = current_policy(config)
    limits = {limit.check: limit for limit in policy.limits}
    attribute = config.roles.attribute if config.roles else "the attribute"

    def title(name: str) -> str:
        if name == _POLICY:
            return "Name, author and confidence of the whole policy"
        title_text = CHECKS[name].title.format(attribute=attribute)
        title_text = title_text[:1].upper() + title_text[1:]
        if name in limits:
            return title_text
        return f"{title_text} (not covered)"

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
            keep_policy(config, changed)
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
    side = "At least" if definition.at_least else "At most"
    typed = left.number_input(
        f"{side}, {unit.axis.lower()}",
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
    places: list[Any] = [columns[i % 2] for i in range(len(names))]
    for i, name in enumerate(names):
        if settings[name].param.form == "prose":
            places[i] = st
    values = filled(about, names, key, places)
    texts = {name: value.strip() for name, value in values.items() if isinstance(value, str)}
    return {**values, **texts}


def _policy_form(policy: Policy, mark: str) -> Policy | None:
    """Draw the form of what is said of the policy as a whole; returns the changed policy."""
    values = _widgets(
        policy, ("name", "version", "author", "date", "level", "rationale"), f"policy_{{}}_{mark}"
    )
    if not st.form_submit_button("Apply policy", key=f"policy_keep_{mark}", type="primary"):
        return None
    return replace(policy, **values)


# Plan -----------------------------------------------------------------------------------------------------------------

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
    roles = config.roles or table.roles[0]
    if config.method != GIVEN_PREDICTIONS:
        return OutputsPlan()
    if cached.answering(roles) is None:
        kind = "predictions"
    else:
        kind = "file"
    return suggested_outputs(cached.dataset_of(table, roles), kind)


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
        roles = replace(roles, prediction="", score="")
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
    if people:  # with these answers and shadow models
        noise: dict[str, Any] = {"noise": answers.mechanism, "answer_epsilon": answers.epsilon}
        people_settings = PeopleSettings(
            answers=answers.questions, shadows=membership.shadows, **noise
        )
        parts["studies"] = ((PEOPLE.name, people_settings),)
    st.session_state[_REQUEST] = AuditPlan(**parts)
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
