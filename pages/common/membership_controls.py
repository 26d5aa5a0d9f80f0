"""Whose membership is at stake, and the controls: the model under attack, its budget and depth, FairPick, the group."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import streamlit as st

from core.config import AuditConfig
from core.datasets.dataset import AuditDataset, Table
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
    """Whose membership is at stake.

    Attributes
    ----------
    config, table : AuditConfig and Table
        The audit in the sidebar, and its table.
    store : Store
        Where all that follows from these people is kept.
    dataset : AuditDataset or None
        For the audited model, trained here or given.
    """

    config: AuditConfig
    table: Table
    people: MemberPeople
    store: Store
    dataset: AuditDataset | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """Which model is attacked, and how it is read.

    Attributes
    ----------
    target : str
        One of `core.membership.TARGETS`, or "given".
    epsilon : float
        Privacy budget the model is trained with; inf without one.
    theta : float
        FairPick's.
    published : bool
        Whether everything is as published.
    group : int
        Code of the group set against all others.
    """

    target: str
    epsilon: float
    depth: int
    theta: float
    published: bool
    group: int
    seed: int

    @property
    def private(self) -> bool:
        """Whether a finite privacy budget applies."""
        return math.isfinite(self.epsilon)

    @property
    def settings(self) -> MembershipSettings:
        """The settings of the audit; what does not matter to it is left at its default."""
        tree = self.target == "dp_id3"
        deep = self.target in ("dp_id3", "decision_tree", "random_forest")
        picks = self.theta < 1.0
        return MembershipSettings(
            target=self.target,
            epsilon=self.epsilon,
            max_depth=self.depth if deep else 1,
            accounting="literal" if tree and self.published else "savings",
            theta=self.theta,
            literal=picks and self.published,
            group=self.group if picks else 1,
            seed=self.seed,
            shadows=SHADOWS.get(self.target, MOST_SHADOWS),
        )


def people() -> People:
    """Return the people; waits while they are prepared."""
    config, table = cached.audited()
    roles = config.roles or table.roles[0]
    store = cached.store_of(config.dataset)
    key = fingerprint("member people", table.fingerprint, roles)

    def prepare() -> object:
        from core.membership import member_people

        return member_people(table, roles)

    who = need(store, key, "Preparing the people", lambda job: prepare())
    return People(config=config, table=table, people=who, store=store)


def attacked_by(who: People, chosen: Chosen) -> People:
    """Return the people with what else the target needs: the audited model its own arrays, or its predictions."""
    if chosen.target not in ("audited", GIVEN):
        return who
    config = who.config
    return replace(who, dataset=cached.dataset_of(who.table, config.roles or who.table.roles[0]))


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


def _target(*, given: bool) -> str:
    """Choose among the models trained here, and the given one in place of the audited one where there is one."""
    targets = [GIVEN if given and name == "audited" else name for name in TARGETS]
    value = control(
        _SETTINGS["target"],
        "member_target",
        options={name: TARGET_TITLES[name] for name in targets},
        help="The attacker sees the probabilities this model gives. Only the private tree has a privacy budget.",
    )
    return value if value in targets else TARGETS[0]


def _epsilon(*, disabled: bool) -> float:
    value = control(
        _SETTINGS["epsilon"],
        "member_epsilon",
        "select_slider",
        options=EPSILONS,
        format_func=epsilon_text,
        disabled=disabled,
        help="Smaller is more private: more noise on the counts the tree is grown from. ∞ is no noise.",
    )
    return float(value)


def _depth(people: MemberPeople, *, disabled: bool) -> int:
    first = default_depth(people)
    depth: int = control(
        _SETTINGS["max_depth"],
        f"member_depth_{first}",
        "slider",
        max_value=20,
        value=first,
        disabled=disabled,
        help="The private tree asks each column once on a path, so more levels than columns change nothing.",
    )
    return depth


def _theta(*, disabled: bool) -> float:
    theta: float = control(
        _SETTINGS["theta"],
        "member_theta",
        "slider",
        min_value=0.1,
        format="%.1f",
        disabled=disabled,
        help=(
            "FairPick deletes training records until the groups' shares of each cluster of similar people differ only "
            "θ times as much as before. 1 deletes nobody."
        ),
    )
    return theta


def _group(people: MemberPeople) -> int:
    group: int = control(
        _SETTINGS["group"],
        f"member_group_{people.attribute}_{people.n_groups}",
        "selectbox",
        help=None,
        options=dict(enumerate(people.group_names)),
    )
    return group


def section() -> str:
    """Choose what is shown below."""
    return str(panels.pick("Look further", _SECTIONS, key="further_members", default="over_epsilon"))
