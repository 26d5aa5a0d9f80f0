"""Every table of a report as a CSV file that a spreadsheet opens as what it is.

UTF-8 with a byte order mark (spreadsheets take anything else for a local code page), rows ended by CR LF and texts in
quotation marks (RFC 4180), the first row the columns' names. Numbers are written as they are, negative ones too.

A text that a spreadsheet would take for a formula gets an apostrophe in front: one that begins, blank and invisible
characters aside, with = + - @, their full-width forms, a tab or a line end. The apostrophe stays in the file, so a
program that reads it back has to take it off.
"""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from core.report.document import THRESHOLD, document
from core.report.tables import ReportTable, report_tables

if TYPE_CHECKING:
    from core.decision import ReleaseAudit
    from core.report.attacked import AttackedPeople

__all__ = ["csv_files"]

_BEGINS_FORMULA = frozenset("=+-@\t\r\n＝＋－＠")


def csv_files(
    audit: ReleaseAudit | Mapping[str, Any],
    *,
    edition: str = "internal",
    people: AttackedPeople | None = None,
    threshold: int = THRESHOLD,
) -> dict[str, bytes]:
    """Return the files by name, such as "checks.csv"; the arguments are those of `core.report.document`."""
    told = document(audit, edition=edition, people=people, threshold=threshold)
    return {f"{table.name}.csv": _file(table) for table in report_tables(told)}


def _file(table: ReportTable) -> bytes:
    written = io.StringIO(newline="")
    writer = csv.writer(written, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n")
    writer.writerow([_cell(name) for name in table.columns])
    writer.writerows([_cell(value) for value in row] for row in table.rows)
    return written.getvalue().encode("utf-8-sig")


def _cell(value: Any) -> Any:
    """Return a cell: numbers as they are, texts defused."""
    if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        return value
    text = str(value).replace("\x00", "\ufffd")
    return f"'{text}" if _is_formula(text) else text


def _is_formula(text: str) -> bool:
    for character in text:
        if character in _BEGINS_FORMULA:
            return True
        if not (character.isspace() or unicodedata.category(character) in ("Cc", "Cf", "Zs")):
            return False
    return False
