"""People and questions for the ledger's tests; also a program that asks, to be run many times at once and killed.

``python -m tests.ledger_work PLACE MODE SEED STEP [N]`` prints one line of JSON for each answer it was given. MODE is
``create`` (the ledger), ``register``, ``ask`` (one question), or ``spend`` (different questions until one is refused).
At STEP the program kills itself with SIGKILL; ``none`` lets it live. N people are asked about, 60 unless it is said.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from core.desk import Columns, Ledger, TestSet, open_ledger

NAME, ATTRIBUTE = "loans", Columns(attribute="sex")
BUDGET, COUNT, PRICE = 2.0, 0.2, 0.1

STEPS = ("locked", "drawing", "question kept", "charged", "entry written", "head moved", "committing", "committed")
"""Every step of a change, in order."""


@cache
def people(n: int = 60, seed: int = 0) -> TestSet:
    """Return a test set, the same in every process."""
    rng = np.random.default_rng(seed)
    attribute = (rng.random(n) < 0.6).astype(np.uint8)
    attribute[:2] = (0, 1)
    ids = tuple(f"person {k}" for k in rng.permutation(n))
    return TestSet(ids=ids, attribute=attribute, labels=rng.integers(0, 2, n))


def question(seed: int, n: int = 60) -> npt.NDArray[np.float64]:
    """Return a model's predictions."""
    return np.random.default_rng([7, seed]).random(n)


def seeded(seed: int) -> Callable[[int], int]:
    """Return a source of noise that can be repeated."""
    rng = np.random.default_rng(seed)
    return lambda k: int(rng.integers(k))


def repeatable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ledgers of this process draw the same noise in every run: no interval misses its truth now and then."""
    monkeypatch.setitem(open_ledger.__kwdefaults__, "randbelow", seeded(0))  # type: ignore[arg-type]


def register(ledger: Ledger) -> None:
    """Register the test set."""
    ledger.register(NAME, people(), budget=BUDGET, columns=ATTRIBUTE, count_epsilon=COUNT)


class Killer:
    """Kills this process at a step; "drawing" is the first draw of noise."""

    def __init__(self, step: str) -> None:
        self.step, self.armed = step, False

    def __call__(self, step: str) -> None:
        """Die if this is the step."""
        if self.armed and step == self.step:
            os.kill(os.getpid(), signal.SIGKILL)

    def randbelow(self, k: int) -> int:
        """Draw, unless it is time to die."""
        self("drawing")
        return secrets.randbelow(k)


def main(place: str, mode: str, seed: int, step: str, n: int = 60) -> None:
    """Do what the arguments say."""
    killer = Killer(step)
    killer.armed = mode == "create"
    ledger = open_ledger(place, create=mode == "create", randbelow=killer.randbelow, on_step=killer)
    killer.armed = True
    if mode == "register":
        register(ledger)
    number = 0
    while mode in ("ask", "spend"):
        scores = question(1000 * seed + number, n)
        answer = ledger.ask(NAME, people(n), scores, epsilon=PRICE, asker=f"process {seed}")
        if answer.refused:
            return
        sys.stdout.write(json.dumps(answer.to_dict()) + "\n")
        sys.stdout.flush()
        number += 1
        if mode == "ask":
            return


if __name__ == "__main__":
    place = sys.argv[1] if "://" in sys.argv[1] else str(Path(sys.argv[1]))
    main(place, sys.argv[2], int(sys.argv[3]), sys.argv[4], *map(int, sys.argv[5:]))
