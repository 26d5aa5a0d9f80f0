"""AttriGuard's rivals on the same people: how many ratings each changes, and what attackers still read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from core.attriguard.changes import Report
from core.attriguard.comparators import blurme, chisquare, local_dp, qpm
from core.attriguard.ratings_study import Guarded
from core.attriguard.transfer import READERS
from core.estimates import Estimate, accuracy, mean
from core.results import Result
from core.seeds import child_generator

_EPSILONS = (7.0, 8.0, 9.0)
_SLACKS = (0.25, 0.5, 1.0)
_ADDED = (1, 3, 5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared(Result):
    """One defence with one parameter.

    Attributes
    ----------
    method : str
        A key of `core.attriguard.comparators.COMPARATOR_TITLES`.
    parameter : str
        What it was set to, in words.
    knows_truth : bool
        Whether it was told everybody's true value; BlurMe and ChiSquare ask for it.
    size : Estimate
        Ratings changed per person.
    accuracy : dict of str to Estimate
        Share of people whose value is named, by attacker (logistic, forest, network).
    """

    method: str
    parameter: str
    knows_truth: bool
    size: Estimate
    accuracy: dict[str, Estimate]


def comparison(guarded: Guarded, report: Report | None = None) -> Iterator[Compared]:
    """Yield every other defence at some of its settings.

    Parameters
    ----------
    guarded : Guarded
        The people, and the attackers who learned from the clean ratings.
    report : callable, optional
        Called with (defences done, defences in all); may raise `core.errors.Cancelled`.
    """
    tasks = _tasks(guarded)
    for done, task in enumerate(tasks):
        if report is not None:
            report(done, len(tasks))
        yield _compared(guarded, task)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """One defence to try, not tried yet."""

    method: str
    parameter: str
    make: Callable[[], Any]
    knows_truth: bool = False


def _tasks(guarded: Guarded) -> list[_Task]:
    ratings, known = guarded.ratings, guarded.known
    records, seed = ratings.people_test, guarded.settings.seed
    tasks = []
    for knows in (True, False):
        for n in _ADDED:
            tasks += _additions(guarded, n, knows)
    for slack in _SLACKS:
        rng = child_generator(seed, f"guard qpm {slack}")
        make = partial(qpm, records, known, slack=slack, rng=rng)
        tasks.append(_Task(method="qpm", parameter=f"slack {slack:g}", make=make))
    for epsilon in _EPSILONS:
        rng = child_generator(seed, f"guard local dp {epsilon}")
        make = partial(local_dp, records, epsilon=epsilon, rng=rng)
        tasks.append(_Task(method="local_dp", parameter=f"epsilon {epsilon:g} an entry", make=make))
    return tasks


def _additions(guarded: Guarded, n: int, knows_truth: bool) -> list[_Task]:
    """Return BlurMe and ChiSquare with n items, told the truth or what logistic regression takes for it."""
    records, known = guarded.ratings.people_test, guarded.known
    logistic = guarded.classifier("logistic")
    value = guarded.ratings.values_test if knows_truth else logistic.predict(records).astype(np.int64)
    makes = {
        "blurme": partial(blurme, records, value, known, logistic, n_added=n),
        "chisquare": partial(chisquare, records, value, known, n_added=n),
    }
    told = f"{n} added"
    return [_Task(method=name, parameter=told, make=make, knows_truth=knows_truth) for name, make in makes.items()]


def _compared(guarded: Guarded, task: _Task) -> Compared:
    ratings, noisy = guarded.ratings, task.make()
    changed = (noisy != ratings.people_test).sum(axis=1)
    return Compared(
        method=task.method,
        parameter=task.parameter,
        knows_truth=task.knows_truth,
        size=mean(np.asarray(changed, dtype=np.float64).ravel()),
        accuracy={reader: accuracy(ratings.values_test, guarded.reader(reader).predict(noisy)) for reader in READERS},
    )
