"""Recall by range: a plain loop beside it, and bad input."""

from __future__ import annotations

import numpy as np
import pytest

from core.errors import InputError
from core.membership import recall_by_range

RNG = np.random.default_rng(0)
N = 400
CASE = {
    "probability": RNG.choice(np.arange(21) / 20, N),
    "verdict": RNG.integers(0, 2, N),
    "group": RNG.integers(0, 2, N),
    "member": RNG.integers(0, 2, N),
}


def test_ranges_hold_what_a_loop_over_people_counts() -> None:
    found = recall_by_range(**CASE, names=("women", "men"))
    assert (found.group, found.others, len(found.rows)) == ("women", "men", 10)
    for j, row in enumerate(found.rows):
        shares = []
        for g in (1, 0):
            members = [i for i in range(N) if CASE["member"][i] and CASE["group"][i] == g]
            inside = [i for i in members if j / 10 <= CASE["probability"][i] < (j + 1) / 10]
            inside += [i for i in members if j == 9 and CASE["probability"][i] == 1]
            shares.append(sum(int(CASE["verdict"][i]) for i in inside) / len(members))
        assert (row.low, row.high) == (j / 10, (j + 1) / 10)
        assert [row.group, row.others] == pytest.approx(shares)
        assert row.difference == row.group - row.others


@pytest.mark.parametrize("p, place", [(0.0, 0), (0.1, 1), (0.3, 3), (0.6, 6), (0.7, 7), (0.9, 9), (1.0, 9)])
def test_a_range_begins_with_its_lower_end_and_one_is_in_the_last(p: float, place: int) -> None:
    found = recall_by_range([p, p], [1, 1], [0, 1], [1, 1])
    assert [row.group for row in found.rows] == [float(j == place) for j in range(10)]


@pytest.mark.parametrize(
    "changed, told",
    [
        ({"probability": np.full(N, np.nan)}, "probability must be in [0, 1], got nan."),
        ({"probability": np.full(N, 1.5)}, "probability must be in [0, 1], got 1.5."),
        ({"probability": np.zeros((N, 1))}, "probability must be one-dimensional, got 2 dimensions."),
        ({"group": np.zeros(N)}, "Recall needs at least one member of each group, got none of “group”."),
        (
            {"verdict": np.zeros(3)},
            "All arrays must have the same length: probability has 400, verdict has 3, group has 400, member has 400.",
        ),
    ],
)
def test_bad_input_is_told_in_one_sentence(changed: dict, told: str) -> None:
    with pytest.raises(InputError) as raised:
        recall_by_range(**(CASE | changed))
    assert str(raised.value) == told
