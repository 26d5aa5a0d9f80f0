"""Table III of Ferry et al. (SaTML 2023) from an experiment: what the threshold optimizer's models reveal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from core.experiments.attacked_models import before_disclosure
from core.experiments.experiment import SeedSummary
from core.stats.estimates import Spread

METHOD = "threshold_optimizer"
ADVERSARIES = {"features": "A", "predictions": "A'"}
MODEL = {
    "model_train": "accuracy_train",
    "model_test": "accuracy_test",
    "unfairness_train": "unfairness_train",
    "unfairness_test": "unfairness",
    "difference_train": "difference_train",
    "difference_test": "difference_test",
}
"""Column -> number of the model."""


def table_three(
    summaries: Sequence[SeedSummary], *, as_published: bool = True, cost: str = "published"
) -> pd.DataFrame:
    """Return table III: a metric a line, the threshold optimizer's figures, then each adversary's accuracy.

    Columns, each with _sd, _low and _high: those of `MODEL`; majority; and for A (features) and A' (features and
    predictions) before, after and gain. The paper prints mean and standard deviation, and raises the tolerance of 0
    until the model keeps it; under the held-out protocol the smallest that holds is disclosed, too.
    """
    lines: dict[str, dict[str, Any]] = {}
    for summary in summaries:
        values = summary.values
        adversary = ADVERSARIES.get(values["correction.adversary"])
        attacker = (values["correction.as_published"], values["correction.cost"])
        if adversary is None or values["model.method"] != METHOD or attacker != (as_published, cost):
            continue
        metric = values["model.metric"]
        line = lines.setdefault(metric, {"metric": metric, "n_seeds": len(summary.seeds)})
        for name, number in MODEL.items():
            line |= _columns(name, summary.numbers[number])
        line |= _columns("majority", summary.baselines["attack_before"])
        line |= _columns(f"{adversary} before", before_disclosure(summary))
        line |= _columns(f"{adversary} after", summary.numbers.get("attack_after"))
        line |= _columns(f"{adversary} gain", summary.numbers.get("attack_gain"))
    return pd.DataFrame(list(lines.values()))


def _columns(name: str, spread: Spread | None) -> dict[str, Any]:
    parts = {name: "value", f"{name}_sd": "sd", f"{name}_low": "low", f"{name}_high": "high"}
    return {column: None if spread is None else getattr(spread, part) for column, part in parts.items()}
