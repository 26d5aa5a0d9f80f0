"""Background work: jobs with progress and cancel, where their results are kept, and how far they are on a page.

A job is a thread that waits for its turn (`pages.shell.job_queue`), and then follows a process of its own
(`Job.in_subprocess`), so that what takes long does not hold up the pages.

A `ResultStore` keeps results and the jobs that make them. There is one for built-in data, shared by everybody, and one
a session for a user's own table; the latter is emptied when the session ends. No Streamlit call happens in a thread.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from typing import Any

import streamlit as st
from streamlit.logger import get_logger
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.auditing.subprocess_jobs import ReportProgress, run_in_subprocess
from core.base.errors import Cancelled, FairLeakError
from core.base.serialize import fingerprint
from core.datasets.dataset import AuditDataset
from core.experiments.engine import TimeLeft
from core.store.prepared import PreparedResults, ResultWriter
from pages.shell import shell, state
from pages.shell.job_queue import JobQueue, Request, Urgency
from pages.shell.panels import problem

_log = get_logger(
    "fairleak.jobs"
)  # a logger of Python's own would drop what is not at least a warning

Work = Callable[["Job"], Any]


JOB_KINDS = {
    "fetch": Urgency.PAGE,
    "audit": Urgency.PAGE,
    "questions": Urgency.RESULT,
    "decision": Urgency.LONG,
    "sweep": Urgency.SWEEP,
    "self_test": Urgency.SWEEP,
}
"""How urgent a job is by its kind, which it gives as its `lane`."""

_NICE = {"audit": (0, 0), "questions": (0, 10)}
"""How far the process of a job of a kind gives way to pages and other jobs, 0 to 19: until its first result is there,
which is what a page waits for, and after that. Those of other kinds give way by 10."""

_FIRST_SHARE = 0.02
"""Share of a job's steps in which it starts: how long they take says nothing of the others."""

_OWN_NICE = 5
"""How much further the process of a job on a user's own table gives way."""

_SWEEPS = 2
"""How many sweeps run at a time on this server."""

QUEUE = JobQueue(
    {
        Urgency.PAGE: 16,
        Urgency.RESULT: 12,
        Urgency.LONG: _SWEEPS + (os.cpu_count() or 1),
        Urgency.SWEEP: _SWEEPS,
    }
)
"""The queue of all jobs of this server."""

_PATIENCE = 0.15
"""Seconds a page waits for what may be there at once, before it shows progress."""


_STEP = 0.2
"""Seconds between two looks at work that a page waits for."""

_WAITING = "waiting for its turn on this server"


class State(StrEnum):
    """Where a job stands."""

    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Job:
    """One piece of work in a thread of its own.

    `done` of `total` steps are finished (0 while unknown); `partial` has the results that are there already, in the
    order they came; `error` is one sentence, empty unless the work failed.
    """

    def __init__(
        self,
        work: Work,
        lane: str,
        keep: Callable[[Any], None],
        total: int,
        partial: Sequence[Any],
        session: str = "",
    ) -> None:
        self.partial: list[Any] = list(partial)
        self.done = len(self.partial)
        self.total = total
        self.error = ""
        self.state = State.WAITING
        self.started = time.monotonic()
        self._time_left = TimeLeft()
        self._stop = threading.Event()
        self._name = lane
        self._session = session
        self._is_uploaded = lane.startswith("own ")
        kind = lane.removeprefix("own ")
        self._nice = _NICE.get(kind, (10, 10))
        urgency = JOB_KINDS[kind]
        if self._is_uploaded and urgency is Urgency.RESULT:  # the table may be large
            urgency = Urgency.LONG
        self._request = Request(urgency, [session])
        self._thread = threading.Thread(
            target=self._run, args=(work, keep), daemon=True, name="fairleak-job"
        )
        self._thread.start()

    @property
    def busy(self) -> bool:
        """Whether the work still waits or runs."""
        return self.state in (State.WAITING, State.RUNNING)

    @property
    def stopping(self) -> bool:
        """Whether it was asked to stop and has not stopped yet."""
        return self._stop.is_set() and self.busy

    @property
    def share(self) -> float:
        """Share of the work that is done, in [0, 1]."""
        if self.total:
            return self.done / self.total
        return 0.0

    def remaining(self) -> float | None:
        """Return the seconds left, judged by the steps so far; None while too few of them are done to tell."""
        if self.share < _FIRST_SHARE:
            return None
        return self._time_left.seconds(self.total - self.done)

    def cancel(self) -> None:
        """Ask the work to stop at its next step; if it waits, it leaves at once."""
        self._stop.set()
        QUEUE.look_again()

    def join(self, session: str) -> None:
        """Let another session wait for the result, too: the job has its turn when either has."""
        QUEUE.share(self._request, session)

    def wait(self, seconds: float | None = None) -> None:
        """Wait until the thread has ended (tests and page runs that need no progress bar)."""
        self._thread.join(seconds)

    def report(self, done: int, total: int) -> None:
        """Note progress, unless nothing is known of it; stops the work if it was cancelled."""
        self._look()
        if total:
            if done != self.done:
                self._time_left.add(done - self.done)
            self.done = done
            self.total = total

    def in_subprocess(
        self, make: Callable[[ReportProgress], Any], *, about: AuditDataset | None = None
    ) -> Any:
        """Return what is made in a process of its own, see `core.auditing.subprocess_jobs`."""
        (result,) = self.each_in_subprocess(make, about=about)
        return result

    def each_in_subprocess(
        self, make: Callable[[ReportProgress], Any], *, about: AuditDataset | None = None
    ) -> Iterator[Any]:
        """Return an iterator over what is made, one by one, in a process of its own."""
        further = _OWN_NICE if self._is_uploaded else 0
        nice, then = (level + further for level in self._nice)
        return run_in_subprocess(make, self.report, about=about, nice=nice, then=then)

    def collect(self, results: Iterator[Any]) -> list[Any]:
        """Take results one by one, so that they can be shown before the last is there."""
        try:
            for result in results:
                self.partial.append(result)
                self.report(len(self.partial), self.total)
        finally:
            close = getattr(results, "close", None)
            if close is not None:
                close()
        return list(self.partial)

    def _look(self) -> None:
        if self._stop.is_set():
            raise Cancelled("Stopped.")

    def _run(self, work: Work, keep: Callable[[Any], None]) -> None:
        requested_at = self.started
        try:
            QUEUE.acquire(self._request, self._look)
            try:
                self.state = State.RUNNING
                self.started = time.monotonic()
                self._time_left = TimeLeft()
                result = work(self)
            finally:
                QUEUE.release(self._request)
            self._look()  # cancelled meanwhile: the result is not wanted
            keep(result)
            end = State.FINISHED
        except Cancelled:
            end = State.CANCELLED
        except Exception as error:
            self.error = _sentence(error)
            end = State.FAILED
        ended_at = time.monotonic()
        if self.state is State.WAITING:  # it was stopped before it had a place
            self.started = ended_at
        waited = self.started - requested_at
        ran = ended_at - self.started
        log_entry = (self._name, self._session[:8], waited, end, ran)
        _log.info("job %s, session %s: waited %.1f s, %s after %.1f s", *log_entry)
        self.state = end


def _sentence(error: Exception) -> str:
    """Say what went wrong, without the details of what should not."""
    if isinstance(error, FairLeakError):
        return str(error)
    if isinstance(error, MemoryError):
        return "There is not enough memory for this; use fewer records or columns."
    _log.exception("work failed", exc_info=error)
    return "Something went wrong in FairLeak itself; the server's log has the details."


def _session() -> str:
    """Return the session that asks; "" where none does."""
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        return ""
    return context.session_id


class ResultStore:
    """Results by fingerprint, at most so many `entries`, the oldest dropped first, and the jobs under way.

    `uploaded` says that the data are a session's own; `prepared` are results of built-in data on disk. Nothing is
    dropped before the release of the `uploads`, from which all else follows, and of `points`, finished models of
    sweeps, which are a few numbers each and took long.
    """

    def __init__(
        self,
        name: str,
        entries: int,
        *,
        uploaded: bool = False,
        prepared: PreparedResults | None = None,
    ) -> None:
        self.name = name
        self._lane_prefix = "own " if uploaded else ""
        self._entries = entries
        if uploaded and prepared is not None:
            raise ValueError("Nothing of an upload is stored on disk.")
        self._prepared = prepared
        self._lock = threading.Lock()
        self._results: OrderedDict[str, Any] = OrderedDict()
        self._jobs: dict[str, Job] = {}
        self.uploads: dict[str, Any] = {}
        self.points: dict[str, Any] = {}
        self._generation = 0

    def get(self, key: str) -> Any | None:
        """Return the result, also one that was prepared; None if it is not there."""
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
                return self._results[key]
        if self._prepared is None:
            return None
        result = self._prepared.load(key, self._datasets())
        if result is not None:
            self.put(key, result)
        return result

    def _datasets(self) -> list[AuditDataset]:
        with self._lock:
            return [result for result in self._results.values() if isinstance(result, AuditDataset)]

    def put(self, key: str, value: Any, *, begun: int | None = None) -> None:
        """Keep a result, unless there was a release since the generation it was `begun` in."""
        with self._lock:
            if begun not in (None, self._generation):
                return
            self._results[key] = value
            self._results.move_to_end(key)
            while len(self._results) > self._entries:
                self._results.popitem(last=False)

    def remember(self, key: str, make: Callable[[], Any]) -> Any:
        """Return the result, making it here and now if need be."""
        result = self.get(key)
        if result is None:
            result = make()
            self.put(key, result)
        return result

    def job(self, key: str) -> Job | None:
        """Return the job last started for this key."""
        return self._jobs.get(key)

    def busy_jobs(self) -> list[Job]:
        """Return the jobs that wait or run."""
        with self._lock:
            return [job for job in self._jobs.values() if job.busy]

    def start(
        self,
        key: str,
        work: Work,
        *,
        lane: str = "audit",
        total: int = 0,
        partial: Sequence[Any] = (),
    ) -> Job:
        """Return the job for this key, starting it unless it is under way, and not stopping, or has its result.

        `total` is the number of steps where it is known beforehand, `partial` what an earlier job has made already. Of
        the jobs that were stopped half way only the newest are kept.
        """
        with self._lock:
            job = self._jobs.get(key)
            is_finished = job is not None and job.state == State.FINISHED and key in self._results
            if job is not None and (is_finished or (job.busy and not job.stopping)):
                return job
            began = self._generation

            def keep(result: Any) -> None:
                self.put(key, result, begun=began)
                if isinstance(self._prepared, ResultWriter):
                    self._prepared.save(key, result, self._datasets())

            job = self._jobs[key] = Job(
                work, self._lane_prefix + lane, keep, total, partial, _session()
            )
            halves = [k for k, j in self._jobs.items() if j.state == State.CANCELLED and j.partial]
            kept_keys = {key, *halves[-self._entries :], *self._results}
            self._jobs = {k: j for k, j in self._jobs.items() if j.busy or k in kept_keys}
            return job

    def release(self) -> None:
        """Stop all work and drop all results."""
        with self._lock:
            for job in self._jobs.values():
                job.cancel()
            held = len(self.uploads) + len(self._results)
            self._generation += 1
            self.uploads = {}
            self.points = {}
            self._results.clear()
            self._jobs.clear()
        _log.info("%s released: %d results dropped", self.name, held)


class Background:
    """Work that a session wants beside a page that stays on screen.

    It is made again in each run of the page: the job, what it has made so far and its result are in the store. Of each
    name a session wants one work at a time, or one set of works; starting another stops it. To `make` the result under
    its key, what an earlier job has made is in `job.partial`. The keys of its buttons end with `widget`, or its name.
    """

    def __init__(
        self,
        name: str,
        store: ResultStore,
        key: str,
        make: Work,
        *,
        lane: str,
        total: int = 0,
        widget: str = "",
    ) -> None:
        self.name = name
        self.store = store
        self.key = key
        self.total = total
        self._make = make
        self._lane = lane
        self.widget = widget or name

    @property
    def result(self) -> Any | None:
        """The result, once it is there."""
        return self.store.get(self.key)

    @property
    def job(self) -> Job | None:
        """The job that makes it."""
        return self.store.job(self.key)

    @property
    def state(self) -> State | None:
        """Where it stands; None if it was never started."""
        if self.job is None:
            return None
        return self.job.state

    @property
    def busy(self) -> bool:
        """Whether it waits or runs."""
        return self.job is not None and self.job.busy

    @property
    def partial(self) -> list[Any]:
        """What is there of it, in the order it came."""
        if self.job is None:
            return []
        return list(self.job.partial)

    @property
    def latest(self) -> Any | None:
        """The newest that is there of it; None while nothing is."""
        return next(reversed(self.partial), self.result)

    @property
    def stopped(self) -> bool:
        """Whether this session has stopped it."""
        return (self.store, self.key) in st.session_state.get(f"{self.name}_stopped", ())

    def initial_partial(self) -> list[Any]:
        """Return what a new job begins with."""
        return self.partial

    def go_on(self) -> Job:
        """Start it or go on with it, whatever else this session wants."""
        return self.store.start(
            self.key, self._make, lane=self._lane, total=self.total, partial=self.initial_partial()
        )

    def begin(self, *about: Any) -> None:
        """Start it if nobody has begun it, or one like it about the same; after that it is started by hand."""
        if not self.begun(*about):
            self.store.put(fingerprint("begun", *about or [self.key]), True)
            start(self)

    def begun(self, *about: Any) -> bool:
        """Whether somebody has begun it, or one like it about the same."""
        return bool(self.store.get(fingerprint("begun", *about or [self.key])))

    def show(self, doing: Callable[[Job], str], go_on: str, **arguments: str) -> None:
        """Show how far it is, as `show_works` does; `doing` tells what stands at the job's bar."""
        show_works([self], lambda jobs: doing(jobs[0]), go_on, **arguments)

    def watch(self, show: Callable[[], None], *, every: float = 1.5, drawn: Any = None) -> None:
        """Show how far it is, by itself while it runs; the page is drawn again once there is more than it has drawn."""
        look_every = every if self.busy else None
        st.fragment(self._watch, run_every=look_every)(show, drawn, self.busy)

    def _watch(self, show: Callable[[], None], drawn: Any, running: bool) -> None:
        if self.latest is not drawn or (running and not self.busy):
            st.rerun()
        show()

    def first(self, show: Callable[[], None]) -> Any:
        """Return the newest that is there of it; ends the page, which shows how far it is, while nothing is."""
        if self.job is not None and self.job.state == State.WAITING:
            self.job.join(_session())
        self.hold(lambda: self.latest is not None)
        latest = self.latest
        if latest is None:
            self.watch(show, every=0.5)
            if self.busy:  # holds the places of a finding, of what follows from it, and of a chart
                for height in (60, 96, 380):
                    st.skeleton(height)
            if state.drawn() and not self.busy:
                st.button(
                    "Back to the result before", key="back_to_drawn", on_click=state.restore_drawn
                )
            st.stop()
        if state.in_fragment():  # the end of a whole run notes it by itself
            state.note_drawn()
        return latest

    def hold(self, is_ready: Callable[[], bool]) -> None:
        """Wait until enough is there, while the page keeps the result it showed before, greyed; not without one.

        The browser keeps what an unfinished run of a page has not drawn again.
        """
        shell.update(
            ""
        )  # a fragment may write to the page's head only if it did so in the last run of the whole page
        if not state.drawn() or not self.busy or is_ready():
            return
        st.session_state["updating"] = (self.store, self.key)
        while (job := self.job) is not None and job.busy and not is_ready():
            if job.total:
                steps = f"step {min(job.done + 1, job.total)} of {job.total}, "
            else:
                steps = ""
            shell.update(f"Updating: {steps}{pace(job)}. Still shown: the result before.")
            time.sleep(_STEP)
        shell.update("")


def cancel_update() -> None:
    """Stop what the page waits for, and go back to the settings of what it shows."""
    store, key = st.session_state.pop("updating", (None, ""))
    job = None if store is None else store.job(key)
    if job is not None and job.busy:
        job.cancel()
        state.restore_drawn()


def start(*works: Background) -> None:
    """Start works of one name, or go on with them; what this session wanted before under their name is stopped."""
    want_instead(*works)
    st.session_state.pop(f"{works[0].name}_stopped", None)
    for work in works:
        work.go_on()


def stop(*works: Background) -> None:
    """Stop works of one name at their next step, until this session goes on with them."""
    st.session_state[f"{works[0].name}_stopped"] = [(work.store, work.key) for work in works]
    for work in works:
        if work.job is not None:
            work.job.cancel()


def show_works(
    works: Sequence[Background],
    doing: Callable[[list[Job]], str],
    go_on: str,
    *,
    again: str = "",
    icon: str = ":material/play_arrow:",
) -> None:
    """Show how far works of one name are, with a button that stops them; or what is wrong, and one that goes on.

    `doing` tells what stands at the bar; after a failure the button says `again` in place of `go_on`.
    """
    widget = works[0].widget
    jobs = [work.job for work in works if work.job is not None]
    if busy := [job for job in jobs if job.busy]:
        bar, button = st.columns([5, 1], vertical_alignment="center")
        steps = sum(job.total for job in busy)
        steps_done = sum(job.done for job in busy)
        bar.progress(steps_done / max(steps, 1), text=doing(busy))
        button.button(
            "Cancel",
            width="stretch",
            disabled=all(job.stopping for job in busy),
            key=f"cancel_{widget}",
            on_click=stop,
            args=tuple(works),
        )
        return
    if all(work.result is not None or work.state == State.FINISHED for work in works):
        return
    key = f"start_{widget}"
    if error := next((job.error for job in jobs if job.error), ""):
        problem(error)
        if again:
            go_on = again
            key = f"again_{widget}"
            icon = ":material/refresh:"
    if st.button(go_on, key=key, icon=icon):
        start(*works)
        st.rerun()


def ensure_started(*works: Background, patience: float = _PATIENCE) -> bool:
    """Start works of one name unless they are there, have failed or were stopped by this session; others are stopped.

    Waits as many seconds for the first that is there of each, and returns whether any of them waits or runs.
    """
    stopped = f"{works[0].name}_stopped"
    requested = want_instead(*works)
    if st.session_state.get(stopped) != requested:
        st.session_state.pop(stopped, None)
        end = time.monotonic() + patience
        for work in works:
            if work.result is None and not work.busy and work.state != State.FAILED:
                work.go_on()
            while work.busy and work.latest is None and time.monotonic() < end:
                time.sleep(0.01)
    return any(work.busy for work in works)


def want_instead(*works: Background) -> list[tuple[ResultStore, str]]:
    """Stop what this session wanted before in the place of these works, and return where these are kept."""
    name = f"{works[0].name}_wanted"
    requested = [(work.store, work.key) for work in works]
    for store, key in st.session_state.get(name, ()):
        job = store.job(key)
        if job is not None and job.busy and (store, key) not in requested:
            job.cancel()
    st.session_state[name] = requested
    return requested


def require_result(
    store: ResultStore,
    key: str,
    label: str,
    work: Work,
    *,
    lane: str = "audit",
) -> Any:
    """Return a result of the store, or start the work and show its progress instead of the rest of the page."""
    result = store.get(key)
    if result is not None:
        return result
    needed = Background(key, store, key, work, lane=lane, widget=key[:16])
    if needed.state in (None, State.FINISHED) or _stopped_elsewhere(
        needed
    ):  # finished, but since dropped
        job = needed.go_on()
        job.wait(_PATIENCE)
        if job.state == State.FINISHED:
            return store.get(key)
    return needed.first(lambda: _show_needed(needed, label))


def _stopped_elsewhere(needed: Background) -> bool:
    """Whether another session stopped what this one waits for: it is started again."""
    return needed.state == State.CANCELLED and not needed.stopped


def _show_needed(needed: Background, label: str) -> None:
    if _stopped_elsewhere(needed):
        st.rerun()
    if needed.state == State.CANCELLED:
        st.info("Stopped before it was finished.", icon=":material/stop_circle:")
    needed.show(
        lambda job: f"{label}{_step(job)}",
        "Start again",
        again="Try again",
        icon=":material/refresh:",
    )
    without = needed.state == State.FAILED and state.dataset_name() != state.default("dataset")
    if without and st.button("Use the built-in demo", key="use_demo", icon=":material/undo:"):
        state.choose("dataset", state.default("dataset"))
        st.rerun()


def _step(job: Job) -> str:
    if job.stopping:
        return ": stopping after this step"
    if job.state == State.WAITING:
        return f": {_WAITING}"
    if job.total:
        return f": step {min(job.done + 1, job.total)} of {job.total}"
    return ""


def pace(job: Job) -> str:
    """Say how long a job of many models will take, or what it waits for."""
    if job.stopping:
        return "stopping"
    if job.state == State.WAITING:
        return _WAITING
    return time_left(job)


def time_left(job: Job) -> str:
    """Say how long a job will take."""
    seconds = job.remaining()
    if seconds is None:
        return "time left not known yet"
    if seconds < 90:
        return f"about {seconds:.0f} s left"
    return f"about {seconds / 60:.0f} min left"
