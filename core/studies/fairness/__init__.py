"""How accurate and how fair the audited model is, without any attack."""

from .findings import constraint_rows, metric_table, metrics_heading
from .study import STUDY, FairnessSettings

__all__ = [
    "STUDY",
    "FairnessSettings",
    "constraint_rows",
    "metric_table",
    "metrics_heading",
]
