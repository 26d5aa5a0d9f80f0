"""Remedies: what would no longer find a person, each run again exactly and none guessed.

A fixed list: a looser disclosed tolerance, noise on answers, fewer decimals or noise on the card, and a private tree in
place of the model. A fix of a person is the smallest set of remedies under which none of the four attacks finds them:
fewest first, then the smallest sum of places in `remedies_of`. Every set that is named was run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from ...base.arrays import Mask
from ...base.serialize import Result
from ...models import GIVEN_PREDICTIONS, PRIVATE_METHODS
from ..bias_queries import mechanism_of
from ..correction import true_tolerance
from ..model_card.settings import precision_text
from ..subject import Subject
from .people_attacks import ATTACKS, PeopleAttacks, PeopleSettings

TOLERANCES = (0.02, 0.05, 0.1)
ANSWERS = (5.0, 1.0)
DECIMALS = (2, 1)
CARD = (1.0,)
TRAINING = (10.0, 1.0)
"""Disclosed tolerances; ε of the answers; decimals, and ε, of the card; ε of the private tree: the mildest first."""

SLOTS = ("correction", "queries", "card", "training")
"""What a remedy changes: what one attack is given, or the model, and so what all of them are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy(Result):
    """One change, of one slot."""

    slot: str
    title: str
    """In words: "card with 1 decimal"."""
    change: tuple[tuple[str, Any], ...] = ()
    """Of `PeopleSettings`: field and value."""
    training: tuple[str, float] | None = None
    """Of the model: method and ε."""


Plan = tuple[Remedy, ...]
"""Remedies of different slots, in the order of `SLOTS`."""


def remedies_of(subject: Subject, settings: PeopleSettings) -> tuple[Remedy, ...]:
    """Return the remedies that are stricter than what is planned."""
    return tuple(_remedies(subject, settings))


def _remedies(subject: Subject, settings: PeopleSettings) -> Iterator[Remedy]:
    config = subject.config
    if settings.tolerance is None:
        disclosed = config.tolerance
    else:
        disclosed = settings.tolerance
    disclosed = true_tolerance(disclosed, subject.model.unfairness_train)
    for tolerance in TOLERANCES:
        if tolerance > disclosed:
            yield Remedy(
                slot="correction",
                title=f"disclosed tolerance {tolerance:g}",
                change=(("tolerance", tolerance),),
            )
    private = mechanism_of(settings.noise, epsilon=settings.answer_epsilon).noisy
    for epsilon in ANSWERS:
        if settings.answers and not (private and epsilon >= settings.answer_epsilon):
            change = (("noise", "noisy_sums"), ("answer_epsilon", epsilon))
            yield Remedy(slot="queries", title=f"noisy answers (ε = {epsilon:g})", change=change)
    for decimals in DECIMALS:
        if settings.card_epsilon is None and (
            settings.decimals is None or decimals < settings.decimals
        ):
            title = f"card with {precision_text(decimals, None)}"
            yield Remedy(slot="card", title=title, change=(("decimals", decimals),))
    for epsilon in CARD:
        if settings.card_epsilon is None or epsilon < settings.card_epsilon:
            yield Remedy(
                slot="card",
                title=f"card with noise (ε = {epsilon:g})",
                change=(("card_epsilon", epsilon),),
            )
    if config.method in PRIVATE_METHODS:
        now = config.epsilon
    else:
        now = math.inf
    for epsilon in TRAINING:
        if subject.trainable and config.method != GIVEN_PREDICTIONS and epsilon < now:
            yield Remedy(
                slot="training",
                title=f"private tree (ε = {epsilon:g})",
                training=("dp_id3", epsilon),
            )


def remaining_leaks(attacks: PeopleAttacks, plan: Plan) -> dict[str, Mask]:
    """Return attack -> (n,): whom it still finds, imputation left aside, under a plan; all four are run again.

    One that cannot be run under the plan frees nobody: it finds whom it finds without.
    """
    settings = attacks.settings
    training = next((remedy.training for remedy in plan if remedy.slot == "training"), None)
    for remedy in plan:
        settings = replace(settings, **dict(remedy.change))
    results = {name: attacks.run(name, settings, training) for name in ATTACKS}
    return {
        name: (attacks.run(name, attacks.settings) if result.reason else result).leak
        for name, result in results.items()
    }


def anybody(leaks: dict[str, Mask]) -> Mask:
    """Return (n,): whom at least one attack finds."""
    return np.asarray(np.logical_or.reduce(list(leaks.values())))


def plans(remedies: tuple[Remedy, ...]) -> Iterator[Plan]:
    """Yield every set of remedies, one a slot at most, the smallest and mildest first."""
    rank = {remedy: i for i, remedy in enumerate(remedies)}
    options = [(None, *(remedy for remedy in remedies if remedy.slot == slot)) for slot in SLOTS]
    every = [
        tuple(remedy for remedy in chosen if remedy is not None) for chosen in product(*options)
    ]
    yield from sorted(
        filter(None, every), key=lambda plan: (len(plan), sum(rank[remedy] for remedy in plan))
    )


def smallest_fixes(attacks: PeopleAttacks, remedies: tuple[Remedy, ...]) -> tuple[Plan, ...]:
    """Return a plan for each of n people; empty for those whom nothing finds, and for whom no plan frees.

    A plan that leaves an attack that finds somebody as it is need not be run: what is the same finds the same.
    """
    before = remaining_leaks(attacks, ())
    fixes: list[Plan] = [()] * attacks.n
    left = anybody(before)
    for plan in plans(remedies):
        slots = {remedy.slot for remedy in plan}
        touched = ATTACKS.keys() if "training" in slots else slots & ATTACKS.keys()
        candidates = left & ~anybody(
            {name: leak & (name not in touched) for name, leak in before.items()}
        )
        if not candidates.any():
            continue
        freed = candidates & ~anybody(remaining_leaks(attacks, plan))
        for person in np.flatnonzero(freed):
            fixes[person] = plan
        left &= ~freed
    return tuple(fixes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect(Result):
    """What one plan does to everybody."""

    plan: Plan
    freed: int
    """Of those found before, how many no attack finds any more."""
    remaining: int
    """How many are found afterwards, `new` of them not before."""
    new: int

    @property
    def fewer(self) -> int:
        """How many fewer are found than before."""
        return self.freed - self.new


def effect_of(attacks: PeopleAttacks, plan: Plan) -> Effect:
    """Return how many people a plan frees, and how many are found under it."""
    before = anybody(remaining_leaks(attacks, ()))
    after = anybody(remaining_leaks(attacks, plan))
    counts = (int(np.count_nonzero(mask)) for mask in (before & ~after, after, after & ~before))
    freed, remaining, new = counts
    return Effect(plan=plan, freed=freed, remaining=remaining, new=new)


def strongest_plan(remedies: tuple[Remedy, ...]) -> Plan:
    """Return the last remedy of every slot together."""
    return tuple(
        options[-1]
        for slot in SLOTS
        if (options := [remedy for remedy in remedies if remedy.slot == slot])
    )


def plan_text(plan: Plan) -> str:
    """Write a plan: "card with 1 decimal + private tree (ε = 10)"."""
    return " + ".join(remedy.title for remedy in plan)
