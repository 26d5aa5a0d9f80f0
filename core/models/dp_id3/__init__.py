"""DP-ID3: a decision tree with differential privacy, what it spends, and the domains it needs to know beforehand.

The classifier is loaded when it is first asked for: scikit-learn is slow to load.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.models.dp_id3.domains import BINS, Domains
from core.models.dp_id3.ledger import ACCOUNTINGS, BudgetLedger, LedgerEntry

if TYPE_CHECKING:
    from core.models.dp_id3.estimator import DPID3Classifier

__all__ = ["ACCOUNTINGS", "BINS", "BudgetLedger", "DPID3Classifier", "Domains", "LedgerEntry"]


def __getattr__(name: str) -> Any:
    """Load the classifier."""
    if name == "DPID3Classifier":
        from core.models.dp_id3.estimator import DPID3Classifier

        return DPID3Classifier
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
