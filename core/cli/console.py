"""Where a command's words go, and what they look like: streams, text, aligned tables, and files of every number."""

from __future__ import annotations

import argparse
import json
import math
import time
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TextIO

from ..base.files import csv_bytes, write_file
from ..base.serialize import plain
from ..stats.estimates import Estimate, PlainRow, Tables, formatted_table, plain_row
from ..studies.study import Finding


class Block(str):
    """Several lines that are fit for a terminal as they are."""

    __slots__ = ()

    @classmethod
    def of(cls, lines: list[str]) -> Block:
        """Return lines, each made `visible`, one under the other."""
        return cls("\n".join(map(visible, lines)))


def visible(text: str) -> str:
    """Return a text on one line: U+FFFD for characters that steer a terminal or the order of letters, or end a line."""
    if text.isprintable():
        return text
    return "".join(map(_visible_character, text))


def _visible_character(character: str) -> str:
    if character.isprintable():
        return character
    if unicodedata.category(character) == "Zs":
        return " "
    return "\ufffd"


def aligned(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, left: Collection[int] = (0,)
) -> Block:
    """Return a table with the columns `left` flush left and the others flush right."""
    header = list(map(visible, header))
    rows = [list(map(visible, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    line = partial(_aligned_line, widths=widths, left=left)
    separator = "  ".join("-" * width for width in widths)
    return Block("\n".join([line(header), separator, *map(line, rows)]))


def _aligned_line(cells: Sequence[str], *, widths: Sequence[int], left: Collection[int]) -> str:
    padded = []
    for i, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        if i in left:
            padded.append(cell.ljust(width))
        else:
            padded.append(cell.rjust(width))
    return "  ".join(padded).rstrip()


def table(rows: Sequence[Mapping[str, str]], *, left: int = 1) -> Block:
    """Return `aligned` rows, at least one, each of them name of a column -> cell."""
    return aligned(list(rows[0]), [list(row.values()) for row in rows], left=range(left))


def interval_text(estimate: Estimate | None, *, signed: bool = False, percent: bool = True) -> str:
    """Return a number with its interval, such as "76.3 [75.6, 77.0]", or what to say where nothing was measured."""
    if estimate is None or math.isnan(estimate.value):
        return "none"
    scale, digits = (100, 1) if percent else (1, 4)
    sign = "+" if signed else ""
    value, low, high = (
        f"{scale * number:{sign}.{digits}f}"
        for number in (estimate.value, estimate.low, estimate.high)
    )
    if math.isnan(estimate.low):
        return value
    return f"{value} [{low}, {high}]"


@dataclass(slots=True)
class Console:
    """Two streams: results go out, progress, notes and errors beside them."""

    out: TextIO
    err: TextIO
    quiet: bool = False

    def result(self, text: str = "") -> None:
        """Write one line of results, or several as a `Block`; what would steer a terminal is made visible."""
        if not isinstance(text, Block):
            text = visible(text)
        self.out.write(f"{text}\n")

    def results(self, lines: Iterable[str]) -> None:
        """Write lines of results as they come."""
        for line in lines:
            self.result(line)

    def note(self, text: str) -> None:
        """Write one line beside the results, unless they are to be alone."""
        if not self.quiet:
            self.alert(text)

    def alert(self, text: str) -> None:
        """Write one line beside the results in any case; what would steer a terminal is made visible."""
        self.err.write(f"{visible(text)}\n")
        self.err.flush()

    def counting(self, noun: str, *, every: int = 1, first: int = 0) -> Callable[[int, int], None]:
        """Return what writes how far the work is and about how long it will take, every few steps from the `first`."""
        begun: tuple[float, int] | None = None

        def report(done: int, total: int) -> None:
            nonlocal begun
            if done < first or (done % every and done != total):
                return
            now = time.monotonic()
            left = None
            begun = begun or (now, done)
            steps = done - begun[1]
            if 0 < steps < total - done:
                left = (now - begun[0]) / steps * (total - done)
            self.count(done, total, noun, left)

        return report

    def count(self, done: int, total: int, noun: str, seconds: float | None) -> None:
        """Write how far the work is, and how many seconds it will take where that is known."""
        left = ""
        if seconds is not None:
            left = f", about {_duration(seconds)} left"
        self.note(f"{done} of {total} {noun}{left}")


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def write_csv(content: bytes, arguments: argparse.Namespace, console: Console) -> None:
    """Write tables where --csv asks for it."""
    if arguments.csv is not None:
        write_file(arguments.csv, content, what="--csv")
        console.note(f"Every number is in {arguments.csv}.")


def write_json(content: Any, arguments: argparse.Namespace, console: Console) -> None:
    """Write results and settings where --json asks for it; null stands for what was not measured."""
    if arguments.json is not None:
        text = json.dumps(
            plain(content, finite=True), indent=1, ensure_ascii=False, allow_nan=False
        )
        write_file(arguments.json, f"{text}\n".encode(), what="--json")
        console.note(f"Everything is in {arguments.json}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandOutcome:
    """What was found, and of whom; sentences and tables are those of the study's page."""

    about: Sequence[str]
    """Whose data these are, and how they were made: a line each."""
    findings: Sequence[Finding]
    tables: Tables
    details: Collection[str] = ()
    """Titles of tables that are too long to print."""
    notes: Sequence[str] = ()
    """What the columns mean: a line each."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Name -> what was set."""
    content: Mapping[str, Any] = field(default_factory=dict)
    """What --json holds besides."""


def present(outcome: CommandOutcome, arguments: argparse.Namespace, console: Console) -> None:
    """Print what was found, and write it where --csv and --json ask for it."""
    console.results(_lines(outcome))
    tables = {title: list(map(plain_row, rows)) for title, rows in outcome.tables.items()}
    rows = list(_set(outcome.settings))
    for title, table_rows in tables.items():
        rows += [{"table": title, **row} for row in table_rows]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    cells = (list(map(row.get, columns)) for row in rows)
    write_csv(csv_bytes(columns, cells), arguments, console)
    content = {"about": list(outcome.about), "findings": list(outcome.findings), "tables": tables}
    write_json({**outcome.content, **outcome.settings, **content}, arguments, console)


def _set(settings: Mapping[str, Any]) -> Iterator[PlainRow]:
    """Yield a row for each setting."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _set(value)
        else:
            yield {"table": "Settings", "setting": name, "value": str(value)}


def _lines(outcome: CommandOutcome) -> Iterator[str]:
    yield from outcome.about
    for finding in outcome.findings:
        yield ""
        yield from sentences(finding)
    for title, rows in outcome.tables.items():
        if rows and title not in outcome.details:
            header, cells, left = formatted_table(rows)
            yield from ("", title, aligned(header, cells, left=left))
    hidden = ", ".join(title for title in outcome.details if outcome.tables.get(title))
    notes = list(outcome.notes)
    if hidden:
        notes.append(f"Only in the files of --csv and --json: {hidden}.")
    if notes:
        yield ""
        yield from notes


def sentences(finding: Finding) -> Iterator[str]:
    """Yield what a finding says, a line each."""
    point = f"{finding.point.removesuffix('.')}."  # a heading has no full stop
    texts = (point, finding.evidence, finding.so_what, finding.to_do, *finding.caveats)
    yield from filter(None, texts)
