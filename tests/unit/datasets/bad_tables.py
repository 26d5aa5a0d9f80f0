"""Small tables; files and roles that must be refused with one clear sentence; and names and values that look like code.

`BAD_UPLOADS` fail when the file is read, `BAD_ROLES` when columns of a readable file get their roles. Contents are
bytes, or functions where making them takes long or much memory; `BadUpload.data` gives the bytes either way.
"""

import csv
import io
import pickle
import random
import re
from collections import namedtuple
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from core.datasets import Roles, Table, build_dataset

_INTERNALS = ("pandas", "pyarrow", "arrow", "traceback", "codec", "tokeniz", "dtype", "errno", "numpy", "exception")
HEADER = "age,job,sex,hired"


def rows(count=80):
    """Return records that fit `HEADER`; both sexes and both answers are frequent in each."""
    jobs = ("clerk", "nurse", "cook")
    return [f"{20 + i % 37},{jobs[i % 3]},{'FM'[i % 2]},{'yes' if i % 4 < 2 else 'no'}" for i in range(count)]


def csv_bytes(header=HEADER, records=None):
    return "\n".join([header, *(rows() if records is None else records), ""]).encode()


GOOD = csv_bytes()
GOOD_ROLES = Roles(label="hired", positive="yes", favourable="yes", sensitive="sex", group=("F",))


def assert_one_sentence(message, fragments=()):
    """Check that a message is one clear sentence that names no internals."""
    assert message.endswith(".") and "\n" not in message and len(message) <= 350, message
    outside = re.sub(r"'[^']*'|\"[^\"]*\"|\([^()]*\)", "", message)
    assert not re.search(r"[.!?]\s+\S", outside), message
    for word in fragments:
        assert word in message, (word, message)
    assert not [word for word in _INTERNALS if word in outside.lower()], message


class BadUpload(NamedTuple):
    """A file that `read_table` must refuse with a sentence holding all of `words_expected`."""

    kind: str
    file_name: str
    content: bytes | Callable[[], bytes]
    words_expected: tuple[str, ...]

    @property
    def data(self):
        return self.content if isinstance(self.content, bytes) else self.content()


BadRoles = namedtuple("BadRoles", "kind content roles words_expected")
"""Roles that `build_dataset` must refuse for a file that reads well."""


def _with_line(number, line):
    lines = GOOD.decode().split("\n")
    lines[number - 1] = line
    return "\n".join(lines).encode()


def parquet_bytes(columns=None):
    """Return a Parquet file of the columns, or of a small good table."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    default = {"age": list(range(20, 60)) * 2, "sex": ["F", "M"] * 40, "hired": ["yes", "yes", "no", "no"] * 20}
    sink = io.BytesIO()
    pq.write_table(pa.table(columns or default), sink)
    return sink.getvalue()


def _damaged_parquet():
    content = parquet_bytes()
    half = len(content) // 2
    return content[:half] + b"\xff" * (half - 8) + content[-8:]


def _parquet_of(value):
    return lambda: parquet_bytes({"id": list(range(80)), "visits": [value] * 80})


BAD_UPLOADS = [
    # size and emptiness
    BadUpload("empty file", "empty.csv", b"", ("empty.csv", "empty")),
    BadUpload("only a mark and blanks", "mark.txt", " \n\t\n".encode("utf-16"), ("mark.txt", "empty")),
    BadUpload("header only", "header.csv", HEADER.encode(), ("60 records", "got 0")),
    BadUpload("too few records", "few.csv", csv_bytes(records=rows(59)), ("60 records", "got 59")),
    BadUpload("over 200 MB", "huge.csv", lambda: b"a" * (200 * 1024 * 1024 + 1), ("200 MB", "200.1 MB")),
    BadUpload("millions of columns", "wide.csv", lambda: b"a," * 2_000_000 + b"\n", ("500 columns", "at least")),
    BadUpload("one column", "one.csv", csv_bytes("age", [str(i) for i in range(80)]), ("first line", "'age'")),
    BadUpload("title above the header", "title.csv", b"Staff\n" + GOOD, ("first line", "'Staff'")),
    # column names
    BadUpload("blank header", "blank.csv", csv_bytes("age,,sex,hired"), ("column 2", "name")),
    BadUpload("no header, numbers", "bare.csv", csv_bytes("1,2.5,0,1", ["1,2,0,1"] * 80), ("column names", "numbers")),
    BadUpload("no header, mixed", "bare.csv", csv_bytes(rows()[0], rows()[1:]), ("column names", "a record", "20")),
    BadUpload("header repeated", "joined.csv", GOOD + GOOD, ("first line only", "line 82")),
    # records
    BadUpload("record too long", "ragged.csv", _with_line(9, "31,cook,F,yes,1"), ("line 9", "4 cells", "has 5")),
    BadUpload("unclosed quote", "quote.csv", _with_line(7, '31,"cook,F,yes'), ("quotation mark", "line 7")),
    BadUpload("text after quote", "quote.csv", _with_line(7, '31,"cook"s,F,yes'), ("Line 7", "quotation mark")),
    BadUpload("very long cell", "long.csv", _with_line(7, f"31,{'x' * 140_000},F,yes"), ("line 7", "131,072")),
    BadUpload("separator told, a record short", "told.csv", b"sep=,\n" + _with_line(5, "31,cook"), ("line 6", "has 2")),
    BadUpload("very long name twice", "a.csv", csv_bytes(f"{'x' * 5000},job,{'x' * 5000},hired"), ("1 and 3", "…'")),
    BadUpload("hostile file name", "<img src=x onerror=alert(1)>", GOOD, (".csv", "'<img src=x onerror=alert(1)>'")),
    # encodings
    BadUpload(
        "neither UTF-8 nor Windows-1252",
        "late.csv",
        csv_bytes(records=["31,André,F,yes", *rows(89_999)]) + b"31,Andr\x81,F,yes\n",
        ("Line 90,002", "UTF-8"),
    ),
    BadUpload("UTF-16 cut off", "utf16.csv", GOOD.decode().encode("utf-16")[:-1], ("UTF-16", "damaged")),
    BadUpload("NUL byte", "nul.csv", _with_line(6, "31,co\0ok,F,yes"), ("line 6", "NUL", "UTF-8")),
    # other kinds of file
    BadUpload("xlsx named csv", "book.csv", b"PK\x03\x04\x14[Content_Types].xml", ("Excel", "zip archive", "CSV")),
    BadUpload("web page named csv", "page.csv", b"<!DOCTYPE html>\n<html><td>age</td></html>", ("web page", "CSV")),
    BadUpload("JSON named csv", "data.csv", b'[{"age": 20, "sex": "F"}]', ("JSON", "CSV")),
    BadUpload("pickle named csv", "model.csv", pickle.dumps(list(range(300)), 4), ("model.csv", "not text")),
    # Parquet
    BadUpload("Parquet named csv", "table.csv", parquet_bytes, ("Parquet", ".parquet")),
    BadUpload("CSV named Parquet", "table.parquet", GOOD, ("not Parquet", ".csv")),
    BadUpload("Parquet cut off", "cut.parquet", lambda: parquet_bytes()[:-100], ("damaged", "cut.parquet")),
    BadUpload("Parquet damaged inside", "bad.parquet", _damaged_parquet, ("damaged", "bad.parquet")),
    BadUpload("Parquet with lists", "nested.parquet", _parquet_of([1, 2]), ("'visits'", "lists or records")),
    BadUpload("Parquet with raw bytes", "raw.parquet", _parquet_of(b"\xff"), ("'visits'", "raw bytes")),
    BadUpload("Parquet with one column", "one.parquet", lambda: parquet_bytes({"a": [1] * 80}), ("label", "got 1")),
    # names
    BadUpload("pickle", "model.pkl", pickle.dumps([1]), ("model.pkl", "run", "code")),
]


def _roles(positive="yes", **changes):
    return replace(GOOD_ROLES, positive=positive, favourable=positive, **changes)


def _more(name, cell, base=HEADER):
    """Return the good table with one more column."""
    return csv_bytes(f"{base},{name}", [f"{row},{cell(i)}" for i, row in enumerate(rows())])


_FEW_MEN = csv_bytes(records=[row.replace(",M,", ",F,") if i > 40 else row for i, row in enumerate(rows())])

_SCORED = _more("s", lambda i: f"{i / 99:.4f}")

BAD_ROLES = [
    BadRoles("label gone", GOOD, _roles(label="gone"), ("label", "'gone'")),
    BadRoles("excluded gone", GOOD, _roles(excluded=("gone",)), ("leave out", "'gone'")),
    BadRoles("positive absent", GOOD, _roles(positive="maybe"), ("positive", "'yes'", "'maybe'")),
    BadRoles("one class", _more("y", lambda i: "1"), _roles(label="y", positive="1"), ("two values", "'1'")),
    BadRoles("few positives", _more("y", lambda i: str(int(i < 29))), _roles(label="y", positive="1"), ("30", "29")),
    BadRoles("group too small", _FEW_MEN, GOOD_ROLES, ("30 records", "20", "with M")),
    BadRoles("every value chosen", GOOD, _roles(group=("F", "M")), ("two groups", "2 of its 2")),
    BadRoles(
        "limit below everybody", GOOD, _roles(sensitive="age", group=(), at_most=3.0), ("30 records", "age up to 3")
    ),
    BadRoles(
        "never both known",
        _more("y", lambda i: "a" if i % 2 else "").replace(b",F,", b",,"),
        _roles(label="sex", positive="M", sensitive="y", group=("a",)),
        ("two", "'M'"),
    ),
    BadRoles(
        "label and sensitive never together",
        csv_bytes("age,s,y", ["1,a,", "2,b,", "3,,c", "4,,d"] * 20),
        Roles(label="y", positive="c", favourable="c", sensitive="s", group=("a",)),
        ("No record", "'y'", "'s'"),
    ),
    BadRoles("everything excluded", GOOD, _roles(excluded=("age", "job")), ("No feature", "excluded")),
    BadRoles(
        "numbers and text",
        _more("pay", lambda i: "unknown" if i == 5 else str(i)),
        GOOD_ROLES,
        ("'pay'", "mixes", "'unknown'", "1 of 80"),
    ),
    BadRoles(
        "nobody complete", _more("pay", lambda i: "" if i % 2 else f"{i}.5"), _roles(missing="drop"), ("30", "0 with")
    ),
    BadRoles("favourable not said", GOOD, replace(GOOD_ROLES, favourable=""), ("data.favourable", "'yes'", "none")),
    BadRoles("favourable absent", GOOD, replace(GOOD_ROLES, favourable="maybe"), ("data.favourable", "'maybe'")),
    BadRoles("label twice", GOOD, _roles(prediction="hired"), ("Label and prediction", "'hired' twice")),
    BadRoles("prediction and score are one", _SCORED, _roles(prediction="s", score="s"), ("and score", "'s' twice")),
    BadRoles("empty prediction", _more("p", lambda i: ""), _roles(prediction="p"), ("prediction", "'p'", "empty")),
    BadRoles("scores as labels", _SCORED, _roles(prediction="s"), ("'s'", "at most 50", "as the score")),
    BadRoles("no test", _more("part", lambda i: ("attack", "train")[i % 2]), _roles(sets="part"), ("'part'", "test")),
]

N = 120


def table_of(**columns):
    """Return a table of N people with sex, hired, age, and the given columns (repeated to length N)."""
    base = {"age": [20 + i % 37 for i in range(N)], "sex": list("FM") * 60, "hired": ["yes", "yes", "no", "no"] * 30}
    frame = pd.DataFrame(base)
    for name, cells in columns.items():
        series = pd.Series(cells)
        frame[name] = series.iloc[[i % len(series) for i in range(N)]].reset_index(drop=True)
    return Table(name="t", title="T", frame=frame, source="Made up.")


def built(roles=GOOD_ROLES, **columns):
    """Build a dataset and check what holds of every dataset."""
    table = table_of(**columns)
    before = table.frame.copy(deep=True)
    data = build_dataset(table, roles)
    pd.testing.assert_frame_equal(table.frame, before)
    assert data.features.dtype == np.float64 and data.features.shape == (data.n, len(data.feature_names))
    assert np.isfinite(data.features).all() and data.categorical.shape == (len(data.feature_names),)
    assert data.labels.dtype == data.sensitive.dtype == np.uint8
    assert data.labels.shape == data.sensitive.shape == (data.n,) and data.rows_read == N
    assert {roles.label, roles.sensitive, *roles.excluded}.isdisjoint(data.feature_names)
    assert all(note.endswith(".") for note in data.notes)
    return data


HOSTILE = {
    "label": "<script>alert(1)</script>",
    "positive": "{{7*7}}",
    "sensitive": "=cmd|' /C calc'!A0",
    "group": "</style><b>",
    "prediction": '"; DROP TABLE people; --',
    "score": "\u202escore\u200f",
    "sets": "sets of\ntwo lines",
}
"""Names and values of the roles in `hostile_table`; sets are train, attack and test, in any case."""

_FEATURES = {
    "{{7*7}}": ["@SUM(1+1)*cmd|' /C calc'!A0", "+1+1", "-2+3", "${jndi:x}"],
    "</style>": ["</td></tr></table>", "<img src=x onerror=alert(1)>", "&lt;b&gt;"],
    "👩‍🍳 emoji": ["👨‍👩‍👧", "🏳️‍🌈", "é", "ﬀ"],
    "\u200fשלום": ["\u202eabc", "שלום", "مرحبا"],
    'it\'s "quoted", twice; no | bar\tor tab': ['"', "'", "''", "a,b;c"],
    "__class__": ["%s%n", "{0}", "{name}", "$(rm)"],
    "long" * 60: ["x" * 300, "y" * 300],
    "*bold* _it_ [link](javascript:alert(1)) $x$ :red[a]": ["`code`", "# head", "~~gone~~"],
    "../../etc/passwd": ["..\\..\\x", "/dev/null", "file:///etc"],
}

HOSTILE_NAMES = (*_FEATURES, "=1+1 points", *(HOSTILE[role] for role in ("label", "sensitive", "prediction", "score")))
"""Every column of `hostile_table` but the one of sets."""


def hostile_table(n=400):
    """Return a good CSV of n people whose names and values look like code, markup and formulas."""
    chance = random.Random(3)
    groups, answers = (HOSTILE["group"], "=1+1;x"), ("\\u0000 no", HOSTILE["positive"])
    roles = [HOSTILE[role] for role in ("label", "sensitive", "prediction", "score", "sets")]
    lines = [[*_FEATURES, "=1+1 points", *roles]]
    for i in range(n):
        group = int(chance.random() < 0.4)
        label = int(chance.random() < (0.55 if group else 0.35))
        score = round(0.4 * label + 0.1 * group + 0.5 * chance.random(), 3)
        features = [values[(chance.randrange(len(values)) + label) % len(values)] for values in _FEATURES.values()]
        points = chance.randrange(40) + 10 * label
        split = ("train", "ATTACK", "Test")[i % 3]
        lines.append([*features, points, answers[label], groups[group], answers[score >= 0.5], score, split])
    buffer = io.StringIO(newline="")
    csv.writer(buffer, lineterminator="\r\n").writerows(lines)
    return buffer.getvalue().encode()
