"""One process a file: asked by name of a function, bounded in memory, time and length of its answer.

A warm process that has imported the readers and opens nothing itself forks a child for each file; where the system
cannot fork safely, a fresh process takes a file. A child has no file, socket, secret or setting of the server's, cannot
write to disk, and its crash ends nothing but itself. At most `MOST_AT_ONCE` are there at a time; others wait.
"""

from __future__ import annotations

import pickle
import signal
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.errors import InputError
from core.untrusted.frames import Kind, Oversize, read_frame
from core.untrusted.processes import ForkedProcess, FreshProcess, Watch, start

if TYPE_CHECKING:
    import pyarrow


MOST_AT_ONCE = 2
"""Most children at a time, all sessions together."""

_GRACE = 2.0  # the system's own timer comes first


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one file may take.

    Attributes
    ----------
    memory : int
        Bytes above what the warm process has.
    answer : int
        Bytes of one answer.
    idle : float
        Seconds a child waits for the next question.
    """

    memory: int = 1536 * 1024**2
    answer: int = 1024**3
    idle: float = 10.0


class Child:
    """The process of one file; it keeps what it opened until it is closed or has waited too long.

    Parameters
    ----------
    what : str
        What the file is called at the beginning of a sentence, such as 'The file "a.csv"'.
    modules : tuple of str
        What must be imported before it is opened.
    limits : Limits
    """

    def __init__(self, what: str, modules: tuple[str, ...] = (), limits: Limits | None = None) -> None:
        self._what, self._modules, self._limits = what, modules, limits or Limits()
        self._process: ForkedProcess | FreshProcess | None = None
        self._asking = threading.Lock()

    @property
    def alive(self) -> bool:
        """Return whether the process is there, with what it opened."""
        return self._process is not None and self._process.alive

    def ask(
        self,
        function: str,
        arguments: Mapping[str, Any],
        *,
        seconds: float,
        report: Callable[..., None] | None = None,
    ) -> tuple[dict[str, Any], pyarrow.Table | None]:
        """Call a function in the child and return its answer.

        Parameters
        ----------
        function : str
            As "module:name"; called with a dict the child keeps, a function for progress, and the arguments.
        arguments : mapping
            Whatever can be pickled.
        seconds : float
            Longest time it may take.
        report : callable, optional
            Called with what the function reports.

        Returns
        -------
        tuple of dict and pyarrow.Table or None

        Raises
        ------
        InputError
            What the function refuses, or one sentence that says how the child ended.
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

    def taken_by(self, child: Child) -> _Place:
        """Return a context in which the child has a place."""
        return _Place(self, child)

    def take(self, child: Child) -> None:
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

    def leave(self, child: Child) -> None:
        with self._changed:
            self._running -= 1
            if child.alive:
                self._idle.append(child)
            self._changed.notify()


class _Place:
    def __init__(self, places: _Places, child: Child) -> None:
        self._places, self._child = places, child

    def __enter__(self) -> None:
        self._places.take(self._child)

    def __exit__(self, *_: object) -> None:
        self._places.leave(self._child)


_places = _Places()
