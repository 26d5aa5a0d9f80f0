"""The paper's adversaries, the strong one, and calibration."""

from __future__ import annotations

import numpy as np
import pytest

from core.adversaries import calibrate, train_adversary, train_strong
from core.datasets import AuditDataset
from core.errors import InputError
from tests.samples import dataset


@pytest.fixture(scope="module")
def people() -> AuditDataset:
    return dataset(2400, seed=4)


def _halves(people: AuditDataset) -> tuple[slice, slice]:
    return slice(0, people.n // 2), slice(people.n // 2, people.n)


def test_adversaries_beat_the_majority_on_people_they_have_not_seen(people: AuditDataset) -> None:
    learn, new = _halves(people)
    x, y, s = people.features, people.labels, people.sensitive
    majority = max(s[new].mean(), 1 - s[new].mean())
    forest = train_adversary("features", x[learn], y[learn], s[learn], seed=1).probability(x[new], y[new])
    strong = train_strong(x[learn], y[learn], s[learn], categorical=people.categorical, seed=1).probability(
        x[new], y[new]
    )
    for probability in (forest, strong):
        assert probability.shape == (people.n // 2, 2)
        assert probability.min() >= 0 and probability.sum(axis=1) == pytest.approx(1)
        assert (probability.argmax(axis=1) == s[new]).mean() > majority + 0.05
    assert forest.argmax(axis=1).mean() > strong.argmax(axis=1).mean()  # balanced weights over-assign the smaller group


def test_predictions_that_give_the_attribute_away_are_used_by_a_prime_only(people: AuditDataset) -> None:
    learn, new = _halves(people)
    x, y, s = people.features, people.labels, people.sensitive
    telling = train_adversary("predictions", x[learn], y[learn], s[learn], s[learn], seed=1)
    assert (telling.probability(x[new], y[new], s[new]).argmax(axis=1) == s[new]).mean() > 0.98
    deaf = train_adversary("features", x[learn], y[learn], s[learn], s[learn], seed=1)
    assert np.array_equal(deaf.probability(x[new], y[new], s[new]), deaf.probability(x[new], y[new]))


def test_same_seed_same_adversary_other_seed_another(people: AuditDataset) -> None:
    x, y, s = people.features, people.labels, people.sensitive
    first, again, other = (train_adversary("features", x, y, s, seed=seed).probability(x, y) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_calibration_brings_the_mean_back_and_keeps_the_order(people: AuditDataset) -> None:
    learn, new = _halves(people)
    x, y, s = people.features, people.labels, people.sensitive
    raw = train_adversary("features", x[learn], y[learn], s[learn], seed=1).probability(x[new], y[new])
    both = calibrate(raw, s[new]).apply(raw)
    assert both.sum(axis=1) == pytest.approx(1)
    raw, scaled = raw[:, 1], both[:, 1]
    assert abs(raw.mean() - s[new].mean()) > 0.05
    assert scaled.mean() == pytest.approx(s[new].mean(), abs=1e-3)
    inside = (raw > 1e-6) & (raw < 1 - 1e-6)
    order = np.argsort(raw[inside], kind="stable")
    assert np.all(np.diff(scaled[inside][order]) >= 0)


def test_three_groups_are_named_and_calibrated(people: AuditDataset) -> None:
    learn, new = _halves(people)
    x, y = people.features, people.labels
    s = (people.sensitive + (x[:, 0] > 1.6)).astype(np.uint8)
    shares = np.bincount(s[new]) / s[new].size
    forest = train_adversary("features", x[learn], y[learn], s[learn], seed=1).probability(x[new], y[new])
    strong = train_strong(x[learn], y[learn], s[learn], seed=1).probability(x[new], y[new])
    for raw in (forest, strong):
        scaled = calibrate(raw, s[new]).apply(raw)
        assert scaled.shape == (people.n // 2, 3) and scaled.sum(axis=1) == pytest.approx(1)
        assert scaled.mean(axis=0) == pytest.approx(shares, abs=5e-3)
        assert (scaled.argmax(axis=1) == s[new]).mean() > shares.max() + 0.05
    assert np.abs(forest.mean(axis=0) - shares).max() > 0.05  # as balanced weights leave it


def test_bad_arguments_are_told(people: AuditDataset) -> None:
    x, y, s = people.features, people.labels, people.sensitive
    with pytest.raises(InputError, match="needs the model's predictions"):
        train_adversary("predictions", x, y, s)
    with pytest.raises(InputError, match="adversary must be one of"):
        train_adversary("oracle", x, y, s)
    for train in (train_adversary, lambda _, *rest: train_strong(*rest)):
        with pytest.raises(InputError, match="both groups"):
            train("features", x, y, np.zeros_like(s))
        with pytest.raises(InputError, match="none of group 1"):
            train("features", x, y, 2 * s)
    with pytest.raises(InputError, match="all 3 groups, got 2"):
        calibrate(np.full((x.shape[0], 3), 1 / 3), s)
