"""Gaps between groups in what a membership attack says and in what it finds out."""

from core.membership.disparity.low_fpr import lira_gaps
from core.membership.disparity.ranges import recall_by_range
from core.membership.disparity.results import Disparities, DisparityResult, GapResult, GapTest, RangeRow, RangeTable
from core.membership.disparity.verdicts import disparities, is_muted, vulnerability_disparity

__all__ = [
    "Disparities",
    "DisparityResult",
    "GapResult",
    "GapTest",
    "RangeRow",
    "RangeTable",
    "disparities",
    "is_muted",
    "lira_gaps",
    "recall_by_range",
    "vulnerability_disparity",
]
