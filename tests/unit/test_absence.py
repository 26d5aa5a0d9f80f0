"""Absent answers as a release: what they say of groups and of training records, planted and not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.studies.fairness.study import absence, absence_differences, absence_finding
from core.studies.study import draw_people, subject_of
from core.studies.subject import Subject

SIZES = (600, 600, 600)


def unanswered(chance_by_group: tuple[float, float], *, trained: float = 0.0, seed: int = 0) -> Subject:
    """Return a subject whose model leaves people of each group unanswered with these chances."""
    rng = np.random.default_rng(seed)
    people = draw_people(sum(SIZES), rng)
    predictions = (rng.random(sum(SIZES)) < 0.5).astype(np.uint8)
    subject = subject_of(people, predictions, SIZES, seed=seed)
    chance = np.array(chance_by_group)[people.sensitive]
    chance[: SIZES[0]] += trained
    answered = rng.random(sum(SIZES)) >= chance
    everybody = subject.splits
    return replace(
        subject,
        dataset=replace(subject.dataset, answered=answered),
        splits=everybody.part(answered),
        with_unanswered=everybody,
    )


def test_absence_is_exactly_zero_where_everybody_has_an_answer():
    measurement = absence(unanswered((0.0, 0.0)))
    assert measurement.estimate is not None
    assert (measurement.estimate.value, measurement.estimate.low, measurement.estimate.high) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("seed", range(3))
def test_half_of_a_group_without_an_answer_fails_a_limit_of_five_points(seed: int):
    subject = unanswered((0.0, 0.5), seed=seed)
    measurement = absence(subject)
    assert measurement.estimate is not None and measurement.estimate.low > 0.4
    assert "group 1 beside all others" in measurement.attacked
    assert "names some of them" in absence_finding(subject)[0].point


def test_absence_by_chance_is_no_difference():
    low_ends = [absence(unanswered((0.1, 0.1), seed=seed)).estimate.low for seed in range(40)]  # type: ignore[union-attr]
    assert sum(low > 0.0 for low in low_ends) <= 3


def test_differences_are_shares_of_the_sides():
    subject = unanswered((0.1, 0.3), seed=4)
    rows = np.concatenate([subject.everyone.train, subject.everyone.test])
    absent = ~subject.dataset.answered[rows]  # type: ignore[index]
    inside = subject.dataset.sensitive[rows] == 1
    difference = absence_differences(subject)["group 1 beside all others"]
    assert difference.value == pytest.approx(absent[inside].mean() - absent[~inside].mean())
