"""The inside of a skops file, looked at before anything in it is loaded: a zip of one JSON text and numpy arrays.

The JSON text is a tree of nodes; each names a type and the way to build it. Here every node of it is read, and refused
unless type and way are on the list of `core.models.files.allowed_types`. Two nodes with one number must be alike,
because skops builds the first and uses it for both. Sizes are checked as declared, before anything is unpacked.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from typing import Any

from core.datasets.cells import megabytes
from core.datasets.columns import quoted
from core.errors import InputError
from core.models.files.allowed_types import ALLOWED_LOADERS

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
            _check_nodes(schema, archive, name)
    except InputError:
        raise
    except RecursionError:
        raise _damaged(name, "its nodes are nested too deeply") from None
    except Exception as error:  # zip, JSON and numpy have a dozen ways to say that a file is damaged
        raise _damaged(name, f"it cannot be unpacked ({type(error).__name__})") from None
    return dict(schema)


def _damaged(name: str, reason: str) -> InputError:
    return InputError(f"The skops file {quoted(name)} is damaged or made up: {reason}; ask for it again.")


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
        raise _damaged(name, "an array is of an unknown version of numpy's format")
    shape, _, dtype = headers[version](stream)
    if dtype.hasobject or (not dtype.itemsize and 0 not in shape):
        raise _damaged(name, "an array holds something other than numbers or texts")
    claimed = dtype.itemsize
    for length in shape:
        claimed *= length
    if claimed != size - stream.tell() or min(shape, default=0) < 0:
        raise _damaged(name, "an array claims another size than it has")


def _check_nodes(schema: Any, archive: zipfile.ZipFile, name: str) -> None:
    """Refuse a node that is not on the list; the tree is walked without recursion."""
    if not isinstance(schema, dict) or "__loader__" not in schema:
        raise _damaged(name, "its description names no model")
    waiting: list[Any] = [schema]
    seen: dict[Any, Any] = {}
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting.extend(item for item in part if isinstance(item, (list, dict)))
        elif isinstance(part, dict):
            if "__loader__" in part:
                _check_node(part, name)
                first = seen.setdefault(part["__id__"], part) if "__id__" in part else part
                if first != part and _digest(first, archive) != _digest(part, archive):
                    raise _damaged(name, "two different nodes have one number")
            waiting.extend(item for item in part.values() if isinstance(item, (list, dict)))


def _digest(part: Any, archive: zipfile.ZipFile) -> bytes:
    """Return what a node says, whatever numbers and file names it says it with."""
    digest = hashlib.sha256(type(part).__name__.encode())
    if isinstance(part, list):
        for item in part:
            digest.update(_digest(item, archive))
    elif isinstance(part, dict):
        for key, value in part.items():
            if key == "file" and isinstance(value, str):
                digest.update(hashlib.sha256(archive.read(value)).digest())
            elif key != "__id__":
                digest.update(_digest(key, archive) + _digest(value, archive))
    else:
        digest.update(json.dumps(part).encode())
    return digest.digest()


def _check_node(node: dict[str, Any], name: str) -> None:
    loader, kind = node["__loader__"], f"{node.get('__module__')}.{node.get('__class__')}"
    if not isinstance(loader, str) or not isinstance(node.get("__id__", 0), int):
        raise _damaged(name, "a node does not say how it is built")
    if kind not in ALLOWED_LOADERS.get(loader, ()):
        raise InputError(
            f"The file {quoted(name)} is refused because it holds {_what(loader)} {quoted(kind, 80)}, which is not on "
            "the list of types that are loaded; ask for the model as ONNX."
        )
    if loader == "TreeNode":
        _check_tree(node, name)
    if loader == "RandomGeneratorNode":
        _check_generator(node, name)
    if loader == "NdArrayNode" and node.get("type") not in ("numpy", "json"):
        raise _damaged(name, "an array is stored in an unknown way")


def _what(loader: str) -> str:
    return {
        "FunctionNode": "the function",
        "MethodNode": "a method of",
        "OperatorFuncNode": "the operator",
        "PartialNode": "the call",
        "ConstructorFromReduceNode": "a call of",
    }.get(loader, "the type")


def _check_tree(node: dict[str, Any], name: str) -> None:
    """Refuse a tree whose nodes and values are not stored as numpy arrays."""
    try:
        arguments, state = node["__reduce__"]["args"], node["content"]
        arrays = arguments["content"][1], state["content"]["nodes"], state["content"]["values"]
        plain = arguments["__loader__"] == "TupleNode" and len(arguments["content"]) == 3
        kept = plain and all(array["__loader__"] == "NdArrayNode" and array["type"] == "numpy" for array in arrays)
    except (KeyError, TypeError, IndexError):
        kept = False
    if not kept:
        raise _damaged(name, "a tree is not stored as arrays")


def _check_generator(node: dict[str, Any], name: str) -> None:
    """Refuse a random generator other than numpy's usual one with a seed sequence of the usual size."""
    try:
        kind = json.loads(node["content"]["bit_generator"]["content"]["bit_generator"]["content"])
        size = json.loads(node["content"]["seed_seq"]["content"]["pool_size"]["content"])
    except (KeyError, TypeError, ValueError):
        kind, size = "", 0
    if (kind, size) != ("PCG64", 4):
        raise _damaged(name, "it holds a random generator of an unusual kind")
