"""What a command prints and writes of what it found: sentences, tables, and files of every number."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.cli.arguments import write_csv, write_json
from core.cli.console import Console, aligned
from core.files import csv_bytes
from core.quantities import PlainRow, Tables, in_words, plain_row
from core.study import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
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


def present(found: Outcome, arguments: argparse.Namespace, console: Console) -> None:
    """Print what was found, and write it where --csv and --json ask for it."""
    console.results(_lines(found))
    tables = {title: [plain_row(row) for row in rows] for title, rows in found.tables.items()}
    rows = [*_set(found.settings), *({"table": title, **row} for title, own in tables.items() for row in own)]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    write_csv(csv_bytes(columns, ([row.get(name) for name in columns] for row in rows)), arguments, console)
    own = {"about": list(found.about), "findings": list(found.findings), "tables": tables}
    write_json({**found.content, **found.settings, **own}, arguments, console)


def _set(settings: Mapping[str, Any]) -> Iterator[PlainRow]:
    """Yield a row for each setting."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from _set(value)
        else:
            yield {"table": "Settings", "setting": name, "value": str(value)}


def _lines(found: Outcome) -> Iterator[str]:
    yield from found.about
    for finding in found.findings:
        yield ""
        yield from sentences(finding)
    for title, rows in found.tables.items():
        if rows and title not in found.details:
            header, cells, left = in_words(rows)
            yield from ("", title, aligned(header, cells, left=left))
    hidden = ", ".join(title for title in found.details if found.tables.get(title))
    notes = [*found.notes, f"Only in the files of --csv and --json: {hidden}."] if hidden else found.notes
    yield from ("", *notes) if notes else ()


def sentences(finding: Finding) -> Iterator[str]:
    """Yield what a finding says, a line each."""
    point = finding.point if finding.point.endswith(".") else f"{finding.point}."  # a heading has no full stop
    yield from filter(None, (point, finding.evidence, finding.so_what, finding.to_do, *finding.caveats))
