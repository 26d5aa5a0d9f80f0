"""Where a command's words go, and what they look like: streams, text, aligned tables, and files of every number."""

from __future__ import annotations

import argparse
import json
import math
import time
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, TextIO

from ..base.errors import ReportProgress
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


def interval_text(estimate: Estimate) -> str:
    """Return a number with its interval, such as "0.7630 [0.7560, 0.7700]"; "none" where nothing was measured."""
    if math.isnan(estimate.value):
        return "none"
    if math.isnan(estimate.low):
        return f"{estimate.value:.4f}"
    return f"{estimate.value:.4f} [{estimate.low:.4f}, {estimate.high:.4f}]"


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

    def counting(self, noun: str, *, every: int = 1) -> ReportProgress:
        """Return what writes how far the work is and about how long it will take, every few steps."""
        begun: tuple[float, int] | None = None

        def report(done: int, total: int) -> None:
            nonlocal begun
            if done % every and done != total:
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


def present(
    arguments: argparse.Namespace,
    console: Console,
    *,
    about: Sequence[str],
    findings: Sequence[Finding],
    tables: Tables,
    settings: Mapping[str, Any],
    details: Collection[str] = (),
    notes: Sequence[str] = (),
    content: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Print what was found, and write it where --csv and --json ask for it.

    Parameters
    ----------
    about : sequence of str
        Whose data these are, and how they were made: a line each.
    findings, tables
        Sentences and numbers, those of the study's page.
    settings : mapping
        Name -> what was set.
    details : collection of str
        Titles of tables that are too long to print.
    notes : sequence of str
        What the columns mean: a line each.
    content : mapping
        What --json holds besides.
    """
    console.results(about)
    for finding in findings:
        console.results(["", *sentences(finding)])
    _print_tables(tables, details, notes, console)
    plain_tables = {title: list(map(plain_row, rows)) for title, rows in tables.items()}
    rows = list(_set(settings))
    for title, table_rows in plain_tables.items():
        rows += [{"table": title, **row} for row in table_rows]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    cells = (list(map(row.get, columns)) for row in rows)
    write_csv(csv_bytes(columns, cells), arguments, console)
    results = {"about": list(about), "findings": list(findings), "tables": plain_tables}
    write_json({**content, **settings, **results}, arguments, console)


def _set(settings: Mapping[str, Any]) -> Iterator[PlainRow]:
    """Yield a row for each setting."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _set(value)
        else:
            yield {"table": "Settings", "setting": name, "value": str(value)}


def _print_tables(
    tables: Tables, details: Collection[str], notes: Sequence[str], console: Console
) -> None:
    """Print the tables but for the `details`, and notes under them."""
    for title, rows in tables.items():
        if rows and title not in details:
            header, cells, left = formatted_table(rows)
            console.results(["", title, aligned(header, cells, left=left)])
    hidden = ", ".join(title for title in details if tables.get(title))
    lines = list(notes)
    if hidden:
        lines.append(f"Only in the files of --csv and --json: {hidden}.")
    if lines:
        console.results(["", *lines])


def sentences(finding: Finding) -> Iterator[str]:
    """Yield what a finding says, a line each."""
    point = f"{finding.point.removesuffix('.')}."  # a heading has no full stop
    texts = (point, finding.evidence, finding.so_what, finding.to_do, *finding.caveats)
    yield from filter(None, texts)
