"""The controls of Choose a model: which models are compared, what is preferred, and which limits count."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.auditing import AuditPlan, ModelPlan
from core.auditing.inputs import refuse_blocking
from core.auditing.policy import Policy, limit_text
from core.auditing.policy.limits import check_title
from core.base.errors import InputError
from core.base.settings import params
from core.datasets.dataset import Table
from core.datasets.input_check import check_input
from core.datasets.roles import Roles
from core.experiments.choose import LEAKS, PREFERENCES, CandidateSet, ChooseSettings, candidates
from core.models import GIVEN_PREDICTIONS, METHOD_TITLES
from core.stats.estimates import epsilon_text, tolerance_text
from core.studies.subject import AuditConfig
from pages._report import report_plan
from pages.shell import cached, panels, shell, state
from pages.shell.controls import control

METHOD_NAMES = {
    "exponentiated_gradient": "Exp. gradient",
    "correlation_remover": "Corr. remover",
    "threshold_optimizer": "Threshold opt.",
    "unmitigated": "No mitigation",
    "dp_id3": "Private tree",
    "private_fair": "Private fair tree",
}
"""Methods on offer, and what to call each in a narrow column."""

_SETTINGS = params(ChooseSettings)
_MINUTES = {math.inf: "No limit", 1.0: "1 minute", 5.0: "5 minutes", 15.0: "15 minutes"}
_OFFERED: dict[str, dict[Any, str]] = {
    "methods": {name: METHOD_TITLES[name] for name in METHOD_NAMES},
    "tolerances": {
        value: tolerance_text(value) for value in (0.0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
    },
    "epsilons": {value: epsilon_text(value) for value in (0.3, 1.0, 3.0, 10.0, 30.0, math.inf)},
    "depths": {value: str(value) for value in (2, 3, 4, 6, 8, 10)},
}
"""Setting -> values on offer, and what to call each."""


def requested_choice(
    config: AuditConfig, table: Table, policy: Policy
) -> tuple[list[CandidateSet], ChooseSettings]:
    """Draw the controls in one row; return the models to be compared, and the settings of the choice.

    Raises InputError where they cannot be compared.
    """
    row = st.container(horizontal=True, vertical_alignment="bottom", key="choose_controls")
    if config.method == GIVEN_PREDICTIONS:
        columns = _columns(row, config, table)
        settings, _ = _choice_settings(row, config, table, policy, {})
        if not columns:
            raise InputError(
                "There must be at least one column of predictions or scores, got none."
            )
        return [_column_set(config, table, column) for column in columns], settings
    settings, seeds = _choice_settings(row, config, table, policy, _models(row, config, table))
    return [_trained_set(config, table, settings, seeds)], settings


# Which models ---------------------------------------------------------------------------------------------------------


def _models(row: DeltaGenerator, config: AuditConfig, table: Table) -> dict[str, tuple[Any, ...]]:
    """Choose the models that are trained: methods, tolerances, privacy budgets and depths."""
    models: dict[str, tuple[Any, ...]] = {}
    with row.popover(_models_title(config, table), icon=":material/tune:", key="choose_compared"):
        for name, titles in _OFFERED.items():
            values = control(
                _SETTINGS[name],
                f"choose_{name}",
                kind="multiselect",
                help=None,
                options=titles,
                format_func=lambda value, titles=titles: titles.get(value, str(value)),
            )
            if values:
                models[name] = tuple(values)
    return models


def _models_title(config: AuditConfig, table: Table) -> str:
    """Name of the popover, "Methods 5 · Models 18"; the widgets inside may not be drawn yet."""
    stored = {name: tuple(st.session_state.get(f"choose_{name}") or ()) for name in _OFFERED}
    models: dict[str, Any] = {name: values for name, values in stored.items() if values}
    settings = ChooseSettings(**models)
    configs = candidates(_base(config, table), settings, (config.seed,))
    return f"Methods {len(settings.methods)} · Models {len(configs)}"


def _base(config: AuditConfig, table: Table) -> AuditPlan:
    """Return the plan that all trained candidates are made of."""
    plan = report_plan.subject(config, table, report_plan.plan_of(config, table)).plan
    roles = cached.dataset_of(table, config.roles).roles
    return replace(plan, config=replace(config, roles=roles, tolerance=0.0, epsilon=math.inf))


def _trained_set(
    config: AuditConfig, table: Table, settings: ChooseSettings, seeds: int
) -> CandidateSet:
    """Candidates that are trained, with so many seeds from the audited one's on."""
    dataset = cached.dataset_of(table, config.roles)
    plan = _base(config, table)
    configs = candidates(plan, settings, range(config.seed, config.seed + seeds))
    return CandidateSet(configs, dataset, plan)


# Which columns of answers ---------------------------------------------------------------------------------------------


def _columns(row: DeltaGenerator, config: AuditConfig, table: Table) -> list[str]:
    """Choose the columns of answers that are compared: those the roles name, and those they leave out."""
    roles = cached.dataset_of(table, config.roles).roles
    audited = [column for column in (roles.prediction or roles.score,) if column]
    offered = [*audited, *(column for column in roles.excluded if column in table.frame.columns)]
    with row.popover("Columns", icon=":material/tune:", key="choose_compared"):
        columns = st.multiselect(
            "Columns of predictions or scores", offered, default=offered[:1], key="choose_columns"
        )
        st.caption("Columns left out on the Data page can hold the answers of other models.")
    return columns or offered[:1]


def _column_set(config: AuditConfig, table: Table, column: str) -> CandidateSet:
    """Candidate whose answers stand in a column; no other column of answers is a feature."""
    roles = _roles_with_answers(cached.dataset_of(table, config.roles).roles, table, column)
    column_config = replace(config, roles=roles)
    refuse_blocking(cached.once(check_input, table, roles))
    plan = replace(
        report_plan.plan_of(column_config, table),
        model=ModelPlan(kind="predictions"),
        config=column_config,
    )
    return CandidateSet([column_config], cached.built(table, roles), plan, column)


def _roles_with_answers(roles: Roles, table: Table, column: str) -> Roles:
    """Roles by which a column holds the answers; the audited model's labels and scores stay together."""
    answers = {"prediction": roles.prediction, "score": roles.score}
    excluded = dict.fromkeys([*roles.excluded, *filter(None, answers.values())])
    if column not in answers.values():
        values = table.frame[column].dropna()
        is_prediction = values.nunique() <= 2 or bool(values.isin(table.frame[roles.label]).all())
        if is_prediction:
            answers = {"prediction": column, "score": ""}
        else:
            answers = {"prediction": "", "score": column}
    left_out = tuple(name for name in excluded if name not in answers.values())
    return replace(
        roles, excluded=left_out, prediction=answers["prediction"], score=answers["score"]
    )


# How it is chosen -----------------------------------------------------------------------------------------------------


def _choice_settings(
    row: DeltaGenerator, config: AuditConfig, table: Table, policy: Policy, models: dict[str, Any]
) -> tuple[ChooseSettings, int]:
    """Choose what is preferred and which limits count; return the settings with the number of seeds."""
    prefer = panels.pick(
        _SETTINGS["prefer"].param.title,
        PREFERENCES,
        key="choose_prefer",
        default="accuracy",
        help="Among models within all limits. Without any, of those accurate enough: the nearest, or the least leak.",
        container=row,
        **state.bind("choose_prefer"),
    )
    least_accuracy = _least_accuracy(row, config, table)
    with row.popover("Leak and limits", icon=":material/rule:", key="choose_policy"):
        labels = LEAKS | {"attribute": shell.escape(state.attribute_of(config))}
        leak = panels.pick(
            "Worst leak of", labels, key="choose_leak", default="all", **state.bind("choose_leak")
        )
        _draw_limits(config, policy)
    with row.popover("Sweep settings", icon=":material/settings:", key="choose_sweep"):
        has_predictions = config.method == GIVEN_PREDICTIONS
        seeds = panels.pick(
            "Seeds", [1, 3, 5], key="choose_seeds", default=1, disabled=has_predictions
        )
        minutes = panels.choose("Time budget", _MINUTES, key="choose_minutes")
    settings = ChooseSettings(
        **models, prefer=prefer, leak=leak, least_accuracy=least_accuracy, minutes=minutes
    )
    return settings, int(seeds)


def _least_accuracy(row: DeltaGenerator, config: AuditConfig, table: Table) -> float:
    """Choose the least accuracy; it starts at the majority class of the table."""
    positive = cached.dataset_of(table, config.roles).labels.mean()
    first = math.ceil(100 * max(positive, 1 - positive))
    state.follow("choose_least", first)
    percent = row.slider(
        _SETTINGS["least_accuracy"].param.title,
        min_value=0,
        max_value=100,
        value=first,
        format="%d%%",
        key="choose_least",
        width=200,
        help="Models below it on the half that chooses are not chosen. It starts at the table's majority class.",
        persist_state="session",
        **state.bind("choose_least"),
    )
    return percent / 100


def _draw_limits(config: AuditConfig, policy: Policy) -> None:
    """List the limits that count."""
    if config.roles:
        attribute = config.roles.attribute
    else:
        attribute = "the attribute"
    lines = []
    for limit in policy.limits:
        title = shell.escape(check_title(limit.check, attribute))
        note = "" if limit.required else " (not required)"
        lines.append(f"- {title}: {shell.escape(limit_text(limit.check, limit.value))}{note}")
    st.markdown(f"**{shell.escape(policy.name)}**, version {shell.escape(policy.version)}")
    st.markdown("\n".join(lines))
    shell.link("report", "Change the limits on Report, under Policy and limits")
