"""Amounts of privacy budget as whole millionths of epsilon, so that sums are exact in Python, SQL and files."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from core.errors import InputError

MILLION = 1_000_000
_MOST = 1_000

Amount = float | int | str | Decimal


def millionths(value: Amount, *, name: str) -> int:
    """Return an amount of epsilon in millionths.

    Parameters
    ----------
    value : number or its text, in [0.000001, 1000], with at most six decimals

    Raises
    ------
    InputError
        If it is anything else.
    """
    try:
        exact = Decimal(str(value)) * MILLION
        whole = int(exact) if exact.is_finite() else 0
    except (InvalidOperation, ValueError, ArithmeticError):
        raise InputError(f"{name} must be a number above 0 and at most {_MOST}, got {value!r}.") from None
    if not exact.is_finite() or not 0 < exact <= _MOST * MILLION:
        raise InputError(f"{name} must be a number above 0 and at most {_MOST}, got {value!r}.")
    if exact != whole:
        raise InputError(f"{name} must have at most six decimals, got {value!r}.")
    return whole


def epsilon_of(amount: int) -> float:
    """Return millionths as an epsilon."""
    return amount / MILLION


def amount_text(amount: int) -> str:
    """Write millionths as an epsilon, exactly: "0.25", "10"."""
    text = f"{amount // MILLION}.{amount % MILLION:06d}" if amount >= 0 else f"-{amount_text(-amount)}"
    return text.rstrip("0").rstrip(".") if "." in text else text
