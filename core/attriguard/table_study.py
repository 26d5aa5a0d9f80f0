"""Accuracy against budget on an audited table: its attackers one after another.

All learn the private attribute on the known people's records, gradient boosting being the strong one. Two kinds of
input: indicators and standardised numbers for logistic regression and the network, the columns as they are for the
forest and gradient boosting. Three attackers know that there is noise: one does without the columns that carry half of
it, and logistic regression and gradient boosting are trained against it: they run AttriGuard on the known people, with
the defender's own classifier, and learn from the noisy records.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from core.attriguard.attackers import Fitted, NoiseSeen
from core.attriguard.concentration import concentration
from core.attriguard.records import Floats, Ints, Noise, Report
from core.attriguard.settings import TableSettings
from core.attriguard.study import Guesses, Study, guesses_of, unattacked
from core.attriguard.table_guard import TableGuard, guard_table
from core.attriguard.table_records import Column, audit_people, fit_encoder
from core.config import AuditConfig
from core.datasets.dataset import AuditDataset
from core.seeds import child_generator, child_seed
from core.validation import choice

LEARNERS = ("logistic", "forest", "boosting", "network")

TABLE_ATTACKER_TITLES = {
    "logistic": "Logistic regression",
    "forest": "Random forest",
    "boosting": "Gradient boosting",
    "network": "Neural network",
    "dropping": "Gradient boosting without the columns that carry the noise",
    "adversarial_logistic": "Logistic regression trained against the noise",
    "adversarial": "Gradient boosting trained against the noise",
}

_TREES = 100
_LEAF = 5
_HIDDEN = 100
_EPOCHS = 8
_MOST_CODES = 255  # categories the booster can tell apart


def fit_attacker(
    learner: str,
    records: Floats,
    truth: Ints,
    columns: tuple[Column, ...],
    *,
    kept: npt.NDArray[np.intp] | None = None,
    seed: int = 0,
) -> Fitted:
    """Train an attacker, one of `LEARNERS`, on records (n, d) and the columns `kept`, all by default."""
    choice(learner, LEARNERS, name="attacker")
    looked = np.arange(len(columns)) if kept is None else kept
    seen, own = records[:, looked], tuple(columns[j] for j in looked)
    encoder = fit_encoder(seen, own) if learner in ("logistic", "network") else None

    def see(rows: Floats) -> Any:
        return rows[:, looked] if encoder is None else encoder.transform(rows[:, looked])

    fit = {"logistic": _logistic, "forest": _forest, "boosting": _boosting, "network": _network}[learner]
    return Fitted(fit(see(records), truth, own, seed), see)


def _logistic(inputs: Any, truth: Ints, columns: tuple[Column, ...], seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=2000).fit(inputs, truth)


def _forest(inputs: Any, truth: Ints, columns: tuple[Column, ...], seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(_TREES, min_samples_leaf=_LEAF, random_state=seed).fit(inputs, truth)


def _boosting(inputs: Any, truth: Ints, columns: tuple[Column, ...], seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    coded = [column.kind == "category" and column.listed.size <= _MOST_CODES for column in columns]
    # it stops on a tenth of the records, which must be able to hold every value
    counts = np.unique(truth, return_counts=True)[1]
    stops = math.ceil(truth.size / 10) >= counts.size and counts.min() >= 2
    return HistGradientBoostingClassifier(
        categorical_features=coded, early_stopping=bool(stops), random_state=seed
    ).fit(inputs, truth)


def _network(inputs: Any, truth: Ints, columns: tuple[Column, ...], seed: int) -> Any:
    """Train for a few epochs: more of them overfit to the known people."""
    from sklearn.neural_network import MLPClassifier

    network = MLPClassifier((_HIDDEN,), random_state=seed)
    for _ in range(_EPOCHS):
        network.partial_fit(inputs, truth, classes=np.unique(truth))
    return network


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
    study = unattacked(people, unit="columns", truth=people.truth, noise=guard.noise, target=guard.target)
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


def _guesses(guard: TableGuard, name: str, attacker: Fitted, *, trained_at: float | None = None) -> Guesses:
    return guesses_of(name, attacker, guard.people.public, guard.noise, trained_at=trained_at)


def _dropping(guard: TableGuard, noise: Noise) -> Fitted:
    """Train gradient boosting without the columns that carry half of the noise of the known people; one is kept."""
    people, m = guard.people, noise.size.shape[1]
    carried = concentration(people.known, noise, np.full(noise.size.shape, 1.0 / m))
    kept = np.setdiff1d(np.arange(carried.n_entries), carried.carrying(_DROPPED))
    seed = child_seed(guard.settings.seed, "attriguard dropping")
    return fit_attacker("boosting", people.known, people.known_truth, guard.columns, kept=kept, seed=seed)


def _trained(guard: TableGuard, noise: Noise, learner: str, budget: float) -> Fitted:
    """Train on noise drawn for the known people as the protected people draw theirs at a budget."""
    people, name = guard.people, f"attriguard trained {learner} {budget:g}"
    seen, rng = NoiseSeen(noise=noise, target=guard.target), child_generator(guard.settings.seed, name)
    mechanism = seen.mechanism(budget)
    records = np.vstack([seen.draw(mechanism, rng) for _ in range(_DRAWS)])
    truth = np.tile(people.known_truth, _DRAWS)
    return fit_attacker(learner, records, truth, guard.columns, seed=child_seed(guard.settings.seed, name))
