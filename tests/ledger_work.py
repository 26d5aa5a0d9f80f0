"""People and questions for the ledger's tests, and a process that asks, to be started many times and killed."""

import secrets
import sqlite3
from contextlib import closing
from functools import cache

import numpy as np

from core.base.errors import FairLeakError
from core.desk import TestSet, desk_roles, open_ledger
from core.store.chain import FIRST, canonical, chained
from tests import workers

NAME, ATTRIBUTE = "loans", desk_roles("sex")
BUDGET, COUNT, PRICE = 2.0, 0.2, 0.1

STEPS = ("locked", "drawing", "charged", "entry written", "head moved", "committing", "committed")
"""Every step of a change, in order."""


@cache
def people(n=60, seed=0):
    rng = np.random.default_rng(seed)
    attribute = (rng.random(n) < 0.6).astype(np.uint8)
    attribute[:2] = (0, 1)
    ids = tuple(f"person {k}" for k in rng.permutation(n))
    return TestSet(ids=ids, attribute=attribute, labels=rng.integers(0, 2, n))


def question(seed, n=60):
    return np.random.default_rng([7, seed]).random(n)


def seeded(seed):
    rng = np.random.default_rng(seed)
    return lambda k: int(rng.integers(k))


def repeatable(monkeypatch):
    """Let ledgers of this process draw the same noise in every run: no interval misses its truth now and then."""
    monkeypatch.setitem(open_ledger.__kwdefaults__, "randbelow", seeded(0))


def altered(path, statement, *values):
    """Change a file of SQLite as somebody with its shell could."""
    with closing(sqlite3.connect(path)) as connection:
        with connection:
            connection.execute("PRAGMA ignore_check_constraints = ON")
            connection.execute(statement, values)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def register(ledger):
    ledger.register(NAME, people(), budget=BUDGET, roles=ATTRIBUTE, count_epsilon=COUNT)


def export_of(bodies):
    """Return the lines of an export of these entries, with all hashes written anew, as a forger would."""
    lines, last = [], FIRST
    for body in bodies:
        last = chained(last, canonical(body))
        lines.append(canonical({"entry": body, "hash": last}))
    first = {"kind": "FairLeak ledger export", "version": 1, "entries": len(bodies), "hash": last}
    return [canonical(first), *lines]


class Killer(workers.Killer):
    """Kills this process at a step; "drawing" is the first draw of noise."""

    def randbelow(self, k):
        self("drawing")
        return secrets.randbelow(k)


def work(location, mode, seed, step, connection):
    """Use a ledger in a process of its own, and send each answer it gave, or why it gave none.

    The mode is "ask" (one question), or "spend" (different questions until one is refused). At the step the process
    kills itself with SIGKILL; "none" lets it live.
    """
    killer = Killer(step)
    try:
        ledger = open_ledger(location, randbelow=killer.randbelow)
        killer.armed = True
        with workers.steps(killer):
            for number in range(1 if mode == "ask" else 1000):
                scores = question(1000 * seed + number)
                answer = ledger.ask(NAME, people(), scores, epsilon=PRICE, asker=f"process {seed}")
                if answer.refused:
                    return
                connection.send(answer.to_dict())
    except FairLeakError as error:
        connection.send(str(error))
