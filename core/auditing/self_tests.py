"""FairLeak tried on itself: the share of trials that went wrong, kept, in its own process.

A trial takes a study, as an audit runs it, and what it plants: a model that clearly leaks, or one that does not (the
null). It asks the audit's own judge with a policy that allows no more than is reached without a leak: a leak is called
where the policy fails the model, that is, where the whole 95% interval lies above the limit. The interval leaves out
2.5% on either side, so false positives are aimed at 2.5%, less where several attacks share them; a trial above 5% and
two standard errors of so many runs has found a fault.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..base.errors import InputError
from ..base.files import write_file
from ..base.fingerprint import code_fingerprint, content_fingerprint
from ..base.seeds import child_seed
from ..base.serialize import RecordError, Result, dumps, loads
from ..stats.estimates import Estimate, proportion
from ..studies.registry import STUDIES
from ..studies.study import Measurement, Plant, ReportProgress, Study
from .policy import Limit, Policy, Status, judge
from .result import SELF_TEST_SEED, SelfTest, kind_of_machine, versions
from .subprocess_jobs import run_in_subprocess

RUNS = 200
"""Null models of a trial whose share is 1; there are half as many planted leaks."""

MOST_FALSE_ALARMS = 0.05
LEAST_DETECTED = 0.95
"""What a trial must keep to, the first but for two standard errors of its runs."""

_FEWEST = 10

Trial = tuple[Study[Any, Any], Plant[Any]]


def trials() -> tuple[Trial, ...]:
    """Return every study with each of the leaks it must find at a policy's checks."""
    return tuple(
        (study, plant) for study in STUDIES.values() for plant in study.plants if plant.limits
    )


def finds_leak(study: Study[Any, Any], plant: Plant[Any], seed: int, planted: bool) -> bool:
    """Return whether a study, run on a plant or on its like, has a check that fails at the plant's limit."""
    subject, settings = plant.make(seed, planted)
    *_, result = study.run(subject, settings)
    measured = study.checks(result, settings)
    return any(breaks(measured[check], limit) for check, limit in plant.limits.items())


def breaks(measurement: Measurement, limit: float) -> bool:
    """Return whether a policy with this limit alone fails the model; what was not measured does not."""
    limits = (Limit(check=measurement.check, value=limit),)
    policy = Policy(name="No more than without a leak", version="1", limits=limits)
    return judge(policy, [measurement], attribute="group").overall == Status.FAIL


def self_test(
    *,
    seed: int = SELF_TEST_SEED,
    runs: int = RUNS,
    report: ReportProgress | None = None,
    tried: Sequence[Trial] | None = None,
) -> tuple[SelfTest, ...]:
    """Return the false-positive rate and the detection rate of every trial.

    `runs`, at least 10, are the null models of a trial; of plants whose share is smaller there are fewer, 10 at the
    least. `report` is called with (models tried, models in all) and may raise `core.base.errors.Cancelled` to stop.
    """
    if tried is None:
        tried = trials()
    total = sum(sum(_runs_of(plant, runs)) for _, plant in tried)
    done = 0
    results = []
    for study, plant in tried:
        called = []
        for planted, number in zip((False, True), _runs_of(plant, runs), strict=True):
            first = child_seed(seed, f"self-test, {plant.attack}, {planted}")
            leaks = 0
            for run in range(
                number
            ):  # one seed after the other: the ways a plant leaks may take turns
                leaks += finds_leak(study, plant, (first + run) % 2**32, planted)
                done += 1
                if report is not None:
                    report(done, total)
            called.append(proportion(leaks, number))
        rates = dict(zip(("false_alarms", "detected"), called, strict=True))
        results.append(
            SelfTest(attack=plant.attack, **rates, passed=passes(**rates), told=plant.explanation)
        )
    return tuple(results)


def allowed_false_alarms(runs: int) -> float:
    """Return the largest false-positive rate a trial passes with: 5% and two standard errors of so many runs."""
    return MOST_FALSE_ALARMS + 2.0 * math.sqrt(MOST_FALSE_ALARMS * (1.0 - MOST_FALSE_ALARMS) / runs)


def passes(false_alarms: Estimate, detected: Estimate) -> bool:
    """Whether a trial with these shares is passed."""
    return (
        false_alarms.value <= allowed_false_alarms(false_alarms.n)
        and detected.value >= LEAST_DETECTED
    )


def _runs_of(plant: Plant[Any], runs: int) -> tuple[int, int]:
    """Return how many null models and how many planted leaks are tried."""
    nulls = max(_FEWEST, math.ceil(plant.share * runs))
    return nulls, max(_FEWEST, math.ceil(nulls / 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class _CachedTests(Result):
    """What a file holds: the results, and the SHA-256 of them and of what they rest on."""

    tests: tuple[SelfTest, ...]
    digest: str


def cached_self_test(folder: Path, *, report: ReportProgress | None = None) -> tuple[SelfTest, ...]:
    """Return `self_test`, from a folder if it was done before with this code, these packages and this kind of machine.

    The folder is made if it is not there; a file in it that is damaged or of another origin is written again. Where it
    cannot be written to, the test is done all the same, and again the next time; of two at once the later one stays.
    """
    cached = cached_results(folder)
    if cached is not None:
        return cached
    tests = self_test(report=report)
    with contextlib.suppress(OSError, InputError):
        Path(folder).mkdir(parents=True, exist_ok=True)
        write_file(
            kept_file(folder), dumps(_cached_tests(tests)).encode(), what="the self-test's file"
        )
    return tests


def cached_results(folder: Path) -> tuple[SelfTest, ...] | None:
    """Return what a folder holds of the test as it would be made now; None if it does not."""
    try:
        cached = loads(kept_file(folder).read_text(encoding="utf-8"), _CachedTests)
    except (OSError, UnicodeDecodeError, RecordError):
        return None
    if cached == _cached_tests(cached.tests):
        return cached.tests
    return None


def _cached_tests(tests: tuple[SelfTest, ...]) -> _CachedTests:
    rests_on = (code_fingerprint(), versions(), kind_of_machine(), SELF_TEST_SEED, RUNS)
    return _CachedTests(tests=tests, digest=content_fingerprint(*rests_on, *tests))


def kept_file(folder: Path) -> Path:
    """Return where in a folder the results of this code are kept."""
    return Path(folder) / f"self-test-{code_fingerprint()}.json"


def self_test_in_subprocess(folder: Path, *, report: ReportProgress) -> tuple[SelfTest, ...]:
    """Return `cached_self_test`, made by a process of its own unless it is there.

    `report` is called several times a second; what it raises ends the process and is raised here. FairLeakError if the
    process ends without results.
    """
    cached = cached_results(folder)
    if cached is not None:
        return cached
    path = Path(folder).absolute()
    (tests,) = run_in_subprocess(lambda heard: cached_self_test(path, report=heard), report)
    return tests
