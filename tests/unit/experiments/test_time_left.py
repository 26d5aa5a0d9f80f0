"""The time left by a clock of the test's own: after a fifth within a factor of 1.5, whatever the methods cost."""

from __future__ import annotations

import heapq
import io
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import SimpleNamespace

import pytest

from core.auditing import AuditPlan
from core.cli import Console
from core.cli.arguments import _progress
from core.experiments import engine
from core.experiments.engine import TimeLeft, interleaved
from core.studies.subject import AuditConfig

COSTS = {
    "exponentiated_gradient": 20.0,
    "private_fair": 6.0,
    "threshold_optimizer": 3.0,
    "dp_id3": 1.0,
    "unmitigated": 0.5,
}


@pytest.fixture
def clock(monkeypatch) -> SimpleNamespace:
    """A clock that shows the time it is set to."""
    clock = SimpleNamespace(now=0.0, monotonic=lambda: clock.now)
    monkeypatch.setattr(engine, "time", clock)
    return clock


def grids() -> Iterator[list[AuditConfig]]:
    """Yield grids of at least sixty models in every order of their keys."""
    for n_methods, n_tolerances, n_seeds in itertools.product((2, 3, 5), (4, 9, 18), (2, 5)):
        axes = {
            "method": tuple(COSTS)[-n_methods:] if n_methods == 3 else tuple(COSTS)[:n_methods],
            "tolerance": tuple(k / 100 for k in range(n_tolerances)),
            "seed": tuple(range(n_seeds)),
        }
        for keys in itertools.permutations(axes) if n_methods * n_tolerances * n_seeds >= 60 else ():
            values = itertools.product(*(axes[key] for key in keys))
            yield [replace(AuditConfig(), **dict(zip(keys, combination, strict=True))) for combination in values]


def cost(config: AuditConfig) -> float:
    """Return what a model takes: a strict tolerance twice as long as a lax one."""
    return COSTS[config.method] * (2.0 - config.tolerance / 0.17)


def ends_of(costs: Sequence[float], *, workers: int, start: float) -> list[float]:
    """Return when jobs end that workers take one after the other, once they have started."""
    free, ends = [start] * workers, []
    for seconds in costs:
        end = heapq.heappop(free) + seconds
        heapq.heappush(free, end)
        ends.append(end)
    return sorted(ends)


@pytest.mark.parametrize("workers", [1, 2])
def test_after_a_fifth_the_estimate_is_right_within_a_half(workers, clock):
    ratios = []
    for grid in grids():
        clock.now, left = 0.0, TimeLeft()
        ends = ends_of([cost(config) for _, config in interleaved(list(enumerate(grid)))], workers=workers, start=8.0)
        fifth = math.ceil(len(ends) / 5)
        for end in ends[:fifth]:
            clock.now = end
            left.add()
        ratios.append((left.seconds(len(ends) - fifth) or 0.0) / (ends[-1] - clock.now))
    assert len(ratios) > 60 and min(ratios) > 1 / 1.5 and max(ratios) < 1.5


def test_jobs_of_one_model_stay_together_and_none_is_lost():
    configs = [AuditConfig(method=method, seed=seed) for method in COSTS for seed in range(4)]
    jobs = list(enumerate(AuditPlan(config=config) for config in configs for _ in range(3)))
    order = interleaved(jobs)
    assert sorted(order, key=lambda job: job[0]) == jobs
    runs = [config for config, _ in itertools.groupby(plan.config for _, plan in order)]
    assert sorted(map(repr, runs)) == sorted(map(repr, configs))
    assert {config.method for config in runs[:5]} == set(COSTS)


def test_stored_points_tell_no_pace(clock):
    out = io.StringIO()
    report = _progress(Console(out, out), "plans")
    for done, now in ((0, 0.0), (40, 1.0), (41, 11.0), (42, 21.0), (60, 21.1), (60, 21.2), (61, 31.0), (70, 31.0)):
        clock.now = now
        report(done, 70)
    left = ["", "", *[", about 5 min left"] * 2, *[", about 2 min left"] * 3, ""]
    counts = (0, 40, 41, 42, 60, 60, 61, 70)
    assert out.getvalue().splitlines() == [f"{n} of 70 plans{text}" for n, text in zip(counts, left, strict=True)]
