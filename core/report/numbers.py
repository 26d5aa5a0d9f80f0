"""Numbers of a report's document: back from JSON, and rounded to the digits a reader needs.

A share keeps three decimals, a tenth of a point, and two where its interval is wider than ±3.5 points. Intervals are
rounded outwards, so that they never promise more than was found; and so whoever sees a rounded estimate knows how many
decimals it was given.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from core.estimates import Estimate

__all__ = ["decimals_of", "estimate_of", "number_of", "printed", "rounded", "rounded_estimate"]

_WIDE = 0.035

_FUZZ = 1e-9


def number_of(value: float | str | None) -> float:
    """Return a number as JSON has it: null is nan, "inf" is infinity."""
    return math.nan if value is None else float(value)


def estimate_of(found: Mapping[str, Any] | None) -> Estimate | None:
    """Return an estimate as JSON has it; None for null."""
    if found is None:
        return None
    value, low, high, level = (number_of(found[name]) for name in ("value", "low", "high", "level"))
    return Estimate(value=value, low=low, high=high, n=int(found["n"] or 0), level=level)


def decimals_of(low: float, high: float) -> int:
    """Return how many decimals of a share an interval supports."""
    return 2 if (high - low) / 2 >= _WIDE - _FUZZ else 3


def printed(value: float, low: float, high: float) -> tuple[float, float, float]:
    """Return a value and its interval as they are given away."""
    decimals = decimals_of(low, high)
    if low == value == high:  # computed, not estimated
        return _near(value, 3), _near(value, 3), _near(value, 3)
    if decimals == 3 and decimals_of(_out(low, 3, -1), _out(high, 3, 1)) == 2:
        decimals = 2
    return _near(value, decimals), _out(low, decimals, -1), _out(high, decimals, 1)


def _near(value: float, decimals: int) -> float:
    return value if not math.isfinite(value) else round(value, decimals) + 0.0


def _out(value: float, decimals: int, side: int) -> float:
    """Round down (side −1) or up (side 1)."""
    if not math.isfinite(value):
        return value
    steps = value * 10**decimals
    whole = math.floor(steps + _FUZZ) if side < 0 else math.ceil(steps - _FUZZ)
    return round(whole / 10**decimals, decimals) + 0.0


def rounded(value: Any, decimals: int = 3) -> Any:
    """Return a number of a document with this many decimals; whole numbers and texts as they are."""
    if not isinstance(value, float):
        return value
    found = round(value, decimals)
    return int(found) if found.is_integer() else found


def rounded_estimate(estimate: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return an estimate with the decimals its interval supports, its interval rounded outwards."""
    if estimate is None:
        return None
    names = ("value", "low", "high")
    found = printed(*(number_of(estimate[name]) for name in names))
    return {**estimate, **{name: _json(number) for name, number in zip(names, found, strict=True)}}


def _json(number: float) -> Any:
    from core.report.canonical import strict

    return strict(number)
