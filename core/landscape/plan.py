"""Which models a map holds, and with which seeds they are made and attacked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from core.errors import InputError
from core.fairness import METRICS
from core.models.private_fair import TREE_SHARE
from core.results import Result
from core.settings import validate
from core.study import Param
from core.validation import LEAST_EPSILON

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
    seeds : tuple of int
        Each draws a split, the noise and the answers, and trains the attackers anew.
    tree_share : float
        Without a promised tolerance the tree gets all.
    """

    metric: Annotated[
        str, Param("Fairness metric", "Metric of tolerance and unfairness: {options}.", options=METRICS)
    ] = "statistical_parity"
    train_share: Annotated[
        float, Param("Training share", "Share of the records that trains the models.", least=0.1, most=0.8)
    ] = 0.34
    tolerances: Annotated[
        tuple[float | None, ...],
        Param("Tolerances", "Trained for and told; none where nothing is promised.", least=0.0, most=1.0, some=True),
    ] = TOLERANCES
    epsilons: Annotated[
        tuple[float, ...],
        Param("Privacy budgets", "Privacy budgets, less privacy first.", least=LEAST_EPSILON, infinite=True, some=True),
    ] = EPSILONS
    seeds: Annotated[tuple[int, ...], Param("Seeds", "Seeds of the repeats.", least=0, most=2**32 - 1, some=True)] = (
        0,
        1,
        2,
        3,
        4,
    )
    tree_share: Annotated[
        float,
        Param(
            "Tree's share",
            "Share of the budget for the tree where a tolerance is promised.",
            least=0.0,
            most=1.0,
            above=True,
            below=True,
        ),
    ] = TREE_SHARE

    def __post_init__(self) -> None:
        validate(self)
        for name in ("tolerances", "epsilons", "seeds"):
            values = getattr(self, name)
            if len(set(values)) < len(values):
                raise InputError(f"{name} must be different values, at least one, got {values!r}.")
        if len(self.seeds) > _MOST_SEEDS:
            raise InputError(f"There may be at most {_MOST_SEEDS} seeds, got {len(self.seeds)}.")
