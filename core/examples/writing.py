"""How the examples write numbers: few digits, no zeros at the end, a true minus."""

from __future__ import annotations

from collections.abc import Iterable


def number(value: float, places: int = 4) -> str:
    """Write a number as "0.375", "−0.0833" or "2"."""
    text = f"{value:.{places}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text.replace("-", "−")


def signed(value: float, places: int = 4) -> str:
    """Write a number with its sign, 0 without."""
    text = number(value, places)
    return text if text == "0" or text.startswith("−") else f"+{text}"


def numbers(values: Iterable[float], places: int = 4) -> str:
    """Write numbers as "1, −1, 2"."""
    return ", ".join(number(value, places) for value in values)


def total(values: Iterable[float], places: int = 4) -> str:
    """Write a sum as "0.52 + 0.55"."""
    return " + ".join(number(value, places) for value in values)
