"""The settings that define an audit."""

from __future__ import annotations

import math
from dataclasses import dataclass

from core.adversaries.parameters import forest_parameters
from core.datasets.roles import Roles
from core.fairness import METRICS
from core.models import GIVEN, METHODS
from core.results import Result
from core.validation import choice, privacy_budget, seed_value, unit_interval

__all__ = ["TRAINED_TOLERANCE", "AuditConfig"]

TRAINED_TOLERANCE = 0.005
"""What a model is trained for where nobody says otherwise, on the pages and in plans; `AuditConfig` by itself has the
0.001 of the published experiments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditConfig(Result):
    """Everything that defines an audit, besides the table itself.

    Attributes
    ----------
    dataset : str
        Name of the table.
    roles : Roles or None
        Roles of its columns; None for the table's own default.
    method, metric : str
        Fair learning method (`core.models.METHODS`, or `core.models.GIVEN` for the predictions that came with the
        table) and fairness metric (`core.fairness.METRICS`).
    tolerance : float in [0, 1]
        Tolerance the model is trained for; of given predictions the one that is disclosed.
    train_share : float in [0.1, 0.8]
        Share of the records that trains the model; the rest is halved between attacker and test. Not used where the
        table names the sets itself.
    seed : int
        Fixes splits, training, the one draw of predictions, and the adversaries.
    epsilon : float, at least 1e-6, or infinite
        Privacy budget the private tree ("dp_id3") is trained with; the other methods do not use it.
    forest : tuple of (str, value) or None
        Hyper-parameters of the paper's adversaries, as `core.adversaries.tune_forest` finds them; None for the pinned.
    """

    dataset: str = "demo"
    roles: Roles | None = None
    method: str = "exponentiated_gradient"
    metric: str = "statistical_parity"
    tolerance: float = 0.001
    train_share: float = 0.34
    seed: int = 42
    epsilon: float = math.inf
    forest: tuple[tuple[str, int | float | str | None], ...] | None = None

    def __post_init__(self) -> None:
        choice(self.method, (*METHODS, GIVEN), name="method")
        choice(self.metric, METRICS, name="metric")
        unit_interval(self.tolerance, name="tolerance")
        seed_value(self.seed)
        privacy_budget(self.epsilon)
        if self.forest is not None:
            forest_parameters(dict(self.forest))
