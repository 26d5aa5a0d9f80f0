"""Reading users' files: what is accepted and how, what is refused and in which words."""

from __future__ import annotations

import codecs
import csv
import io
import subprocess
import sys
import tracemalloc
from datetime import date, datetime, timedelta
from datetime import time as clock
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.base.errors import InputError
from core.datasets.columns import MISSING_MARKERS, as_text
from core.datasets.dataset import Table
from core.datasets.read_table import read_table
from tests.patience import PATIENT
from tests.unit.datasets.bad_tables import (
    BAD_UPLOADS,
    GOOD,
    BadUpload,
    assert_one_sentence,
    csv_bytes,
    parquet_bytes,
    rows,
)

_FUZZ = settings(max_examples=100, deadline=None, derandomize=True, database=None)


def read_or_refuse(content: bytes, name: str) -> Table | None:
    """Return the table, or None when it was refused properly; anything else fails the test."""
    try:
        return read_table(content, name)
    except InputError as error:
        assert type(error) is InputError
        assert_one_sentence(str(error))
        return None


def _stands_alone(error: BaseException) -> bool:
    return error.__suppress_context__ or error.__context__ is None


@pytest.mark.parametrize("bad", BAD_UPLOADS, ids=lambda bad: bad.kind)
def test_bad_file_gives_one_sentence(bad: BadUpload) -> None:
    content = bad.data
    with pytest.raises(InputError) as caught:
        read_table(content, bad.file_name)
    assert type(caught.value) is InputError and _stands_alone(caught.value)
    assert_one_sentence(str(caught.value), bad.words_expected)


@pytest.mark.long
@pytest.mark.usefixtures("own_process")
@pytest.mark.parametrize("kind", ["unclosed quote", "Parquet damaged inside"])
def test_a_sentence_comes_back_from_a_child_process(kind: str) -> None:
    bad = next(bad for bad in BAD_UPLOADS if bad.kind == kind)
    with pytest.raises(InputError) as caught:
        read_table(bad.data, bad.file_name)
    assert _stands_alone(caught.value)
    assert_one_sentence(str(caught.value), bad.words_expected)
    assert len(read_table(GOOD, "good.csv").frame) == 80


def test_limits_are_parameters() -> None:
    for limits, fragments in (
        ({"max_bytes": 100}, ("MB", "larger")),
        ({"max_columns": 3}, ("3 columns", "4")),
        ({"max_rows": 79}, ("79 records",)),
    ):
        with pytest.raises(InputError) as caught:
            read_table(GOOD, "good.csv", **limits)
        assert_one_sentence(str(caught.value), fragments)
        with pytest.raises(InputError) as caught:
            read_table(parquet_bytes({c: [1] * 80 for c in "abcd"}), "good.parquet", **limits)
        assert_one_sentence(str(caught.value), fragments)


def test_what_is_as_large_as_it_may_be_is_read() -> None:
    for content, name in ((GOOD, "good.csv"), (parquet_bytes({c: [1] * 80 for c in "abcd"}), "good.parquet")):
        assert len(read_table(content, name, max_bytes=len(content), max_columns=4, max_rows=80).frame) == 80


@pytest.mark.parametrize("line", [b"c,", b'"c"\t'])
def test_endless_first_line_is_not_split(line: bytes) -> None:
    """Only the sample at the start is split: the memory needed does not grow with the line."""
    content = line * 20_000_000
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="more than 500 columns"):
            read_table(content, "wide.csv")
        assert tracemalloc.get_traced_memory()[1] < 150_000_000
    finally:
        tracemalloc.stop()


def test_parquet_that_unpacks_to_too_much_is_refused() -> None:
    bomb = parquet_bytes({"a": ["x" * 10_000] * 60_000, "b": [1] * 60_000})
    assert len(bomb) < 400_000
    with pytest.raises(InputError, match="unpack to more than 500 MB"):
        read_table(bomb, "bomb.parquet")


# Good files


def test_table_says_where_it_comes_from() -> None:
    table = read_table(GOOD, "staff.csv")
    assert (table.name, table.title, table.uploaded, table.synthetic) == ("upload", "staff.csv", True, False)
    assert "'staff.csv'" in table.source and table.source.endswith(".")
    assert table.frame["age"].dtype == np.int64 and table.frame["sex"].tolist() == ["F", "M"] * 40


def test_fingerprint_follows_the_cells_and_not_the_spelling() -> None:
    same = read_table(GOOD.replace(b"\n", b"\r\n").replace(b",", b";"), "other.csv")
    assert same.fingerprint == read_table(GOOD, "staff.csv").fingerprint
    changed = read_table(GOOD.replace(b"clerk", b"clark", 1), "staff.csv")
    assert changed.fingerprint != same.fingerprint


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("line", [b"sep=;\r\n", b'"sep=;"\n'])
def test_a_first_line_that_names_the_separator(mark: bytes, line: bytes) -> None:
    cells = GOOD.replace(b",", b";")
    for content in (mark + line + cells, (line + cells).decode().encode("utf-16")):
        assert read_table(content, "staff.csv").fingerprint == read_table(GOOD, "staff.csv").fingerprint


def column_of(cells: list[str], separator: str = ";", name: str = "a.csv") -> pd.Series:
    """Return how one column of 80 records reads, the given cells first and repeated."""
    filled = [cells[i % len(cells)] for i in range(80)]
    lines = [f"{i}x{separator}{cell}" for i, cell in enumerate(filled)]
    return read_table(csv_bytes(f"key{separator}value", lines), name).frame["value"]


@pytest.mark.parametrize(
    ("cells", "separator", "expected"),
    [
        (["<script>alert(1)</script>", "=cmd()"], ",", ["<script>alert(1)</script>", "=cmd()"]),
        (['"old\rMac"', '"two\r\nlines"'], ",", ["old\rMac", "two\r\nlines"]),
        (['"say ""hi"""', '"two\nlines"', '"a;b,c|d"'], ",", ['say "hi"', "two\nlines", "a;b,c|d"]),
    ],
)
def test_cells(cells: list[str], separator: str, expected: list[object]) -> None:
    read = column_of(cells, separator)
    assert read.tolist() == [expected[i % len(expected)] for i in range(80)]


@pytest.mark.parametrize("word", MISSING_MARKERS)
def test_missing_markers(word: str) -> None:
    text, number = column_of(["a", f" {word} "]), column_of(["3", word])
    assert text.isna().tolist() == number.isna().tolist() == [False, True] * 40
    assert as_text(number).dropna().unique().tolist() == ["3"]


@pytest.mark.long
@pytest.mark.parametrize(
    "line, mark, encoding",
    [
        ("\r\n", b"", "utf-8"),
        ("\n", codecs.BOM_UTF8, "utf-8"),
        ("\r", codecs.BOM_UTF16_BE, "utf-16-be"),
        ("\t \n", b"", "utf-8"),
    ],
)
def test_a_megabyte_of_blank_lines_is_not_the_file(line: str, mark: bytes, encoding: str) -> None:
    blank = line * (1_200_000 // len(line))
    content = mark + (blank + GOOD.decode()).encode(encoding)
    assert read_table(content, "a.csv").frame.equals(read_table(GOOD, "a.csv").frame)
    with pytest.raises(InputError, match="is empty"):
        read_table(mark + blank.encode(encoding), "a.csv")


def test_names_may_hold_anything_but_must_differ() -> None:
    names = ["<script>alert(1)</script>", "price, in €", "a;b|c\td", "two\nlines", "2019", "AGE", "age"]
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerows([[f" {name} " for name in names], *([[str(i) for i in range(7)]] * 60)])
    assert read_table(buffer.getvalue().encode(), "a.csv").frame.columns.tolist() == names


def test_years_as_names_and_answers_named_like_their_column_are_no_record() -> None:
    assert read_table(csv_bytes("country,2019,2020", ["Chad,1,2"] * 60), "a.csv").frame.shape == (60, 3)
    assert read_table(csv_bytes("person,Red,Blue", ["p,Red,", "q,,Blue"] * 30), "a.csv").frame.shape == (60, 3)


def test_adult_style_blanks_after_commas() -> None:
    content = csv_bytes("age, job, sex", ['39, State-gov, "Male, adult"', "50, ?, Female"] * 40)
    frame = read_table(content, "adult.txt").frame
    assert frame.columns.tolist() == ["age", "job", "sex"] and frame["job"].isna().sum() == 40
    assert frame["sex"][0] == "Male, adult"


def test_more_records_than_one_batch() -> None:
    content = csv_bytes(records=[*rows(45_000), "x,,,"])
    frame = read_table(content, "a.csv").frame
    assert len(frame) == 45_001 and frame["age"].iloc[-1] == "x" and frame["age"].iloc[44_999] == str(20 + 44_999 % 37)


@pytest.mark.usefixtures("own_process")
def test_parquet_types() -> None:
    day, at = date(2024, 2, 29), datetime(2024, 2, 29, 12)
    pairs: dict[str, pa.Array] = {
        "whole": pa.array([1, 2], pa.int8()),
        "gaps": pa.array([2**60 + 1, None], pa.int64()),
        "unsigned": pa.array([2**64 - 1, None], pa.uint64()),
        "half": pa.array([np.float16(0.5), None], pa.float16()),
        "float": pa.array([0.1, None], pa.float64()),
        "single": pa.array([0.7, None], pa.float32()),
        "decimal": pa.array([Decimal("1.25"), None], pa.decimal128(7, 2)),
        "true": pa.array([True, False]),
        "maybe": pa.array([True, None]),
        "text": pa.array([" a ", "?"]),
        "large": pa.array(["a", None], pa.large_string()),
        "bytes": pa.array(["é".encode(), None], pa.binary()),
        "category": pa.array(["a", None]).dictionary_encode(),
        "level": pa.array([3, None], pa.int64()).dictionary_encode(),
        "day": pa.array([day, None]),
        "at": pa.array([at, None], pa.timestamp("ns", "Europe/Berlin")),
        "clock": pa.array([clock(8, 30), None]),
        "took": pa.array([timedelta(1), None]),
        "nothing": pa.nulls(2),
    }
    table = read_table(parquet_bytes({k: pa.concat_arrays([v] * 30) for k, v in pairs.items()}), "t.PARQUET")
    frame = table.frame
    assert frame.shape == (60, 19) and frame.columns.tolist() == list(pairs)
    first = {name: as_text(frame[name]).iloc[0] for name in frame.columns}
    assert first["whole"] == "1" and first["gaps"] == str(2**60 + 1) and first["unsigned"] == str(2**64 - 1)
    assert (
        first["half"] == "0.5"
        and first["single"] == "0.7"
        and frame["decimal"].iloc[0] == 1.25
        and first["true"] == first["maybe"] == "True"
    )
    assert (
        first["text"] == first["large"] == first["category"] == "a" and first["bytes"] == "é" and first["level"] == "3"
    )
    assert frame["day"].dtype.kind == frame["at"].dtype.kind == "M" and frame["took"].dtype.kind == "m"
    assert first["clock"].startswith("08:30")
    gaps = frame.drop(columns=["whole", "true", "nothing"]).isna()
    assert (gaps.iloc[1::2].all() & ~gaps.iloc[::2].any()).all() and frame["nothing"].isna().all()
    assert (
        table.fingerprint
        == read_table(parquet_bytes({k: pa.concat_arrays([v] * 30) for k, v in pairs.items()}), "u.pq").fingerprint
    )


def test_nothing_is_written_to_disk() -> None:
    """Where writing any byte to any file fails, both kinds of file still read."""
    script = """
import resource, sys, tempfile
import pandas, pyarrow.compute, pyarrow.parquet
from tests.unit.datasets.bad_tables import GOOD, csv_bytes, parquet_bytes, rows
from core.datasets.read_table import read_table
big, packed = csv_bytes(records=rows(50_000)), parquet_bytes()
def no_opening(event, args):
    if event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+"):
        raise SystemExit(f"opened {args[0]} for writing")
sys.addaudithook(no_opening)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
print(len(read_table(GOOD, "a.csv").frame), len(read_table(big, "a.csv").frame), len(read_table(packed, "a.pq").frame))
try:
    tempfile.gettempdir()  # tries to write
except FileNotFoundError:
    print("guarded")
"""
    pytest.importorskip("resource")
    command = [sys.executable, "-B", "-c", f"import sys\nsys.path[:0] = {sys.path!r}\n{script}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENT, check=False)  # pipes are no files
    assert done.stdout.split() == ["80", "50000", "80", "guarded"], done.stderr


# Random files


@_FUZZ
@given(st.binary(max_size=400), st.sampled_from(["a.csv", "a.tsv", "a.parquet", "a.pkl"]))
def test_random_bytes(content: bytes, name: str) -> None:
    read_or_refuse(content, name)


@_FUZZ
@given(st.text(st.sampled_from('ab1,;\t|"\n\r .-e\ufeffé'), max_size=300), st.sampled_from(["utf-8", "utf-16"]))
def test_random_text(text: str, encoding: str) -> None:
    read_or_refuse(text.encode(encoding), "a.csv")
    read_or_refuse(GOOD.decode().join([text[:9], text[9:20]]).encode(encoding), "a.csv")
