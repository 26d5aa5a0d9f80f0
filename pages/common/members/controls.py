"""The controls of membership inference: the model under attack, its privacy budget, its depth, FairPick, the group."""

from __future__ import annotations

import math
from typing import Any

import streamlit as st

from core.membership import TARGET_TITLES, TARGETS, MemberPeople, default_depth
from core.models import GIVEN
from pages.common.members.choice import EPSILONS, Chosen, People

__all__ = ["chosen", "epsilon_text", "published", "section"]

_KEPT: dict[str, Any] = {"persist_state": "session"}

_SECTIONS = {
    "over_epsilon": "Over ε",
    "accuracy": "Accuracy over ε",
    "picking": "FairPick",
    "others": "Other groups",
    "accounting": "Accounting",
}


def published() -> bool:
    """Switch to the published protocol."""
    return st.toggle(
        "As published",
        key="member_published",
        help=(
            "The paper reads VD alone, by its network; its tree draws noise anew for each attribute and lets no budget "
            "be saved, and its FairPick drops the negative deletions it asks for."
        ),
        **_KEPT,
    )


def chosen(who: People, switch: bool) -> Chosen:
    """Choose the model under attack and the group, in one row."""
    many = who.people.n_groups > 2
    places = st.columns([3, 4, 3, 3, 3] if many else [3, 4, 3, 3], gap="medium", vertical_alignment="bottom")
    with places[0]:
        target = _target(given=who.config.method == GIVEN)
    with places[1]:
        epsilon = _epsilon(disabled=target != "dp_id3")
    with places[2]:
        depth = _depth(who.people, disabled=target in ("logistic", "audited", GIVEN))
    with places[3]:
        theta = _theta(disabled=target == GIVEN)
    if target == "audited" and who.config.method == "dp_id3":
        epsilon = who.config.epsilon
    elif target != "dp_id3":
        epsilon = math.inf
    group = 1
    if many:
        with places[4]:
            group = _group(who.people)
    return Chosen(
        target=target,
        epsilon=epsilon,
        depth=depth,
        theta=1.0 if target == GIVEN else theta,
        published=switch,
        group=group,
        seed=who.config.seed,
    )


def epsilon_text(epsilon: float) -> str:
    """Write a privacy budget."""
    return "∞" if math.isinf(epsilon) else f"{epsilon:g}"


def _target(*, given: bool) -> str:
    """Choose among the models trained here, and the given one in place of the audited one where there is one."""
    targets = [GIVEN if given and name == "audited" else name for name in TARGETS]
    value = st.selectbox(
        "Model under attack",
        targets,
        key="member_target",
        format_func=TARGET_TITLES.__getitem__,
        help="The attacker sees the probabilities this model gives. Only the private tree has a privacy budget.",
        **_KEPT,
    )
    return value if value in targets else TARGETS[0]


def _epsilon(*, disabled: bool) -> float:
    value = st.select_slider(
        "Privacy budget of the tree (ε)",
        EPSILONS,
        value=math.inf,
        key="member_epsilon",
        format_func=epsilon_text,
        disabled=disabled,
        help="Smaller is more private: more noise on the counts the tree is grown from. ∞ is no noise.",
        **_KEPT,
    )
    return float(value)


def _depth(people: MemberPeople, *, disabled: bool) -> int:
    first = default_depth(people)
    return st.slider(
        "Depth of the trees",
        1,
        20,
        value=first,
        key=f"member_depth_{first}",
        disabled=disabled,
        help="The private tree asks each column once on a path, so more levels than columns change nothing.",
        **_KEPT,
    )


def _theta(*, disabled: bool) -> float:
    return st.slider(
        "FairPick's θ",
        0.1,
        1.0,
        value=1.0,
        step=0.1,
        format="%.1f",
        key="member_theta",
        disabled=disabled,
        help=(
            "FairPick deletes training records until the groups' shares of each cluster of similar people differ only "
            "θ times as much as before. 1 deletes nobody."
        ),
        **_KEPT,
    )


def _group(people: MemberPeople) -> int:
    value = st.selectbox(
        "Group, against all others",
        list(range(people.n_groups)),
        index=1,
        key=f"member_group_{people.attribute}_{people.n_groups}",
        format_func=people.group_names.__getitem__,
        **_KEPT,
    )
    return int(value or 0)


def section() -> str:
    """Choose what is shown below."""
    value = st.segmented_control(
        "Look further",
        list(_SECTIONS),
        default="over_epsilon",
        required=True,
        key="further_members",
        format_func=_SECTIONS.__getitem__,
        **_KEPT,
    )
    return value or "over_epsilon"
