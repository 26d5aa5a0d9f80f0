"""Membership inference: who was in the training data, and for which groups it is easier to infer."""

from .attack import (
    FEWEST_SHADOWS,
    NEEDS,
    Evidence,
    MembershipSplit,
    Train,
    judging_everybody,
    true_label_probability,
)
from .attacks import REGISTRY
from .disparity import (
    DisparityResult,
    GapTest,
    disparities,
    recall_by_range,
    vulnerability_disparity,
)
from .fairpick import fairpick_counts
from .result import MembershipResult, MembershipSettings
from .roc import area, is_muted, most_caught, roc

__all__ = [
    "FEWEST_SHADOWS",
    "NEEDS",
    "REGISTRY",
    "DisparityResult",
    "Evidence",
    "GapTest",
    "MembershipResult",
    "MembershipSettings",
    "MembershipSplit",
    "Train",
    "area",
    "disparities",
    "fairpick_counts",
    "is_muted",
    "judging_everybody",
    "most_caught",
    "recall_by_range",
    "roc",
    "true_label_probability",
    "vulnerability_disparity",
]
