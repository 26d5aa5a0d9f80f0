"""What is chosen about the model under attack, and the settings core makes of it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from core.config import AuditConfig
from core.datasets.dataset import AuditDataset, Table
from core.membership import MemberPeople, MembershipSettings
from pages.common.jobs import Store

__all__ = ["EPSILONS", "Chosen", "People"]

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
    people : MemberPeople
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
    depth : int
    theta : float
        FairPick's.
    published : bool
        Whether everything is as published.
    group : int
        Code of the group set against all others.
    seed : int
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
