"""When a gap of verdicts says nothing about leakage: the attack is not measurably better than chance."""

from __future__ import annotations

from core.estimates import Estimate


def is_muted(auc: Estimate) -> bool:
    """Return whether the interval of the attack's AUC does not lie above 0.5: holds it, lies below, or is not there."""
    return not auc.low > 0.5
