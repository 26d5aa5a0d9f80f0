"""What no planned answers tell: nothing, by declaration. Whoever plans none promises to answer none."""

from __future__ import annotations

from core.decision.audited import Audited
from core.estimates import Estimate
from core.policy import Basis, Measurement


def unasked(check: str, audited: Audited, *, value: float, control: str = "") -> Measurement:
    """Return the number of a check where no answers to bias questions are planned: declared, not measured.

    Parameters
    ----------
    value : float
        What an attacker has who is answered nothing.
    control : str
        What has as much, if anything is to stand beside it.
    """
    estimate = Estimate(value=value, low=value, high=value, n=audited.splits.test.size)
    return Measurement(
        check=check,
        basis=Basis.DECLARED,
        estimate=estimate,
        control=estimate if control else None,
        control_name=control,
        attacked="Nothing: no answers to bias questions are planned.",
        knows="No answers.",
        assumptions=(
            "The plan declares 0 answers; it was not measured, and does not hold once a question is answered.",
        ),
    )
