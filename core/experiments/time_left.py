"""How long the rest of some steps will take, judged by those that were measured."""

from __future__ import annotations

import time

_STARTING = 2
"""Steps in which workers may still have been starting."""

_ENOUGH = 12
"""Steps from which on those are set aside."""


class TimeLeft:
    """The pace of steps that began when this was made, and cost the same on average wherever one looks."""

    def __init__(self) -> None:
        self.steps = 0
        self._ends = [(time.monotonic(), 0)]

    def add(self, steps: int = 1) -> None:
        """Note that so many steps have just ended."""
        self.steps += steps
        self._ends.append((time.monotonic(), self.steps))

    def seconds(self, steps: int) -> float | None:
        """Return the seconds that so many more steps will take; None while nothing tells, or it takes longer."""
        begun, before = self._ends[_STARTING] if len(self._ends) > _ENOUGH else self._ends[0]
        ended, after = self._ends[-1]
        if after == before:
            return None
        left = (ended - begun) / (after - before) * steps - (time.monotonic() - ended)
        if left > 0:
            return left
        return None
