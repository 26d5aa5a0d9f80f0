"""Experiment: how leaks change with the attribute, with what is trained, and with what is released."""

from pages.shell import shell

shell.guard()

import math
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.auditing import plan_text
from core.auditing.charts import draw_checks
from core.auditing.plan import AuditPlan, changed_plan
from core.auditing.policy import estimate_text
from core.base.errors import InputError
from core.datasets.catalog import CATALOG
from core.datasets.dataset import Table
from core.experiments.experiment import (
    Grid,
    SeedSummary,
    grid_finding,
    grid_of,
    grid_size_finding,
    measurable,
    measured_names,
    measuring_studies,
    rows_frame,
    setting_title,
    summarise,
    summary_frame,
)
from core.models import GIVEN_PREDICTIONS, METHOD_TITLES, PRIVATE_METHODS, TOLERANCE_METHODS
from core.stats.estimates import epsilon_text, tolerance_text
from core.studies.registry import STUDIES
from core.studies.subject import AuditConfig
from pages._report import report_plan
from pages.shell import cached, panels, state
from pages.shell.background import Job, pace, show_works
from pages.shell.study_jobs import ModelsJob

_MOST_DRAWN = 30
"""Settings in the chart at most; the files have all."""

GUIDE = (
    "**Question.** How does a number of the Report change with the attribute, the training, and what is released?\n\n"
    "**Grid.** Every combination of the chosen values is one model, measured by the functions of an audit; each number "
    "is that of the Report of the same plan, with membership inference without shadow models. A key that does not go "
    "with a method, such as a tolerance without a constraint, is left out.\n\n"
    "**Intervals** are over people with one seed, over seeds with several (Student's t). Seeds share the people of the "
    "table.\n\n"
    "**Not a choice.** The best of many settings looks better than it is. Choose a model judges its choice on other "
    "people.\n\n"
    "**Stop and go on.** Each model is stored when it is measured; of an uploaded table in memory alone."
)

# Controls -------------------------------------------------------------------------------------------------------------

_VALUES: dict[str, dict[Any, str]] = {
    "model.method": dict(METHOD_TITLES),
    "model.tolerance": {
        value: tolerance_text(value) for value in (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
    },
    "model.epsilon": {value: epsilon_text(value) for value in (0.3, 1.0, 3.0, 10.0, math.inf)},
    "outputs.decimals": {None: "all decimals", 3: "3 decimals", 2: "2 decimals", 1: "1 decimal"},
}
"""Key of a plan -> values on offer, and what to call each."""

ATTRIBUTE = "data.attribute"

_KEY_TITLES = {
    ATTRIBUTE: "Sensitive attributes",
    "model.method": "Methods",
    "model.tolerance": "Tolerances",
    "model.epsilon": "Privacy budgets ε",
    "outputs.decimals": "Decimals of scores",
}

_WITHOUT_SHADOWS: dict[str, tuple[Any, ...]] = {"membership.shadows": (0,)}
"""What every plan of the page has: no shadow models, which take a hundred times as long."""

_FIRST_STUDIES = ("correction", "fairness", "membership")


Varied = dict[str, tuple[Any, ...]]
"""Key of a plan -> the values it takes in turn."""


def command_options(varied: Varied, studies: Sequence[str]) -> str:
    """Return the options of `fairleak experiment` that measure the same."""
    options = [f"--vary {key}={_list_text(items)}" for key, items in varied.items()]
    options.append(f"--studies {','.join(studies)}")
    return " ".join(options)


def _list_text(items: Sequence[Any]) -> str:
    """Return values as an option lists them."""
    return ",".join("none" if item is None else f"{item}" for item in items)


def requested_grid(
    config: AuditConfig, table: Table, plan: AuditPlan
) -> tuple[Varied, tuple[str, ...]]:
    """Draw the controls in one row; return the values of the keys that vary, and the studies that measure."""
    row = st.container(horizontal=True, vertical_alignment="bottom", key="experiment_controls")
    trained = config.method != GIVEN_PREDICTIONS
    varied: Varied = {}
    with row.popover("Vary", icon=":material/tune:", key="experiment_varied"):
        if config.dataset in CATALOG:
            offered = {name: name for name in CATALOG[config.dataset].attributes}
            varied[ATTRIBUTE] = _several(ATTRIBUTE, offered, (state.attribute_of(config),))
        if trained:
            varied |= _trained(config)
        if plan.outputs.released == "scores":
            varied["outputs.decimals"] = _several(
                "outputs.decimals", _VALUES["outputs.decimals"], (plan.outputs.decimals,)
            )
    if trained:
        n_seeds = panels.pick("Seeds", [1, 3, 5], key="experiment_seeds", default=1, container=row)
        varied["model.seed"] = tuple(range(config.seed, config.seed + int(n_seeds)))
    return varied | _WITHOUT_SHADOWS, _studies(row)


def _trained(config: AuditConfig) -> Varied:
    """Choose what models are trained by and for; a key that goes with none of the methods is left out."""
    methods = _several("model.method", _VALUES["model.method"], (config.method,))
    varied = {"model.method": methods}
    if set(methods) & set(TOLERANCE_METHODS):
        varied["model.tolerance"] = _several(
            "model.tolerance", _VALUES["model.tolerance"], (0.005, 0.05, 0.2)
        )
    if set(methods) & set(PRIVATE_METHODS):
        varied["model.epsilon"] = _several("model.epsilon", _VALUES["model.epsilon"], (1.0, 10.0))
    return varied


def _several(key: str, titles: Mapping[Any, str], first: tuple[Any, ...]) -> tuple[Any, ...]:
    """Choose values of a key; those it starts with where none is chosen."""
    names = {value: titles.get(value, str(value)) for value in (*first, *titles)}
    chosen = st.multiselect(
        _KEY_TITLES[key],
        list(names),
        default=list(first),
        format_func=names.__getitem__,
        key=f"experiment_{key.partition('.')[2]}",
        persist_state="session",
    )
    return tuple(chosen) or first


def _studies(row: DeltaGenerator) -> tuple[str, ...]:
    chosen = row.multiselect(
        "Studies",
        list(measuring_studies()),
        default=list(_FIRST_STUDIES),
        format_func=lambda name: STUDIES[name].title,
        key="experiment_studies",
        persist_state="session",
    )
    return tuple(chosen) or _FIRST_STUDIES


# Models and numbers ---------------------------------------------------------------------------------------------------


def works_of(varied: Varied, names: Sequence[str], plan: AuditPlan) -> list[ModelsJob]:
    """Return the models of each attribute; InputError if there are too many or a value breaks its rule."""
    grid_values = {key: values for key, values in varied.items() if key != ATTRIBUTE}
    if ATTRIBUTE not in varied:
        return [_work(plan, cached.dataset_of(table, config.roles), names, grid_values, {})]
    return [
        _work(
            changed_plan(plan.without_roles, {ATTRIBUTE: attribute}),
            cached.dataset_of(table, table.roles_for(attribute)),
            names,
            grid_values,
            {ATTRIBUTE: attribute},
        )
        for attribute in varied[ATTRIBUTE]
    ]


def _work(
    plan: AuditPlan,
    dataset: Any,
    names: Sequence[str],
    varied: Varied,
    attribute: dict[str, Any],
) -> ModelsJob:
    def grid() -> Grid:
        return {
            varied_plan: attribute | values for varied_plan, values in grid_of(plan, varied).items()
        }

    return ModelsJob("experiment", plan, dataset, names, grid, sorted(varied.items(), key=str))


def offer(works: Sequence[ModelsJob]) -> None:
    """Show how far the models are, and offer to start, stop or go on."""
    n_models = sum(work.total for work in works)
    n_done = sum(len(work.partial) for work in works)
    label = f"Measure {n_models} settings"
    if trains_models:
        label = f"Train and attack {n_models} models"
    if n_done:
        label = f"Stopped after {n_done} of {n_models} models. Go on"

    def doing(jobs: Sequence[Job]) -> str:
        return f"Models measured: {n_done} of {n_models}, {pace(jobs[-1])}"

    show_works(works, doing, label)


def _title(name: str) -> str:
    """Return what a number is called, with the attribute's name where there is one alone."""
    title = measurable()[name][1].title.format(attribute=state.attribute_of(config))
    return f"{title[:1].upper()}{title[1:]}"


def draw_number(summaries: Sequence[SeedSummary], name: str) -> dict[str, Any]:
    """Draw a number of each setting with its interval and baseline; return the table behind it."""
    _, check = measurable()[name]
    lines = []
    for summary in summaries[:_MOST_DRAWN]:
        number = summary.numbers.get(name)
        if number is not None:
            text, _ = estimate_text(name, number)
            if check.unit in ("points", "bits"):
                control = None
            else:
                control = summary.baselines.get(name)
            lines.append((setting_title(summary, summaries), text, number, control))
    if not lines:
        reasons = dict.fromkeys(summary.reasons.get(name, "") for summary in summaries)
        panels.problem(
            " ".join(reason for reason in reasons if reason) or "There is no number to draw."
        )
        return {}
    drawing = draw_checks(lines, unit=check.unit)
    if any(control for *_, control in lines):
        beside = "; hollow: baseline"
    else:
        beside = ""
    panels.titled(
        _title(name),
        f"{drawing.title}, 95% intervals{beside}",
        drawing,
        key="experiment_chart",
    )
    return {"Number by setting": drawing.table}


def draw_results(works: Sequence[ModelsJob], running: bool) -> None:
    """Draw what is measured so far; the page is drawn again once the work has ended."""
    if running and not any(work.busy for work in works):
        st.rerun()
    offer(works)
    rows = [row for work in works for row in work.rows()]
    if not rows:
        return
    summaries = summarise(rows)
    measures = list(dict.fromkeys(row.measurement.check for row in rows))
    titles = {name: _title(name) for name in measures}
    name = panels.choose("Number drawn", titles, key="experiment_number", width=420)
    panels.statement(grid_finding(summaries, name))
    tables = draw_number(summaries, name)
    tables |= {"By setting": summary_frame(summaries), "Every measurement": rows_frame(rows)}
    panels.numbers(tables, key="experiment")


def offer_command(plan: AuditPlan, options: str) -> None:
    """Offer the plan and the command that measure the same."""
    with st.popover("Repeat it", icon=":material/terminal:", key="experiment_repeat"):
        st.markdown("Save the plan. The command measures the same grid, with the same numbers.")
        panels.download(
            "plan.toml", lambda: plan_text(plan).encode(), "plan.toml", key="experiment_plan"
        )
        command = f"fairleak experiment --plan plan.toml {options} --csv rows.csv"
        st.code(command, language="bash", wrap_lines=True)


shell.head()
opening = st.container()
config, table = cached.audited()
trains_models = config.method != GIVEN_PREDICTIONS
planned = report_plan.subject(config, table, report_plan.plan_of(config, table)).plan
plan = AuditPlan(
    data=planned.data, model=planned.model, config=planned.config, outputs=planned.outputs
)
varied, studies = requested_grid(config, table, plan)
try:
    works = works_of(varied, measured_names(studies), plan)
except InputError as error:
    panels.problem(str(error))
    st.stop()
n_models = sum(work.total for work in works)
with opening:
    panels.finding(grid_size_finding(n_models, trained=trains_models))
busy = any(work.busy for work in works)
every = 2.0 if busy else None
st.fragment(draw_results, run_every=every)(works, busy)
offer_command(plan, command_options(varied, studies))
panels.how_to_read(GUIDE)
