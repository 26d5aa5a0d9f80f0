"""What an audit found about one check, in the form a policy judges."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from core.estimates import Estimate
from core.results import Result


class Outcome(StrEnum):
    """There is a number; the check could not be run here; it was begun and broke."""

    DONE = "done"
    NOT_RUN = "not_run"
    FAILED = "failed"


class Basis(StrEnum):
    """An attack was run; the number follows from what the user declares; it rests on both."""

    MEASURED = "measured"
    DECLARED = "declared"
    COMBINED = "combined"


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement(Result):
    """One check's number, or the reason why there is none.

    Attributes
    ----------
    check : str
        One of `core.policy.CHECKS`.
    estimate : Estimate or None
        The number, in the unit of the check as a share (0.05 for 5 points); low = high = value where it is computed
        and not estimated. None unless the outcome is DONE.
    freedom : int or None
        Degrees of freedom where the interval is Student's; None for a normal one.
    control : Estimate or None
        What would be reached without the model, the promise or the answers.
    control_name : str
        What the control is, such as "features alone" or "calling everybody a man".
    attacked : str
        What was attacked, and by whom, in one sentence with the number of people.
    knows : str
        What the attacker knows, in one sentence.
    assumptions : tuple of str
        What the number takes for granted, a sentence each.
    reason : str
        Why there is no number, in one sentence; empty when there is one.
    details : dict of str to float
        Further numbers by name, for tables.
    """

    check: str
    outcome: Outcome = Outcome.DONE
    basis: Basis = Basis.MEASURED
    estimate: Estimate | None = None
    freedom: int | None = None
    control: Estimate | None = None
    control_name: str = ""
    attacked: str = ""
    knows: str = ""
    assumptions: tuple[str, ...] = ()
    reason: str = ""
    details: dict[str, float] | None = None
