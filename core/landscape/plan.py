"""Which models a map holds, and with which seeds they are made and attacked."""

from __future__ import annotations

import math
from dataclasses import dataclass

from core.errors import InputError
from core.fairness import METRICS
from core.models.private_fair import TREE_SHARE
from core.results import Result
from core.validation import choice, privacy_budget, seed_value, unit_interval

TOLERANCES: tuple[float | None, ...] = (0.001, 0.01, 0.02, 0.05, 0.1, 0.2, None)
"""Trained for and told; None: nothing is promised, and the attacker is told nothing."""

EPSILONS = (math.inf, 10.0, 3.0, 1.0, 0.3, 0.1)
"""Privacy budgets, less privacy first."""

MEMBER_ATTACKER = "loss threshold on the tree's scores"
"""Who is after the members (Yeom et al. 2018)."""

_MOST_SEEDS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class LandscapePlan(Result):
    """What decides a map besides the table.

    Attributes
    ----------
    metric : str
        Fairness metric of tolerance and unfairness.
    train_share : float in [0.1, 0.8]
        See `core.config.AuditConfig`.
    tolerances : tuple of float or None
    seeds : tuple of int
        Each draws a split, the noise and the answers, and trains the attackers anew.
    tree_share : float in (0, 1)
        Share of the budget for the tree where a tolerance is promised; without one the tree gets all.
    """

    metric: str = "statistical_parity"
    train_share: float = 0.34
    tolerances: tuple[float | None, ...] = TOLERANCES
    epsilons: tuple[float, ...] = EPSILONS
    seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    tree_share: float = TREE_SHARE

    def __post_init__(self) -> None:
        choice(self.metric, METRICS, name="metric")
        for tolerance in self.tolerances:
            if tolerance is not None:
                unit_interval(tolerance, name="tolerance")
        for epsilon in self.epsilons:
            privacy_budget(epsilon)
        for seed in self.seeds:
            seed_value(seed)
        if not 0.0 < self.tree_share < 1.0:
            raise InputError(f"tree_share must be in (0, 1), got {self.tree_share!r}.")
        for name in ("tolerances", "epsilons", "seeds"):
            values = getattr(self, name)
            if not values or len(set(values)) < len(values):
                raise InputError(f"{name} must be different values, at least one, got {values!r}.")
        if len(self.seeds) > _MOST_SEEDS:
            raise InputError(f"There may be at most {_MOST_SEEDS} seeds, got {len(self.seeds)}.")
