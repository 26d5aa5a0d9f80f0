"""A release policy: limits, each with who set it, when, why and after which source."""

from __future__ import annotations

from dataclasses import dataclass

from core.results import Result

POLICY_SCHEMA = 1
"""Version of the file format."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit(Result):
    """One limit.

    Attributes
    ----------
    check : str
        One of `core.policy.CHECKS`.
    value : float
        Largest value that is still allowed, or least where the check says so; as a share (0.05 for 5 points).
    required : bool
        Whether a release needs this check to pass; otherwise it is shown and does not block.
    if_not_run : {"blocks", "allowed"}
        Whether a required check that cannot be run on what is at hand stands against a release. One that was begun
        and broke always does.
    author, date : str
        Who set the limit, and when (YYYY-MM-DD).
    rationale : str
        Why this value.
    source : str
        Law, standard, paper or internal document it follows; empty means that there is none, and is shown so.
    """

    check: str
    value: float
    required: bool = True
    if_not_run: str = "blocks"
    author: str = ""
    date: str = ""
    rationale: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy(Result):
    """What a release must keep to.

    Attributes
    ----------
    author, date : str
        Who answers for the policy, and since when (YYYY-MM-DD).
    rationale : str
        What the policy is for, and why it leaves out the checks it does not ask for.
    level : float in (0, 1)
        Confidence of the decisions together: with Holm's correction, the chance that any check whose value is exactly
        at its limit is called kept or broken is at most 1 - level. What is not proved: see `core.policy.decisions`.
    limits : tuple of Limit
        One a check at most, in the order of the file.
    schema : int
        `POLICY_SCHEMA` of the file.
    """

    name: str
    version: str
    author: str = ""
    date: str = ""
    rationale: str = ""
    level: float = 0.95
    limits: tuple[Limit, ...] = ()
    schema: int = POLICY_SCHEMA
