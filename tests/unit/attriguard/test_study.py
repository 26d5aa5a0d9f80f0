"""What is made of guesses: points, intervals, the majority, a table of the values; and the study in an audit."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from core.attriguard import Exposure, GuardPlan
from core.attriguard.exposure import Guesses
from core.attriguard.study import STUDY
from core.attriguard.tables import value_rows
from core.estimates import mean, proportion
from core.quantities import plain_row
from tests.unit.attriguard.conftest import exposure

TRUTH = np.array([0, 0, 0, 0, 0, 1, 2, 2])


def study(truth: np.ndarray = TRUTH, *, guesses: tuple[Guesses, ...] = ()) -> Exposure:
    """Return a study of three values, in which people read as their true value and one change makes another."""
    return exposure(truth, (0.3, 0.2, 0.5), guesses)


def naming(named: np.ndarray, *, attacker: str = "forest", trained_at: float | None = None) -> Guesses:
    """Return the guesses of an attacker whom noise does not bother."""
    noisy = np.repeat(named[:, None], 3, axis=1)
    return Guesses(attacker=attacker, trained_at=trained_at, clean=named, noisy=noisy)


def test_the_majority_is_that_of_the_training_people() -> None:
    # most of these people have value 0, most of the training people value 2
    told, right = study().majority, proportion(2, 8)
    assert told == right and told.value == 0.25


def test_a_majority_that_is_always_right_keeps_its_doubt() -> None:
    told = study(np.array([2, 2, 2])).majority
    assert told.value == told.high == 1.0 and told.low < 0.5


def test_one_person_and_everybody_right_keep_their_doubt() -> None:
    for truth in (TRUTH[:1], TRUTH):
        of = study(truth, guesses=(naming(truth),))
        for point in (*of.at(0.5), *of.undefended()):
            assert point.accuracy.value == pytest.approx(1.0) and point.balanced.value == pytest.approx(1.0)
            assert point.accuracy.low == pytest.approx(proportion(truth.size, truth.size).low)
            assert point.balanced.low < 0.8 and point.accuracy.n == truth.size


def test_balanced_by_hand() -> None:
    # of the five with value 0 three are named, the one with 1 is not, of the two with 2 one is
    named = np.array([0, 0, 0, 1, 1, 2, 2, 0])
    (point,) = study(guesses=(naming(named),)).undefended()
    assert point.accuracy.value == 4 / 8
    assert point.balanced.value == pytest.approx((3 / 5 + 0 / 1 + 1 / 2) / 3)
    five, one, two = mean([1, 1, 1, 0, 0]), proportion(0, 1), mean([1, 0])
    high = [min(1.0, rate.high) - rate.value for rate in (five, one, two)]
    low = [rate.value - max(0.0, rate.low) for rate in (five, one, two)]
    assert point.balanced.high == pytest.approx(min(1.0, point.balanced.value + np.sqrt(np.square(high).sum()) / 3))
    assert point.balanced.low == pytest.approx(max(0.0, point.balanced.value - np.sqrt(np.square(low).sum()) / 3))


def test_the_attacker_trained_at_the_nearest_budget_is_asked() -> None:
    trained = tuple(naming((TRUTH + k) % 3, attacker="adversarial", trained_at=b) for k, b in enumerate((1.0, 3.0)))
    of = study(guesses=(naming(TRUTH), *trained))
    for budget, nearest in ((0.0, 1.0), (1.9, 1.0), (2.1, 3.0), (9.0, 3.0)):
        plain, point = of.at(budget)
        assert plain.trained_at is None and point.trained_at == nearest
        assert point.accuracy.value == pytest.approx(float(nearest == 1.0))
    assert of.undefended()[1].trained_at == 1.0


def test_points_are_the_mean_over_the_draws(whole: Exposure) -> None:
    used, named = whole.mechanism(1.0), whole.guesses[0].noisy
    right = [sum(used[k, i] for i in range(4) if named[k, i] == whole.truth[k]) for k in range(100)]
    assert whole.at(1.0)[0].accuracy.value == pytest.approx(np.mean(right))
    for points in whole.curves((0.3, 1.0, 3.0)).values():
        for point in points:
            assert 0 <= point.accuracy.low <= point.accuracy.value <= point.accuracy.high <= 1
            assert point.reported.value == max(point.accuracy.value, whole.majority.value)


def test_without_noise_the_clean_guesses_count() -> None:
    right = naming(TRUTH)
    of = study(guesses=(replace(right, noisy=(right.noisy + 1) % 3),))
    assert of.undefended()[0].accuracy.value == 1.0 and of.at(0.0)[0].accuracy.value == 0.0


@pytest.mark.parametrize("missing", [(1,), (0, 1, 2)])
def test_values_without_noise_have_no_mean_size(missing: tuple[int, ...]) -> None:
    of = study()
    found = of.found.copy()
    found[:, missing] = of.size[:, missing] == 0
    rows = [plain_row(row) for row in value_rows(replace(of, found=found), 1.0)]
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    told = [row["columns changed, mean"] for row in rows]
    assert told == [1.0] * (3 - len(missing)) + [None] * len(missing)


PLAN = GuardPlan(budget=0.5)


def test_it_is_run_only_where_it_is_planned():
    subject = STUDY.harmless(1)
    assert STUDY.unavailable(subject, GuardPlan()) == "AttriGuard is not planned."
    assert STUDY.steps(subject, GuardPlan()) == 0
    assert not STUDY.unavailable(subject, PLAN)
