"""A class on the demo and officers with large tables on one server: how long pages wait, and what memory they take.

``python -m tests.benchmarks.bench_load`` runs 26 sessions of a class and 4 officers for ten minutes (``--minutes``,
``--sessions``, ``--officers``). A session of the class opens a page of the demo, now and then with another seed, reads
and goes on. It is a plain websocket client that answers as the browser's script does, without painting: its wait ends
when the server has sent a run with the page's finding. Each officer is a real browser with a table of 60,000 people,
who looks at its attacks and its report. Browsers and clients are other people's machines: those of the class give way
to the server (nice), and the officers', which paint large tables without a graphics card, take what all others leave.
Linux shares a processor between the sessions of processes first (sched_autogroup), so that theirs are told to give way
as sessions, too.

Needs Chromium; says so and stops where there is none.
"""

import argparse
import os
import random
import tempfile
import threading
import time
from collections import defaultdict
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import psutil
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.util import calc_hash
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from tests.benchmarks.measuring import verdicts
from tests.browser.driver import CHROMIUM, Server, chromium
from tests.browser.tables import people, predicted
from tests.browser.view import View

PAGES = ("home", "data", "model", "correction", "bias_queries", "membership", "model_card", "attriguard", "glossary")
SEEDS = (42, 1, 2, 3)
THINK = (5.0, 30.0)
"""Seconds a session reads a page, at least and at most: a finding, its evidence and a chart are 60 words and more."""

PATIENT = 300.0


class Client:
    """A session without a browser: asks for pages, and lets parts of a page run again as often as the page says."""

    def __init__(self, server):
        self._address = f"ws://localhost:{server.port}/_stcore/stream"
        self._connect(SEEDS[0])

    def _connect(self, seed):
        self._open = ExitStack()
        options = {"max_size": None, "open_timeout": PATIENT, "close_timeout": 1.0}
        options |= {"max_queue": None, "ping_interval": None}  # nobody takes messages out while the page is read
        self._socket = self._open.enter_context(
            connect(self._address, subprotocols=[Subprotocol("streamlit")], **options)
        )
        self._page, self._seed = "", seed

    def open(self, page, seed):
        """Go to a page; return the seconds until it shows its finding. Another seed is a link to a session anew."""
        if seed != self._seed:
            self.close()
            self._connect(seed)
        self._page = calc_hash(page)
        began, complete, due = time.monotonic(), False, dict[str, tuple[float, float]]()
        before, fragments = complete, set[str]()
        self._run()
        while time.monotonic() < began + PATIENT:
            now = time.monotonic()
            for part, (at, every) in due.items():
                if at <= now:
                    self._run(part)
                    due[part] = (now + every, every)
            message = self._next(min([at for at, _ in due.values()], default=now + 1.0) - now)
            kind = None if message is None else message.WhichOneof("type")
            if message is None:
                continue
            if kind == "auto_rerun":
                every = message.auto_rerun.interval
                due[message.auto_rerun.fragment_id] = (time.monotonic() + every, every)
                fragments.add(message.auto_rerun.fragment_id)
            elif kind == "new_session":
                before, complete, fragments = complete, False, set()
            elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
                complete = complete or message.delta.new_element.markdown.body.startswith("## ")
            elif kind == "script_finished" and message.script_finished != ForwardMsg.FINISHED_SUCCESSFULLY:
                complete = complete or before  # it was a part alone, or another run follows: the page stays
            elif kind == "script_finished" and complete:
                return time.monotonic() - began
            elif kind == "script_finished":
                due = {part: when for part, when in due.items() if part in fragments}
        return float("inf")

    def close(self):
        self._open.close()

    def _run(self, part=""):
        message = BackMsg()
        rerun = message.rerun_script
        rerun.page_script_hash, rerun.fragment_id, rerun.is_auto_rerun = self._page, part, bool(part)
        rerun.query_string = f"seed={self._seed}"
        self._socket.send(message.SerializeToString())

    def _next(self, seconds):
        try:
            return ForwardMsg.FromString(self._socket.recv(timeout=max(0.0, seconds)))
        except TimeoutError:
            return None


@dataclass
class Waits:
    """Seconds waited, by who and where, until the time is up at `end`."""

    durations: dict[str, dict[str, list[float]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))
    failed: list[str] = field(default_factory=list)
    end: float = float("inf")

    def note(self, who, page, seconds):
        self.durations[who][page].append(seconds)

    def print_pages(self, who):
        for page, waits in sorted(self.durations[who].items()):
            ordered = sorted(waits)
            late = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
            figures = f"median {median(waits):5.1f}  95% {late:5.1f}  longest {max(waits):5.1f} s"
            print(f"  {who:8} {page:13} {len(waits):4} x  {figures}")


def memory(server):
    """Return the megabytes that the server and its children hold; what forked processes share is counted once."""
    process, total = psutil.Process(server.pid), 0
    for program in (process, *process.children(recursive=True)):
        try:
            total += program.memory_full_info().pss
        except psutil.NoSuchProcess:
            continue
    return total / 2**20


def student(server, number, waits):
    rng, seed = random.Random(number), SEEDS[0]
    time.sleep(rng.uniform(0.0, THINK[1]))
    client = Client(server)
    while time.monotonic() < waits.end:
        page = rng.choice(PAGES)
        seed = rng.choice(SEEDS) if rng.random() < 0.25 else seed
        waits.note("class", page, client.open(page, seed))
        time.sleep(rng.uniform(*THINK))
    client.close()


def in_browser(work, program, server, begin):
    """Do something in a browser of one's own; all begin when all browsers are there."""
    with chromium(program) as browser:
        view = View(browser, server.address)
        view.page.goto("about:blank")
        begin.wait()
        work(view)
        view.context.close()


def officer(number, rows, waits):
    """Return what an officer does: bring a table with a model's answers, and look at its attacks and report."""
    table = predicted(people(rows, seed=number), seed=number)

    def work(view):
        roles = {"label": "hired", "positive": "yes", "prediction": "predicted", "score": "score"}
        began = time.monotonic()
        view.open("data")
        view.finding_with("%")
        view.bring_predictions(f"table{number}.csv", table, sensitive="sex", group="F", **roles)
        waits.note("officer", "data", time.monotonic() - began)
        while time.monotonic() < waits.end:
            for name in ("Correction", "Bias queries", "Report"):
                began = time.monotonic()
                view.sidebar.get_by_role("link", name=name, exact=True).click()
                view.page.wait_for_timeout(500)
                view.finding_with("")
                waits.note("officer", name, time.monotonic() - began)
                view.page.wait_for_timeout(3000)
                if time.monotonic() > waits.end:
                    break

    return work


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--sessions", type=int, default=30, help="all of them, officers included")
    parser.add_argument("--officers", type=int, default=4)
    parser.add_argument("--rows", type=int, default=60_000)
    options = parser.parse_args()
    if CHROMIUM is None:
        print("Load not measured: no Chromium found (Debian: apt-get install chromium).")
        return
    waits = Waits()
    print(f"{options.minutes:g} min on {os.cpu_count()} cores, load before: {os.getloadavg()[0]:.1f}")
    with Server(environment={"FAIRLEAK_DATA": None, "STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": "20"}) as server:
        alone = Client(server)
        for page in PAGES:
            waits.note("alone", page, alone.open(page, SEEDS[0]))
        alone.close()
        before, peak = memory(server), [0.0]
        os.nice(5)
        begin = threading.Barrier(options.officers + 1)

        def run(work, *arguments):
            try:
                work(*arguments)
            except Exception as error:
                waits.failed.append(f"{type(error).__name__}: {error}")

        idle = Path(tempfile.mkdtemp()) / "chromium"
        idle.write_text(f'#!/bin/sh\n(echo 19 >/proc/self/autogroup) 2>/dev/null\nexec nice -n 19 {CHROMIUM} "$@"\n')
        idle.chmod(0o700)
        officers = [officer(number, options.rows, waits) for number in range(options.officers)]
        shared = (str(idle), server, begin)
        browsers = [threading.Thread(target=run, args=(in_browser, work, *shared)) for work in officers]
        students = range(options.sessions - options.officers)
        clients = [threading.Thread(target=run, args=(student, server, number, waits)) for number in students]
        threads = [*browsers, *clients]
        for thread in browsers:
            thread.start()
        begin.wait()
        waits.end = time.monotonic() + 60 * options.minutes
        for thread in clients:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            peak[0] = max(peak[0], memory(server))
            time.sleep(1.0)
        busy = os.getloadavg()[0]
        time.sleep(120.0)
        after, log = memory(server), server.log.read_text()
    for who in ("alone", "class", "officer"):
        waits.print_pages(who)
    print(f"memory: {before:.0f} MB before, {peak[0]:.0f} at most, {after:.0f} two minutes after")
    print(f"load at the end: {busy:.1f}")
    for failure in waits.failed:
        print(f"failed: {failure}")
    longest = max((wait for page in waits.durations["class"].values() for wait in page), default=0.0)
    verdicts(
        ("s that a page of the demo keeps a session waiting", longest, 10),
        ("times the memory before, afterwards", after / before, 1.3),
        ("sessions that failed", len(waits.failed) + log.count("Traceback"), 0),
    )


if __name__ == "__main__":
    main()
