"""The controls that define an audit: one function a control, with its key, range and help.

They live in the sidebar; the Data and Model pages show theirs in the page instead, with more room. Their values are
bound to the address, so that a link restores an audit. Nothing of a user's table ever enters a link.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING
from typing import Any, Literal

import streamlit as st

from core.config import AuditConfig
from core.correction import ATTACKERS, CorrectionSettings
from core.datasets.catalog import CATALOG
from core.estimates import epsilon_text
from core.fairness import METRIC_TITLES
from core.models import METHOD_TITLES
from core.settings import Setting, params
from pages.common import panels, shell, state
from pages.common.cached import kept_tolerance, own

Kind = Literal["toggle", "selectbox", "multiselect", "slider", "select_slider", "number_input", "text_input"]
"""Streamlit's widgets a setting can be drawn as."""

EPSILONS = (0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, math.inf)
"""Privacy budgets on offer for the private tree; more than 100 is noise in name only."""

_BOUND: dict[str, Any] = {"bind": "query-params"}
_AUDIT, _CORRECTION = params(AuditConfig), params(CorrectionSettings)


def control(setting: Setting, key: str, kind: Kind | None = None, *, place: Any = st, **told: Any) -> Any:
    """Draw the widget of a setting as its `Param` declares it, and return its value.

    The session keeps it unless `persist_state` is told otherwise. Without a `kind` a flag is switched, a name chosen,
    several names ticked, a number typed, all else written. `told` are the widget's arguments where they are not what is
    declared: words of the page's own, fewer `options`, or as a mapping with what to call each, another `value`.
    """
    param, kind = setting.param, kind or _kind(setting)
    told = {"label": param.title, "help": param.help, "persist_state": "session", **told}
    start = told.pop("value", setting.default)
    if kind in ("selectbox", "multiselect", "select_slider"):
        names = told.get("options", param.options) or ()
        told["options"] = list(names)
        if isinstance(names, Mapping):
            told.setdefault("format_func", names.__getitem__)
    if kind == "selectbox":
        told["index"] = told["options"].index(start) if start in told["options"] else 0
    elif kind == "multiselect":
        told["default"] = list(start)
    elif start is not MISSING:
        told["value"] = start
    if kind in ("slider", "number_input"):
        least, most = (None if end is None else setting.base(end) for end in (param.least, param.most))
        told = {"min_value": least, "max_value": most, "step": param.step, **told}
    elif kind == "text_input" and param.most:
        told["max_chars"] = int(param.most)
    return getattr(place, kind)(key=key, **told)


def _kind(setting: Setting) -> Kind:
    if setting.base is bool:
        return "toggle"
    if setting.many:
        return "multiselect"
    if setting.base in (int, float):
        return "number_input"
    return "text_input" if setting.param.options is None else "selectbox"


def audit_settings(page: str) -> None:
    """Draw in the sidebar the settings that `page` does not show itself."""
    state.apply_choices(page)
    table = own(state.UPLOAD) if state.given() else None
    config = state.config(table) if table is not None else None
    if table is None or config is None:
        state.start_tolerance(None, state.default("tolerance"))
    else:  # predictions that came with a table start at the smallest tolerance they keep to
        state.start_tolerance((table.fingerprint, config.roles), kept_tolerance(table, config))
    with st.sidebar:
        st.markdown("#### What is audited")
        if page != "data":
            dataset()
            attribute()
        if page != "model":
            metric()
            _row(2, tolerance, seed)
            if state.given():
                st.caption("Audited are the predictions in your table; no model is trained.")
            else:
                method()
                if not state.sets_named():
                    train_share()


def _row(shares: Any, *widgets: Callable[[], None]) -> None:
    """Draw widgets beside each other, in columns of these shares."""
    for place, draw in zip(st.columns(shares), widgets, strict=True):
        with place:
            draw()


def data_settings() -> None:
    """Draw, on the Data page, which table and which attribute."""
    _row(2, dataset, attribute)
    name = state.dataset_name()
    if name in CATALOG:
        entry = CATALOG[name]
        st.caption(f"{entry.people}. {entry.about}")


def model_settings() -> None:
    """Draw, on the Model page, how the model is trained; of given predictions only what is asked of them."""
    if state.given():
        shell.whisper("The predictions in your table", "Nothing is trained; which columns they are is on the Data page")
        _row([2, 1, 1], metric, tolerance, seed)
        return
    _row([2, 2, 1], method, metric, tolerance)
    left, right = st.columns([4, 1], vertical_alignment="bottom")
    with left:
        if not state.sets_named():
            train_share()
    with right:
        seed()


def attacker_settings() -> dict[str, str]:
    """Choose the attack, and what changing a guess costs."""
    left, right = st.columns(2)
    adversary = panels.choose(
        "Attack",
        {kind: f"{title[:1].upper()}{title[1:]}" for kind, title in ATTACKERS.items()},
        key="adversary",
        help=(
            "A and A′ are published (Ferry et al.): a random forest with balanced class weights. A guesses from "
            "features and label, A′ also from the model's predictions. Gradient boosting has no class weights and is "
            "calibrated; without the predictions it is the imputation baseline."
        ),
        place=left,
    )
    cost = control(
        _CORRECTION["cost"],
        "cost",
        place=right,
        help=(
            "The correction changes the cheapest guesses. Confidence (published): the attacker's confidence, raised to "
            "the power that works best on their validation set. Log-odds: starts from calibrated guesses and, with two "
            "groups, finds the most probable answer. Uniform: changes as few guesses as possible."
        ),
    )
    return {"adversary": adversary, "cost": cost}


def dataset() -> None:
    """Choose the table."""
    titles = {name: entry.title for name, entry in CATALOG.items()}
    if own(state.UPLOAD) is not None or state.dataset_name() == state.UPLOAD:  # one that got lost stays chosen
        titles[state.UPLOAD] = "Your table"
    told = "Add your own table on the Data page."
    state.keep("dataset", panels.choose("Dataset", titles, key="dataset", help=told, **_BOUND))


def attribute() -> None:
    """Choose the sensitive attribute among those set up for the table."""
    label, names = "Sensitive attribute", state.attributes(state.dataset_name())
    if not names:
        st.selectbox(label, [], placeholder="choose on the Data page", disabled=True, key="no_attribute")
        return
    told = "What the attacker tries to learn about each person. Other columns and groups: on the Data page."
    bound = {} if state.dataset_name() == state.UPLOAD else _BOUND
    state.keep("attribute", panels.choose(label, names, key="attribute", help=told, **bound))


def _audited(name: str, kind: Kind | None = None, **told: Any) -> Any:
    """Draw one of the audit's settings and note its value."""
    value = control(_AUDIT[name], name, kind, **told, **_BOUND)
    state.keep(name, value)
    return value


def metric() -> None:
    """Choose the fairness metric."""
    _audited(
        "metric",
        options=METRIC_TITLES,
        help=(
            "Statistical parity compares the groups' rates of positive predictions; predictive equality does so among "
            "people with the negative label, equal opportunity among those with the positive label, equalized odds "
            "among both."
        ),
    )


def tolerance() -> None:
    """Choose the tolerance the model is trained for."""
    _audited(
        "tolerance",
        value=state.default("tolerance"),
        format="%.3f",
        help=(
            "Disclosed tolerance: how far a group's rate is said to be from everybody's at most. It starts at the "
            "smallest that the predictions keep to, in steps of 0.001; they stay as they are."
            if state.given()
            else "Trained tolerance: how far a group's rate may be from everybody's. Only exponentiated gradient can "
            "be asked for more than 0."
        ),
    )


def seed() -> None:
    """Choose the seed."""
    _audited(
        "seed",
        help=(
            "Fixes the sets your table does not name, and the attackers."
            if state.given()
            else "Fixes the split, the training and the draw of predictions."
        ),
    )


def method() -> None:
    """Choose how the audited model is trained, of the private tree also with which privacy budget."""
    chosen = _audited(
        "method",
        format_func=METHOD_TITLES.__getitem__,
        help=(
            "In-, post- and pre-processing, the control without mitigation, and a tree trained with privacy noise. All "
            "on a decision tree of depth 8."
        ),
    )
    if chosen == "dp_id3":
        _audited(
            "epsilon",
            "select_slider",
            options=EPSILONS,
            value=state.default("epsilon"),
            format_func=epsilon_text,
            help=(
                "What one training record can change, at most: the smaller, the more noise on every count the tree "
                "sees."
            ),
        )


def train_share() -> None:
    """Choose the share of records the model is trained on."""
    _audited(
        "train_share",
        "slider",
        help="The rest is halved between the attacker and the test. The published experiments use 0.34.",
    )
