"""Which kind of model file somebody brings, by its name and its first bytes; all but ONNX and skops are refused.

A pickle, and whatever is a pickle inside (joblib, PyTorch), runs code of its author's choice while it is opened; Keras
files can hold such code in their layers. None of them is opened here, whatever their name says.
"""

from __future__ import annotations

import io
import pickletools
import re
import zipfile
from pathlib import PurePath

from core.datasets.cells import megabytes
from core.datasets.columns import quoted
from core.errors import InputError

KINDS = {"onnx": "ONNX", "skops": "skops"}
"""Kind -> what to call it; the kind is also the ending of the file's name."""

MAX_BYTES = 200 * 1024 * 1024
"""Largest model file."""

_REMEDY = "ask for the model as ONNX or skops"
_PICKLE = "opening a pickle can run any code hidden in it"
_LAYERS = "its layers can hold code that would be run"
_OTHER = "only ONNX and skops are read"

_ENDINGS = {
    **dict.fromkeys((".pkl", ".pickle", ".p", ".joblib", ".sav", ".dill", ".cloudpickle"), _PICKLE),
    **dict.fromkeys((".pt", ".pth", ".ckpt", ".bin", ".mar"), f"a PyTorch file is a pickle inside, and {_PICKLE}"),
    **dict.fromkeys((".h5", ".hdf5", ".keras"), f"it is a Keras model, and {_LAYERS}"),
    ".ort": "onnxruntime's own format cannot be inspected before it runs",
    ".zip": "a zip archive does not say what it holds",
}

_SIGNS = (
    (re.compile(rb"\x80[\x01-\x05]"), f"it is a pickle, and {_PICKLE}"),
    (
        re.compile(rb"\x1f\x8b|BZh|\xfd7zXZ|\x28\xb5\x2f\xfd|\x04\x22\x4d\x18|\x78[\x01\x5e\x9c\xda]"),
        "it is compressed",
    ),
    (re.compile(rb"\x89HDF"), f"it is a Keras model or other HDF5 data, and {_LAYERS}"),
    (re.compile(rb"\x93NUMPY"), "it is a numpy array and no model"),
    (re.compile(rb"....ORTM", re.DOTALL), "onnxruntime's own format cannot be inspected before it runs"),
    (re.compile(rb"....TFL3", re.DOTALL), f"it is a TensorFlow Lite model, and {_OTHER}"),
    (re.compile(rb"\x7fELF|MZ|#!"), "it is a program"),
)

_ARCHIVE = b"PK\x03\x04"


def kind_of(content: bytes, name: str, *, max_bytes: int = MAX_BYTES) -> str:
    """Return the kind of a model file, one of `KINDS`, without opening it.

    Raises
    ------
    InputError
        If the file is too large, empty, or of another kind than these two or than its name says.
    """
    ending = PurePath(name).suffix.lower()
    if reason := _ENDINGS.get(ending):
        raise _refused(name, reason)
    if ending.removeprefix(".") not in KINDS:
        raise InputError(f"A model file's name must end in .onnx or .skops, got {quoted(name)}; {_REMEDY}.")
    if not content:
        raise InputError(f"The file {quoted(name)} is empty; choose a model saved as ONNX or skops.")
    if len(content) > max_bytes:
        raise InputError(
            f"A model file must not be larger than {megabytes(max_bytes)}, got {megabytes(len(content))}; "
            "ask for a smaller model."
        )
    if reason := _foreign(content):
        raise _refused(name, reason)
    kind = ending.removeprefix(".")
    archive = content.startswith(_ARCHIVE)
    if archive and kind == "onnx":
        raise _refused(name, "it is a zip archive and not ONNX; if it is skops, let its name end in .skops", remedy="")
    if not archive and kind == "skops":
        raise _refused(name, "it is not skops; if it is ONNX, let its name end in .onnx", remedy="")
    return kind


def _refused(name: str, reason: str, *, remedy: str = _REMEDY) -> InputError:
    return InputError(f"The file {quoted(name)} is refused because {reason}{remedy and f'; {remedy}'}.")


def _foreign(content: bytes) -> str:
    """Return what speaks against the content, or nothing."""
    for sign, reason in _SIGNS:
        if sign.match(content):
            return reason
    if content.startswith(_ARCHIVE):
        return _packed(content)
    return f"it is a pickle, and {_PICKLE}" if _old_pickle(content) else ""


def _packed(content: bytes) -> str:
    """Return what speaks against a zip archive by the names of its members."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, UnicodeDecodeError):
        return ""  # the reader of skops says what is wrong with it
    endings = {PurePath(member).suffix.lower() for member in names}
    if "data.pkl" in {PurePath(member).name for member in names}:
        return _ENDINGS[".pt"]
    if endings & {".pkl", ".pickle", ".joblib"}:
        return f"it holds a pickle, and {_PICKLE}"
    if endings & {".h5", ".hdf5"}:
        return _ENDINGS[".keras"]
    return ""


def _old_pickle(content: bytes) -> bool:
    """Return whether the content reads as a pickle of the first two protocols, which have no mark of their own."""
    if not content.rstrip().endswith(b".") or len(content) > 10**6:
        return False
    try:
        return sum(1 for _ in pickletools.genops(content)) > 1  # takes the instructions apart, follows none
    except Exception:  # whatever it is, it is no pickle
        return False
