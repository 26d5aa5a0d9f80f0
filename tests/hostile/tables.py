"""Tables that are small as files and large in memory, damaged where it hurts, or slow to read; made on demand."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["TABLES"]

_ROWS = 2_000_000


def _parquet(table: pa.Table, **settings: object) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, **settings)
    return sink.getvalue()


def _repeated(text: str, rows: int, columns: int = 2) -> bytes:
    """Return a text that is stored once and stands in every cell."""
    cells = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int8)), pa.array([text]))
    return _parquet(pa.table({f"c{j}": cells for j in range(columns)}), compression="zstd", row_group_size=rows)


def _constant(kind: pa.DataType, columns: int, codec: str, *, dictionary: bool) -> bytes:
    cells = pa.array(np.zeros(_ROWS, np.int32)).cast(kind)
    table = pa.table({f"c{j}": cells for j in range(columns)})
    return _parquet(table, compression=codec, use_dictionary=dictionary, row_group_size=_ROWS)


def _good() -> bytes:
    rng = np.random.default_rng(3)
    words = rng.choice(["a", "b", "c"], 500)
    return _parquet(pa.table({"x": rng.normal(size=500), "y": words, "z": rng.integers(0, 9, 500)}))


def _flipped(seed: int) -> bytes:
    """Return a good file with four bytes changed, in its pages or its footer."""
    content, rng = bytearray(_good()), np.random.default_rng(seed)
    for place in rng.integers(4, len(content) - 8, 4):
        content[place] = rng.integers(256)
    return bytes(content)


def _footer(length: int) -> bytes:
    content = _good()
    return content[:-8] + length.to_bytes(4, "little") + content[-4:]


def _nested() -> bytes:
    deep: pa.Array = pa.array([1] * 100)
    for _ in range(60):
        deep = pa.ListArray.from_arrays(pa.array(range(len(deep) + 1), pa.int32()), deep)
    return _parquet(pa.table({"a": deep, "b": list(range(len(deep)))}))


_HEADER, _LINE = b"age,work,sex,hired\n", b"31,cook,F,yes\n"

TABLES: dict[str, tuple[str, Callable[[], bytes]]] = {
    **{
        f"a text of {size:,} bytes in every cell": ("a.parquet", partial(_repeated, "x" * size, _ROWS))
        for size in (300, 3_000_000)
    },
    "a text of 100 MB in 2,000 cells": ("a.parquet", partial(_repeated, "x" * 100_000_000, 2_000)),
    "500 columns of one text": ("a.parquet", partial(_repeated, "word", _ROWS, 500)),
    **{
        f"50 columns of {kind}, {codec}": ("a.parquet", partial(_constant, kind, 50, codec, dictionary=False))
        for kind, codec in (
            (pa.float64(), "gzip"),
            (pa.bool_(), "brotli"),
            (pa.decimal128(30), "zstd"),
        )
    },
    "400 columns of numbers": ("a.parquet", partial(_constant, pa.int64(), 400, "zstd", dictionary=True)),
    **{f"four bytes changed, {seed}": ("a.parquet", partial(_flipped, seed)) for seed in range(3)},
    "a footer of 4 GB": ("a.parquet", partial(_footer, 2**32 - 1)),
    "a footer that begins too early": ("a.parquet", partial(_footer, 10_000)),
    "marks without end": ("a.parquet", lambda: b"PAR1" * 100_000),
    "half of a file": ("a.parquet", lambda: _good()[: len(_good()) // 2] + b"PAR1"),
    "lists in lists": ("a.parquet", _nested),
    "a line of 60 MB": ("a.csv", lambda: _HEADER + b"x" * 60_000_000),
    "a quotation that never ends": ("a.csv", lambda: _HEADER + b'31,"' + _LINE * 3_000_000),
    "quotation marks only": ("a.csv", lambda: _HEADER + b'"' * 50_000_001),
    "blank lines only": ("a.csv", lambda: b" " + b"\n" * 50_000_000),
    "digits without end": ("a.csv", lambda: _HEADER + (b"9" * 1_000_000 + b",a,F,yes\n") * 60),
    "signs and marks of numbers": ("a.csv", lambda: _HEADER + (b"-" + b"1'" * 30_000 + b",a,F,yes\n") * 500),
    "zero bytes": ("a.csv", lambda: _HEADER + bytes(50_000_000)),
    "half of a UTF-16": (
        "a.csv",
        lambda: b"\xff\xfe" + (_HEADER + _LINE * 1_000_000).decode().encode("utf-16-le")[:-1],
    ),
    "every line another width": ("a.csv", lambda: _HEADER + b"".join(b"," * (j % 400) + b"\n" for j in range(200_000))),
    "40 columns, as many lines as are read": (
        "a.csv",
        lambda: b",".join(b"c%d" % j for j in range(40)) + b"\n" + (b",".join([b"1"] * 40) + b"\n") * 1_250_000,
    ),
    "a new word in every cell": (
        "a.csv",
        lambda: _HEADER + b"".join(b"w%d,v%d,F,yes\n" % (j, j) for j in range(2_000_001)),
    ),
    "a long word in every cell": ("a.csv", lambda: _HEADER + (b"x" * 400 + b"," + b"y" * 400 + b",F,yes\n") * 240_000),
}
"""What is wrong -> file name and how the file is made."""
