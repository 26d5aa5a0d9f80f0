"""Where a command's words go: results to one stream, progress and notes to the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TextIO

from core.commands.terminal import Block, visible


@dataclass(slots=True)
class Console:
    """Two streams.

    Attributes
    ----------
    out : text stream
        Results.
    err : text stream
        Progress, notes, errors.
    """

    out: TextIO
    err: TextIO
    _begun: float = field(default=0.0, init=False)
    _given: int = field(default=0, init=False)

    def result(self, text: str = "") -> None:
        """Write one line of results, or several as a `Block`; what would steer a terminal is made visible."""
        self.out.write(f"{text if isinstance(text, Block) else visible(text)}\n")

    def results(self, lines: Iterable[str]) -> None:
        """Write lines of results as they come."""
        for line in lines:
            self.result(line)

    def note(self, text: str) -> None:
        """Write one line beside the results; what would steer a terminal is made visible."""
        self.err.write(f"{visible(text)}\n")
        self.err.flush()

    def progress(self, done: int, total: int, *, noun: str) -> None:
        """Write how far the work is and about how long it will take."""
        now = time.monotonic()
        if not self._begun:
            self._begun, self._given = now, done
        made = done - self._given
        left = (
            f", about {_duration((now - self._begun) / made * (total - done))} left" if 0 < made < total - done else ""
        )
        self.note(f"{done} of {total} {noun}{left}")

    def counting(self, noun: str, *, every: int = 1, first: int = 0) -> Callable[[int, int], None]:
        """Return what writes progress every few steps, from the `first` on, with a clock of its own."""
        own = Console(out=self.out, err=self.err)

        def report(done: int, total: int) -> None:
            if done >= first and (done % every == 0 or done == total):
                own.progress(done, total, noun=noun)

        return report


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
