"""Where a command's words go, and what they look like: streams, text, aligned tables."""

from __future__ import annotations

import math
import time
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, TextIO

from core.estimates import Estimate


class Block(str):
    """Several lines that are fit for a terminal as they are."""

    __slots__ = ()

    @classmethod
    def of(cls, lines: list[str]) -> Block:
        """Return lines, each made `visible`, one under the other."""
        return cls("\n".join(map(visible, lines)))


def visible(text: str) -> str:
    """Return a text on one line: U+FFFD for characters that steer a terminal or the order of letters, or end a line."""
    return text if text.isprintable() else "".join(map(_shown, text))


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    return " " if unicodedata.category(character) == "Zs" else "\ufffd"


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> Block:
    """Return a table with its first `left` columns flush left and the others flush right."""
    header, rows = [visible(cell) for cell in header], [[visible(cell) for cell in row] for row in rows]
    widths = [max(len(line[i]) for line in (header, *rows)) for i in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        set_ = [c.ljust(w) if i < left else c.rjust(w) for i, (c, w) in enumerate(zip(cells, widths, strict=True))]
        return "  ".join(set_).rstrip()

    return Block("\n".join([line(header), "  ".join("-" * width for width in widths), *map(line, rows)]))


def table(rows: Sequence[Mapping[str, Any]], *, left: int = 1) -> Block:
    """Return `aligned` rows, at least one, each of them name of a column -> text, number, estimate or nothing."""
    return aligned(list(rows[0]), [[_cell(value) for value in row.values()] for row in rows], left=left)


def picked(rows: Iterable[Any], columns: str, *, left: int = 1, **made: Callable[[Any], str]) -> Block:
    """Return a table of these columns of rows or records, each different line once.

    Columns are names with a comma between them; an estimate is in percent, after "+" also with its sign, after "=" as
    the number it is. A field of a field is named as in "config.seed"; `made` makes the cells of a column from a row.
    """
    lines: list[dict[str, str]] = []
    for row in rows:
        line = {}
        for name in columns.split(", "):
            own = name.lstrip("+=")
            value = made[own](row) if own in made else row[own] if isinstance(row, Mapping) else attrgetter(own)(row)
            if value is None or isinstance(value, Estimate):
                value = estimate_words(value, signed=name[0] == "+", percent=name[0] != "=")
            line[own.rpartition(".")[2].replace("_", " ")] = f"{value:g}" if isinstance(value, float) else _cell(value)
        if line not in lines:
            lines.append(line)
    return table(lines, left=left)


def _cell(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "", True: "yes", False: "no"}[value]
    if isinstance(value, Estimate):
        return estimate_words(value)
    return f"{value:.4g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def estimate_words(found: Estimate | None, *, signed: bool = False, percent: bool = True) -> str:
    """Return a number with its interval, such as "76.3 [75.6, 77.0]", or "n/a" where nothing was measured."""
    if found is None or math.isnan(found.value):
        return "n/a"
    scale, digits = (100, 1) if percent else (1, 4)
    told = [f"{scale * number:{'+' if signed else ''}.{digits}f}" for number in (found.value, found.low, found.high)]
    return told[0] if math.isnan(found.low) else f"{told[0]} [{told[1]}, {told[2]}]"


@dataclass(slots=True)
class Console:
    """Two streams: results go out, progress, notes and errors beside them."""

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
