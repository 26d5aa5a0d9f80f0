"""A decision tree that is both private and fair: DP-ID3, then answers changed at random by group on noisy counts."""

from core.models.private_fair.changes import fair_acceptance
from core.models.private_fair.ledger import TREE_SHARE, PrivateFairLedger
from core.models.private_fair.tree import PrivateFairModel, PrivateFairTree, fit_private_fair

__all__ = [
    "TREE_SHARE",
    "PrivateFairLedger",
    "PrivateFairModel",
    "PrivateFairTree",
    "fair_acceptance",
    "fit_private_fair",
]
