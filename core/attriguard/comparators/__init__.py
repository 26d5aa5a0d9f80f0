"""Other defences: each makes one noisy record of each record, with no search for the least noise and no budget."""

from core.attriguard.comparators.blurme import blurme
from core.attriguard.comparators.chisquare import chisquare
from core.attriguard.comparators.local_dp import local_dp
from core.attriguard.comparators.qpm import qpm

__all__ = ["COMPARATOR_TITLES", "blurme", "chisquare", "local_dp", "qpm"]

COMPARATOR_TITLES = {
    "blurme": "BlurMe",
    "chisquare": "ChiSquare",
    "qpm": "Quantised mapping (QPM)",
    "local_dp": "Local differential privacy",
}
"""What to call them."""
