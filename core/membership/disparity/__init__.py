"""Gaps between groups in what a membership attack says and in what it finds out."""

from core.membership.disparity.results import Disparities, DisparityResult, GapResult, GapTest, RangeRow, RangeTable

__all__ = ["Disparities", "DisparityResult", "GapResult", "GapTest", "RangeRow", "RangeTable"]
