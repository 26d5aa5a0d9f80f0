"""More than two groups are corrected within a limit of work: a slow machine gives the same answer as a fast one."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from core.correction import correct, enumeration, tangents
from core.correction import problem as problems
from core.correction.problem import Correction


def problem(n: int = 400, groups: int = 4) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    guess = rng.integers(0, groups, n)
    return {
        "guess": guess,
        "predictions": (rng.random(n) < 0.2 + 0.15 * guess).astype(int),
        "labels": rng.integers(0, 2, n),
        "cost": 1 + rng.random(n),
        "n_groups": groups,
        "metric": "equalized_odds",
        "tolerance": 0.02,
    }


def same(one: Correction, other: Correction) -> bool:
    if one.reconstruction is None or other.reconstruction is None:
        return one.reconstruction is other.reconstruction
    return bool((one.reconstruction == other.reconstruction).all()) and one.certificate == other.certificate


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which an hour passes whenever somebody looks at the clock."""
    hours = itertools.count()
    for module in (tangents, enumeration, problems):
        monkeypatch.setattr(module.time, "perf_counter", lambda: 3600.0 * next(hours))


def test_without_a_limit_of_time_the_clock_does_not_matter(request: pytest.FixtureRequest) -> None:
    asked = problem()
    fast = correct(**asked, time_limit=math.inf)
    assert fast.certificate.status == "optimal" and fast.n_changed
    request.getfixturevalue("slow")
    assert same(fast, correct(**asked, time_limit=math.inf))
    stopped = correct(**asked, time_limit=60.0)  # with one it does
    assert stopped.certificate.status == "not_solved" and "within 60 seconds" in stopped.reason


@pytest.mark.parametrize("nodes", [1, 2, 4])
def test_work_is_limited(nodes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tangents, "_MOST_NODES", nodes)
    counted: list[int] = []
    ask = tangents._Search.ask

    def counting(search: tangents._Search, *asked: Any, **more: Any) -> Any:
        counted.append(1)
        return ask(search, *asked, **more)

    monkeypatch.setattr(tangents._Search, "ask", counting)
    first, again = (correct(**problem(), time_limit=math.inf) for _ in range(2))
    assert same(first, again)
    assert len(counted) <= 2 * 2 * nodes  # two runs of two row sets
    assert first.certificate.status in ("feasible", "optimal", "not_solved")
    assert nodes > 1 or first.certificate.status != "optimal"
