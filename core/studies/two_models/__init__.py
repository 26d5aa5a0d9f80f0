"""Two models of one table: what the difference of their scores reveals, beyond what each reveals alone."""

from .study import (
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
