"""How long an experiment over 49 tolerances takes, and what a second worker is worth.

Run from the repository's root: ``python -m tests.benchmarks.bench_experiment [short]``. One worker and two are compared
on all 49; "short" takes every fourth, where the start of two workers (some 6 s) weighs more. Adult where FAIRLEAK_DATA
has it, else the demo. Nothing is stored.

Limits: two workers at least 1.7 x as fast as one (on two cores or more), and the same points to the bit.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence

from core.auditing import AuditPlan, catalogue_plan
from core.datasets import build_dataset, load
from core.experiments.attacked_models import MEASURES, PAPER_TOLERANCES, attacked_by_all, tolerance_points
from core.experiments.engine import measured_points
from core.experiments.experiment import ModelMeasure, ModelMeasurements, models_of
from tests.benchmarks.measuring import DATA, is_adult_available, verdicts

SPEED_UP = 1.7

Models = Sequence[tuple[AuditPlan, ...]]


def main(length: str = "") -> None:
    """Measure and print."""
    name = "adult" if is_adult_available() else "demo"
    table = load(name, data_folder=DATA)
    dataset = build_dataset(table, table.roles[0])
    models = models_of(attacked_by_all(tolerance_points(catalogue_plan(name), PAPER_TOLERANCES, (42,))))
    print(f"Experiment over tolerances, {name}, {dataset.n:,} records, {os.cpu_count()} cores", flush=True)

    def timed(models: Models, n_jobs: int) -> tuple[float, list[ModelMeasurements]]:
        started = time.perf_counter()  # worker start included
        measure = ModelMeasure(MEASURES)
        results = list(measured_points(models, dataset, n_jobs=n_jobs, measure=measure, result=ModelMeasurements))
        return time.perf_counter() - started, sorted(results, key=lambda result: min(result.plans))

    timed(models[:1], 1)  # imports and caches
    if length == "short":
        models = models[::4]
    (one, alone), (two, together) = (timed(models, n_jobs) for n_jobs in (1, 2))
    print(f"{len(alone)} tolerances: {one:.1f} s with one worker, {two:.1f} s with two", flush=True)
    same = ("the same numbers to the bit with one worker and with two", alone == together)
    verdicts([(f"two workers >= {SPEED_UP:g} x one: {one / two:.2f} x", one / two >= SPEED_UP), same])


if __name__ == "__main__":
    main(*sys.argv[1:2])
