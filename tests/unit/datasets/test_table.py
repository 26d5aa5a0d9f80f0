"""Reading users' files: what is accepted and how, what is refused and in which words."""

from __future__ import annotations

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


AT_LIMIT = {"max_bytes": 0, "max_columns": 4, "max_rows": 80}
FILES = {"good.csv": GOOD, "good.parquet": parquet_bytes({c: [1] * 80 for c in "abcd"})}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(("limit", "fragment"), [("max_bytes", "larger"), ("max_columns", "4"), ("max_rows", "79")])
def test_what_is_as_large_as_it_may_be_is_read_and_what_is_larger_is_refused(name: str, limit: str, fragment: str):
    limits = AT_LIMIT | {"max_bytes": len(FILES[name])}
    assert len(read_table(FILES[name], name, **limits).frame) == 80
    with pytest.raises(InputError) as caught:
        read_table(FILES[name], name, **limits | {limit: limits[limit] - 1})
    assert_one_sentence(str(caught.value), (fragment,))


def test_endless_first_line_is_not_split() -> None:
    """Only the sample at the start is split: the memory needed does not grow with the line."""
    content = b'"c"\t' * 20_000_000
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


def test_fingerprint_follows_the_cells_and_not_the_spelling() -> None:
    same = read_table(GOOD.replace(b"\n", b"\r\n").replace(b",", b";"), "other.csv")
    assert same.fingerprint == read_table(GOOD, "staff.csv").fingerprint
    changed = read_table(GOOD.replace(b"clerk", b"clark", 1), "staff.csv")
    assert changed.fingerprint != same.fingerprint


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("line", ["sep=;\r\n", '"sep=;"\n'])
def test_a_first_line_that_names_the_separator(encoding: str, line: str) -> None:
    content = (line + GOOD.decode().replace(",", ";")).encode(encoding)
    assert read_table(content, "staff.csv").fingerprint == read_table(GOOD, "staff.csv").fingerprint


def column_of(cells: list[str], separator: str = ";", name: str = "a.csv") -> pd.Series:
    """Return how one column of 80 records reads, the given cells first and repeated."""
    filled = [cells[i % len(cells)] for i in range(80)]
    lines = [f"{i}x{separator}{cell}" for i, cell in enumerate(filled)]
    return read_table(csv_bytes(f"key{separator}value", lines), name).frame["value"]


def test_missing_markers() -> None:
    text, number = column_of(["a", *(f" {word} " for word in MISSING_MARKERS)]), column_of(["3", *MISSING_MARKERS])
    assert text.dropna().unique().tolist() == ["a"]
    assert as_text(number).dropna().unique().tolist() == ["3"]
    assert text.isna().tolist() == number.isna().tolist()


GAPPED: dict[str, tuple[pa.Array, str]] = {
    "gaps": (pa.array([2**60 + 1, None], pa.int64()), str(2**60 + 1)),
    "unsigned": (pa.array([2**64 - 1, None], pa.uint64()), str(2**64 - 1)),
    "half": (pa.array([np.float16(0.5), None], pa.float16()), "0.5"),
    "single": (pa.array([0.7, None], pa.float32()), "0.7"),
    "decimal": (pa.array([Decimal("1.25"), None], pa.decimal128(7, 2)), "1.25"),
    "maybe": (pa.array([True, None]), "True"),
    "text": (pa.array([" a ", "?"]), "a"),
    "large": (pa.array(["a", None], pa.large_string()), "a"),
    "bytes": (pa.array(["é".encode(), None], pa.binary()), "é"),
    "category": (pa.array(["a", None]).dictionary_encode(), "a"),
    "level": (pa.array([3, None], pa.int64()).dictionary_encode(), "3"),
    "day": (pa.array([date(2024, 2, 29), None]), "2024-02-29"),
    "at": (pa.array([datetime(2024, 2, 29, 12), None], pa.timestamp("ns", "Europe/Berlin")), "2024-02-29 12"),
    "clock": (pa.array([clock(8, 30), None]), "08:30"),
    "took": (pa.array([timedelta(1), None]), "1 day"),
}
"""Cells of each type, the second empty, and how the text of the first begins."""


@pytest.mark.usefixtures("own_process")
def test_parquet_types() -> None:
    content = parquet_bytes({name: pa.concat_arrays([cells] * 30) for name, (cells, _) in GAPPED.items()})
    frame = read_table(content, "t.PARQUET").frame
    for name, (_, text) in GAPPED.items():
        column = as_text(frame[name])
        assert column.iloc[0].startswith(text), name
        assert frame[name].isna().tolist() == [False, True] * 30, name


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
@given(st.text(st.sampled_from('ab1,;\t|"\n\r .-e\ufeffé'), max_size=300), st.sampled_from(["utf-8", "utf-16"]))
def test_random_text(text: str, encoding: str) -> None:
    read_or_refuse(text.encode(encoding), "a.csv")
    read_or_refuse(GOOD.decode().join([text[:9], text[9:20]]).encode(encoding), "a.csv")
