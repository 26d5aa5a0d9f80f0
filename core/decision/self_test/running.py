"""All trials, and what share of them went wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from core.decision.provenance import SELF_TEST_SEED
from core.decision.result import SelfTest
from core.decision.self_test.answers import ANSWER_TRIALS
from core.decision.self_test.attribute import ATTRIBUTE_TRIALS
from core.decision.self_test.correction import CORRECTION_TRIALS
from core.decision.self_test.membership import MEMBERSHIP_TRIALS
from core.decision.self_test.trial import Trial
from core.errors import InputError
from core.estimates import Estimate, proportion
from core.validation import seed_value

Report = Callable[[int, int], None]

RUNS = 200
"""Null models of every trial; there are half as many planted leaks."""

MOST_FALSE_ALARMS, LEAST_DETECTED = 0.05, 0.95
"""What a trial must keep to, the first but for two standard errors of its runs."""

TRIALS: tuple[Trial, ...] = (*ATTRIBUTE_TRIALS, *CORRECTION_TRIALS, *ANSWER_TRIALS, *MEMBERSHIP_TRIALS)

BLOCK = 20
"""Runs made at a time, after which progress is reported."""

_FEWEST = 10


def self_test(
    *,
    seed: int = SELF_TEST_SEED,
    runs: int = RUNS,
    report: Report | None = None,
    trials: Sequence[Trial] = TRIALS,
) -> tuple[SelfTest, ...]:
    """Try FairLeak's attacks and verdicts on models that are known to leak, or not to.

    Parameters
    ----------
    seed : int
        Same seed, same models; run i of a trial is the same however many runs there are.
    runs : int, at least 10
        Null models of every trial; an attack that takes long makes fewer. Of planted leaks, which are caught or missed
        by far, half as many are made, of both at least 10.
    report : callable, optional
        Called with (models done, models in all); may raise `core.errors.Cancelled` to stop.

    Raises
    ------
    InputError
        If an argument breaks its rule.
    """
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
        found.append(_judged(trial, *called))
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


def _judged(trial: Trial, false_alarms: Estimate, detected: Estimate) -> SelfTest:
    return SelfTest(
        attack=trial.attack,
        false_alarms=false_alarms,
        detected=detected,
        passed=passes(false_alarms, detected),
        told=trial.told,
    )
