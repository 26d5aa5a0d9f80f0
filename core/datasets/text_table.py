"""Text tables (CSV and its kin) from memory: encoding, separator, records, and the type of each column."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from core.datasets.cells import check_names, check_rows, cleaned, empty_file
from core.datasets.columns import quoted
from core.errors import InputError

__all__ = ["text_columns"]

_SEPARATORS = (",", ";", "\t", "|")
_SAMPLE = 1 << 20  # the separator is chosen, and the width of the table judged, on this many bytes
_SAMPLE_RECORDS = 200
_BATCH = 20_000

_NUMBER = r"^[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|(?i:inf|infinity))$"
_COMMA_NUMBER = r"^[+-]?\d+(,\d+)?([eE][+-]?\d+)?$"
_WHOLE = r"^[+-]?\d+$"
_CODE = r"^[+-]?0\d"
_CONTROL = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f]")


def text_columns(content: bytes, name: str, max_columns: int, max_rows: int) -> tuple[list[str], list[Any]]:
    """Return the names and the cells of the columns; see `core.datasets.table.read_table`."""
    encoding = _encoding(content, name)
    content, told = _told_separator(content)
    sample = content[:_SAMPLE].decode(encoding, "ignore")
    if not sample.strip():
        raise empty_file(name)
    separator = told or _separator(sample, len(content) > _SAMPLE, max_columns)
    records = _records(content, encoding, separator)
    _, header = next(records)
    names = [cell.strip() for cell in header]
    if all(re.match(_NUMBER, cell) or re.match(_COMMA_NUMBER, cell) for cell in names):
        raise InputError(
            f"The first line must hold the column names, got only numbers ({quoted(', '.join(names))}); "
            "put a line with the names above it."
        )
    check_names(names)
    columns = [_typed(column, separator in ";\t") for column in _collect(records, header, max_rows)]
    if all(_is_cell(title, column) for title, column in zip(names, columns, strict=True)):
        raise InputError(
            f"The first line must hold the column names, got what looks like a record ({quoted(', '.join(names))}); "
            "put a line with the names above it."
        )
    return names, columns


def _told_separator(content: bytes) -> tuple[bytes, str]:
    """Take off a first line such as "sep=;", which spreadsheets write for each other, and return what it says."""
    first = content[:32].removeprefix(codecs.BOM_UTF8).splitlines(keepends=True)
    told = first[0].strip().strip(b'"').decode("latin-1") if first else ""
    if not (told[:4].lower() == "sep=" and told[4:] in _SEPARATORS):
        return content, ""
    return content[content.index(first[0]) + len(first[0]) :], told[4:]


def _encoding(content: bytes, name: str) -> str:
    """Return the text encoding: UTF-16 with its mark, UTF-8 otherwise; refuse everything else."""
    utf32 = content.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE))
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and not utf32:
        return "utf-16"
    sample = content[:4096]
    zeros = sorted((sample[::2].count(0), sample[1::2].count(0)))
    if utf32 or (zeros[1] > len(sample) / 5 and zeros[0] < len(sample) / 50):
        kind = "UTF-32" if utf32 else "UTF-16 without its mark"
        raise InputError(f"The file {quoted(name)} seems to be saved as {kind}; save it as UTF-8.")
    if len(_CONTROL.findall(sample)) > len(sample) / 50:
        raise InputError(f"The file {quoted(name)} is not text; export the table as CSV (UTF-8) or Parquet.")
    if (place := content.find(b"\0")) >= 0:
        raise InputError(
            f"Line {_line(content, place)} holds a NUL byte, which no text table may; export the table again as UTF-8."
        )
    return "utf-8-sig"


def _line(content: bytes, place: int) -> int:
    return (content.count(b"\n", 0, place) or content.count(b"\r", 0, place)) + 1


def _separator(sample: str, cut: bool, max_columns: int) -> str:
    """Return the separator that gives most records the width of the first; of several, the one with most columns."""
    best, score, first = "", (0.0, 1), [""]
    for separator in _SEPARATORS:
        rows: list[list[str]] = []
        try:
            reader = csv.reader(io.StringIO(sample, newline=""), delimiter=separator, skipinitialspace=True)
            rows.extend(row for row in islice(reader, _SAMPLE_RECORDS) if _is_record(row))
        except csv.Error:  # an endless cell: reading the file says where
            best = best or separator
        if cut and 1 < len(rows) < _SAMPLE_RECORDS:
            rows.pop()  # may end in the middle
        if rows and len(rows[0]) > 1:
            share = sum(len(row) == len(rows[0]) for row in rows) / len(rows)
            if (share, len(rows[0])) > score or len(rows[0]) > max_columns:
                best, score = separator, (share, len(rows[0]))
        first = rows[0] if rows else first
    if score[1] > max_columns:
        raise InputError(
            f"The table must not have more than {max_columns:,} columns, got {'at least ' * cut}{score[1]:,}; "
            "keep the columns the audit needs."
        )
    if not best:
        raise InputError(
            f"The first line must hold several column names with commas, semicolons, tabs or bars between them, "
            f"got only one ({quoted(first[0])})."
        )
    return best


def _records(content: bytes, encoding: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line on which each record starts, and its cells; blank lines are skipped."""
    text = io.TextIOWrapper(io.BytesIO(content), encoding=encoding, newline="")
    reader = csv.reader(text, delimiter=separator, skipinitialspace=True, strict=True)
    line = 1
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise _broken(str(error), line, reader.line_num) from None
        except UnicodeDecodeError:
            raise _undecodable(content, encoding) from None
        if _is_record(cells):
            yield line, cells
        line = reader.line_num + 1


def _is_record(cells: list[str]) -> bool:
    return len(cells) > 1 or bool(cells and cells[0].strip())  # a blank line is none


def _broken(reason: str, line: int, last: int) -> InputError:
    if "limit" in reason:
        return InputError(
            f"The record that starts on line {line:,} holds a cell of more than {csv.field_size_limit():,} characters; "
            "shorten it, or close its quotation mark."
        )
    if "end of data" in reason:
        return InputError(f"A quotation mark opened in the record that starts on line {line:,} must be closed.")
    return InputError(
        f"Line {last:,} has text after a closing quotation mark; double the quotation marks inside a cell."
    )


def _undecodable(content: bytes, encoding: str) -> InputError:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        if encoding != "utf-16":
            place = error.start - max(content.rfind(b"\n", 0, error.start), content.rfind(b"\r", 0, error.start))
            return InputError(
                f"Line {_line(content, error.start):,} is not UTF-8 (its byte {place:,} is "
                f"0x{content[error.start]:02X}); "
                "save the file as UTF-8 (in Excel: 'CSV UTF-8')."
            )
    return InputError("The file begins like UTF-16 but is damaged; save it as UTF-8.")


def _collect(records: Iterator[tuple[int, list[str]]], header: list[str], max_rows: int) -> list[Any]:
    """Return the cells column by column, checking that every record is as wide as the header."""
    import pyarrow as pa

    parts: list[list[Any]] = [[] for _ in header]
    count = 0
    while batch := list(islice(records, _BATCH)):
        for line, cells in batch:
            if len(cells) != len(header):
                raise InputError(
                    f"Every record must have {len(header)} cells like the first line, line {line:,} has "
                    f"{len(cells):,}; add or delete separators there, or quote the cell that holds one."
                )
            if cells == header:
                raise InputError(f"The column names must stand on the first line only, line {line:,} repeats them.")
        count += len(batch)
        check_rows(count, max_rows)
        for part, column in zip(parts, zip(*(cells for _, cells in batch), strict=True), strict=True):
            part.append(pa.array(column, pa.string()))
    return [pa.chunked_array(part, pa.string()) for part in parts]


def _typed(column: Any, decimal_comma: bool) -> Any:
    """Return the cells as whole numbers or numbers where every filled cell is one, else as text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    def share(pattern: str, cells: Any) -> float:
        return float(pc.mean(pc.match_substring_regex(cells, pattern)).as_py() or 0.0)

    column = cleaned(column)
    filled = column.drop_null()
    if decimal_comma and share(_COMMA_NUMBER, filled[:100]) == 1 == share(_COMMA_NUMBER, filled):
        column, filled = (pc.replace_substring(cells, ",", ".") for cells in (column, filled))
    if share(_NUMBER, filled[:100]) < 1 or share(_NUMBER, filled) < 1 or share(_CODE, filled) > 0:
        return column
    column = pc.replace_substring_regex(column, r"^\+", "")
    try:
        return column.cast(pa.int64() if share(_WHOLE, filled) == 1 else pa.float64())
    except pa.ArrowInvalid:  # a whole number beyond 64 bits
        return column


def _is_cell(name: str, column: Any) -> bool:
    """Return whether a column name could as well be a cell of its column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_string(column.type):
        return bool(pc.any(pc.equal(column, name)).as_py())
    return bool(re.match(_NUMBER, name) or re.match(_COMMA_NUMBER, name))
