"""Learning methods: fair ones beside the unmitigated control, with one way to train and predict, and private trees."""

from .fair import (
    CONSTRAINED_METHODS,
    GIVEN_PREDICTIONS,
    METHOD_TITLES,
    METHODS,
    PRIVATE_METHODS,
    TOLERANCE_METHODS,
    TREE_DEPTH,
    FairModel,
    fit_model,
    instead_of_constant,
)

__all__ = [
    "CONSTRAINED_METHODS",
    "GIVEN_PREDICTIONS",
    "METHODS",
    "METHOD_TITLES",
    "PRIVATE_METHODS",
    "TOLERANCE_METHODS",
    "TREE_DEPTH",
    "FairModel",
    "fit_model",
    "instead_of_constant",
]
