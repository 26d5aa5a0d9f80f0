"""What noise does to the recommendations made from ratings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from core.attriguard import (
    Guarded,
    GuardSettings,
    recommendation,
)
from core.datasets import build_ratings
from core.errors import InputError
from tests.unit.attriguard.ratings_studied import SAMPLE, SETTINGS, guarded


def test_recommendation():
    found = recommendation(guarded(), people=60, recommended=10, rank=8)
    assert found.clean.shape == found.popular.shape == (60,) and found.noisy.shape == found.size.shape == (60, 4)
    assert set(np.round(np.unique(10 * found.noisy), 9)) <= set(range(6))
    assert found.before.value > found.control.value > 0
    assert found.at(0.0).value == found.before.value
    assert found.at(9.0).value == pytest.approx((found.noisy @ found.target).mean())
    again = recommendation(guarded(), people=60, recommended=10, rank=8)
    assert (again.noisy == found.noisy).all()


def test_noise_moves_recommendations():
    """Two tastes with ten items each, all rated by everybody who has it; five of a person's are set aside.

    These five are all that is left of her taste, and without noise they are the five recommended. Read as the other
    taste with six items of it added, she is recommended the other four, and one of her own: one in five is right.
    """
    taste = np.arange(200) % 2
    liked = sparse.csr_array((np.arange(20) // 10 == taste[:, None]).astype(float))
    labels = [f"taste {i}" for i in taste]
    ratings = build_ratings(
        (liked, liked[:40]), (labels, labels[:40]), title="", source="", attribute="taste", items=[""] * 20
    )
    own = Guarded(ratings, GuardSettings(policy="add_new"))
    found = recommendation(own, recommended=5, rank=2)
    assert found.clean.tolist() == [1.0] * 40
    read = taste[:40, None] == np.arange(2)
    assert (found.size == np.where(read, 0, 6)).all()
    assert found.noisy == pytest.approx(np.where(read, 1.0, 0.2))
    assert found.at(50.0).value == pytest.approx(0.6)


def test_recommendation_needs_ratings():
    poor = replace(SAMPLE, people_test=SAMPLE.people_test * 0)
    poor.people_test.eliminate_zeros()
    with pytest.raises(InputError, match="more than 5 ratings, got nobody"):
        recommendation(Guarded(poor, SETTINGS))


@pytest.mark.parametrize("name", ["people", "recommended", "rank"])
def test_recommendation_needs_numbers_of_at_least_1(name: str):
    with pytest.raises(InputError, match=f"{name} must be at least 1, got 0"):
        recommendation(guarded(), **{name: 0})  # type: ignore[arg-type]
