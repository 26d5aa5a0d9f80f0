"""How numbers are written: no more digits than the sample supports, a true minus, thousands separated."""

from __future__ import annotations

import math
from collections.abc import Iterable

from core.estimates import Estimate

_COARSE = 0.035
"""From this half width of an interval on, percentages lose their decimal."""


_MOST_DECIMALS = 8
_ZEROS = (f"{0:.8f}", f"{-0.0:.8f}")

_WORDS = (
    *("none", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)


def _decimals(estimate: Estimate) -> int:
    half = (estimate.high - estimate.low) / 2
    return 0 if math.isnan(half) or half >= _COARSE else 1


def percent(value: Estimate | float, *, decimals: int | None = None) -> str:
    """Write a rate as "82.9%"; the decimal goes when the interval is wider than ±3.5 points."""
    rate = value.value if isinstance(value, Estimate) else value
    if math.isnan(rate):
        return "n/a"
    places = decimals if decimals is not None else _decimals(value) if isinstance(value, Estimate) else 1
    return f"{100 * rate:.{places}f}%"


def interval(value: Estimate) -> str:
    """Write the limits of a rate as "82.4 to 83.3%"."""
    if math.isnan(value.low):
        return "n/a"
    places = _decimals(value)
    return f"{_signed_zero(100 * value.low, places)} to {_signed_zero(100 * value.high, places)}%"


def points(value: Estimate | float) -> str:
    """Write a difference of rates as "+7.0 points", with a true minus."""
    difference = value.value if isinstance(value, Estimate) else value
    return f"{_plus(100 * difference, 1)} points"


def gap(value: float, *, decimals: int = 3) -> str:
    """Write a signed gap as "+0.131" or "−0.079"; one that is nan as "n/a"."""
    if math.isnan(value):
        return "n/a"
    return _plus(value, decimals)


def count(number: int) -> str:
    """Write a count as "15,375"."""
    return f"{number:,}"


def in_words(number: int) -> str:
    """Write a count as in a sentence: "none", "one" to "twelve", then "13"."""
    return _WORDS[number] if 0 <= number < len(_WORDS) else count(number)


def epsilon_text(value: float) -> str:
    """Write a privacy budget as "0.1", "10" or "∞"."""
    return "∞" if math.isinf(value) else f"{value:g}"


def tolerance_text(value: float, *, limit: float | None = None) -> str:
    """Write a tolerance or an unfairness with the digits it has, four at most: "0.001", "0.0004", "0.2", "0".

    Beside a limit it has as many more as tell it from the limit: "0.00504", above "0.005".
    """
    if value == 0:
        return "0"
    if abs(value) < 5e-5:
        return "less than 0.0001"
    places = 4 if limit is None else decimals_beside([value], limit, 4)
    return f"{value:.{places}f}".rstrip("0").rstrip(".")


def decimals_beside(values: Iterable[float], limit: float, least: int) -> int:
    """Return how many decimals, `least` or more, tell each value from a limit that it does not equal.

    Values that eight decimals cannot tell from it are taken to equal it.
    """
    apart = [value for value in values if not math.isnan(value) and f"{value - limit:.{_MOST_DECIMALS}f}" not in _ZEROS]
    for places in range(least, _MOST_DECIMALS):
        if all(f"{value:.{places}f}" != f"{limit:.{places}f}" for value in apart):
            return places
    return _MOST_DECIMALS


def _plus(value: float, places: int) -> str:
    text = f"{value:+.{places}f}"
    if float(text) == 0:
        return text[1:]
    return text.replace("-", "−")


def _signed_zero(value: float, places: int) -> str:
    text = f"{value:.{places}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")
