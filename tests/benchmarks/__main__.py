"""All benchmarks in one run: ``make benchmark``. Ratios are judged here and never asserted in tests."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np

from tests.benchmarks import (
    bench_attriguard,
    bench_audit,
    bench_correction,
    bench_groups,
    bench_membership,
    bench_pages,
    bench_queries,
    bench_release,
    bench_slider,
    bench_sweep,
    bench_untrusted,
)


def adult_arrays() -> dict[str, np.ndarray] | None:
    """Return guesses, predictions and costs of the audited Adult records; None where the data are not here."""
    folder = Path(os.environ.get("FAIRLEAK_DATA", "/nowhere"))
    if not (folder / "adult" / "adult.data").is_file():
        print("Adult is not here (set FAIRLEAK_DATA): synthetic records of the same size stand in.")
        return None
    from core.config import AuditConfig
    from core.correction import run
    from core.correction.disclosure import published_cost
    from core.datasets import build_dataset, load

    table = load("adult", data_folder=folder)
    dataset = build_dataset(table, table.roles[0])
    findings = run(AuditConfig(dataset="adult", tolerance=0.0, seed=42), dataset=dataset)
    attacked = findings.attacks["features", "as_published"].attacked
    cost = published_cost(attacked.confidence, bench_correction.EXPONENT)
    return {"guess": attacked.guess, "predictions": attacked.predictions, "cost": cost}


def main() -> None:
    """Run the corrections' benchmarks, then those of queries, AttriGuard, tree, release, sweep, pages and audits."""
    arrays = adult_arrays()
    if arrays is None:
        bench_correction.main()
    else:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "adult.npz"
            np.savez(path, **arrays)
            bench_correction.main(str(path))
    print()
    bench_groups.main()
    print()
    bench_queries.main()
    print()
    bench_attriguard.main()
    print()
    bench_membership.main()
    print()
    bench_release.main()
    print()
    bench_slider.main()
    print()
    bench_sweep.main()
    print()
    bench_pages.main()
    print()
    bench_audit.main()
    print()
    bench_untrusted.main()


main()
