"""More disclosed than a bound: the groups' shares, the exact unfairness, several metrics.

Ferry et al. (2023, VII) leave these as future work. Every correction here starts from the same guess at the same
price, whose exponent is chosen for the bound alone, so that only what is known differs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from core.adversaries import AttackedRecords
from core.correction.certificate import Disclosed, SolverCertificate
from core.correction.disclosure import prices_of, true_unfairness, won_and_lost
from core.correction.problem import true_tolerance
from core.correction.solve import correct, correct_jointly
from core.estimates import Estimate, accuracy, paired_gain
from core.fairness import METRICS
from core.serialize import Result
from core.validation import choice, unit_interval

KNOWLEDGE = ("bound", "bound_shares", "exact", "exact_shares", "all_metrics")
"""The bound; bound and exact group shares; the exact unfairness; that and the shares; three metrics at once."""


_SECONDS = 30.0
"""Time each correction may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MoreDisclosed(Result):
    """What one more disclosure, `known` of `KNOWLEDGE`, changes.

    Accuracy of the guess all corrections start from, accuracy after correction, and the change; the latter are None,
    and `reason` says why, when there is no correction.
    """

    known: str
    before: Estimate
    after: Estimate | None
    gain: Estimate | None
    n_changed: int | None
    certificate: SolverCertificate
    reason: str


def disclose_more(
    attacked: AttackedRecords,
    held_out: AttackedRecords,
    *,
    tolerance: float,
    metric: str = "statistical_parity",
    cost: str = "published",
) -> tuple[MoreDisclosed, ...]:
    """Correct the same guess with every kind of knowledge.

    The arguments are those of `core.correction.disclose`; the tolerance, in [0, 1], is told as it is. The exact
    unfairness and the shares are true of the attacked records; of the three metrics (all but equalized odds, which is
    two of them) each is told with the smallest true bound in steps of 0.001.

    Intervals take the changed guesses as given, and are narrower than those of `core.correction.disclose`.
    """
    tolerance, metric = unit_interval(tolerance, name="tolerance"), choice(metric, METRICS, name="metric")
    guess = attacked.calibrated_guess if cost == "log_odds" else attacked.guess
    prices, _ = prices_of(attacked, held_out, tolerance, metric, cost)
    counts = np.bincount(attacked.truth, minlength=attacked.n_groups)
    shares = (counts / counts.sum()).tolist()
    exact = true_unfairness(attacked, attacked.truth, metric)
    told: dict[str, dict[str, Any]] = {
        "bound": {"tolerance": tolerance},
        "bound_shares": {"tolerance": tolerance, "group_shares": shares},
        "exact": {"unfairness": exact},
        "exact_shares": {"unfairness": exact, "group_shares": shares},
    }
    common: dict[str, Any] = {"cost": prices, "n_groups": attacked.n_groups, "time_limit": _SECONDS}
    found = {
        known: correct(guess, attacked.predictions, metric=metric, labels=attacked.labels, **common, **more)
        for known, more in told.items()
    }
    found["all_metrics"] = correct_jointly(guess, [_true_bound(attacked, name) for name in METRICS[:3]], **common)
    truth, before = attacked.truth, accuracy(attacked.truth, guess)
    measured = []
    for known in KNOWLEDGE:
        correction = found[known]
        after = correction.reconstruction
        measured.append(
            MoreDisclosed(
                known=known,
                before=before,
                after=None if after is None else accuracy(truth, after),
                gain=None if after is None else paired_gain(*won_and_lost(truth, guess, after), truth.size),
                n_changed=correction.n_changed,
                certificate=correction.certificate,
                reason=correction.reason,
            )
        )
    return tuple(measured)


def _true_bound(attacked: AttackedRecords, metric: str) -> Disclosed:
    bound = true_tolerance(0.0, true_unfairness(attacked, attacked.truth, metric))
    return Disclosed(predictions=attacked.predictions, metric=metric, tolerance=bound, labels=attacked.labels)
