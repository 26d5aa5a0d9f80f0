"""Region-based classification (RC-A): the majority vote of a network over points in a small cube around the record.

The same random points are used around every record. A point x + d reaches the first hidden layer as x W + d W, so the
network's first layer is computed once a record and once a point, never for a dense record of every point.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from core.attriguard.attackers.known import in_batches


class RegionBased:
    """Votes over a cube.

    Parameters
    ----------
    network : fitted MLPClassifier with one hidden layer of rectified units
    points : int
        Number of points in the cube.
    radius : float, above 0
        Half its edge.
    """

    def __init__(self, network: Any, *, seed: int, points: int = 100, radius: float = 0.05) -> None:
        rng = np.random.default_rng([seed, 3])
        self._network = network
        self._shifts = rng.uniform(-radius, radius, size=(points, network.coefs_[0].shape[0])) @ network.coefs_[0]

    def guess(self, records: Any) -> npt.NDArray[np.int64]:
        """Return the value with the most votes for each record, (n,)."""
        return in_batches(self._vote, records)

    def _vote(self, records: Any) -> npt.NDArray[np.int64]:
        network = self._network
        hidden = (records @ network.coefs_[0] + network.intercepts_[0]).astype(np.float32)
        outer, bias = (part[1].astype(np.float32) for part in (network.coefs_, network.intercepts_))
        votes = np.zeros((records.shape[0], len(network.classes_)), dtype=np.int32)
        rows = np.arange(records.shape[0])
        for shift in self._shifts.astype(np.float32):
            scores = np.maximum(hidden + shift, 0) @ outer + bias
            named = scores.argmax(axis=1) if scores.shape[1] > 1 else (scores[:, 0] > 0).astype(np.int64)
            votes[rows, named] += 1
        return np.asarray(network.classes_[votes.argmax(axis=1)], dtype=np.int64)
