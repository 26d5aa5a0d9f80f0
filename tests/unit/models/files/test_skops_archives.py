"""The archive of a skops file, its arrays and its numbers are checked before anything is made of them."""

from __future__ import annotations

import hashlib
import io
import pickle
import zipfile

import numpy as np
import pytest

from core.models.files import nodes
from core.models.files.archive import read_schema
from tests.model_samples import (
    as_skops,
    closed,
    logistic,
    node,
    nodes_of,
    opened,
    pipeline,
)
from tests.unit.models.files.refusals import Hostile, changed, refusal


def test_two_nodes_with_one_number_must_be_alike():
    schema, members = opened(as_skops(pipeline()))
    first, second = [one for one in nodes_of(schema, "ndarray") if one["type"] == "numpy"][:2]
    assert first["file"] != second["file"]
    second["__id__"] = first["__id__"]
    assert "two different nodes have one number" in refusal(closed(schema, members), "m.skops")


def test_arrays_are_checked_before_they_are_made(marker):
    def array_of(header: str, rest: bytes = b"") -> bytes:
        text = header.encode() + b" " * (117 - len(header)) + b"\n"
        return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + rest

    huge = array_of("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }", bytes(64))
    nothing = array_of("{'descr': '|V0', 'fortran_order': False, 'shape': (1000000000000,), }")
    objects = array_of("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", pickle.dumps(Hostile(marker)))
    called = array_of("__import__('os').system('true')")
    for wrong in (huge, nothing, objects, called, b"not an array", pickle.dumps(Hostile(marker)), b""):

        def put(array, members, wrong=wrong):
            members[array["file"]] = wrong

        assert "damaged or made up" in refusal(changed(logistic(), "ndarray", put), "m.skops")


def test_archives_are_checked_before_they_are_unpacked():
    schema, members = opened(as_skops(logistic()))
    spaces = closed(b" " * (65 * 1024 * 1024), compression=zipfile.ZIP_DEFLATED)
    assert len(spaces) < 10**6 and "must not unpack to more than" in refusal(spaces, "m.skops")
    whole = closed(schema, members)
    listed = whole.rindex(b"PK\x01\x02")
    claimed = whole[: listed + 24] + (2**31).to_bytes(4, "little") + whole[listed + 28 :]
    assert "claims 2,048" in refusal(claimed, "m.skops")
    assert "cannot be unpacked" in refusal(whole[: len(whole) // 2], "m.skops")
    assert "may hold only numpy arrays" in refusal(closed(schema, {**members, "a.bin": b"x"}), "m.skops")
    twice = io.BytesIO(whole)
    with zipfile.ZipFile(twice, "a") as again, pytest.warns(UserWarning, match="Duplicate name"):
        again.writestr("schema.json", "{}")
    assert "every member once" in refusal(twice.getvalue(), "m.skops")
    nested = b'{"__loader__": "ListNode", "content": ' + b"[" * 5000 + b"]" * 5000 + b"}"
    assert "nested too deeply" in refusal(closed(nested), "m.skops")
    for text in (b"[]", b"{}", b"1", b"{", b'{"__loader__": 7}'):
        assert refusal(closed(text), "m.skops")


def repeated(times: int) -> bytes:
    """Return a model whose description names an array of 8 MB of zeros many times, nested, under one number."""
    schema, members = opened(as_skops(logistic()))
    buffer = io.BytesIO()
    np.save(buffer, np.zeros(10**6))
    members["9.npy"] = buffer.getvalue()
    array = node("NdArrayNode", "numpy.ndarray", type="numpy", file="9.npy", __id__=9)
    deep = array
    for number in range(30):  # each level holds the ones below, which were digested again at each
        deep = node("ListNode", "builtins.list", [deep, array], __id__=10**6 + number)
    owner = nodes_of(schema, "LogisticRegression")[0]
    owner["content"]["content"]["more"] = node("ListNode", "builtins.list", [deep] * times)
    return closed(schema, members, compression=zipfile.ZIP_DEFLATED)


def test_what_is_repeated_is_read_once(monkeypatch):
    """Work is counted: bytes digested while the nodes are checked, for a file that grows by what it repeats."""
    content = repeated(100)
    assert len(content) < 100_000
    read: list[str] = []
    digested: list[int] = []
    whole, digest = zipfile.ZipFile.read, hashlib.sha256

    def counted(archive, name, *more):
        read.append(str(name))
        return whole(archive, name, *more)

    def measured(data=b"", **more):
        digested.append(len(data))
        return digest(data, **more)

    monkeypatch.setattr(zipfile.ZipFile, "read", counted)
    monkeypatch.setattr(nodes.hashlib, "sha256", measured)
    assert read_schema(content, "m.skops")["__class__"] == "LogisticRegression"
    assert sorted(read) == ["9.npy", "schema.json"]
    schema = zipfile.ZipFile(io.BytesIO(content)).getinfo("schema.json").file_size
    assert sum(digested) < 8_001_000 + 20 * schema and len(digested) < schema


def test_a_file_belongs_to_one_node():
    """skops would read it anew for each number that names it."""
    schema, members = opened(as_skops(pipeline()))
    first, second = [one for one in nodes_of(schema, "ndarray") if one["type"] == "numpy"][:2]
    second["file"] = first["file"]
    assert "two different nodes have one file" in refusal(closed(schema, members), "m.skops")
    for number in (0, None, -1, True, 1.5):
        second["__id__"] = number
        assert "damaged or made up" in refusal(closed(schema, members), "m.skops")
    del second["__id__"]
    assert "names a file and has no number" in refusal(closed(schema, members), "m.skops")


def test_a_description_has_so_many_nodes_at_most(monkeypatch):
    content = as_skops(logistic())
    monkeypatch.setattr(nodes, "MAX_NODES", 10)
    assert "more than 10 nodes" in refusal(content, "m.skops")
