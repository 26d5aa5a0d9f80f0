"""Controls made from settings: any one, all of a study, and those that define an audit.

The audit's live in the sidebar; the Data and Model pages show theirs in the page instead, with more room. Their values
are bound to the address, so that a link restores an audit. Nothing of a user's table ever enters a link.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import MISSING
from typing import Any, Literal, TypeVar

import streamlit as st

from core.config import AuditConfig
from core.correction import ATTACKERS, CorrectionSettings
from core.datasets.catalog import CATALOG
from core.estimates import epsilon_text, tolerance_text
from core.fairness import METRIC_TITLES
from core.fingerprint import fingerprint
from core.models import GIVEN, METHOD_TITLES
from core.settings import Setting, params
from pages.common import panels, shell, signin, state
from pages.common.background import cancel_update
from pages.common.cached import kept_tolerance, own

Kind = Literal[
    "toggle", "selectbox", "multiselect", "slider", "select_slider", "number_input", "text_input", "text_area"
]
"""Streamlit's widgets a setting can be drawn as."""

EPSILONS = (0.01, 0.05, 0.1, 0.3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0, 50.0, 100.0, math.inf)
"""Privacy budgets on offer for the private tree, also those of models compared with each other, which may be audited;
more than 100 is noise in name only."""

_OWN_TABLE = "Your table"
"""What a user's own table is called, also in an address."""

_WITHOUT = {
    "table": "This link was made for an uploaded table, which is not in the link. Below is the demo, not that result: "
    "ask for the file and its roles, then upload it on the Data page.",
    "roles": "This link was made with column roles that are not in the link. Below are the table's own, not that "
    "result: ask for the roles, then set them on the Data page.",
}
"""What to say where a link is without what it was made for."""

_WITHOUT_AUDIT = ("learn", "glossary")
"""Pages about no audit."""

S = TypeVar("S")

_AUDIT, _CORRECTION = params(AuditConfig), params(CorrectionSettings)


def control(setting: Setting, key: str, kind: Kind | None = None, *, place: Any = st, **told: Any) -> Any:
    """Draw the widget of a setting as its `Param` declares it, and return its value.

    The session keeps it unless `persist_state` says otherwise. Without a `kind` a flag is switched, a name chosen,
    several names ticked, a privacy budget picked, a number typed, all else written. `told` are the widget's arguments
    where they are not what is declared: words of the page's own, fewer `options`, or as a mapping with what to call
    each, another `value`.
    """
    param, kind = setting.param, kind or _kind(setting)
    told = {"label": param.title, "help": setting.comment, "persist_state": "session", **told}
    start = told.pop("value", setting.default)
    if param.infinite:
        told = {"options": EPSILONS, "format_func": epsilon_text, **told}
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
    elif kind in ("text_input", "text_area") and param.most:
        told["max_chars"] = int(param.most)
    return getattr(place, kind)(key=key, **told)


def bound(setting: Setting, key: str, kind: Kind | None = None, **told: Any) -> Any:
    """Draw the widget of a setting that defines what a page says: its value is in the address, and in copied links."""
    return control(setting, key, kind, bind="query-params", **told)


def _kind(setting: Setting) -> Kind:
    if setting.base is bool:
        return "toggle"
    if setting.many:
        return "multiselect"
    if setting.base in (int, float):
        return "select_slider" if setting.param.infinite else "number_input"
    if setting.param.options is not None:
        return "selectbox"
    return "text_area" if setting.param.form == "prose" else "text_input"


def filled(part: Any, names: Iterable[str], key: str, places: Iterable[Any], **told: Any) -> dict[str, Any]:
    """Draw some settings of a part of a plan or a policy, a place each, as they are set there; return their values.

    `key` has the place of the name in braces. The session does not keep what is typed: a form hands it over.
    """
    settings, told = params(type(part)), {"persist_state": None, **told}
    return {
        name: control(settings[name], key.format(name), place=place, **{"value": getattr(part, name), **told})
        for name, place in zip(names, places, strict=True)
    }


def settings_of(cls: type[S], prefix: str) -> S:
    """Draw the settings of a study, three in a row, their values bound to the address; return what is set.

    A list that is no choice of names, a table and a file stay at their defaults.
    """
    drawn = {name: setting for name, setting in params(cls).items() if _can_be_drawn(setting)}
    chosen, places = {}, st.columns(3) if drawn else []
    for number, (name, setting) in enumerate(drawn.items()):
        value = bound(setting, f"{prefix}_{name}", place=places[number % 3])
        chosen[name] = tuple(value) if setting.many else value
    return cls(**chosen)


def _can_be_drawn(setting: Setting) -> bool:
    if setting.many or setting.default is MISSING:
        return setting.param.options is not None
    return setting.base is not tuple and setting.param.form in ("text", "line")


def audit_settings(page: str) -> None:
    """Draw in the sidebar what is audited, and the settings that `page` does not show itself."""
    asked = st.query_params.get("dataset") == _OWN_TABLE and state.dataset_name() != state.UPLOAD
    without = "table" if asked else "roles" if "roles" in st.query_params else ""
    st.session_state.setdefault("link_without", without)  # a session's first address alone comes from elsewhere
    state.apply_choices(page)
    if state.drawn():
        shell.offer_cancel(cancel_update)
    if page in _WITHOUT_AUDIT or signin.role() is signin.Role.ASKER:
        return
    _warn_without(page)
    _mark_changed_roles()
    table = own(state.UPLOAD) if state.given() else None
    config = state.config(table) if table is not None else None
    if table is None or config is None:
        state.start_tolerance("", state.default("tolerance"))
    else:  # predictions that came with a table start at the smallest tolerance they keep to
        state.start_tolerance(fingerprint(table.fingerprint, config.roles), kept_tolerance(table, config))
    with st.sidebar:
        summary = st.empty()
        with st.popover("Audit settings", width="stretch", key="audit_settings"):
            if page != "data":
                _audited("dataset", "attribute")
            if page != "model":
                _audited("metric")
                _audited("tolerance", "seed", shares=[1, 1])
                if state.given():
                    st.caption("Audited are the predictions in your table; no model is trained.")
                else:
                    _audited("method", *_depth(), *_train_share())
        summary.markdown(_summary())


def _mark_changed_roles() -> None:
    """Let the address say that a built-in table's roles were changed; what they are is not in it."""
    roles, built_in = state.chosen_roles(), state.dataset_name() != state.UPLOAD
    changed = built_in and roles is not None and roles.key == st.session_state.get("attribute", roles.key)
    if changed or st.session_state["link_without"] == "roles":  # so that it is said after a reload, too
        st.query_params["roles"] = "changed"
    else:
        st.query_params.pop("roles", None)


def _warn_without(page: str) -> None:
    """Say that a link was made for a table or roles that are not in it, as long as something else is shown instead."""
    if state.chosen_roles() or any(own(name) is not None for name in (state.UPLOAD, state.PENDING)):
        st.session_state["link_without"] = ""
    if not (without := st.session_state["link_without"]):
        return
    panels.problem(_WITHOUT[without])
    if page != "data":
        shell.link("data")


def audited_title() -> str:
    """Return what the audited table is called."""
    name = state.dataset_name()
    return CATALOG[name].title if name in CATALOG else "your earlier table"


def _summary() -> str:
    """Return what is audited, in two lines: data and attribute, constraint and seed, with a depth that was chosen."""
    dataset = state.dataset_name()
    names = state.attributes(dataset)
    uploaded = own(state.UPLOAD)
    title = CATALOG[dataset].title if dataset in CATALOG else uploaded.title if uploaded else _OWN_TABLE
    attribute = names.get(st.session_state.get("attribute", ""), next(iter(names.values()), "columns to choose"))
    metric, tolerance, seed = (state.setting(name) for name in ("metric", "tolerance", "seed"))
    depth = f" · depth {state.setting('depth')}" if _depth() and not state.given() else ""
    method = GIVEN if state.given() else state.setting("method")
    told = "" if method == state.default("method") else f"{METHOD_TITLES[method]}\n\n"
    return (
        f"#### Audited\n\n{shell.escape(title)} · {shell.escape(attribute)}\n\n"
        f"{told}{METRIC_TITLES[metric]} ≤ {tolerance_text(tolerance)}{depth} · seed {seed}"
    )


def data_settings() -> None:
    """Draw, on the Data page, which table and which attribute."""
    _audited("dataset", "attribute", shares=[1, 1])
    if (entry := CATALOG.get(state.dataset_name())) is not None:
        st.caption(f"{entry.people}. {entry.about}")


def model_settings() -> None:
    """Draw, on the Model page, how the model is trained; of given predictions only what is asked of them."""
    if state.given():
        shell.whisper("The predictions in your table", "Nothing is trained; which columns they are is on the Data page")
        _audited("metric", "tolerance", "seed", shares=[2, 1, 1])
        return
    share = _train_share()
    depth = _depth()
    more = [2 for _ in depth]
    shares = [3, *more, 3, 2, *[3 for _ in share], 2]
    _audited("method", *depth, "metric", "tolerance", *share, "seed", shares=shares)


def _train_share() -> list[str]:
    """Return the share of records the model is trained on, unless the table says whom it is trained on."""
    roles = state.chosen_roles()
    return [] if roles is not None and roles.sets else ["train_share"]


def _depth() -> list[str]:
    """Return the depth of the trees, once it is another than at first."""
    changed = state.setting("depth") != state.default("depth") or "depth" in st.query_params
    return ["depth"] if changed else []


def _audited(*names: str, shares: list[int] | None = None) -> None:
    """Draw some of the audit's settings, in columns of these shares or below each other, and note their values."""
    places: Any = st.columns(shares) if shares else [nullcontext()] * len(names)
    for name, place in zip(names, places, strict=True):
        with place:
            value = _DRAWN[name]() if name in _DRAWN else _setting(name)
            if value is not None:
                state.keep(name, value)
            if value == "dp_id3":
                _audited("epsilon")


def _setting(name: str) -> Any:
    told = {"value": state.default(name), **_TOLD[name]}
    if isinstance(told["help"], tuple):
        told["help"] = told["help"][state.given()]
    return bound(_AUDIT[name], name, **told)


_TOLD: dict[str, dict[str, Any]] = {
    "metric": {
        "options": METRIC_TITLES,
        "help": (
            "Statistical parity compares the groups' rates of positive predictions; predictive equality does so among "
            "people with the negative label, equal opportunity among those with the positive label, equalized odds "
            "among both."
        ),
    },
    "tolerance": {
        "format": "%.3f",
        "help": (
            "Target tolerance: largest allowed deviation of a group's rate from the overall rate. Smaller is fairer "
            "and, once published, tells an attacker more. Only exponentiated gradient takes more than 0.",
            "Disclosed tolerance: largest deviation of a group's rate from the overall rate that is claimed. It "
            "starts at the smallest that holds for the predictions, in steps of 0.001.",
        ),
    },
    "seed": {
        "help": (
            "Random seed of split, training and randomised predictions.",
            "Random seed of the sets your table does not name, and of the attacks.",
        ),
    },
    "method": {
        "format_func": METHOD_TITLES.__getitem__,
        "help": (
            "In-, post- and pre-processing, no constraint, and a tree with DP training noise. All are decision trees, "
            "of depth 8 unless another is set."
        ),
    },
    "epsilon": {"help": "Smaller is more private: more DP training noise on every count the tree is grown from."},
    "depth": {"help": "Depth of the model's trees, at most. Deeper trees remember more of their training records."},
    "train_share": {
        "kind": "slider",
        "help": "Share of records used for training. The rest is split equally between the attacker's known records "
        "and the test set. The published experiments use 0.34.",
    },
}
"""Setting -> arguments of its widget; of two texts the second is for predictions that came with the table."""


def _dataset() -> Any:
    """Choose the table."""
    titles = {name: entry.title for name, entry in CATALOG.items()}
    if own(state.UPLOAD) is not None or state.dataset_name() == state.UPLOAD:  # one that got lost stays chosen
        titles[state.UPLOAD] = _OWN_TABLE
    help = "Add your own table on the Data page."
    changed: dict[str, Any] = {"on_change": st.session_state.update, "kwargs": {"link_without": ""}}
    return panels.choose("Dataset", titles, key="dataset", help=help, bind="query-params", **changed)


def _attribute() -> Any:
    """Choose the sensitive attribute among those set up for the table."""
    label, names = "Sensitive attribute", state.attributes(state.dataset_name())
    if not names:
        st.selectbox(label, [], placeholder="choose on the Data page", disabled=True, key="no_attribute")
        return None
    help = "What the attacker tries to learn about each person. Other columns and groups: on the Data page."
    bind = None if state.dataset_name() == state.UPLOAD else "query-params"
    return panels.choose(label, names, key="attribute", help=help, bind=bind)


_DRAWN = {"dataset": _dataset, "attribute": _attribute}
"""Setting -> what draws it, where that is not made from its declaration."""


def attacker_settings() -> dict[str, str]:
    """Choose the attack, and what changing a guess costs."""
    left, right = st.columns(2)
    adversary = panels.choose(
        "Attack",
        {kind: f"{title[:1].upper()}{title[1:]}" for kind, title in ATTACKERS.items()},
        key="adversary",
        bind="query-params",
        help=(
            "A and A′ are published (Ferry et al.): a random forest with balanced class weights. A guesses from "
            "features and label, A′ also from the model's predictions. Gradient boosting has no class weights and is "
            "calibrated; without the predictions it is the imputation baseline."
        ),
        place=left,
    )
    cost = bound(
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
