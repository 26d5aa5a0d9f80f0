"""What a privacy budget promises about membership, beside every attack on two people of whom one is trained on."""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np
import pytest

from core.errors import InputError
from core.membership import most_caught
from core.membership.privacy import most_times

FAR = 60


def law(count: int, epsilon: float) -> np.ndarray:
    """Return the discrete Laplace distribution around a count, of -FAR to FAR."""
    shares = np.exp(-epsilon * np.abs(np.arange(-FAR, FAR + 1) - count))
    return np.asarray(shares / shares.sum())


@cache
def curve(epsilon: float) -> np.ndarray:
    """Return (false alarms, members caught) of the best attacks on her, shape (m, 2).

    A leaf tells the noisy counts of both labels. She has label 1, the other has label 0, and one of both is trained
    on. By Neyman and Pearson the best attacks flag what is told in the order of its likelihood ratio.
    """
    hers = np.outer(law(0, epsilon), law(1, epsilon)).ravel()
    others = np.outer(law(1, epsilon), law(0, epsilon)).ravel()
    order = np.argsort(-hers / others, kind="stable")
    return np.column_stack([np.cumsum(others[order]), np.cumsum(hers[order])])


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_no_attack_on_one_of_two_people_is_better_and_the_best_needs_twice_epsilon(epsilon: float):
    alarms, caught = curve(epsilon).T
    for false_alarms, share in zip(alarms, caught, strict=True):
        assert share <= most_caught(min(false_alarms, 1.0), epsilon) + 1e-9
    ratio = float((caught[alarms > 1e-6] / alarms[alarms > 1e-6]).max())
    assert ratio > 1.5 * math.exp(epsilon)  # a bound of once epsilon is broken
    assert ratio == pytest.approx(most_times(epsilon), rel=1e-6)


def test_of_more_people_the_one_replaced_still_costs_twice_epsilon():
    """All divisions of four people into two and two: she is in, or she is out and another is in her place."""
    people, epsilon = (1, 0, 0, 1), 0.8  # labels; she is the first
    told: dict[bool, list[np.ndarray]] = {True: [], False: []}
    for chosen in itertools.combinations(range(4), 2):
        ones = sum(people[i] for i in chosen)
        told[0 in chosen].append(np.outer(law(2 - ones, epsilon), law(ones, epsilon)).ravel())
    inside, outside = (np.mean(told[kind], axis=0) for kind in (True, False))
    order = np.argsort(-inside / outside)
    for alarms, caught in zip(np.cumsum(outside[order]), np.cumsum(inside[order]), strict=True):
        assert caught <= most_caught(min(alarms, 1.0), epsilon) + 1e-9


def test_the_bound_is_a_share_and_grows():
    for epsilon in (1e-6, 0.3, 5.0, 400.0, math.inf):
        rates = np.linspace(0, 1, 21).tolist()
        bounds = [most_caught(rate, epsilon) for rate in rates]
        assert all(a <= b for a, b in itertools.pairwise(bounds)) and bounds[-1] == 1.0
        assert all(bound >= rate for bound, rate in zip(bounds, rates, strict=True))
    assert most_caught(0.0, 1.0) == 0.0 and most_caught(0.2, math.inf) == 1.0


BAD = [
    ((0.5, 0.0), "epsilon must be at least 1e-06"),
    ((0.5, math.nan), "epsilon must be at least 1e-06"),
    ((1.5, 1.0), "false_alarms must be in"),
]


@pytest.mark.parametrize(("arguments", "words"), BAD)
def test_bad_input_is_one_sentence(arguments: tuple[float, float], words: str):
    with pytest.raises(InputError, match=words):
        most_caught(*arguments)
