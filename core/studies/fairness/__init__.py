"""How accurate and how fair the audited model is, without any attack."""

from .findings import constraint_rows, fairness_metrics, headline, metric_table, metrics_heading
from .study import STUDY, FairnessSettings, rate_ratio

__all__ = [
    "STUDY",
    "FairnessSettings",
    "constraint_rows",
    "fairness_metrics",
    "headline",
    "metric_table",
    "metrics_heading",
    "rate_ratio",
]
