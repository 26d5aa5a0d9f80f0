"""From widgets to a frozen `AuditConfig`, and the roles a user has chosen for a table."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.base.settings import params
from core.datasets.catalog import CATALOG
from core.datasets.dataset import Table
from core.datasets.roles import Roles
from core.models import GIVEN_PREDICTIONS, PRIVATE_METHODS
from core.studies.subject import TRAINED_TOLERANCE, AuditConfig

UPLOAD = "upload"
"""Name under which a user's own table is chosen."""

PENDING = "pending_upload"
"""Name of a user's table that is read and waits for its column roles."""

OWN_RATINGS = "own_ratings"
"""Name under which a user's own ratings are chosen."""

BADGES = {"demo": "synthetic data", UPLOAD: "your file"}
"""Audited table -> badge of the pages about it."""

_DEFAULTS: dict[str, Any] = {
    **{name: setting.default for name, setting in params(AuditConfig).items()},
    "dataset": "demo",
    "tolerance": TRAINED_TOLERANCE,
    "epsilon": 10.0,
}
"""Setting of the audit -> its value before anybody has touched it."""


def default(key: str) -> Any:
    """Return a setting's value before anybody has touched it."""
    return _DEFAULTS[key]


def choose(key: str, value: Any) -> None:
    """Set a setting's widget at the start of the next run; within a run a drawn widget cannot be set."""
    st.session_state.setdefault("chosen_next", {})[key] = value


def choose_model(config: AuditConfig) -> None:
    """Set what a model is trained by at the start of the next run."""
    names = ["method", "tolerance", "depth", "seed"]
    if config.method in PRIVATE_METHODS:
        names.append("epsilon")
    for name in names:
        choose(name, getattr(config, name))


def bind(key: str) -> dict[str, Any]:
    """Return the arguments of a widget whose value is in the address, and note its key."""
    st.session_state.setdefault("address_keys", set()).add(key)
    return {"bind": "query-params"}


def from_history() -> bool:
    """Whether this run was asked for by the browser's back or forward button."""
    context = get_script_run_ctx()
    return bool(context and context.is_history_navigation and not context.fragment_ids_this_run)


def begin_run(page: str) -> bool:
    """Note the page, and set the widgets as `choose` asked; called before any of them is drawn.

    Returns whether it is another page than before.

    Back and forward open an address as a link does: what the session remembers of the settings that are in the address
    is forgotten, so that reading one, before its widget is drawn or after, reads the address.
    """
    another = st.session_state.get("page_now") != page
    if another:
        st.session_state.pop("drawn", None)
    st.session_state["page_now"] = page
    choices = st.session_state.pop("chosen_next", {})
    if not from_history():
        if another:  # the browser may have left some of them behind
            choices = {
                key: st.session_state[key] for key in _DEFAULTS if key in st.session_state
            } | choices
        for key, value in choices.items():
            st.session_state[key] = value
        return another
    for key in st.session_state.get("address_keys", ()):
        for name in (key, f"{key}_began"):
            if name in st.session_state:
                del st.session_state[name]
    return another


def slider_position(key: str, first: float, *, most: float) -> float:
    """Return where a slider from 0 to `most` stands that is drawn further down.

    That is in the session, at first in the address; or `first`, also where the address asks for what it does not have.
    """
    follow(key, first, most)
    try:
        requested = float(st.session_state.get(key, st.query_params.get(key, first)))
    except ValueError:
        return first
    if 0 <= requested <= most:
        return requested
    return first


def follow(key: str, first: float, most: float | None = None) -> None:
    """Let a setting nobody has changed, or a slider with another end, stand where it starts now.

    Called before its widget is drawn.
    """
    began, end = st.session_state.get(f"{key}_began", (first, most))
    if end != most or (began != first and st.session_state.get(key) == began):
        st.session_state[key] = first
    st.session_state[f"{key}_began"] = [first, most]  # a list, so that Cancel puts it back, too


def drawn() -> bool:
    """Whether the page on screen shows a result."""
    return (
        "drawn" in st.session_state and st.session_state["drawn"][0] == st.session_state["page_now"]
    )


def in_fragment() -> bool:
    """Whether a part of the page is drawn again by itself."""
    context = get_script_run_ctx()
    return bool(context and context.fragment_ids_this_run)


def note_drawn() -> None:
    """Note that the page shows a result, and under which settings."""
    settings = {
        str(key): value
        for key, value in st.session_state.items()
        if isinstance(value, (str, int, float, list))
    }
    st.session_state["drawn"] = (st.session_state["page_now"], settings)


BUTTON = re.compile(
    r"(^|_)(again|ask|audit|back|cancel|create|drop|keep|next|open|register|remove|reset|sign|start|use)(_|$)"
)
"""Keys of buttons: True in the run after a press, and nobody may put that back."""


def restore_drawn() -> None:
    """Put the settings back to those of the result that the page shows; called before a run of the page."""
    for key, value in st.session_state["drawn"][1].items():
        if st.session_state.get(key) != value and not BUTTON.search(key):
            st.session_state[key] = value


def setting(key: str) -> Any:
    """Return a setting's value."""
    value = st.session_state.get(key)
    if value is None:
        return _DEFAULTS[key]
    return value


def dataset_name() -> str:
    """Return the name of the chosen table."""
    return str(setting("dataset"))


def epsilon() -> float:
    """Return the privacy budget of the private tree, whether or not it is the chosen method."""
    return float(setting("epsilon"))


def _own_roles(dataset: str) -> list[Roles]:
    roles: list[Roles] = st.session_state.get(f"own_roles_{dataset}", [])
    return roles


def attributes(dataset: str) -> dict[str, str]:
    """Return the groupings on offer by key, and what to call them: the dataset's own, then the user's additions."""
    if dataset in CATALOG:
        offered = CATALOG[dataset].attributes
    else:
        offered = {}
    added = {roles.key: _grouping_title(roles) for roles in _own_roles(dataset)}
    return offered | {column: name for column, name in added.items() if column not in offered}


def _grouping_title(roles: Roles) -> str:
    """Return the name of an attribute, with how its column makes groups."""
    if roles.each:
        return f"{roles.attribute}, each value"
    if roles.cuts:
        return f"{roles.attribute}, ranges"
    return roles.attribute


def attribute_of(config: AuditConfig) -> str:
    """Return what the sensitive attribute is called."""
    if config.roles:
        return config.roles.attribute
    return "attribute"


def keep_roles(dataset: str, roles: Roles) -> None:
    """Remember the roles a user chose and make them the audited ones."""
    rest = [roles_before for roles_before in _own_roles(dataset) if roles_before.key != roles.key]
    st.session_state[f"own_roles_{dataset}"] = [roles, *rest]
    choose("attribute", roles.key)


def change_roles(dataset: str, change: Callable[[Roles], Roles]) -> None:
    """Change all roles a user chose for a table, those of other attributes too."""
    st.session_state[f"own_roles_{dataset}"] = [change(roles) for roles in _own_roles(dataset)]


def start_tolerance(subject: str, start: float) -> None:
    """Set the tolerance to where it starts for a subject: when this is a new one, or nobody has changed it since.

    The subject is what the tolerance is about; "" for a model that is trained.
    """
    if subject != st.session_state.get("tolerance_of", ""):
        st.session_state["tolerance"] = start
    st.session_state["tolerance_of"] = subject
    follow("tolerance", start)


def forget_roles(dataset: str) -> None:
    """Forget the roles a user chose."""
    st.session_state.pop(f"own_roles_{dataset}", None)


def chosen_roles(table: Table | None = None) -> Roles | None:
    """Return the roles to audit a table with, the user's own before the suggested; None while it has none.

    Without a table those the user chose for the chosen one.
    """
    if table is None:
        offered = _own_roles(dataset_name())
    else:
        offered = [*_own_roles(table.name), *table.roles]
    attribute = st.session_state.get("attribute")
    return next((roles for roles in offered if roles.key == attribute), next(iter(offered), None))


def has_predictions() -> bool:
    """Whether the audited model came with the table as its predictions, so that none is trained."""
    roles = chosen_roles()
    return roles is not None and roles.gives_predictions


def roles_with_key(table: Table, key: str) -> Roles:
    """Return the roles with this key, the user's own before the suggested."""
    return next(roles for roles in (*_own_roles(table.name), *table.roles) if roles.key == key)


def keep_forest(table: Table, parameters: tuple[tuple[str, Any], ...] | None) -> None:
    """Attack with a forest of these parameters from now on, while the roles stay; None: with the published ones."""
    st.session_state["forest"] = (table.fingerprint, chosen_roles(table)), parameters


def config(table: Table) -> AuditConfig | None:
    """Return the audit the settings describe; None while a user's table has no roles.

    A table that brings a model's predictions is audited with these, whatever method is set for others.
    """
    roles = chosen_roles(table)
    if roles is None:
        return None
    if roles.gives_predictions:
        method = GIVEN_PREDICTIONS
    else:
        method = setting("method")
    depth = setting("depth")
    if method == GIVEN_PREDICTIONS:
        depth = default("depth")
    training_epsilon = epsilon() if method in PRIVATE_METHODS else math.inf
    train_share = setting("train_share")
    if method == GIVEN_PREDICTIONS or roles.sets:
        train_share = default("train_share")
    tuned_on, forest = st.session_state.get("forest", (None, None))
    if tuned_on != (table.fingerprint, roles):
        forest = None
    return AuditConfig(
        dataset=table.name,
        roles=roles,
        method=method,
        metric=setting("metric"),
        tolerance=float(setting("tolerance")),
        train_share=float(train_share),
        seed=int(setting("seed")),
        epsilon=training_epsilon,
        forest=forest,
        depth=int(depth),
    )
