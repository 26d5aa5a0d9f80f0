"""How far the groups' rates lie apart on people the model has not seen."""

from __future__ import annotations

from core.decision.audited import Audited
from core.fairness import METRIC_TITLES
from core.policy import Measurement

__all__ = ["unfairness"]


def unfairness(audited: Audited) -> Measurement:
    """Return the unfairness on the test records, by the audited metric."""
    model, metric = audited.model, METRIC_TITLES[audited.config.metric]
    return Measurement(
        check="unfairness",
        outcome="done",
        estimate=model.unfairness_test,
        attacked=f"{metric} between {_groups(audited)} on {audited.splits.test.size:,} test records.",
        knows="There is no attacker.",
        assumptions=("The test records are a sample of the people the model will decide about.",),
        details={
            "on the training records": model.unfairness_train,
            "tolerance promised": audited.config.tolerance,
        },
    )


def _groups(audited: Audited) -> str:
    names = [row.group for row in audited.dataset.groups()]
    return f"{names[0]} and {names[1]}" if len(names) == 2 else f"{len(names)} groups by {audited.attribute}"
