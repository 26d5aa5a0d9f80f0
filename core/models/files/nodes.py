"""The description inside a skops file: a tree of nodes, each naming a type and the way to build it.

Every node is read, and refused unless type and way are on the list of `core.models.files.allowed_types`. skops builds
the first of the nodes with one number and uses it for all of them, so they must be alike; and it reads an array's file
again for every number that names it, so a file belongs to one number. Every part of the tree, and every file, is
digested once however often it is repeated: the work is bounded by the archive's size unpacked.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterator
from typing import Any

from core.datasets.columns import quoted
from core.errors import InputError
from core.models.files.allowed_types import ALLOWED_LOADERS

__all__ = ["MAX_NODES", "check_nodes", "damaged"]

MAX_NODES = 1_000_000
"""Most nodes a description may have; a forest of a thousand trees has some fifty thousand."""


def damaged(name: str, reason: str) -> InputError:
    """Return the refusal of a skops file."""
    return InputError(f"The skops file {quoted(name)} is damaged or made up: {reason}; ask for it again.")


def check_nodes(schema: Any, archive: zipfile.ZipFile, name: str) -> None:
    """Refuse a description with a node that is not on the list, or that says two things under one number.

    Parameters
    ----------
    schema : object
        The description, as JSON says it; it is walked without recursion.
    archive : ZipFile
        With the files of the arrays; each is read at most once, and only where a number is repeated.
    name : str
        The skops file's name.

    Raises
    ------
    InputError
        One sentence.
    """
    if not isinstance(schema, dict) or "__loader__" not in schema:
        raise damaged(name, "its description names no model")
    waiting: list[Any] = [schema]
    alike: dict[int, list[Any]] = {}
    owners: dict[str, int] = {}
    count = 0
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict) and "__loader__" in part:
            count += 1
            if count > MAX_NODES:
                raise damaged(name, f"it has more than {MAX_NODES:,} nodes")
            _check_node(part, name)
            number = part.get("__id__", 0)
            if number:
                alike.setdefault(number, []).append(part)
            if "file" in part and owners.setdefault(_file_of(part, name), number) != number:
                raise damaged(name, "two different nodes have one file")
        items = part.values() if isinstance(part, dict) else part
        waiting.extend(item for item in items if isinstance(item, (list, dict)))
    digests = _Digests(archive)
    for repeated in alike.values():
        if len(repeated) > 1 and len({digests.of(part) for part in repeated}) > 1:
            raise damaged(name, "two different nodes have one number")


def _file_of(node: dict[str, Any], name: str) -> str:
    """Return the file a node names; only a node with a number, which is built once, may name one."""
    if not isinstance(node["file"], str) or not node.get("__id__"):
        raise damaged(name, "a node names a file and has no number")
    return node["file"]


class _Digests:
    """What the parts of one description say, whatever numbers and file names they say it with; each is read once.

    Parameters
    ----------
    archive : ZipFile
        With the files that parts name.
    """

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._parts: dict[int, bytes] = {}  # by identity: the description outlives this
        self._files: dict[str, bytes] = {}

    def of(self, part: Any) -> bytes:
        """Return a part's digest."""
        if not isinstance(part, (list, dict)):
            return hashlib.sha256(f"{type(part).__name__} {json.dumps(part)}".encode()).digest()
        if id(part) not in self._parts:
            told = [self.of(item) for item in part] if isinstance(part, list) else list(self._fields(part))
            whole = b"".join((type(part).__name__.encode(), *told))
            self._parts[id(part)] = hashlib.sha256(whole).digest()
        return self._parts[id(part)]

    def _fields(self, part: dict[str, Any]) -> Iterator[bytes]:
        for key, value in part.items():
            if key == "file" and isinstance(value, str):
                yield self._of_file(value)
            elif key != "__id__":
                yield self.of(key) + self.of(value)

    def _of_file(self, file: str) -> bytes:
        if file not in self._files:
            self._files[file] = hashlib.sha256(self._archive.read(file)).digest()
        return self._files[file]


def _check_node(node: dict[str, Any], name: str) -> None:
    loader, kind = node["__loader__"], f"{node.get('__module__')}.{node.get('__class__')}"
    number = node.get("__id__", 1)
    if not isinstance(loader, str) or type(number) is not int or number < 1:  # skops takes no notice of 0
        raise damaged(name, "a node does not say how it is built")
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
        raise damaged(name, "an array is stored in an unknown way")


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
        raise damaged(name, "a tree is not stored as arrays")


def _check_generator(node: dict[str, Any], name: str) -> None:
    """Refuse a random generator other than numpy's usual one with a seed sequence of the usual size."""
    try:
        kind = json.loads(node["content"]["bit_generator"]["content"]["bit_generator"]["content"])
        size = json.loads(node["content"]["seed_seq"]["content"]["pool_size"]["content"])
    except (KeyError, TypeError, ValueError):
        kind, size = "", 0
    if (kind, size) != ("PCG64", 4):
        raise damaged(name, "it holds a random generator of an unusual kind")
