"""Bits of a model card on Adult: predicted as they come out, and intervals that hold the mean of other people's.

Test records of split 0, 30 natural models that see neither attribute; see `tests.reference.release_chance`. Each cell
takes some minutes and can be run alone. Normal test runs do the same on invented people, in
tests/unit/model_card/test_release_prediction.py.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference.data import FOLDER, needs_adult
from tests.reference.release_adult import Split, splits_of
from tests.reference.release_chance import covered, drawn, redraw

pytestmark = [pytest.mark.long, needs_adult]

REDRAWS = 400
DRAWS = {1: 400, 5: 200, 20: 100, 30: 100}


@pytest.fixture(scope="module")
def people() -> Split:
    return next(splits_of(FOLDER, range(1), count=30))


@pytest.mark.parametrize("k", DRAWS)
@pytest.mark.parametrize("n", [300, 1000])
@pytest.mark.parametrize("attribute", ["sex", "race"])
def test_what_is_predicted_is_gained_when_the_attribute_is_drawn_from_the_posterior(
    people: Split, attribute: str, n: int, k: int
):
    gains, predicted = drawn(people, attribute, n, k, DRAWS[k])
    assert 0.9 <= np.mean(gains) / predicted <= 1.15


@pytest.mark.parametrize("k", [1, 5, 20])
@pytest.mark.parametrize("n", [300, 1000])
@pytest.mark.parametrize("attribute", ["sex", "race"])
def test_the_interval_of_measured_bits_holds_the_mean_of_other_people_like_these(
    people: Split, attribute: str, n: int, k: int
):
    assert covered([redraw(people, attribute, n, k, number) for number in range(REDRAWS)]) >= 0.93
