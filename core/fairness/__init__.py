"""Group fairness metrics: how far each group's rate of positive predictions is from everybody's."""

from core.fairness.intervals import unfairness_estimate
from core.fairness.metrics import METRIC_TITLES, METRICS, GroupRate, group_rates, row_sets, unfairness

__all__ = ["METRICS", "METRIC_TITLES", "GroupRate", "group_rates", "row_sets", "unfairness", "unfairness_estimate"]
