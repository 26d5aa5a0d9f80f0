"""How a child is made: forked from a warm process where the system can do that safely, else a fresh process."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from typing import Any, BinaryIO


def _forks() -> bool:
    """Return whether children can be forked, and their end heard of; elsewhere system libraries do not survive it."""
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):
        return False
    return sys.platform == "linux"


FORKS = _forks()
"""Whether children are forked from a warm process."""

_BOOT = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from core.untrusted import opening; opening.{}()"
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "TZ", "SYSTEMROOT", "TEMP", "TMPDIR")
_POLL = 0.1


def start(modules: tuple[str, ...], *, memory: int, idle: float) -> ForkedProcess | FreshProcess:
    """Return a new child.

    Parameters
    ----------
    modules : tuple of str
        What is imported before it is bounded.
    memory : int
        Bytes it may take above what it begins with.
    idle : float
        Seconds it waits for a question before it ends.
    """
    order = {"modules": list(modules), "memory": memory, "idle": idle}
    return _warm.fork(order) if FORKS else FreshProcess(order)


def warm_up() -> None:
    """Let the warm process begin to import, and return at once."""
    if FORKS:
        _warm.begin()


def _command(function: str, *arguments: str) -> list[str]:
    # The warm process finds modules where this one does, whatever the environment it is not given says.
    places = [os.path.abspath(place) for place in sys.path]
    return [sys.executable, "-c", _BOOT.format(function), json.dumps(places), *arguments]


def _environment() -> dict[str, str]:
    """Return what a child may know of the environment: nothing secret, and libraries on one thread."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "MALLOC_ARENA_MAX"), "1")
    passed = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return {**passed, **threads, "ARROW_DEFAULT_MEMORY_POOL": "system", "PYTHONDONTWRITEBYTECODE": "1"}


class _Warm:
    """The warm process of this one, started when it is first needed, and again if it is gone."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._orders: socket.socket | None = None

    def begin(self) -> None:
        """Start it unless it runs."""
        with self._lock:
            self._running()

    def fork(self, order: dict[str, Any]) -> ForkedProcess:
        """Return a new child of it."""
        ours, theirs = socket.socketpair()
        heard, said = os.pipe()
        try:
            with self._lock:
                message = [json.dumps(order).encode()]
                try:
                    socket.send_fds(self._running(), message, [theirs.fileno(), said])
                except OSError:
                    self.end()
                    socket.send_fds(self._running(), message, [theirs.fileno(), said])
        except BaseException:
            os.close(heard)
            ours.close()
            raise
        finally:
            theirs.close()
            os.close(said)
        return ForkedProcess(ours, heard)

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
                    start_new_session=True,
                )
            self._orders, self._owner = ours, os.getpid()
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
    """A child of the warm process.

    Attributes
    ----------
    questions, answers : binary streams
    """

    def __init__(self, connection: socket.socket, heard: int) -> None:
        self._connection, self._heard = connection, heard
        self.questions: BinaryIO = connection.makefile("wb")
        self.answers: BinaryIO = connection.makefile("rb")
        self._code: int | None = None
        self._closed = False
        self.pid = self._word()

    @property
    def alive(self) -> bool:
        """Return whether it runs."""
        return not self._closed and self._code is None and not select.select([self._heard], [], [], 0)[0]

    def ending(self) -> int:
        """Wait until it has ended and return its exit status, or minus the signal that ended it."""
        if self._code is None:
            self._code = self._word()
        return self._code

    def kill(self) -> None:
        """End it at once."""
        if self.alive and self.pid > 0:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def end(self) -> None:
        """End it and forget it."""
        if not self._closed:
            self.kill()
            self._closed = True
            for stream in (self.questions, self.answers, self._connection):
                with contextlib.suppress(OSError):  # what was still to be sent
                    stream.close()
            os.close(self._heard)

    def _word(self) -> int:
        """Return the next number the warm process says about it; −9 if that one is gone."""
        said = os.read(self._heard, 8)
        return int.from_bytes(said, "little", signed=True) if len(said) == 8 else -signal.SIGKILL


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

    @property
    def alive(self) -> bool:
        """Return whether it runs."""
        return self._process.poll() is None

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
    """Ends a process that takes too long or, where the system sets no limit, too much memory.

    Attributes
    ----------
    reason : str
        "time" or "memory" once it has ended the process, else "".
    """

    def __init__(self, process: ForkedProcess | FreshProcess, seconds: float, memory: int) -> None:
        self.reason = ""
        self._process, self._memory = process, memory
        self._until = time.monotonic() + seconds
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Watch no longer."""
        self._done.set()
        self._thread.join()

    def _look(self) -> None:
        first = None if FORKS else _resident(self._process.pid)
        while not self._done.wait(max(0.0, self._until - time.monotonic()) if first is None else _POLL):
            if time.monotonic() >= self._until:
                self.reason = "time"
            elif first is not None and (_resident(self._process.pid) or 0) > first + self._memory:
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
