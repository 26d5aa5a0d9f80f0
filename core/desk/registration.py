"""The people a ledger answers questions about: identifiers' normal form, seals, and files.

Two spellings with one normal form are one person. The form decides who shares a budget, so it never changes. That is
why the look-alikes are a table of our own and not a library's, whose next edition would leave registered people
unknown; Unicode's own list besides reads 0 as O and 1 as l, and "rn" as "m".

The normal form makes equal (and so takes for one person, which is refused with both spellings):

- capitals and small letters, compatible characters (full-width, ligatures, superscripts) and letters with and without
  accents or other marks. Names in scripts that write vowels as marks may come to be equal: number such people.
- Cyrillic and Greek letters and the Latin ones they look like. One Greek letter that looks like two is read by its
  capital, and by its small form beside Latin letters: the case of Greek names must not matter.
- whatever cannot be seen: control, format and unassigned characters, fillers.
- blanks, any number or none, but for one between two numbers: "1 11" is not "11 1". All dashes are "-".
- numbers of one value, in any script's digits: 1, 001, 1.0, "1,0", "#1", +1, 1e0; also in a text, as in "p-007". A
  comma before groups of three digits parts thousands, 1,000 = 1000 (a blank too); any other comma is a decimal one.

It keeps apart: different numbers (-1 and 1, 1.5 and 15), and other punctuation: "A-1" is not "A1". What has several
points or commas, as 1.2.10, is no number and stays as it is. 1.10 is 1.1, and hexadecimal "1e3" is 1000: rename those.

Seals are keyed hashes of what is sorted by the normal form of the identifiers, so that the order of people in a file
does not matter. A plain hash of few people's attributes could be undone by trying all of them.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np
import numpy.typing as npt

from core.arrays import Floats
from core.datasets.columns import as_text, quoted
from core.datasets.read_table import read_columns
from core.errors import InputError
from core.param import Param
from core.serialize import Result
from core.validation import binary_array, one_length

if TYPE_CHECKING:
    import pandas

_LOOK_ALIKES = str.maketrans(
    "авсԁеԍнһіјкӏморԛѕтуѵԝх" + "αβεζηικμνορτυχω" + "ıɑɡօ" + "\u066b\u066c،⁄−’‘ʼ",
    "abcdeghhijklmopqstyvwx" + "abezhikmnoptyxw" + "iago" + ".,,/-'''",
)
_BESIDE_LATIN = str.maketrans("νυη", "vun")
_FILLERS = "\u115f\u1160\u17b4\u17b5\u2800"  # letters and a symbol in name, blanks in sight
_HOLDS_LATIN = re.compile("[A-Za-z]")
_BLANKS = re.compile(r" +")
_HOLDS_BLANK = re.compile(r"\d[.,]?$")
_WHOLE = re.compile(
    r"#*([+-]?)([1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?|[1-9]\d{0,2}(?: \d{3})+(?:[.,]\d+)?|\d*[.,]?\d*)(?:e([+-]?\d{1,9}))?",
    re.ASCII,
)
_INSIDE = re.compile(r"(?:(?:^|(?<=[^\W\d_]))#+)?(?<!\d)(?<![\W\d_][.,])(\d+(?:[.,]\d+)*)")
_GROUPED = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?", re.ASCII)


def normal_form(identifier: object) -> str:
    """Return the normal form of an identifier; that of a normal form is itself."""
    text = unicodedata.normalize("NFKD", str(identifier))
    if _HOLDS_LATIN.search(text):
        text = text.translate(_BESIDE_LATIN)
    text = unicodedata.normalize("NFKD", text.casefold()).translate(_LOOK_ALIKES)
    if not (text.isascii() and text.isprintable()):
        text = "".join(_plain(one) for one in text)
    text = _without_blanks(text)
    number = _number(text)
    return _INSIDE.sub(_inside, text) if number is None else number


def _plain(character: str) -> str:
    """Return a blank, dash or digit as the plain one, nothing for what is not seen or a mark, others as they are."""
    category = unicodedata.category(character)
    if character.isspace() or character in _FILLERS:
        return " "
    if category == "Nd":
        return str(unicodedata.decimal(character))
    if category == "Pd":
        return "-"
    return "" if category[0] == "M" or (category[0] == "C" and category != "Co") else character


def _without_blanks(text: str) -> str:
    """Return a text without blanks, but for one where two numbers would run together."""
    joined = ""
    for piece in _BLANKS.split(text):
        apart = _HOLDS_BLANK.search(joined) and re.match(r"[.,]?\d", piece)
        joined += f" {piece}" if apart else piece
    return joined


def _number(text: str) -> str | None:
    """Return a number as sign, digits without zeros around them, and power of ten; None for what is none."""
    found = _WHOLE.fullmatch(text)
    if found is None or not any(one.isdigit() for one in found[2]):
        return None
    whole, _, part = _decimal(found[2].replace(" ", "")).partition(".")
    digits = (whole + part).lstrip("0")
    if not digits:
        return "0"
    power = int(found[3] or 0) - len(part) + len(digits) - len(digits.rstrip("0"))
    return f"{'-' if found[1] == '-' else ''}{digits.rstrip('0')}e{power}"


def _decimal(text: str) -> str:
    """Return digits with a decimal point, if any, from digits with one mark or commas between thousands."""
    return text.replace(",", "") if _GROUPED.fullmatch(text) else text.replace(",", ".")


def _inside(found: re.Match[str]) -> str:
    """Return a number inside a text by its value, without the number sign before it."""
    told = _decimal(found[1])
    if told.count(".") > 1:
        return found[1]
    whole, _, part = told.partition(".")
    return ".".join(filter(None, (whole.lstrip("0") or "0", part.rstrip("0"))))


def positions(ids: Sequence[str], *, rule: str = "Every person must have an identifier of their own") -> dict[str, int]:
    """Positions of people by their identifiers' normal form; InputError names two spellings that are one."""
    found: dict[str, int] = {}
    for position, identifier in enumerate(ids):
        first = ids[found.setdefault(normal_form(identifier), position)]
        if first != identifier:
            raise InputError(f"{rule}, {_spelled(first)} and {_spelled(identifier)} are taken for one person.")
    if len(found) < len(ids):
        twice = next(identifier for identifier, count in Counter(ids).items() if count > 1)
        raise InputError(f"{rule}, {quoted(twice)} stands twice.")
    return found


def _spelled(identifier: str) -> str:
    """Return an identifier in quotation marks, with the name of its first character that could be mistaken."""
    name = next((unicodedata.name(one, "") for one in identifier if not one.isascii()), "")
    return quoted(identifier, 80) + (f" (with {name})" if name else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns(Result):
    """How a test set's file is read; public, and kept in the ledger. A value left out goes with a column of 1 and 0."""

    id: Annotated[str, Param("Identifier", "Column of the people's identifiers.")] = "id"
    attribute: Annotated[str, Param("Sensitive attribute", "Column of the sensitive attribute.")]
    advantaged: Annotated[
        str | None,
        Param(
            "Advantaged group",
            "Value of the advantaged group; everybody else is the other one. Not needed if the column holds 1 and 0.",
        ),
    ] = None
    label: Annotated[
        str | None,
        Param(
            "True outcome, for equal opportunity",
            "Column of the true outcome, for equal opportunity; it counts as public.",
        ),
    ] = None
    positive: Annotated[
        str | None,
        Param("Positive outcome", "Positive value of the true outcome; not needed if the column holds 1 and 0."),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TestSet:
    """The people asked about.

    Raises `InputError` if the lengths differ, two identifiers have one normal form, a value is not 0 or 1, or there are
    less than two people.

    Parameters
    ----------
    ids : sequence of n strings, n at least 2
        Different in their normal form.
    attribute : array-like of shape (n,), 0 or 1
        1 = advantaged. That a group is empty is no reason to refuse it: a refusal would tell. There is no gap then, and
        what is answered is noise.
    labels : array-like of shape (n,), 0 or 1, or None
    """

    __test__: ClassVar[bool] = False  # not a test, whatever pytest makes of the name

    ids: tuple[str, ...]
    attribute: npt.NDArray[np.uint8]
    labels: npt.NDArray[np.uint8] | None = None
    order: npt.NDArray[np.intp] = field(init=False, repr=False)
    """Positions of the people, sorted by their identifiers' normal form."""
    _forms: list[str] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        ids = tuple(str(one) for one in self.ids)
        labels = None if self.labels is None else binary_array(self.labels, name="labels")
        attribute = binary_array(self.attribute, name="attribute")
        one_length(ids=ids, attribute=attribute, labels=labels)
        if len(ids) < 2:
            raise InputError(f"A test set must have two people at least, got {len(ids)}.")
        by_form = positions(ids)
        forms = sorted(by_form)
        order = np.array([by_form[form] for form in forms])
        values = {"ids": ids, "attribute": attribute, "labels": labels, "order": order, "_forms": forms}
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def n(self) -> int:
        """Return the number of people."""
        return len(self.ids)

    @property
    def n_positive(self) -> int | None:
        """Return the number of people with label 1, which counts as public; None without labels."""
        return None if self.labels is None else int(self.labels.sum())

    @property
    def labels_tell_attribute(self) -> bool:
        """Return whether labels of both values are the attribute for everybody, or the other value of it."""
        if self.labels is None or self.labels.min() == self.labels.max():
            return False
        return np.array_equal(self.labels, self.attribute) or np.array_equal(self.labels, 1 - self.attribute)

    def seal(self, key: bytes) -> str:
        """Return the keyed hash (64 hex digits) of the identifiers' normal forms, attribute and labels."""
        labels = b"" if self.labels is None else self.labels[self.order].tobytes()
        return _hash(key, b"whole", self.attribute[self.order].tobytes(), labels, *_bytes(self._forms))

    def seal_of_people(self, key: bytes) -> str:
        """Return the keyed hash of the identifiers' normal forms alone."""
        return _hash(key, b"people", *_bytes(self._forms))


def _bytes(ids: Iterable[str]) -> Iterator[bytes]:
    return (one.encode("utf-8", "surrogatepass") for one in ids)


def _hash(key: bytes, *parts: bytes) -> str:
    made = hmac.new(key, digestmod=hashlib.sha256)
    for part in parts:
        made.update(len(part).to_bytes(8, "big") + part)
    return made.hexdigest()


_MOST_COLUMNS, _MOST_ROWS = 500, 2_000_000


def test_set_of(content: bytes, name: str, columns: Columns) -> TestSet:
    """Return the test set in the bytes of a CSV or Parquet file.

    Raises `InputError` if the file is no table, lacks a column or a cell, an identifier stands twice, or a value that
    is named does not occur.

    Parameters
    ----------
    content, name : bytes, str
        The file and what to call it.
    columns : Columns
        Where identifiers, attribute and labels are. Other columns are not looked at.
    """
    frame = frame_of(content, name)
    labels = None
    _refuse_attribute_as_label(columns)
    if columns.label is not None:
        labels = _binary(frame, columns.label, columns.positive, name, flag="the positive label")
    attribute = _binary(frame, columns.attribute, columns.advantaged, name, flag="the advantaged value")
    return TestSet(ids=tuple(_filled(frame, columns.id, name)), attribute=attribute, labels=labels)


def _refuse_attribute_as_label(columns: Columns) -> None:
    """Refuse the attribute's own column as the true outcome, whose counts are public."""
    label = columns.label
    if label is not None and normal_form(label) == normal_form(columns.attribute):
        raise InputError(
            f"The true outcome must be another column than the sensitive attribute, got {quoted(label)} for both: how "
            "many have the outcome is public."
        )


def predictions_of(
    content: bytes, name: str, ids: Sequence[str], *, id_column: str = "id", score: str | None = None
) -> Floats:
    """Return one score a person, shape (n,), in the order of `ids`, from the bytes of a CSV or Parquet file.

    Raises `InputError` if the file is no table, lacks a column, or its people or scores are not as said.

    Parameters
    ----------
    ids : sequence of n str
        The people of the test set; the file must have each of them once and nobody else, in any order, in any spelling
        of the same normal form.
    score : str or None
        Column with the scores in [0, 1]; when None, the file's only other column.
    """
    frame = frame_of(content, name)
    found = _filled(frame, id_column, name)
    if score is None:
        others = [str(column) for column in frame.columns if column != id_column]
        if len(others) != 1:
            raise InputError(
                f"The file {quoted(name)} must have one column of scores besides {quoted(id_column)}, "
                f"or an option must say which it is, got {len(others)}."
            )
        score = others[0]
    if len(found) != len(ids):
        raise InputError(
            f"The file {quoted(name)} must have a line for each of {len(ids):,} people, got {len(found):,}."
        )
    people = [normal_form(identifier) for identifier in ids]
    lines = positions(found, rule=f"The file {quoted(name)} must have each person once")
    strangers = sorted(lines[form] for form in lines.keys() - set(people))
    if strangers:
        stranger = quoted(found[strangers[0]])
        raise InputError(f"The file {quoted(name)} must have the test set's people only, got {stranger}.")
    return _scores(frame, score, name)[[lines[form] for form in people]]


def frame_of(content: bytes, name: str) -> pandas.DataFrame:
    """Return the table in the bytes of a CSV file, or of a Parquet file if its name ends in .parquet or .pq."""
    import pandas as pd

    columns, _ = read_columns(content, name, max_columns=_MOST_COLUMNS, max_rows=_MOST_ROWS, office=False)
    return pd.DataFrame({title: columns[title].to_pandas() for title in columns.column_names})


def _filled(frame: pandas.DataFrame, column: str, name: str) -> list[str]:
    """Return a column's cells as text, none of which may be missing."""
    if column not in frame.columns:
        there = ", ".join(str(one) for one in frame.columns[:8])
        raise InputError(f"The file {quoted(name)} must have a column {quoted(column)}, its columns are {there}.")
    text = as_text(frame[column])
    if text.isna().any():
        line = int(np.flatnonzero(text.isna())[0]) + 1
        raise InputError(
            f"The column {quoted(column)} of {quoted(name)} must have no empty cell, record {line} has one."
        )
    return [str(cell) for cell in text]


def _binary(frame: pandas.DataFrame, column: str, one: str | None, name: str, *, flag: str) -> npt.NDArray[np.uint8]:
    """Return 1 where a column has a value, 0 elsewhere."""
    cells = np.array(_filled(frame, column, name))
    values = sorted(set(cells.tolist()))
    told = ", ".join(quoted(value) for value in values[:6]) + (", …" if len(values) > 6 else "")
    if one is None:
        if not set(values) <= {"0", "1"}:
            raise InputError(
                f"The column {quoted(column)} must hold only 0 and 1, or {flag} must be named, got {told}."
            )
        one = "1"
    elif one not in values:
        raise InputError(f"The column {quoted(column)} must hold {flag} {quoted(one)}, got only {told}.")
    return (cells == one).astype(np.uint8)


def _scores(frame: pandas.DataFrame, column: str, name: str) -> Floats:
    import pandas as pd

    text = _filled(frame, column, name)
    scores = pd.to_numeric(pd.Series(text, dtype=object), errors="coerce").to_numpy(np.float64)
    wrong = ~((scores >= 0.0) & (scores <= 1.0))
    if wrong.any():
        value = text[int(np.flatnonzero(wrong)[0])]
        raise InputError(
            f"The column {quoted(column)} of {quoted(name)} must hold scores in [0, 1], got {quoted(value)}."
        )
    return np.asarray(scores)
