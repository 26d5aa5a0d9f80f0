"""Other defences: each makes one noisy record of each record, with no search for the least noise and no budget."""

from core.attriguard.comparators.additions import COMPARATOR_TITLES
from core.attriguard.comparators.blurme import blurme
from core.attriguard.comparators.chisquare import chisquare
from core.attriguard.comparators.local_dp import local_dp
from core.attriguard.comparators.qpm import qpm

__all__ = ["COMPARATOR_TITLES", "blurme", "chisquare", "local_dp", "qpm"]
