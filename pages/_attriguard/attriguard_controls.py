"""AttriGuard's controls: whose records are protected, what the noise may do, whom it should mislead, how much of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.base.settings import params
from core.studies.attriguard import AttriGuardSettings, Exposure, ProtectedRecords
from core.studies.attriguard.settings import RATING_DEFENDERS
from core.studies.attriguard.table_search import TABLE_DEFENDERS
from pages._attriguard import attriguard_records
from pages._attriguard.attriguard_records import kind, selected, selected_records
from pages._attriguard.attriguard_run import STUDY, GuardRun
from pages.shell import panels, state
from pages.shell.controls import bound, control

TRAINED_BUDGETS = {"table": (0.1, 0.25, 0.5, 0.75), "ratings": (1.0, 3.0, 5.0)}
"""Noise budgets that adversarial attackers are trained at, over which the slider moves."""

_FIRST_TARGETS = {"table": "uniform", "ratings": "train_shares"}
_DEFENDERS = {"table": TABLE_DEFENDERS, "ratings": RATING_DEFENDERS}

_SETTINGS = params(AttriGuardSettings)
_STEPS = 50  # of the slider


def guard_run() -> GuardRun:
    """Choose records and defense in one row; return the study's run. Ends the page while there are no records."""
    widths = {"table": [3, 3, 2], "ratings": [3, 3, 3, 2]}
    columns = st.columns(widths[kind()], vertical_alignment="bottom", gap="medium")
    first = columns[0]
    last = columns[-1]
    panels.choose(
        "Records",
        attriguard_records.offered(),
        key="guard_data",
        help="The settings at the left choose the table and its sensitive attribute; they do not concern ratings.",
        container=first,
    )
    below = st.container()
    settings: dict[str, Any] = {
        **STUDY.command_defaults,
        "trained_budgets": TRAINED_BUDGETS[kind()],
    }
    if kind() == "ratings":
        settings["noise_policy"] = control(
            _SETTINGS["noise_policy"],
            "guard_policy",
            container=columns[1],
            help="Modify_Add, Modify_Exist and Add_New of the paper. Where changing ratings that are there cannot "
            "mislead the classifier, new ones are added all the same.",
        )
    settings["defender"] = control(
        _SETTINGS["defender"],
        f"guard_defender_{kind()}",
        options=_DEFENDERS[kind()],
        container=columns[-2],
        help="The classifier the noise is found against. Attackers may use another one, which it fools less.",
    )
    records = _records(below, last)
    with last.popover("Defence settings", icon=":material/tune:", width="stretch"):
        settings["target"] = control(
            _SETTINGS["target"],
            f"guard_target_{kind()}",
            label="Target distribution p",
            value=_FIRST_TARGETS[kind()],
            help=f"What attackers should infer as {records.attribute}.",
        )
        settings["margin"] = control(
            _SETTINGS["margin"],
            "guard_margin",
            "select_slider",
            options=[0.0, 0.5, 1.0, 1.5, 2.0, 3.0],
            help="By how much the target value's score must lead. Noise with a margin is larger and fools other "
            "kinds of attackers more often.",
        )
        balanced = control(
            _SETTINGS["balanced"],
            "guard_balanced",
            help="Balanced accuracy: the mean of the accuracies among the people of each value.",
        )
    dataset_name = selected()
    if kind() == "table":
        dataset_name = records.config.dataset
    return GuardRun(
        records, replace(allowed_changes(records), **settings), dataset_name, balanced=balanced
    )


def _records(below: DeltaGenerator, last: DeltaGenerator) -> ProtectedRecords:
    """Return the records selected; while they are read, the row keeps its last control, greyed out."""
    records = None
    try:
        with below:
            records = selected_records()
    finally:
        if records is None:
            last.button("Defence settings", icon=":material/tune:", width="stretch", disabled=True)
    return records


# What may change, as the section below was left -----------------------------------------------------------------------


def allowed_changes(records: ProtectedRecords) -> AttriGuardSettings:
    """Return what may change in the table's records."""
    return st.session_state.get(_changes_key(records), AttriGuardSettings())  # type: ignore[no-any-return]


def allow_changes(records: ProtectedRecords, settings: AttriGuardSettings) -> None:
    """Note what may change from now on."""
    st.session_state[_changes_key(records)] = settings


def _changes_key(records: ProtectedRecords) -> str:
    return f"guard_changes_{records.dataset.fingerprint}"


# The budget -----------------------------------------------------------------------------------------------------------


def first_budget(exposure: Exposure) -> float:
    """Return where the slider stands at first: what people need on average, of a table half of the axis."""
    last = exposure.last_budget
    if exposure.unit == "columns":
        return last / 2
    return min(max(1.0, round(float(exposure.unlimited_changes.mean()))), last)


def budget(exposure: Exposure) -> float:
    """Return the budget; the slider that sets it stands under its chart."""
    return state.slider_position(
        _slider_key(exposure), first_budget(exposure), most=exposure.last_budget
    )


def budget_slider(exposure: Exposure) -> None:
    """Draw the slider of the budget, as wide as the curves above it."""
    last = exposure.last_budget
    with st.container(key="guard_budget"):
        bound(
            _SETTINGS["budget"],
            _slider_key(exposure),
            "slider",
            label=f"Noise budget β (mean {exposure.unit} changed per person)",
            help="0 = records unchanged. Larger hides more and distorts more.",
            max_value=last,
            value=float(first_budget(exposure)),
            step=last / _STEPS,
            format="%.1f" if last >= 5 else "%.2f",
        )


def _slider_key(exposure: Exposure) -> str:
    return f"guard_budget_{round(10 * exposure.last_budget)}"


def follow(value: float) -> None:
    """Draw the section below again if the slider, which draws the charts only, has left the budget it stands at."""
    if st.session_state.get("guard_below") not in (None, value):
        st.rerun()


def stand(value: float | None) -> None:
    """Note the budget at which the section below is drawn; None if it does not depend on it."""
    st.session_state["guard_below"] = value
