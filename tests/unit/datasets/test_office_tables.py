"""Tables as offices have them, and with hostile names: nothing is misread in silence, and notes are sentences."""

import csv
import io
import random
import re
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core.base.errors import InputError
from core.datasets import Roles, build_dataset, read_table
from tests.unit.datasets.bad_tables import GOOD, HOSTILE, HOSTILE_NAMES, assert_one_sentence, csv_bytes, hostile_table

CHOICES = {
    "separator": (",", ";", "\t", "|"),
    "decimal": (".", ","),
    "thousands": ("", ",", ".", " ", "\u00a0", "\u202f", "'", "\u2019"),
    "encoding": ("utf-8", "utf-8-sig", "utf-16", "utf-16-be", "cp1252"),
    "quoting": (csv.QUOTE_MINIMAL, csv.QUOTE_ALL),
    "line_end": ("\n", "\r\n", "\r"),
    "empty_columns": range(4),
    "empty_lines": range(4),
}


class Dialect(SimpleNamespace):
    """How a program writes a table: one of each of `CHOICES`."""

    def cell(self, value):
        """Write a cell: numbers in full, None as nothing."""
        if isinstance(value, (int, Decimal)):
            return f"{value:,}".translate({ord(","): self.thousands, ord("."): self.decimal})
        return "" if value is None else str(value)

    def table(self, names, records):
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


def readings(cells):
    """Return every way to read a column of filled cells as numbers, by trying each pair of marks on each cell."""
    interpretations = set()
    for decimal in ".,":
        for thousands in ("", ",", ".", " \u00a0\u202f", "'\u2019"):
            if decimal not in thousands or not thousands:
                values = [_read(cell, decimal, thousands) for cell in cells]
                if None not in values:
                    interpretations.add(tuple(values))
    return interpretations


def _read(cell, decimal, thousands):
    """Return the number that a cell is with these marks, or None."""
    point = re.escape(decimal)
    number = rf"\d+(?:{point}\d*)?|{point}\d+"
    if thousands:
        number += rf"|[1-9]\d{{0,2}}(?:[{thousands}]\d{{3}})+(?:{point}\d+)?"
    if not re.fullmatch(f"-?(?:{number})", cell, re.ASCII):
        return None
    digits = "".join(letter for letter in cell if letter not in thousands)
    return Fraction(digits.replace(decimal, ".").rstrip("."))


def table_of(separator, **columns):
    """Read a table of 60 records with a column of text and the given ones, cells repeated and quoted."""
    lines = [separator.join(["x", *(f'"{cells[i % len(cells)]}"' for cells in columns.values())]) for i in range(60)]
    table = read_table(csv_bytes(separator.join(["key", *columns]), lines), "a.csv")
    for note in table.notes:
        assert_one_sentence(note)
    return table


@pytest.mark.parametrize(
    ("separator", "cells", "second_cells", "expected", "fragment"),
    [
        (",", ["1,234", "850"], None, [1234, 850], "'1,234' is read as 1234"),
        (",", ["1.234", "2,500"], None, [1.234, 2500.0], "'1,234' is read as 1234"),
        (",", ["1.234", "850"], ["2,5", "3"], [1234, 850], "'1.234' is read as 1234"),
        (",", ["1,234", "850"], ["2,5", "3"], [1.234, 850.0], "decimal comma"),
        ("\t", ["1.234", "850"], ["1.234,5", "3"], [1234, 850], "'1.234' is read as 1234"),
        (";", ["1.234", "850"], None, ["1.234", "850"], "Kept as text because '1.234' may mean 1.234 or 1234"),
        ("\t", ["1,234", "2,500"], None, [1.234, 2.5], "though it may mean 1234"),
        (";", ["1.234", "850"], ["01.11", "46.90"], ["1.234", "850"], "Kept as text because"),
        (";", ["1.234", "0"], [f"111.222.{i}" for i in range(100, 160)], [1.234, 0.0], "is read as 1.234, though"),
    ],
)
def test_doubt_is_settled_by_the_table_or_gives_a_note(separator, cells, second_cells, expected, fragment):
    table = table_of(separator, v=cells, **({"other": second_cells} if second_cells else {}))
    assert table.frame["v"][:2].tolist() == expected
    (note,) = (note for note in table.notes if re.search(r"\bv\b", note))
    assert fragment in note


def test_windows_1252_is_read_with_a_note():
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
    "wide": ([*(f"{line},,," for line in LINES), *[",,,,,,"] * 5], [5, 3]),
    "cut": ([f"{line},,," if i < 16 else line for i, line in enumerate(LINES)], [3]),
    "no name": ([LINES[0], *(f"{line}, " for line in LINES[1:])], []),
    "between": ([re.sub("^([^,]*),", r"\1,,", line) for line in LINES], [1]),
}


@pytest.mark.parametrize(("lines", "counts"), EDGES.values(), ids=EDGES)
def test_edges_that_spreadsheets_write(lines, counts):
    table = read_table("\r\n".join(lines).encode(), "a.csv")
    assert table.fingerprint == read_table(GOOD, "a.csv").fingerprint
    assert [int(count) for count in re.findall(r"\((\d+) of them\)", " ".join(table.notes))] == counts


def test_answers_in_any_case_are_one_answer():
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

_DIALECTS = st.builds(Dialect, **{name: st.sampled_from(values) for name, values in CHOICES.items()}).filter(
    lambda d: d.thousands != d.decimal and (d.encoding != "cp1252" or d.thousands != "\u202f")
)


@settings(max_examples=75)
@given(_DIALECTS, st.data())
def test_any_frame_in_any_dialect_reads_back(dialect, data):
    kinds = data.draw(st.lists(st.sampled_from(sorted(_KINDS)), min_size=1, max_size=4))
    some = [data.draw(st.lists(st.none() | _KINDS[kind], min_size=3, max_size=6)) for kind in kinds]
    assume(all(any(cell is not None for cell in cells) for cells in some))
    names = ["key", *[f"c{i}" for i in range(len(kinds))]]
    records = [["k", *(cells[i % len(cells)] for cells in some)] for i in range(60)]
    table = read_table(dialect.table(names, records), "a.csv")
    assert table.frame.columns.tolist() == names and len(table.frame) == 60
    for name, cells in zip(names[1:], some, strict=True):
        _check(table, name, cells, dialect)


def _check(table, name, cells, dialect):
    """The column is as it was written; or it can be read in several ways, and a note names it."""
    column = table.frame[name][: len(cells)].astype(object)
    assert column.isna().tolist() == [cell is None for cell in cells]
    read, written = column.dropna().tolist(), [cell for cell in cells if cell is not None]
    if isinstance(written[0], str):
        assert read == [cell.strip() for cell in written]
        return
    texts = [dialect.cell(cell) for cell in written]
    ways = readings(texts)
    assert tuple(Fraction(cell) for cell in written) in ways
    if read != [float(cell) if any("." in str(number) for number in written) else cell for cell in written]:
        is_noted = any(re.search(rf"\b{name}\b", note) for note in table.notes)
        code = len({len(text) for text in texts}) == 1 and dialect.thousands
        assert (len(ways) > 1 and (is_noted or _settled(dialect, texts))) or (read == texts and code)
    if len(ways) == 1 and read != texts:
        assert [Fraction(repr(cell)) for cell in read] == [Fraction(repr(float(way))) for way in next(iter(ways))]


def _settled(dialect, texts):
    """Where commas separate the cells, a point is a decimal point without a word, if no column says otherwise."""
    return dialect.separator == "," and not any("," in text for text in texts)


ROLES = Roles(
    **{role: HOSTILE[role] for role in ("label", "positive", "sensitive")},
    favourable=HOSTILE["positive"],
    group=(HOSTILE["group"],),
    excluded=(HOSTILE["prediction"], HOSTILE["score"], HOSTILE["sets"]),
)


def test_hostile_names_and_values_are_read_as_they_are():
    table = read_table(hostile_table(), "hostile.csv")
    assert set(table.frame.columns) == {*HOSTILE_NAMES, HOSTILE["sets"]}
    assert table.notes == ()
    assert set(table.frame["{{7*7}}"]) == {"@SUM(1+1)*cmd|' /C calc'!A0", "+1+1", "-2+3", "${jndi:x}"}
    assert set(table.frame[HOSTILE["label"]]) == {"\\u0000 no", "{{7*7}}"}
    data = build_dataset(table, ROLES)
    assert set(data.feature_names) == {*HOSTILE_NAMES} - {*ROLES.excluded, ROLES.label, ROLES.sensitive}


def test_sentences_about_hostile_tables_are_single_sentences():
    """Whatever is wrong with a hostile table, the answer and the notes are sentences on one printable line."""
    chance = random.Random(0)
    table = read_table(hostile_table(), "hostile.csv")
    names = [*table.frame.columns, "gone\n" * 900]
    values = [*map(str, table.frame[chance.choice(names[:-1])].unique()[:4]), HOSTILE["positive"], HOSTILE["group"]]
    for _ in range(60):
        roles = Roles(
            label=chance.choice(names),
            positive=chance.choice(values),
            favourable=chance.choice(values),
            sensitive=chance.choice(names),
            group=(chance.choice(values),),
            excluded=tuple(chance.sample(names, 2)),
        )
        try:
            sentences = build_dataset(table, roles).notes
        except InputError as error:
            sentences = (str(error),)
        for sentence in sentences:
            assert sentence.isprintable() and sentence.endswith(".") and len(sentence) <= 300, sentence
