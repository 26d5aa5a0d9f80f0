"""Choose a model: many models compared under one policy, the best within all limits, judged on fresh people."""

from __future__ import annotations

from pages.shell import shell

shell.guard()

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from core.base.errors import InputError
from core.base.files import csv_of_frame
from core.base.fingerprint import fingerprint
from core.base.settings import flags_text, params
from core.datasets.roles import Roles
from core.models import GIVEN_PREDICTIONS, METHOD_TITLES, PRIVATE_METHODS, TOLERANCE_METHODS
from core.stats.estimates import epsilon_text, percent, tolerance_text
from pages._report import report_plan
from pages._report import report_policy as policies
from pages.shell import cached, panels, state
from pages.shell.background import Background, Job, ensure_started, pace
from pages.shell.controls import control

shell.head()
opening = st.container()
config, table = cached.audited()
if st.session_state.pop("choose_report", False):  # before anything that may stop the page
    st.switch_page("pages/report.py", query_params={})  # without a mapping it refuses to drop bound ones

from core.auditing.policy import VERDICT_TITLES, limit_text, policy_text
from core.auditing.policy.checks import check_title
from core.experiments.choose import (
    LEAKS,
    PREFERENCES,
    CandidatePoint,
    CandidateSet,
    ChooseSettings,
    Outcomes,
    candidates,
    choose,
    measure_all,
)
from core.experiments.choose.charts import draw_choice
from core.experiments.choose.findings import (
    choice_reason,
    finding,
    leak_text,
    numbers,
    order,
    report_section,
    rows,
    short_check,
)
from core.experiments.sweep import point_key
from core.studies.registry import STUDIES

trained = config.method != GIVEN_PREDICTIONS
dataset = cached.dataset_of(table, config.roles)

_SETTINGS = params(ChooseSettings)
_MINUTES = {math.inf: "No limit", 1.0: "1 minute", 5.0: "5 minutes", 15.0: "15 minutes"}
_JOBS = 2
_MOST_LISTED = 24
"""Rows of the table beside the chart at most; the file has all."""

_NAMES = {
    "exponentiated_gradient": "Exp. gradient",
    "correlation_remover": "Corr. remover",
    "threshold_optimizer": "Threshold opt.",
    "unmitigated": "No mitigation",
    "dp_id3": "Private tree",
    "private_fair": "Private fair tree",
}
_OFFERED: dict[str, dict[Any, str]] = {
    "methods": {name: METHOD_TITLES[name] for name in _NAMES},
    "tolerances": {value: tolerance_text(value) for value in (0.0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)},
    "epsilons": {value: epsilon_text(value) for value in (0.3, 1.0, 3.0, 10.0, 30.0, math.inf)},
    "depths": {value: str(value) for value in (2, 3, 4, 6, 8, 10)},
}
"""Setting -> values on offer, and what to call each."""

_WHY = {
    Outcomes.RECOMMENDED: "Why this one",
    Outcomes.NOT_CONFIRMED: "Why not confirmed",
    Outcomes.NONE: "Why none",
}

_VERDICTS = {
    "pass": ":green[:material/check_circle:] Pass",
    "fail": ":red[:material/cancel:] Fail",
    "inconclusive": ":orange[:material/help:] Inconclusive",
    "not_run": ":gray[:material/do_not_disturb_on:] Not run",
}

GUIDE = (
    "**Question.** Which of many models is the most accurate that meets the policy with its whole interval?\n\n"
    "**Two halves.** One half of the people chooses a model, the other judges it. So the verdict is that of one model, "
    "however many were compared; intervals are wider than in the Report.\n\n"
    "**Worst leak.** The largest gain of an attack over chance, relative to its limit. On grey steps no model is "
    "better in both.\n\n"
    "**Accuracy.** A model is recommended only if it is more accurate than one answer for everybody on both halves "
    "(95%), whatever accuracy is accepted.\n\n"
    "**Prefer.** Balanced: the smallest leak within one standard error of the best accuracy. Without models within "
    "all limits: the nearest to them, or the least leak.\n\n"
    "**Attacks.** LiRA, bias queries and AttriGuard run in the Report alone.\n\n"
    "**Seeds** are replicates, never models to choose from. Private trees that are compared on the same records add "
    "up their ε."
)


class Choosing(Background):
    """Candidates measured one after the other, begun with what is kept from earlier ones."""

    def __init__(self, candidate_sets: Sequence[CandidateSet], minutes: float) -> None:
        self.candidate_sets, self.minutes = list(candidate_sets), minutes
        self.points: Any = None
        self.left: list[CandidateSet] = []
        parts = [
            [
                candidate_set.name,
                candidate_set.dataset.fingerprint,
                list(candidate_set.configs),
                list(candidate_set.measure.parts),
            ]
            for candidate_set in candidate_sets
        ]
        store, total = (
            cached.store_of(config.dataset),
            sum(len(candidate_set.configs) for candidate_set in candidate_sets),
        )
        super().__init__("choose", store, fingerprint("choose", parts, minutes), self._run, lane="sweep", total=total)

    def initial_partial(self) -> list[Any]:
        """Return what is kept of these models."""
        self.points = cached.point_store(config.dataset)  # the job may not call Streamlit
        points: list[CandidatePoint] = []
        self.left = []
        for candidate_set in self.candidate_sets:
            keys = [
                point_key(c, candidate_set.dataset, CandidatePoint, *candidate_set.measure.parts)
                for c in candidate_set.configs
            ]
            stored = [self.points.load(key, CandidatePoint) for key in keys]
            points += [point for point in stored if point is not None]
            left = [config for config, point in zip(candidate_set.configs, stored, strict=True) if point is None]
            self.left += [replace(candidate_set, configs=left)] if left else []
        return points

    def recall(self) -> None:
        """Take the result from what is kept, where that is all of it: nothing has to wait for a place."""
        if self.result is None and not self.busy:
            points = self.initial_partial()
            if not self.left:
                self.store.put(self.key, points)

    def _run(self, job: Job) -> list[Any]:
        if not self.left:
            return list(job.partial)
        return job.collect(measure_all(self.left, seconds=60 * self.minutes, n_jobs=_JOBS, store=self.points))

    def show_progress(self) -> None:
        """Show how far it is, with a button that stops it, or that goes on."""
        progress = f"{len(self.partial)} of {self.total} trainings"
        label = f"Stopped after {progress}. Go on"
        self.show(lambda job: f"{progress} done, {pace(job)}", label, again="Try again")


def requested_choice() -> tuple[list[CandidateSet], ChooseSettings]:
    """Draw the controls and return what is to be measured, with the settings."""
    settings, seeds = _settings(st.container(horizontal=True, vertical_alignment="bottom", key="choose_controls"))
    if not trained:
        return _column_sets(), settings
    plan = report_plan.subject(config, table, report_plan.plan_of(config, table)).plan
    base = replace(config, roles=dataset.roles, tolerance=0.0, epsilon=math.inf)
    configs = candidates(base, settings, range(config.seed, config.seed + seeds))
    return [CandidateSet(configs, dataset, replace(plan, config=base))], settings


def _settings(container: Any) -> tuple[ChooseSettings, int]:
    chosen: dict[str, Any] = {}
    with container.popover(_compared() if trained else "Columns", icon=":material/tune:", key="choose_compared"):
        if trained:
            chosen = {name: _several(name, text) for name, text in _OFFERED.items()}
        else:
            offered = _offered_columns()
            st.multiselect("Columns of predictions or scores", offered, default=offered[:1], key="choose_columns")
            st.caption("Columns left out on the Data page can hold the answers of other models.")
    chosen["prefer"] = panels.pick(
        _SETTINGS["prefer"].param.title,
        PREFERENCES,
        key="choose_prefer",
        default="accuracy",
        help="Among models within all limits. Without any, of those accurate enough: the nearest, or the least leak.",
        container=container,
        **state.bind("choose_prefer"),
    )
    positive = dataset.labels.mean()
    first = math.ceil(100 * max(positive, 1 - positive))
    state.follow("choose_least", first)
    least = container.slider(
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
    chosen["least_accuracy"] = least / 100
    with container.popover("Leak and limits", icon=":material/rule:", key="choose_policy"):
        labels = LEAKS | {"attribute": shell.escape(state.attribute_of(config))}
        bind = state.bind("choose_leak")
        chosen["leak"] = panels.pick("Worst leak of", labels, key="choose_leak", default="all", **bind)
        _limits()
    with container.popover("Sweep settings", icon=":material/settings:", key="choose_sweep"):
        seeds = panels.pick("Seeds", [1, 3, 5], key="choose_seeds", default=1, disabled=not trained)
        chosen["minutes"] = panels.choose("Time budget", _MINUTES, key="choose_minutes")
    return ChooseSettings(**{name: value for name, value in chosen.items() if value != ()}), int(seeds)


def _compared() -> str:
    """Return what the models compared are, in short; the widgets inside may not be drawn yet."""
    chosen: dict[str, Any] = {name: tuple(st.session_state.get(f"choose_{name}") or ()) for name in _OFFERED}
    settings = ChooseSettings(**{name: value for name, value in chosen.items() if value})
    base = replace(config, tolerance=0.0, epsilon=math.inf)
    n_models = len(candidates(base, settings, (config.seed,)))
    return f"Methods {len(settings.methods)} · Models {n_models}"


def _several(name: str, titles: dict[Any, str]) -> tuple[Any, ...]:
    """Choose several values of a setting."""
    options: dict[str, Any] = {"options": titles, "format_func": lambda value: titles.get(value, str(value))}
    values = control(_SETTINGS[name], f"choose_{name}", kind="multiselect", help=None, **options)
    return tuple(values)


def _limits() -> None:
    attribute = config.roles.attribute if config.roles else "the attribute"
    st.markdown(f"**{shell.escape(policy.name)}**, version {shell.escape(policy.version)}")
    lines = [
        f"- {shell.escape(check_title(limit.check, attribute))}: {shell.escape(limit_text(limit.check, limit.value))}"
        + ("" if limit.required else " (not required)")
        for limit in policy.limits
    ]
    st.markdown("\n".join(lines))
    shell.link("report", "Change the limits on Report, under Policy and limits")


def _offered_columns() -> list[str]:
    """Return columns that may hold a model's answers: those the roles name, and those they leave out."""
    roles = dataset.roles
    audited = [column for column in (roles.prediction or roles.score,) if column]
    return [*audited, *(column for column in roles.excluded if column in table.frame.columns)]


def _column_sets() -> list[CandidateSet]:
    """Return the answers in each chosen column; no other column of answers is a feature."""
    from core.auditing import ModelPlan
    from core.auditing.answers import refuse_blocking
    from core.datasets.input_check import check_input

    offered = _offered_columns()
    chosen = [name for name in st.session_state.get("choose_columns") or offered[:1] if name in offered]
    candidate_sets = []
    for column in chosen:
        column_config = replace(config, roles=_roles(column))
        refuse_blocking(cached.once(check_input, table, column_config.roles))
        plan = replace(
            report_plan.plan_of(column_config, table), model=ModelPlan(kind="predictions"), config=column_config
        )
        candidate_sets.append(CandidateSet([column_config], cached.built(table, column_config.roles), plan, column))
    if not candidate_sets:
        raise InputError("There must be at least one column of predictions or scores, got none.")
    return candidate_sets


def _roles(column: str) -> Roles:
    """Return the roles by which a column holds the answers; the audited model's labels and scores stay together."""
    roles = dataset.roles
    answers: dict[str, Any] = {"prediction": roles.prediction, "score": roles.score}
    excluded = dict.fromkeys([*roles.excluded, *filter(None, answers.values())])
    if column not in answers.values():
        values = table.frame[column].dropna()
        labels = values.nunique() <= 2 or values.isin(table.frame[roles.label]).all()
        column_of = "prediction" if labels else "score"
        answers = {"prediction": "", "score": "", column_of: column}
    return replace(roles, excluded=tuple(name for name in excluded if name not in answers.values()), **answers)


def short_title(point: CandidatePoint) -> str:
    """Return what to call a candidate in a narrow column, without its depth: "Exp. gradient 0.05"."""
    config = point.config
    if point.name:
        return point.name
    name = _NAMES[config.method]
    if config.method in TOLERANCE_METHODS:
        name += f" {tolerance_text(config.tolerance)}"
    return f"{name} ε = {epsilon_text(config.epsilon)}" if config.method in PRIVATE_METHODS else name


def _short_label(candidate: Any) -> str:
    """Return what to call a candidate in a list: "Exp. gradient 0.05, depth 4"."""
    first = candidate.points[0]
    return short_title(first) if first.name else f"{short_title(first)}, depth {first.config.depth}"


def draw_table() -> None:
    """Draw the best candidates, the chosen one in bold."""
    import pandas as pd

    count_note = f"; the first {_MOST_LISTED} are shown" if len(choice.candidates) > _MOST_LISTED else ""
    title, full = order(choice)
    note = f"On the half that chooses: {full}{count_note}. The finding's test accuracy is from the half that judges"
    shell.whisper(title, note)
    lines = []
    for candidate in choice.candidates[:_MOST_LISTED]:
        bold = "**" if candidate is choice.chosen else ""
        side = candidate.choosing
        attack = short_check(side.leaking, choice.attribute).partition(" (")[0]
        lines.append(
            {
                "Model": f"{bold}{shell.escape(short_title(candidate.points[0]))}{bold}",
                **({} if candidate.points[0].name else {"Depth": str(candidate.points[0].config.depth)}),
                "Acc.": f"{bold}{percent(side.accuracy)}{bold}",
                "Worst leak": f"**{leak_text(side.leak)}** {shell.escape(attack)}"
                + ", shown to leak more" * (choice.prefer == "leak" and candidate in choice.leak_more),
                "Verdict": _VERDICTS.get(side.status, VERDICT_TITLES[side.status])
                + "".join(f": {shell.escape(short_check(row.check, choice.attribute))}" for row in side.blocking[:1]),
            }
        )
    with st.container(key="choose_table"):
        st.table(pd.DataFrame(lines), hide_index=True)


def repeat() -> None:
    """Offer the files and the command that make the same choice."""
    from core.auditing import plan_text

    (candidate_set,) = candidate_sets
    file_name = candidate_set.plan.data.file
    with st.popover("Repeat it", icon=":material/terminal:", key="choose_repeat"):
        beside = f" beside your table, `{shell.escape(file_name)}`" if file_name else ""
        effect = (
            "finds the same model" if work.result else f"trains all {work.total}, and may find another model than now"
        )
        st.markdown(f"Save both files{beside}. The command {effect}; the model's plan is then in chosen.toml.")
        with st.container(horizontal=True):
            complete_plan = replace(candidate_set.plan, policy="policy.toml")
            panels.download("choose.toml", lambda: plan_text(complete_plan).encode(), "choose.toml", key="choose_plan")
            panels.download(
                "policy.toml", lambda: policy_text(policy).encode(), "policy.toml", key="choose_policy_file"
            )
        seeds = ",".join(map(str, dict.fromkeys(config.seed for config in candidate_set.configs)))
        arguments = f"choose.toml -o chosen.toml --seeds {seeds} {flags_text(settings)}"
        st.code(f"fairleak choose {arguments}", language="bash", wrap_lines=True)
        st.caption(
            "Not installed? In FairLeak's folder, `.venv/bin/python -m core` stands for `fairleak`; give both files "
            "with their whole paths."
        )


def _auditable() -> dict[str, Any]:
    """Return the candidates by their titles; the one named above, whichever it is, has none and stands first."""
    return {"": choice.chosen} | {candidate.title: candidate for candidate in choice.candidates}


def audit() -> None:
    """Make the model picked, at first the chosen one, the audited one, and open its Report."""
    picked = _auditable().get(st.session_state["choose_audited"], choice.chosen)
    chosen = picked.points[0].config
    if chosen.method == GIVEN_PREDICTIONS:
        if chosen.roles is not None:
            state.keep_roles(state.dataset_name(), chosen.roles)
    else:
        values = {"method": chosen.method, "tolerance": chosen.tolerance, "depth": chosen.depth, "seed": chosen.seed}
        if chosen.method in PRIVATE_METHODS:
            values["epsilon"] = chosen.epsilon
        for name, value in values.items():
            state.choose(name, value)
    if len(choice.candidates) > 1:
        outputs = next(
            candidate.plan.outputs for candidate in candidate_sets if candidate.name == picked.points[0].name
        )
        section = report_section(choice, picked)
        st.session_state[report_plan.CHOSEN] = (chosen, table.fingerprint, (outputs, policy), section)
    st.session_state["choose_report"] = True


policy = policies.current(config)
try:
    candidate_sets, settings = requested_choice()
except InputError as error:
    panels.problem(str(error))
    st.stop()
work = Choosing(candidate_sets, settings.minutes)
work.recall()
ensure_started(work)
latest = work.first(work.show_progress)
points = work.result or work.partial
key = fingerprint("choice", work.key, len(points), policy, settings)
try:
    options: dict[str, Any] = {"attribute": state.attribute_of(config), "planned": work.total}
    choice = work.store.remember(key, lambda: choose(points, policy, settings, **options))
except InputError as error:
    panels.problem(str(error))
    st.stop()
result = finding(choice, running=work.busy)
with opening:
    unequal = len({len(candidate.points) for candidate in choice.candidates}) > 1
    so_far = f"Not finished: {len(points)} of {work.total} trainings. " if work.result is None else ""
    so_far += "Some models have fewer seeds, so their order can change. " if so_far and unequal else ""
    panels.finding(replace(result, evidence=so_far + result.evidence, caveats=()))
work.watch(work.show_progress, drawn=latest)
left, right = st.columns([13, 11], gap="medium")
with left:
    marks = "Each mark is a model, attacked on the half of the people that chooses"
    panels.titled("Accuracy against the worst leak", marks, draw_choice(choice), key="choose_chart")
    st.caption(
        "Green: the measured values are allowed; a model passes if its whole interval is. Cross: 95% CIs of the one "
        "named. Hollow: unfairness above its limit. Larger: looser. Grey steps: none is better in both."
    )
    panels.notes(*result.caveats[:1])
    if more := result.caveats[1:]:
        with st.expander("What this comparison leaves open", icon=":material/info:"):
            st.markdown("\n".join(f"- {shell.escape(caveat)}" for caveat in more))
    if choice.fair_and_biased:
        shell.link("two_models", STUDIES["two_models"].title)
with right:
    st.markdown(f"**{_WHY[choice.outcome]}.** {shell.escape(choice_reason(choice))}")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        options = {
            title: _short_label(candidate) if title else "The model named above"
            for title, candidate in _auditable().items()
        }
        panels.choose("Model to audit", options, key="choose_audited", label_visibility="collapsed", width=260)
        st.button("Audit this model", key="audit_chosen", type="primary", on_click=audit)
        every = panels.frame(rows(choice))
        panels.download(
            f"All {len(choice.candidates)} (CSV)", partial(csv_of_frame, every), "models.csv", key="choose_all"
        )
        if trained:
            repeat()
    draw_table()
panels.foot(GUIDE, {"Models": every, "All numbers": panels.frame(numbers(choice))}, key="choose")
