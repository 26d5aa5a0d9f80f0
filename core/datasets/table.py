"""A user's own file, read into a `Table`: CSV (comma, semicolon, tab or bar) or Parquet.

Everything happens in memory: no byte of an upload is written to disk. A file is either read whole and as it stands,
or refused with one sentence that says where it is damaged and what to change. Cells are trimmed; empty cells and the
usual words for "nothing here" are missing. A column is numbers only if every filled cell is one; numbers with leading
zeros (codes) and whole numbers beyond 64 bits stay text, so that nothing is rounded silently.
"""

from __future__ import annotations

import codecs
import csv
import io
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from core.datasets.dataset import MINIMUM_PER_GROUP, Table, quoted
from core.errors import InputError
from core.fingerprint import fingerprint_frame

if TYPE_CHECKING:
    import pandas

__all__ = ["MISSING_WORDS", "read_table"]

MISSING_WORDS = ("", "?", "-", "NA", "na", "N/A", "n/a", "#N/A", "<NA>", "nan", "NaN", "NAN", "null", "Null", "NULL")
"""Cells that count as missing, after trimming."""

_SEPARATORS = (",", ";", "\t", "|")
_TEXT_NAMES, _PARQUET_NAMES = (".csv", ".tsv", ".txt"), (".parquet", ".pq")
_PICKLE_NAMES = (".pkl", ".pickle", ".joblib", ".p", ".npy", ".npz")
_SAMPLE = 1 << 20  # the separator is chosen, and the width of the table judged, on this many bytes
_SAMPLE_RECORDS = 200
_BATCH = 20_000

_NUMBER = r"^[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|(?i:inf|infinity))$"
_COMMA_NUMBER = r"^[+-]?\d+(,\d+)?([eE][+-]?\d+)?$"
_WHOLE = r"^[+-]?\d+$"
_CODE = r"^[+-]?0\d"
_CONTROL = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f]")

_EXPORT, _UNPACK = "open it, export the table as CSV and use that file", "unpack it and use the table inside"
_FOREIGN = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel workbook", _EXPORT),
    (b"\x1f\x8b", "a gzip archive", _UNPACK),
    (b"BZh", "a bzip2 archive", _UNPACK),
    (b"\xfd7zXZ\0", "an xz archive", _UNPACK),
    (b"\x28\xb5\x2f\xfd", "a zstd archive", _UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
    (b"%PDF", "a PDF document", "ask for the table itself as CSV"),
    (b"{\\rtf", "an RTF document", _EXPORT),
    (b"SQLite format 3\0", "a SQLite database", _EXPORT),
    (b"ARROW1", "a Feather file", "save the table as CSV or Parquet"),
    (b"\x89PNG", "a picture", "ask for the table itself as CSV"),
    (b"\xff\xd8\xff", "a picture", "ask for the table itself as CSV"),
)


def read_table(
    content: bytes,
    name: str,
    *,
    max_bytes: int = 200 * 1024 * 1024,
    max_columns: int = 500,
    max_rows: int = 2_000_000,
) -> Table:
    """Read a user's file.

    Parameters
    ----------
    content : bytes
        The whole file.
    name : str
        The file's name; its ending (.csv, .tsv, .txt, .parquet, .pq) says how to read it.
    max_bytes, max_columns, max_rows : int
        The largest table accepted; Parquet may also not unpack to more than ten times `max_bytes`.

    Returns
    -------
    Table
        Named "upload", without roles.

    Raises
    ------
    InputError
        If the file is too large or too small, is of another kind than its name says, is damaged, or its columns are
        not named once each. The message is one sentence fit for the user.
    """
    import pandas as pd

    ending = PurePath(name).suffix.lower()
    _check_name(name, ending)
    if len(content) > max_bytes:
        raise InputError(
            f"The file must not be larger than {_megabytes(max_bytes)}, got {_megabytes(len(content))}; "
            "keep fewer records or columns."
        )
    if not content or content.isspace():
        raise _empty(name)
    _check_kind(content, name, ending)
    if ending in _PARQUET_NAMES:
        names, columns = _parquet_columns(content, name, max_bytes * 10, max_columns, max_rows)
    else:
        names, columns = _text_columns(content, name, max_columns, max_rows)
    if len(columns[0]) < 2 * MINIMUM_PER_GROUP:
        raise InputError(
            f"An audit needs at least {2 * MINIMUM_PER_GROUP} records ({MINIMUM_PER_GROUP} of each group), "
            f"got {len(columns[0])}; add records to the file."
        )
    frame = pd.DataFrame({title: _series(column) for title, column in zip(names, columns, strict=True)})
    return Table(
        name="upload",
        title=name,
        frame=frame,
        source=f"Your own file {quoted(name)}, read into memory and stored nowhere.",
        fingerprint=fingerprint_frame(frame),
        uploaded=True,
    )


def _empty(name: str) -> InputError:
    return InputError(f"The file {quoted(name)} is empty; choose a file with column names and records.")


def _megabytes(size: int) -> str:
    return f"{math.ceil(size / 1024**2 * 10) / 10:,g} MB"


def _check_name(name: str, ending: str) -> None:
    if ending in _PICKLE_NAMES:
        raise InputError(
            f"The file {quoted(name)} is refused because opening a pickle can run any code hidden in it; "
            "save the table as CSV or Parquet."
        )
    if ending not in _TEXT_NAMES + _PARQUET_NAMES:
        raise InputError(
            f"The file's name must end in {', '.join(_TEXT_NAMES + _PARQUET_NAMES)}, got {quoted(name)}; "
            "export the table as CSV or Parquet."
        )


def _check_kind(content: bytes, name: str, ending: str) -> None:
    """Refuse what is neither a text table nor Parquet, and one named like the other."""
    found = next(((what, remedy) for start, what, remedy in _FOREIGN if content.startswith(start)), None)
    if content.startswith(b"PK\x03\x04"):
        edges = content[:4096] + content[-4096:]
        book = b"xl/" in edges or b"opendocument.spreadsheet" in edges
        found = ("a spreadsheet (an Excel workbook or the like)", _EXPORT) if book else ("a zip archive", _UNPACK)
    start = content[:4096].removeprefix(codecs.BOM_UTF8).lstrip().lower()
    if start.startswith((b"<!doctype", b"<html", b"<head", b"<body", b"<table", b"<?xml")):
        found = ("a web page or an XML document", "download the table itself as CSV")
    elif re.match(rb'\[\s*[\[{"\]]|\{\s*["}]', start):
        found = ("JSON", "save the table as CSV or Parquet")
    if found:
        raise InputError(f"The file {quoted(name)} is {found[0]}, not a table in text form or Parquet; {found[1]}.")
    marked = content.startswith(b"PAR1")
    if marked and ending in _TEXT_NAMES:
        raise InputError(f"The file {quoted(name)} is Parquet and not text; let its name end in .parquet.")
    if not marked and ending in _PARQUET_NAMES:
        raise InputError(f"The file {quoted(name)} is not Parquet; if it is a text table, let its name end in .csv.")


# Text tables


def _text_columns(content: bytes, name: str, max_columns: int, max_rows: int) -> tuple[list[str], list[Any]]:
    encoding = _encoding(content, name)
    sample = content[:_SAMPLE].decode(encoding, "ignore")
    if not sample.strip():
        raise _empty(name)
    separator = _separator(sample, len(content) > _SAMPLE, max_columns)
    records = _records(content, encoding, separator)
    _, header = next(records)
    names = [cell.strip() for cell in header]
    if all(re.match(_NUMBER, cell) or re.match(_COMMA_NUMBER, cell) for cell in names):
        raise InputError(
            f"The first line must hold the column names, got only numbers ({quoted(', '.join(names))}); "
            "put a line with the names above it."
        )
    _check_names(names)
    columns = [_typed(column, separator in ";\t") for column in _collect(records, header, max_rows)]
    if all(_is_cell(title, column) for title, column in zip(names, columns, strict=True)):
        raise InputError(
            f"The first line must hold the column names, got what looks like a record ({quoted(', '.join(names))}); "
            "put a line with the names above it."
        )
    return names, columns


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


def _check_names(names: Sequence[str]) -> None:
    for place, name in enumerate(names, 1):
        if not name:
            raise InputError(f"Every column must have a name, column {place} has none; name it or delete it.")
        if (first := names.index(name) + 1) < place:
            raise InputError(
                f"Every column must have a name of its own, columns {first} and {place} are both called {quoted(name)}."
            )


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
        _check_rows(count, max_rows)
        for part, column in zip(parts, zip(*(cells for _, cells in batch), strict=True), strict=True):
            part.append(pa.array(column, pa.string()))
    return [pa.chunked_array(part, pa.string()) for part in parts]


def _check_rows(count: int, max_rows: int) -> None:
    if count > max_rows:
        raise InputError(f"The table must not have more than {max_rows:,} records; draw a random sample of them.")


def _cleaned(column: Any) -> Any:
    """Trim the cells and empty those that say that nothing is there."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = pc.utf8_trim_whitespace(column)
    return pc.if_else(pc.is_in(column, pa.array(MISSING_WORDS)), pa.scalar(None, pa.string()), column)


def _typed(column: Any, decimal_comma: bool) -> Any:
    """Return the cells as whole numbers or numbers where every filled cell is one, else as text."""
    import pyarrow as pa
    import pyarrow.compute as pc

    def share(pattern: str, cells: Any) -> float:
        return float(pc.mean(pc.match_substring_regex(cells, pattern)).as_py() or 0.0)

    column = _cleaned(column)
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


# Parquet


@contextmanager
def _damage_told(name: str) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except InputError:
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError, KeyError, IndexError, OverflowError, MemoryError):
        raise InputError(f"The Parquet file {quoted(name)} is damaged or cut off; export it again.") from None


def _parquet_columns(
    content: bytes, name: str, max_bytes: int, max_columns: int, max_rows: int
) -> tuple[list[str], list[Any]]:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    with _damage_told(name):
        file = ParquetFile(pa.BufferReader(content), page_checksum_verification=True)
        names = [str(title).strip() for title in file.schema_arrow.names]
        if len(names) > max_columns:
            raise InputError(f"The table must not have more than {max_columns:,} columns, got {len(names):,}.")
        if len(names) < 2:
            raise InputError(
                f"The table must have a label, a sensitive attribute and features, got {len(names)} columns; "
                "add the others."
            )
        _check_names(names)
        _check_rows(file.metadata.num_rows, max_rows)
        for title, kind in zip(names, file.schema_arrow.types, strict=True):
            _check_flat(title, kind)
        batches, size = [], 0
        for batch in file.iter_batches(_BATCH // 10):
            size += batch.nbytes
            if size > max_bytes:
                raise InputError(f"The file must not unpack to more than {_megabytes(max_bytes)}; keep fewer records.")
            batches.append(batch)
        table = pa.Table.from_batches(batches, file.schema_arrow)
        table.validate(full=True)
        return names, [_flat(column, title) for title, column in zip(names, table.columns, strict=True)]


def _check_flat(name: str, kind: Any) -> None:
    import pyarrow as pa

    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    inner = inner.storage_type if isinstance(inner, pa.BaseExtensionType) else inner
    if pa.types.is_nested(inner):
        raise InputError(f"Column {quoted(name)} must have one value a cell, got lists or records; split or delete it.")


def _flat(column: Any, name: str) -> Any:
    """Return a column of text, numbers, true/false or times."""
    import pyarrow as pa

    if isinstance(column.type, pa.BaseExtensionType):
        column = column.cast(column.type.storage_type)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if pa.types.is_decimal(kind) or pa.types.is_floating(kind):
        return column.cast(pa.float64())
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_date(kind):
        return column
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        return column
    try:
        return _cleaned(column.cast(pa.string()))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError(
            f"Column {quoted(name)} must hold text or numbers, got raw bytes; convert or delete it."
        ) from None


def _series(column: Any) -> pandas.Series:
    """Return the column for a frame: whole numbers and true/false with gaps as nullable, dates as times."""
    import pandas as pd
    import pyarrow as pa

    nullable: dict[Any, Any] = {}
    if column.null_count and pa.types.is_integer(column.type):
        wide = pa.uint64() if pa.types.is_unsigned_integer(column.type) else pa.int64()
        column, nullable = column.cast(wide), {pa.int64(): pd.Int64Dtype(), pa.uint64(): pd.UInt64Dtype()}
    elif column.null_count and pa.types.is_boolean(column.type):
        nullable = {pa.bool_(): pd.BooleanDtype()}
    return column.to_pandas(types_mapper=nullable.get, date_as_object=False)
