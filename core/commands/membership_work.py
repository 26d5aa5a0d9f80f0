"""The work of ``python -m core membership``: every privacy budget attacked, and the curves over repeats."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count

from core.commands.console import Console
from core.membership import (
    ATTACKS,
    CurveBand,
    MemberPeople,
    MembershipFindings,
    MembershipSettings,
    MembershipSplit,
    Train,
    attacked,
    epsilon_curve,
    fairpick_curve,
    findings_of,
    guesses,
    judge,
    ledger_of,
    summarise_curve,
    target_of,
)
from core.results import Result

_POINTS_OF_FAIRPICK = 4
"""Of one repeat: FairPick and its control, at the theta asked for and at 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit(Result):
    """What was found.

    Attributes
    ----------
    findings : tuple of MembershipFindings
        One a privacy budget, as asked.
    costs : tuple of float
        What the tree costs in truth at each; inf without a bound.
    over_epsilon : tuple of CurveBand
        Over repeats; empty for one.
    over_theta : tuple of (float, tuple of CurveBand)
        Privacy budget, and what FairPick and its control change; empty unless asked for.
    deletions : MembershipFindings or None
        Of the target after FairPick, without attacks.
    """

    people: MemberPeople
    findings: tuple[MembershipFindings, ...]
    costs: tuple[float, ...]
    over_epsilon: tuple[CurveBand, ...]
    over_theta: tuple[tuple[float, tuple[CurveBand, ...]], ...]
    deletions: MembershipFindings | None
    repeats: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What to do, checked, before any of it.

    Attributes
    ----------
    settings : tuple of MembershipSettings
        One a privacy budget.
    attacks : tuple of str
        Among `core.membership.ATTACKS`, in their order.
    train : Train or None
        The target; None for one that its name is enough for.
    split : MembershipSplit or None
        Members and outsiders; None draws them from the seed.
    theta : float in (0, 1]
        Of FairPick, which is left out for 1.
    """

    people: MemberPeople
    settings: tuple[MembershipSettings, ...]
    attacks: tuple[str, ...]
    train: Train | None
    split: MembershipSplit | None
    theta: float
    repeats: int

    def train_of(self, settings: MembershipSettings) -> Train:
        """Return the target of these settings."""
        return target_of(self.people, settings) if self.train is None else self.train


def measured(work: Work, console: Console) -> Audit:
    """Do the work, with progress."""
    steps = sum(work.settings[0].shadows if name == "lira" else 1 for name in work.attacks)
    curves = work.repeats * len(work.settings) * ((work.repeats > 1) + _POINTS_OF_FAIRPICK * (work.theta < 1.0))
    report, total, numbers = console.counting("steps", every=16), steps * len(work.settings) + curves, count(1)

    def tick(*_: object) -> None:
        report(next(numbers), total)

    findings = tuple(_attacked(work, settings, tick) for settings in work.settings)
    deletions = None
    if work.theta < 1.0:
        deleted = replace(work.settings[0], theta=work.theta)
        deletions = findings_of(attacked(work.people, deleted, work.train_of(deleted), split=work.split))
    return Audit(
        people=work.people,
        findings=findings,
        costs=tuple(
            ledger_of(work.people, settings).total if settings.target == "dp_id3" else math.inf
            for settings in work.settings
        ),
        over_epsilon=_over_epsilon(work, tick),
        over_theta=_over_theta(work, tick),
        deletions=deletions,
        repeats=work.repeats,
    )


_Tick = Callable[..., None]


def _attacked(work: Work, settings: MembershipSettings, tick: _Tick) -> MembershipFindings:
    """Train one target and attack it."""
    target = attacked(work.people, settings, work.train_of(settings), split=work.split)
    there = tuple(name for name in ATTACKS if name not in work.attacks)
    made = {guess.name: judge(target, guess) for guess in guesses(target, there=there, report=tick)}
    return replace(findings_of(target), attacks=made)


def _over_epsilon(work: Work, tick: _Tick) -> tuple[CurveBand, ...]:
    """Return the network attack over repeats; FairPick's curve has it for targets without a privacy budget."""
    if work.repeats == 1:
        return ()
    points = []
    if work.settings[0].target == "dp_id3":
        epsilons = [settings.epsilon for settings in work.settings]
        for point in epsilon_curve(work.people, work.settings[0], epsilons=epsilons, repeats=work.repeats):
            points.append(point)
            tick()
        return summarise_curve(points)
    whole = fairpick_curve(
        work.people, work.settings[0], thetas=(1.0,), repeats=work.repeats, train=work.train_of(work.settings[0])
    )
    for point in whole:
        if point.variant == "fairpick":
            points.append(replace(point, at=math.inf))
            tick()
    return summarise_curve(points)


def _over_theta(work: Work, tick: _Tick) -> tuple[tuple[float, tuple[CurveBand, ...]], ...]:
    """Return what FairPick and its control change, at each privacy budget."""
    if work.theta == 1.0:
        return ()
    found = []
    for settings in work.settings:
        points = []
        train = work.train_of(settings)
        for point in fairpick_curve(work.people, settings, thetas=(work.theta, 1.0), repeats=work.repeats, train=train):
            points.append(point)
            tick()
        found.append((settings.epsilon, summarise_curve(points)))
    return tuple(found)
