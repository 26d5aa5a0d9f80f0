"""What the planned answers can tell about one person at most: a consequence of how they are made, not a measurement."""

from __future__ import annotations

from core.decision.attacks.answers import answers_of
from core.decision.audited import Audited
from core.decision.measures.unasked import unasked
from core.decision.plan import PlannedAnswers
from core.estimates import Estimate
from core.policy import Basis, Measurement
from core.queries import accuracy_limit

_PRIVATE = ("laplace", "cauchy", "noisy_sums")


def declared_limits(planned: PlannedAnswers) -> tuple[float, float]:
    """Return the largest balanced accuracy about one person, with the group sizes known and without."""
    if not planned.questions:
        return 0.5, 0.5
    if planned.mechanism not in _PRIVATE:
        return 1.0, 1.0
    return accuracy_limit(planned.epsilon, sizes_known=True), accuracy_limit(planned.epsilon)


def targeted_leakage(audited: Audited) -> Measurement:
    """Return the guarantee of the planned answers against an attacker who knows the group sizes.

    Exact answers tell everything. Rounded ones promise nothing: what one question hides, another one shows. No answers
    tell as much as a coin.
    """
    planned = audited.plan.answers
    if not planned.questions:
        return unasked("targeted_leakage", audited, value=0.5, control="a coin")
    known, unknown = declared_limits(planned)
    told: tuple[str, ...]
    if planned.mechanism in _PRIVATE:
        told = (
            f"The answers keep epsilon {planned.epsilon:g} together, over their whole life; whoever knows the group "
            "sizes is bounded by twice that.",
            f"An attacker who has the answers alone, and not the group sizes, is right about at most "
            f"{100 * unknown:.1f}%.",
            "The bound is for an attacker without a prior; one with a prior starts from it.",
        )
    else:
        told = (
            "Answers without noise promise nothing: one question that accepts a single person names her."
            if planned.mechanism == "exact"
            else "Rounding promises nothing: where one question hides a person, others show her.",
        )
    return Measurement(
        check="targeted_leakage",
        basis=Basis.DECLARED,
        estimate=Estimate(value=known, low=known, high=known, n=planned.people),
        control=Estimate(value=0.5, low=0.5, high=0.5, n=planned.people),
        control_name="a coin",
        attacked=f"The {audited.attribute} of one person among {planned.people:,}, from {answers_of(planned)}.",
        knows="How the answers are made, the group sizes, and every score asked about; nothing else of the person.",
        assumptions=told,
        details={"group sizes known": known, "group sizes not known": unknown},
    )
