"""How accurate and how fair the audited model is, without any attack."""

from core.model_fairness.study import STUDY, FairnessSettings, constraint_rows, headline, rate_ratio

__all__ = ["STUDY", "FairnessSettings", "constraint_rows", "headline", "rate_ratio"]
