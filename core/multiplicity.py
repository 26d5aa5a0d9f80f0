"""Several tests at once: Holm's correction (1979), which keeps the chance of any false alarm below the level."""

from __future__ import annotations

from collections.abc import Sequence

MOST_TESTED = 16
"""Most tests that are decided together; intervals of what was picked among several are made to hold for as many."""


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return adjusted p-values in the order given, each in [0, 1] and at least the one given."""
    m = len(p_values)
    adjusted, largest = [0.0] * m, 0.0
    for rank, place in enumerate(sorted(range(m), key=lambda j: p_values[j])):
        largest = max(largest, min(1.0, (m - rank) * p_values[place]))
        adjusted[place] = largest
    return tuple(adjusted)
