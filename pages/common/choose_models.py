"""Which models are compared on the page Choose a model, their measuring in the background, and their table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from core.choose import PREFERENCES, Asked, CandidatePoint, Choice, ChooseSettings, Outcomes, candidates, measure_all
from core.choose.findings import leak_text, report_section, short_check
from core.config import AuditConfig
from core.datasets.dataset import Table
from core.datasets.roles import Roles
from core.errors import InputError
from core.estimates import epsilon_text, percent, tolerance_text
from core.fingerprint import fingerprint
from core.models import GIVEN, METHOD_TITLES
from core.policy import VERDICT_TITLES, limit_text
from core.policy.checks import check_title
from core.settings import params
from core.sweep import point_key
from pages.common import cached, report_plan, shell, state
from pages.common import report_policy as policies
from pages.common.background import Background, Job
from pages.common.controls import control

_SETTINGS = params(ChooseSettings)
_OFFERED: dict[str, tuple[Any, ...]] = {
    "tolerances": (0.0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2),
    "epsilons": (0.3, 1.0, 3.0, 10.0, 30.0, math.inf),
    "depths": (2, 3, 4, 6, 8, 10),
}
"""Setting -> values on offer."""

_MINUTES = {math.inf: "No limit", 1.0: "1 minute", 5.0: "5 minutes", 15.0: "15 minutes"}
_JOBS = 2
_SHOWN = 24
"""Rows of the table beside the chart at most; the file has all."""

_NAMES = {
    "exponentiated_gradient": "Exp. gradient",
    "correlation_remover": "Corr. remover",
    "threshold_optimizer": "Threshold opt.",
    "unmitigated": "No mitigation",
    "dp_id3": "Private tree",
}
_VERDICTS = {
    "pass": ":green[:material/check_circle:] Pass",
    "fail": ":red[:material/cancel:] Fail",
    "inconclusive": ":orange[:material/help:] Inconclusive",
    "not_run": ":gray[:material/do_not_disturb_on:] Not run",
}

GUIDE = (
    "**Question.** Which of many models is the most accurate that meets the policy with its whole interval?\n\n"
    "**Two halves.** Everybody is in one of two halves. One half chooses a single model, the other half judges it. "
    "So the verdict is that of one model, however many were compared. Each half has half of the people, so intervals "
    "are wider than in the Report.\n\n"
    "**Worst leak.** The largest gain of an attack over chance, relative to its limit. Left of the line is allowed.\n\n"
    "**Balanced.** Among models within all limits and one standard error of the best accuracy, the smallest leak.\n\n"
    "**Attacks.** Attribute inference, reconstruction correction and membership inference without shadow models. "
    "LiRA, bias queries and AttriGuard run in the Report alone.\n\n"
    "**Seeds** are replicates of a model, never models to choose from.\n\n"
    "**Privacy.** Private trees that are compared on the same records add up their ε."
)


class Choosing(Background):
    """Candidates measured one after the other, begun with what is kept from earlier ones."""

    def __init__(self, config: AuditConfig, asked: Sequence[Asked], minutes: float) -> None:
        self.asked, self.minutes, self.dataset = list(asked), minutes, config.dataset
        self.points: Any = None
        self.left: list[Asked] = []
        names = [(each.name, each.dataset.fingerprint, list(each.configs), each.measure.parts) for each in asked]
        key = fingerprint(
            "choose", [[name, mark, configs, list(parts)] for name, mark, configs, parts in names], minutes
        )
        total = sum(len(each.configs) for each in asked)
        super().__init__("choose", cached.store_of(config.dataset), key, self._run, lane="sweep", total=total)

    def there(self) -> list[Any]:
        """Return what is kept of these models."""
        self.points = cached.point_store(self.dataset, self.asked[0].dataset)  # the job may not call Streamlit
        kept: list[CandidatePoint] = []
        self.left = []
        for each in self.asked:
            keys = [point_key(c, each.dataset, CandidatePoint, *each.measure.parts) for c in each.configs]
            found = [self.points.load(key, CandidatePoint) for key in keys]
            kept += [point for point in found if point is not None]
            left = [config for config, point in zip(each.configs, found, strict=True) if point is None]
            self.left += [replace(each, configs=left)] if left else []
        return kept

    def _run(self, job: Job) -> list[Any]:
        if not self.left:
            return list(job.partial)
        return job.collect(measure_all(self.left, seconds=60 * self.minutes, n_jobs=_JOBS, store=self.points))


def asked(config: AuditConfig, table: Table, place: Any) -> tuple[list[Asked], ChooseSettings]:
    """Draw the controls and return what is to be measured, with the settings."""
    settings, seeds = _settings(config, table, place)
    if config.method == GIVEN:
        return _given(config, table), settings
    plan = report_plan.subject(config, table, report_plan.plan_of(config, table)).plan
    dataset = cached.dataset_of(table, config.roles)
    base = replace(config, roles=dataset.roles, tolerance=0.0, epsilon=math.inf)
    configs = candidates(base, settings, range(config.seed, config.seed + seeds))
    return [Asked(configs, dataset, replace(plan, config=base))], settings


def _settings(config: AuditConfig, table: Table, place: Any) -> tuple[ChooseSettings, int]:
    trained = config.method != GIVEN
    chosen: dict[str, Any] = {}
    with place.popover(_compared(config) if trained else "Columns", icon=":material/tune:", key="choose_compared"):
        if trained:
            titles = {name: METHOD_TITLES[name] for name in _NAMES}
            chosen["methods"] = _several("methods", titles)
            chosen["tolerances"] = _several("tolerances", {v: tolerance_text(v) for v in _OFFERED["tolerances"]})
            chosen["epsilons"] = _several("epsilons", {v: epsilon_text(v) for v in _OFFERED["epsilons"]})
            chosen["depths"] = _several("depths", {v: str(v) for v in _OFFERED["depths"]})
        else:
            _columns(config, table)
    with place:
        chosen["prefer"] = st.segmented_control(
            _SETTINGS["prefer"].param.title,
            list(PREFERENCES),
            default="accuracy",
            required=True,
            key="choose_prefer",
            format_func=PREFERENCES.__getitem__,
            help="Among models within all limits. While there are none, both name the nearest.",
            persist_state="session",
            bind="query-params",
        )
        labels = cached.dataset_of(table, config.roles).labels
        least = st.slider(
            _SETTINGS["least_accuracy"].param.title,
            min_value=0,
            max_value=100,
            value=math.ceil(100 * max(labels.mean(), 1 - labels.mean())),
            format="%d%%",
            key="choose_least",
            width=200,
            help="Models below it are not chosen. It starts at the accuracy of the majority class.",
            persist_state="session",
            bind="query-params",
        )
    chosen["least_accuracy"] = least / 100
    with place.popover("Policy limits", icon=":material/rule:", key="choose_policy"):
        _limits(config)
    with place.popover("Sweep settings", icon=":material/settings:", key="choose_sweep"):
        seeds = st.segmented_control(
            "Seeds",
            [1, 3, 5],
            default=1,
            required=True,
            key="choose_seeds",
            persist_state="session",
            disabled=not trained,
        )
        chosen["minutes"] = st.selectbox(
            "Time budget",
            list(_MINUTES),
            format_func=_MINUTES.__getitem__,
            key="choose_minutes",
            persist_state="session",
        )
    return ChooseSettings(**{name: value for name, value in chosen.items() if value != ()}), int(seeds or 1)


def _compared(config: AuditConfig) -> str:
    """Return what the models compared are, in short; the widgets inside may not be drawn yet."""
    kept: dict[str, Any] = {
        name: tuple(st.session_state.get(f"choose_{name}") or ()) for name in ("methods", *_OFFERED)
    }
    settings = ChooseSettings(**{name: value for name, value in kept.items() if value})
    base = replace(config, tolerance=0.0, epsilon=math.inf)
    return f"{len(settings.methods)} methods, {len(candidates(base, settings, (config.seed,)))} models"


def _several(name: str, titles: dict[Any, str]) -> tuple[Any, ...]:
    """Choose several values of a setting."""
    told: dict[str, Any] = {"options": titles, "format_func": lambda value: titles.get(value, str(value))}
    found = control(_SETTINGS[name], f"choose_{name}", kind="multiselect", help=None, **told)
    return tuple(found)


def _limits(config: AuditConfig) -> None:
    policy = policies.current(config)
    st.markdown(f"**{shell.escape(policy.name)}**, version {shell.escape(policy.version)}")
    lines = [
        f"- {shell.escape(check_title(limit.check, config.roles.attribute if config.roles else 'the attribute'))}: "
        f"{shell.escape(limit_text(limit.check, limit.value))}{'' if limit.required else ' (not required)'}"
        for limit in policy.limits
    ]
    st.markdown("\n".join(lines))
    shell.link("report", "Change the limits on the Report page")


def _offered_columns(config: AuditConfig, table: Table) -> list[str]:
    """Return columns that may hold a model's answers: those the roles name, and those they leave out."""
    roles = config.roles or table.roles[0]
    own = [column for column in (roles.prediction or roles.score,) if column]
    return [*own, *(column for column in roles.excluded if column in table.frame.columns)]


def _columns(config: AuditConfig, table: Table) -> None:
    offered = _offered_columns(config, table)
    st.multiselect("Columns of predictions or scores", offered, default=offered[:1], key="choose_columns")
    st.caption("Columns left out on the Data page can hold the answers of other models.")


def _given(config: AuditConfig, table: Table) -> list[Asked]:
    """Return the answers in each chosen column; no other column of answers is a feature."""
    from core.release_audit import ModelPlan

    offered = _offered_columns(config, table)
    chosen = [name for name in st.session_state.get("choose_columns") or offered[:1] if name in offered]
    plan = report_plan.plan_of(config, table)
    found = []
    for column in chosen:
        roles = _roles(config.roles or table.roles[0], column, offered, table)
        own = replace(config, roles=roles)
        given = replace(plan, model=ModelPlan(kind="predictions"), config=own)
        found.append(Asked([own], cached.built(table, roles), given, column))
    if not found:
        raise InputError("There must be at least one column of predictions or scores, got none.")
    return found


def _roles(roles: Roles, column: str, offered: Sequence[str], table: Table) -> Roles:
    excluded = tuple(dict.fromkeys([*roles.excluded, *offered]))
    excluded = tuple(name for name in excluded if name != column)
    values = table.frame[column].nunique()
    named: dict[str, Any] = {"prediction": "", "score": column} if values > 2 else {"prediction": column, "score": ""}
    return replace(roles, excluded=excluded, **named)


def short_title(point: CandidatePoint) -> str:
    """Return what to call a candidate in a narrow column, without its depth: "Exp. gradient 0.05"."""
    config = point.config
    if point.name:
        return point.name
    name = _NAMES[config.method]
    if config.method == "exponentiated_gradient":
        name += f" {tolerance_text(config.tolerance)}"
    return f"{name} ε = {epsilon_text(config.epsilon)}" if config.method == "dp_id3" else name


def draw_table(choice: Choice) -> None:
    """Draw the best candidates, the chosen one in bold."""
    import pandas as pd

    shown = f"; the first {_SHOWN} are shown" if len(choice.candidates) > _SHOWN else ""
    shell.whisper(
        "Models, nearest to the limits first",
        f"On the half that chooses: those within all limits by accuracy, then those whose intervals reach least beyond "
        f"a limit{shown}. The finding's test accuracy is from the half that judges",
    )
    lines = []
    for each in choice.candidates[:_SHOWN]:
        bold = "**" if each is choice.chosen and choice.outcome == Outcomes.RECOMMENDED else ""
        side = each.choosing
        attack = short_check(side.leaking).partition(" (")[0]
        lines.append(
            {
                "Model": f"{bold}{shell.escape(short_title(each.points[0]))}{bold}",
                **({} if each.points[0].name else {"Depth": str(each.points[0].config.depth)}),
                "Acc.": f"{bold}{percent(side.accuracy)}{bold}",
                "Worst leak": f"**{leak_text(side.leak)}** {shell.escape(attack)}",
                "Verdict": _VERDICTS.get(side.status, VERDICT_TITLES[side.status]),
            }
        )
    with st.container(key="choose_table"):
        st.table(pd.DataFrame(lines), hide_index=True)


def audit(choice: Choice, config: AuditConfig) -> None:
    """Make the chosen model the audited one, and open its Report."""
    chosen = choice.chosen.points[0].config
    if chosen.method == GIVEN:
        if chosen.roles is not None:
            state.keep_roles(state.dataset_name(), chosen.roles)
    else:
        wanted = {"method": chosen.method, "tolerance": chosen.tolerance, "depth": chosen.depth, "seed": chosen.seed}
        if chosen.method == "dp_id3":
            wanted["epsilon"] = chosen.epsilon
        for name, value in wanted.items():
            state.choose(name, value)
    st.session_state[report_plan.CHOSEN] = (chosen, report_section(choice))
    st.session_state["choose_report"] = True
