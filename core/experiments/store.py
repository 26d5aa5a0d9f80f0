"""Where finished points are kept, so that an experiment ended at any moment goes on where it was.

On disk each point is one file, named by its key and written whole: into a file of another name, flushed, then renamed,
which no kill can interrupt halfway. Several experiments may share a folder. The first line of a file holds a checksum
of the second; a file that does not fit is ignored with a note and its point measured again. Points of other versions
of FairLeak or its libraries lie in other subfolders and are ignored, with a note. Points of a user's own table belong
into a `MemoryStore`; `core.experiments.engine.measured_points` refuses to write them to disk.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import time
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any, TypeVar

from ..base.errors import FORMAT, InputError, check_format
from ..base.files import why, write_file
from ..base.serialize import RecordError, Result, dumps, loads
from ..datasets.columns import quoted
from .environment import environment_name

P = TypeVar("P", bound=Result)

_STALE = 3600.0  # seconds after which a half-written file is nobody's any more


class MemoryStore:
    """Points in a mapping of the caller's, or in one of its own.

    As of every store: whether points leave this process's memory (`on_disk`), and a sentence for all it ignored.
    """

    on_disk = False

    def __init__(self, points: MutableMapping[str, Any] | None = None) -> None:
        self.points: MutableMapping[str, Any] = {} if points is None else points
        self.notes: list[str] = []

    def load(self, key: str, kind: type[P]) -> P | None:
        """Return the point of this kind filed under a key, or None."""
        point: P | None = self.points.get(key)
        return point

    def save(self, key: str, point: Result) -> None:
        """File a point."""
        self.points[key] = point


class FolderStore:
    """Points as files in a folder.

    The folder is made if it is not there. Raises `InputError` if the folder cannot be written to.
    """

    on_disk = True

    def __init__(self, folder: Path) -> None:
        self.folder = Path(folder)
        self.notes: list[str] = []
        self._version_folder = self.folder / environment_name()
        try:
            self._version_folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self._version_folder):
                pass
        except (OSError, ValueError) as error:
            raise InputError(
                f"The store must be a folder that can be written to, got {quoted(folder, 200)}: {why(error)}."
            ) from None
        self._sweep_up()
        self._note_other_versions()

    def load(self, key: str, kind: type[P]) -> P | None:
        """Return the point filed under a key, or None; a damaged record counts as none and is noted."""
        try:
            header, _, body = self._path(key).read_text(encoding="utf-8").partition("\n")
            return _checked(key, header, body, kind)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:  # RecordError, JSON and UTF-8 errors are ValueErrors
            reason = str(error).rstrip(".")
            self.notes.append(f"The record {self._path(key).name} is ignored and measured again: {reason}.")
            return None

    def save(self, key: str, point: Result) -> None:
        """File a point; when this returns, neither a kill of the process nor of the machine loses it.

        Raises `InputError` if it cannot be written.
        """
        body = dumps(point)
        header = {"format": FORMAT, "key": key, "sha256": hashlib.sha256(body.encode()).hexdigest()}
        content = f"{json.dumps(header)}\n{body}".encode()
        write_file(self._path(key), content, what="A finished point", mode=0o600)
        _flush_names(self._version_folder)

    def __len__(self) -> int:
        """Return the number of records of this version."""
        return sum(1 for _ in self._version_folder.glob("*.jsonl"))

    def _path(self, key: str) -> Path:
        return self._version_folder / f"{key}.jsonl"

    def _sweep_up(self) -> None:
        for half in self._version_folder.glob("*.part"):
            with contextlib.suppress(OSError):
                if time.time() - half.stat().st_mtime > _STALE:
                    half.unlink()

    def _note_other_versions(self) -> None:
        for folder in sorted(self.folder.glob("fairleak-*")):
            count = sum(1 for _ in folder.glob("*.jsonl")) if folder != self._version_folder else 0
            if count:
                self.notes.append(f"Records of another version are ignored: {count:,} in {folder.name}.")


PointStore = MemoryStore | FolderStore
"""What an experiment asks for points, and gives them to."""


def _checked(key: str, header: str, body: str, kind: type[P]) -> P:
    fields = json.loads(header)
    if not isinstance(fields, dict):
        raise RecordError("it has no header")
    check_format(fields.get("format"), thing="it")
    if fields.get("key") != key or fields.get("sha256") != hashlib.sha256(body.encode()).hexdigest():
        raise RecordError("it is damaged")
    return loads(body, kind)


def _flush_names(folder: Path) -> None:
    """Make a rename survive a power cut, where a folder can be flushed (not on Windows)."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
