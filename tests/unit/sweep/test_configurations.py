"""Which configurations a grid holds."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest

from core.config import AuditConfig
from core.errors import InputError
from core.fairness import METRICS
from core.models import METHODS
from core.sweep import PAPER_TOLERANCES, TOLERANCES, grid

BASE = AuditConfig(dataset="sample", train_share=0.4)


def test_a_long_sweep_goes_on_from_a_short_one():
    assert set(TOLERANCES) < set(PAPER_TOLERANCES)


def test_only_methods_that_take_a_tolerance_are_swept():
    found = grid(BASE, tolerances=PAPER_TOLERANCES, methods=METHODS, metrics=METRICS, seeds=(0, 1))
    assert len(found) == len(set(found)) == 2 * 4 * (49 + 4)
    assert {c.tolerance for c in found if c.method != "exponentiated_gradient"} == {0.0}
    assert {(c.method, c.metric, c.seed) for c in found} == set(itertools.product(METHODS, METRICS, (0, 1)))
    assert all(c.train_share == 0.4 and c.dataset == "sample" for c in found)


def test_epsilon_is_the_private_trees_alone():
    found = grid(replace(BASE, epsilon=2.0), tolerances=(0.0, 0.1), methods=METHODS)
    assert {c.method: c.epsilon for c in found} == {m: 2.0 if m == "dp_id3" else math.inf for m in METHODS}
    with pytest.raises(InputError, match=r"^epsilon must be at least 1e-06, or infinite, got 0\.$"):
        replace(BASE, epsilon=0)


def test_nothing_to_choose_from_is_told():
    with pytest.raises(InputError, match="seeds must hold at least one"):
        grid(BASE, seeds=())
