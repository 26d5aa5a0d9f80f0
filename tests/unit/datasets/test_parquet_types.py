"""Parquet columns of every type, at the ends of its range: read, or refused in one sentence."""

from __future__ import annotations

import io
import re
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.base.errors import InputError
from core.datasets import read_table
from core.datasets.columns import as_text, describe_columns
from tests.unit.datasets.bad_tables import assert_one_sentence

RECORDS = 60
LOWEST, HIGHEST = -(2**63), 2**63 - 1
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
YEAR_1, YEAR_10000 = -62_135_596_800, 253_402_300_800
"""Seconds from 1970 to the first moment of the year."""

UNKNOWN_ZONES = (
    "Not/AZone",
    "utc",
    "GMT+3",
    "../../etc/passwd",
    "Europe/Berlin\0x",
    "+25:99",
    "Europe/Berlin ",
    "\N{RIGHT-TO-LEFT OVERRIDE}",
    "x" * 5000,
)


def parquet(column: pa.Array) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table({"x": column, "y": list(range(len(column)))}), sink)
    return sink.getvalue()


def integers(value: int, kind: pa.DataType | None = None) -> pa.Array:
    return pa.array([value] * RECORDS, kind or pa.int64())


def moments(value: int, unit: str, zone: str | None = None) -> pa.Array:
    return integers(value).view(pa.timestamp(unit, zone))


def text_of(column: pa.Array) -> str:
    """Text of the first cell, after all that a page does with a table that was read."""
    table = read_table(parquet(column), "a.parquet")
    describe_columns(table.frame)
    return str(as_text(table.frame["x"]).iloc[0])


@pytest.mark.parametrize("zone", UNKNOWN_ZONES)
def test_a_time_zone_nobody_knows_is_one_sentence(zone: str):
    with pytest.raises(InputError, match="must be in a time zone that is known") as caught:
        text_of(moments(0, "us", zone))
    assert_one_sentence(str(caught.value))


MOMENTS = [
    *((unit, YEAR_1 * scale, "0001|1-01") for unit, scale in PER_SECOND.items() if unit != "ns"),
    *((unit, YEAR_1 * scale - 1, "") for unit, scale in PER_SECOND.items() if unit not in ("s", "ns")),
    *((unit, YEAR_10000 * scale - 1, "9999") for unit, scale in PER_SECOND.items() if unit != "ns"),
    *((unit, YEAR_10000 * scale, "") for unit, scale in PER_SECOND.items() if unit != "ns"),
    ("us", LOWEST, ""),
    ("us", HIGHEST, ""),
    ("ns", LOWEST + 1, "1677"),
    ("ns", HIGHEST, "2262"),
]


@pytest.mark.parametrize(("unit", "value", "year"), MOMENTS)
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_moments_of_the_calendar_are_read_and_others_refused(unit: str, value: int, year: str, zone: str | None):
    column = moments(value, unit, zone)
    if year:
        assert re.match(year, text_of(column))
        return
    with pytest.raises(InputError, match="must hold dates of the years 1 to 9999"):
        text_of(column)


EXTREMES: dict[str, Any] = {
    "the first date": lambda: integers(-(2**31), pa.int32()).view(pa.date32()),
    "a clock before midnight": lambda: integers(-5, pa.int32()).view(pa.time32("s")),
    "a decimal of 76 digits": lambda: pa.array([Decimal(10) ** 70] * RECORDS, pa.decimal256(76, 0)),
    "bytes that are no text": lambda: pa.array([b"\xff\xfe"] * RECORDS),
    "a text that is none": lambda: pa.array([b"\xff\xfe"] * RECORDS).view(pa.string()),
    "identifiers": lambda: pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"\xff" * 16] * RECORDS, pa.binary(16))),
    "moments by their number": lambda: moments(0, "us", "Europe/Berlin").dictionary_encode(),
}


@pytest.mark.parametrize("kind", EXTREMES)
def test_a_type_at_its_end_is_read_or_one_sentence(kind: str):
    content = parquet(EXTREMES[kind]())
    try:
        table = read_table(content, "a.parquet")
    except InputError as error:
        assert_one_sentence(str(error))
    else:
        describe_columns(table.frame)
        as_text(table.frame["x"]).nunique()
