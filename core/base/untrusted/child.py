"""One process a file: bounded in memory, time and length of its answer.

A warm process that has imported the readers and opens nothing itself forks a child for each file; where the system
cannot fork safely, a fresh process takes a file. A child has no file, socket, secret or setting of the server's, cannot
write to disk, answers one question, and its crash ends nothing but itself. At most `MOST_AT_ONCE` are there at a time;
others wait.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import math
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO

from ..errors import InputError
from .opening import Kind, Oversize, read_frame

if TYPE_CHECKING:
    import pyarrow


def _forks() -> bool:
    """Return whether children can be forked, and their end heard of; elsewhere system libraries do not survive it."""
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):
        return False
    return sys.platform == "linux"


FORKS = _forks()
"""Whether children are forked from a warm process."""

_BOOT = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from core.base.untrusted import opening; opening.{}()"
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "TZ", "SYSTEMROOT", "TEMP", "TMPDIR")
_ARITHMETIC = ("OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES")
"""Where these are set, a child's last digits are those of its parent."""

_POLL = 0.1


def start(modules: tuple[str, ...], serve: str, **more: Any) -> ForkedProcess | FreshProcess:
    """Return a new child, which calls `serve`, "module:name", with its streams and the order; that never returns.

    `modules` are imported before; `more` is in the order, too.
    """
    order = {"modules": list(modules), "serve": serve, **more}
    if FORKS:
        return _warm.fork(order)
    return FreshProcess(order)


_READERS = (
    "core.datasets.read_table:rehearse",
    "core.models.skops_model:rehearse",
    "core.models.onnx_model:rehearse",
    "core.models.model_files",
    "sklearn.ensemble",
)
"""What files of all kinds need; a server imports and calls it while nobody waits, a command what its file needs."""


def warm_up(modules: tuple[str, ...] = ()) -> None:
    """Let the warm process begin to import the readers and `modules`, and return at once."""
    if FORKS:
        _warm.prepare({"modules": [*_READERS, *modules]})


def _command(function: str, *arguments: str) -> list[str]:
    # The warm process finds modules where this one does, whatever the environment it is not given says.
    places = [os.path.abspath(folder) for folder in sys.path]
    return [sys.executable, "-c", _BOOT.format(function), json.dumps(places), *arguments]


def _environment() -> dict[str, str]:
    """Return what a child may know of the environment: nothing secret, and libraries on one thread."""
    threads = dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "MALLOC_ARENA_MAX"), "1"
    )
    passed = {name: os.environ[name] for name in (*_PASSED_ON, *_ARITHMETIC) if name in os.environ}
    return {
        **passed,
        **threads,
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


class _Warm:
    """The warm process of this one, started when it is first needed, and again if it is gone."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._orders: socket.socket | None = None

    def prepare(self, order: dict[str, Any]) -> None:
        """Start it unless it runs, and let it import the order's modules when it has nothing else to do."""
        self._send(order, [])

    def fork(self, order: dict[str, Any]) -> ForkedProcess:
        """Return a new child of it."""
        ours, theirs = socket.socketpair()
        reader, writer = os.pipe()
        try:
            self._send(order, [theirs.fileno(), writer])
        except BaseException:
            os.close(reader)
            ours.close()
            raise
        finally:
            theirs.close()
            os.close(writer)
        return ForkedProcess(ours, reader)

    def _send(self, order: dict[str, Any], handles: list[int]) -> None:
        message = [json.dumps(order).encode()]
        with self._lock:
            try:
                socket.send_fds(self._running(), message, handles)
            except OSError:
                self.end()
                socket.send_fds(self._running(), message, handles)

    def _running(self) -> socket.socket:
        if self._owner != os.getpid():  # this process was itself forked from the one that has it
            self._process = self._orders = None
        if self._process is None or self._orders is None or self._process.poll() is not None:
            self.end()
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                self._process = subprocess.Popen(
                    _command("warm", str(theirs.fileno())),
                    pass_fds=[theirs.fileno()],
                    env=_environment(),
                    cwd="/",
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    # Apart from the terminal's Ctrl-C; in a session of its own it would not give way to this process.
                    process_group=0,
                )
            self._orders = ours
            self._owner = os.getpid()
        return self._orders

    def end(self) -> None:
        """End it, and its children with it."""
        if self._owner != os.getpid():
            return
        if self._orders is not None:
            self._orders.close()
        if self._process is not None:
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._orders = self._process = None


_warm = _Warm()
atexit.register(_warm.end)


class ForkedProcess:
    """A child of the warm process, with streams for questions and answers."""

    def __init__(self, connection: socket.socket, heard: int) -> None:
        self._connection = connection
        self._heard = heard
        self.questions: BinaryIO = connection.makefile("wb")
        self.answers: BinaryIO = connection.makefile("rb")
        self._code: int | None = None
        self.pid = self._word()

    def ending(self) -> int:
        """Wait until it has ended and return its exit status, or minus the signal that ended it."""
        if self._code is None:
            self._code = self._word()
        return self._code

    def kill(self) -> None:
        """End it at once; one that has ended is left alone, as its number may be another's by now."""
        poller = select.poll()  # select() knows no file numbered 1024 or more
        poller.register(self._heard, select.POLLIN)
        ended = self._code is not None or poller.poll(0)
        if not ended and self.pid > 0:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def end(self) -> None:
        """End it and forget it."""
        self.kill()
        for stream in (self.questions, self.answers, self._connection):
            with contextlib.suppress(OSError):  # what was still to be sent
                stream.close()
        os.close(self._heard)

    def _word(self) -> int:
        """Return the next number the warm process says about it; −9 if that one is gone."""
        message = os.read(self._heard, 8)
        if len(message) == 8:
            return int.from_bytes(message, "little", signed=True)
        return -signal.SIGKILL


class FreshProcess:
    """A process of its own, where the system cannot fork; see `ForkedProcess`."""

    def __init__(self, order: dict[str, Any]) -> None:
        self._process = subprocess.Popen(
            _command("alone", json.dumps(order)),
            env=_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self.questions: BinaryIO = self._process.stdin  # type: ignore[assignment]
        self.answers: BinaryIO = self._process.stdout  # type: ignore[assignment]
        self.pid = self._process.pid

    def ending(self) -> int:
        """Wait until it has ended and return its exit status, or minus the signal that ended it."""
        return self._process.wait()

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def end(self) -> None:
        """End it and forget it."""
        self._process.kill()
        for stream in (self.questions, self.answers):
            with contextlib.suppress(OSError):
                stream.close()
        self._process.wait()


class Watch:
    """Ends a process that takes too long, says nothing for too long or, where the system sets no limit, grows too much.

    `reason` is "time" or "memory" once it has ended the process, else "".

    Parameters
    ----------
    seconds, silence : float
        Longest time in all, and longest time without a word of progress.
    """

    def __init__(
        self, process: ForkedProcess | FreshProcess, *, seconds: float, silence: float
    ) -> None:
        self.reason = ""
        self._process = process
        self._silence = silence
        self._end = time.monotonic() + seconds
        self._until = min(self._end, time.monotonic() + silence)
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def heard(self) -> None:
        """Take note of a word of progress."""
        self._until = min(self._end, time.monotonic() + self._silence)

    def stop(self) -> None:
        """Watch no longer."""
        self._done.set()
        self._thread.join()

    def _look(self) -> None:
        first = None if FORKS else _resident(self._process.pid)
        while not self._done.wait(_POLL):
            if time.monotonic() >= self._until:
                self.reason = "time"
            elif first is not None and (_resident(self._process.pid) or 0) > first + MEMORY:
                self.reason = "memory"
            if self.reason:
                self._process.kill()
                return


def _resident(pid: int) -> int | None:
    """Return the bytes of memory a process has now; None if it is gone."""
    import psutil

    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return None


MOST_AT_ONCE = 2
"""Most children at a time, all sessions together."""

_places = threading.BoundedSemaphore(MOST_AT_ONCE)

MEMORY = 1536 * 1024**2
"""Bytes of memory that one file may take above what the warm process has."""

ANSWER = 1024**3
"""Most bytes of one answer."""

_GRACE = 2.0  # the system's own timer comes first


def ask_child(
    what: str,
    function: str,
    arguments: Mapping[str, Any],
    *,
    seconds: float,
    silence: float = math.inf,
    modules: tuple[str, ...] = (),
    report: Callable[..., None] | None = None,
    must_be_confined: bool = False,
) -> tuple[dict[str, Any], pyarrow.Table | None]:
    """Call a function, "module:name", in a child of its own, and return its answer.

    `what` is what the file is called at the beginning of a sentence; `modules` are imported, and called where they
    name a function, before the child is bounded. It ends after `seconds`, or `silence` seconds after its last word of
    progress. The function is called with a function for progress (heard by `report`), and the
    arguments, which are whatever can be pickled. With `must_be_confined` nothing is opened where the kernel does not
    keep the child from everything else. Raises `InputError`: what the function refuses, or how the child ended.
    """
    too_much = (
        f"{what} needs more than {MEMORY // 1024**2:,} MB of memory, the most one file "
        "may take; use a smaller one."
    )
    with _places:
        process = start(modules, "core.base.untrusted.opening:serve", memory=MEMORY)
        started = time.monotonic()
        most_silence = min(seconds, silence)
        watch = Watch(process, seconds=seconds + _GRACE, silence=most_silence + _GRACE)
        try:
            with contextlib.suppress(
                OSError
            ):  # it ended before it had read the question; how is found below
                pickle.dump(
                    (function, dict(arguments), seconds, must_be_confined),
                    process.questions,
                    protocol=5,
                )
                process.questions.flush()
            kind, reply, table = read_frame(process.answers, most=ANSWER)
            while kind is Kind.PROGRESS:
                watch.heard()
                if report is not None:
                    report(*reply["told"])
                kind, reply, table = read_frame(process.answers, most=ANSWER)
        except (EOFError, OSError):
            code = process.ending()
            took = min(seconds, max(time.monotonic() - started, 1))
            if watch.reason == "memory":
                raise InputError(too_much) from None
            raise InputError(_ending(what, code, watch, took)) from None
        except Oversize:
            raise InputError(
                f"{what} unpacks to more than {ANSWER // 1024**2:,} MB, the most that is taken; use a smaller one."
            ) from None
        except (ValueError, KeyError):
            raise InputError(f"{what} broke its reader; ask for it again.") from None
        finally:
            watch.stop()
            process.end()
    if kind is Kind.ANSWER:
        return reply, table
    if kind is Kind.REFUSED:
        raise InputError(str(reply.get("sentence")))
    if kind is Kind.MEMORY:
        raise InputError(too_much)
    raise InputError(f"{what} broke its reader ({reply.get('error')}); ask for it again.")


def _ending(what: str, code: int, watch: Watch, took: float) -> str:
    """Return how a child ended, as a sentence."""
    if code < 0 and -code in set(signal.Signals):
        name = signal.Signals(-code).name
    else:
        name = ""
    if watch.reason == "time" or name in ("SIGALRM", "SIGXCPU"):
        return f"{what} was stopped after {took:.0f} seconds, the longest it may take; use a smaller one."
    if name == "SIGKILL":
        return (
            f"{what} was stopped by the system, most likely for want of memory; use a smaller one."
        )
    how = f"signal {name}" if name else f"exit status {code}"
    return f"{what} made the process that opened it crash ({how}), and only that; ask for it in another form."
