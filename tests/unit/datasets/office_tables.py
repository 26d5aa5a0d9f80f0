"""Tables written the way offices write them, and how a column may be read, worked out by trying every way in turn."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

SEPARATORS = (",", ";", "\t", "|")
DECIMALS = (".", ",")
THOUSANDS = ("", ",", ".", " ", "\u00a0", "\u202f", "'", "\u2019")
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-be", "cp1252")
QUOTINGS = (csv.QUOTE_MINIMAL, csv.QUOTE_ALL)
LINE_ENDS = ("\n", "\r\n", "\r")


@dataclass(frozen=True)
class Dialect:
    """How a program writes a table."""

    separator: str = ","
    decimal: str = "."
    thousands: str = ""
    encoding: str = "utf-8"
    quoting: int = csv.QUOTE_MINIMAL
    line_end: str = "\r\n"
    empty_columns: int = 0
    empty_lines: int = 0

    def number(self, value: int | Decimal) -> str:
        """Write a number in full."""
        sign, digits = ("-", str(-value)) if value < 0 else ("", str(value))
        integer_part, _, fraction = digits.partition(".")
        if self.thousands:
            groups = []
            while len(integer_part) > 3:
                groups.insert(0, integer_part[-3:])
                integer_part = integer_part[:-3]
            integer_part = self.thousands.join([integer_part, *groups])
        return sign + integer_part + (self.decimal + fraction if fraction else "")

    def cell(self, value: object) -> str:
        """Write a cell; None is empty."""
        if value is None:
            return ""
        return self.number(value) if isinstance(value, (int, Decimal)) else str(value)

    def table(self, names: list[str], records: list[list[object]]) -> bytes:
        """Write a table."""
        buffer = io.StringIO(newline="")
        broken = any("\n" in str(cell) for record in records for cell in record)  # the writer quotes its own ends only
        quoting = csv.QUOTE_ALL if broken else self.quoting
        writer = csv.writer(buffer, delimiter=self.separator, quoting=quoting, lineterminator=self.line_end)
        more = [""] * self.empty_columns
        writer.writerow([*names, *more])
        writer.writerows([*map(self.cell, record), *more] for record in records)
        content = buffer.getvalue()
        content += (self.separator * (len(names) + len(more) - 1) + self.line_end) * self.empty_lines
        return (b"\xfe\xff" if self.encoding == "utf-16-be" else b"") + content.encode(self.encoding)


def readings(cells: list[str]) -> set[tuple[Fraction, ...]]:
    """Return every way to read a column of filled cells as numbers, by trying each pair of marks on each cell."""
    interpretations = set()
    for decimal in ".,":
        for thousands in ("", ",", ".", " \u00a0\u202f", "'\u2019"):
            if decimal not in thousands or not thousands:
                values = [_read(cell, decimal, thousands) for cell in cells]
                if None not in values:
                    interpretations.add(tuple(values))
    return interpretations


def _read(cell: str, decimal: str, thousands: str) -> Fraction | None:
    """Return the number, or None: character by character, from the right."""
    sign, digits = (-1, cell[1:]) if cell.startswith("-") else (1, cell)
    fraction = ""
    if digits.count(decimal) == 1:
        digits, fraction = digits.split(decimal)
        if fraction and not _digits(fraction):
            return None
    marked = any(mark in digits for mark in thousands)
    integer_part, count = "", 0
    for sign_or_digit in reversed(digits):
        if thousands and sign_or_digit in thousands:
            if count != 3:
                return None
            count = 0
        elif _digits(sign_or_digit):
            integer_part, count = sign_or_digit + integer_part, count + 1
        else:
            return None
    if marked and (not 1 <= count <= 3 or integer_part[0] == "0" or (not fraction and digits + decimal == cell)):
        return None
    if not integer_part and not fraction:
        return None
    return sign * (Fraction(int(integer_part or "0")) + Fraction(int(fraction or "0"), 10 ** len(fraction)))


def _digits(text: str) -> bool:
    return text.isascii() and text.isdigit()
