"""What every attacker learns from, and what every attacker can do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from core.results import Result

ATTACKER_TITLES = {
    "logistic": "Logistic regression",
    "adversarial": "Network trained against the noise",
    "network": "Neural network",
    "forest": "Random forest",
    "one_vs_rest": "One-vs-rest logistic regression",
    "dropping": "Network without the entries that carry the noise",
    "region": "Region-based network",
    "distillation": "Distilled network",
    "low_rank": "Low-rank approximation",
}
"""What to call the attackers, in the order they are tried."""

ADAPTIVE = frozenset({"adversarial", "dropping"})
"""Those who run the defence themselves, on the people they know."""

_BATCH = 8_000

Guessing = Callable[[Any], npt.NDArray[np.int64]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known(Result):
    """People who publish their attribute.

    Attributes
    ----------
    records : array or csr matrix of shape (n, d)
        Their public records.
    values : ndarray of shape (n,), int64
        Their values, 0 to `n_values` - 1.
    n_values : int
        m, number of values the attribute has.
    """

    records: Any = field(repr=False)
    values: npt.NDArray[np.int64] = field(repr=False)
    n_values: int


class Attacker(Protocol):
    """Somebody who names a value for every record."""

    def guess(self, records: Any) -> npt.NDArray[np.int64]:
        """Return the value named for each record, (n,)."""


class Fitted:
    """An attacker who asks a fitted scikit-learn classifier."""

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier

    def guess(self, records: Any) -> npt.NDArray[np.int64]:
        """Return the value named for each record, (n,)."""
        return in_batches(self.classifier.predict, records)


def in_batches(guess: Guessing, records: Any) -> npt.NDArray[np.int64]:
    """Return the guesses of a function for a few thousand records at a time, so that memory stays small."""
    starts = range(0, records.shape[0], _BATCH)
    parts = [np.asarray(guess(records[start : start + _BATCH]), dtype=np.int64) for start in starts]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
