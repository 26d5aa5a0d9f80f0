"""What phase I finds: for every person and every value of the private attribute, a record that reads as this value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from core.results import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyRecords(Result):
    """Records changed until the defender's classifier reads one value each.

    Attributes
    ----------
    noisy : array or sparse matrix of shape (u, d)
        Like the public records; a record for which nothing was found is as it was.
    size : ndarray of shape (u,), int64
        Number of entries changed; 0 where nothing was found or nothing was needed.
    found : ndarray of shape (u,), bool
        Whether the classifier, asked again, reads the wanted value off the noisy record.
    fallback : ndarray of shape (u,), bool, or None
        Where the policy left no solution and any entry was allowed to change instead.
    """

    noisy: Any = field(repr=False)
    size: npt.NDArray[np.int64] = field(repr=False)
    found: npt.NDArray[np.bool_] = field(repr=False)
    fallback: npt.NDArray[np.bool_] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise(Result):
    """The representative noise of u people for each of m values (Jia and Gong 2018, section 4.2).

    Attributes
    ----------
    noisy : array or sparse matrix of shape (u * m, d)
        Row k * m + i is person k's record with the noise for value i. It is the clean record where i is what the
        classifier reads anyway, and where no noise for i was found.
    size : ndarray of shape (u, m), int64
        Number of entries (ratings, columns) changed.
    found : ndarray of shape (u, m), bool
        Whether the classifier reads value i off row k * m + i.
    predicted : ndarray of shape (u,), int64
        What the classifier reads off the clean records; found, with size 0.
    fallback : ndarray of shape (u, m), bool, or None
        Where the policy left no solution and any entry was allowed to change instead.
    """

    noisy: Any = field(repr=False)
    size: npt.NDArray[np.int64] = field(repr=False)
    found: npt.NDArray[np.bool_] = field(repr=False)
    predicted: npt.NDArray[np.int64] = field(repr=False)
    fallback: npt.NDArray[np.bool_] | None = field(default=None, repr=False)

    def chosen(self, value: npt.NDArray[np.int64]) -> Any:
        """Return each person's record with the noise for her value in `value` (u,), as a matrix (u, d)."""
        people, values = self.size.shape
        return self.noisy[np.arange(people) * values + value]
