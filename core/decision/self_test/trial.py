"""One attack of the audit, tried on models of which it is known whether they leak.

A trial makes people out of a known law, and a model that either gives away nothing about what is attacked (the null) or
clearly does (the planted leak). It runs the audit's own attack, takes the audit's own measurement, and asks the audit's
own judge with a policy that allows no more than the control: a leak is called where the policy fails the model, that
is, where the whole 95% interval lies above the control. The interval leaves out 2.5% on either side, so false alarms
are aimed at 2.5%, less where several attacks share them; a trial above 5% and two standard errors of so many runs has
found a fault.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from core.policy import Limit, Measurement, Policy, Status, judge
from core.seeds import child_generator, child_seed

_LEVEL = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """How one attack is tried.

    Attributes
    ----------
    attack : str
        What is attacked and by whom, as a table shows it.
    told : str
        What the null and the planted leak are, in one sentence.
    leaks : callable
        (seed, runs, planted) -> for each of the runs, numbers from 0 on, whether a leak was called. Run i is the same
        model whatever other runs are asked for, as long as blocks begin at multiples of `BLOCK`.
    share : float in (0, 1]
        Of the runs asked for, how many are made: fewer of an attack that takes long. Half as many of planted leaks.
    """

    attack: str
    told: str
    leaks: Callable[[int, range, bool], Sequence[bool]]
    share: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One model of a trial: its number, whether a leak is planted, its random numbers and the seed of its audit."""

    number: int
    planted: bool
    rng: np.random.Generator
    seed: int


def each(name: str, leaks: Callable[[Run], bool]) -> Callable[[int, range, bool], Sequence[bool]]:
    """Return the trial of several runs from that of one; the random numbers of a run hang on the trial's name."""

    def one(seed: int, number: int, planted: bool) -> bool:
        key = f"self-test, {name}, {number}, {planted}"
        return leaks(Run(number=number, planted=planted, rng=child_generator(seed, key), seed=child_seed(seed, key)))

    return lambda seed, runs, planted: [one(seed, number, planted) for number in runs]


def called(measurement: Measurement, control: float) -> bool:
    """Return whether a policy that allows no more than the control fails the model; what was not measured does not."""
    policy = Policy(
        name="No more than the control",
        version="1",
        level=_LEVEL,
        limits=(Limit(check=measurement.check, value=control),),
    )
    return judge(policy, [measurement], attribute="group").overall == Status.FAIL
