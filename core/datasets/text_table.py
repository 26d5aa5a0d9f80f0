"""Text tables (CSV and its kin) from memory: separator, names, and the type of each column.

A caller that shows notes gets tables as offices have them: in Windows-1252, with empty lines and columns around them,
with marks between thousands. For one that does not, nothing is decided: such files are refused, such cells stay text.
"""

from __future__ import annotations

import codecs
import csv
import io
from itertools import islice
from typing import Any

from core.datasets.cells import MOST_CELLS, check_names, cleaned, empty_file
from core.datasets.columns import quoted
from core.datasets.encodings import encoding_of
from core.datasets.number_columns import number_columns
from core.datasets.number_ways import Way, could_be_number, every, some
from core.datasets.text_records import TextRecords, fits, is_record
from core.errors import InputError

_SEPARATORS = (",", ";", "\t", "|")
_SAMPLE = 1 << 20  # the separator is chosen, and the width of the table judged, on this many bytes
_SAMPLE_RECORDS = 200
_BLANK = b" \t\r\n\v\f\0" + codecs.BOM_UTF8 + codecs.BOM_UTF16_LE  # whole bytes of marks: none begins a name on its own


def text_columns(
    content: bytes, name: str, max_columns: int, max_rows: int, *, notes: list[str] | None = None
) -> tuple[list[str], list[Any]]:
    """Return the names and the cells of the columns; see `core.datasets.table.read_table`.

    What was decided is added to `notes`; without notes nothing that needs one is decided.
    """
    office = notes is not None
    encoding, note = encoding_of(content, name, windows=office)
    content, told = _told_separator(content)
    start = _first_line(content)
    mark = content[:2] if start and encoding == "utf-16" else b""  # says the order of bytes
    sample = (mark + content[start : start + _SAMPLE]).decode(encoding, "ignore")
    if not sample.strip():
        raise empty_file(name)
    separator = told or _separator(sample, len(content) - start > _SAMPLE, max_columns)
    records = TextRecords(content, encoding, separator, first_line=2 if told else 1, edges=office)
    names = [cell.strip() for cell in records.header]
    unnamed = {place for place, title in enumerate(names) if not title} if office and any(names) else set()
    if all(could_be_number(title) for place, title in enumerate(names) if place not in unnamed):
        raise InputError(
            f"The first line must hold the column names, got only numbers ({quoted(', '.join(names))}); "
            "put a line with the names above it."
        )
    check_names(names, without=unnamed)
    columns = [cleaned(column) for column in records.columns(min(max_rows, MOST_CELLS // len(names)))]
    if notes is None:
        columns = [_typed(column, separator in ";\t") for column in columns]
    else:
        notes.extend([note] if note else [])
        names, columns = _inside(names, columns, records.blank, notes)
        columns = number_columns(names, columns, separator, notes)
    if all(_is_cell(title, column) for title, column in zip(names, columns, strict=True)):
        raise InputError(
            f"The first line must hold the column names, got what looks like a record ({quoted(', '.join(names))}); "
            "put a line with the names above it."
        )
    return names, columns


def _first_line(content: bytes) -> int:
    """Return where the first line begins that is not blank; 0 if it lies within the sample anyway."""
    if content[:_SAMPLE].strip(_BLANK):
        return 0
    start = len(content) - len(content.lstrip(_BLANK))
    start = max(content.rfind(end, 0, start) for end in (b"\n", b"\r")) + 1
    return start + start % 2 * content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))


def _told_separator(content: bytes) -> tuple[bytes, str]:
    """Take off a first line such as "sep=;", which spreadsheets write for each other, and return what it says."""
    first = content[:32].removeprefix(codecs.BOM_UTF8).splitlines(keepends=True)
    told = first[0].strip().strip(b'"').decode("latin-1") if first else ""
    if not (told[:4].lower() == "sep=" and told[4:] in _SEPARATORS):
        return content, ""
    return content[content.index(first[0]) + len(first[0]) :], told[4:]


def _separator(sample: str, cut: bool, max_columns: int) -> str:
    """Return the separator that gives most records the width of the first; of several, the one with most columns."""
    best, score, first = "", (0.0, 1), [""]
    for separator in _SEPARATORS:
        rows: list[list[str]] = []
        try:
            reader = csv.reader(io.StringIO(sample, newline=""), delimiter=separator, skipinitialspace=True)
            rows.extend(row for row in islice(reader, _SAMPLE_RECORDS) if is_record(row))
        except csv.Error:  # an endless cell: reading the file says where
            best = best or separator
        if cut and 1 < len(rows) < _SAMPLE_RECORDS:
            rows.pop()  # may end in the middle
        if rows and len(rows[0]) > 1:
            share = sum(fits(row, rows[0]) for row in rows) / len(rows)
            if (share, len(rows[0])) > score or len(rows[0]) > max_columns:
                best, score = separator, (share, len(rows[0]))
        first = rows[0] if rows else first
    if score[1] > max_columns:
        raise InputError(
            f"The table must not have more than {max_columns:,} columns, got {'at least ' * cut}{score[1]:,}; "
            "keep the columns the audit needs."
        )
    if not best:
        raise _one_column(first[0])
    return best


def _one_column(name: str) -> InputError:
    return InputError(
        "The first line must hold several column names with commas, semicolons, tabs or bars between them, "
        f"got only one ({quoted(name)})."
    )


def _inside(names: list[str], columns: list[Any], blank: int, notes: list[str]) -> tuple[list[str], list[Any]]:
    """Return the columns without those that have neither name nor content; adds to `notes` what is left out."""
    empty = {
        place
        for place, (name, column) in enumerate(zip(names, columns, strict=True))
        if not name and column.null_count == len(column)
    }
    check_names(names, without=empty)
    inside = [place for place in range(len(names)) if place not in empty]
    if len(inside) < 2:
        raise _one_column("".join(names))
    if blank:
        notes.append(f"Lines without a filled cell are left out ({blank:,} of them).")
    if empty:
        notes.append(f"Columns without a name or a filled cell are left out ({len(empty):,} of them).")
    return [names[place] for place in inside], [columns[place] for place in inside]


def _typed(column: Any, decimal_comma: bool) -> Any:
    """Return the cells as whole numbers or numbers where every filled cell is one, else as text."""
    import pyarrow as pa

    filled = column.drop_null()
    ways = [Way(mark) for mark in (",." if decimal_comma else ".")]
    way = next((way for way in ways if every(filled, way.pattern)), None)
    if way is None or some(filled, r"^[+-]?0\d"):
        return column
    try:
        return way.simple(column).cast(pa.int64() if every(filled, r"^[+-]?\d+$") else pa.float64())
    except pa.ArrowInvalid:  # a whole number beyond 64 bits
        return column


def _is_cell(name: str, column: Any) -> bool:
    """Return whether a column name could as well be a cell of its column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_string(column.type):
        return bool(pc.any(pc.equal(column, name)).as_py())
    return could_be_number(name)
