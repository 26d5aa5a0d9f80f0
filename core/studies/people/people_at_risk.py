"""People × attacks: whom each attack finds of the same people, who is found by several, and the fix of each.

A remedy is what would no longer find a person, run again exactly and not guessed. They are a fixed list: fewer decimals
or labels alone, a looser disclosed tolerance, noise on answers, fewer decimals or noise on the card, and a private tree
in place of the model. A fix of a person is the smallest set of remedies under which no attack finds them: fewest first,
then the smallest sum of places in `remedies_of`. Every set that is named was run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from ...base.errors import InputError
from ...base.serialize import Result
from ...base.validation import Codes, Ints, Mask, decimals_of
from ...models import GIVEN_PREDICTIONS, PRIVATE_METHODS
from ...stats.estimates import Estimate, difference, proportion
from ..model_card.pinned_people import CommonValue, common_values
from ..model_card.release import precision_text
from ..subject import OutputsPlan, Subject
from .people_attacks import (
    ATTACKS,
    OUTPUT_ATTACKS,
    IdentifiedRecords,
    PeopleAttacks,
    PeopleSettings,
    disclosed_tolerance,
)

if TYPE_CHECKING:
    import pandas


TOLERANCES = (0.02, 0.05, 0.1)
ANSWERS = (5.0, 1.0)
DECIMALS = (2, 1)
CARD = (1.0,)
TRAINING = (10.0, 1.0)
"""Disclosed tolerances; ε of the answers; decimals, and ε, of the card; ε of the private tree: the mildest first."""

SLOTS = {
    "outputs": OUTPUT_ATTACKS,
    "correction": ("correction",),
    "queries": ("queries",),
    "card": ("card",),
    "training": tuple(ATTACKS),
}
"""What a remedy changes -> the attacks that see the change: of the model, all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy(Result):
    """One change, of one slot."""

    slot: str
    title: str
    """In words: "card with 1 decimal"."""
    change: tuple[tuple[str, Any], ...] = ()
    """Of `PeopleSettings`: field and value."""
    training: float | None = None
    """Of the model: the ε of a private tree in its place."""
    outputs: OutputsPlan | None = None
    """Of what is released about each person."""


Plan = tuple[Remedy, ...]
"""Remedies of different slots, in the order of `SLOTS`."""


def remedies_of(subject: Subject, settings: PeopleSettings) -> tuple[Remedy, ...]:
    """Return the remedies that are stricter than what is planned."""
    return tuple(_remedies(subject, settings))


def _remedies(subject: Subject, settings: PeopleSettings) -> Iterator[Remedy]:
    config = subject.config
    scores = subject.released_scores
    if scores is not None:
        if decimals_of(scores) > 1:
            yield Remedy(
                slot="outputs", title="scores with 1 decimal", outputs=OutputsPlan(decimals=1)
            )
        yield Remedy(slot="outputs", title="labels alone", outputs=OutputsPlan(released="labels"))
    disclosed = disclosed_tolerance(subject, settings)
    for tolerance in TOLERANCES:
        if tolerance > disclosed:
            yield Remedy(
                slot="correction",
                title=f"disclosed tolerance {tolerance:g}",
                change=(("tolerance", tolerance),),
            )
    private = settings.mechanism.noisy
    for epsilon in ANSWERS:
        if settings.answers and not (private and epsilon >= settings.answer_epsilon):
            change = (("noise", "noisy_sums"), ("answer_epsilon", epsilon))
            yield Remedy(slot="queries", title=f"noisy answers (ε = {epsilon:g})", change=change)
    for decimals in DECIMALS:
        finer = settings.decimals is None or decimals < settings.decimals
        if settings.models and settings.card_epsilon is None and finer:
            title = f"card with {precision_text(decimals, None)}"
            yield Remedy(slot="card", title=title, change=(("decimals", decimals),))
    for epsilon in CARD:
        more_precise = settings.card_epsilon is None or epsilon < settings.card_epsilon
        if settings.models and more_precise:
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
                training=epsilon,
            )


def remaining_leaks(attacks: PeopleAttacks, plan: Plan) -> dict[str, Mask]:
    """Return attack -> (n,): whom it still finds, imputation left aside, under a plan; all are run again.

    One that cannot be run under the plan frees nobody: it finds whom it finds without.
    """
    settings = attacks.settings
    training = None
    outputs = None
    for remedy in plan:
        settings = replace(settings, **dict(remedy.change))
        training = remedy.training or training
        outputs = remedy.outputs or outputs
    results = {name: attacks.run(name, settings, training, outputs) for name in ATTACKS}
    leaks = {}
    for name, result in results.items():
        if result.reason:
            leaks[name] = attacks.run(name, attacks.settings).leak
        else:
            leaks[name] = result.leak
    return leaks


def anybody(leaks: dict[str, Mask]) -> Mask:
    """Return (n,): whom at least one attack finds."""
    return np.logical_or.reduce(list(leaks.values()))


def plans(remedies: tuple[Remedy, ...]) -> Iterator[Plan]:
    """Yield sets of remedies, one a slot at most, the smallest and mildest first; no other outputs of another model."""
    rank = {remedy: i for i, remedy in enumerate(remedies)}
    options = [(None, *(remedy for remedy in remedies if remedy.slot == slot)) for slot in SLOTS]
    every = [
        tuple(filter(None, chosen))
        for chosen in product(*options)
        if not (chosen[0] and chosen[-1])
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
        touched = {attack for remedy in plan for attack in SLOTS[remedy.slot]}
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
    """Return the last remedy of every slot together; of another model no other outputs."""
    last = {remedy.slot: remedy for remedy in remedies}
    if "training" in last:
        last.pop("outputs", None)
    return tuple(last[slot] for slot in SLOTS if slot in last)


def plan_text(plan: Plan) -> str:
    """Write a plan: "card with 1 decimal + private tree (ε = 10)"."""
    return " + ".join(remedy.title for remedy in plan)


@dataclass(frozen=True, kw_only=True, eq=False)
class PeopleAtRisk(Result):
    """Whom each attack finds of the same n people."""

    attribute: str
    group_names: tuple[str, ...]
    rows: Ints
    """(n,): row numbers among the records used, from 0."""
    groups: Codes
    """(n,): codes of their groups."""
    columns: pandas.DataFrame
    """Features as they read."""
    attacks: tuple[IdentifiedRecords, ...]
    """In the order of `ATTACKS`."""
    imputed: Mask
    """(n,): whose attribute imputation finds, without the model."""
    fixes: tuple[Plan, ...]
    """One a person; empty for those whom nothing finds, and those whom nothing on the list frees."""
    effects: tuple[Effect, ...]
    """What single remedies do, and at last the strictest of each kind together."""

    @property
    def n(self) -> int:
        """Number of people."""
        return int(self.rows.size)

    @cached_property
    def identified(self) -> Mask:
        """(n, attacks): who finds whom, also whom imputation finds too."""
        return np.column_stack([attack.identified for attack in self.attacks])

    @cached_property
    def leaks(self) -> Mask:
        """(n, attacks): who finds whom that imputation does not find."""
        return np.column_stack([attack.leak for attack in self.attacks])

    @property
    def number(self) -> Ints:
        """(n,): by how many attacks each is found, imputation left aside."""
        return self.leaks.sum(axis=1)

    def at_least(self, k: int) -> int:
        """Return how many people are found by at least k attacks."""
        return int(np.count_nonzero(self.number >= k))

    def expected(self, k: int) -> float:
        """Return how many people k attacks or more would find if each found its number independently of the others."""
        chances = np.array([1.0])
        for rate in self.leaks.mean(axis=0):
            chances = np.convolve(chances, (1.0 - rate, rate))
        return float(self.n * chances[k:].sum())

    @property
    def beyond_chance(self) -> bool:
        """Whether any attack finds more people than chance alone."""
        return any(attack.beyond_chance for attack in self.attacks)

    @property
    def by_chance(self) -> float:
        """How many finds of all attacks are by chance alone."""
        return sum(attack.chance for attack in self.attacks)

    @property
    def rates(self) -> tuple[Estimate, ...]:
        """The share of each group that at least one attack finds, in the order of `group_names`."""
        return tuple(self._share(self.groups == code) for code in range(len(self.group_names)))

    def _share(self, who: Mask, *, level: float = 0.95) -> Estimate:
        return proportion(int(((self.number > 0) & who).sum()), int(who.sum()), level=level)

    def gap(self, code: int) -> Estimate:
        """Return the share of a group that is found minus that of everybody else.

        Of more than two groups the intervals hold for all of them together (Bonferroni), whichever is picked.
        """
        inside = self.groups == code
        k = len(self.group_names)
        level = 0.95 if k == 2 else 1.0 - 0.05 / k
        return difference(self._share(inside, level=level), self._share(~inside, level=level))

    @cached_property
    def common(self) -> tuple[CommonValue, ...]:
        """What those found have clearly more often than the rest."""
        return common_values(self.columns, self.number > 0)

    @property
    def sets(self) -> tuple[tuple[tuple[bool, ...], int], ...]:
        """Attacks -> how many people exactly these find; by the number of attacks, then the largest set first."""
        patterns, counts = np.unique(self.leaks, axis=0, return_counts=True)
        patterns_and_counts = [
            (tuple(map(bool, pattern)), int(n)) for pattern, n in zip(patterns, counts, strict=True)
        ]
        return tuple(
            sorted(
                (item for item in patterns_and_counts if any(item[0])),
                key=lambda item: (sum(item[0]), -item[1], item[0]),
            )
        )

    def chosen(
        self,
        *,
        at_least: int = 1,
        group: str = "",
        record: str = "",
        hide_imputed: bool = True,
        identifiers: Sequence[str] | None = None,
    ) -> Ints:
        """Return places of the people found by at least so many attacks: most attacks first, then by record.

        Whom imputation finds too counts only where that is not hidden. `record` is a row number, or one of the
        `identifiers`, (n,), where people have some, or "" for all. InputError if it is nobody's here.
        """
        if hide_imputed:
            counts = self.leaks.sum(axis=1)
        else:
            counts = self.identified.sum(axis=1)
        keep = counts >= at_least
        if record.strip():
            names = np.array(identifiers or [str(row) for row in self.rows])
            who = np.flatnonzero(names == record.strip())
            if not who.size:
                raise InputError(
                    f"Record must be of one of the {self.n:,} people drawn, got {record.strip()[:40]}."
                )
            return who
        if group:
            keep &= self.groups == self.group_names.index(group)
        places = np.flatnonzero(keep)
        order = np.lexsort(
            (self.rows[places], -self.identified[places].sum(axis=1), -self.number[places])
        )
        return places[order]
