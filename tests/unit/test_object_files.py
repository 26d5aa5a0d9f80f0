"""Results as bytes: everything comes back as it was, and nothing else comes back at all."""

from __future__ import annotations

import io
import json
import math
import os
import zipfile
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest

from core.base.caveats import Caveat, CaveatKind
from core.base.object_files import UnstorableError, pack, unpack
from core.base.serialize import RecordError
from core.datasets import AuditDataset
from core.report import Reports, to_json
from core.stats.estimates import proportion
from core.studies.correction import CorrectionResult
from core.studies.subject import AuditConfig
from tests import expected
from tests.samples_report import sample

VALUES = (
    None,
    True,
    -3,
    0.1,
    math.inf,
    "ü\ud7ff",
    ("a", ["b", {"c"}], frozenset({1})),
    {("a", 1): {"b": 2.5}},
    CaveatKind.CONSTANT_MODEL,
    proportion(3, 7),
    Caveat(CaveatKind.SETS_UNKNOWN, "Unknown."),
    AuditConfig(dataset="demo"),
)


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_pack_and_unpack_give_an_equal_value_of_the_same_type(value: Any):
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


def test_an_audit_comes_back_with_what_was_computed_and_says_the_same():
    audit = expected.audit()
    now = audit.disclose(0.02)
    dataset = audit.subject.dataset
    again = unpack(pack(audit, {id(dataset): "demo"}), {"demo": dataset}.get)
    assert isinstance(again, CorrectionResult) and again.subject.dataset is dataset
    calls = len(again.subject._cache)
    assert again.disclose(0.02) == now and len(again.subject._cache) == calls
    assert again.disclose(0.0212) == audit.disclose(0.0212)


@dataclass(frozen=True)
class Elsewhere:
    """A class that is not FairLeak's own."""

    value: int = 0


@pytest.mark.parametrize(
    "value", [len, object(), Elsewhere(), b"bytes", 1j, np.array([None]), os.environ, AuditDataset]
)
def test_nothing_else_is_written(value: Any):
    with pytest.raises(UnstorableError):
        pack([value])


def archive(tree: Any, **entries: bytes) -> bytes:
    """Return an archive with a tree of a test's own."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        file.writestr("tree", json.dumps(tree))
        for name, entry in entries.items():
            file.writestr(name, entry)
    return content.getvalue()


def pickled_array() -> bytes:
    """Return a numpy file whose objects are a pickle."""
    content = io.BytesIO()
    np.save(content, np.array([Elsewhere()], dtype=object), allow_pickle=True)
    return content.getvalue()


def test_the_reports_of_an_audit_can_be_stored():
    """What the Report page shows first is stored; a class that moved would be computed anew at every start."""
    reports = Reports(sample())
    assert to_json(unpack(pack(reports)).document) == to_json(reports.document)


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
def test_a_tree_that_pack_does_not_write_is_refused(tree: Any):
    with pytest.raises(RecordError):
        unpack(archive(tree))


def test_a_pickle_in_an_array_is_refused():
    content = io.BytesIO(archive(["array", 0, True]))
    with zipfile.ZipFile(content, "a") as file:
        file.writestr("0", pickled_array())
    with pytest.raises(RecordError, match="allow_pickle"):
        unpack(content.getvalue())


@pytest.mark.parametrize("content", [b"", b"PK", b"{}", pack([1.5, np.arange(9)])[:-30]])
def test_what_is_no_archive_is_refused(content: bytes):
    with pytest.raises(RecordError):
        unpack(content)
