"""The known constraint beside the measured one: what not being told the promise costs the attacker.

Both corrections start from the same guess on the same records and differ only in metric and tolerance (Ferry et al.
2023, tables IV and V). The measured tolerance holds of the attacker's own records, so for the people under attack it
may be false, or so small that no answer can meet it: the result says both and relaxes nothing on its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.adversaries import AttackedRecords
from core.correction.disclosure import Disclosure, disclose
from core.correction.estimation import EstimatedConstraint
from core.correction.smallest import smallest_tolerance
from core.errors import InputError
from core.estimates import Estimate
from core.results import Result

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstraintComparison(Result):
    """The correction with the constraint the model was trained for beside that with the one the attacker measured.

    Attributes
    ----------
    trained : Disclosure or None
        The correction by an attacker who is told the real constraint; None for a model trained for none.
    estimated : Disclosure
        The correction by an attacker who uses her estimate. Its `achieved` and `is_true` say whether the estimate
        holds of the people under attack, its `after` is None where the estimated tolerance cannot be met by any
        answer, with the reason in `smallest_tolerance` and `certificate`.
    difference : Estimate or None
        Corrected accuracy with the estimate minus that with the real constraint; None where either is missing. The
        interval adds the squared distances of both Wilson intervals (Newcombe 1998) as if they came from different
        people; they come from the same ones, which makes it wider than needed.
    """

    estimate: EstimatedConstraint
    trained: Disclosure | None
    estimated: Disclosure
    difference: Estimate | None

    def to_frame(self) -> pandas.DataFrame:
        """Return one row for the real constraint, where there is one, and one for the estimated."""
        import pandas as pd

        rows = []
        for name, told in (("trained", self.trained), ("estimated", self.estimated)):
            if told is not None:
                row = {"constraint": name, "metric": told.metric, "tolerance": told.used, "achieved": told.achieved}
                rows.append(row | told.limits("before", "after") | {"status": told.certificate.status})
        return pd.DataFrame(rows)


def compare_constraints(
    attacked: AttackedRecords,
    held_out: AttackedRecords,
    estimate: EstimatedConstraint,
    *,
    metric: str | None,
    tolerance: float | None,
    cost: str = "published",
    raise_until_true: bool = False,
    raise_until_feasible: bool = False,
) -> ConstraintComparison:
    """Correct the same guess with the real and with the estimated constraint.

    Parameters
    ----------
    attacked, held_out : AttackedRecords
        As for `core.correction.disclose`, the same for both corrections.
    estimate : EstimatedConstraint
        From `estimate_constraint` on the attacker's own records.
    metric : str or None
        Metric the model was trained for; None for a method that is trained for none.
    tolerance : float in [0, 1] or None
        Tolerance disclosed with it; None exactly where the metric is.
    cost
        As for `core.correction.disclose`.
    raise_until_true : bool
        Raise the real constraint's tolerance until the model satisfies it, as published. The estimate is never
        raised for truth, which its attacker cannot know.
    raise_until_feasible : bool
        Raise an estimated tolerance that no answer can meet to the smallest that one can; the attacker knows all
        that this takes (predictions and labels). Otherwise such a correction is reported as infeasible.
    """
    if (metric is None) != (tolerance is None):
        raise InputError(
            f"metric and tolerance must be given together or not at all, got {metric!r} and {tolerance!r}."
        )
    real = None
    if metric is not None and tolerance is not None:
        real = disclose(
            attacked,
            held_out,
            tolerance=tolerance,
            metric=metric,
            cost=cost,
            raise_until_true=raise_until_true,
        )
    told = estimate.tolerance
    if raise_until_feasible:
        needed = smallest_tolerance(
            attacked.predictions, metric=estimate.metric, labels=attacked.labels, n_groups=attacked.n_groups
        )
        told = max(told, needed) if needed <= 1 else told
    estimated = disclose(attacked, held_out, tolerance=told, metric=estimate.metric, cost=cost)
    return ConstraintComparison(
        estimate=estimate, trained=real, estimated=estimated, difference=_difference(real, estimated)
    )


def _difference(real: Disclosure | None, estimated: Disclosure) -> Estimate | None:
    if real is None or real.after is None or estimated.after is None:
        return None
    a, b = estimated.after, real.after
    value = a.value - b.value
    return Estimate(
        value=value,
        low=max(-1.0, value - math.hypot(a.value - a.low, b.high - b.value)),
        high=min(1.0, value + math.hypot(a.high - a.value, b.value - b.low)),
        n=a.n,
        level=a.level,
    )
