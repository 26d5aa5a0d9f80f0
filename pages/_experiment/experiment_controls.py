"""The controls of Experiment: which keys of the audit's plan vary, and which studies measure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.auditing import AuditPlan
from core.datasets.catalog import CATALOG
from core.datasets.dataset import Table
from core.experiments.experiment import measuring_studies
from core.models import GIVEN_PREDICTIONS, METHOD_TITLES, PRIVATE_METHODS, TOLERANCE_METHODS
from core.stats.estimates import epsilon_text, tolerance_text
from core.studies.registry import STUDIES
from core.studies.subject import AuditConfig
from pages.shell import panels, state

VALUES: dict[str, dict[Any, str]] = {
    "model.method": dict(METHOD_TITLES),
    "model.tolerance": {
        value: tolerance_text(value) for value in (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
    },
    "model.epsilon": {value: epsilon_text(value) for value in (0.3, 1.0, 3.0, 10.0, math.inf)},
    "outputs.decimals": {None: "all decimals", 3: "3 decimals", 2: "2 decimals", 1: "1 decimal"},
}
"""Key of a plan -> values on offer, and what to call each."""

ATTRIBUTE = "data.attribute"

KEY_TITLES = {
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
                "outputs.decimals", VALUES["outputs.decimals"], (plan.outputs.decimals,)
            )
    if trained:
        n_seeds = panels.pick("Seeds", [1, 3, 5], key="experiment_seeds", default=1, container=row)
        varied["model.seed"] = tuple(range(config.seed, config.seed + int(n_seeds)))
    return varied | _WITHOUT_SHADOWS, _studies(row)


def _trained(config: AuditConfig) -> Varied:
    """Choose what models are trained by and for; a key that goes with none of the methods is left out."""
    methods = _several("model.method", VALUES["model.method"], (config.method,))
    varied = {"model.method": methods}
    if set(methods) & set(TOLERANCE_METHODS):
        varied["model.tolerance"] = _several(
            "model.tolerance", VALUES["model.tolerance"], (0.005, 0.05, 0.2)
        )
    if set(methods) & set(PRIVATE_METHODS):
        varied["model.epsilon"] = _several("model.epsilon", VALUES["model.epsilon"], (1.0, 10.0))
    return varied


def _several(key: str, titles: Mapping[Any, str], first: tuple[Any, ...]) -> tuple[Any, ...]:
    """Choose values of a key; those it starts with where none is chosen."""
    names = {value: titles.get(value, str(value)) for value in (*first, *titles)}
    chosen = st.multiselect(
        KEY_TITLES[key],
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
