"""What membership attacks found, worded once."""

from __future__ import annotations

from collections.abc import Mapping

from core.estimates import Estimate, gap, percent
from core.study import Finding, Measurement

_REDACTED = "Who of the training and test records is a training record was tried with several attacks."


def release_findings(measured: Mapping[str, Measurement]) -> tuple[Finding, ...]:
    """Return the findings of a release: the best attack's AUC first, then whom it identifies, then groups."""
    auc, found = measured["membership_auc"], []
    if auc.estimate is not None:
        works = auc.estimate.low > 0.5
        found.append(
            _of(
                auc,
                f"Membership inference succeeds (AUC {auc.estimate.value:.2f})."
                if works
                else f"Membership inference is not significantly better than random guessing (AUC "
                f"{auc.estimate.value:.2f}).",
                f"{auc.attacked} 95% CI {auc.estimate.low:.3f} to {auc.estimate.high:.3f}; random guessing: 0.5.",
                so_what="The model remembers its training records." if works else "",
                to_do="Train it with a smaller privacy budget or a smaller depth, and check its accuracy."
                if works
                else "",
            )
        )
    caught = measured["membership_caught"]
    if caught.estimate is not None:
        rate = caught.estimate
        point = f"{percent(rate)} of the training records are identified at 1% FPR."
        found.append(_of(caught, point, f"95% CI {percent(rate.low)} to {percent(rate.high)}; random guessing: 1.0%."))
    largest = measured["membership_gap"]
    if largest.estimate is not None:
        point = f"The largest difference between groups in TPR at 1% FPR is {gap(largest.estimate.value)}."
        found.append(_of(largest, point, f"{largest.attacked} 95% CI {_span(largest.estimate)}."))
    return tuple(found)


def _of(measured: Measurement, point: str, evidence: str, *, so_what: str = "", to_do: str = "") -> Finding:
    return Finding(
        point=point,
        evidence=evidence,
        so_what=so_what,
        to_do=to_do,
        caveats=measured.assumptions,
        redacted=_REDACTED,
        estimate=measured.estimate,
        baseline=measured.control,
        attacker_knows=measured.knows,
    )


def _span(estimate: Estimate) -> str:
    return f"{gap(estimate.low)} to {gap(estimate.high)}"
