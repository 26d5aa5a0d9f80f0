"""The inside of a skops file, looked at before anything in it is loaded: a zip of one JSON text and numpy arrays.

Sizes are checked as declared, before anything is unpacked; what the JSON text says is for `core.models.files.nodes`.
"""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

from core.datasets.cells import megabytes
from core.datasets.columns import quoted
from core.errors import InputError
from core.models.files.nodes import check_nodes, damaged

__all__ = ["MAX_UNPACKED", "read_schema"]

MAX_UNPACKED = 400 * 1024 * 1024
"""Most bytes a skops file may unpack to."""

_MAX_SCHEMA = 64 * 1024 * 1024
_MAX_MEMBERS = 100_000
_SCHEMA = "schema.json"


def read_schema(content: bytes, name: str) -> dict[str, Any]:
    """Return the tree of nodes of a skops file after checking all of it.

    Raises
    ------
    InputError
        If the archive is damaged or too large, or holds a node that is not on the list.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            _check_members(members, name)
            schema = json.loads(archive.read(_SCHEMA))
            for member in members:
                if member.filename != _SCHEMA:
                    with archive.open(member) as array:
                        _check_array(array, member.file_size, name)
            check_nodes(schema, archive, name)
    except InputError:
        raise
    except RecursionError:
        raise damaged(name, "its nodes are nested too deeply") from None
    except Exception as error:  # zip, JSON and numpy have a dozen ways to say that a file is damaged
        raise damaged(name, f"it cannot be unpacked ({type(error).__name__})") from None
    return dict(schema)


def _check_members(members: list[zipfile.ZipInfo], name: str) -> None:
    names = [member.filename for member in members]
    if names.count(_SCHEMA) != 1 or len(set(names)) < len(names) or len(names) > _MAX_MEMBERS:
        raise InputError(
            f"The file {quoted(name)} is a zip archive but not skops: it must hold one {_SCHEMA} and every member once."
        )
    unpacked = sum(member.file_size for member in members)
    schema = next(member.file_size for member in members if member.filename == _SCHEMA)
    if unpacked > MAX_UNPACKED or schema > _MAX_SCHEMA:
        raise InputError(
            f"A skops file must not unpack to more than {megabytes(MAX_UNPACKED)}, or its description to more than "
            f"{megabytes(_MAX_SCHEMA)}, but {quoted(name)} claims {megabytes(unpacked)}; ask for a smaller model."
        )
    for member in members:
        if member.filename != _SCHEMA and not member.filename.endswith(".npy"):
            raise InputError(
                f"The file {quoted(name)} holds {quoted(member.filename)}; a skops file may hold only numpy arrays "
                "(.npy) beside its description."
            )


def _check_array(stream: Any, size: int, name: str) -> None:
    """Refuse an array that claims another size than it has, or cells that are Python objects."""
    from numpy.lib import format as numpy_format

    headers = {(1, 0): numpy_format.read_array_header_1_0, (2, 0): numpy_format.read_array_header_2_0}
    version = numpy_format.read_magic(stream)
    if version not in headers:
        raise damaged(name, "an array is of an unknown version of numpy's format")
    shape, _, dtype = headers[version](stream)
    if dtype.hasobject or (not dtype.itemsize and 0 not in shape):
        raise damaged(name, "an array holds something other than numbers or texts")
    claimed = dtype.itemsize
    for length in shape:
        claimed *= length
    if claimed != size - stream.tell() or min(shape, default=0) < 0:
        raise damaged(name, "an array claims another size than it has")
