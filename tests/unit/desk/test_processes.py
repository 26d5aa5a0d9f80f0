"""Many processes at once, and processes killed at every step: no answer without its charge, nothing overspent."""

from __future__ import annotations

import multiprocessing
import random
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import pytest

from core.desk import Ledger, LedgerStatus, open_ledger, verify_export
from core.errors import FairLeakError
from tests.ledger_work import BUDGET, COUNT, NAME, PRICE, STEPS, people, question, register, work
from tests.patience import PATIENT


class Worker:
    """A process that uses a ledger; forked from one that has imported everything, so that many start at once."""

    _context = multiprocessing.get_context("forkserver")
    _context.set_forkserver_preload(["tests.ledger_work"])

    def __init__(self, place: str, mode: str, seed: int = 0, step: str = "none", n: int = 60) -> None:
        self.answers, sent = self._context.Pipe(duplex=False)
        self.process = self._context.Process(target=work, args=(place, mode, seed, step, n, sent))
        with patch.dict(sys.modules, {"__main__": ModuleType("__main__")}):  # which tests of pages leave as theirs
            self.process.start()
        sent.close()  # the worker's alone, so that its end is the end of the answers

    def shown(self) -> list[dict[str, Any]]:
        """Wait for the process and return the answers it showed; one cut off by a kill was not shown.

        It may have been turned away because the others kept the ledger busy: SQLite serves nobody in turn.
        """
        found = []
        while (answer := self.next()) is not None:
            found.append(answer)
        self.process.join(PATIENT)
        return found

    def next(self) -> dict[str, Any] | None:
        """Wait for the next answer; None if there is none any more."""
        assert self.answers.poll(PATIENT)
        try:
            answer = self.answers.recv()
        except (EOFError, OSError):
            return None
        if isinstance(answer, str):
            assert "was busy for 60 seconds; ask again" in answer, answer
            return None
        return dict(answer)


def checked(ledger: Ledger, tmp_path: Path) -> LedgerStatus:
    """Return the status of a ledger whose export holds and adds up."""
    path = tmp_path / f"export {random.random()}.jsonl"
    ledger.export(path)
    found, status = verify_export(path), ledger.status(NAME)
    assert found.ok, found.reason
    assert found.budgets[0].spent == status.spent <= status.registration.budget
    assert status.spent == pytest.approx(COUNT + sum(one.charged for one in status.answers), abs=1e-9)
    return status


def told(answers: list[dict[str, object]]) -> dict[object, object]:
    return {answer["number"]: (answer["gap"], answer["charged"]) for answer in answers}


def recorded(status: LedgerStatus) -> dict[object, object]:
    return {one.number: (one.gap.to_dict(), one.charged) for one in status.answers}


def test_eight_processes_never_overspend(ledger: Ledger, place: str, tmp_path: Path):
    running = [Worker(place, "spend", seed) for seed in range(8)]
    answers = [answer for worker in running for answer in worker.shown()]
    assert [worker.process.exitcode for worker in running] == [0] * 8
    status = checked(ledger, tmp_path)
    assert len(answers) == 18 and status.spent == BUDGET  # (2 - 0.2) / 0.1, to the last of it
    assert told(answers) == recorded(status)
    assert sorted(answer["remaining"] for answer in answers) == pytest.approx([k * PRICE for k in range(18)])  # type: ignore[type-var]


@pytest.mark.parametrize("step", STEPS)
def test_a_question_killed_at_any_step_is_charged_or_unasked(step: str, ledger: Ledger, place: str, tmp_path: Path):
    before = checked(ledger, tmp_path)
    worker = Worker(place, "ask", 1, step)
    assert worker.shown() == [] and worker.process.exitcode == -signal.SIGKILL
    after = checked(open_ledger(place), tmp_path)
    assert (after == before) if step != "committed" else (after.spent == pytest.approx(before.spent + PRICE))
    asked = ledger.ask(NAME, people(), question(1000), epsilon=PRICE, asker="the same question")
    assert asked.from_past == (step == "committed")
    if step == "committed":  # what was never shown is not lost either
        assert asked.gap == after.answers[-1].gap
    assert checked(ledger, tmp_path).spent == pytest.approx(COUNT + PRICE)


@pytest.mark.parametrize("step", STEPS)
def test_a_registration_killed_at_any_step_is_whole_or_not_there(step: str, place: str, tmp_path: Path):
    ledger = open_ledger(place, create=True)
    worker = Worker(place, "register", 0, step)
    assert worker.shown() == [] and worker.process.exitcode == -signal.SIGKILL
    reopened = open_ledger(place)
    assert reopened.names() == ((NAME,) if step == "committed" else ())
    if step != "committed":
        register(ledger)
    assert checked(reopened, tmp_path).spent == COUNT


@pytest.mark.parametrize("step", ["entry written", "head moved"])
def test_a_ledger_killed_while_it_is_made_is_not_there(step: str, place: str, tmp_path: Path):
    worker = Worker(place, "create", 0, step)
    assert worker.shown() == [] and worker.process.exitcode == -signal.SIGKILL
    with pytest.raises(FairLeakError, match=r"There is no ledger at|is not there, or is not a ledger"):
        open_ledger(place)
    register(open_ledger(place, create=True))
    assert checked(open_ledger(place), tmp_path).spent == COUNT


def test_threads_may_share_a_ledger(ledger: Ledger, tmp_path: Path):
    with ThreadPoolExecutor(8) as threads:
        asked = threads.map(
            lambda k: ledger.ask(NAME, people(), question(k), epsilon=PRICE, asker=f"thread {k}"), range(24)
        )
        answers = list(asked)
    assert sum(not one.refused for one in answers) == 18
    assert checked(ledger, tmp_path).spent == BUDGET


def test_processes_killed_at_any_moment_showed_only_what_is_on_record(ledger: Ledger, place: str, tmp_path: Path):
    chance, answers = random.Random(4), []
    for wave in range(4):
        running = [Worker(place, "spend", 10 * wave + k) for k in range(3)]
        first = running[0].next()
        answers += [] if first is None else [first]
        for worker in running:
            time.sleep(chance.random() * 0.1)
            worker.process.kill()
        for worker in running:
            answers += worker.shown()
        open_ledger(place)
    assert len(answers) >= 3
    status = checked(ledger, tmp_path)
    assert told(answers).items() <= recorded(status).items()


@pytest.mark.parametrize("made", ["sqlite", "postgresql"])
def test_eight_processes_may_make_the_same_ledger(made: str, request: pytest.FixtureRequest, tmp_path: Path):
    place = str(tmp_path / "new" / "ledger") if made == "sqlite" else request.getfixturevalue("database")
    running = [Worker(place, "create") for _ in range(8)]
    for worker in running:
        assert worker.shown() == [] and worker.process.exitcode == 0
    register(open_ledger(place))
    assert checked(open_ledger(place), tmp_path).spent == COUNT
    if made == "sqlite":
        assert not list((tmp_path / "new").glob(".*"))
