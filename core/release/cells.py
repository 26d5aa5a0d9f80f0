"""People whom no published statistic tells apart: same label, same predictions of all models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.release.numbers import Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cells:
    """The cells of a release.

    Attributes
    ----------
    pattern : ndarray of shape (n,), int
        Cell of each person.
    predictions : ndarray of shape (k, cells), uint8
    labels : ndarray of shape (cells,), uint8, or None
    people : ndarray of shape (cells,), int
        People in each.
    """

    pattern: npt.NDArray[np.intp]
    predictions: npt.NDArray[np.uint8]
    labels: npt.NDArray[np.uint8] | None
    people: npt.NDArray[np.int64]

    @classmethod
    def of(cls, predictions: npt.NDArray[np.uint8], labels: npt.NDArray[np.uint8] | None) -> Cells:
        """Return the cells of people with these predictions (k, n) and labels (n,)."""
        known = predictions if labels is None else np.vstack([predictions, labels])
        packed = np.ascontiguousarray(np.packbits(known, axis=0).T)
        keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
        _, first, pattern = np.unique(keys, return_index=True, return_inverse=True)
        return cls(
            pattern=pattern.astype(np.intp),
            predictions=predictions[:, first],
            labels=None if labels is None else labels[first],
            people=np.bincount(pattern, minlength=first.size),
        )

    def inside(self, part: str) -> npt.NDArray[np.bool_]:
        """Return which cells belong to "all", "label 1" or "label 0"."""
        if part == "all" or self.labels is None:
            return np.ones(self.people.size, dtype=np.bool_)
        return self.labels == int(part[-1])

    def size(self, part: str) -> int:
        """Return how many people a part holds."""
        return int(self.people[self.inside(part)].sum())

    def positives(self, part: str) -> npt.NDArray[np.int64]:
        """Return how many of them each model accepts, shape (k,)."""
        return self.predictions.astype(np.int64) @ (self.people * self.inside(part))

    def members(self, sensitive: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
        """Return how many people of group 1 each cell holds."""
        return np.bincount(self.pattern, weights=sensitive, minlength=self.people.size).astype(np.int64)

    def expected(self, values: Floats) -> Floats:
        """Return the sum of one number a person over each cell."""
        return np.asarray(np.bincount(self.pattern, weights=values, minlength=self.people.size), dtype=np.float64)
