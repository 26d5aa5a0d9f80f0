"""The exact limits of a proportion (Clopper and Pearson 1934)."""

from __future__ import annotations


def exact_limits(successes: int, n: int, *, level: float) -> tuple[float, float]:
    """Return the lower and the upper Clopper-Pearson limit of a proportion, each one-sided at this level."""
    from scipy.special import betaincinv

    error = 1 - level
    low = float(betaincinv(successes, n - successes + 1, error)) if successes else 0.0
    high = float(betaincinv(successes + 1, n - successes, 1 - error)) if successes < n else 1.0
    return low, high
