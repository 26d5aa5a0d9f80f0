"""The settings that define an audit."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Annotated

from ..adversaries.adversary import forest_parameters
from ..base.param import Param
from ..base.serialize import UNSAID, Result
from ..base.settings import validate
from ..base.validation import LEAST_EPSILON
from ..datasets.roles import Roles
from ..models import GIVEN_PREDICTIONS, METHODS, PRIVATE_METHODS, TREE_DEPTH
from ..stats.fairness import METRICS

TRAINED_TOLERANCE = 0.005
"""What a model is trained for where nobody says otherwise, on the pages and in plans; `AuditConfig` by itself has the
0.001 of the published experiments."""

MOST_DEPTH = 20
"""Deepest tree that can be asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditConfig(Result):
    """Everything that defines an audit, besides the table itself."""

    dataset: str = "demo"
    """Name of the table."""
    roles: Roles | None = None
    """Roles of its columns; None for the table's own default."""
    method: Annotated[
        str,
        Param(
            "Fair learning method",
            "Fair learning method: {options}.",
            options=METHODS,
            only=("kind", ("train",)),
        ),
    ] = "exponentiated_gradient"
    """Also `core.models.GIVEN_PREDICTIONS`, for the predictions that came with the table.

    Of these the tolerance is disclosed.
    """
    metric: Annotated[
        str, Param("Fairness metric", "Fairness metric: {options}.", options=METRICS)
    ] = "statistical_parity"
    tolerance: Annotated[
        float,
        Param(
            "Tolerance",
            "Tolerance of the fairness constraint, which is disclosed to the attacker.",
            least=0.0,
            most=1.0,
            step=0.001,
        ),
    ] = 0.001
    train_share: Annotated[
        float,
        Param(
            "Training share",
            "Share of the records in the training set; of the rest the attacker knows half.",
            least=0.1,
            most=0.8,
            step=0.01,
        ),
    ] = 0.34
    """The records that do not train are halved between attacker and test. Not used where the table names the sets."""
    seed: Annotated[
        int,
        Param(
            "Seed",
            "Seed of splits, training, predictions and attackers.",
            least=0,
            most=2**32 - 1,
            step=1,
        ),
    ] = 42
    epsilon: Annotated[
        float,
        Param(
            "Privacy budget ε",
            "Privacy budget of training, for the private trees; inf is no noise.",
            least=LEAST_EPSILON,
            infinite=True,
            only=("method", PRIVATE_METHODS),
            flag="--train-epsilon",
        ),
    ] = math.inf
    forest: Annotated[
        tuple[tuple[str, int | float | str | None], ...] | None,
        Param(
            "Forest",
            "Hyper-parameters of the published attack, in place of the published ones.",
            form="table",
        ),
    ] = None
    depth: Annotated[
        int,
        Param(
            "Depth",
            "Depth of the model's trees, at most.",
            least=1,
            most=MOST_DEPTH,
            step=1,
            written=False,
        ),
    ] = field(default=TREE_DEPTH, metadata=UNSAID)

    def __post_init__(self) -> None:
        validate(self, but=("method",) if self.method == GIVEN_PREDICTIONS else ())
        if self.forest is not None:
            forest_parameters(dict(self.forest))
