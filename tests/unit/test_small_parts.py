"""Numbers of numpy, seeds, what goes with a dataset, and convex programs."""

import hashlib
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, make_dataclass, replace
from unittest.mock import Mock

import cvxpy
import numpy as np
import psutil
import pytest

from core.auditing.subprocess_jobs import run_in_process, run_in_subprocess
from core.base.errors import Cancelled, FairLeakError, InputError
from core.base.solvers import rescaled, solve
from core.base.untrusted import child
from core.store.chain import FIRST, Damaged, Link, Record, canonical, chained, linked
from tests import samples
from tests.patience import PATIENT, wait_until


@pytest.fixture
def people():
    return samples.dataset(200, seed=3)


def test_it_is_made_once_for_each_key_and_again_where_it_failed(people):
    calls = []
    for key in ("a", "b", "a", "b"):
        assert people.once(key, lambda key=key: calls.append(key) or key.upper()) == key.upper()
    assert calls == ["a", "b"]
    with pytest.raises(ZeroDivisionError):
        people.once("failed", lambda: 1 / 0)
    assert people.once("failed", lambda: 2) == 2


def test_arrays_of_what_is_kept_are_read_only(people):
    holder = make_dataclass("Holder", ["numbers"])(np.zeros(2))
    arrays = people.once("arrays", lambda: (np.zeros(2), [{"x": np.zeros(2)}], holder))
    for array in (arrays[0], arrays[1][0]["x"], holder.numbers):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_all_threads_are_given_the_same(people):
    def make():
        time.sleep(0.01)
        return object()

    with ThreadPoolExecutor(8) as pool:
        objects = list(pool.map(lambda _: people.once("a", make), range(8)))
    assert len({id(item) for item in objects}) == 1


def program(*, least=0.0):
    x = cvxpy.Variable(3)
    return x, cvxpy.Problem(cvxpy.Minimize(-cvxpy.sum(cvxpy.log(x))), [cvxpy.sum(x) == 1, x >= least])


def test_an_inaccurate_solution_is_one_and_no_solution_is_an_error():
    # warnings are errors here
    x, problem = program()
    solve(problem, tol_gap_abs=1e-17, tol_gap_rel=1e-17, tol_feas=1e-17)
    assert x.value == pytest.approx([1 / 3] * 3, abs=1e-6) and problem.status == cvxpy.OPTIMAL_INACCURATE
    with pytest.raises(FairLeakError, match="Clarabel gave up: infeasible"):
        solve(program(least=0.5)[1])
    with pytest.raises(FairLeakError, match="Clarabel gave up: user_limit"):
        solve(program()[1], max_iter=1)


@pytest.mark.parametrize(
    ("objectives", "searches"),
    [((8.0, 2.0), 1), ((8.0, 1.9, 1.9), 2), ((0.0, 0.0), 1), ((64.0, 9.0, 1.0, 0.5), 3)],
    ids=["a fourth", "less", "nothing", "twice"],
)
def test_rescaled_searches_again_while_the_objective_falls_below_a_fourth(objectives, searches):
    """The objective is the first number before any search, and the next after each."""
    done = []

    def search():
        done.append(0.0)
        return float(len(done))

    bound = rescaled(lambda: objectives[min(len(done), len(objectives) - 1)], search, lambda: len(done) > 5)
    assert bound == len(done) == searches


@dataclass(slots=True, kw_only=True)
class Transcript(Record):
    entries: list[tuple[str, int]] = field(default_factory=list)

    def follow(self, kind, link, body):
        assert "kind" not in body
        self.entries.append((kind, 12 // int(body["word"])))


def chain(*bodies):
    links = []
    for number, body in enumerate(bodies, start=1):
        links.append(linked(number, links[-1].hash if links else FIRST, body))
    return links


OPENED, MORE = {"kind": "opened", "format": 1, "word": 3}, {"word": "4", "kind": "more"}


def test_an_entry_is_its_text_and_the_hash_of_what_came_before():
    first, second = chain(OPENED, {"word": "é", "kind": "a"})
    assert (first.number, first.text) == (1, '{"format":1,"kind":"opened","word":3}')
    assert (second.number, second.text) == (2, '{"kind":"a","word":"\\u00e9"}')
    assert first.hash == hashlib.sha256(f"{'0' * 64}\n{first.text}".encode()).hexdigest()
    assert second.hash == hashlib.sha256(f"{first.hash}\n{second.text}".encode()).hexdigest()
    with pytest.raises(ValueError, match="JSON"):
        canonical({"word": float("nan")})


GOOD = chain(OPENED, MORE)


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ([], "it has no entries"),
        (GOOD[1:], "entry 1 is missing"),
        ([GOOD[0], GOOD[0]], "entry 2 is missing"),
        ([GOOD[0], replace(GOOD[1], text=GOOD[1].text + " ")], "the hash of entry 2 does not follow from its text"),
        ([GOOD[0], Link(2, "{", chained(GOOD[0].hash, "{"))], "entry 2 is not JSON"),
        ([GOOD[0], Link(2, "[]", chained(GOOD[0].hash, "[]"))], "entry 2 is not a record"),
        (chain(MORE), "entry 1 is not of a kind that may stand there"),
        (chain(OPENED, OPENED), "entry 2 is not of a kind that may stand there"),
        *((chain(OPENED, MORE | {"word": word}), "entry 2 lacks something") for word in (0, "a", None)),
        (chain(OPENED, {"word": 3}), "entry 2 lacks something"),
    ],
)
def test_what_does_not_follow_is_refused_and_leaves_nothing_behind(links, message):
    with pytest.raises(Damaged, match=f"^{message}"):
        Transcript.of(links)
    *before, last = links or GOOD[1:]
    transcript = Transcript()
    for link in before:
        transcript.add(link)
    state = transcript.number, transcript.hash, list(transcript.entries)
    with pytest.raises(Damaged):
        transcript.add(last)
    assert (transcript.number, transcript.hash, transcript.entries) == state


forks = pytest.mark.skipif(not child.FORKS, reason="the system cannot fork safely")


deaf = Mock()


@forks
def test_results_come_as_they_grow():
    def squares(report):
        for i in range(5):
            report(i, 5)
            yield i * i

    heard = []
    assert list(run_in_subprocess(squares, lambda *step: heard.append(step))) == list(run_in_process(squares, deaf))
    assert heard[-1] == (4, 5)


@forks
def test_it_gives_way_after_its_first_part():
    def niceness(_):
        yield os.nice(0)
        yield os.nice(0)

    before = os.nice(0)
    assert list(run_in_subprocess(niceness, deaf, nice=before, then=before + 7)) == [before, min(19, before + 7)]


@forks
def test_it_knows_what_the_data_remember():
    dataset = samples.dataset(200)
    remembered = dataset.once("known", lambda: 3)

    def work(_):
        return dataset, dataset.once("known", lambda: 0) + dataset.once("made", lambda: os.getpid())

    ((same, total),) = run_in_subprocess(work, deaf, about=dataset)
    assert same is dataset and total - remembered == dataset.once("made", lambda: 0) != os.getpid()


@forks
def test_errors_come_back_and_a_process_that_dies_is_one_sentence():
    def refuse(_):
        raise InputError("The bound must be at most 1, got 2.")

    with pytest.raises(InputError, match="got 2"):
        list(run_in_subprocess(refuse, deaf))
    with pytest.raises(FairLeakError, match="ended without a result"):
        list(run_in_subprocess(lambda _: os._exit(3), deaf))


@forks
def test_a_fresh_process_does_it_where_none_can_be_forked(monkeypatch):
    monkeypatch.setattr(child, "FORKS", False)
    assert next(run_in_subprocess(lambda _: os.getpid(), deaf)) != os.getpid()
    assert next(run_in_subprocess(lambda _: os.getpid(), deaf, nice=0, then=0)) == os.getpid()


@forks
def test_who_stops_leaves_no_process_behind():
    with pytest.raises(Cancelled):
        list(run_in_subprocess(lambda _: time.sleep(PATIENT), Mock(side_effect=Cancelled("Stopped."))))
    children = psutil.Process().children
    wait_until(lambda: not any(warm.children(recursive=True) for warm in children()), "no process left")


@forks
@pytest.mark.long
def test_it_ends_when_the_one_who_asked_is_killed():
    asker = (
        "import time, os; from core.auditing.subprocess_jobs import run_in_subprocess\n"
        "def work(report):\n    yield os.getpid()\n    time.sleep(600)\n"
        "for pid in run_in_subprocess(work, lambda *_: None): print(pid, flush=True)"
    )
    with subprocess.Popen([sys.executable, "-c", asker], stdout=subprocess.PIPE, text=True) as process:
        pid = int(process.stdout.readline())
        process.kill()
    wait_until(lambda: not psutil.pid_exists(pid), "no process left")
