"""How values, intervals and limits of checks are written: in the unit of the check, with a true minus."""

from __future__ import annotations

import math
from collections.abc import Sequence

from core.estimates import Estimate
from core.policy.checks import CHECKS, Check
from core.policy.limits import Limit
from core.wording import decimals_beside, percent

VERDICT_TITLES = {
    "fail": "Fail",
    "inconclusive": "Inconclusive",
    "not_run": "Not run",
    "pass": "Pass",
    "not_asked": "Not asked",
}
"""Verdict -> the word that stands beside its icon."""

NO_SOURCE = "no source given"
"""What stands where a limit's source is empty."""

_FACTOR = {"points": 100.0, "percent": 100.0}
_PLACES = {"points": 1, "percent": 1, "gap": 3, "ratio": 3, "bits": 3, "columns": 1}
_LEAST_OF_LIMIT = {"points": 1, "percent": 0, "gap": 2, "ratio": 1, "bits": 2, "columns": 0}
_MOST = 6


def value_text(check: Check | str, value: float, *, limit: float | None = None) -> str:
    """Write a check's value: "+7.0 points", "82.9%", "0.131", "2.9 columns"; nan as "n/a".

    Beside a limit it has as many decimals as tell it from the limit.
    """
    unit = _unit(check)
    if math.isnan(value):
        return "n/a"
    places = _places(unit, (value,), limit, _PLACES[unit])
    return _with_unit(_number(unit, value, places, signed=unit == "points"), unit)


def estimate_text(check: Check | str, estimate: Estimate, *, limit: float | None = None) -> tuple[str, str]:
    """Write an estimate as value and interval: ("+7.0 points", "95%: 6.5 to 7.4").

    The interval is "no interval" where there is none, and empty where there is no value either. A percentage loses its
    decimal when the interval is wide. Beside a limit there are as many decimals as tell value and ends from it.
    """
    unit = _unit(check)
    if math.isnan(estimate.value):
        return "n/a", ""
    least = 0 if unit == "percent" and "." not in percent(estimate) else _PLACES[unit]
    exact = estimate.low == estimate.high or math.isnan(estimate.low) or math.isnan(estimate.high)
    ends = () if exact else (estimate.low, estimate.high)
    places = _places(unit, (estimate.value, *ends), limit, least)
    value = _with_unit(_number(unit, estimate.value, places, signed=unit == "points"), unit)
    if exact:
        return value, "no interval"
    low, high = (_number(unit, end, places) for end in ends)
    return value, f"{level_text(estimate.level)}: {low} to {high}{'%' if unit == 'percent' else ''}"


def control_text(check: Check | str, control: Estimate) -> str:
    """Write a control's value: a rate, where the check is a rate or a difference of rates, else a bare number."""
    if _unit(check) in _FACTOR:
        return percent(control)
    return f"{control.value:.3f}".replace("-", "−")


def range_text(check: Check | str, estimate: Estimate, limit: float) -> str:
    """Write an interval as "6.5 to 7.4 points", with as many decimals as tell its ends from a limit."""
    unit = _unit(check)
    ends = (estimate.low, estimate.high)
    places = _places(unit, ends, limit, _PLACES[unit])
    low, high = (_number(unit, end, places) for end in ends)
    return _with_unit(f"{low} to {high}", unit)


def limit_text(check: Check | str, value: float) -> str:
    """Write a limit as "at most 5.0 points" or "at least 0.8", with all the decimals it has, six at most."""
    unit = _unit(check)
    least = _LEAST_OF_LIMIT[unit]
    number = _number(unit, value, _MOST)
    whole, _, rest = number.partition(".")
    rest = rest.rstrip("0").ljust(least, "0")
    text = f"{whole}.{rest}" if rest else whole
    return f"{'at least' if _check(check).at_least else 'at most'} {_with_unit(text, unit)}"


def level_text(level: float) -> str:
    """Write a level as "95%", "99.17%", and one that would round to certainty as "over 99.99%"."""
    return "over 99.99%" if level > 0.9999 else f"{100 * level:.4g}%"


def source_text(limit: Limit) -> str:
    """Write a limit's source, or that there is none."""
    return limit.source.strip() or NO_SOURCE


def _check(check: Check | str) -> Check:
    return CHECKS[check] if isinstance(check, str) else check


def _unit(check: Check | str) -> str:
    return _check(check).unit


def _places(unit: str, values: Sequence[float], limit: float | None, least: int) -> int:
    """Return the decimals to write values with, beside a limit if there is one."""
    if limit is None:
        return least
    factor = _FACTOR.get(unit, 1.0)
    return decimals_beside([factor * value for value in values], factor * limit, least)


def _number(unit: str, value: float, places: int, *, signed: bool = False) -> str:
    text = f"{_FACTOR.get(unit, 1.0) * value:{'+' if signed else ''}.{places}f}"
    return text.lstrip("+-") if float(text) == 0 else text.replace("-", "−")


def _with_unit(text: str, unit: str) -> str:
    if unit == "percent":
        return f"{text}%"
    if unit == "columns":
        return f"{text} column" if text == "1" else f"{text} columns"
    return f"{text} {unit}" if unit in ("points", "bits") else text
