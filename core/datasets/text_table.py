"""Text tables (CSV and its kin) from memory: encoding, separator, records, types of columns.

A caller that shows notes gets tables as offices have them: in Windows-1252 ("ANSI", in which Excel saves a plain CSV),
with the empty lines and columns that spreadsheets write around them, with marks between thousands. For one that does
not, nothing is decided: such files are refused, such cells stay text.

Read as Windows-1252 every byte is one character of its own: should the code page have been another one, letters look
wrong, but equal texts stay equal and different ones different. A file that mixes it with UTF-8 would split a category
in two, and is refused.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from core.datasets.columns import MOST_CELLS, check_names, check_rows, cleaned, empty_file, quoted
from core.datasets.number_format import Way, could_be_number, every, number_columns, some
from core.errors import InputError

Encoding = tuple[str, str]
"""Name of the codec, and a note on it ("" where nothing was decided)."""

_CONTROL = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_UTF8_LETTER = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_LETTER = re.compile(rb"[\x80-\xff]")


def encoding_of(content: bytes, name: str, *, windows: bool) -> Encoding:
    """Return how a text file is encoded; `windows` lets Windows-1252 be read, otherwise `undecodable` tells.

    Raises
    ------
    InputError
        If the file is no text, or text in an encoding that is not read.
    """
    utf32 = content.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE))
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and not utf32:
        return "utf-16", ""
    sample = content[:4096]
    if len(_CONTROL.findall(sample)) > len(sample) / 50:
        raise InputError(f"The file {quoted(name)} is not text; export the table as CSV (UTF-8) or Parquet.")
    if (place := content.find(b"\0")) >= 0:
        raise InputError(
            f"Line {line_of(content, place)} holds a NUL byte, which no text table may; export the table again as "
            "UTF-8."
        )
    if not windows or _is_utf8(content):
        return "utf-8-sig", ""
    return "cp1252", _windows_note(content)


def line_of(content: bytes, place: int) -> int:
    """Return the line, from 1, in which a byte stands."""
    return (content.count(b"\n", 0, place) or content.count(b"\r", 0, place)) + 1


def undecodable(content: bytes, encoding: str) -> InputError:
    """Return the error for bytes that are no text in the encoding."""
    if encoding == "utf-16":
        return InputError("The file begins like UTF-16 but is damaged; save it as UTF-8.")
    start = 0
    try:
        content.decode("cp1252" if encoding == "cp1252" else "utf-8")
    except UnicodeDecodeError as error:
        start = error.start
    place = start - max(content.rfind(b"\n", 0, start), content.rfind(b"\r", 0, start))
    return InputError(
        f"Line {line_of(content, start):,} is not UTF-8 (its byte {place:,} is 0x{content[start]:02X}); "
        "save the file as UTF-8 (in Excel: 'CSV UTF-8')."
    )


def _is_utf8(content: bytes) -> bool:
    if content.isascii():
        return True
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(content), 1 << 20):
            decoder.decode(content[start : start + (1 << 20)])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _windows_note(content: bytes) -> str:
    """Return the note on a file in Windows-1252; refuse a file that is not all of it."""
    if content.startswith(codecs.BOM_UTF8) or _UTF8_LETTER.search(content) or _CONTROL.search(content):
        raise undecodable(content, "utf-8")
    first = next(_LETTER.finditer(content)).start()
    return (
        "The file is not UTF-8 and was read as Windows-1252, in which Excel saves a plain CSV (see line "
        f"{line_of(content, first):,}); if letters look wrong, save it as 'CSV UTF-8'."
    )


_BATCH = 20_000

Record = tuple[int, list[str]]


class TextRecords:
    """The header and the records of a text table; its content begins on the file's `first_line`.

    With `edges`, lines without a filled cell (counted in `blank`) and empty cells beyond the header's names are taken
    off, and the header is the first record that has a filled cell, if there is any.
    """

    def __init__(self, content: bytes, encoding: str, separator: str, *, first_line: int, edges: bool) -> None:
        self._edges = edges
        self.blank = 0
        self._records = _records(content, encoding, separator, first_line)
        self.header = next(self._records)[1]
        if edges and not _filled(self.header):
            found = next((record for record in self._records if _filled(record[1])), None)
            self.header = self.header if found is None else found[1]

    def columns(self, max_rows: int) -> list[Any]:
        """Return the cells column by column, checking that every record is as wide as the header."""
        import pyarrow as pa

        parts: list[list[Any]] = [[] for _ in self.header]
        count = 0
        while batch := [self._checked(*record) for record in islice(self._kept(), _BATCH)]:
            count += len(batch)
            check_rows(count, max_rows)
            for part, column in zip(parts, zip(*batch, strict=True), strict=True):
                part.append(pa.array(column, pa.string()))
        return [pa.chunked_array(part, pa.string()) for part in parts]

    def _kept(self) -> Iterator[Record]:
        for record in self._records:
            if self._edges and not _filled(record[1]):
                self.blank += 1
            else:
                yield record

    def _checked(self, line: int, cells: list[str]) -> list[str]:
        width = len(self.header)
        if len(cells) != width:
            if not (self._edges and fits(cells, self.header)):
                raise InputError(
                    f"Every record must have {width} cells like the first line, line {line:,} has "
                    f"{len(cells):,}; add or delete separators there, or quote the cell that holds one."
                )
            cells = [*cells[:width], *[""] * (width - len(cells))]
        if cells == self.header:
            raise InputError(f"The column names must stand on the first line only, line {line:,} repeats them.")
        return cells


def fits(cells: list[str], header: list[str]) -> bool:
    """Return whether a record is as wide as the header, or would be without empty cells beyond the last name."""
    named = max((place for place, name in enumerate(header, 1) if name.strip()), default=len(header))
    return len(cells) == len(header) or (len(cells) >= named and not _filled(cells[named:]))


def is_record(cells: list[str]) -> bool:
    """Return whether a line is not blank."""
    return len(cells) > 1 or bool(cells and cells[0].strip())


def _filled(cells: list[str]) -> bool:
    return any(cell and not cell.isspace() for cell in cells)


def _records(content: bytes, encoding: str, separator: str, line: int) -> Iterator[Record]:
    """Yield the line on which each record starts, and its cells; blank lines are skipped."""
    text = io.TextIOWrapper(io.BytesIO(content), encoding=encoding, newline="")
    reader = csv.reader(text, delimiter=separator, skipinitialspace=True, strict=True)
    before = line - 1
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise _broken(str(error), line, before + reader.line_num) from None
        except UnicodeDecodeError:
            raise undecodable(content, encoding) from None
        if is_record(cells):
            yield line, cells
        line = before + reader.line_num + 1


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


_SEPARATORS = (",", ";", "\t", "|")
_SAMPLE = 1 << 20  # the separator is chosen, and the width of the table judged, on this many bytes
_SAMPLE_RECORDS = 200
_BLANK = b" \t\r\n\v\f\0" + codecs.BOM_UTF8 + codecs.BOM_UTF16_LE  # whole bytes of marks: none begins a name on its own


def text_columns(
    content: bytes, name: str, max_columns: int, max_rows: int, *, notes: list[str] | None = None
) -> tuple[list[str], list[Any]]:
    """Return the names and the cells of the columns; see `core.datasets.read_table.read_table`.

    What was decided is added to `notes`; without notes nothing that needs one is decided.
    """
    office = notes is not None
    encoding, note = encoding_of(content, name, windows=office)
    content, told = _named_separator(content)
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


def _named_separator(content: bytes) -> tuple[bytes, str]:
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
