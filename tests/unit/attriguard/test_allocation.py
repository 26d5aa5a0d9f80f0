"""Phase II at its borders, and what it refuses; its conditions are properties (test_attriguard_properties.py)."""

from __future__ import annotations

import pytest

from core.base.errors import InputError
from core.studies.attriguard import allocate, expected_size


@pytest.mark.parametrize(
    ("size", "goal", "budget", "reachable", "mechanism"),
    [
        ([0, 2], [0.5, 0.5], 0.5, None, [0.75, 0.25]),
        ([1, 1, 2], [0.3, 0.1, 0.6], 1.0, None, [0.75, 0.25, 0]),
        ([1, 1, 2], [0.0, 0.0, 1.0], 1.0, None, [0.5, 0.5, 0]),
        # the free value has no share and the budget is short: what is left over goes there
        ([0, 2, 4], [0.0, 0.5, 0.5], 1.0, None, [0.625, 0.25, 0.125]),
        # it has no share, and the budget is enough without it
        ([0, 1, 4], [0.0, 0.5, 0.5], 2.0, None, [0.0, 2 / 3, 1 / 3]),
        # a noise that was not found has its share given to the others
        ([0, 0, 1], [0.5, 0.25, 0.25], 9.0, [True, False, True], [2 / 3, 0, 1 / 3]),
        # of what was found nothing has a share
        ([0, 1, 1], [0.0, 0.0, 1.0], 9.0, [True, True, False], [1, 0, 0]),
    ],
)
def test_borders(size, goal, budget, reachable, mechanism):
    actual = allocate([size], goal, budget, available=None if reachable is None else [reachable])
    assert actual[0] == pytest.approx(mechanism, abs=1e-12)
    assert expected_size(actual, [size])[0] <= budget + 1e-12


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"noise_size": [[2, 3]]}, "budget must be at least everybody's smallest noise, 2, got 1"),
        ({"available": [[False, False]]}, "Everybody needs a noise that was found, 1 of 1 people have none"),
    ],
)
def test_what_allocation_refuses(changed, message):
    arguments = {"noise_size": [[0, 1]], "target_distribution": [0.5, 0.5], "budget": 1.0} | changed
    with pytest.raises(InputError, match=message):
        allocate(**arguments)
