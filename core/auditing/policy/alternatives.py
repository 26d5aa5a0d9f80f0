"""What could be released instead: an audit's checks measured again on less, and judged by the same policy.

Releasing less comes in steps, the most useful first: scores with one decimal, then labels alone. All steps that may be
tried are one family: each is judged at 1 − α / k for k steps, α one minus the policy's level (Bonferroni), so that the
chance that one of them passes wrongly is at most α.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from ...base.serialize import Result
from ...studies.registry import STUDIES
from ...studies.study import Measurement
from ...studies.subject import OutputsPlan
from .limits import VERDICT_TITLES
from .verdict import CheckVerdict, Status, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative(Result):
    """A narrower release of the audited model, and what was measured of it.

    `measurements` are those of the checks that depend on what is released; where a first of them did not pass, the
    others were left out and stand as for the whole release. `tries` are the steps of its family.
    """

    outputs: OutputsPlan
    measurements: tuple[Measurement, ...]
    tries: int

    @property
    def title(self) -> str:
        """What is released: "labels alone", "scores with 1 decimal"."""
        if self.outputs.released == "labels":
            return "labels alone"
        return f"scores with {self.outputs.decimals} decimal{'s' * (self.outputs.decimals != 1)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedAlternative:
    """A narrower release with its verdict."""

    alternative: Alternative
    verdict: Verdict

    @property
    def passes(self) -> bool:
        """Whether the policy lets it be released."""
        return self.verdict.overall == Status.PASS


class Untried(StrEnum):
    """Why no narrower release was tried."""

    LABELS_ALONE = "labels_alone"
    """Nothing narrower is left."""

    OTHER_CHECKS = "other_checks"
    """A required check that does not depend on what is released does not pass either."""

    OTHER_POLICY = "other_policy"
    """The audit passed by the policy it was run by."""


def output_checks() -> frozenset[str]:
    """Return the checks that depend on what is released."""
    studies = [study for study in STUDIES.values() if study.reads_outputs]
    return frozenset(check.name for study in studies for check in study.declared)


def untried_reason(rows: Sequence[CheckVerdict], outputs: OutputsPlan) -> Untried:
    """Return why nothing narrower than these outputs was tried although they do not pass."""
    if outputs.released == "labels":
        return Untried.LABELS_ALONE
    open_checks = [row.check for row in rows if row.blocks]
    if output_checks().issuperset(open_checks):
        return Untried.OTHER_POLICY
    return Untried.OTHER_CHECKS


def passing_alternative_text(candidates: Sequence[JudgedAlternative]) -> str:
    """Return the first narrower release that passes, in a sentence; empty where none does."""
    for alternative in candidates:
        if alternative.passes:
            return f"{_capital(alternative.alternative.title)} would pass."
    return ""


def tries_text(candidates: Sequence[JudgedAlternative]) -> str:
    """Return what was tried instead, with the verdict of each, in a sentence; empty where nothing was tried."""
    if not candidates:
        return ""
    verdicts = [
        f"{candidate.alternative.title}: {VERDICT_TITLES[candidate.verdict.overall].lower()}"
        for candidate in candidates
    ]
    return f"Tried instead, adjusted for {candidates[0].alternative.tries} steps: {'; '.join(verdicts)}."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
