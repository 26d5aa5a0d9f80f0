"""One process a file: bounded in memory, time and length of its answer.

A warm process that has imported the readers and opens nothing itself forks a child for each file; where the system
cannot fork safely, a fresh process takes a file. A child has no file, socket, secret or setting of the server's, cannot
write to disk, and its crash ends nothing but itself. At most `MOST_AT_ONCE` are there at a time; others wait.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from core.errors import InputError
from core.untrusted.frames import Kind, Oversize, read_frame

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

READER = "core.untrusted.opening:serve"
"""Opens one file, within its limits."""

_BOOT = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from core.untrusted import opening; opening.{}()"
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "TZ", "SYSTEMROOT", "TEMP", "TMPDIR")
_ARITHMETIC = ("OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES")
"""Where these are set, a child's last digits are those of its parent."""

_POLL = 0.1


def start(modules: tuple[str, ...], serve: str = READER, **more: Any) -> ForkedProcess | FreshProcess:
    """Return a new child, which calls `serve`, "module:name", with its streams and the order; that never returns.

    `modules` are imported before. To `READER` belong `memory`, its bound, and `idle`, how long it waits for a question.
    """
    order = {"modules": list(modules), "serve": serve, **more}
    return _warm.fork(order) if FORKS else FreshProcess(order)


def warm_up(modules: tuple[str, ...] = ()) -> None:
    """Let the warm process begin to import, and return at once."""
    if FORKS:
        _warm.prepare({"modules": list(modules)})


def _command(function: str, *arguments: str) -> list[str]:
    # The warm process finds modules where this one does, whatever the environment it is not given says.
    places = [os.path.abspath(place) for place in sys.path]
    return [sys.executable, "-c", _BOOT.format(function), json.dumps(places), *arguments]


def _environment() -> dict[str, str]:
    """Return what a child may know of the environment: nothing secret, and libraries on one thread."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "MALLOC_ARENA_MAX"), "1")
    passed = {name: os.environ[name] for name in (*_PASSED_ON, *_ARITHMETIC) if name in os.environ}
    return {**passed, **threads, "ARROW_DEFAULT_MEMORY_POOL": "system", "PYTHONDONTWRITEBYTECODE": "1"}


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
        heard, said = os.pipe()
        try:
            self._send(order, [theirs.fileno(), said])
        except BaseException:
            os.close(heard)
            ours.close()
            raise
        finally:
            theirs.close()
            os.close(said)
        return ForkedProcess(ours, heard)

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
    """A child of the warm process, with streams for questions and answers."""

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

    `reason` is "time" or "memory" once it has ended the process, else "".
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


MOST_AT_ONCE = 2
"""Most children at a time, all sessions together."""

_GRACE = 2.0  # the system's own timer comes first


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one file may take."""

    memory: int = 1536 * 1024**2  # bytes above what the warm process has
    answer: int = 1024**3  # bytes of one answer
    idle: float = 10.0  # seconds a child waits for the next question


class Child:
    """The process of one file; it keeps what it opened until it is closed or has waited too long.

    `what` is what the file is called at the beginning of a sentence; `modules` must be imported before it is opened.
    """

    def __init__(self, what: str, modules: tuple[str, ...] = (), limits: Limits | None = None) -> None:
        self._what, self._modules, self._limits = what, modules, limits or Limits()
        self._process: ForkedProcess | FreshProcess | None = None
        self._asking = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return Child, (self._what, self._modules, self._limits)  # elsewhere it has a process of its own

    @property
    def alive(self) -> bool:
        """Return whether the process is there, with what it opened."""
        return self._process is not None and self._process.alive

    def ask(
        self, function: str, arguments: Mapping[str, Any], *, seconds: float, report: Callable[..., None] | None = None
    ) -> tuple[dict[str, Any], pyarrow.Table | None]:
        """Call a function in the child, "module:name", and return its answer.

        It is called with a dict the child keeps, a function for progress (heard by `report`), and the arguments, which
        are whatever can be pickled. Raises `InputError`: what the function refuses, or how the child ended.
        """
        with self._asking, _places.taken_by(self):
            if not self.alive:
                self._process = start(self._modules, memory=self._limits.memory, idle=self._limits.idle)
            process = self._process
            assert process is not None
            started = time.monotonic()
            watch = Watch(process, seconds + _GRACE, self._limits.memory)
            try:
                try:
                    pickle.dump((function, dict(arguments), seconds), process.questions, protocol=5)
                    process.questions.flush()
                except OSError:
                    pass  # it ended before it had read the question; how is found below
                while True:
                    frame = read_frame(process.answers, most=self._limits.answer)
                    if frame.kind is Kind.PROGRESS:
                        if report is not None:
                            report(*frame.told["told"])
                        continue
                    break
            except (EOFError, OSError):
                raise InputError(self._ending(process.ending(), seconds, time.monotonic() - started, watch)) from None
            except Oversize:
                self.close()
                raise InputError(
                    f"{self._what} unpacks to more than {self._limits.answer // 1024**2:,} MB, the most that is taken; "
                    "use a smaller one."
                ) from None
            except (ValueError, KeyError):
                self.close()
                raise InputError(f"{self._what} broke its reader; ask for it again.") from None
            except BaseException:  # stopped while it was asked
                self.close()
                raise
            finally:
                watch.stop()
            if frame.kind is Kind.ANSWER:
                return frame.told, frame.table
            self.close()
            if frame.kind is Kind.REFUSED:
                raise InputError(str(frame.told.get("sentence")))
            if frame.kind is Kind.MEMORY:
                raise InputError(self._memory())
            raise InputError(f"{self._what} broke its reader ({frame.told.get('error')}); ask for it again.")

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.end()
            self._process = None

    def __del__(self) -> None:
        if getattr(self, "_process", None) is not None:
            self.close()

    def _memory(self) -> str:
        return (
            f"{self._what} needs more than {self._limits.memory // 1024**2:,} MB of memory, the most one file may "
            "take; use a smaller one."
        )

    def _ending(self, code: int, seconds: float, took: float, watch: Watch) -> str:
        """Return how a child ended, as a sentence."""
        self.close()
        if watch.reason == "memory":
            return self._memory()
        name = signal.Signals(-code).name if code < 0 and -code in set(signal.Signals) else ""
        if watch.reason == "time" or name in ("SIGALRM", "SIGXCPU"):
            return (
                f"{self._what} was stopped after {min(seconds, max(took, 1)):.0f} seconds, the longest it may take; "
                "use a smaller one."
            )
        if name == "SIGKILL":
            return f"{self._what} was stopped by the system, most likely for want of memory; use a smaller one."
        how = f"signal {name}" if name else f"exit status {code}"
        return f"{self._what} made the process that opened it crash ({how}), and only that; ask for it in another form."


class _Places:
    """Places for children; one that only waits gives up its own when somebody else needs it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._running = 0
        self._idle: list[Child] = []

    @contextmanager
    def taken_by(self, child: Child) -> Iterator[None]:
        """Wait until the child has a place, and give it back at the end."""
        with self._changed:
            self._idle = [one for one in self._idle if one.alive or one is child]
            if child in self._idle:
                self._idle.remove(child)
            else:
                while self._running + len(self._idle) >= MOST_AT_ONCE and not self._idle:
                    self._changed.wait()
                if self._running + len(self._idle) >= MOST_AT_ONCE:
                    self._idle.pop(0).close()
            self._running += 1
        try:
            yield
        finally:
            with self._changed:
                self._running -= 1
                if child.alive:
                    self._idle.append(child)
                self._changed.notify()


_places = _Places()
