"""A membership audit as pages and command make it, attack after attack, for tests of all of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from core.membership import (
    MemberPeople,
    MembershipFindings,
    MembershipSettings,
    MembershipSplit,
    Train,
    attacked,
    findings_of,
    guesses,
    judge,
    target_of,
)
from core.membership.attack import Report


def study(
    people: MemberPeople,
    settings: MembershipSettings,
    *,
    train: Train | None = None,
    split: MembershipSplit | None = None,
    report: Report | None = None,
) -> Iterator[MembershipFindings]:
    """Yield the findings as they grow, once more after each attack that can be run on the target."""
    target = attacked(people, settings, target_of(people, settings) if train is None else train, split=split)
    found = findings_of(target)
    for guess in guesses(target, report=report):
        found = replace(found, attacks={**found.attacks, guess.name: judge(target, guess)})
        yield found
