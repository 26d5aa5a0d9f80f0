"""Attribute inference from outputs: what everything a model releases adds to imputation of the attribute."""

from core.attribute.study import (
    STUDY,
    AttributeInference,
    AttributeSettings,
    Judged,
    closing_precision,
    released_gain,
    released_judged,
)

__all__ = [
    "STUDY",
    "AttributeInference",
    "AttributeSettings",
    "Judged",
    "closing_precision",
    "released_gain",
    "released_judged",
]
