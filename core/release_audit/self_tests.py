"""FairLeak tried on itself: the share of trials that went wrong, kept, in its own process.

The child writes a line for every step done and, as its last line, the results; its standard input is a pipe that
nothing is written to. When that pipe closes, the one who asked has ended or is no longer interested, and so the child
ends as well, however the other one ended.
"""

from __future__ import annotations

import contextlib
import inspect
import math
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import core
from core.errors import FairLeakError, InputError
from core.estimates import Estimate, proportion
from core.files import write_file
from core.fingerprint import code_fingerprint, content_fingerprint
from core.policy import CHECKS, Limit, Policy, Status, judge
from core.release_audit.result import SELF_TEST_SEED, SelfTest, kind_of_machine, versions
from core.release_audit.self_test_trials import TRIALS, Trial
from core.seeds import child_seed
from core.serialize import RecordError, Result, dumps, loads
from core.studies import STUDIES
from core.study import Basis, Check, Outcome, Study
from core.subject import Subject
from core.validation import seed_value

Report = Callable[[int, int], None]

RUNS = 200
"""Null models of every trial; there are half as many planted leaks."""

MOST_FALSE_ALARMS, LEAST_DETECTED = 0.05, 0.95
"""What a trial must keep to, the first but for two standard errors of its runs."""

BLOCK = 20
"""Runs made at a time, after which progress is reported."""

_FEWEST = 10


SHARE = 0.05
"""Of the runs asked for, how many a study makes: each is a whole run of it."""


_GAINS, _RATES = ("points", "bits"), ("percent", "ratio")
_AGAINST_CHANCE = (*_GAINS, *_RATES)
"""Units of checks that have a chance level: a gain of nothing, or the control."""


def all_trials() -> tuple[Trial, ...]:
    """Return the trials of several plants each, and one for each further study whose checks tell a leak from none."""
    known = {trial.study for trial in TRIALS}
    others = (study for study in STUDIES.values() if study.name not in known and any(map(_tells, study.declared)))
    return (*TRIALS, *map(_trial, others))


def _tells(check: Check) -> bool:
    """Whether a check measures a leak against chance, on predictions and scores alone."""
    return not check.at_least and check.unit in _AGAINST_CHANCE and {*check.needs} <= {"predictions", "scores"}


def _trial(study: Study[Any, Any]) -> Trial:
    """Return the trial of a study: whether it finds a leak in what it planted, and none in what is harmless."""

    def leaks(seed: int, runs: range, planted: bool) -> list[bool]:
        make = study.planted if planted else study.harmless
        seeds = (child_seed(seed, f"self-test, {study.name}, {number}, {planted}") for number in runs)
        return [finds_leak(study, make(own)) for own in seeds]

    null, plant = (inspect.getdoc(make) or "" for make in (study.harmless, study.planted))
    told = f"Null: {null.partition(chr(10))[0]} Planted: {plant.partition(chr(10))[0]}"
    return Trial(study=study.name, attack=study.title, told=told, leaks=leaks, share=SHARE)


def finds_leak(study: Study[Any, Any], subject: Subject) -> bool:
    """Return whether a policy that allows nothing beyond chance fails a subject by this study's checks.

    Chance is the control of a rate or a ratio, and no gain of points or bits; what is declared, or no leak, is left
    out. All checks are judged together.
    """
    settings = study.settings()
    *_, result = study.run(subject, settings)
    measured = [
        one
        for name, one in study.checks(result, settings).items()
        if one.outcome == Outcome.DONE and one.basis != Basis.DECLARED and not CHECKS[name].at_least
    ]
    chance = {one.check: 0.0 for one in measured if CHECKS[one.check].unit in _GAINS}
    chance |= {m.check: m.control.value for m in measured if m.control and CHECKS[m.check].unit in _RATES}
    limits = tuple(Limit(check=check, value=value) for check, value in chance.items())
    if not limits:
        return False
    policy = Policy(name="Nothing beyond chance", version="1", limits=limits)
    return judge(policy, measured, attribute="group").overall == Status.FAIL


def self_test(
    *,
    seed: int = SELF_TEST_SEED,
    runs: int = RUNS,
    report: Report | None = None,
    trials: Sequence[Trial] | None = None,
) -> tuple[SelfTest, ...]:
    """Try FairLeak's attacks and verdicts on models that are known to leak, or not to.

    Every trial has `runs` null models, at least 10; an attack that takes long makes fewer. Of planted leaks, which are
    caught or missed by far, half as many are made, of both at least 10. Run i of a trial is the same however many runs
    there are; `trials` are all when left out. `report` is called with (models done, models in all) and may raise
    `core.errors.Cancelled` to stop.
    InputError if the seed or `runs` break their rule.
    """
    trials = all_trials() if trials is None else trials
    seed_value(seed)
    if isinstance(runs, bool) or not isinstance(runs, int) or runs < _FEWEST:
        raise InputError(f"runs must be a whole number of at least {_FEWEST}, got {runs!r}.")
    total = sum(sum(_runs_of(trial, runs)) for trial in trials)
    done = 0
    found = []
    for trial in trials:
        called = []
        for planted, number in zip((False, True), _runs_of(trial, runs), strict=True):
            leaks = 0
            for start in range(0, number, BLOCK):
                block = range(start, min(start + BLOCK, number))
                leaks += sum(trial.leaks(seed, block, planted))
                done += len(block)
                if report is not None:
                    report(done, total)
            called.append(proportion(leaks, number))
        rates = dict(zip(("false_alarms", "detected"), called, strict=True))
        found.append(SelfTest(attack=trial.attack, **rates, passed=passes(**rates), told=trial.told))
    return tuple(found)


def allowed_false_alarms(runs: int) -> float:
    """Return the largest share of false alarms a trial passes with: 5% and two standard errors of so many runs."""
    return MOST_FALSE_ALARMS + 2.0 * math.sqrt(MOST_FALSE_ALARMS * (1.0 - MOST_FALSE_ALARMS) / runs)


def passes(false_alarms: Estimate, detected: Estimate) -> bool:
    """Whether a trial with these shares is passed."""
    return false_alarms.value <= allowed_false_alarms(false_alarms.n) and detected.value >= LEAST_DETECTED


def _runs_of(trial: Trial, runs: int) -> tuple[int, int]:
    """Return how many null models and how many planted leaks a trial makes."""
    nulls = max(_FEWEST, math.ceil(trial.share * runs))
    return nulls, max(_FEWEST, math.ceil(nulls / 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept(Result):
    """What a file holds: the results, what they rest on, and the SHA-256 of both."""

    rests_on: str
    tests: tuple[SelfTest, ...]
    digest: str


def cached_self_test(
    folder: Path, *, seed: int = SELF_TEST_SEED, runs: int = RUNS, report: Report | None = None
) -> tuple[SelfTest, ...]:
    """Return `self_test`, from a folder if it was done before with this code, these packages and this kind of machine.

    The folder is made if it is not there; a file in it that is damaged or of another origin is written anew. Where it
    cannot be written to, the test is done all the same, and again the next time.
    """
    kept = there(folder, seed=seed, runs=runs)
    if kept is not None:
        return kept
    tests = self_test(seed=seed, runs=runs, report=report)
    _keep(tests, folder, _rests_on(seed, runs))
    return tests


def there(folder: Path, *, seed: int = SELF_TEST_SEED, runs: int = RUNS) -> tuple[SelfTest, ...] | None:
    """Return what a folder holds of the test as it would be made now; None if it does not."""
    try:
        kept = loads(kept_file(folder).read_text(encoding="utf-8"), _Kept)
    except (OSError, UnicodeDecodeError, RecordError):
        return None
    return kept.tests if kept == _kept(kept.tests, _rests_on(seed, runs)) else None


def _rests_on(seed: int, runs: int) -> str:
    return content_fingerprint(code_fingerprint(), versions(), kind_of_machine(), seed, runs)


def _kept(tests: tuple[SelfTest, ...], rests_on: str) -> _Kept:
    return _Kept(rests_on=rests_on, tests=tests, digest=content_fingerprint(rests_on, *tests))


def kept_file(folder: Path) -> Path:
    """Return where in a folder the results of this code are kept."""
    return Path(folder) / f"self-test-{code_fingerprint()}.json"


def _keep(tests: tuple[SelfTest, ...], folder: Path, rests_on: str) -> None:
    """Write the results where that is possible; of two at once the later ones stay."""
    with contextlib.suppress(OSError, InputError):
        Path(folder).mkdir(parents=True, exist_ok=True)
        write_file(kept_file(folder), dumps(_kept(tests, rests_on)).encode(), what="the self-test's file")


_CODE = f"from {__name__} import child; child()"
_RESULT = "="
_GLANCE = 0.25
"""Seconds between two looks at whether the one who asked still wants it."""

_NICE = 10
"""How far the child gives way to what a person waits for."""


def self_test_apart(
    folder: Path, *, seed: int = SELF_TEST_SEED, runs: int = RUNS, report: Report | None = None
) -> tuple[SelfTest, ...]:
    """Return `cached_self_test`, made by a process of its own unless it is there.

    `report` is called several times a second; what it raises ends the process and is raised here. FairLeakError if the
    process cannot be started, or ends without results.
    """
    kept = there(folder, seed=seed, runs=runs)
    if kept is not None:
        return kept
    root = str(Path(core.__file__).parents[1])
    paths = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", _CODE, str(Path(folder).absolute()), str(seed), str(runs)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
        )
    except OSError as error:
        raise FairLeakError("The process for FairLeak's test of itself could not be started.") from error
    with process:
        try:
            found = _followed(process, report)
        finally:
            process.kill()
    if found is None:
        raise FairLeakError("FairLeak's test of itself ended without results, most likely for want of memory.")
    return found


def _followed(process: subprocess.Popen[bytes], report: Report | None) -> tuple[SelfTest, ...] | None:
    """Report what the child tells, and return its results; None if it ends without."""
    assert process.stdout is not None
    lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    threading.Thread(target=_put_lines, args=(process.stdout, lines), daemon=True, name="fairleak-self-test").start()
    done, total = 0, 0
    while True:
        with contextlib.suppress(queue.Empty):
            line = lines.get(timeout=_GLANCE)
            if line is None:
                return None
            if line.startswith(_RESULT):
                with contextlib.suppress(RecordError):
                    return loads(line.removeprefix(_RESULT), _Kept).tests
                return None
            done, total = map(int, line.split())
        if report is not None:
            report(done, total)


def _put_lines(stream: IO[bytes], lines: queue.SimpleQueue[str | None]) -> None:
    with contextlib.suppress(OSError, ValueError):  # closed while it was read
        for line in stream:
            lines.put(line.decode().strip())
    lines.put(None)


def child() -> None:
    """Make the test as the command line asks, and tell how far it is; what the child does."""
    folder, seed, runs = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    threading.Thread(target=_end_with_the_asker, daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(_NICE)

    def tell(line: str) -> None:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()

    tests = cached_self_test(folder, seed=seed, runs=runs, report=lambda done, total: tell(f"{done} {total}"))
    tell(_RESULT + dumps(_kept(tests, "")))


def _end_with_the_asker() -> None:
    os.read(0, 1)  # returns when the pipe is closed at its other end
    os._exit(1)
