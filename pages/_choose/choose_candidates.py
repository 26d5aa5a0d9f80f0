"""Choose a model: the controls, the comparison of models in the background, and what follows it.

The controls say which models are compared, what is preferred, and which limits count. What follows is the list of
candidates, the model that is audited, and the command that repeats the choice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.auditing import AuditPlan, ModelPlan, plan_text
from core.auditing.inputs import refuse_blocking
from core.auditing.policy import VERDICT_TITLES, Policy, limit_text, policy_text
from core.auditing.policy.limits import check_title
from core.base.errors import InputError
from core.base.serialize import fingerprint
from core.base.settings import params
from core.base.settings_text import flags_text
from core.datasets.dataset import Table
from core.datasets.input_check import check_input
from core.datasets.roles import Roles
from core.experiments.choose import (
    LEAKS,
    PREFERENCES,
    Candidate,
    CandidatePoint,
    CandidateSet,
    Choice,
    ChooseSettings,
    candidate_configs,
    measure_all,
)
from core.experiments.choose.findings import leak_text, order_texts, report_section, short_check
from core.experiments.engine import stored_points
from core.models import GIVEN_PREDICTIONS, METHOD_TITLES, PRIVATE_METHODS, TOLERANCE_METHODS
from core.stats.estimates import epsilon_text, percent, tolerance_text
from core.studies.subject import AuditConfig
from pages._report import report_plan
from pages.shell import cached, panels, shell, state
from pages.shell.background import Background, Job, pace
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
    configs = candidate_configs(_base(config, table), settings, (config.seed,))
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
    configs = candidate_configs(plan, settings, range(config.seed, config.seed + seeds))
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
    meaning = roles.prediction_positive * (answers["prediction"] == roles.prediction)
    return replace(
        roles,
        excluded=left_out,
        prediction=answers["prediction"],
        score=answers["score"],
        prediction_positive=meaning,
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
        note = "" if limit.required else " (for information)"
        lines.append(f"- {title}: {shell.escape(limit_text(limit.check, limit.value))}{note}")
    st.markdown(f"**{shell.escape(policy.name)}**, version {shell.escape(policy.version)}")
    st.markdown("\n".join(lines))
    shell.link("report", "Change the limits on Report, under Policy and limits")


# The comparison -------------------------------------------------------------------------------------------------------

_JOBS = 2


class ChooseRun(Background):
    """Candidates measured one after the other; those that are stored already are not measured again."""

    def __init__(
        self, candidate_sets: Sequence[CandidateSet], minutes: float, dataset_name: str
    ) -> None:
        self.candidate_sets = list(candidate_sets)
        self.minutes = minutes
        self.dataset_name = dataset_name
        self.points: Any = None
        self.left: list[CandidateSet] = []
        parts = [
            [item.name, item.dataset.fingerprint, list(item.configs), list(item.parts)]
            for item in candidate_sets
        ]
        total = sum(len(candidate_set.configs) for candidate_set in candidate_sets)
        store = cached.store_of(dataset_name)
        super().__init__(
            "choose",
            store,
            fingerprint("choose", parts, minutes),
            self._run,
            lane="sweep",
            total=total,
        )

    def initial_partial(self) -> list[CandidatePoint]:
        """Return the stored points of these models, and note which models have none."""
        self.points = cached.point_store(self.dataset_name)  # the job may not call Streamlit
        self.left = []
        finished: list[CandidatePoint] = []
        for candidate_set in self.candidate_sets:
            stored = stored_points(
                candidate_set.configs,
                candidate_set.dataset,
                self.points,
                parts=candidate_set.parts,
                result=CandidatePoint,
            )
            finished += stored.values()
            missing = [config for config in candidate_set.configs if config not in stored]
            if missing:
                self.left.append(replace(candidate_set, configs=missing))
        return finished

    def recall(self) -> None:
        """Take the result from the stored points, where that is all of it: nothing has to wait for a place."""
        if self.result is None and not self.busy:
            points = self.initial_partial()
            if not self.left:
                self.store.put(self.key, points)

    @property
    def progress(self) -> str:
        """How many of the models are measured: "12 of 18 models"."""
        return f"{len(self.result or self.partial)} of {self.total} models"

    def show_progress(self) -> None:
        """Show how far it is, with a button that stops it, or that goes on."""
        label = f"Stopped after {self.progress}. Go on"
        self.show(lambda job: f"{self.progress} done, {pace(job)}", label, again="Try again")

    def _run(self, job: Job) -> list[CandidatePoint]:
        if not self.left:
            return list(job.partial)
        return job.collect(
            measure_all(self.left, seconds=60 * self.minutes, n_jobs=_JOBS, store=self.points)
        )


# The candidates -------------------------------------------------------------------------------------------------------

_MOST_LISTED = 24
"""Rows of the table beside the chart at most; the file has all."""

_VERDICTS = {
    "pass": ":green[:material/check_circle:] Pass",
    "fail": ":red[:material/cancel:] Fail",
    "inconclusive": ":orange[:material/help:] Inconclusive",
    "not_run": ":gray[:material/do_not_disturb_on:] Not run",
}


def short_title(point: CandidatePoint) -> str:
    """Name of a candidate in a narrow column, without its depth: "Exp. gradient 0.05"."""
    config = point.config
    if point.name:
        return point.name
    name = METHOD_NAMES[config.method]
    if config.method in TOLERANCE_METHODS:
        name = f"{name} {tolerance_text(config.tolerance)}"
    if config.method in PRIVATE_METHODS:
        name = f"{name} ε = {epsilon_text(config.epsilon)}"
    return name


def draw_table(choice: Choice) -> None:
    """Draw the best candidates, the chosen one in bold."""
    import pandas as pd

    title, full = order_texts(choice)
    count_note = ""
    if len(choice.candidates) > _MOST_LISTED:
        count_note = f"; the first {_MOST_LISTED} are shown"
    shell.whisper(
        title,
        f"On the half that chooses: {full}{count_note}. The finding's test accuracy is from the half that judges",
    )
    with st.container(key="choose_table"):
        rows = [_table_row(choice, candidate) for candidate in choice.candidates[:_MOST_LISTED]]
        st.table(pd.DataFrame(rows), hide_index=True)


def _table_row(choice: Choice, candidate: Candidate) -> dict[str, str]:
    first = candidate.points[0]
    half = candidate.choosing
    bold = "**" if candidate is choice.chosen else ""
    row = {"Model": f"{bold}{shell.escape(short_title(first))}{bold}"}
    if not first.name:
        row["Depth"] = str(first.config.depth)
    row["Acc."] = f"{bold}{percent(half.accuracy)}{bold}"
    attack = short_check(half.leaking, choice.attribute).partition(" (")[0]
    row["Worst leak"] = f"**{leak_text(half.leak)}** {shell.escape(attack)}"
    if choice.prefer == "leak" and candidate in choice.shown_leakier:
        row["Worst leak"] += ", shown to leak more"
    row["Verdict"] = _VERDICTS.get(half.status, VERDICT_TITLES[half.status])
    if half.blocking:
        row["Verdict"] += f": {shell.escape(short_check(half.blocking[0].check, choice.attribute))}"
    return row


# The model that is audited --------------------------------------------------------------------------------------------


def choose_audited(
    choice: Choice, candidate_sets: list[CandidateSet], policy: Policy, table_fingerprint: str
) -> None:
    """Choose a candidate, and make it the audited model by a button that opens its Report."""
    options = {
        title: _short_label(candidate) for title, candidate in _candidates_by_title(choice).items()
    }
    options[""] = "The model named above"
    panels.choose(
        "Model to audit", options, key="choose_audited", label_visibility="collapsed", width=260
    )
    arguments = (choice, candidate_sets, policy, table_fingerprint)
    st.button(
        "Audit this model", key="audit_chosen", type="primary", on_click=_audit, args=arguments
    )


def _candidates_by_title(choice: Choice) -> dict[str, Candidate]:
    """Candidates by their titles; the one that the finding names has none and stands first."""
    return {"": choice.chosen} | {candidate.title: candidate for candidate in choice.candidates}


def _short_label(candidate: Candidate) -> str:
    """Name of a candidate in a list: "Exp. gradient 0.05, depth 4"."""
    first = candidate.points[0]
    if first.name:
        return first.name
    return f"{short_title(first)}, depth {first.config.depth}"


def _audit(
    choice: Choice, candidate_sets: list[CandidateSet], policy: Policy, table_fingerprint: str
) -> None:
    """Make the candidate of the list the audited model; the page then opens its Report."""
    picked = _candidates_by_title(choice).get(st.session_state["choose_audited"], choice.chosen)
    first = picked.points[0]
    config = first.config
    if config.method != GIVEN_PREDICTIONS:
        state.choose_model(config)
    elif config.roles is not None:
        state.keep_roles(state.dataset_name(), config.roles)
    if len(choice.candidates) > 1:
        outputs = next(item.plan.outputs for item in candidate_sets if item.name == first.name)
        section = report_section(choice, picked)
        st.session_state[report_plan.CHOSEN] = (
            config,
            table_fingerprint,
            (outputs, policy),
            section,
        )
    st.session_state["choose_report"] = True


# The command ----------------------------------------------------------------------------------------------------------


def offer_command(
    candidate_set: CandidateSet, policy: Policy, settings: ChooseSettings, effect: str
) -> None:
    """Offer the files and the command that make the same choice; `effect` says what the command does."""
    table_file = candidate_set.plan.data.file
    plan = replace(candidate_set.plan, policy="policy.toml")
    seeds = ",".join(map(str, dict.fromkeys(config.seed for config in candidate_set.configs)))
    if table_file:
        beside = f" beside your table, `{shell.escape(table_file)}`"
    else:
        beside = ""
    with st.popover("Repeat it", icon=":material/terminal:", key="choose_repeat"):
        st.markdown(
            f"Save both files{beside}. The command {effect}; the model's plan is then in chosen.toml."
        )
        with st.container(horizontal=True):
            panels.download(
                "choose.toml", lambda: plan_text(plan).encode(), "choose.toml", key="choose_plan"
            )
            panels.download(
                "policy.toml",
                lambda: policy_text(policy).encode(),
                "policy.toml",
                key="choose_policy_file",
            )
        command = (
            f"fairleak choose choose.toml -o chosen.toml --seeds {seeds} {flags_text(settings)}"
        )
        st.code(command, language="bash", wrap_lines=True)
        st.caption(
            "Not installed? In FairLeak's folder, `.venv/bin/python -m core` stands for `fairleak`; give both files "
            "with their whole paths."
        )
