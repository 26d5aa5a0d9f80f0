"""What a policy says about an audit: pass, fail, inconclusive, not run, for every check and for the release."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from core.estimates import Estimate
from core.policy.limits import Limit, Policy
from core.policy.measurement import Measurement, Outcome
from core.results import Result


class Status(StrEnum):
    """Verdicts of a check, in the order they are shown; NOT_ASKED is no limit of the policy's."""

    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    NOT_RUN = "not_run"
    PASS = "pass"
    NOT_ASKED = "not_asked"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckVerdict(Result):
    """The verdict on one check.

    Attributes
    ----------
    limit : Limit or None
        None if the policy does not ask for the check.
    item : int
        Place of the limit in the policy, from 1; 0 without a limit.
    measurement : Measurement or None
        None if the audit did not try the check at all.
    decided : Estimate or None
        The interval at the level of its step of Holm's procedure, from which the verdict follows; None where
        nothing is estimated.
    p_value, p_adjusted : float
        Two-sided p-value of "the value is exactly the limit", and after Holm's correction; nan where nothing is
        estimated.
    why : str
        The verdict in one sentence.
    blocks : bool
        Whether it stands against a release.
    title : str
        The check's title with the sensitive attribute filled in.
    """

    check: str
    verdict: Status
    limit: Limit | None
    item: int
    measurement: Measurement | None
    decided: Estimate | None
    p_value: float
    p_adjusted: float
    why: str
    blocks: bool
    title: str = ""

    @property
    def excused(self) -> bool:
        """Return whether it is required, could not be run on what is at hand, and its limit allows that."""
        if self.limit is None or not self.limit.required or self.limit.if_not_run != "allowed":
            return False
        return self.verdict == Status.NOT_RUN and (
            self.measurement is None or self.measurement.outcome == Outcome.NOT_RUN
        )

    @property
    def counts(self) -> bool:
        """Return whether the release hangs on it."""
        return self.limit is not None and self.limit.required and not self.excused


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict(Result):
    """The verdict on a release.

    Attributes
    ----------
    overall : Status
        PASS, FAIL, INCONCLUSIVE or NOT_RUN: the worst of the required checks.
    headline, detail : str
        The verdict as a title ("Do not release: two of six checks fail.") and the sentence under it.
    rows : tuple of CheckVerdict
        In the order fail, inconclusive, not run, pass, not asked; within these in the policy's order.
    """

    overall: Status
    headline: str
    detail: str
    rows: tuple[CheckVerdict, ...]
    policy: Policy

    @property
    def exit_code(self) -> int:
        """Return the command line's exit code: 0 pass, 1 fail, 2 inconclusive or not run."""
        return {Status.PASS: 0, Status.FAIL: 1}.get(self.overall, 2)
