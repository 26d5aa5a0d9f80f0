"""Writers that are killed while they keep an audit: nothing acknowledged is lost, nothing is there twice or by half."""

from __future__ import annotations

import signal

import pytest

from core.base.errors import FairLeakError
from core.store.history import History
from tests.history_work import MODEL, STEPS, VERSION, report, work
from tests.workers import Worker


def checked(location: str, *, once: bool = True) -> dict[int, str]:
    """Return number -> fingerprint of everything kept, each read whole; none is there twice."""
    history = History.open(location, create=False)
    entries = history.entries()
    for entry in entries:
        assert history.document(entry).fingerprint == entry.fingerprint
    assert not once or len({entry.fingerprint for entry in entries}) == len(entries)
    return {entry.id: entry.fingerprint for entry in entries}


@pytest.mark.parametrize("step", STEPS)
def test_a_writer_killed_at_any_step_kept_all_or_nothing(step, stored, location):
    worker = Worker(work, location, "keep", 1, step)
    assert worker.collected_answers() == [] and worker.process.exitcode == -signal.SIGKILL
    survivors = checked(location)
    assert len(survivors) == (step == "committed")
    entry = stored.keep(report("1 0"), model=MODEL, version=VERSION, who="the same once more")
    assert checked(location) == {entry.id: entry.fingerprint}
    assert set(survivors) <= {entry.id}


@pytest.mark.parametrize("step", ["entry written", "head moved"])
def test_a_history_killed_while_it_is_made_is_absent(step, location):
    worker = Worker(work, location, "create", 0, step)
    assert worker.collected_answers() == [] and worker.process.exitcode == -signal.SIGKILL
    with pytest.raises(FairLeakError, match=r"There is no history at|is not there, or is not a history"):
        History.open(location, create=False)
    History.open(location)
    assert checked(location) == {}


def test_writers_of_the_same_audit_keep_it_once(stored, location):
    running = [Worker(work, location, "same", k, "none") for k in range(4)]
    answers = [answer for worker in running for answer in worker.collected_answers()]
    assert len(answers) == 4 and len({answer["id"] for answer in answers}) == 1
    assert list(checked(location).values()) == [answers[0]["fingerprint"]]
