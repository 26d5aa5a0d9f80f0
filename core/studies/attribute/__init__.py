"""Attribute inference from outputs: what everything a model releases adds to imputation of the attribute."""

from .study import (
    STUDY,
    AttackerPosteriors,
    AttributeInference,
    AttributeSettings,
    closing_precision,
    released_gain,
    released_posteriors,
)

__all__ = [
    "STUDY",
    "AttackerPosteriors",
    "AttributeInference",
    "AttributeSettings",
    "closing_precision",
    "released_gain",
    "released_posteriors",
]
