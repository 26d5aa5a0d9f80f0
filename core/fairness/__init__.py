"""Group fairness metrics: how far groups' rates of positive predictions are from everybody's, and from each other."""

from core.fairness.intervals import (
    difference_of_rates,
    folded_difference,
    largest_difference,
    unfairness_estimate,
)
from core.fairness.metrics import (
    METRIC_TITLES,
    METRICS,
    UNFAIRNESS_TITLE,
    GroupRate,
    difference_between_groups,
    difference_title,
    group_rates,
    row_sets,
    unfairness,
)

__all__ = [
    "METRICS",
    "METRIC_TITLES",
    "UNFAIRNESS_TITLE",
    "GroupRate",
    "difference_between_groups",
    "difference_of_rates",
    "difference_title",
    "folded_difference",
    "group_rates",
    "largest_difference",
    "row_sets",
    "unfairness",
    "unfairness_estimate",
]
