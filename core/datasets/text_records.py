"""The records of a text table, one after the other, with the line on which each starts, and as columns of cells.

Spreadsheets write a table's whole rectangle: empty lines and columns around it come as cells without content, and
cells at the end of a line may be left out. Told to mind the edges, the reader takes them off and counts them.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import islice
from typing import Any

from core.datasets.cells import check_rows
from core.datasets.encodings import undecodable
from core.errors import InputError

_BATCH = 20_000

Record = tuple[int, list[str]]


class TextRecords:
    """The header and the records of a text table.

    Parameters
    ----------
    content : bytes
    encoding, separator : str
    first_line : int
        The number of the content's first line in the file.
    edges : bool
        Whether lines without a filled cell, and empty cells beyond the header's names, are taken off.

    Attributes
    ----------
    header : list of str
        Cells of the first record; with `edges`, of the first that has a filled one if there is any.
    blank : int
        How many lines without a filled cell were taken off between and under the records.
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
