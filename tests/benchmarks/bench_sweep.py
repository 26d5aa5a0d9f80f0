"""How long the sweep over 49 tolerances takes, what of it fairlearn takes, and what a second worker is worth.

Run from the repository's root: ``python -m tests.benchmarks.bench_sweep [short]``; "short" leaves out the 49. One
worker and two are compared on every fourth tolerance, twelve in all. Adult where FAIRLEAK_DATA has it, else the demo.
Nothing is stored.

Limits: two workers at least 1.7 x as fast as one (on two cores or more), and the same points to the bit.
"""

from __future__ import annotations

import os
import sys
import time
from statistics import median

from core.datasets import AuditDataset, build_dataset, load
from core.experiments.engine import measured_points
from core.experiments.sweep import PAPER_TOLERANCES, SweepPoint, grid, measure
from core.studies.config import AuditConfig
from tests.benchmarks.measuring import DATA, is_adult_available, verdicts

SPEED_UP = 1.7


def people() -> tuple[str, AuditDataset]:
    """Return Adult, or the demo where Adult is not here."""
    name = "adult" if is_adult_available() else "demo"
    table = load(name, data_folder=DATA)
    return name, build_dataset(table, table.roles[0])


def timed(configs: list[AuditConfig], dataset: AuditDataset, n_jobs: int) -> tuple[float, list[SweepPoint]]:
    """Return the wall time of a sweep, worker start included, and its points by tolerance."""
    started = time.perf_counter()
    points = list(measured_points(configs, dataset, n_jobs=n_jobs, measure=measure, result=SweepPoint))
    return time.perf_counter() - started, sorted(points, key=lambda point: point.tolerance)


def print_sweep(n_jobs: int, wall: float, points: list[SweepPoint]) -> None:
    """Print what a sweep took."""
    durations = [point.seconds for point in points]
    share = sum(point.seconds_model for point in points) / sum(durations)
    print(
        f"{len(points)} tolerances, {n_jobs} worker{'s' if n_jobs > 1 else ''}: {wall:.1f} s in all, "
        f"{wall / len(points):.2f} s a configuration (median of its own time {median(durations):.2f} s), "
        f"fairlearn {share:.0%}",
        flush=True,
    )


def main(length: str = "") -> None:
    """Measure and print."""
    name, dataset = people()
    configs = grid(AuditConfig(dataset=name, roles=dataset.roles), tolerances=PAPER_TOLERANCES)
    print(f"Sweep, {name}, {dataset.n:,} records, {os.cpu_count()} cores", flush=True)
    timed(configs[:1], dataset, 1)  # imports and caches
    walls, results = {}, {}
    for n_jobs in (1, 2):
        walls[n_jobs], results[n_jobs] = timed(configs[:48:4], dataset, n_jobs)
        print_sweep(n_jobs, walls[n_jobs], results[n_jobs])
    if length != "short":
        print_sweep(2, *timed(configs, dataset, 2))
    ratio = walls[1] / walls[2]
    same = ("the same points to the bit with one worker and with two", results[1] == results[2])
    verdicts([(f"two workers >= {SPEED_UP:g} x one: {ratio:.2f} x", ratio >= SPEED_UP), same])


if __name__ == "__main__":
    main(*sys.argv[1:2])
