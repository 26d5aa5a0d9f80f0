"""Accuracy against budget on an audited table: the attackers one after another, those who know the noise among them.

Gradient boosting is the strong attacker. Three know that there is noise: one does without the columns that carry half
of it, and logistic regression and gradient boosting are trained against it: they run AttriGuard on the known people,
with the defender's own classifier, and learn from the noisy records.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from core.attriguard.allocation import allocate
from core.attriguard.attackers import drawn
from core.attriguard.changes import Report
from core.attriguard.noise import Noise
from core.attriguard.study import Guesses, Study
from core.attriguard.table.attackers import LEARNERS, Attacker, fit_attacker
from core.attriguard.table.concentration import column_noise
from core.attriguard.table.guard import TableGuard, guard_table
from core.attriguard.table.people import audit_people
from core.attriguard.table.settings import TableSettings
from core.config import AuditConfig
from core.datasets.dataset import AuditDataset
from core.seeds import child_generator, child_seed

_TRAINED = {"adversarial_logistic": "logistic", "adversarial": "boosting"}
_DRAWS = 2  # noisy records of every known person to learn from
_DROPPED = 0.5


def table_guard(dataset: AuditDataset, config: AuditConfig, settings: TableSettings | None = None) -> TableGuard:
    """Set AttriGuard up for an audit: known are the records its adversary knows, protected the test records.

    Raises
    ------
    InputError
        If a setting names an unknown column or value, or nothing is left that may change.
    """
    return guard_table(audit_people(config, dataset), settings)


def table_study(
    dataset: AuditDataset,
    config: AuditConfig,
    settings: TableSettings | None = None,
    *,
    report: Report | None = None,
) -> Iterator[Study]:
    """Yield the study of an audit's table, with one attacker (or training budget) more each time.

    The parameters and errors are those of `table_guard` and `study_table`.
    """
    yield from study_table(table_guard(dataset, config, settings), report=report)


def study_steps(settings: TableSettings) -> int:
    """Return how many studies `study_table` yields."""
    return len(LEARNERS) + 1 + len(_TRAINED) * len(settings.trained_budgets)


def study_table(guard: TableGuard, *, report: Report | None = None) -> Iterator[Study]:
    """Yield the study of a table AttriGuard is set up on, with one attacker (or training budget) more each time.

    Parameters
    ----------
    report : callable, optional
        Called with (attackers done, attackers in all).
    """
    people = guard.people
    study = Study(
        title=people.title,
        attribute=people.attribute,
        unit="columns",
        values=people.values,
        truth=people.truth,
        predicted=guard.noise.predicted,
        size=guard.noise.size,
        found=guard.noise.found,
        target=guard.target,
        shares=people.shares,
    )
    steps = study_steps(guard.settings)
    for done, guesses in enumerate(_all_guesses(guard), start=1):
        study = replace(study, guesses=(*study.guesses, guesses))
        if report is not None:
            report(done, steps)
        yield study


def _all_guesses(guard: TableGuard) -> Iterator[Guesses]:
    people, seed = guard.people, guard.settings.seed
    for learner in LEARNERS:
        fitted = fit_attacker(
            learner, people.known, people.known_truth, guard.columns, seed=child_seed(seed, f"attriguard {learner}")
        )
        yield _guesses(guard, learner, fitted)
    noise = guard.noise_of(people.known)
    yield _guesses(guard, "dropping", _dropping(guard, noise))
    for attacker, learner in _TRAINED.items():
        for budget in guard.settings.trained_budgets:
            yield _guesses(guard, attacker, _trained(guard, noise, learner, budget), trained_at=budget)


def _guesses(guard: TableGuard, name: str, attacker: Attacker, *, trained_at: float | None = None) -> Guesses:
    return Guesses(
        attacker=name,
        trained_at=trained_at,
        clean=attacker.guess(guard.people.public),
        noisy=attacker.guess(guard.noise.noisy).reshape(guard.noise.size.shape),
    )


def _dropping(guard: TableGuard, noise: Noise) -> Attacker:
    """Train gradient boosting without the columns that carry half of the noise of the known people; one is kept."""
    people = guard.people
    carried = column_noise(people.names, people.known, noise)
    dropped = set(carried.names[: min(carried.carrying(_DROPPED), len(people.names) - 1)])
    kept = np.flatnonzero([name not in dropped for name in people.names])
    seed = child_seed(guard.settings.seed, "attriguard dropping")
    return fit_attacker("boosting", people.known, people.known_truth, guard.columns, kept=kept, seed=seed)


def _trained(guard: TableGuard, noise: Noise, learner: str, budget: float) -> Attacker:
    """Train on noise drawn for the known people as the protected people draw theirs at a budget."""
    people, name = guard.people, f"attriguard trained {learner} {budget:g}"
    mechanism = allocate(noise.size, guard.target, budget, found=noise.found)
    rng = child_generator(guard.settings.seed, name)
    records = np.vstack([noise.chosen(drawn(mechanism, rng)) for _ in range(_DRAWS)])
    truth = np.tile(people.known_truth, _DRAWS)
    return fit_attacker(learner, records, truth, guard.columns, seed=child_seed(guard.settings.seed, name))
