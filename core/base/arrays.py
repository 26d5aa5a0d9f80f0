"""Names of the arrays that are handed about, by what they hold; how many decimals numbers have."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

Ints = npt.NDArray[np.int64]
"""Counts, or numbers of rows."""

Codes = npt.NDArray[np.uint8]
"""Labels and predictions, 0 or 1; groups, 0 to K - 1."""

Mask = npt.NDArray[np.bool_]

MOST_DECIMALS = 15
"""Decimals of a number that are looked at: so many a 64-bit number keeps."""


def decimals_of(numbers: Floats) -> int:
    """Return the least number of decimals that write all numbers exactly, at most `MOST_DECIMALS`; nan counts not."""
    present = numbers[~np.isnan(numbers)]
    exact = (
        decimals
        for decimals in range(MOST_DECIMALS)
        if np.array_equal(np.round(present, decimals), present)
    )
    return next(exact, MOST_DECIMALS)
