"""How fast a release is metered, projected and measured, in every precision; the training of models is not timed."""

import time

from core.studies.model_card import ModelCardSettings, measure_card
from tests.benchmarks.measuring import verdicts
from tests.release_samples import people

PEOPLE, MODELS = 15_000, 50
PLANS = {
    "exact": {"decimals": None},
    "4 decimals": {"decimals": 4},
    "3 decimals": {"decimals": 3},
    "2 decimals": {"decimals": 2},
    "1 decimal": {"decimals": 1},
    "epsilon 10": {"decimals": None, "epsilon": 10.0},
    "exact, sizes unknown": {"decimals": None, "sizes": False},
    "rates, sizes unknown": {"decimals": None, "sizes": False, "statistics": ("sp_rate", "tpr_rate", "fpr_rate")},
}


def main():
    who = people(PEOPLE, MODELS)
    print(f"A release of {MODELS} models over {PEOPLE:,} people, metered, projected and measured")
    taken = {}
    for name, plan in PLANS.items():
        start = time.process_time()
        measure_card(who, ModelCardSettings(family="mixed", count=MODELS, **plan))
        taken[name] = time.process_time() - start
        print(f"{name:<22} {taken[name]:>6.2f} s", flush=True)
    verdicts(("s with sizes", max(seconds for name, seconds in taken.items() if "unknown" not in name), 2))
