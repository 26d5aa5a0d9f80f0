"""The other side: the warm process, and the child that opens one file within its limits.

What comes back from a child is JSON and Arrow, with lengths that are checked before anything is read. Questions go the
other way as pickles; they are our own, and the child may trust them.
"""

from __future__ import annotations

import contextlib
import encodings
import gc
import importlib
import json
import os
import pickle
import pkgutil
import select
import signal
import socket
import struct
import sys
from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

from ..errors import FairLeakError
from .confinement import PROTECTIONS, UNCONFINED, confine, enter_empty_folder

if TYPE_CHECKING:
    import pyarrow

_FILES = 64
_GIVEN_UP = 3
_SENDING = 60.0  # for a question of 200 MB on a busy machine


def warm() -> None:
    """Fork a child for each order, and import what is asked for meanwhile, until the server is gone."""
    _import_codecs()
    orders = socket.socket(fileno=int(sys.argv[2]))
    ready = select.poll()
    ready.register(orders, select.POLLIN)
    gc.disable()  # looking through everything would copy the pages it shares with its children
    to_import: list[str] = []
    imported: set[str] = set()
    children: dict[int, tuple[int, int]] = {}
    while True:
        patience = 0 if to_import else None
        events = ready.poll(patience)
        if not events:
            name = to_import.pop(0)
            if name not in imported:
                _import(name)
                imported.add(name)
            continue
        for event, _ in events:
            if event != orders.fileno():
                pid, status = children.pop(event)
                ready.unregister(event)
                os.close(event)
                _say(status, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
                os.close(status)
                continue
            message, handles, *_ = socket.recv_fds(orders, 65536, 2)
            if not message:
                for pid, _ in children.values():
                    os.kill(pid, signal.SIGKILL)
                os._exit(0)
            order = json.loads(message)
            if not handles:
                to_import += order["modules"]
                continue
            connection, status = handles
            for name in order["modules"]:
                if name not in imported:
                    _import(name)
                    imported.add(name)
            gc.freeze()
            pid = os.fork()
            if pid == 0:
                gc.enable()
                _only(connection)
                line = socket.socket(fileno=connection)
                _called(order["serve"])(line.makefile("rb"), line.makefile("wb"), order)
            os.close(connection)
            _say(status, pid)
            handle = os.pidfd_open(pid)
            children[handle] = (pid, status)
            ready.register(handle, select.POLLIN)


def alone() -> None:
    """Open one file in a process that was started for it."""
    order = json.loads(sys.argv[2])
    _import_codecs()
    for name in order["modules"]:
        _import(name)
    answers = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    _called(order["serve"])(sys.stdin.buffer, answers, order)


def _import(name: str) -> None:
    """Import a module, and call its function if one is named, "module:function"; each does its work once."""
    with contextlib.suppress(Exception):  # who needs it will say so
        if ":" in name:
            _called(name)()
        else:
            importlib.import_module(name)


def _import_codecs() -> None:
    """Import every codec of Python's: a text's encoding is known too late, when no file may be opened."""
    for module in pkgutil.iter_modules(encodings.__path__, "encodings."):
        _import(module.name)


def _say(status: int, number: int) -> None:
    with contextlib.suppress(OSError):  # nobody listens any more
        os.write(status, number.to_bytes(8, "little", signed=True))


def _only(connection: int) -> None:
    """Close every file but the connection, and those that lead nowhere."""
    os.closerange(3, connection)
    os.closerange(connection + 1, 65536)


def _called(function: str) -> Callable[..., Any]:
    """Return a function by "module:name"."""
    module, _, name = function.partition(":")
    return getattr(importlib.import_module(module), name)  # type: ignore[no-any-return]


def serve(questions: BinaryIO, answers: BinaryIO, order: dict[str, Any]) -> NoReturn:
    """Answer one question; never returns."""
    try:
        enter_empty_folder()
        _bound(order["memory"])
        _alarm(_SENDING)
        try:
            function, arguments, seconds, must_be_confined = pickle.load(questions)
        except MemoryError:
            write_frame(answers, Kind.MEMORY, {})
        else:
            called = _called(function)
            _alarm(seconds)
            protections = confine()
            if must_be_confined and protections != PROTECTIONS:
                write_frame(answers, Kind.REFUSED, {"sentence": UNCONFINED})
            else:
                _answer(answers, called, arguments)
    except BaseException:
        os._exit(_GIVEN_UP)
    os._exit(0)


def _answer(answers: BinaryIO, function: Callable[..., Any], arguments: dict[str, Any]) -> None:
    """Call a function and send what it says."""

    def report(*progress: Any) -> None:
        write_frame(answers, Kind.PROGRESS, {"told": progress})

    try:
        reply, table = function(report, **arguments)
    except FairLeakError as error:
        write_frame(answers, Kind.REFUSED, {"sentence": str(error)})
    except MemoryError:
        write_frame(answers, Kind.MEMORY, {})
    except Exception as error:
        write_frame(answers, Kind.BROKEN, {"error": type(error).__name__})
    else:
        write_frame(answers, Kind.ANSWER, reply, table)


def _alarm(seconds: float) -> None:
    """Let the system end this process after a time, whatever it is doing then."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _bound(memory: int) -> None:
    """Set the limits that the system knows: address space, files, length of a file, no core dump."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (_FILES, _FILES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    if sys.platform == "linux":
        with open("/proc/self/statm") as sizes:
            most = int(sizes.read().split()[0]) * resource.getpagesize() + memory
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


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


Frame = tuple[Kind, dict[str, Any], "pyarrow.Table | None"]
"""One message of a child: what JSON can say, and validated columns."""


def write_frame(
    stream: BinaryIO, kind: Kind, message: dict[str, Any], table: pyarrow.Table | None = None
) -> None:
    """Send a message."""
    text = json.dumps(message).encode()
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
    message = json.loads(_exactly(stream, length))
    if not isinstance(message, dict):
        raise ValueError("a message is no record")
    table = None
    if size:
        import pyarrow as pa

        table = pa.ipc.open_stream(pa.py_buffer(_exactly(stream, size))).read_all()
        table.validate(full=True)
    return Kind(kind), message, table


def _exactly(stream: BinaryIO, length: int) -> bytes:
    content = stream.read(length)
    if len(content) < length:
        raise EOFError
    return content
