"""Two models of one table: what the difference of their scores reveals, beyond what each reveals alone."""

from core.studies.two_models.study import (
    COUNTERPART,
    ONE_MODEL,
    UNFAIR,
    WARNING,
    Inferred,
    TwoModelsSettings,
    attributes,
    companion_of,
    membership,
)

__all__ = [
    "COUNTERPART",
    "ONE_MODEL",
    "UNFAIR",
    "WARNING",
    "Inferred",
    "TwoModelsSettings",
    "attributes",
    "companion_of",
    "membership",
]
