"""A disk of 2 MB that fills up while FairLeak writes: the sentence names it, and nothing is lost or half there."""

import contextlib
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from core.__main__ import main
from core.base.errors import FairLeakError
from core.cli.audit import write_audit
from core.desk import open_ledger, verify_export
from core.experiments.engine import FileStore, measured_points
from core.report import Reports
from tests.experiment_work import CONFIGS, MeasuredModel, measure
from tests.experiment_work import people as sample_people
from tests.ledger_work import COUNT, NAME, PRICE, STEPS, people, question, register
from tests.samples_report import judged_audit
from tests.workers import steps

DISK = "the disk is full"


class Disk:
    """A small disk with a file on it that takes the room."""

    def __init__(self, folder):
        self.folder = folder / "disk"
        self.folder.mkdir()
        self.filler = self.folder / "filler"

    def fill(self, left=0):
        """Take all room but for so many bytes."""
        with self.filler.open("ab", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(4096))
        os.truncate(self.filler, max(self.filler.stat().st_size - left, 0))

    def empty(self):
        self.filler.unlink(missing_ok=True)

    def names(self):
        """Return what is on the disk besides the filler and SQLite's own files beside a ledger."""
        paths = {str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file()}
        return {name for name in paths if name != "filler" and not name.endswith(("-wal", "-shm"))}


@pytest.fixture
def disk(tmp_path):
    mounted = Disk(tmp_path)
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(mounted.folder)]
    try:
        subprocess.run(mount, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no disk of 2 MB can be mounted here: {error}")
    yield mounted
    subprocess.run(["umount", "-l", str(mounted.folder)], check=True)


@pytest.fixture
def ledger_path(disk):
    """A ledger on the disk, with one answer."""
    path = disk.folder / "ledger"
    ledger = open_ledger(path, create=True)
    register(ledger)
    ledger.ask(NAME, people(), question(1), epsilon=PRICE, asker="x")
    return path


def refused(do):
    """Return whether something is refused, in one sentence that names the disk and speaks of no damage."""
    try:
        do()
    except FairLeakError as error:
        assert DISK in str(error) and "damaged" not in str(error) and "\n" not in str(error)
        return True
    return False


def answer_count(path):
    """Return how many answers a ledger holds, whose sums and export hold."""
    ledger = open_ledger(path)
    status = ledger.status(NAME)
    verification = verify_export(ledger.record()[0])
    assert verification.ok and verification.budgets[0].spent == status.spent
    assert status.spent == pytest.approx(COUNT + PRICE * len(status.answers))
    return len(status.answers)


def ask(ledger, seed):
    ledger.ask(NAME, people(), question(seed), epsilon=PRICE, asker="x")


@pytest.mark.parametrize("step", [step for step in STEPS if step != "drawing"])
def test_a_disk_that_fills_while_a_question_is_answered(step, ledger_path, disk):
    ledger = open_ledger(ledger_path)
    with steps(lambda done: disk.fill() if done == step else None):
        lost = refused(lambda: ask(ledger, 2))
    assert lost == (step != "committed")
    disk.empty()
    assert answer_count(ledger_path) == (1 if lost else 2)
    ask(open_ledger(ledger_path), 3)
    assert answer_count(ledger_path) == (2 if lost else 3)


def test_a_full_disk_is_no_damage(ledger_path, disk, capsys):
    ledger, names = open_ledger(ledger_path), disk.names()
    disk.fill()
    for do in (
        lambda: open_ledger(ledger_path),
        lambda: ask(ledger, 2),
        lambda: ledger.status(NAME),
        lambda: ledger.export(disk.folder / "export"),
        lambda: open_ledger(disk.folder / "new", create=True),
    ):
        assert refused(do)
    assert main(["desk", "status", "--ledger", str(ledger_path)]) == 3
    assert DISK in capsys.readouterr().err
    assert disk.names() == names
    disk.empty()
    assert answer_count(ledger_path) == 1


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.long
def test_a_report_is_written_whole_or_not_at_all(disk, tmp_path):
    reports, out, outcomes = Reports(judged_audit()), disk.folder / "out", []
    write_audit(reports, tmp_path / "out")
    expected = contents(tmp_path / "out")
    size = sum(map(len, expected.values()))
    for has_earlier in (False, True):  # without and with an earlier report, which stays until the new one is whole
        for share in (0.0, 0.02, 0.3, 0.6, 0.9, 2.0):
            disk.fill(int(share * size))
            lost = refused(lambda: write_audit(reports, out, force=True))
            disk.empty()
            outcomes.append(lost)
            assert contents(out) == (expected if has_earlier or not lost else {})
            assert disk.names() == {f"out/{name}" for name in contents(out)}
            if not has_earlier and not lost:
                break
    assert True in outcomes and outcomes[-1] is False


def test_an_experiment_goes_on_when_there_is_room_again(disk):
    measured = []

    def filling(config, dataset):
        measured.append(config)
        if len(measured) == 3:
            disk.fill()
        return measure(config, dataset)

    points = partial(measured_points, CONFIGS[:4], sample_people(), measure=filling, result=MeasuredModel)
    store = disk.folder / "store"
    assert refused(lambda: list(points(store=FileStore(store))))
    disk.empty()
    assert len(FileStore(store)) == 2 and disk.names() == {"store"}
    measured += CONFIGS  # so that it is not filled again
    before = len(measured)
    again = FileStore(store)
    assert len(list(points(store=again))) == 4
    assert len(measured) - before == 2 and not again.notes


@pytest.mark.long
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_results_that_find_no_room_are_one_sentence(tmp_path):
    register(open_ledger(tmp_path / "ledger", create=True))
    command = [sys.executable, "-m", "core", "desk", "status", "--ledger", str(tmp_path / "ledger")]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    sentence = "fairleak desk status: The disk is full; make room and start again."
    assert (done.returncode, done.stderr.splitlines()) == (3, [sentence])
