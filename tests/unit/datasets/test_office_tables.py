"""Tables as offices have them, and with hostile names: nothing is misread in silence, and notes are sentences."""

from __future__ import annotations

import csv
import io
import random
import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core.base.errors import InputError
from core.datasets.build import build_dataset
from core.datasets.dataset import Table
from core.datasets.read_table import read_table
from core.datasets.roles import Roles
from tests.unit.datasets.bad_tables import GOOD, assert_one_sentence, csv_bytes
from tests.unit.datasets.hostile_tables import HOSTILE, HOSTILE_NAMES, hostile_table

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


def table_of(separator: str, **columns: list[str]) -> Table:
    """Read a table of 60 records with a column of text and the given ones, cells repeated and quoted."""
    lines = [separator.join(["x", *(f'"{cells[i % len(cells)]}"' for cells in columns.values())]) for i in range(60)]
    table = read_table(csv_bytes(separator.join(["key", *columns]), lines), "a.csv")
    for note in table.notes:
        assert_one_sentence(note)
    return table


def first(table: Table, name: str = "v", count: int = 2) -> list[object]:
    """Return the first cells of a column."""
    return table.frame[name][:count].tolist()


@pytest.mark.parametrize(
    ("separator", "cells", "second_cells", "expected", "fragment"),
    [
        (",", ["1,234", "850"], None, [1234, 850], "'1,234' is read as 1234"),
        (",", ["1.234", "2,500"], None, [1.234, 2500.0], "'1,234' is read as 1234"),
        (",", ["1.234", "850"], ["2,5", "3"], [1234, 850], "'1.234' is read as 1234"),
        (",", ["1,234", "850"], ["2,5", "3"], [1.234, 850.0], "decimal comma"),
        (";", ["1.234", "850"], ["2,5", "3"], [1234, 850], "'1.234' is read as 1234"),
        ("\t", ["1.234", "850"], ["1.234,5", "3"], [1234, 850], "'1.234' is read as 1234"),
        (";", ["1.234", "850"], None, None, "Kept as text because '1.234' may mean 1.234 or 1234"),
        (";", ["1.234", "0"], None, [1.234, 0.0], "'1.234' is read as 1.234, though it may mean 1234"),
        ("\t", ["1,234", "2,500"], None, [1.234, 2.5], "though it may mean 1234"),
        (";", ["1.234", "850"], ["01.11", "46.90"], None, "Kept as text because"),
        (";", ["1.234", "0"], [f"111.222.{i}" for i in range(100, 160)], [1.234, 0.0], "though it may mean 1234"),
    ],
)
def test_doubt_is_settled_by_the_table_or_gives_a_note(
    separator: str, cells: list[str], second_cells: list[str] | None, expected: list[float] | None, fragment: str
) -> None:
    table = table_of(separator, v=cells, **({"other": second_cells} if second_cells else {}))
    assert first(table) == (cells if expected is None else expected)
    notes = [note for note in table.notes if re.search(r"\bv\b", note)]
    assert (fragment in notes[0] and len(notes) == 1) if fragment else not notes


def test_windows_1252_is_read_with_a_note() -> None:
    names = ["Zoë", "Ångström", "garçon", "“quoted” – yes", "5 € à l’hôtel", "naïve", "Šimon", "5°C", "Nº5", "m²"]
    content = "\r\n".join(["naam;größe", *[f"{names[i % len(names)]};{i},5" for i in range(70)]])
    table = read_table(content.encode("cp1252"), "ansi.csv")
    assert table.frame["naam"][:10].tolist() == names
    (note,) = table.notes
    assert "Windows-1252" in note
    assert "Zoë" not in note
    assert table.fingerprint == read_table(content.encode(), "utf.csv").fingerprint


LINES = GOOD.decode().splitlines()
EDGES = {
    "wide": ("\r\n".join([*(f"{line},,," for line in LINES), *[",,,,,,"] * 5]), [5, 3]),
    "cut": ("\r\n".join(f"{line},,," if i < 16 else line for i, line in enumerate(LINES)), [3]),
    "no name": ("\r\n".join([LINES[0], *(f"{line}, " for line in LINES[1:])]), []),
    "between": ("\r\n".join(re.sub("^([^,]*),", r"\1,,", line) for line in LINES), [1]),
}


@pytest.mark.parametrize("kind", EDGES)
def test_edges_that_spreadsheets_write(kind: str) -> None:
    text, counts = EDGES[kind]
    table = read_table(text.encode(), "a.csv")
    assert table.fingerprint == read_table(GOOD, "a.csv").fingerprint
    notes = " ".join(table.notes)
    assert [int(count) for count in re.findall(r"\((\d+) of them\)", notes)] == counts


def test_answers_in_any_case_are_one_answer() -> None:
    answers = ["Yes", "yes", "YES", "no", "No ", "NO", "yes"]
    table = table_of(",", hired=answers, sex=["F", "M", "f"], gene=["AA", "Aa", "aa"], town=["Sao Paulo", "Sao  paulo"])
    assert set(table.frame["hired"]) == {"yes", "no"} or set(table.frame["hired"]) == {"yes", "NO"}
    assert set(table.frame["sex"]) == {"F", "M"} and set(table.frame["gene"]) == {"AA", "Aa", "aa"}
    assert set(table.frame["town"]) == {"Sao Paulo"}
    assert len(table.notes) == 1 and table.notes[0].endswith("in: hired, sex, town.")


_TEXTS = st.text(st.sampled_from("abcdefgh äöüéß –,;|\"'\n\t"), min_size=1, max_size=8).map(
    # several letters, or one with a dash, may be one letter of UTF-8
    lambda t: "w" + re.sub("([äöüéß])[äöüéß–]+", r"\1", t) + "w"
)
_INTEGERS = st.integers(-(10**12), 10**12) | st.integers(-2000, 2000)
_DECIMALS = st.decimals(-(10**7), 10**7, places=2) | st.decimals(-50, 5000, places=3)
_KINDS = {"text": _TEXTS, "whole": _INTEGERS, "decimals": _DECIMALS, "both": _INTEGERS | _DECIMALS}


@st.composite
def _dialects(draw: st.DrawFn) -> Dialect:
    decimal = draw(st.sampled_from(DECIMALS))
    encoding = draw(st.sampled_from(ENCODINGS))
    thousands = [mark for mark in THOUSANDS if mark != decimal and (encoding != "cp1252" or mark != "\u202f")]
    return Dialect(
        separator=draw(st.sampled_from(SEPARATORS)),
        decimal=decimal,
        thousands=draw(st.sampled_from(thousands)),
        encoding=encoding,
        quoting=draw(st.sampled_from(QUOTINGS)),
        line_end=draw(st.sampled_from(LINE_ENDS)),
        empty_columns=draw(st.integers(0, 3)),
        empty_lines=draw(st.integers(0, 3)),
    )


@settings(max_examples=75)
@given(_dialects(), st.data())
def test_any_frame_in_any_dialect_reads_back(dialect: Dialect, data: st.DataObject) -> None:
    kinds = data.draw(st.lists(st.sampled_from(sorted(_KINDS)), min_size=1, max_size=4))
    some = [data.draw(st.lists(st.none() | _KINDS[kind], min_size=3, max_size=6)) for kind in kinds]
    for cells in some:
        assume(any(cell is not None for cell in cells))
    names = ["key", *[f"c{i}" for i in range(len(kinds))]]
    records: list[list[object]] = [["k", *(cells[i % len(cells)] for cells in some)] for i in range(60)]
    table = read_table(dialect.table(names, records), "a.csv")
    assert table.frame.columns.tolist() == names and len(table.frame) == 60
    for name, cells in zip(names[1:], some, strict=True):
        _check(table, name, cells, dialect)


def _check(table: Table, name: str, cells: list[object], dialect: Dialect) -> None:
    """The column is as it was written; or it can be read in several ways, and a note names it."""
    column = table.frame[name][: len(cells)].astype(object)
    assert column.isna().tolist() == [cell is None for cell in cells]
    read, written = column.dropna().tolist(), [cell for cell in cells if cell is not None]
    if isinstance(written[0], str):
        assert read == [cell.strip() for cell in written]  # type: ignore[union-attr]
        return
    texts = [dialect.cell(cell) for cell in written]
    ways = readings(texts)
    assert tuple(Fraction(cell) for cell in written) in ways  # type: ignore[arg-type]
    if read != [float(cell) if any("." in str(number) for number in written) else cell for cell in written]:  # type: ignore[arg-type]
        is_noted = any(re.search(rf"\b{name}\b", note) for note in table.notes)
        code = len({len(text) for text in texts}) == 1 and dialect.thousands
        assert (len(ways) > 1 and (is_noted or _settled(dialect, texts))) or (read == texts and code)
    if len(ways) == 1 and read != texts:
        assert [Fraction(repr(cell)) for cell in read] == [Fraction(repr(float(way))) for way in next(iter(ways))]


def _settled(dialect: Dialect, texts: list[str]) -> bool:
    """Where commas separate the cells, a point is a decimal point without a word, if no column says otherwise."""
    return dialect.separator == "," and not any("," in text for text in texts)


ROLES = Roles(
    label=HOSTILE["label"],
    positive=HOSTILE["positive"],
    favourable=HOSTILE["positive"],
    sensitive=HOSTILE["sensitive"],
    group=(HOSTILE["group"],),
    excluded=(HOSTILE["prediction"], HOSTILE["score"], HOSTILE["sets"]),
)


def test_hostile_names_and_values_are_read_as_they_are() -> None:
    table = read_table(hostile_table(), "hostile.csv")
    assert set(table.frame.columns) == {*HOSTILE_NAMES, HOSTILE["sets"]}
    assert table.notes == ()
    assert set(table.frame["{{7*7}}"]) == {"@SUM(1+1)*cmd|' /C calc'!A0", "+1+1", "-2+3", "${jndi:x}"}
    assert set(table.frame[HOSTILE["label"]]) == {"\\u0000 no", "{{7*7}}"}
    data = build_dataset(table, ROLES)
    assert set(data.feature_names) == {*HOSTILE_NAMES} - {*ROLES.excluded, ROLES.label, ROLES.sensitive}


def test_sentences_about_hostile_tables_are_single_sentences() -> None:
    """Whatever is wrong with a hostile table, the answer and the notes are sentences on one printable line."""
    chance = random.Random(0)
    table = read_table(hostile_table(), "hostile.csv")
    names = [*table.frame.columns, "gone\n" * 900]
    values = [str(value) for value in table.frame[chance.choice(names[:-1])].unique()[:4]]
    for _ in range(60):
        roles = Roles(
            label=chance.choice(names),
            positive=chance.choice([*values, "yes", HOSTILE["positive"]]),
            favourable=chance.choice([*values, "yes", HOSTILE["positive"]]),
            sensitive=chance.choice(names),
            group=tuple(chance.sample([*values, HOSTILE["group"]], 1)),
            each=False,
            excluded=tuple(chance.sample(names, 2)),
        )
        try:
            sentences = build_dataset(table, roles).notes
        except InputError as error:
            sentences = (str(error),)
        for sentence in sentences:
            assert sentence.isprintable() and sentence.endswith(".") and len(sentence) <= 300, sentence
