"""The control of the correction: the same guess, corrected with predictions that belong to other people.

The promise "the model satisfies this metric within this tolerance" says something about people only through their
predictions. Here the attacker corrects the very same guess with permuted predictions: dealt out within the row sets
the metric compares groups on (everybody for statistical parity, each label for the others), so that the rates, the
counts a correction may reach and the smallest tolerance stay exactly as they were, while the permuted answers are
unrelated to the groups and the promise stays true of them up to chance. A gain that survives this does not come from
what the model said about anybody.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from core.adversaries import AttackedRecords
from core.adversaries.permuted import permuted_predictions
from core.correction.disclosure import Disclosure, disclose
from core.fairness import METRICS
from core.results import Result
from core.validation import choice

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True, kw_only=True)
class PermutedControl(Result):
    """A correction beside its control.

    Both correct the same guess and are told the same tolerance, one with the model's answers, one with these permuted.
    The control's `achieved` is the unfairness of the permuted answers; above `used`, chance has made the promise false
    of them.
    """

    real: Disclosure
    permuted: Disclosure

    def to_frame(self) -> pandas.DataFrame:
        """Return one row for the real predictions and one for the permuted ones."""
        import pandas as pd

        rows = []
        for name, told in (("real", self.real), ("permuted", self.permuted)):
            row = {"predictions": name, "tolerance": told.used, "achieved": told.achieved, "changed": told.n_changed}
            rows.append(row | told.limits("before", "after", "gain"))
        return pd.DataFrame(rows)


def permuted_records(records: AttackedRecords, *, metric: str, seed: int, name: str = "everybody") -> AttackedRecords:
    """Return the records with their predictions permuted within the metric's row sets; the guesses stay.

    `name` says which records these are; another one under the same seed permutes independently.
    """
    within = None if choice(metric, METRICS, name="metric") == "statistical_parity" else records.labels
    return replace(records, predictions=permuted_predictions(records.predictions, within, seed=seed, records=name))


def permuted_control(
    attacked: AttackedRecords,
    held_out: AttackedRecords,
    *,
    tolerance: float,
    seed: int,
    metric: str = "statistical_parity",
    cost: str = "published",
    raise_until_true: bool = False,
) -> PermutedControl:
    """Correct the same guess with the real and with permuted predictions.

    The arguments are those of `core.correction.disclose`. The control is told the tolerance the real correction used,
    raised or not, and chooses its own exponent, on held-out records with permuted predictions.
    """
    real = disclose(
        attacked,
        held_out,
        tolerance=tolerance,
        metric=metric,
        cost=cost,
        raise_until_true=raise_until_true,
    )
    permuted = disclose(
        permuted_records(attacked, metric=metric, seed=seed, name="attacked"),
        permuted_records(held_out, metric=metric, seed=seed, name="held out"),
        tolerance=real.used,
        metric=metric,
        cost=cost,
    )
    return PermutedControl(real=real, permuted=permuted)
