"""Names of the arrays that are handed about, by what they hold."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

Ints = npt.NDArray[np.int64]
"""Counts, or numbers of rows."""

Codes = npt.NDArray[np.uint8]
"""Labels and predictions, 0 or 1; groups, 0 to K - 1."""

Mask = npt.NDArray[np.bool_]
