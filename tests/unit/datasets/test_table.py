"""Reading users' files: what is accepted and how, what is refused; Parquet columns at the ends of their range."""

import re
import subprocess
import sys
import tracemalloc
from collections import Counter
from dataclasses import replace
from datetime import date, datetime, timedelta
from datetime import time as clock
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base.errors import InputError
from core.datasets import Roles, build_dataset, cautions, read_table
from core.datasets.checked_table import Severity
from core.datasets.columns import CROSS, MISSING_MARKERS, as_text, describe_columns, one_spelling
from core.datasets.input_check import check_input
from core.datasets.roles import MINIMUM_PER_GROUP, MOST_GROUPS, groups_of
from core.datasets.text_table import text_columns
from tests.patience import PATIENT
from tests.unit.datasets.bad_tables import BAD_UPLOADS, GOOD, assert_one_sentence, csv_bytes, parquet_bytes


@pytest.mark.parametrize("bad", BAD_UPLOADS, ids=lambda bad: bad.kind)
def test_bad_file_gives_one_sentence(bad):
    content = bad.data
    with pytest.raises(InputError) as caught:
        read_table(content, bad.file_name)
    error = caught.value
    assert type(error) is InputError and (error.__suppress_context__ or error.__context__ is None)
    assert_one_sentence(str(error), bad.words_expected)


FILES = {"good.csv": GOOD, "good.parquet": parquet_bytes({c: [1] * 80 for c in "abcd"})}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(("limit", "fragment"), [("max_bytes", "larger"), ("max_columns", "4"), ("max_rows", "79")])
def test_what_is_as_large_as_it_may_be_is_read_and_what_is_larger_is_refused(name, limit, fragment):
    limits = {"max_bytes": len(FILES[name]), "max_columns": 4, "max_rows": 80}
    assert len(read_table(FILES[name], name, **limits).frame) == 80
    with pytest.raises(InputError) as caught:
        read_table(FILES[name], name, **limits | {limit: limits[limit] - 1})
    assert_one_sentence(str(caught.value), (fragment,))


def test_endless_first_line_is_not_split():
    """Only the sample at the start is split: the memory needed does not grow with the line."""
    content = b'"c"\t' * 20_000_000
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="more than 500 columns"):
            read_table(content, "wide.csv")
        assert tracemalloc.get_traced_memory()[1] < 150_000_000
    finally:
        tracemalloc.stop()


def test_parquet_that_unpacks_to_too_much_is_refused():
    bomb = parquet_bytes({"a": ["x" * 10_000] * 60_000, "b": [1] * 60_000})
    assert len(bomb) < 400_000
    with pytest.raises(InputError, match="unpack to more than 500 MB"):
        read_table(bomb, "bomb.parquet")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("line", ["sep=;\r\n", '"sep=;"\n'])
def test_a_first_line_that_names_the_separator(encoding, line):
    content = (line + GOOD.decode().replace(",", ";")).encode(encoding)
    assert read_table(content, "staff.csv").fingerprint == read_table(GOOD, "staff.csv").fingerprint


def test_names_repeated_without_their_empty_cells_are_refused():
    header, *records = GOOD.decode().splitlines()
    lines = [f"{header},,", *records[:9], header, *records[9:]]
    with pytest.raises(InputError, match="line 11 repeats them"):
        text_columns("\n".join(lines).encode(), "staff.csv", 9, 99, notes=[])


@pytest.mark.parametrize("cell", ["a", "3"])
def test_missing_markers(cell):
    cells = [cell, *(f" {word} " for word in MISSING_MARKERS)]
    lines = [f"{i}x;{cells[i % len(cells)]}" for i in range(80)]
    column = as_text(read_table(csv_bytes("key;value", lines), "a.csv").frame["value"])
    assert column.dropna().unique().tolist() == [cell]
    assert column.isna().tolist() == [i % len(cells) > 0 for i in range(80)]


@pytest.mark.parametrize(("values", "merges"), [(50, True), (51, False)])
def test_one_spelling_leaves_a_column_of_more_than_fifty_values_alone(values, merges):
    cells = [*(f"town {i}" for i in range(values)), "town 7", "TOWN 7"]
    notes = []
    (column,), spellings = one_spelling(["town"], [pa.chunked_array([pa.array(cells)])], notes)
    expected = [*cells[:-1], "town 7"] if merges else cells
    assert column.to_pylist() == expected
    assert spellings == ({"town": {"town 7": ("TOWN 7",)}} if merges else {})
    assert len(notes) == merges


GAPPED = {
    "gaps": (pa.array([2**60 + 1, None], pa.int64()), str(2**60 + 1)),
    "unsigned": (pa.array([2**64 - 1, None], pa.uint64()), str(2**64 - 1)),
    "half": (pa.array([np.float16(0.5), None], pa.float16()), "0.5"),
    "single": (pa.array([0.7, None], pa.float32()), "0.7"),
    "decimal": (pa.array([Decimal("1.25"), None], pa.decimal128(7, 2)), "1.25"),
    "maybe": (pa.array([True, None]), "True"),
    "text": (pa.array([" a ", "?"]), "a"),
    "large": (pa.array(["a", None], pa.large_string()), "a"),
    "bytes": (pa.array(["é".encode(), None], pa.binary()), "é"),
    "level": (pa.array([3, None], pa.int64()).dictionary_encode(), "3"),
    "day": (pa.array([date(2024, 2, 29), None]), "2024-02-29"),
    "at": (pa.array([datetime(2024, 2, 29, 12), None], pa.timestamp("ns", "Europe/Berlin")), "2024-02-29 12"),
    "clock": (pa.array([clock(8, 30), None]), "08:30"),
    "took": (pa.array([timedelta(1), None]), "1 day"),
}
"""Cells of each type, the second empty, and how the text of the first begins."""


@pytest.mark.usefixtures("own_process")
def test_parquet_types():
    content = parquet_bytes({name: pa.concat_arrays([cells] * 30) for name, (cells, _) in GAPPED.items()})
    frame = read_table(content, "t.PARQUET").frame
    for name, (_, text) in GAPPED.items():
        column = as_text(frame[name])
        assert column.iloc[0].startswith(text), name
        assert frame[name].isna().tolist() == [False, True] * 30, name


def test_nothing_is_written_to_disk():
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


@given(st.text(st.sampled_from('ab1,;\t|"\n\r .-e\ufeffé'), max_size=300), st.sampled_from(["utf-8", "utf-16"]))
def test_random_text_is_read_or_refused_in_one_sentence(text, encoding):
    for content in (text, GOOD.decode().join([text[:9], text[9:20]])):
        try:
            read_table(content.encode(encoding), "a.csv")
        except InputError as error:
            assert type(error) is InputError
            assert_one_sentence(str(error))


RECORDS = 60
LOWEST, HIGHEST = -(2**63), 2**63 - 1
YEAR_1, YEAR_10000 = -62_135_596_800, 253_402_300_800
"""Seconds from 1970 to the first moment of the year."""

UNKNOWN_ZONES = ("Not/AZone", "GMT+3", "../../etc/passwd", "Europe/Berlin\0x", "+25:99", "Europe/Berlin ", "\u202e")


def parquet(column):
    return parquet_bytes({"x": column, "y": list(range(len(column)))})


def integers(value, kind=None):
    return pa.array([value] * RECORDS, kind or pa.int64())


def moments(value, unit, zone=None):
    return integers(value).view(pa.timestamp(unit, zone))


def text_of(column):
    """Text of the first cell, after all that a page does with a table that was read."""
    table = read_table(parquet(column), "a.parquet")
    describe_columns(table.frame)
    return str(as_text(table.frame["x"]).iloc[0])


@pytest.mark.parametrize("zone", [*UNKNOWN_ZONES, "x" * 5000])
def test_a_time_zone_nobody_knows_is_one_sentence(zone):
    with pytest.raises(InputError, match="must be in a time zone that is known") as caught:
        text_of(moments(0, "us", zone))
    assert_one_sentence(str(caught.value))


CALENDAR = {"s": 1, "ms": 10**3, "us": 10**6}
MOMENTS = [
    *((unit, YEAR_1 * scale, "0001|1-01") for unit, scale in CALENDAR.items()),
    *((unit, YEAR_1 * scale - 1, "") for unit, scale in CALENDAR.items() if unit != "s"),
    *((unit, YEAR_10000 * scale - 1, "9999") for unit, scale in CALENDAR.items()),
    *((unit, YEAR_10000 * scale, "") for unit, scale in CALENDAR.items()),
    *(("us", end, "") for end in (LOWEST, HIGHEST)),
    ("ns", LOWEST + 1, "1677"),
    ("ns", HIGHEST, "2262"),
]


@pytest.mark.parametrize(("unit", "value", "year"), MOMENTS)
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_moments_of_the_calendar_are_read_and_others_refused(unit, value, year, zone):
    column = moments(value, unit, zone)
    if year:
        assert re.match(year, text_of(column))
        return
    with pytest.raises(InputError, match="must hold dates of the years 1 to 9999"):
        text_of(column)


EXTREMES = {
    "the first date": lambda: integers(-(2**31), pa.int32()).view(pa.date32()),
    "a clock before midnight": lambda: integers(-5, pa.int32()).view(pa.time32("s")),
    "a decimal of 76 digits": lambda: pa.array([Decimal(10) ** 70] * RECORDS, pa.decimal256(76, 0)),
    "bytes that are no text": lambda: pa.array([b"\xff\xfe"] * RECORDS),
    "a text that is none": lambda: pa.array([b"\xff\xfe"] * RECORDS).view(pa.string()),
    "identifiers": lambda: pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"\xff" * 16] * RECORDS, pa.binary(16))),
    "moments by their number": lambda: moments(0, "us", "Europe/Berlin").dictionary_encode(),
}


@pytest.mark.parametrize("kind", EXTREMES)
def test_a_type_at_its_end_is_read_or_one_sentence(kind):
    content = parquet(EXTREMES[kind]())
    try:
        table = read_table(content, "a.parquet")
    except InputError as error:
        assert_one_sentence(str(error))
    else:
        describe_columns(table.frame)
        as_text(table.frame["x"]).nunique()


def test_read_table_without_a_header_numbers_the_columns():
    lines = "".join(f"person {i},{i}\n" for i in range(80))
    frame = read_table(lines.encode(), "people.csv", header=False).frame
    assert list(frame.columns) == ["column 1", "column 2"]
    assert (len(frame), frame["column 1"][0]) == (80, "person 0")


@pytest.mark.parametrize(
    ("amounts", "is_number"),
    [("$1,200.50 $900 $15", True), ("$1,200.50 €900 $15", False), ("$1,200.50 900 $15", False)],
)
def test_read_table_takes_amounts_of_one_currency_as_numbers(amounts, is_number):
    lines = [f"{amount}\t{i}" for i, amount in enumerate(amounts.split() * 30)]
    column = read_table("\n".join(["fee\tage", *lines, ""]).encode(), "fees.csv").frame["fee"]
    assert pd.api.types.is_numeric_dtype(column) == is_number
    if is_number:
        assert column.tolist() == [1200.5, 900, 15] * 30


ROLES = Roles(label="hired", positive="yes", favourable="yes", sensitive="sex", group=("f",))
CASES = {
    "values of the attribute": ("sex", ROLES, "10,000"),
    "crossed": ("sex", replace(ROLES, sensitive=f"sex{CROSS}place", group=()), "10,000"),
    "label": ("hired", ROLES, "50"),
    "prediction": ("answer", replace(ROLES, prediction="answer"), "50"),
    "sets": ("part", replace(ROLES, sets="part"), "50"),
}


def table_of(column, cell="v{}x"):
    """Return a table of 12,000 people, one of whose columns has another value in each record."""
    n = 12_000
    values = {"id": range(n), "sex": ["f", "m"], "age": range(20, 61), "hired": ["yes", "no", "no"]}
    values |= {"answer": ["no", "yes"], "place": ["a", "b"], "part": ["train", "test"]}
    values[column] = [cell.format(i) for i in range(n)]
    records = [[str(choices[i % len(choices)]) for choices in values.values()] for i in range(n)]
    return read_table("\n".join(map(",".join, [values, *records])).encode(), "t.csv")


@pytest.mark.parametrize(("column", "roles", "most"), CASES.values(), ids=CASES)
def test_as_many_values_as_records_are_refused_in_one_sentence(column, roles, most):
    table = table_of(column)
    with pytest.raises(InputError) as refused:
        build_dataset(table, roles)
    assert_one_sentence(str(refused.value), (f"'{column}'", f"at most {most} distinct values", "got 12,000"))
    (fact,) = check_input(table.frame, roles)
    assert fact.severity is Severity.BLOCKING and fact.text == str(refused.value)
    assert cautions(table.frame, roles) == ()


def test_many_numbers_are_split_or_stay_a_feature_and_many_texts_are_left_out():
    dataset = build_dataset(table_of("sex", "{}"), replace(ROLES, group=(), at_most=5_999.0))
    assert np.bincount(dataset.sensitive).tolist() == [6_000, 6_000]
    assert "place" in build_dataset(table_of("place", "{}.5"), ROLES).feature_names
    assert "place" not in build_dataset(table_of("place"), ROLES).feature_names


@given(st.lists(st.integers(1, 70), min_size=2, max_size=30))
def test_a_group_for_each_value_is_what_counting_says(sizes):
    cells = [f"v{index}" for index, size in enumerate(sizes) for _ in range(size)] + [None]
    column = pd.Series(cells, dtype="str", name="sex")
    counts = Counter(cell for cell in cells if cell is not None)
    ordered = sorted(counts, key=lambda value: (-counts[value], value))
    rare = [value for value in ordered if counts[value] < MINIMUM_PER_GROUP]
    if len(rare) == 1 and len(ordered) >= 4 and counts[ordered[-2]] < 2 * MINIMUM_PER_GROUP:
        rare = ordered[-2:]
    merged = rare if len(rare) > 1 and sum(counts[value] for value in rare) >= MINIMUM_PER_GROUP else []
    names = [value for value in ordered if value not in merged] + ["other values"] * bool(merged)
    roles = replace(ROLES, group=(), each=True)
    if not 2 <= len(names) <= MOST_GROUPS:
        with pytest.raises(InputError, match=f"got {len(names)};"):
            groups_of(column, roles)
        return
    codes, group_names, _ = groups_of(column, roles)
    expected = [None if cell is None else names[-1 if cell in merged else names.index(cell)] for cell in cells]
    assert group_names == tuple(names)
    assert [None if pd.isna(code) else group_names[code] for code in codes] == expected


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), min_size=1, max_size=4, unique=True))
def test_a_group_for_each_pair_is_what_counting_says(pairs):
    cells = [CROSS.join(pair) for index, pair in enumerate(pairs) for _ in range(30 + index)]
    column = pd.Series(cells, dtype="str", name=f"sex{CROSS}race")
    roles = replace(ROLES, sensitive=f"sex{CROSS}race", group=())
    people = Counter(cells)
    n_cells = len({pair[0] for pair in pairs}) * len({pair[1] for pair in pairs})
    if n_cells < 2 or n_cells > len(people):
        with pytest.raises(InputError, match=f"got {n_cells};" if n_cells < 2 else "got 0 in"):
            groups_of(column, roles)
        return
    codes, names, _ = groups_of(column, roles)
    assert names == tuple(sorted(people, key=lambda cell: (-people[cell], cell)))
    assert [names[code] for code in codes] == cells
