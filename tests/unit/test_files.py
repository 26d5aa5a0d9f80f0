"""What is written and read: TOML of users, results as JSON and as bytes, and CSV whose cells begin no formula."""

import csv
import io
import json
import math
import os
import re
import zipfile
from dataclasses import dataclass
from functools import reduce

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.base.caveats import Caveat, CaveatKind
from core.base.errors import InputError
from core.base.files import csv_bytes, csv_of_frame
from core.base.object_files import UnstorableError, pack, unpack
from core.base.serialize import RecordError, dumps, loads
from core.base.settings import value_excerpt
from core.base.settings_text import parsed
from core.datasets import AuditDataset
from core.report import Reports, to_json
from core.stats.estimates import Estimate, proportion
from core.studies.correction import CorrectionResult
from core.studies.subject import AuditConfig
from tests import expected
from tests.samples_report import sample


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a = 1\nb = '\xe9'\n", r"must be UTF-8 text, got a byte that is not in line 2\."),
        ("a = '\ud800'", r"must be UTF-8 text, got a character that is not\."),
        ("a = 1\nb\n", r"is not TOML: expected '=' after a key in a key/value pair, in line 2\."),
        ("a = [1,", r"is not TOML: .+, at the end of the file\."),
        ("a = 2026-02-30", r"is not TOML: .+, in line 1\."),
        ("a = " + "1" * 5000, r"is not TOML: it holds a number that is too long\."),
        ("a = " + "[" * 5000, r"is nested too deeply for a file of settings\."),
        ("a = " + "{b = " * 5000, r"is nested too deeply for a file of settings\."),
        ("a = 1\n" + "b." * 501 + "c = 1", r"must have at most 500 full stops a line, got 501 in line 2\."),
        (b"a" * 10_000_000, r"must have at most 65,536 characters, got 10,000,000\."),
    ],
    ids=["byte", "surrogate", "no value", "end", "day", "number", "lists", "tables", "keys", "size"],
)
def test_what_cannot_be_read_is_told_in_one_sentence(content, expected):
    with pytest.raises(InputError) as caught:
        parsed(content, name="p.toml")
    assert re.fullmatch(f"p.toml {expected}", str(caught.value))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (reduce(lambda inner, _: [inner], range(5000), []), "a list"),
        ({"a": 1}, "a table"),
        (True, "true"),
        (-(16**20_000), "a number of more than 19 digits"),
        ("x" * 78, f"'{'x' * 78}'"),
        ("x" * 79, f"'{'x' * 59}… (81 characters)"),
    ],
    ids=range(6),
)
def test_values_are_told_shortly(value, text):
    assert value_excerpt(value) == text


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    value: float
    name: str
    sure: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    leaf: Leaf | None
    either: int | str | None
    leaves: tuple[Leaf, ...]
    pair: tuple[int, float]
    table: dict[tuple[str, int], Leaf]
    more: list[dict[str, float]]


@given(st.builds(Tree))
def test_what_is_written_is_read_bit_for_bit(value):
    back = loads(dumps(value), Tree)
    assert repr(back) == repr(value)  # which tells any two different values apart, nan and signed zeros included
    assert back == loads(dumps(back), Tree)  # equality holds even with nan in it
    json.loads(dumps(value), parse_constant=pytest.fail)  # strict JSON: no NaN, no Infinity


scalar = st.none() | st.booleans() | st.integers() | st.floats() | st.text()


@given(st.recursive(scalar, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_anything_else_is_refused_or_fits(value):
    for kind in (Tree, Leaf, Estimate, AuditConfig):
        try:
            parsed_value = loads(json.dumps(value), kind)
        except RecordError:
            continue
        pytest.fail(f"{value!r} was read as {parsed_value!r}")


@pytest.mark.parametrize(
    "change", [{"value": True}, {"value": "1"}, {"name": 1}, {"sure": 1}, {"sure": None}, {"extra": 1}, {"name": None}]
)
def test_a_field_of_the_wrong_kind_is_refused(change):
    good = {"value": 1.0, "name": "a", "sure": True}
    assert loads(json.dumps(good), Leaf) == Leaf(value=1.0, name="a", sure=True)
    with pytest.raises(RecordError):
        loads(json.dumps(good | change), Leaf)


STARTS = ("=1", "+1+1", "-1-1", "@x", "\tx", "\rx", "\nx", " =1", "\u00a0=1", "\u200b=1", "\ufeff=1", "\u0301=1")
WIDE = ("＝1", "＋x", "－x", "＠x", "﹦1", "﹢x", "﹣x", "﹫x")
SIGNED = ("+ predictions", "-", "+3 points", "-1e", "--1", "-1.5 ", "+1,5", "-0x1", "+٣")
PLAIN = ("-1.5", "+2", "-0", "+1e5", "-1.25E-7", "12", "minus 1", "a=b", "− 1", "", "'", "and predictions", "1+1", "é")


def read(content):
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))


@pytest.mark.parametrize("text", [*STARTS, *WIDE, *SIGNED, *PLAIN])
def test_a_text_that_may_be_a_formula_is_defused_in_cells_and_headers_and_no_harmless_text(text):
    cell = text if text in PLAIN else f"'{text}"
    for content in (csv_bytes([text, "b"], [[text, 1]]), csv_of_frame(pd.DataFrame([[text, 1]], columns=[text, "b"]))):
        assert read(content) == [[cell, "b"], [cell, "1"]]


@settings(max_examples=200)
@given(st.lists(st.text(max_size=12) | st.integers() | st.floats(allow_nan=False) | st.none(), min_size=1))
def test_everything_reads_back_but_for_the_apostrophe(row):
    (read_back,) = read(csv_bytes(["x"], [row]))[1:]
    for cell, value in zip(read_back, row, strict=True):
        if not isinstance(value, str):
            assert cell == ("" if value is None else str(value))
            continue
        text = value.replace("\x00", "\ufffd")
        assert cell in (text, f"'{text}")
        assert cell.lstrip("\ufeff\u200b \u00a0")[:1] not in tuple("=@\t\r\n")
        if cell[:1] in tuple("+-"):
            assert np.isfinite(float(cell))


def test_a_frame_keeps_numbers_and_empties_what_is_missing():
    frame = pd.DataFrame({"n": [1, 2], "x": [-0.05, np.nan], "t": ["-x", None], "d": [pd.NaT] * 2})
    frame["i"] = pd.array([3, None], "Int64")
    assert read(csv_of_frame(frame))[1:] == [["1", "-0.05", "'-x", "", "3"], ["2", "", "", "", ""]]
    assert read(csv_of_frame(pd.DataFrame([[1, None]], columns=["a", "a"]))) == [["a", "a"], ["1", ""]]


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, -3, 0.1, math.inf, "ü\ud7ff"),
        ("a", ["b", {"c"}], frozenset({1})),
        {("a", 1): {"b": 2.5}},
        CaveatKind.CONSTANT_MODEL,
        proportion(3, 7),
        Caveat(CaveatKind.SETS_UNKNOWN, "Unknown."),
        AuditConfig(dataset="demo"),
    ],
    ids=repr,
)
def test_pack_and_unpack_give_an_equal_value_of_the_same_type(value):
    again = unpack(pack(value))
    assert again == value and type(again) is type(value)
    assert pack(again) == pack(value)


def test_arrays_come_back_with_type_shape_and_whether_they_can_be_written_to():
    frozen = np.arange(6, dtype=np.uint8).reshape(2, 3)
    frozen.flags.writeable = False
    arrays = [frozen, np.array([0.1, math.nan, -0.0]), np.array(["a", "bc"]), np.float32(0.1), np.bool_(True)]
    for array, again in zip(arrays, unpack(pack(arrays)), strict=True):
        np.testing.assert_array_equal(again, array)
        assert (type(again), again.dtype, again.flags.writeable) == (type(array), array.dtype, array.flags.writeable)


def test_a_table_comes_back_with_types_rows_and_missing_cells():
    frame = pd.DataFrame({"number": [1.5, math.nan], "text": ["a", None], "whole": [1, 2]})
    for table in (frame, frame.set_axis([7, 3])):
        pd.testing.assert_frame_equal(unpack(pack(table)), table)
    with pytest.raises(UnstorableError):
        pack(pd.DataFrame({"when": pd.to_datetime(["2026-01-01"])}))


def test_what_the_reader_has_is_named_only():
    dataset = expected.demo()
    content = pack([dataset], {id(dataset): "demo"})
    assert len(content) < 1000
    assert unpack(content, {"demo": dataset}.get) == [dataset]
    with pytest.raises(RecordError, match="not at hand"):
        unpack(content, {}.get)


def test_audits_come_back_with_what_was_computed_and_say_the_same():
    """Also what the Report page shows first: a class that moved would be computed anew at every start."""
    audit = expected.audit()
    now = audit.disclose(0.02)
    dataset = audit.subject.dataset
    again = unpack(pack(audit, {id(dataset): "demo"}), {"demo": dataset}.get)
    assert isinstance(again, CorrectionResult) and again.subject.dataset is dataset
    calls = len(again.subject._cache)
    assert again.disclose(0.02) == now and len(again.subject._cache) == calls
    assert again.disclose(0.0212) == audit.disclose(0.0212)
    reports = Reports(sample())
    assert to_json(unpack(pack(reports)).document) == to_json(reports.document)


@dataclass(frozen=True)
class Elsewhere:
    value: int = 0


@pytest.mark.parametrize(
    "value", [len, object(), Elsewhere(), b"bytes", 1j, np.array([None]), os.environ, AuditDataset]
)
def test_nothing_else_is_written(value):
    with pytest.raises(UnstorableError):
        pack([value])


def archive(tree, **entries):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        for name, entry in {"tree": json.dumps(tree), **entries}.items():
            file.writestr(name, entry)
    return content.getvalue()


HOSTILE = (
    ["object", "../os:system", {}, ["dict"]],
    ["object", "base.files:os.system", {}, ["dict"]],
    ["object", "base.files:write_file", {}, ["dict"]],
    ["object", "base.files:Path", {"parts": "x"}, ["dict"]],
    ["object", "base.errors:InputError", {}, ["dict"]],
    ["object", "studies.subject:AuditConfig", {"dataset": "demo"}, ["dict"]],
    ["object", "base.caveats:CaveatKind", {}, ["dict"]],
    ["object", "base.caveats:Caveat", {"kind": "", "text": "", "count": None, "total": None}, ["dict", ["x", 1]]],
    ["enum", "base.caveats:Caveat", "x"],
    ["array", 0, True],
    ["again", 0],
    ["shared", "demo"],
    ["frame", ["list"], ["name", "datetime64[ns]", ["list"]]],
    ["call", "os.system"],
    [],
    ["dict", 1],
)


@pytest.mark.parametrize("tree", HOSTILE, ids=repr)
def test_a_tree_that_pack_does_not_write_is_refused(tree):
    with pytest.raises(RecordError):
        unpack(archive(tree))


def test_a_pickle_in_an_array_is_refused():
    pickled = io.BytesIO()
    np.save(pickled, np.array([Elsewhere()], dtype=object), allow_pickle=True)
    with pytest.raises(RecordError, match="allow_pickle"):
        unpack(archive(["array", 0, True], **{"0": pickled.getvalue()}))


@pytest.mark.parametrize("content", [b"", b"PK", b"{}", pack([1.5, np.arange(9)])[:-30]])
def test_what_is_no_archive_is_refused(content):
    with pytest.raises(RecordError):
        unpack(content)
