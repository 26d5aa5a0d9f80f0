"""Tables as CSV that a spreadsheet opens as what they are: one writer for pages, reports and commands.

UTF-8 with a byte order mark (spreadsheets take anything else for a local code page), rows ended by CR LF and texts in
quotation marks (RFC 4180), the first row the columns' names. Numbers are written as they are, negative ones too.

A text that a spreadsheet would take for a formula gets an apostrophe in front, names of columns too: one that begins,
blank and invisible characters aside, with = + - @ in any width, a tab or a line end. Spreadsheets evaluate "+ people"
and "-1+1" as well as "=1": the only texts that may begin with a sign are plain numbers such as "-1.5", which they read
as that number and nothing else. The apostrophe stays in the file, so a program that reads it back has to take it off.
Cells are kept apart by commas; a program that is told another separator may cut them elsewhere.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas


_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_UNSEEN = ("Cc", "Cf", "Zs", "Zl", "Zp", "Mn", "Me")
"""Categories of characters that are blank, or are not seen."""


def csv_bytes(columns: Sequence[Any], rows: Iterable[Iterable[Any]]) -> bytes:
    """Return a table as the bytes of a CSV file; None is an empty cell."""
    written = io.StringIO(newline="")
    writer = csv.writer(written, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n")
    writer.writerow([_cell(str(name)) for name in columns])
    writer.writerows([_cell(value) for value in row] for row in rows)
    return written.getvalue().encode("utf-8-sig", "replace")


def csv_of_frame(frame: pandas.DataFrame) -> bytes:
    """Return a frame without its index as the bytes of a CSV file; missing cells are empty."""
    cells = frame.astype(object).where(frame.notna(), None)
    return csv_bytes(list(frame.columns), cells.itertuples(index=False, name=None))


def _cell(value: Any) -> Any:
    """Return a cell: numbers as they are, texts defused."""
    if value is None or (isinstance(value, Real) and not isinstance(value, bool)):
        return value
    text = str(value).replace("\x00", "\ufffd")
    return f"'{text}" if _is_formula(text) else text


def _is_formula(text: str) -> bool:
    if _NUMBER.fullmatch(text):
        return False
    for character in text:
        if character in "\t\r\n" or unicodedata.normalize("NFKC", character)[0] in "=+-@":
            return True
        if not (character.isspace() or unicodedata.category(character) in _UNSEEN):
            return False
    return False
