"""Settings of the correction: which attacker knows which tolerance, and how they correct."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from ...base.param import Param
from ...base.settings import Settings
from .attribute_attacks import ATTACKERS
from .disclosure import COSTS

Cost = Annotated[
    str, Param("Correction cost", "Weight of changing one guess: {options}.", options=COSTS)
]


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionSettings(Settings):
    """Which attacker knows which tolerance, and how they correct."""

    adversary: Annotated[
        str, Param("Attack", "Attack whose guesses are corrected: {options}.", options=ATTACKERS)
    ] = "features"
    cost: Cost = "published"
    as_published: Annotated[
        bool,
        Param(
            "Paper's protocol",
            "Paper's protocol: the exponent chosen on the test set, the tolerance raised until it holds.",
        ),
    ] = False
    tolerance: Annotated[
        float | None,
        Param(
            "Disclosed tolerance",
            "Tolerance that the attacker knows; the model's own where none is given.",
            least=0.0,
            most=1.0,
            step=0.001,
            flag="--disclosed-tolerance",
        ),
    ] = None
