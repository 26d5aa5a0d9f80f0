"""Ten people who move a slider and four who wait for a report, on one server: how long a move waits, and a report.

``python -m tests.benchmarks.bench_sliders`` moves the tolerance of Correction in ten sessions (``--sliders``) for 150 s
(``--seconds``), a second between two moves, while four others (``--reports``) have opened the Report of an audit of
their own. Each session is a plain websocket client, as in `bench_load`: a move ends when the server has sent a run of
the slider's part of the page with its finding.

Limits: a move takes 2 s by the median and 10 s at most; every report is there within 10 minutes; two minutes after all
have gone, memory is at most 1.3 x what it was when each page had been opened once.
"""

from __future__ import annotations

import argparse
import os
import random
import threading
import time
from statistics import median

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element

from tests.benchmarks.bench_load import DONE, Client, memory, shows_finding
from tests.benchmarks.measuring import verdicts
from tests.browser.driver import Server

MEDIAN, LONGEST = 2.0, 10.0
REPORT = 600.0
MEMORY_RATIO = 1.3
AFTER = 120.0
BETWEEN = 1.0
"""Seconds between two moves of a slider."""

LABEL = "Disclosed tolerance"
TOLERANCES = [step / 1000 for step in range(0, 101, 5)]


def shows_file(element: Element) -> bool:
    """Return whether an element hands out a file: a report is there."""
    return bool(element.WhichOneof("type") == "download_button")


class Mover(Client):
    """A session that stands on Correction and moves its tolerance."""

    def move(self, value: float) -> float:
        """Return the seconds from a move to the finding about it."""
        began = time.monotonic()
        message = BackMsg()
        rerun = message.rerun_script
        slider, part = self.sliders[LABEL]
        rerun.page_script_hash, rerun.fragment_id = self._page, part
        rerun.query_string = f"seed={self._seed}"
        state = rerun.widget_states.widgets.add(id=slider)
        state.double_array_value.data.append(value)
        self._socket.send(message.SerializeToString())
        complete = False
        while time.monotonic() < began + REPORT:
            answer = self._next(1.0)
            if answer is None:
                continue
            kind = answer.WhichOneof("type")
            if kind == "delta":
                element = answer.delta.new_element
                complete = complete or shows_finding(element)
            elif kind == "script_finished" and complete and answer.script_finished != DONE.FINISHED_EARLY_FOR_RERUN:
                return time.monotonic() - began
        return float("inf")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=150.0)
    parser.add_argument("--sliders", type=int, default=10)
    parser.add_argument("--reports", type=int, default=4)
    options = parser.parse_args()
    moves: list[float] = []
    reports: list[float] = []
    failures: list[str] = []
    with Server(environment={"FAIRLEAK_DATA": None, "STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": "20"}) as server:
        alone = Client(server)
        print(f"alone: a page {alone.open('correction', 42):.1f} s", end=", ")
        print(f"a report {alone.open('report', 42, until=shows_file):.1f} s")
        alone.close()
        before = memory(server)
        print(f"{os.cpu_count()} cores, load before: {os.getloadavg()[0]:.1f}, memory {before:.0f} MB")
        ready = threading.Barrier(options.sliders + options.reports + 1)
        end = [float("inf")]

        def slide(number: int) -> None:
            chance = random.Random(number)
            try:
                mover = Mover(server)
                mover.open("correction", 42 + number % 4)
                ready.wait()
                while time.monotonic() < end[0]:
                    moves.append(mover.move(chance.choice(TOLERANCES)))
                    time.sleep(BETWEEN)
                mover.close()
            except Exception as error:
                failures.append(f"{type(error).__name__}: {error}")

        def wait_for_report(number: int) -> None:
            try:
                client = Client(server)
                ready.wait()
                reports.append(client.open("report", 100 + number, until=shows_file, patient=REPORT))
                client.close()
            except Exception as error:
                failures.append(f"{type(error).__name__}: {error}")

        sessions = [threading.Thread(target=slide, args=(number,)) for number in range(options.sliders)]
        sessions += [threading.Thread(target=wait_for_report, args=(number,)) for number in range(options.reports)]
        for session in sessions:
            session.start()
        ready.wait()
        end[0] = time.monotonic() + options.seconds
        most = before
        while any(session.is_alive() for session in sessions):
            most = max(most, memory(server))
            time.sleep(1.0)
        time.sleep(AFTER)
        after, log = memory(server), server.log.read_text()
    ordered = sorted(moves)
    print(f"{len(moves)} moves: median {median(moves):.2f}, longest {max(moves):.2f} s")
    print(f"moves, tenths: {', '.join(f'{ordered[len(ordered) * k // 10]:.1f}' for k in range(1, 10))} s")
    print(f"reports: {', '.join(f'{seconds:.0f}' for seconds in sorted(reports))} s")
    print(f"memory: {before:.0f} MB before, {most:.0f} at most, {after:.0f} two minutes after")
    for failure in failures:
        print(f"failed: {failure}")
    verdicts(
        [
            (f"a move takes {MEDIAN:g} s by the median: {median(moves):.2f} s", median(moves) <= MEDIAN),
            (f"no move takes more than {LONGEST:g} s: {max(moves):.2f} s", max(moves) <= LONGEST),
            (
                f"every report is there within {REPORT:g} s: {len(reports)} of {options.reports}",
                len(reports) == options.reports and max(reports) <= REPORT,
            ),
            (
                f"memory afterwards at most {MEMORY_RATIO:g} x that before: {after / before:.2f} x",
                after <= MEMORY_RATIO * before,
            ),
            ("nobody's session failed", not failures and "Traceback" not in log),
        ]
    )


if __name__ == "__main__":
    main()
