"""How accurate and how fair the audited model is, without any attack."""

from core.model_fairness.checks import constraint_rows, rate_ratio
from core.model_fairness.study import STUDY, FairnessSettings

__all__ = ["STUDY", "FairnessSettings", "constraint_rows", "rate_ratio"]
