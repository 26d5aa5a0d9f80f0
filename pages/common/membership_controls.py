"""Whose membership is at stake, and the controls: the model under attack, its budget and depth, FairPick, the group."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from core.config import AuditConfig
from core.datasets.dataset import Table
from core.estimates import epsilon_text
from core.fingerprint import fingerprint
from core.membership import TARGET_TITLES, TARGETS, MemberPeople, MembershipSettings, default_depth
from core.models import GIVEN
from core.settings import params
from pages.common import cached, panels
from pages.common.background import Store, need
from pages.common.controls import control

EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, math.inf)
"""Positions of the slider."""

MOST_SHADOWS = 64
SHADOWS = {"audited": 16, "random_forest": 16}
"""Shadow models of LiRA, and of what takes long to train."""


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """Whose membership is at stake, with the audit in the sidebar and the store of all that follows from them."""

    config: AuditConfig
    table: Table
    people: MemberPeople
    store: Store


def people() -> People:
    """Return the people; waits while they are prepared."""
    from core.membership import member_people

    config, table = cached.audited()
    roles, store = config.roles or table.roles[0], cached.store_of(config.dataset)
    key = fingerprint("member people", table.fingerprint, roles)
    who = need(store, key, "Preparing the people", lambda _: member_people(table, roles))
    return People(config=config, table=table, people=who, store=store)


_SETTINGS = params(MembershipSettings)

_SECTIONS = {
    "over_epsilon": "Over ε",
    "accuracy": "Accuracy over ε",
    "picking": "FairPick",
    "others": "Other groups",
    "accounting": "Accounting",
}


def published() -> bool:
    """Switch to the published protocol."""
    switch: bool = control(
        _SETTINGS["literal"],
        "member_published",
        help=(
            "The paper reads VD alone, by its network; its tree draws noise anew for each attribute and lets no budget "
            "be saved, and its FairPick drops the negative deletions it asks for."
        ),
    )
    return switch


def chosen(who: People, published: bool) -> MembershipSettings:
    """Choose the model under attack, everything as published or not, and the group, in one row.

    The settings hold what the controls show, also where it does not matter to the model; `attacked_with` leaves it out.
    """
    given, people = who.config.method == GIVEN, who.people
    many = people.n_groups > 2
    row = st.columns([3, 4, 3, 3, 3] if many else [3, 4, 3, 3], gap="medium", vertical_alignment="bottom")
    names = [GIVEN if given and name == "audited" else name for name in TARGETS]
    target = control(
        _SETTINGS["target"],
        "member_target",
        place=row[0],
        options={name: TARGET_TITLES[name] for name in names},
        help="The attacker sees the probabilities this model gives. Only the private tree has a privacy budget.",
    )
    target = target if target in names else TARGETS[0]
    tree = _tree(row[1:], target, people)
    if target == "audited" and who.config.method == "dp_id3":
        tree["epsilon"] = who.config.epsilon
    elif target != "dp_id3":
        tree["epsilon"] = math.inf
    return MembershipSettings(
        target=target,
        **tree,
        accounting="literal" if published else "savings",
        literal=published,
        group=_group(row[4], people) if many else 1,
        seed=who.config.seed,
        shadows=SHADOWS.get(target, MOST_SHADOWS),
    )


def _tree(row: Sequence[Any], target: str, people: MemberPeople) -> dict[str, Any]:
    """Choose budget, depth and θ, which other models have not; FairPick needs one that is trained here."""
    first = default_depth(people)
    epsilon = control(
        _SETTINGS["epsilon"],
        "member_epsilon",
        "select_slider",
        place=row[0],
        options=EPSILONS,
        format_func=epsilon_text,
        disabled=target != "dp_id3",
        help="Smaller is more private: more noise on the counts the tree is grown from. ∞ is no noise.",
    )
    depth = control(
        _SETTINGS["max_depth"],
        f"member_depth_{first}",
        "slider",
        place=row[1],
        max_value=20,
        value=first,
        disabled=target in ("logistic", "audited", GIVEN),
        help="The private tree asks each column once on a path, so more levels than columns change nothing.",
    )
    theta = control(
        _SETTINGS["theta"],
        "member_theta",
        "slider",
        place=row[2],
        min_value=0.1,
        format="%.1f",
        disabled=target == GIVEN,
        help=(
            "FairPick deletes training records until the groups' shares of each cluster of similar people differ only "
            "θ times as much as before. 1 deletes nobody."
        ),
    )
    return {"epsilon": float(epsilon), "max_depth": depth, "theta": 1.0 if target == GIVEN else theta}


def _group(place: Any, people: MemberPeople) -> int:
    group: int = control(
        _SETTINGS["group"],
        f"member_group_{people.attribute}_{people.n_groups}",
        "selectbox",
        place=place,
        help=None,
        options=dict(enumerate(people.group_names)),
    )
    return group


def attacked_with(chosen: MembershipSettings) -> MembershipSettings:
    """Return the settings of the audit; what does not matter to it is left at its default."""
    tree, picks = chosen.target == "dp_id3", chosen.theta < 1.0
    return replace(
        chosen,
        max_depth=chosen.max_depth if chosen.target in ("dp_id3", "decision_tree", "random_forest") else 1,
        accounting=chosen.accounting if tree else "savings",
        literal=picks and chosen.literal,
        group=chosen.group if picks else 1,
    )


def section() -> str:
    """Choose what is shown below."""
    return str(panels.pick("Look further", _SECTIONS, key="further_members", default="over_epsilon"))
