"""The other side: the warm process, and the child that opens one file within its limits."""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import pickle
import select
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any, BinaryIO, NoReturn

from core.errors import FairLeakError
from core.untrusted.frames import Kind, write_frame

_READERS = ("core.datasets.read_table", "core.models.opening_models", "sklearn.ensemble", "skops.io", "onnxruntime")
_FILES = 64
_GIVEN_UP = 3
_SENDING = 60.0  # for a question of 200 MB on a busy machine


def warm() -> None:
    """Import the readers, and fork a child for each order, until the server is gone."""
    orders = socket.socket(fileno=int(sys.argv[2]))
    ready = select.poll()
    ready.register(orders, select.POLLIN)
    gc.disable()  # looking through everything would copy the pages it shares with its children
    to_import = list(_READERS)
    children: dict[int, tuple[int, int]] = {}
    while True:
        events = ready.poll(0 if to_import else None)
        if not events:
            _import(to_import.pop(0))
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
                _import(name)
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
    for name in order["modules"]:
        _import(name)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    _called(order["serve"])(sys.stdin.buffer, answers, order)


def _import(name: str) -> None:
    with contextlib.suppress(ImportError):  # who needs it will say so
        importlib.import_module(name)


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
    """Answer questions until there is none for a while; never returns."""
    try:
        _bound(order["memory"])
        kept: dict[str, Any] = {}
        while True:
            _alarm(order["idle"])
            questions.peek(1)  # type: ignore[attr-defined]
            _alarm(_SENDING)
            try:
                function, arguments, seconds = pickle.load(questions)
            except MemoryError:
                write_frame(answers, Kind.MEMORY, {})
                break
            _alarm(seconds)
            if not _answer(answers, kept, function, arguments):
                break
    except EOFError:
        os._exit(0)
    except BaseException:
        os._exit(_GIVEN_UP)
    os._exit(0)


def _answer(answers: BinaryIO, kept: dict[str, Any], function: str, arguments: dict[str, Any]) -> bool:
    """Call a function and send what it says; return whether it went well."""

    def report(*told: Any) -> None:
        write_frame(answers, Kind.PROGRESS, {"told": told})

    try:
        told, table = _called(function)(kept, report, **arguments)
    except FairLeakError as error:
        write_frame(answers, Kind.REFUSED, {"sentence": str(error)})
    except MemoryError:
        write_frame(answers, Kind.MEMORY, {})
    except Exception as error:
        write_frame(answers, Kind.BROKEN, {"error": type(error).__name__})
    else:
        write_frame(answers, Kind.ANSWER, told, table)
        return True
    return False


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
