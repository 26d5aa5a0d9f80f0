"""Files that a user names: read within bounds, and written whole or not at all; tables as CSV.

A name may lead to a device, a pipe, a socket, a folder or in a circle. A device has no end, and a pipe makes its reader
wait for somebody who writes: only regular files are read, and only such are replaced.

CSV is written so that a spreadsheet opens it as what it is: UTF-8 with a byte order mark (spreadsheets take anything
else for a local code page), rows ended by CR LF and texts in quotation marks (RFC 4180). A text that a spreadsheet
would take for a formula, because it begins, blank and invisible characters aside, with = + - @ in any width, a tab or a
line end, gets an apostrophe in front, names of columns too. Spreadsheets evaluate "+ people" and "-1+1" as well as
"=1": the only texts that may begin with a sign are plain numbers such as "-1.5". The apostrophe stays in the file.
"""

from __future__ import annotations

import contextlib
import csv
import errno
import io
import os
import re
import secrets
import stat
import tempfile
import unicodedata
from collections.abc import Iterable, Sequence
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import InputError

if TYPE_CHECKING:
    import pandas

MEGABYTE = 1024**2

MOST = 200 * MEGABYTE
"""Bytes of the largest file that is read, unless its reader says otherwise."""

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def content_of(path: str | Path, *, what: str, most: int = MOST, label: str = "") -> bytes:
    """Return the content of a file that a user named.

    `what` is what the file is to the user, such as "--file"; `label` what to call it where the path is not what they
    wrote.

    Raises `InputError` if there is no such file, it is a folder, device, pipe or socket, it cannot be read, or it has
    over `most` bytes.
    """
    try:
        return _read(path, most)
    except (OSError, ValueError) as error:
        message = f"{what} must be a file that can be read, got {_path_text(label or path)}: {why(error)}."
        raise InputError(message, key=what) from None


def check_writable(path: str | Path | None, *, what: str, folder: bool = False) -> None:
    """Refuse a place that cannot be written, before hours of work rather than after.

    Links are followed. `folder` asks for a folder, or for a place where one can be made.

    Raises `InputError` if something else is there, the folder it would lie in is none or cannot be written to, or the
    name is too long.
    """
    if path is None:
        return
    try:
        target = os.path.realpath(path)
        mode = _mode(target)
        if mode is not None:
            is_kind = stat.S_ISDIR if folder else stat.S_ISREG
            _check_kind(mode, is_kind)
            if not os.access(target, os.W_OK):
                raise OSError(errno.EACCES, os.strerror(errno.EACCES))
        with tempfile.TemporaryFile(dir=os.path.dirname(target)):
            pass
    except (OSError, ValueError) as error:
        if folder:
            rule = "a folder inside one that exists"
        else:
            rule = "a file in a folder that exists"
        raise InputError(f"{what} must be {rule}, got {_path_text(path)}: {why(error)}.") from None


def write_file(
    path: str | Path, content: bytes, *, what: str, new: bool = False, mode: int = 0o666
) -> None:
    """Write a file beside its place, then move it there: what is read there is the old content or all of the new.

    Links are followed, unless the file is to be `new`: then what is there already, be it a link that leads nowhere, is
    left alone. A file that is replaced hands on its permissions, another one gets `mode`.

    Raises `InputError` if the file cannot be written, or is there already although it must be new.
    """
    check_writable(path, what=what)
    if new:
        target = os.path.abspath(path)
    else:
        target = os.path.realpath(path)
    half = os.path.join(os.path.dirname(target), f".{secrets.token_hex(8)}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with open(os.open(half, flags, mode), "wb") as file:
            if (old := _mode(target)) is not None:
                os.chmod(half, stat.S_IMODE(old))
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if new:
            os.link(half, target)  # unlike a move it never replaces a file
        else:
            os.replace(half, target)
    except FileExistsError:
        raise InputError(
            f"{what} must be a file that does not exist yet, got {_path_text(path)}."
        ) from None
    except OSError as error:
        raise InputError(
            f"{what} must be a file that can be written, got {_path_text(path)}: {why(error)}."
        ) from None
    finally:
        with contextlib.suppress(OSError):
            os.unlink(half)


def why(error: OSError | ValueError) -> str:
    """Return why a file cannot be read or written, as a clause."""
    if is_full(error):
        return "the disk is full"
    if isinstance(error, OSError):
        reason = error.strerror or "it cannot be used"
        return reason[:1].lower() + reason[1:]
    return "no file can have this name"  # a zero byte, or half a letter


def is_full(error: BaseException) -> bool:
    """Return whether an error says that a disk, or its user's share of one, is full."""
    return isinstance(error, OSError) and error.errno in (
        errno.ENOSPC,
        getattr(errno, "EDQUOT", errno.ENOSPC),
    )


def disk_message(error: BaseException | None) -> str | None:
    """Return what a database's error says of its disk, and what to do; None if it is about something else."""
    name = getattr(error, "sqlite_errorname", "")
    state = getattr(error, "sqlstate", "")
    if name == "SQLITE_FULL" or state == "53100":
        return "the disk is full; nothing was changed, make room and try again"
    if name.startswith(
        "SQLITE_IOERR"
    ):  # also where there is no room for SQLite's files beside the ledger
        return f"the disk is full or fails ({error}); make room and try again"
    return None


def _read(path: str | Path, most: int) -> bytes:
    _check_kind(os.stat(path).st_mode)  # before it is opened: to open a device may do something
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags)
    try:
        status = os.fstat(handle)
        _check_kind(status.st_mode)
        parts: list[bytes] = []
        left = most + 1 if status.st_size <= most else 0
        size = max(status.st_size, MEGABYTE)
        while left and (part := os.read(handle, min(left, size))):
            parts.append(part)
            left = left - len(part)
            size = MEGABYTE
    finally:
        os.close(handle)
    if not left:
        raise OSError(errno.EFBIG, f"it is larger than {most // MEGABYTE} MB")
    return b"".join(parts)


def _check_kind(mode: int, expected: object = stat.S_ISREG) -> None:
    """Refuse everything but a regular file, or but a folder where one is wanted."""
    for is_kind, kind in _KINDS:
        if is_kind is not expected and is_kind(mode):
            raise OSError(errno.EINVAL, f"it is {kind}")
    if expected is stat.S_ISDIR and not stat.S_ISDIR(mode):
        raise OSError(errno.ENOTDIR, "it is a file")


def _mode(path: str) -> int | None:
    """Return what is at a place, as `os.stat` tells it; None for nothing. A circle of links is an error."""
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


def _path_text(path: str | Path) -> str:
    text = repr(str(path))
    if len(text) <= 200:
        return text
    return f"{text[:100]}…{text[-40:]}"


_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_UNSEEN = ("Cc", "Cf", "Zs", "Zl", "Zp", "Mn", "Me")
"""Categories of characters that are blank, or are not seen."""


def csv_bytes(columns: Sequence[Any], rows: Iterable[Iterable[Any]]) -> bytes:
    """Return a table as the bytes of a CSV file; None is an empty cell."""
    written = io.StringIO(newline="")
    writer = csv.writer(written, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n")
    writer.writerow([_cell(str(name)) for name in columns])
    writer.writerows([_cell(value) for value in row] for row in rows)
    return written.getvalue().encode("utf-8-sig", "replace")


def csv_of_frame(frame: pandas.DataFrame) -> bytes:
    """Return a frame without its index as the bytes of a CSV file; missing cells are empty."""
    cells = frame.astype(object).where(frame.notna(), None)
    return csv_bytes(list(frame.columns), cells.itertuples(index=False, name=None))


def _cell(value: Any) -> Any:
    """Return a cell: numbers as they are, texts defused."""
    if value is None or (isinstance(value, Real) and not isinstance(value, bool)):
        return value
    text = str(value).replace("\x00", "\ufffd")
    if _is_formula(text):
        return f"'{text}"
    return text


def _is_formula(text: str) -> bool:
    if _NUMBER.fullmatch(text):
        return False
    for character in text:
        if character in "\t\r\n" or unicodedata.normalize("NFKC", character)[0] in "=+-@":
            return True
        if not (character.isspace() or unicodedata.category(character) in _UNSEEN):
            return False
    return False
