"""Noise for counts: the discrete Laplace distribution, P(x) proportional to exp(-ε|x|) on the whole numbers.

It is the Laplace noise of the papers on the grid of the counts themselves (Ghosh, Roughgarden and Sundararajan 2009),
and it is ε-differentially private for a count that one record changes by 1. Whole numbers are chosen for a reason:
Laplace noise drawn as floating-point numbers leaves gaps that give the true count away (Mironov 2012), and a whole
number has no such gaps. What remains of that matter: the two geometric draws come from a pseudo-random generator with
53-bit probabilities, so the law holds up to errors of about 1e-16 a draw, and whoever knows the seed knows the noise.
Draws beyond 2^53 would leave gaps again, and beyond 2^63 all be the same number and cancel: an ε this small is refused.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from core.errors import InputError

_LEAST = 1e-14
"""Smallest epsilon of one count: its noise stays below 45 / epsilon, which is below 2^53."""


def noisy_counts(counts: npt.NDArray[np.int64], epsilon: float, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Return counts with independent discrete Laplace noise; as they are where epsilon is infinite.

    Parameters
    ----------
    counts : ndarray of int64
    epsilon : float, at least 1e-14
        Of one count: its noise has a standard deviation of about √2 / epsilon.
    rng : numpy Generator

    Raises
    ------
    InputError
        If epsilon is too small for whole numbers of 64 bits.
    """
    if math.isinf(epsilon):
        return counts
    if not epsilon >= _LEAST:
        raise InputError(
            f"The epsilon of one count must be at least {_LEAST:g}, got {epsilon:g}; ask for fewer counts."
        )
    stop = -math.expm1(-epsilon)
    return counts + rng.geometric(stop, size=counts.shape) - rng.geometric(stop, size=counts.shape)
