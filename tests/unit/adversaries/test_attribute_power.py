"""A few draws of `tests.attribute_draws`: nothing is read where nothing leaks, and every leak is seen."""

from __future__ import annotations

import pytest

from tests import attribute_draws as draws

NULLS = [
    ("60 codes", 1_000, "coin"),
    ("60 codes, five groups", 1_500, "constant"),
    ("40 numbers", 1_000, "features"),
    ("95/5", 1_500, "coin"),
]


@pytest.mark.long
@pytest.mark.parametrize(("name", "n_attack_records", "outputs"), NULLS)
def test_nothing_is_gained_where_nothing_leaks(name: str, n_attack_records: int, outputs: str):
    draw = draws.null_draw(name, n_attack_records, outputs, 1)
    gains = draws.attack(draw)
    assert gains["accuracy"].low <= 0 and abs(gains["accuracy"].value) < 0.012
    assert gains["balanced"].low <= 0


STRENGTHS = {
    "shift": 0.133,
    "digits": 0.463,
    "XOR": 0.456,
    "subgroup": 0.3,
    "minority of 10%": 0.431,
    "one label only": 0.206,
    "ties": 0.329,
    "exact values": 0.28,
    "pairs": 0.335,
    "absence": 0.33,
}
"""Leak -> strength at which the best attacker gains 10 points."""


@pytest.mark.long
@pytest.mark.parametrize("leak", STRENGTHS)
def test_a_leak_of_ten_points_is_seen(leak: str):
    draw = draws.leak_draw(leak, STRENGTHS[leak], 1)
    assert draws.best_gain(draw) == pytest.approx(0.1, abs=0.025)
    gain = draws.attack(draw)["balanced" if draw.balanced else "accuracy"]
    assert gain.low > 0 and gain.value > 0.04
