"""Attackers of the threat models as people who could exist, and the owner's statement on which are met.

Whether an attacker is plausible is not measured: the table [attackers] of a plan holds what the model's owner says of
each, with a name and a day. docs/explanation/threat-models.md says what each attack assumes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from ..base.settings import Param, Settings, broken

_STATEMENT = re.compile(r"(yes|partly|no)(?::\s+(\S.*))?")


LONGEST_STATEMENT = 120
"""Letters of a statement at most."""


class Met(StrEnum):
    """Whether an attacker is met where the model is used, as its owner states."""

    YES = "yes"
    PARTLY = "partly"
    NO = "no"
    NOT_STATED = "not stated"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlausibleAttacker:
    """One attacker: what they seek, what they need, and the checks that measure how far they come."""

    title: str
    seeks: str
    needs: str
    checks: tuple[str, ...]


ATTACKERS: Mapping[str, PlausibleAttacker] = {
    "partner": PlausibleAttacker(
        title="Partner or colleague",
        seeks="seeks training records",
        needs="Records, {outputs}; some known training records",
        checks=("membership_auc", "membership_caught", "membership_advantage", "membership_gap"),
    ),
    "broker": PlausibleAttacker(
        title="Data broker",
        seeks="seeks training records",
        needs="The same, bought",
        checks=("membership_auc", "membership_caught", "membership_advantage", "membership_gap"),
    ),
    "register": PlausibleAttacker(
        title="Holder of a register",
        seeks="seeks {attribute}",
        needs="Records, {outputs}; {attribute} of {known}",
        checks=("attribute_excess", "attribute_balanced", "attribute_bits", "absence"),
    ),
    "statement": PlausibleAttacker(
        title="Reader of the fairness statement",
        seeks="seeks {attribute}",
        needs="Records, labels, metric and tolerance; {attribute} of {known}",
        checks=("correction_gain",),
    ),
    "asker": PlausibleAttacker(
        title="Asker of fairness questions",
        seeks="seeks {attribute}",
        needs="Answers about groups",
        checks=("answers_excess", "targeted_leakage"),
    ),
    "observer": PlausibleAttacker(
        title="Reader of public records",
        seeks="seeks {attribute}",
        needs="Public records; {attribute} of {known}",
        checks=("attriguard_exposure",),
    ),
    "two_models": PlausibleAttacker(
        title="Holder of two models",
        seeks="seeks training records",
        needs="Answers of each model",
        checks=("two_models_gain",),
    ),
}
"""Key in a plan -> attacker."""


def _statement(key: str) -> Param:
    """Return the declaration of the owner's statement on one attacker."""
    title = ATTACKERS[key].title
    return Param(
        title,
        f'{title}: "yes", "partly" or "no", and after a colon why: "yes: 2 partners get scores".',
        form="line",
        most=LONGEST_STATEMENT,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackersPlan(Settings):
    """The owner's statement on which attackers are met; empty for one that is not stated."""

    date: Annotated[str, Param("Date", "Day of the statement, YYYY-MM-DD.", form="day")] = ""
    author: Annotated[str, Param("Author", "Who states it.", form="line", most=120)] = ""
    partner: Annotated[str, _statement("partner")] = ""
    broker: Annotated[str, _statement("broker")] = ""
    register: Annotated[str, _statement("register")] = ""
    statement: Annotated[str, _statement("statement")] = ""
    asker: Annotated[str, _statement("asker")] = ""
    observer: Annotated[str, _statement("observer")] = ""
    two_models: Annotated[str, _statement("two_models")] = ""

    def __post_init__(self) -> None:
        super(AttackersPlan, self).__post_init__()
        for key in ATTACKERS:
            text = getattr(self, key)
            if text and not _STATEMENT.fullmatch(text):
                raise broken(key, 'begin with "yes", "partly" or "no", then a colon and why', text)
        if any(getattr(self, key) for key in ATTACKERS) and not self.date:
            raise broken("date", "be given, as a statement has a day", self.date)

    def met(self, key: str) -> tuple[Met, str]:
        """Return whether an attacker is met, and why."""
        match = _STATEMENT.fullmatch(getattr(self, key))
        if match is None:
            return Met.NOT_STATED, ""
        return Met(match[1]), match[2] or ""
