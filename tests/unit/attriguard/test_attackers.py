"""Attackers on records: what each learns, what each looks at, and that chance follows the seed."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from core.studies.attriguard import representatives
from core.studies.attriguard.allocation import RepresentativeNoise, changes_per_entry, concentration
from core.studies.attriguard.attackers import (
    Fitted,
    KnownPeople,
    RegionBased,
    fit_distilled,
    fit_dropping,
    fit_network,
    fit_unaware,
)
from tests import ratings_samples

SAMPLE = ratings_samples.ratings()
KNOWN_PEOPLE = KnownPeople(records=SAMPLE.people_train, values=SAMPLE.values_train, n_values=4)
CHANCE = 0.25


@cache
def seen() -> RepresentativeNoise:
    """AttriGuard run on the known people."""
    return representatives(KNOWN_PEOPLE.records, fit_unaware(KNOWN_PEOPLE, "logistic", seed=0))


def used(budget: float, noise: RepresentativeNoise | None = None) -> Any:
    """Return how often each noise is used at a budget."""
    return (noise or seen()).mechanism(SAMPLE.shares, budget)


@cache
def network() -> Any:
    return fit_network(KNOWN_PEOPLE, seed=0)


def right(attacker: Any, records: Any = SAMPLE.people_test) -> float:
    """Return the share of hidden people an attacker names rightly."""
    return float((attacker.guess(records) == SAMPLE.values_test).mean())


def test_a_network_keeps_its_best_pass():
    passes = []

    def lesson() -> tuple[Any, Any]:
        passes.append(len(passes))
        values = KNOWN_PEOPLE.values if passes[-1] < 10 else (KNOWN_PEOPLE.values + 1) % 4  # lies from here on
        return KNOWN_PEOPLE.records, values

    fitted = fit_network(KNOWN_PEOPLE, seed=0, lesson=lesson)
    assert 11 <= len(passes) <= 13
    assert right(Fitted(fitted)) > CHANCE + 0.15


class Teacher:
    """Is certain that everybody's value is the next one."""

    def __init__(self, certainty: float = 1.0) -> None:
        self.certainty = certainty

    def predict_proba(self, records: Any) -> np.ndarray:
        probabilities = np.full((records.shape[0], 4), (1.0 - self.certainty) / 3)
        probabilities[np.arange(len(probabilities)), (KNOWN_PEOPLE.values + 1) % 4] = self.certainty
        return probabilities


def test_the_student_learns_what_the_teacher_believes_and_nothing_else(monkeypatch: pytest.MonkeyPatch):
    lessons = []

    def keep(known_people: KnownPeople, *, seed: int, lesson: Any) -> Any:
        lessons.append([lesson() for _ in range(200)])

    monkeypatch.setattr("core.studies.attriguard.attackers.fit_network", keep)
    fit_distilled(KNOWN_PEOPLE, Teacher(), seed=0)
    fit_distilled(KNOWN_PEOPLE, Teacher(0.7), seed=0)
    sure, unsure = (np.array([values for _, values in part]) for part in lessons)
    assert (sure == (KNOWN_PEOPLE.values + 1) % 4).all()
    assert (unsure == (KNOWN_PEOPLE.values + 1) % 4).mean() == pytest.approx(0.7, abs=0.01)
    assert (unsure == KNOWN_PEOPLE.values).mean() == pytest.approx(0.1, abs=0.01)


def test_a_region_votes_as_noisy_records_would():
    attacker = Fitted(RegionBased(network(), seed=5, points=15, radius=0.3))
    points = np.random.default_rng([5, 3]).uniform(-0.3, 0.3, size=(15, 60))
    dense = SAMPLE.people_test.toarray()
    votes = np.array([network().predict(dense + point) for point in points])
    expected = np.array([np.bincount(column, minlength=4).argmax() for column in votes.T])
    guess = attacker.guess(SAMPLE.people_test)
    assert (guess == expected).all() and (guess != network().predict(dense)).any()


def test_dropping_leaves_out_what_carries_the_noise():
    mechanism = used(3.0)
    retained_columns = concentration(KNOWN_PEOPLE.records, seen(), mechanism).without(0.9)
    attacker = fit_dropping(KNOWN_PEOPLE, retained_columns, seed=0)
    carried = changes_per_entry(KNOWN_PEOPLE.records, seen(), mechanism)
    carried /= carried.sum()
    dropped = np.setdiff1d(np.arange(60), retained_columns)
    assert 0 < dropped.size < 60 and carried[dropped].min() >= carried[retained_columns].max()
    assert carried[dropped].sum() >= 0.9 > carried[dropped].sum() - carried[dropped].min()
    blind = SAMPLE.people_test.tolil()
    blind[:, dropped] = 1.0
    assert (attacker.guess(blind.tocsr()) == attacker.guess(SAMPLE.people_test)).all()
