"""How far the groups' rates lie apart on people the model has not seen."""

from __future__ import annotations

from core.decision.audited import Audited
from core.fairness import METRIC_TITLES, difference_title
from core.policy import Measurement


def unfairness(audited: Audited) -> Measurement:
    """Return the unfairness on the test records, by the audited metric, and beside it the difference between groups."""
    model, metric = audited.model, METRIC_TITLES[audited.config.metric]
    difference = difference_title(audited.config.metric)
    between, names = model.difference_test, [row.group for row in audited.dataset.groups()]
    groups = f"{names[0]} and {names[1]}" if len(names) == 2 else f"{len(names)} groups by {audited.attribute}"
    return Measurement(
        check="unfairness",
        estimate=model.unfairness_test,
        attacked=(
            f"{metric} between {groups} on {audited.splits.test.size:,} test records: largest deviation of a "
            f"group from the overall rate. {difference}: {between.value:.3f}, 95%: {between.low:.3f} to "
            f"{between.high:.3f}."
        ),
        knows="There is no attacker.",
        assumptions=("The test records are a sample of the people the model will decide about.",),
        details={
            difference: between.value,
            f"{difference}, low": between.low,
            f"{difference}, high": between.high,
            f"{difference}, on the training records": model.difference_train,
            "on the training records": model.unfairness_train,
            "tolerance promised": audited.config.tolerance,
        },
    )
