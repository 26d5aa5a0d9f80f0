"""How fast a release is metered, projected and measured: 15,000 people, 50 models, in every precision.

Run from the repository's root: ``python -m tests.benchmarks.bench_release``. The posterior and the models are invented;
what is slow in practice, training them, is not timed. Limit: 2 seconds of processor time for a whole study with
published group sizes.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd

from core.model_card import ReleasedPeople, ReleaseSettings, measure_card

PEOPLE, MODELS, LIMIT_SECONDS = 15_000, 50, 2.0
PLANS: dict[str, dict[str, Any]] = {
    "exact": {"decimals": None},
    "4 decimals": {"decimals": 4},
    "3 decimals": {"decimals": 3},
    "2 decimals": {"decimals": 2},
    "1 decimal": {"decimals": 1},
    "epsilon 10": {"decimals": None, "epsilon": 10.0},
    "exact, sizes unknown": {"decimals": None, "sizes": False},
    "rates, sizes unknown": {"decimals": None, "sizes": False, "statistics": ("sp_rate", "tpr_rate", "fpr_rate")},
}


def people(n: int = PEOPLE, k: int = MODELS, seed: int = 0) -> ReleasedPeople:
    """Return invented people whose features move models and attribute."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 6))
    posterior = 1 / (1 + np.exp(1.0 - 1.5 * x[:, 1] - rng.normal(size=n)))
    weights = np.array([1.0, 0.5, 0.2, 0.1, 0.0, 0.0]) + rng.normal(scale=0.2, size=(k, 6))
    return ReleasedPeople(
        title="Invented people",
        attribute="group",
        group="one",
        other="other",
        rows=np.arange(n),
        posterior=posterior,
        predictions=(weights @ x.T > 0.8).astype(np.uint8),
        names=tuple(f"model {i + 1}" for i in range(k)),
        labels=(x[:, 0] + rng.normal(size=n) > 0.8).astype(np.uint8),
        sensitive=(rng.random(n) < posterior).astype(np.uint8),
        columns=pd.DataFrame(x, columns=[f"feature {j}" for j in range(6)]),
    )


def main() -> None:
    """Print the processor seconds of each plan and one verdict."""
    who = people()
    print(f"A release of {MODELS} models over {PEOPLE:,} people, metered, projected and measured")
    taken = {}
    for name, plan in PLANS.items():
        start = time.process_time()
        found = measure_card(who, ReleaseSettings(count=MODELS, **plan))
        taken[name] = time.process_time() - start
        print(f"{name:<22} {taken[name]:>6.2f} s  {found.measured.bits.value:>6.1f} bits  {found.status}", flush=True)
    worst = max(seconds for name, seconds in taken.items() if "unknown" not in name)
    print(f"{'reached' if worst <= LIMIT_SECONDS else 'NOT reached'}: {worst:.2f} s <= {LIMIT_SECONDS:g} s with sizes")


if __name__ == "__main__":
    main()
