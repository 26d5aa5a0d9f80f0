"""Work in a process of its own, so that the one who asked can do other things meanwhile; forked from a warm one.

What is sent either way is a pickle, so nothing that a stranger wrote may be opened there: see `core.base.untrusted`. A
child ends with the one who asked, however that one ends: several times a second it says how far it is, and is not heard
then.
"""

from __future__ import annotations

import io
import os
import pickle
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from enum import Enum, auto
from typing import Any, BinaryIO, NoReturn, TypeVar

from ..base.errors import FairLeakError, ReportProgress
from ..base.untrusted import child as processes
from ..datasets.dataset import AuditDataset

T = TypeVar("T")

_MODULES = (
    "core.studies.registry",
    "core.report",
    "core.studies.membership",
    "core.studies.bias_queries",
    "fairlearn.reductions",
    "cvxpy",
    "pulp",
)
"""Imported by the warm process while nobody waits."""

_BEAT = 0.25
"""Seconds between two words of a child about how far it is."""


class _Message(Enum):
    STEP = auto()
    PART = auto()
    MEMO = auto()
    ERROR = auto()


def warm_up(*modules: str) -> None:
    """Let the warm process begin to import what the work needs, `modules` too, and return at once."""
    processes.warm_up((*_MODULES, *modules))


def run_in_subprocess(
    make: Callable[[ReportProgress], Iterator[T] | T],
    report: ReportProgress,
    *,
    about: AuditDataset | None = None,
    nice: int = 10,
    then: int = 10,
) -> Iterator[T]:
    """Yield what `make` returns, or one by one what it yields, made in a process of its own.

    Parameters
    ----------
    make : callable
        Called with a function for progress. What it holds is copied by pickling, functions and closures too.
    report : callable
        Hears (steps done, steps in all) several times a second; what it raises ends the process, and is raised here.
    about : AuditDataset, optional
        The data of the work: in what is yielded it is this very object, and what the work has kept in its memo, or
        found there, is in this one's too.
    nice, then : int
        How far the process gives way to others, 0 to 19, and how far once its first part is there.

    Where the system cannot fork safely, a fresh process takes a second or two to begin, so work that gives way to
    nobody is done here. Raises what the work raises, and FairLeakError if its process ends without a result.
    """
    if not (processes.FORKS or then):
        yield from run_in_process(make, report)
        return
    process = processes.start(_MODULES, serve=f"{__name__}:serve", nice=nice, then=then)
    try:
        memo = {} if about is None else about.cached_results()
        _pickled(process.questions, (make, about, memo))
        while True:
            message, content = _Reader(process.answers, about).load()
            if message is _Message.STEP:
                report(*content)
            elif message is _Message.PART:
                yield content
            elif message is _Message.ERROR:
                raise content
            else:
                if about is not None:
                    about.keep(content)
                return
    except (EOFError, OSError, pickle.UnpicklingError):
        raise FairLeakError(
            "The process that computed this ended without a result, most likely for want of memory; use fewer records "
            "or columns."
        ) from None
    finally:
        process.end()


def run_in_process(
    make: Callable[[ReportProgress], Iterator[T] | T], report: ReportProgress, **_: Any
) -> Iterator[T]:
    """Yield the same, made here."""
    result = make(report)
    if isinstance(result, Iterator):
        yield from result
    else:
        yield result


def serve(questions: BinaryIO, answers: BinaryIO, order: dict[str, Any]) -> NoReturn:
    """Do one piece of work and say what comes of it: what the child does."""
    _give_way(order["nice"])
    make, about, memo = pickle.load(questions)
    if about is not None:
        about.keep(memo)
    step = [0, 0]
    saying = threading.Lock()

    def say(message: _Message, content: Any) -> None:
        try:
            with saying:
                _pickled(answers, (message, content), about)
        except OSError:  # nobody listens any more
            os._exit(1)

    def report(done: int, total: int) -> None:
        step[:] = done, total

    def beat() -> NoReturn:
        while True:
            time.sleep(_BEAT)
            say(_Message.STEP, tuple(step))

    threading.Thread(target=beat, daemon=True).start()
    try:
        for part in run_in_process(make, report):
            say(_Message.PART, part)
            _give_way(order["then"])
        say(_Message.STEP, tuple(step))
        now = {} if about is None else about.cached_results()
        say(_Message.MEMO, {key: entry for key, entry in now.items() if entry is not memo.get(key)})
    except Exception as error:
        error.add_note(traceback.format_exc())
        say(_Message.ERROR, error)
    os._exit(0)


def _give_way(nice: int) -> None:
    if hasattr(os, "nice"):
        os.nice(max(0, nice - os.nice(0)))


_ABOUT = "about"


def _pickled(stream: BinaryIO, message: Any, about: AuditDataset | None = None) -> None:
    """Write a pickle to a stream; the data of the work, which the other side has, are named only."""
    import cloudpickle

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        def persistent_id(self, candidate: Any) -> str | None:
            if candidate is about and about is not None:
                return _ABOUT
            return None

    content = io.BytesIO()  # whole, or nothing
    Pickler(content, protocol=5).dump(message)
    stream.write(content.getbuffer())
    stream.flush()


class _Reader(pickle.Unpickler):
    """Reads a pickle of a child, in which the data of the work are named only."""

    def __init__(self, stream: BinaryIO, about: AuditDataset | None) -> None:
        super().__init__(stream)
        self._about = about

    def persistent_load(self, name: str) -> AuditDataset | None:
        """Return what a name stands for."""
        return self._about
