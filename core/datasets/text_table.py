"""Text tables (CSV and its kin) from memory: encoding, separator, records, and numbers as offices write them.

Tables are read as offices have them: in Windows-1252 ("ANSI", in which Excel saves a plain CSV), with the empty lines
and columns that spreadsheets write around them, with numbers such as 1.234,56, 1'234, 12 % or € 5.

A column is numbers only if every filled cell is one in the same way of writing, and a percent sign or currency stands
in all of them or in none. Blanks and apostrophes between thousands say what they are; a comma or a point may be either
mark. Where a column can be read in two ways ("1,234" alone: 1.234 or 1234) the other columns of the file decide; then a
comma between the cells, which a program with decimal commas would not put there. Where nothing decides, a column with
the mark in every number is read as decimals, as the two readings then differ by one factor, and any other stays text.
What was decided is noted. Codes (with leading zeros, or long ones in groups of three, each another) and whole numbers
beyond 64 bits stay text.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from typing import Any

from ..base.errors import InputError
from .columns import (
    BLANKS,
    MOST_CELLS,
    check_names,
    check_rows,
    cleaned,
    could_be_number,
    empty_file,
    listed,
    quoted,
)

_SEPARATORS = (",", ";", "\t", "|")
_SAMPLE = (
    1 << 20
)  # the separator is chosen, and the width of the table judged, on this many letters
_SAMPLE_RECORDS = 200
_BATCH = 20_000


def text_columns(
    content: bytes,
    name: str,
    max_columns: int,
    max_rows: int,
    *,
    notes: list[str],
    header: bool = True,
) -> tuple[list[str], list[Any]]:
    """Return names and cells of the columns; see `core.datasets.read_table`.

    What was decided is added to `notes`. Without a `header` the first line is a record, and the columns are numbered.
    """
    encoding, note = _encoding(content, name)
    if encoding == "utf-16":
        try:
            content = content.decode("utf-16").encode()
            encoding = "utf-8"
        except UnicodeDecodeError:
            raise InputError(
                "The file begins like UTF-16 but is damaged; save it as UTF-8."
            ) from None
    content, declared = _named_separator(content)
    sample, cut = _sample(content, encoding)
    if not sample:
        raise empty_file(name)
    separator = _separator(sample, declared or _SEPARATORS, cut, max_columns)
    first_line = 2 if declared else 1
    records = _records(content, encoding, separator, first_line)
    start, first = next(records)
    if not _filled(first):
        start, first = next(
            ((line, cells) for line, cells in records if _filled(cells)), (start, first)
        )
    if not header:
        records = chain([(start, first)], records)
        first = [f"column {number}" for number in range(1, len(first) + 1)]
    names = [cell.strip() for cell in first]
    unnamed = {index for index, title in enumerate(names) if not title and any(names)}
    if all(could_be_number(title) for index, title in enumerate(names) if index not in unnamed):
        raise _no_header("only numbers", names)
    check_names(names, without=unnamed)
    columns, blank = _columns(records, first, min(max_rows, MOST_CELLS // len(names)))
    if note:
        notes.append(note)
    names, columns = _inside(names, columns, blank, notes)
    columns = number_columns(names, columns, separator, notes)
    if all(_is_cell(title, column) for title, column in zip(names, columns, strict=True)):
        raise _no_header("what looks like a record", names)
    return names, columns


def _encoding(content: bytes, name: str) -> tuple[str, str]:
    """Return the codec of a text file and a note on it."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and content[2:4] != b"\0\0":
        return "utf-16", ""
    if (position := content.find(b"\0")) >= 0:
        raise InputError(
            f"The file {quoted(name)} is not text, its line {_line(content, position):,} holds a NUL byte; export the "
            "table as CSV (UTF-8) or Parquet."
        )
    line = 0
    for encoding in ("utf-8", "cp1252"):
        try:
            content.decode(encoding)
        except UnicodeDecodeError as error:
            line = line or _line(content, error.start)
        else:
            if line:
                return (encoding, _ANSI.format(line))
            return ("utf-8-sig", "")
    raise InputError(f"Line {line:,} is not UTF-8; save the file as UTF-8 (in Excel: 'CSV UTF-8').")


_ANSI = (
    "The file is not UTF-8 and was read as Windows-1252 (see line {:,}); if letters look "
    "wrong, save it as 'CSV UTF-8'."
)


def _line(content: bytes, position: int) -> int:
    """Return the number of the line, from 1, in which a byte lies."""
    return content.count(b"\n", 0, position) + 1


def _named_separator(content: bytes) -> tuple[bytes, str]:
    """Take off a first line such as "sep=;", which spreadsheets write for each other, and return what it says."""
    match = re.match(rb'(?:\xef\xbb\xbf)?\s*"?sep=([,;\t|])"?[ \t]*[\r\n]+', content, re.IGNORECASE)
    if match:
        return (content[match.end() :], match[1].decode())
    return (content, "")


def _text(content: bytes, encoding: str, errors: str = "strict") -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(content), encoding=encoding, errors=errors, newline="")


def _sample(content: bytes, encoding: str) -> tuple[str, bool]:
    """Return the text from where something stands on, and whether it goes on after it; "" if there is nothing."""
    text = _text(content, encoding, "replace")
    while chunk := text.read(_SAMPLE):
        if chunk.strip():
            return chunk + text.read(_SAMPLE), bool(text.read(1))
    return "", False


def _separator(sample: str, separators: Sequence[str], cut: bool, max_columns: int) -> str:
    """Return the separator that gives most records the width of the first; of several, the one with most columns."""
    best = ""
    score = (0.0, 1)
    first = [""]
    for separator in separators:
        rows: list[list[str]] = []
        try:
            reader = csv.reader(
                io.StringIO(sample, newline=""), delimiter=separator, skipinitialspace=True
            )
            rows.extend(islice(filter(_is_record, reader), _SAMPLE_RECORDS))
        except csv.Error:  # an endless cell: reading the file says where
            best = best or separator
        if cut and 1 < len(rows) < _SAMPLE_RECORDS:
            rows.pop()  # may end in the middle
        if rows and len(rows[0]) > 1:
            share = sum(_fits(row, rows[0]) for row in rows) / len(rows)
            if (share, len(rows[0])) > score or len(rows[0]) > max_columns:
                best = separator
                score = (share, len(rows[0]))
        if rows:
            first = rows[0]
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


def _no_header(what: str, names: list[str]) -> InputError:
    return InputError(
        f"The first line must hold the column names, got {what} ({quoted(', '.join(names))}); "
        "put a line with the names above it."
    )


def _is_record(cells: list[str]) -> bool:
    return len(cells) > 1 or _filled(cells)


def _filled(cells: list[str]) -> bool:
    return any(cell and not cell.isspace() for cell in cells)


def _fits(cells: list[str], header: list[str]) -> bool:
    """Return whether a record is as wide as the header, or would be without empty cells beyond the last name."""
    width = max(
        (number for number, name in enumerate(header, 1) if name.strip()), default=len(header)
    )
    return len(cells) == len(header) or (len(cells) >= width and not _filled(cells[width:]))


def _records(
    content: bytes, encoding: str, separator: str, line: int
) -> Iterator[tuple[int, list[str]]]:
    """Yield the line on which each record starts, and its cells; lines with blanks alone are skipped."""
    reader = csv.reader(
        _text(content, encoding), delimiter=separator, skipinitialspace=True, strict=True
    )
    before = line - 1
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise _broken(str(error), line, before + reader.line_num) from None
        if _is_record(cells):
            yield line, cells
        line = before + reader.line_num + 1


def _broken(reason: str, line: int, last: int) -> InputError:
    if "limit" in reason:
        return InputError(
            f"The record that starts on line {line:,} holds a cell of more than {csv.field_size_limit():,} characters; "
            "shorten it, or close its quotation mark."
        )
    if "end of data" in reason:
        return InputError(
            f"A quotation mark opened in the record that starts on line {line:,} must be closed."
        )
    return InputError(
        f"Line {last:,} has text after a closing quotation mark; double the quotation marks inside a cell."
    )


def _columns(
    records: Iterator[tuple[int, list[str]]], header: list[str], max_rows: int
) -> tuple[list[Any], int]:
    """Return the trimmed cells column by column, and how many lines had no filled cell."""
    import pyarrow as pa

    parts: list[list[Any]] = [[] for _ in header]
    count = blank = 0
    while batch := list(islice(records, _BATCH)):
        rows = [_checked(line, cells, header) for line, cells in batch if _filled(cells)]
        blank += len(batch) - len(rows)
        count += len(rows)
        check_rows(count, max_rows)
        for part, column in zip(parts, zip(*rows, strict=True), strict=False):
            part.append(pa.array(column, pa.string()))
    return [cleaned(pa.chunked_array(part, pa.string())) for part in parts], blank


def _checked(line: int, cells: list[str], header: list[str]) -> list[str]:
    """Return a record as wide as the header; refuse another width, and the header once more."""
    width = len(header)
    if len(cells) != width:
        if not _fits(cells, header):
            raise InputError(
                f"Every record must have {width} cells like the first line, line {line:,} has "
                f"{len(cells):,}; add or delete separators there, or quote the cell that holds one."
            )
        cells = [*cells[:width], *[""] * (width - len(cells))]
    if cells == header:
        raise InputError(
            f"The column names must stand on the first line only, line {line:,} repeats them."
        )
    return cells


def _inside(
    names: list[str], columns: list[Any], blank: int, notes: list[str]
) -> tuple[list[str], list[Any]]:
    """Return the columns without those that have neither name nor content; adds to `notes` what is left out."""
    pairs = enumerate(zip(names, columns, strict=True))
    empty = {
        index for index, (name, column) in pairs if not name and column.null_count == len(column)
    }
    check_names(names, without=empty)
    inside = [index for index in range(len(names)) if index not in empty]
    if len(inside) < 2:
        raise _one_column("".join(names))
    if blank:
        notes.append(f"Lines without a filled cell are left out ({blank:,} of them).")
    if empty:
        notes.append(
            f"Columns without a name or a filled cell are left out ({len(empty):,} of them)."
        )
    return [names[index] for index in inside], [columns[index] for index in inside]


def _is_cell(name: str, column: Any) -> bool:
    """Return whether a column name could as well be a cell of its column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_string(column.type):
        return bool(pc.any(pc.equal(column, name)).as_py())
    return could_be_number(name)


_BLANKS = f"[{BLANKS}]"
_THOUSANDS = {",": ",", ".": r"\.", " ": _BLANKS, "'": "['\u2019]"}
_EXAMPLES = {",": "1,234", ".": "1.234", " ": "1 234", "'": "1’234"}
_INTEGER = r"^-?\d+$"
_CODE = r"^[+-]?0\d"
_NONZERO_INTEGER = r"^[+-]?0*[1-9]\d*$"
_LONG_CODE = 9  # digits
_FIRST = 100  # cells that are looked at before all of them
_MARK = f"[,.'\u2019{BLANKS}]"

_PERCENT = f"{_BLANKS}?%$"
_CURRENCIES = "(?:EUR|USD|GBP|CHF|SEK|NOK|DKK|PLN|CZK|HUF|JPY|CAD|AUD)"
_BEFORE = rf"^([+-]?)(?:\p{{Sc}}{_BLANKS}?|{_CURRENCIES}{_BLANKS})"
_AFTER = rf"(?:{_BLANKS}?\p{{Sc}}|{_BLANKS}{_CURRENCIES})$"
_MONEY = rf"{_BEFORE}[+-]?[\d.,]|\d[.,]?{_AFTER}"


@dataclass(frozen=True)
class _NumberStyle:
    """One way of writing numbers: the decimal mark, "." or ",", and the one between thousands, "" for none."""

    decimal: str
    thousands: str = ""

    @cached_property
    def pattern(self) -> str:
        """Regular expression of one number."""
        mark = re.escape(self.decimal)
        plain = rf"(?:\d+(?:{mark}\d*)?|{mark}\d+)(?:[eE][+-]?\d+)?"
        if self.thousands:
            grouped = rf"|[1-9]\d{{0,2}}(?:{_THOUSANDS[self.thousands]}\d{{3}})+(?:{mark}\d+)?"
        else:
            grouped = ""
        return rf"^[+-]?(?:{plain}{grouped}|(?i:inf|infinity))$"

    def simple(self, cells: Any) -> Any:
        """Return cells that fit with a decimal point, nothing between thousands and no plus sign."""
        import pyarrow.compute as pc

        if self.thousands:
            cells = pc.replace_substring_regex(cells, _THOUSANDS[self.thousands], "")
        if self.decimal == ",":
            cells = pc.replace_substring(cells, ",", ".")
        return pc.replace_substring_regex(cells, r"^\+", "")


def _every(cells: Any, pattern: str) -> bool:
    """Return whether there are cells and all of them match; a look at the first hundred saves the look at all."""
    import pyarrow.compute as pc

    parts = (cells[:_FIRST], cells)
    return bool(len(cells)) and all(
        pc.all(pc.match_substring_regex(part, pattern)).as_py() for part in parts
    )


def _some(cells: Any, pattern: str) -> bool:
    import pyarrow.compute as pc

    return bool(pc.any(pc.match_substring_regex(cells, pattern)).as_py())


def _number_styles(filled: Any) -> tuple[_NumberStyle, ...]:
    """Return the ways in which every one of the filled cells is a number: none, one, or two."""
    if not _some(filled, _MARK):
        if _every(filled, _NumberStyle(".").pattern):
            return (_NumberStyle("."),)
        return ()
    comma = _some(filled, ",")
    point = _some(filled, r"\.")
    separators = [mark for mark in " '" if _some(filled, _THOUSANDS[mark])]
    if separators:
        if len(separators) == 1 and not (comma and point):
            decimal = "," if comma else "."
            styles = [_NumberStyle(decimal, separators[0])]
        else:
            styles = []
    elif comma and point:
        styles = [_NumberStyle(".", ","), _NumberStyle(",", ".")]
    elif comma:
        styles = [_NumberStyle(","), _NumberStyle(".", ",")]
    else:
        if point:
            styles = [_NumberStyle("."), _NumberStyle(",", ".")]
        else:
            styles = [_NumberStyle(".")]
    return tuple(style for style in styles if _every(filled, style.pattern))


@dataclass(frozen=True)
class _Numbers:
    """A column of text that holds numbers: its cells without `unit`, the ways that fit them, why it stays text."""

    cells: Any
    styles: tuple[_NumberStyle, ...]
    unit: str = ""
    doubt: str = ""

    @cached_property
    def filled(self) -> Any:
        """The cells that are not missing."""
        return self.cells.drop_null()

    @property
    def shows(self) -> str:
        """The decimal mark that the column leaves no doubt of, or ""; codes have none."""
        if self.doubt or len(self.styles) > 1 or self.are_codes(self.styles[0]):
            return ""
        style = self.styles[0]
        if style.thousands in (",", ".") or _some(self.filled, "[.,]"):
            return style.decimal
        return ""

    def are_codes(self, style: _NumberStyle) -> bool:
        """Return whether the cells, read in this way, are codes: with leading zeros, or long ones in groups."""
        return _some(self.filled, _CODE) or bool(style.thousands and _is_long_code(self.filled))


def number_columns(
    names: Sequence[str], columns: Sequence[Any], separator: str, notes: list[str]
) -> list[Any]:
    """Return the columns (trimmed cells), those of numbers as such; adds to `notes` what was decided.

    `separator` is what stands between the cells of the file.
    """
    decisions: dict[str, list[str]] = defaultdict(
        list
    )  # sentence with a place for the names -> columns
    detected = [_detect_numbers(column) for column in columns]
    marks = {column.shows for column in detected if column is not None} - {""}
    if not marks and separator == ",":
        marks = {"."}
    parsed = []
    for name, column, numeric in zip(names, columns, detected, strict=True):
        style, sentence = (
            (None, "") if numeric is None else _choose_style(numeric, marks, separator)
        )
        if numeric is None or style is None:
            numbers = None
        else:
            numbers = _values(numeric, style)
        cells = column if numbers is None else numbers
        parsed.append(cells)
        if sentence and (numbers is not None or style is None):
            decisions[sentence].append(name)
        if numeric is None or numbers is None or not numeric.unit:
            continue
        if numeric.unit == "%":
            note = "Percentages are read as shares ('12%' is 0.12) in: COLUMNS."
        else:
            note = (
                f"Amounts of money are read as numbers, without their {numeric.unit}, in: COLUMNS."
            )
        decisions[note].append(name)
    notes.extend(
        sentence.replace("COLUMNS", listed(affected)) for sentence, affected in decisions.items()
    )
    return parsed


def _detect_numbers(column: Any) -> _Numbers | None:
    """Return the column as numbers in one or two ways of writing, or None if it is text."""
    import pyarrow.compute as pc

    sample = column.drop_null()[:_FIRST]
    if not len(sample) or not all(
        re.search(r"\d|[iI][nN][fF]", cell) for cell in sample.to_pylist()
    ):
        return None
    if (
        len(sample) < len(column) and _detect_numbers(sample) is None
    ):  # cells that fit no way spare the others
        return None
    cells = pc.replace_substring(column, "\u2212", "-")
    filled = cells.drop_null()
    unit = ""
    doubt = ""
    if _some(filled[:_FIRST], _PERCENT):
        unit = "%"
        if not _every(filled, _PERCENT):
            doubt = "some numbers have a percent sign and some have none"
        elif _some(filled, "[eE]"):
            doubt = "percentages with an exponent stand in it"
        cells = pc.replace_substring_regex(cells, _PERCENT, "")
    elif _some(filled[:_FIRST], _MONEY):
        signs = pc.unique(pc.replace_substring_regex(filled, r"[^\p{Sc}A-Z]", "")).to_pylist()
        unit = str(signs[0])
        if len(signs) > 1 or not _every(filled, _MONEY):
            doubt = "amounts in several currencies, or without one, stand in it"
        cells = pc.replace_substring_regex(
            pc.replace_substring_regex(cells, _BEFORE, r"\1"), _AFTER, ""
        )
    styles = _number_styles(cells.drop_null())
    if styles:
        return _Numbers(cells, styles, unit, doubt)
    return None


def _choose_style(
    column: _Numbers, marks: set[str], separator: str
) -> tuple[_NumberStyle | None, str]:
    """Return the way in which a column is read, None for as text, and a sentence if that needs saying."""
    if column.doubt:
        return None, f"Kept as text because {column.doubt}: COLUMNS."
    styles = column.styles
    if len(styles) == 1 or len(marks) == 1:
        if len(styles) == 1:
            style = styles[0]
        else:
            style = next(style for style in styles if style.decimal in marks)
        return style, _parsing_note(style, column, separator)
    plain, grouped = (_EXAMPLES[style.thousands or style.decimal] for style in styles)
    both = all(style.thousands for style in styles)
    if both or _some(column.filled, _NONZERO_INTEGER):
        example = plain if both else grouped
        doubt = f"'{example}' may mean 1.234 or 1234"
        return None, f"Kept as text because {doubt}, and no other column tells: COLUMNS."
    return styles[0], f"'{plain}' is read as 1.234, though it may mean 1234, in: COLUMNS."


def _parsing_note(style: _NumberStyle, column: _Numbers, separator: str) -> str:
    if style.thousands:
        return f"A mark between thousands is taken as one ('{_EXAMPLES[style.thousands]}' is read as 1234) in: COLUMNS."
    if style.decimal == "," and separator == "," and _some(column.filled, ","):
        return "A decimal comma is taken as one ('1,5' is read as 1.5) in: COLUMNS."
    return ""


def _values(column: _Numbers, style: _NumberStyle) -> Any:
    """Return the cells as numbers, or None if they are codes or too long."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column.are_codes(style):
        return None
    cells = style.simple(column.cells)
    try:
        if column.unit == "%":
            return pc.binary_join_element_wise(cells, "e-2", "").cast(pa.float64())
        is_integral = _every(cells.drop_null(), _INTEGER)
        kind = pa.int64() if is_integral else pa.float64()
        return cells.cast(kind)
    except pa.ArrowInvalid:  # a whole number beyond 64 bits
        return None


def _is_long_code(filled: Any) -> bool:
    """Return whether every cell is another number of the same, large number of digits (123 456 789)."""
    import pyarrow.compute as pc

    lengths = pc.unique(pc.utf8_length(filled))
    digits = len(re.sub(r"\D", "", filled[0].as_py()))
    return len(lengths) == 1 and digits >= _LONG_CODE and len(filled) == len(pc.unique(filled)) > 1
