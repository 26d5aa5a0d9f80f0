"""Measurements without a number, and why there is none."""

from __future__ import annotations

from core.decision.audited import Audited
from core.decision.plan import AuditPlan
from core.policy import CHECKS, Basis, Measurement, Outcome

_ANSWERS = ("answers_excess", "targeted_leakage")
_RELEASED_SCORES = ("membership_caught", "membership_gap")


def not_run(
    check: str, reason: str, *, outcome: Outcome = Outcome.NOT_RUN, basis: Basis = Basis.MEASURED
) -> Measurement:
    """Return a measurement that has a reason and no number."""
    return Measurement(check=check, outcome=outcome, basis=basis, reason=reason)


def missing(check: str, audited: Audited) -> str:
    """Return what a check needs and this audit has not, in one sentence; "" if nothing is missing."""
    needs, plan = CHECKS[check].needs, audited.plan
    if check in _RELEASED_SCORES and audited.has_scores and audited.released_scores is None:
        return "A TPR at 1% FPR needs scores; the plan releases labels alone. AUC and advantage are measured on labels."
    if check in _ANSWERS and not plan.answers.questions:
        return ""  # that none are given is declared
    for need, told in _lacking(plan, audited.has_scores).items():
        if need in needs:
            return told
    return ""


def _lacking(plan: AuditPlan, has_scores: bool) -> dict[str, str]:
    """Return need -> why it is not met."""
    lacking = {}
    if not plan.guard.budget:
        lacking["a guard"] = "AttriGuard is not planned."
    if not has_scores:
        lacking["scores"] = "Scores are needed; only predicted labels are given."
    if plan.model.kind != "train":
        lacking["a model that can be trained again"] = (
            "The model must be one that can be trained again; only predictions are given."
        )
    return lacking
