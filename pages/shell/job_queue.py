"""The queue of this server's jobs: how many run at a time, and which of those that wait is next.

There is one queue for all sessions. In the order in which the rules count:

1. **More urgent jobs go first**: a read table before a study, a study before a sweep. The less urgent a job, the fewer
   places there are for it, so that no number of sweeps keeps a page from its table.
2. But jobs of an urgency that has been passed over for `PATIENCE` seconds go first once.
3. **Among jobs as urgent, sessions take turns**: a place goes to the session that holds the fewest; of these to the one
   whose last turn is longest ago. A session that comes again is put just before the one that had the latest turn, so
   its first job goes before the second one of everybody else.
4. Of one session's jobs, the one that has waited longest goes first.

Nobody waits for ever: only sessions that came before the next turn can go before a session that waits, and an urgency
is passed over for `PATIENCE` seconds at most. A job that several sessions want waits in the line of each of them.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum

PATIENCE = 60.0
"""Seconds for which jobs may be passed over by more urgent ones."""

_STEP = 0.2
"""Seconds between two looks of a waiting job at what the clock alone changes."""


class Urgency(IntEnum):
    """How soon a person needs what a job makes."""

    PAGE = 0
    """A page shows nothing without it: reading a table, the audited model."""
    RESULT = 1
    """A page is about it, and it takes seconds: a study of built-in data."""
    LONG = 2
    """The same, but it takes minutes: the report's attacks, a study of a table of one's own."""
    SWEEP = 3
    """Many models; the page shows other things meanwhile."""


@dataclass(eq=False, slots=True)
class Request:
    """A job that waits for a place, or holds one.

    `sessions` want its result, the one that asked first at the front; `holder` is the one whose turn it took.
    """

    urgency: Urgency
    sessions: list[str]
    since: float = 0.0
    holder: str = ""


class _Line:
    """Jobs of one urgency: those that wait, in the order they came, and the turns of their sessions."""

    def __init__(self) -> None:
        self.waiting: list[Request] = []
        self.held: Counter[str] = Counter()
        self.last_start = 0.0
        self._turn = 0
        self._last_turn: dict[str, int] = {}

    def append(self, request: Request) -> None:
        """Let a request wait."""
        self.waiting.append(request)
        for session in request.sessions:
            self.join(session)

    def join(self, session: str) -> None:
        """Put a session that comes again just before the one that had the latest turn."""
        self._last_turn.setdefault(session, self._turn - 1)

    def first(self) -> Request | None:
        """Return the request that is next in this line."""
        return min(
            self.waiting, key=lambda request: min(map(self._rank, request.sessions)), default=None
        )

    def start(self, request: Request, now: float) -> None:
        """Give a request its place; the turn is that of the session it is next for."""
        self.waiting.remove(request)
        request.holder = min(request.sessions, key=self._rank)
        self.held[request.holder] += 1
        self._turn += 1
        self._last_turn[request.holder] = self._turn
        self.last_start = now

    def end(self, request: Request) -> None:
        """Take the place back."""
        self.held[request.holder] -= 1
        self.held = +self.held
        self._forget_absent()

    def leave(self, request: Request) -> None:
        """Let a request wait no longer."""
        self.waiting.remove(request)
        self._forget_absent()

    def passed_over(self, now: float) -> float:
        """Return for how many seconds jobs have waited here without a turn."""
        return now - max(self.last_start, min(request.since for request in self.waiting))

    def _forget_absent(self) -> None:
        """Forget the turns of sessions that have no job here."""
        present = {session for request in self.waiting for session in request.sessions}.union(
            self.held
        )
        self._last_turn = {
            session: turn for session, turn in self._last_turn.items() if session in present
        }

    def _rank(self, session: str) -> tuple[int, int]:
        return self.held[session], self._last_turn[session]


class JobQueue:
    """The places for jobs, given out in the order that the module explains.

    Parameters
    ----------
    places : mapping
        Urgency -> how many jobs that are as urgent or less may run at a time.
    clock : callable
        Seconds from any start on.
    """

    def __init__(
        self, places: Mapping[Urgency, int], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.places = dict(places)
        self._clock = clock
        self._lines = {urgency: _Line() for urgency in Urgency}
        self._changed = threading.Condition()

    def acquire(self, request: Request, look: Callable[[], None]) -> None:
        """Wait for a place; `look` is called meanwhile, and what it raises ends the waiting."""
        line = self._lines[request.urgency]
        with self._changed:
            request.since = self._clock()
            line.append(request)
            try:
                look()
                while self.next() is not request:
                    self._changed.wait(_STEP)
                    look()
            except BaseException:
                line.leave(request)
                raise
            else:
                line.start(request, self._clock())
            finally:
                self._changed.notify_all()  # another job may be next now

    def release(self, request: Request) -> None:
        """Give the place back."""
        with self._changed:
            self._lines[request.urgency].end(request)
            self._changed.notify_all()

    def share(self, request: Request, session: str) -> None:
        """Let another session want the result of a request, which waits in its line from now on, too."""
        with self._changed:
            line = self._lines[request.urgency]
            if request in line.waiting and session not in request.sessions:
                request.sessions.append(session)
                line.join(session)
                self._changed.notify_all()

    def look_again(self) -> None:
        """Let waiting jobs look at once: one of them was cancelled."""
        with self._changed:
            self._changed.notify_all()

    def next(self) -> Request | None:
        """Return the request that gets a place now; None while there is no place for any that waits."""
        now = self._clock()
        candidates = []
        for urgency, line in self._lines.items():
            request = line.first()
            if request is not None and self._has_room(urgency):
                is_overdue = line.passed_over(now) > PATIENCE
                candidates.append((not is_overdue, urgency, request))
        if not candidates:
            return None
        *_, request = min(candidates, key=lambda candidate: candidate[:2])
        return request

    def _has_room(self, urgency: Urgency) -> bool:
        """Whether one more job of this urgency fits into its places, and into those of the more urgent ones."""
        running = 0
        for level in reversed(Urgency):
            running += self._lines[level].held.total()
            if level <= urgency and running >= self.places[level]:
                return False
        return True
