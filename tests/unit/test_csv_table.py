"""The one writer of CSV: no cell begins a formula, numbers stay numbers, and what is written reads back."""

from __future__ import annotations

import csv
import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.files import csv_bytes, csv_of_frame

STARTS = ("=1", "+1+1", "-1-1", "@x", "\tx", "\rx", "\nx", " =1", "\u00a0=1", "\u200b=1", "\ufeff=1", "\u0301=1")
WIDE = ("＝1", "＋x", "－x", "＠x", "﹦1", "﹢x", "﹣x", "﹫x")
SIGNED = ("+ predictions", "-", "+3 points", "-1e", "--1", "-1.5 ", "+1,5", "-0x1", "+٣")
PLAIN = ("-1.5", "+2", "-0", "+1e5", "-1.25E-7", "12", "minus 1", "a=b", "− 1", "", "'", "and predictions", "1+1", "é")


def read(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))


@pytest.mark.parametrize("text", [*STARTS, *WIDE, *SIGNED])
def test_a_text_that_may_be_a_formula_is_defused_in_cells_and_headers(text: str):
    for content in (csv_bytes([text, "b"], [[text, 1]]), csv_of_frame(pd.DataFrame([[text, 1]], columns=[text, "b"]))):
        assert read(content) == [[f"'{text}", "b"], [f"'{text}", "1"]]


@pytest.mark.parametrize("text", PLAIN)
def test_a_harmless_text_is_left_as_it_is(text: str):
    assert read(csv_bytes([text], [[text]])) == [[text], [text]]


@settings(max_examples=200)
@given(st.lists(st.text(max_size=12) | st.integers() | st.floats(allow_nan=False) | st.none(), min_size=1))
def test_everything_reads_back_but_for_the_apostrophe(row: list[object]):
    (read_back,) = read(csv_bytes(["x"], [row]))[1:]
    for told, value in zip(read_back, row, strict=True):
        if not isinstance(value, str):
            assert told == ("" if value is None else str(value))
            continue
        text = value.replace("\x00", "\ufffd")
        assert told in (text, f"'{text}")
        assert told.lstrip("\ufeff\u200b \u00a0")[:1] not in tuple("=@\t\r\n")
        if told[:1] in tuple("+-"):
            assert np.isfinite(float(told))


def test_a_frame_keeps_numbers_and_empties_what_is_missing():
    frame = pd.DataFrame(
        {"n": [1, 2], "x": [-0.05, np.nan], "t": ["-x", None], "yes": [True, False], "d": [pd.NaT] * 2}
    )
    frame["i"] = pd.array([3, None], "Int64")
    lines = csv_of_frame(frame).removeprefix(b"\xef\xbb\xbf").split(b"\r\n")
    assert lines[1] == b'1,-0.05,"\'-x","True","",3' and lines[2] == b'2,"","","False","",""' and lines[3] == b""
    twice = pd.DataFrame([[1, None]], columns=["a", "a"])
    assert read(csv_of_frame(twice)) == [["a", "a"], ["1", ""]]
