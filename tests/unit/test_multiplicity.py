"""Holm's correction: by hand, and beside its steps as they are told."""

from __future__ import annotations

import numpy as np
import pytest

from core.estimates import holm


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx((0.03, 0.06, 0.06))
    assert holm([0.5, 0.6]) == (1.0, 1.0)
    assert holm([0.02]) == (0.02,) and holm([]) == ()


def test_holm_rejects_as_it_is_told_step_by_step() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        p = rng.random(5) ** 3
        rejected, left = set(), sorted(range(5), key=lambda j: p[j])
        while left and p[left[0]] < 0.05 / len(left):
            rejected.add(left.pop(0))
        assert {j for j, adjusted in enumerate(holm(p.tolist())) if adjusted < 0.05} == rejected
