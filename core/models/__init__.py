"""Learning methods: fair ones beside the unmitigated control, with one way to train and predict, and private trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
from .id3 import BudgetLedger

if TYPE_CHECKING:
    from .dp_id3 import DPID3Classifier

__all__ = [
    "CONSTRAINED_METHODS",
    "GIVEN_PREDICTIONS",
    "METHODS",
    "METHOD_TITLES",
    "PRIVATE_METHODS",
    "TOLERANCE_METHODS",
    "TREE_DEPTH",
    "BudgetLedger",
    "DPID3Classifier",
    "FairModel",
    "fit_model",
    "instead_of_constant",
]


def __getattr__(name: str) -> Any:
    """Load the private tree when it is first asked for, and scikit-learn with it."""
    if name == "DPID3Classifier":
        from .dp_id3 import DPID3Classifier

        return DPID3Classifier
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
