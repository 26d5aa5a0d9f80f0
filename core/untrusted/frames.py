"""What comes back from a child: JSON and Arrow, with lengths that are checked before anything is read.

Questions go the other way as pickles; they are our own, and the child may trust them.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    import pyarrow


_HEAD = struct.Struct("<cQQ")
_MOST_JSON = 16 * 1024**2


class Kind(Enum):
    """What a frame says."""

    ANSWER = b"a"
    PROGRESS = b"p"
    REFUSED = b"r"  # a sentence for the user
    MEMORY = b"m"  # there was not enough
    BROKEN = b"b"  # the reader raised what it should not


class Oversize(Exception):
    """A child wants to send more than is taken."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One message of a child: what JSON can say, and validated columns."""

    kind: Kind
    told: dict[str, Any]
    table: pyarrow.Table | None


def write_frame(stream: BinaryIO, kind: Kind, told: dict[str, Any], table: pyarrow.Table | None = None) -> None:
    """Send a message."""
    text = json.dumps(told).encode()
    size = 0
    if table is not None:
        import pyarrow as pa

        counted = pa.MockOutputStream()
        _stream(table, counted)
        size = counted.size()
    stream.write(_HEAD.pack(kind.value, len(text), size) + text)
    if table is not None:
        _stream(table, stream)
    stream.flush()


def _stream(table: pyarrow.Table, sink: Any) -> None:
    import pyarrow as pa

    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)


def read_frame(stream: BinaryIO, *, most: int) -> Frame:
    """Return the next message.

    EOFError is raised if the child ended before it was complete, Oversize if it is longer than `most` bytes, ValueError
    if it is none of ours.
    """
    kind, length, size = _HEAD.unpack(_exactly(stream, _HEAD.size))
    if length > _MOST_JSON or size > most:
        raise Oversize
    told = json.loads(_exactly(stream, length))
    if not isinstance(told, dict):
        raise ValueError("a message is no record")
    table = None
    if size:
        import pyarrow as pa

        table = pa.ipc.open_stream(pa.py_buffer(_exactly(stream, size))).read_all()
        table.validate(full=True)
    return Frame(Kind(kind), told, table)


def _exactly(stream: BinaryIO, length: int) -> bytes:
    content = stream.read(length)
    if len(content) < length:
        raise EOFError
    return content
