"""How members are attacked: on page and command, and in a release audit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from ...base.errors import InputError
from ...base.param import Param
from ...base.serialize import Result
from ...base.settings import validate
from ...base.validation import LEAST_EPSILON
from ...models import GIVEN_PREDICTIONS
from ...models.tree_budget import ACCOUNTINGS

FEWEST_SHADOWS = 4
"""Two trained with and two without each judged person, if evenly."""


def check_shadows(shadows: int, name: str = "shadows", *, least: str = "") -> None:
    """Refuse a number of shadow models of which one half cannot be trained with a person and one half without."""
    if shadows < FEWEST_SHADOWS or shadows % 2:
        raise InputError(f"{name} must be {least}an even number of at least {FEWEST_SHADOWS}, got {shadows!r}.")


TARGET_TITLES = {
    "dp_id3": "DP-ID3 tree",
    "decision_tree": "Decision tree",
    "random_forest": "Random forest",
    "logistic": "Logistic regression",
    "audited": "The audited model",
    GIVEN_PREDICTIONS: "The given predictions",
}

TARGETS = tuple(name for name in TARGET_TITLES if name != GIVEN_PREDICTIONS)
"""Targets that are trained here.

`core.models.GIVEN_PREDICTIONS` is one beside them, for tables that come with a model's scores.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipSettings(Result):
    """What is attacked and how."""

    target: Annotated[
        str,
        Param("Model under attack", "The attacked model: {options}.", options=TARGETS),
    ] = "dp_id3"
    """One of `core.studies.membership.TARGETS`, or "given"."""
    epsilon: Annotated[
        float,
        Param(
            "Privacy budget of the tree (ε)",
            "Privacy budget of dp_id3.",
            least=LEAST_EPSILON,
            infinite=True,
            flag="--train-epsilons",
        ),
    ] = math.inf
    max_depth: Annotated[
        int,
        Param(
            "Depth of the trees",
            "Depth of the trees (default: from the number of columns).",
            least=1,
            step=1,
            flag="--depth",
        ),
    ] = 14
    accounting: Annotated[str, Param("Accounting", "Privacy accounting of dp_id3: {options}.", options=ACCOUNTINGS)] = (
        "savings"
    )
    theta: Annotated[
        float,
        Param(
            "FairPick's θ",
            "Parameter of FairPick's deletion of rows; 1 deletes none.",
            least=0.0,
            most=1.0,
            step=0.1,
            above=True,
        ),
    ] = 1.0
    """FairPick's share of the distribution differences that stays."""
    shadows: Annotated[
        int,
        Param("Shadow models", "Models trained like the target, an even number of at least 4.", least=0),
    ] = 64
    online: Annotated[
        bool,
        Param("Online", "Shadow models trained with and without each judged record."),
    ] = True
    group: Annotated[
        int,
        Param(
            "Group, against all others",
            "Code of the group that is set against all others, in FairPick and in curves; of two groups always 1.",
            least=0,
        ),
    ] = 1
    seed: Annotated[int, Param("Seed", "Seed of every random number.", least=0, most=2**32 - 1)] = 42
    level: Annotated[
        float, Param("Level", "Confidence level of the intervals.", least=0.0, most=1.0, above=True, below=True)
    ] = 0.95

    def __post_init__(self) -> None:
        validate(self, but=("target",) if self.target == GIVEN_PREDICTIONS else ())


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipPlan(Result):
    """How membership is attacked in a release audit."""

    shadows: Annotated[
        int,
        Param(
            "Shadow models",
            "Shadow models, an even number of at least 4; 0 leaves out the attacks that need them.",
            least=0,
            most=1_024,
        ),
    ] = 16

    def __post_init__(self) -> None:
        validate(self)
        if self.shadows:
            check_shadows(self.shadows, least="0 or ")
