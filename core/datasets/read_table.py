"""A user's own file, read into a `Table`: CSV (comma, semicolon, tab or bar) or Parquet.

Everything happens in memory, in a process of the file's own: no byte of an upload is written to disk. A file is either
read whole or refused with one sentence that says where it is damaged and what to change. Cells are trimmed; empty cells
and the usual words for "nothing here" are missing. A column is numbers only if every filled cell is one; numbers with
leading zeros (codes) and whole numbers beyond 64 bits stay text, so that nothing is rounded silently. What could have
been read otherwise (the encoding, marks between thousands, spellings of one value) stands in the table's notes.
"""

from __future__ import annotations

import codecs
import json
import re
import zoneinfo
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from ..base.errors import InputError
from ..base.untrusted import ask_child
from .columns import (
    MOST_CELLS,
    SPELLINGS,
    check_names,
    check_rows,
    cleaned,
    empty_file,
    megabytes,
    one_spelling,
    quoted,
)
from .dataset import Table
from .roles import MINIMUM_PER_GROUP
from .text_table import text_columns

if TYPE_CHECKING:
    import pandas
    import pyarrow

_TEXT_NAMES = (".csv", ".tsv", ".txt")
_PARQUET_NAMES = (".parquet", ".pq")
_PICKLE_NAMES = (".pkl", ".pickle", ".joblib", ".p", ".npy", ".npz")

SECONDS = 120.0
"""Longest time a file may take to be read."""

MOST_UNPACKED = 500 * 1024**2
"""Most bytes the columns of a Parquet file may take in memory."""


def read_table(
    content: bytes,
    name: str,
    *,
    max_bytes: int = 200 * 1024 * 1024,
    max_columns: int = 500,
    max_rows: int = 2_000_000,
    header: bool = True,
    min_records: int = 2 * MINIMUM_PER_GROUP,
) -> Table:
    """Read a user's file, in a process of its own.

    Parameters
    ----------
    content : bytes
        The whole file.
    name : str
        The file's name; its ending (.csv, .tsv, .txt, .parquet, .pq) says how to read it.
    max_bytes, max_columns, max_rows : int
        The largest table accepted; Parquet may also not unpack to more than `MOST_UNPACKED`.
    header : bool
        Whether the first line of a text table holds the column names; otherwise the columns are numbered.
    min_records : int
        Fewest records accepted, those of an audit.

    Returns
    -------
    Table
        Named "upload", without roles.

    Raises
    ------
    InputError
        If the file is too large or too small, is of another kind than its name says, is damaged, needs more memory or
        time than one file may take, or its columns are not named once each. The message is one sentence fit for the
        user.
    """
    import pandas as pd

    _check_name(name, PurePath(name).suffix.lower())
    if len(content) > max_bytes:
        raise InputError(
            f"The file must not be larger than {megabytes(max_bytes)}, got {megabytes(len(content))}; "
            "keep fewer records or columns."
        )
    arguments = {
        "content": content,
        "name": name,
        "max_columns": max_columns,
        "max_rows": max_rows,
        "header": header,
        "min_records": min_records,
    }
    modules = (f"{__name__}:rehearse", "pandas", "pyarrow.parquet")
    function = f"{__name__}:columns_of"
    answer, columns = ask_child(
        f"The file {quoted(name)}", function, arguments, seconds=SECONDS, modules=modules
    )
    if columns is None:
        raise InputError(f"The file {quoted(name)} broke its reader; export it again.")
    frame = pd.DataFrame({title: series_of(columns[title]) for title in columns.column_names})
    frame.attrs[SPELLINGS] = json.loads(
        (columns.schema.metadata or {}).get(SPELLINGS.encode(), b"{}")
    )
    return Table(
        name="upload",
        title=name,
        frame=frame,
        source=f"Your own file {quoted(name)}, read into memory and stored nowhere.",
        uploaded=True,
        notes=tuple(map(str, answer["notes"])),
    )


def columns_of(
    report: object,
    *,
    content: bytes,
    name: str,
    max_columns: int,
    max_rows: int,
    header: bool,
    min_records: int,
) -> tuple[dict[str, Any], pyarrow.Table]:
    """Return a file's columns, and notes, in the process that is asked; the first argument is the child's."""
    import pyarrow as pa

    ending = PurePath(name).suffix.lower()
    if not content or content.isspace():
        raise empty_file(name)
    _check_kind(content, name, ending)
    notes: list[str] = []
    if ending in _PARQUET_NAMES:
        names, columns = _parquet_columns(content, name, max_columns, max_rows)
    else:
        names, columns = text_columns(
            content, name, max_columns, max_rows, notes=notes, header=header
        )
    if len(columns[0]) < min_records:
        raise InputError(
            f"An audit needs at least {2 * MINIMUM_PER_GROUP} records ({MINIMUM_PER_GROUP} of each group), "
            f"got {len(columns[0])}; add records to the file."
        )
    columns, merged = one_spelling(names, columns, notes)
    table = pa.table(columns, names=names)
    return {"notes": notes}, table.replace_schema_metadata({SPELLINGS: json.dumps(merged)})


def rehearse() -> None:
    """Read small tables of our own, so that the libraries import what they put off: a confined child cannot."""
    import io

    import pyarrow as pa
    import pyarrow.parquet

    lines = [
        f"{number},{number / 7},{number % 2 == 0},2020-01-{number % 28 + 1:02},é"
        for number in range(60)
    ]
    text = "\n".join(["whole,share,fact,day,word", *lines, ""])
    parquet = io.BytesIO()
    columns = {"whole": list(range(60)), "word": ["é"] * 60}
    pyarrow.parquet.write_table(pa.table(columns), parquet)
    files = {"a.csv": text.encode(), "b.csv": text.encode("cp1252"), "c.csv": text.encode("utf-16")}
    files["d.parquet"] = parquet.getvalue()
    for name, content in files.items():
        columns_of(
            None,
            content=content,
            name=name,
            max_columns=10,
            max_rows=100,
            header=True,
            min_records=0,
        )


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
    start = content[:4096].removeprefix(codecs.BOM_UTF8).lstrip().lower()
    kind = ""
    if content.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        kind = "a spreadsheet (an Excel workbook or the like) or a zip archive"
    elif start.startswith((b"<!doctype", b"<html", b"<head", b"<body", b"<table", b"<?xml")):
        kind = "a web page or an XML document"
    elif re.match(rb'\[\s*[\[{"\]]|\{\s*["}]', start):
        kind = "JSON"
    if kind:
        raise InputError(
            f"The file {quoted(name)} is {kind}, not a table in text form or Parquet; export the table itself as CSV."
        )
    marked = content.startswith(b"PAR1")
    if marked and ending in _TEXT_NAMES:
        raise InputError(
            f"The file {quoted(name)} is Parquet and not text; let its name end in .parquet."
        )
    if not marked and ending in _PARQUET_NAMES:
        raise InputError(
            f"The file {quoted(name)} is not Parquet; if it is a text table, let its name end in .csv."
        )


def series_of(column: Any) -> pandas.Series:
    """Column of a frame: whole numbers and true/false with gaps as nullable, dates as times in UTC.

    Raises ValueError if the column is of a type that the process which read the file never sends.
    """
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    kind = column.type
    nullable = None
    if not _is_plain(kind):
        raise ValueError(f"a column must be of a plain type, got {kind}")
    if column.null_count and pa.types.is_integer(kind):
        if pa.types.is_unsigned_integer(kind):
            nullable = pd.UInt64Dtype()
        else:
            nullable = pd.Int64Dtype()
    elif column.null_count and pa.types.is_boolean(kind):
        nullable = pd.BooleanDtype()
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
        nullable = pd.StringDtype(
            "pyarrow", na_value=np.nan
        )  # what pandas takes by itself, without a Python text a cell
    return column.to_pandas(types_mapper=lambda _: nullable)


_TIME_UNIT = "us"


def _is_plain(kind: Any) -> bool:
    """Whether a type needs no conversion that a value of it, or its name, could make fail."""
    import pyarrow as pa
    from pyarrow import types

    times = (pa.timestamp(_TIME_UNIT), pa.duration(_TIME_UNIT))
    plain = (
        types.is_integer,
        types.is_boolean,
        types.is_float64,
        types.is_string,
        types.is_large_string,
    )
    return kind in times or types.is_null(kind) or any(fits(kind) for fits in plain)


_PARQUET_BATCH = 2_000


def _parquet_columns(
    content: bytes, name: str, max_columns: int, max_rows: int
) -> tuple[list[str], list[Any]]:
    """Return the names and the cells of the columns; a file's size is known before it is unpacked."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

    try:
        file = ParquetFile(
            pa.BufferReader(content), page_checksum_verification=True, pre_buffer=False
        )
        schema = file.schema_arrow
        records = file.metadata.num_rows
        names = [str(title).strip() for title in schema.names]
        _check_size(names, max_columns, records, max_rows)
        batches = []
        size = 0
        for batch in file.iter_batches(_PARQUET_BATCH, use_threads=False):
            size += batch.nbytes
            if size > MOST_UNPACKED:
                raise InputError(
                    f"The file {quoted(name)} must not unpack to more than {megabytes(MOST_UNPACKED)}; keep fewer "
                    "records."
                )
            batches.append(batch)
        table = pa.Table.from_batches(batches, schema)
        table.validate(full=True)
        return names, [
            _flat(column, title) for title, column in zip(names, table.columns, strict=True)
        ]
    except (InputError, MemoryError):
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError, KeyError, IndexError, OverflowError):
        raise InputError(
            f"The Parquet file {quoted(name)} is damaged or cut off; export it again."
        ) from None


def _check_size(names: list[str], max_columns: int, records: int, max_rows: int) -> None:
    if len(names) > max_columns:
        raise InputError(
            f"The table must not have more than {max_columns:,} columns, got {len(names):,}."
        )
    if len(names) < 2:
        raise InputError(
            f"The table must have a label, a sensitive attribute and features, got {len(names)} columns; add the "
            "others."
        )
    check_names(names)
    check_rows(records, min(max_rows, MOST_CELLS // len(names)))


def _flat(column: Any, name: str) -> Any:
    """Return a column of text, numbers, true/false or times."""
    import pyarrow as pa
    from pyarrow import types

    if isinstance(column.type, pa.BaseExtensionType):
        column = column.cast(column.type.storage_type)
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if types.is_float32(kind):
        column = column.cast(pa.string())  # the shortest decimal: 0.7, not 0.699999988
    if types.is_decimal(kind) or types.is_floating(kind):
        return column.cast(pa.float64())
    if types.is_integer(kind) or types.is_boolean(kind):
        return column
    if types.is_date(kind) or types.is_timestamp(kind) or types.is_duration(kind):
        return _times(column, name)
    try:
        if not types.is_nested(kind):
            return cleaned(column.cast(pa.string()))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        pass
    raise InputError(
        f"Column {quoted(name)} must hold one text or number a cell, got lists or records or raw bytes; convert or "
        "delete it."
    )


_FIXED_ZONE = re.compile(r"[+-]([01]\d|2[0-3]):?[0-5]\d", re.ASCII)
_ZONES = frozenset(zoneinfo.available_timezones())
"""Names of time zones that the system knows."""

_DAY = 24 * 3600 * 10**6
_FIRST_MOMENT = -719_162 * _DAY
_LAST_MOMENT = 2_932_897 * _DAY
"""The years 1 to 9999, in microseconds since 1970: what a calendar can write."""


def _times(column: Any, name: str) -> Any:
    """Dates and moments in UTC, and durations, in microseconds."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import types

    if types.is_timestamp(column.type):
        zone = column.type.tz
    else:
        zone = None
    if zone is not None and zone not in _ZONES and not _FIXED_ZONE.fullmatch(zone):
        raise InputError(
            f"Column {quoted(name)} must be in a time zone that is known, got {quoted(zone)}; store its times in UTC."
        )
    is_duration = types.is_duration(column.type)
    if is_duration:
        unit = pa.duration(_TIME_UNIT)
    else:
        unit = pa.timestamp(_TIME_UNIT)
    outside = InputError(
        f"Column {quoted(name)} must hold dates of the years 1 to 9999, or durations of as many years at most; correct "
        "or empty the others."
    )
    try:
        # The instant stays what it is; finer digits than microseconds are cut.
        if zone is not None:
            instants = column.cast(pa.timestamp(column.type.unit))
        else:
            instants = column
        if _is_finer(instants.type):
            times = instants.cast(unit, safe=False)
        else:
            times = instants.cast(unit)
    except pa.ArrowInvalid:
        raise outside from None
    numbers = times.cast(pa.int64())
    extremes = pc.min_max(numbers).as_py()
    lowest = extremes["min"]
    highest = extremes["max"]
    if lowest is not None and (lowest < _FIRST_MOMENT or highest >= _LAST_MOMENT):
        raise outside
    return times


def _is_finer(kind: Any) -> bool:
    """Whether a type counts nanoseconds."""
    from pyarrow import types

    return not types.is_date(kind) and kind.unit == "ns"
