"""Controls made from settings: any one, all of a study, and those that define an audit.

The audit's live in the sidebar; the Data and Model pages show theirs in the page instead, with more room. Their values
are bound to the address, so that a link, back and forward restore an audit. Nothing of a user's table ever enters it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import MISSING
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.base.serialize import fingerprint
from core.base.settings import Setting, params
from core.datasets.catalog import CATALOG
from core.models import GIVEN_PREDICTIONS, METHOD_TITLES, PRIVATE_METHODS
from core.stats.estimates import epsilon_text, tolerance_text
from core.stats.fairness import METRIC_TITLES
from core.studies.correction import ATTACKERS, CorrectionSettings
from core.studies.subject import AuditConfig
from pages.shell import panels, shell, signin, state
from pages.shell.background import cancel_update
from pages.shell.cached import kept_tolerance, uploaded_data

Kind = Literal[
    "toggle",
    "selectbox",
    "multiselect",
    "slider",
    "select_slider",
    "number_input",
    "text_input",
    "text_area",
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
    "gone": "This address was made for an uploaded table that is gone. Below is the demo, not that result: upload the "
    "table again on the Data page.",
    "accepted": "This report is not of your uploaded table, which is gone: upload it again on the Data page.",
    "roles": "This link was made with column roles that are not in the link. Below are the table's own, not that "
    "result: ask for the roles, then set them on the Data page.",
    "waiting": "A table waited here for the roles of its columns. It stayed in memory, and a reload loses it: upload "
    "it again.",
}
"""What to say where an address is without what it was made for."""

_WITHOUT_AUDIT = ("learn", "glossary")
"""Pages about no audit."""

S = TypeVar("S")

_AUDIT = params(AuditConfig)
_CORRECTION = params(CorrectionSettings)


def control(
    setting: Setting, key: str, kind: Kind | None = None, *, container: Any = st, **options: Any
) -> Any:
    """Draw the widget of a setting as its `Param` declares it, and return its value.

    The session keeps it unless `persist_state` says otherwise. Without a `kind` a flag is switched, a name chosen,
    several names ticked, a privacy budget picked, a number typed, all else written. `options` are the widget's
    arguments where they are not what is declared: words of the page's own, fewer `options`, or as a mapping with what
    to call each, another `value`.
    """
    param = setting.param
    kind = kind or _kind(setting)
    options = {"label": param.title, "help": setting.comment, "persist_state": "session", **options}
    start = options.pop("value", setting.default)
    if param.infinite:
        options = {"options": EPSILONS, "format_func": epsilon_text, **options}
    if kind in ("selectbox", "multiselect", "select_slider"):
        names = options.get("options", param.options) or ()
        options["options"] = list(names)
        if isinstance(names, Mapping):
            options.setdefault("format_func", names.__getitem__)
    if kind == "selectbox":
        options["index"] = options["options"].index(start) if start in options["options"] else 0
    elif kind == "multiselect":
        options["default"] = list(start)
    elif start is not MISSING:
        options["value"] = start
    if kind in ("slider", "number_input"):
        least, most = (
            None if end is None else setting.base(end) for end in (param.least, param.most)
        )
        options = {"min_value": least, "max_value": most, "step": param.step, **options}
    elif kind in ("text_input", "text_area") and param.most:
        options["max_chars"] = int(param.most)
    return getattr(container, kind)(key=key, **options)


def bound(setting: Setting, key: str, kind: Kind | None = None, **options: Any) -> Any:
    """Draw the widget of a setting that defines what a page says: its value is in the address, and in copied links."""
    return control(setting, key, kind, **state.bind(key), **options)


def _kind(setting: Setting) -> Kind:
    if setting.base is bool:
        return "toggle"
    if setting.many:
        return "multiselect"
    if setting.base in (int, float):
        if setting.param.infinite:
            return "select_slider"
        return "number_input"
    if setting.param.options is not None:
        return "selectbox"
    if setting.param.form == "prose":
        return "text_area"
    return "text_input"


def filled(
    part: Any, names: Iterable[str], key: str, places: Iterable[Any], **options: Any
) -> dict[str, Any]:
    """Draw some settings of a part of a plan or a policy, a place each, as they are set there; return their values.

    `key` has the place of the name in braces. The session does not keep what is typed: a form hands it over.
    """
    settings = params(type(part))
    options = {"persist_state": None, **options}
    return {
        name: control(
            settings[name],
            key.format(name),
            container=container,
            **{"value": getattr(part, name), **options},
        )
        for name, container in zip(names, places, strict=True)
    }


def settings_of(cls: type[S], prefix: str, defaults: Mapping[str, Any] = MappingProxyType({})) -> S:
    """Draw the settings of a study, three in a row, their values bound to the address; return what is set.

    `defaults` are values that the page begins with, where those of the settings leave the study out or a plan has
    others; a setting that nobody has changed follows them. A list that is no choice of names, a table and a file stay
    at their defaults.
    """
    drawn = {name: setting for name, setting in params(cls).items() if _can_be_drawn(setting)}
    chosen = {}
    places = st.columns(3) if drawn else []
    for number, (name, setting) in enumerate(drawn.items()):
        first = {}
        if name in defaults:
            first = {"value": defaults[name]}
            state.follow(f"{prefix}_{name}", defaults[name])
        value = bound(setting, f"{prefix}_{name}", container=places[number % 3], **first)
        chosen[name] = tuple(value) if setting.many else value
    return cls(**chosen)


def _can_be_drawn(setting: Setting) -> bool:
    if setting.many or setting.default is MISSING:
        return setting.param.options is not None
    return setting.base is not tuple and setting.param.form in ("text", "line")


class PageParts(NamedTuple):
    """Places on a page that has audit settings of its own: above them, and beside them."""

    opening: DeltaGenerator
    beside: DeltaGenerator


_TABLE_SETTINGS = ("dataset", "attribute")
_MODEL_SETTINGS = ("metric", "row", "method", "epsilon", "depth", "share")
"""Places in the sidebar from the top, for what the Data and the Model page show themselves; a row has two settings."""


def audit_settings(page: str) -> None:
    """Draw what is audited and its settings: on the page that has room for them, else in the sidebar.

    All are drawn before the page runs, by the script that all pages share, and on every page, also where nobody sees
    them: so the page reads what is in the address, and the browser takes along what is drawn when it leaves a page. For
    that they are in an expander, which keeps them while it is closed, and in no popover. The browser forgets what a
    widget wrote into the address when the widget goes, so where one stood before is emptied before it is drawn.
    """
    another_page = state.begin_run(page)
    _note_missing(another_page=another_page)
    if state.drawn():
        shell.offer_cancel(cancel_update)
    if signin.role() is signin.Role.ASKER:
        return
    visible = page not in _WITHOUT_AUDIT
    on_data = page == "data" and uploaded_data(state.PENDING) is None
    on_model = page == "model"
    warning = st.container()
    opening = _container(on_data or on_model)
    data_container = _container(on_data)
    model_container = _container(on_model)
    with st.sidebar:
        summary = st.empty()
        key = "audit_settings" if visible else "unseen_settings"
        with st.expander("Audit settings", key=key):
            places = {name: _container(not on_data) for name in _TABLE_SETTINGS}
            places |= {name: _container(not on_model) for name in _MODEL_SETTINGS}
    if on_data:
        with data_container:
            st.session_state["page_parts"] = PageParts(opening, _data_settings())
    else:
        _audited(places, *_TABLE_SETTINGS)
    if visible:
        _mark_changed_roles()
        with warning:
            _warn_without(page)
    if on_model:
        st.session_state["page_parts"] = PageParts(opening, opening)
        with model_container:
            _model_settings()
    else:
        _sidebar_settings(places)
    if visible:
        st.session_state["audited_summary"] = summary
        summary.markdown(_summary())


def _container(used: bool) -> DeltaGenerator:
    """Return a place for what is drawn later, or empty it now, if something was drawn there before."""
    if used:
        return st.container()
    return st.empty()


def page_parts() -> PageParts:
    """Return the places on a page whose settings `audit_settings` has drawn."""
    parts: PageParts = st.session_state["page_parts"]
    return parts


def _sidebar_settings(places: dict[str, DeltaGenerator]) -> None:
    """Draw how the audited model is trained, in the sidebar."""
    left, right = places["row"].columns(2)
    places = {**places, "tolerance": left, "seed": right, "train_share": places["share"]}
    _audited(places, "metric", "seed", "tolerance")
    if state.has_predictions():
        places["method"].caption("Audited are the predictions in your table; no model is trained.")
    else:
        _audited(places, "method", *_depth(), *_train_share())


def _mark_changed_roles() -> None:
    """Let the address say that a built-in table's roles were changed, or a table waits for its; not what they are."""
    roles = state.chosen_roles()
    built_in = state.dataset_name() != state.UPLOAD
    changed = (
        built_in and roles is not None and roles.key == st.session_state.get("attribute", roles.key)
    )
    if (
        changed or st.session_state["link_without"] == "roles"
    ):  # so that it is said after a reload, too
        st.query_params["roles"] = "changed"
    else:
        st.query_params.pop("roles", None)
    if uploaded_data(state.PENDING) is not None:
        st.query_params["waiting"] = "table"
    else:
        st.query_params.pop("waiting", None)


def _note_missing(*, another_page: bool) -> None:
    """Note what the address was made for that the session does not have.

    Only the first address of a session, and those that back and forward open, were not made by this run.
    """
    history = state.from_history()
    if "link_without" in st.session_state and not history:
        if another_page and st.session_state["link_without"] == "gone":
            accept_stand_in()
        return
    table = st.query_params.get("dataset") == _OWN_TABLE and uploaded_data(state.UPLOAD) is None
    without = next((name for name in ("roles", "waiting") if name in st.query_params), "")
    if table:
        without = "gone" if history else "table"
    st.session_state["link_without"] = without


def _warn_without(page: str) -> None:
    """Say that an address was made for what is not in it, as long as something else is shown instead."""
    without = st.session_state["link_without"]
    replaced = uploaded_data(state.UPLOAD) is not None
    if without != "gone":
        replaced = (
            replaced or uploaded_data(state.PENDING) is not None or state.chosen_roles() is not None
        )
    if replaced:
        st.session_state["link_without"] = without = ""
    if not without:
        return
    if page == "report" and is_stand_in():  # which shows no verdict on it
        return
    only_page = {"accepted": "report", "waiting": "data"}.get(without, page)
    if page != only_page:
        return
    panels.problem(_WITHOUT[without])
    if page != "data":
        shell.link("data")


def is_stand_in() -> bool:
    """Whether the demo stands in for an uploaded table that the address was made for."""
    return st.session_state["link_without"] in ("table", "gone")


def accept_stand_in() -> None:
    """Take the demo as what is asked for, from now on; the Report page goes on saying that it is the demo's."""
    st.session_state["link_without"] = "accepted"


_VERDICT = "audited_verdict"
"""Where the session keeps the last verdict of the Report page, and what it is of."""


def show_verdict(verdict: str) -> None:
    """Show the verdict on what is audited in the sidebar, on every page until something else is audited."""
    st.session_state[_VERDICT] = (_audited_mark(), verdict)
    st.session_state["audited_summary"].markdown(_summary())


def _summary() -> str:
    """Return what is audited, and the verdict on it where there is one."""
    audited = _audited_text()
    mark, verdict = st.session_state.get(_VERDICT, ("", ""))
    if mark == _audited_mark():
        return f"{audited}\n\nVerdict: {verdict}"
    return audited


def _audited_mark() -> str:
    """Return what tells an audit from others: settings, column roles, and the cells of a table of one's own."""
    uploaded = uploaded_data(state.UPLOAD)
    cells = ""
    if uploaded is not None:
        cells = uploaded.fingerprint
    return fingerprint(_audited_text(), state.chosen_roles(), cells)


def _audited_text() -> str:
    """Return what is audited, in two lines: data and attribute, constraint and seed, with a depth that was chosen."""
    dataset = state.dataset_name()
    names = state.attributes(dataset)
    uploaded = uploaded_data(state.UPLOAD)
    if dataset in CATALOG:
        title = CATALOG[dataset].title
    elif uploaded:
        title = uploaded.title
    else:
        title = _OWN_TABLE
    attribute = names.get(
        st.session_state.get("attribute", ""), next(iter(names.values()), "columns to choose")
    )
    metric, tolerance, seed = (state.setting(name) for name in ("metric", "tolerance", "seed"))
    if _depth() and not state.has_predictions():
        depth = f" · depth {state.setting('depth')}"
    else:
        depth = ""
    if state.has_predictions():
        method = GIVEN_PREDICTIONS
    else:
        method = state.setting("method")
    if method == state.default("method"):
        options = ""
    else:
        options = f"{METHOD_TITLES[method]}\n\n"
    return (
        f"#### Audited\n\n{shell.escape(title)} · {shell.escape(attribute)}\n\n"
        f"{options}{METRIC_TITLES[metric]} ≤ {tolerance_text(tolerance)}{depth} · seed {seed}"
    )


def _data_settings() -> DeltaGenerator:
    """Draw, on the Data page, which table and which attribute; return the place beside them."""
    settings, beside = st.columns([3, 2], gap="large")
    with settings:
        _audited_in_row(dataset=1, attribute=1)
        if (entry := CATALOG.get(state.dataset_name())) is not None:
            st.caption(f"{entry.people}. {entry.about}")
    return beside


def _model_settings() -> None:
    """Draw, on the Model page, how the model is trained; of given predictions only what is asked of them."""
    if state.has_predictions():
        shell.whisper(
            "The predictions in your table",
            "Nothing is trained; which columns they are is on the Data page",
        )
        _audited_in_row(metric=2, tolerance=1, seed=1)
        return
    depth = dict.fromkeys(_depth(), 2)
    share = dict.fromkeys(_train_share(), 3)
    _audited_in_row(method=3, **depth, metric=3, tolerance=2, **share, seed=2)


def _train_share() -> list[str]:
    """Return the share of records the model is trained on, unless the table says whom it is trained on."""
    roles = state.chosen_roles()
    if roles is not None and roles.sets:
        return []
    return ["train_share"]


def _depth() -> list[str]:
    """Return the depth of the trees, once it is another than at first."""
    changed = state.setting("depth") != state.default("depth") or "depth" in st.query_params
    if changed:
        return ["depth"]
    return []


def _audited_in_row(**shares: int) -> None:
    """Draw some of the audit's settings beside each other, with these shares of the width."""
    _audited(dict(zip(shares, st.columns(list(shares.values())), strict=True)), *shares)


def _audited(places: Mapping[str, DeltaGenerator], *names: str) -> None:
    """Draw some of the audit's settings, each in its place.

    The tolerance comes last, because it starts where the others say. A budget stands below the method that has one,
    unless it has a place of its own.
    """
    for name in sorted(names, key=lambda name: name == "tolerance"):
        with places[name]:
            value = _DRAWN[name]() if name in _DRAWN else _setting(name)
        if value in PRIVATE_METHODS:
            with places.get("epsilon", places[name]):
                _setting("epsilon")


def _setting(name: str) -> Any:
    options = {"value": state.default(name), **_OPTIONS[name]}
    if isinstance(options["help"], tuple):
        options["help"] = options["help"][state.has_predictions()]
    return bound(_AUDIT[name], name, **options)


_OPTIONS: dict[str, dict[str, Any]] = {
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
    "epsilon": {
        "help": "Smaller is more private: more DP training noise on every count the tree is grown from."
    },
    "depth": {
        "help": "Depth of the model's trees, at most. Deeper trees remember more of their training records."
    },
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
    if (
        uploaded_data(state.UPLOAD) is not None or state.dataset_name() == state.UPLOAD
    ):  # one that got lost stays chosen
        titles[state.UPLOAD] = _OWN_TABLE
    return panels.choose(
        "Dataset",
        titles,
        key="dataset",
        help="Add your own table on the Data page.",
        on_change=st.session_state.update,
        kwargs={"link_without": ""},
        **state.bind("dataset"),
    )


def _attribute() -> Any:
    """Choose the sensitive attribute among those set up for the table."""
    label = "Sensitive attribute"
    names = state.attributes(state.dataset_name())
    if not names:
        st.selectbox(
            label, [], placeholder="choose on the Data page", disabled=True, key="no_attribute"
        )
        return None
    help = "What the attacker tries to learn about each person. Other columns and groups: on the Data page."
    bind = state.bind("attribute")
    if state.dataset_name() != state.UPLOAD:
        return panels.choose(label, names, key="attribute", help=help, **bind)
    if "attribute" not in st.session_state and st.session_state.get("own_attribute") in names:
        st.session_state["attribute"] = st.session_state[
            "own_attribute"
        ]  # which the address may not hold
    st.session_state["own_attribute"] = panels.choose(label, names, key="attribute", help=help)
    return st.session_state["own_attribute"]


def _tolerance() -> Any:
    """Choose the tolerance, which predictions that came with a table start at the smallest they keep to."""
    if state.has_predictions():
        table = uploaded_data(state.UPLOAD)
    else:
        table = None
    config = state.config(table) if table is not None else None
    if table is None or config is None:
        state.start_tolerance("", state.default("tolerance"))
    else:
        state.start_tolerance(
            fingerprint(table.fingerprint, config.roles), kept_tolerance(table, config)
        )
    return _setting("tolerance")


_DRAWN = {"dataset": _dataset, "attribute": _attribute, "tolerance": _tolerance}
"""Setting -> what draws it, where that is not made from its declaration."""


def attacker_settings() -> dict[str, str]:
    """Choose the attack, and what changing a guess costs."""
    left, right = st.columns(2)
    adversary = panels.choose(
        "Attack",
        {kind: f"{title[:1].upper()}{title[1:]}" for kind, title in ATTACKERS.items()},
        key="adversary",
        **state.bind("adversary"),
        help=(
            "A and A′ are published (Ferry et al.): a random forest with balanced class weights. A guesses from "
            "features and label, A′ also from the model's predictions. Imputation takes the best of boosting and "
            "regression, without class weights, and is calibrated."
        ),
        container=left,
    )
    cost = bound(
        _CORRECTION["cost"],
        "cost",
        container=right,
        help=(
            "The correction changes the cheapest guesses. Confidence (published): the attacker's confidence, raised to "
            "the power that works best on their validation set. Log-odds: starts from calibrated guesses and, with two "
            "groups, finds the most probable answer. Uniform: changes as few guesses as possible."
        ),
    )
    return {"adversary": adversary, "cost": cost}
