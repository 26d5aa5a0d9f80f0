"""Policies of one's own: what to start from, what a limit is used for, and what a changed limit must say.

To start from there are FairLeak's own policies, a stricter and a looser one, and one a law whose provisions ask for
evidence. No law sets a number for what a model may reveal. So each limit stays a starting value until somebody sets it
with a source, and the policy of a law says in the reason of each check which provision it is evidence for.

Nobody's reason, source or name may stand under a value that these were not about. So a change needs a reason and a
source of its own, and a changed policy another name or version, and an author who answers for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from functools import partial

from ..auditing.policy import CHECKS, UNITS, Limit, Policy, default_policy, predictions_policy
from ..base.errors import InputError
from ..base.settings import value_excerpt
from .regulations import NOT_LEGAL_ADVICE, Provision, law_of_checks, legal_texts

_LAWS = {"gdpr": "GDPR", "ai_act": "EU AI Act", "edpb": "EDPB Opinion 28/2024"}
"""Key of a template -> the name of its text."""

_STRICT = 0.5
_MODERATE = 1.5
"""Distance from chance to a limit, as a share of the default's."""


def policy_templates() -> dict[str, tuple[str, Callable[[], Policy]]]:
    """Key -> what to call a policy to start from, and what makes it, in the order of a list.

    The first two are those that `fairleak audit --policy` names.
    """
    templates: dict[str, tuple[str, Callable[[], Policy]]] = {
        "default": ("FairLeak's default", default_policy),
        "predictions": ("FairLeak's, for predictions alone", predictions_policy),
        "strict": (
            "Strict: half as far from chance",
            partial(_scaled, "strict", _STRICT, all_required=True),
        ),
        "moderate": (
            "Moderate: 1.5 times as far from chance",
            partial(_scaled, "moderate", _MODERATE, all_required=False),
        ),
    }
    for key, name in _LAWS.items():
        templates[key] = (f"Evidence for the {name}", partial(_for_law, name))
    return templates


def _scaled(name: str, scale: float, *, all_required: bool) -> Policy:
    """Return the default policy with other distances from chance; a limit with a source stays as it is."""
    policy = default_policy()
    return replace(
        policy,
        name=f"FairLeak {name}",
        version="1",
        rationale=f"FairLeak's default, each limit {scale:g} times as far from chance. Starting values, to be replaced "
        "by yours; a value that follows a source is as in the default.",
        limits=tuple(_scaled_limit(limit, scale, all_required) for limit in policy.limits),
    )


def _scaled_limit(limit: Limit, scale: float, all_required: bool) -> Limit:
    required = limit.required or all_required
    if limit.source:
        return replace(limit, required=required)
    check = CHECKS[limit.check]
    unit = UNITS[check.unit]
    value = check.chance + scale * (limit.value - check.chance)
    return replace(
        limit,
        value=round(min(unit.most, max(unit.least, value)), 6),
        required=required,
        rationale=f"{scale:g} times as far from chance as in FairLeak's default: a starting value, to be replaced by "
        "yours.",
    )


def _for_law(name: str) -> Policy:
    """Return the default limits of those checks that are evidence for a provision of a text."""
    policy = default_policy()
    text = legal_texts()[name]
    limits = []
    for limit in policy.limits:
        row = law_of_checks().get(limit.check)
        provisions = [] if row is None else [item for item in row.provisions if item.text == text]
        if provisions:
            limits.append(replace(limit, rationale=_law_rationale(provisions)))
    return replace(
        policy,
        name=f"FairLeak, evidence for the {name}",
        version="1",
        rationale=f"The checks whose numbers can be evidence for {text.title} ({text.source}), looked up "
        f"{text.looked_up}. It sets no number: the values are FairLeak's starting values, to be replaced by yours. "
        f"{NOT_LEGAL_ADVICE}",
        limits=tuple(limits),
    )


def _law_rationale(provisions: list[Provision]) -> str:
    """Return which provisions a check is evidence for, and that they set no number."""
    sentences = [
        f"{provision.article}: {provision.quotation}. {provision.evidence}"
        for provision in provisions
    ]
    return f"{' '.join(sentences)} No number is set there."


# Changes --------------------------------------------------------------------------------------------------------------


class LimitUse(StrEnum):
    """What a limit is used for."""

    REQUIRED = "required"
    WHERE_RUN = "where_run"
    INFORMATION = "information"
    NOT_COVERED = "not_covered"

    @classmethod
    def of(cls, limit: Limit | None) -> LimitUse:
        """Return the use of a limit; where there is none the check is not covered."""
        if limit is None:
            return cls.NOT_COVERED
        if not limit.required:
            return cls.INFORMATION
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
        return replace(limit, required=self != LimitUse.INFORMATION, if_not_run=if_not_run)


_LABELS = {
    LimitUse.REQUIRED: "Required",
    LimitUse.WHERE_RUN: "Required if it can be run",
    LimitUse.INFORMATION: "For information",
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
