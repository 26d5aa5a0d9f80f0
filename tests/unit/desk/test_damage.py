"""Damaged files and exports are refused and stay as they are; processes that are killed leave nothing half done."""

import json
import os
import shutil
import signal
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from core.base.errors import FairLeakError, InputError
from core.desk import example_ledger, open_ledger, verify_export
from tests.ledger_work import BUDGET, COUNT, NAME, PRICE, STEPS, altered, export_of, people, question, register, work
from tests.workers import Worker


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A ledger file with some answers in it, and nothing beside it."""
    path = tmp_path_factory.mktemp("sound") / "ledger"
    ledger = open_ledger(path, create=True)
    register(ledger)
    for k in range(3):
        ledger.ask(NAME, people(), question(k), epsilon=0.1, asker="x")
    altered(path, "SELECT 1")  # nothing but where it is written
    return path


@pytest.fixture
def copied(sound, tmp_path):
    return Path(shutil.copy(sound, tmp_path / "ledger"))


def refused(path, message):
    """Check that a file is refused, with and without leave to make one, and stays as it is."""
    before = {file: file.read_bytes() for file in path.parent.iterdir()}
    for create in (False, True):
        with pytest.raises(FairLeakError, match=message) as error:
            open_ledger(path, create=create)
        assert str(error.value).count("\n") == 0 and str(path) in str(error.value)
    assert {file: file.read_bytes() for file in path.parent.iterdir()} == before


FOREIGN_DATABASE = sqlite3.connect(":memory:", isolation_level=None)
FOREIGN_DATABASE.execute("CREATE TABLE people (name)")
FOREIGN = {
    "empty": b"",
    "text": b"id,score\n1,0.5\n",
    "another program's database": FOREIGN_DATABASE.serialize(),
    "the same with a journal": FOREIGN_DATABASE.serialize(),
    "noise": os.urandom(9000),
}
FOREIGN_DATABASE.close()


@pytest.mark.parametrize("kind", FOREIGN)
def test_foreign_files_are_refused_unopened(kind, tmp_path):
    path = tmp_path / "ledger"
    path.write_bytes(FOREIGN[kind])
    if "journal" in kind:  # a change that the other program has yet to take back
        Path(f"{path}-journal").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + bytes(504))
    refused(path, "is not a FairLeak ledger and was left as it is")


@pytest.mark.parametrize(
    "statement, message",
    [
        ("UPDATE fairleak_accounts SET spent = 0", "what its budgets say is not what its entries add up to"),
        ("DELETE FROM fairleak_entries WHERE number = 3", "entry 3 is missing"),
        ("DELETE FROM fairleak_entries WHERE number = 5", "it ends with entry 4 and should end with entry 5"),
        ('UPDATE fairleak_entries SET text = replace(text, \'"asker":"x"\', \'"asker":"y"\')', "the hash of entry 3"),
        ("UPDATE fairleak_ledger SET key = replace(hex(zeroblob(32)), '00', 'ab')", "its key is not the one"),
        ("UPDATE fairleak_ledger SET hash = 'f'", "it ends with entry 5"),
        ("DELETE FROM fairleak_ledger", "it ends with entry 5 and should end with entry 0"),
        ("DROP TABLE fairleak_entries", "is not there, or is not a ledger"),
    ],
)
def test_altered_ledgers_are_refused(statement, message, copied):
    altered(copied, statement)
    refused(copied, message)


def test_every_byte_that_is_changed_is_noticed_or_means_nothing(sound, tmp_path):
    """A flipped bit either has the ledger refused or leaves everything it says as it was."""
    path, content = tmp_path / "ledger", sound.read_bytes()
    status, noticed = open_ledger(sound).status(NAME), 0
    places = range(101, len(content), 997)
    for position in places:
        wrong = bytearray(content)
        wrong[position] ^= 0x10
        path.write_bytes(wrong)
        try:
            assert open_ledger(path).status(NAME) == status
        except FairLeakError as error:
            noticed += 1
            assert path.read_bytes() == bytes(wrong), error
        for beside in tmp_path.glob("ledger-*"):
            beside.unlink()
    assert noticed > len(places) / 10


def test_a_ledger_that_becomes_damaged_while_open_answers_no_more(copied):
    ledger = open_ledger(copied)
    altered(copied, "UPDATE fairleak_accounts SET spent = 0")
    before = copied.read_bytes()
    with pytest.raises(InputError, match="is damaged and was left as it is"):
        ledger.ask(NAME, people(), question(9), epsilon=0.1, asker="x")
    assert copied.read_bytes() == before


def test_a_busy_ledger_says_so(copied, monkeypatch):
    monkeypatch.setattr("core.store.database.BUSY_SECONDS", 0.1)
    ledger, busy = open_ledger(copied), sqlite3.connect(copied, isolation_level=None)
    busy.execute("BEGIN IMMEDIATE")
    with pytest.raises(FairLeakError, match=r"was busy for [\d.]+ seconds; ask again"):
        ledger.ask(NAME, people(), question(9), epsilon=0.1, asker="x")
    assert len(ledger.status(NAME).answers) == 3  # looking is free
    busy.execute("ROLLBACK")
    busy.close()
    assert not ledger.ask(NAME, people(), question(9), epsilon=0.1, asker="x").refused


def test_a_database_refuses_to_overspend(database):
    import psycopg

    register(open_ledger(database, create=True))
    with psycopg.connect(database) as connection, pytest.raises(psycopg.errors.CheckViolation):
        connection.execute("UPDATE fairleak_accounts SET spent = budget + 1")


def checked(ledger):
    """Return the status of a ledger whose export holds and adds up."""
    verification, status = verify_export(ledger.record()[0]), ledger.status(NAME)
    assert verification.ok, verification.reason
    assert verification.budgets == (status,) and status.spent <= status.budget
    assert status.spent == pytest.approx(COUNT + sum(answer.charged for answer in status.answers), abs=1e-9)
    return status


def test_eight_processes_never_overspend(ledger, location):
    running = [Worker(work, location, "spend", seed, "none") for seed in range(8)]
    answers = [answer for worker in running for answer in worker.collected_answers()]
    assert [worker.process.exitcode for worker in running] == [0] * 8
    status = checked(ledger)
    assert len(answers) == 18 and status.spent == BUDGET  # (2 - 0.2) / 0.1, to the last of it
    assert sorted(answers, key=lambda answer: answer["number"]) == [answer.to_dict() for answer in status.answers]
    assert [answer.remaining for answer in status.answers] == pytest.approx([k * PRICE for k in range(17, -1, -1)])


@pytest.mark.parametrize("step", STEPS)
def test_a_question_killed_at_any_step_is_charged_or_unasked(step, ledger, location):
    before, is_charged = checked(ledger), step == "committed"
    worker = Worker(work, location, "ask", 1, step)
    assert worker.collected_answers() == [] and worker.process.exitcode == -signal.SIGKILL
    after = checked(open_ledger(location))
    assert (after.spent == pytest.approx(before.spent + PRICE)) if is_charged else (after == before)
    answer = ledger.ask(NAME, people(), question(1000), epsilon=PRICE, asker="the same question")
    assert answer.from_past == is_charged
    assert not is_charged or answer.gap == after.answers[-1].gap  # what was never shown is not lost either
    assert checked(ledger).spent == pytest.approx(COUNT + PRICE)


@pytest.fixture(scope="module")
def lines():
    """An export: opened, registered, charged, free, equal opportunity, charged."""
    ledger = example_ledger(1)
    register(ledger)
    for scores, metric in (
        (question(1), "statistical_parity"),
        (np.ones(60), "statistical_parity"),
        (question(2), "equal_opportunity"),
        (question(3), "statistical_parity"),
    ):
        ledger.ask(NAME, people(), scores, epsilon=0.25, metric=metric, asker="x")
    return ledger.record()[0].decode().splitlines()


def verified(lines, **more):
    return verify_export("".join(f"{line}\n" for line in lines).encode(), **more)


def test_an_export_holds_and_adds_up(lines):
    verification = verified(lines, noted=json.loads(lines[3])["hash"][:32].upper())
    assert verification.ok and verification.reason is None and verification.n_entries == 6
    (budget,) = verification.budgets
    assert budget.spent == 0.2 + 0.25 + 0.45 + 0.25
    assert [answer.from_past for answer in budget.answers] == [False, True, False, False]


def test_entries_dropped_swapped_doubled_or_cut_off_fail_verification(lines):
    for changed in (
        lines[:3] + lines[4:],
        [*lines[:3], lines[4], lines[3], *lines[5:]],
        [*lines[:4], lines[3], *lines[4:]],
        lines[:-1],
        [*lines, ""],
        [line.replace('"hash":', '"hash": ') for line in lines],
        [lines[0], *(line.replace('{"entry":{', '{"entry":{"asker":"y",', 1) for line in lines[1:])],
    ):
        verification = verified(changed)
        assert not verification.ok and verification.reason.startswith("Verification failed: ")


FORGED = [
    (2, {"budget": 99_000_000}, None),  # consistent in itself: only a noted hash tells
    (3, {"asker": "somebody else"}, None),
    (4, {"size_from": 6}, "entry 4 lacks something"),
    (3, {"metric": "accuracy"}, "entry 3 answers an unknown metric"),
    (3, {"kind": "opened"}, "entry 3 is not of a kind that may stand there"),
]


@pytest.mark.parametrize("number, changes, reason", FORGED)
def test_a_chain_written_anew(number, changes, reason, lines):
    noted = json.loads(lines[-1])["hash"]
    bodies = [json.loads(line)["entry"] for line in lines[1:]]
    bodies[number - 1] |= changes
    forged = export_of(bodies)
    verification = verified(forged)
    assert verification.ok == (reason is None) and (reason is None or reason in verification.reason)
    verification = verified(forged, noted=noted)
    assert not verification.ok and (reason is not None or "does not contain the noted hash" in verification.reason)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\0", b'{"kind":"else"}\n', b"[" * 100_000])
def test_files_that_are_no_exports_are_refused(content):
    with pytest.raises(InputError, match="is not an export of a FairLeak ledger"):
        verify_export(content)
