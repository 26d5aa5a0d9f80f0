"""How long an experiment over 49 tolerances takes, and what a second worker is worth; nothing is stored."""

import os
import time
from functools import partial

from core.auditing import catalogue_plan
from core.datasets import build_dataset, load
from core.experiments.attacked_models import MEASURES, PAPER_TOLERANCES, attacked_by_all, tolerance_points
from core.experiments.engine import measured_points
from core.experiments.experiment import ModelMeasurements, measured_model, models_of
from tests.benchmarks.measuring import DATA, is_adult_available, verdicts


def timed(models, dataset, n_jobs):
    """Return the wall time of an experiment, worker start included, and its models in order."""
    started = time.perf_counter()
    measure = partial(measured_model, names=MEASURES)
    results = list(measured_points(models, dataset, n_jobs=n_jobs, measure=measure, result=ModelMeasurements))
    return time.perf_counter() - started, sorted(results, key=lambda result: min(result.plans))


def main():
    name = "adult" if is_adult_available() else "demo"
    table = load(name, data_folder=DATA)
    dataset = build_dataset(table, table.roles[0])
    models = models_of(attacked_by_all(tolerance_points(catalogue_plan(name), PAPER_TOLERANCES, (42,))))
    print(f"Experiment over tolerances, {name}, {dataset.n:,} records, {os.cpu_count()} cores", flush=True)
    timed(models[:1], dataset, 1)  # imports
    walls, results = {}, {}
    for n_jobs in (1, 2):
        fresh = build_dataset(table, table.roles[0])  # which has nothing in its memo, as a worker's has not
        walls[n_jobs], results[n_jobs] = timed(models, fresh, n_jobs)
        print(f"{len(models)} tolerances, workers: {n_jobs}: {walls[n_jobs]:.1f} s in all", flush=True)
    verdicts(("times as fast with two workers as with one", walls[1] / walls[2], 1.7, "least"))
    verdicts(("the same numbers to the bit with one worker and with two", results[1] == results[2], 1, "least"))
