"""What every command that measures prints and writes: findings, tables, --csv and --json."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from core.cli.console import Console
from core.estimates import Estimate
from core.files import csv_of_frame, write_file
from core.study import Finding

if TYPE_CHECKING:
    import pandas

Row = Mapping[str, Any]
"""A row of a table or a file: name of a column -> text, number or estimate."""


def show(
    sections: Iterable[Iterable[str]],
    arguments: argparse.Namespace,
    console: Console,
    *,
    rows: Iterable[Row] | pandas.DataFrame = (),
    content: Mapping[str, Any] | None = None,
) -> None:
    """Print sections as they come, a blank line between them; write rows to --csv and content to --json."""
    between: list[str] = []
    for section in sections:
        lines = [line for line in section if line]
        if lines:
            console.results([*between, *lines])
            between = [""]
    if arguments.csv is not None:
        _write_csv(rows, arguments, console)
    if content is not None and arguments.json is not None:
        _write_json(content, arguments, console)


def sentences(finding: Finding) -> Iterator[str]:
    """Yield everything a finding says, a line each."""
    yield from filter(None, (finding.point, finding.evidence, finding.so_what, finding.to_do, *finding.caveats))


def _write_csv(rows: Iterable[Row] | pandas.DataFrame, arguments: argparse.Namespace, console: Console) -> None:
    import pandas as pd

    frame = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame([dict(_cells(row)) for row in rows])
    write_file(arguments.csv, csv_of_frame(frame), what="--csv")
    console.note(f"Every number is in {arguments.csv}.")


def _cells(row: Row) -> Iterator[tuple[str, Any]]:
    """Yield a row's cells; an estimate is three of them: "name", "name low" and "name high"."""
    for name, value in row.items():
        if isinstance(value, Estimate):
            yield from ((name, value.value), (f"{name} low", value.low), (f"{name} high", value.high))
        else:
            yield name, value


def _write_json(content: Mapping[str, Any], arguments: argparse.Namespace, console: Console) -> None:
    text = json.dumps(_without_nan(content), indent=1, ensure_ascii=False, allow_nan=False)
    write_file(arguments.json, f"{text}\n".encode(), what="--json")
    console.note(f"Everything is in {arguments.json}.")


def _without_nan(value: Any) -> Any:
    """Return nested dicts, lists and numbers with None for nan and infinities, which JSON does not have."""
    if isinstance(value, dict):
        return {name: _without_nan(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
