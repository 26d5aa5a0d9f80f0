"""What a user chooses about a sweep: which configurations are measured, and which of their numbers are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from core.correction import COSTS, PROTOCOLS
from core.fairness import METRICS
from core.models import METHODS
from core.param import Param
from core.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepSettings(Settings):
    """Which configurations are measured, and which of their numbers are printed."""

    methods: Annotated[
        tuple[str, ...],
        Param("Fair learning", "How models are trained, or all: {options}.", options=METHODS, some=True),
    ] = METHODS[:1]
    metrics: Annotated[
        tuple[str, ...], Param("Metrics", "Fairness metrics, or all: {options}.", options=METRICS, some=True)
    ] = METRICS[:1]
    tolerances: Annotated[
        str, Param("Tolerances", "Trained for and told: 49, 18, or numbers in [0, 1] such as 0,0.01,0.1.")
    ] = "18"
    protocol: Annotated[
        str,
        Param("Paper's protocol", "How the exponent of the printed tables is chosen: {options}.", options=PROTOCOLS),
    ] = PROTOCOLS[0]
    cost: Annotated[str, Param("Correction cost", "Cost of the printed tables: {options}.", options=COSTS)] = (
        "published"
    )
