"""Changes of a policy: what a limit is used for, and what a changed limit must say.

Nobody's reason, source or name may stand under a value that these were not about. So a change needs a reason and a
source of its own, and a changed policy another name or version, and an author who answers for it.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

from ...base.errors import InputError
from ...base.settings import value_excerpt
from .limits import CHECKS, Limit, Policy


class LimitUse(StrEnum):
    """What a limit is used for."""

    REQUIRED = "required"
    WHERE_RUN = "where_run"
    ADVISORY = "advisory"
    NOT_COVERED = "not_covered"

    @classmethod
    def of(cls, limit: Limit | None) -> LimitUse:
        """Return the use of a limit; where there is none the check is not covered."""
        if limit is None:
            return cls.NOT_COVERED
        if not limit.required:
            return cls.ADVISORY
        if limit.if_not_run == "allowed":
            return cls.WHERE_RUN
        return cls.REQUIRED

    @property
    def label(self) -> str:
        """What it is called."""
        return _LABELS[self]

    def applied(self, limit: Limit) -> Limit:
        """Return a limit with this use."""
        if LimitUse.of(limit) == self:
            return limit
        if_not_run = "allowed" if self == LimitUse.WHERE_RUN else "blocks"
        return replace(limit, required=self != LimitUse.ADVISORY, if_not_run=if_not_run)


_LABELS = {
    LimitUse.REQUIRED: "Required",
    LimitUse.WHERE_RUN: "Required if it can be run",
    LimitUse.ADVISORY: "Advisory",
    LimitUse.NOT_COVERED: "Not covered",
}


def check_change(before: Policy, after: Policy) -> None:
    """Raise `InputError` if a changed policy does not say what a change must say; an equal one is none."""
    if after == before:
        return
    if (after.name, after.version) == (before.name, before.version):
        raise InputError(
            f"A changed policy must have a name or a version of its own, got {value_excerpt(after.name)} and version "
            f"{value_excerpt(after.version)}, those of the policy before."
        )
    if after.author == before.author and after.author.startswith("FairLeak"):
        raise InputError("The author of a changed policy must be who answers for it, got FairLeak.")
    limits = {limit.check: limit for limit in before.limits}
    for limit in after.limits:
        _check_limit(limits.pop(limit.check, None), limit)
    if limits and _same_text(after.rationale, before.rationale):
        titles = ", ".join(_title(check) for check in limits)
        raise InputError(
            f"The reason of this version must say why a check is not covered any more ({titles}), got the one before."
        )


def _check_limit(before: Limit | None, after: Limit) -> None:
    if before is not None and _ruling(before) == _ruling(after):
        return
    title = _title(after.check)
    reason_is_old = before is not None and _same_text(after.rationale, before.rationale)
    if not after.rationale.strip() or reason_is_old:
        got = "the one before" if reason_is_old else "none"
        raise InputError(f"A changed limit must have a reason of its own ({title}), got {got}.")
    if not after.source.strip():
        raise InputError(f"A changed limit must have a source ({title}), got none.")


def _ruling(limit: Limit) -> tuple[float, bool, str]:
    return limit.value, limit.required, limit.if_not_run


def _same_text(first: str, second: str) -> bool:
    return first.split() == second.split()


def _title(check: str) -> str:
    return CHECKS[check].title.format(attribute="attribute")
