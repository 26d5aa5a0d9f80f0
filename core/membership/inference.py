"""A membership audit, attack after attack: the quick one first, LiRA last.

The people are judged by membership of one training; intervals treat the judged as a sample and the training as given.

FairPick deletes members before the training; whoever is deleted is neither member nor outsider any more. Outsiders are
thinned by the same rule, so that nothing but the training sets members and outsiders apart. The target's accuracy is
measured on all who were drawn as outsiders.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from core.arrays import Codes, Floats
from core.config import AuditConfig
from core.datasets import AuditDataset
from core.datasets.splits import split as audit_split
from core.errors import InputError
from core.estimates import Estimate
from core.membership.attack import Evidence, MemberGuess, Report, Train, precision_recall, true_label_probability
from core.membership.attacks import ATTACKS, REGISTRY
from core.membership.disparity import OTHERS, Disparities, GapResult, RangeTable, disparities, is_muted, recall_by_range
from core.membership.fairpick import FairPick, FairPickFindings, Sides, clusters, fairpick, like_outsiders
from core.membership.judged_people import MembershipSplit, member_split, split_between
from core.membership.low_fpr import lira_gaps
from core.membership.people import MemberPeople
from core.membership.roc import Roc, group_rocs, roc
from core.membership.settings import MembershipSettings
from core.membership.targets import GivenTarget, TargetFindings, audited_target, given_target, quality
from core.models import GIVEN
from core.serialize import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackFindings(Result):
    """What one attack found out."""

    name: str
    roc: Roc
    roc_by_group: tuple[Roc, ...]
    """By group code; of two groups, 0 is the others and 1 the first group."""
    precision: Estimate | None
    recall: Estimate | None
    disparities: Disparities | None
    """Of the verdict; None for an attack that gives scores alone."""
    low_fpr: tuple[GapResult, ...]
    """Gap in TPR at 1% FPR, a group each, as in `Disparities.results`."""
    ranges: tuple[RangeTable, ...]
    """Where the flags fall, a group each; empty without a verdict."""
    muted: bool
    """Whether the interval of the AUC does not lie above 0.5 (it holds 0.5, lies below, or is not there), so that a gap
    of the verdicts says nothing about leakage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipFindings(Result):
    """One target and the attacks that have finished."""

    settings: MembershipSettings
    title: str
    attribute: str
    group_names: tuple[str, ...]
    """By code; of two, 1 is the first group."""
    n_members: int
    n_judged: int
    """People trained on; people judged, about as many members as outsiders, and as many unless some were deleted."""
    target: TargetFindings
    attacks: dict[str, AttackFindings]
    fairpick: FairPickFindings | None = None
    not_run: dict[str, str] = field(default_factory=dict)
    """Name of an attack that cannot be run on this target -> why, in one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attacked:
    """A trained target and who knows what about it."""

    people: MemberPeople
    settings: MembershipSettings
    split: MembershipSplit
    """Without the rows that were deleted and the outsiders left aside like them."""
    train: Train = field(repr=False)
    """Trains such a model on other rows."""
    probability: Floats = field(repr=False)
    """(n,), in [0, 1]: what the target gives to label 1, for everybody."""
    picked: FairPick | None = field(default=None, repr=False)
    """What FairPick deleted before the training."""
    memo: dict[str, Any] = field(default_factory=dict, repr=False)
    """What attacks on it share, see `Evidence.once`."""

    @property
    def not_run(self) -> dict[str, str]:
        """Attacks of `core.membership.ATTACKS` that cannot be run on this target, and why."""
        if not isinstance(self.train, GivenTarget):
            return {}
        return {
            name: f"{attack.title} needs a model that can be trained again on other people, not given predictions."
            for name, attack in REGISTRY.items()
            if name in ATTACKS and "shadows" in attack.needs
        }

    @property
    def predicted(self) -> Codes | None:
        """What the target predicts for everybody, shape (n,), where that is given and does not follow from scores."""
        return self.train.predicted if isinstance(self.train, GivenTarget) else None

    @property
    def inside(self) -> Codes:
        """Who was trained on, shape (n,)."""
        member = np.zeros(self.people.n, dtype=np.uint8)
        member[self.split.members] = 1
        return member


def attacked(
    people: MemberPeople,
    settings: MembershipSettings,
    train: Train,
    *,
    split: MembershipSplit | None = None,
) -> Attacked:
    """Train the target.

    The split is drawn from the seed when left out; for `train` see `target_of`. Raises `InputError` if all people have
    the same label, or a setting breaks its rule.
    """
    if (people.labels == people.labels[0]).all():
        raise InputError(f"A membership attack needs people of both labels, got label {people.labels[0]} alone.")
    split = member_split(people.n, seed=settings.seed) if split is None else split
    picked = None
    if settings.theta != 1.0:
        sides, seed = two_sides(people, settings.group), settings.seed
        found = clusters(sides, split.members, seed=seed)
        picked = fairpick(sides, split.members, found, theta=settings.theta, seed=seed, literal=settings.literal)
        outsiders = like_outsiders(sides, split.outsiders, like=picked, found=found, seed=seed)
        split = split.keeping(picked.kept, outsiders=outsiders)
    probability = train(split.members, settings.seed)
    return Attacked(people=people, settings=settings, split=split, train=train, probability=probability, picked=picked)


def attacked_audit(
    people: MemberPeople, settings: MembershipSettings, *, config: AuditConfig, dataset: AuditDataset
) -> Attacked:
    """Train the audited model, or take the given one, with the audit's own training and test people."""
    rows = audit_split(dataset, train_share=config.train_share, seed=config.seed)
    between = split_between(rows.train, rows.test, seed=config.seed)
    train = given_target(dataset) if settings.target == GIVEN else audited_target(config, dataset)
    return attacked(people, settings, train, split=between)


def two_sides(people: MemberPeople, group: int) -> Sides:
    """Return the same people in two groups: 1 is the group of this code (of two, the first), 0 all others."""
    groups, names = people.groups, (people.group_names[0], people.group_names[1])
    if people.n_groups > 2:
        groups, names = (groups == group).astype(np.uint8), (OTHERS, people.group_names[group])
    features = np.delete(people.codes.astype(np.float64), sorted(people.protected), axis=1)
    return Sides(features=features, labels=people.labels, groups=groups, names=names)


def judge(target: Attacked, guess: MemberGuess, *, people: MemberPeople | None = None) -> AttackFindings:
    """Return what an attack found out; `people` may be the same people in other groups."""
    people = target.people if people is None else people
    level, seed = target.settings.level, target.settings.seed
    rows, member = guess.rows, target.inside[guess.rows]
    groups, names = people.groups[rows], people.group_names
    curve = roc(guess.score, member, level=level)
    measured = precision = recall = None
    ranges: tuple[RangeTable, ...] = ()
    if guess.verdict is not None:
        precision, recall = precision_recall(guess.verdict, member, level=level)
        measured = disparities(guess.verdict, groups, member, names=names, level=level, seed=seed)
        certainty = true_label_probability(target.probability[rows], target.people.labels[rows])
        ranges = tuple(
            recall_by_range(
                certainty,
                guess.verdict,
                (groups == names.index(found.group)).astype(np.uint8),
                member,
                names=(found.group, found.others),
            )
            for found in measured.results
        )
    return AttackFindings(
        name=guess.name,
        roc=curve,
        roc_by_group=group_rocs(guess.score, member, groups, len(names), level=level),
        precision=precision,
        recall=recall,
        disparities=measured,
        low_fpr=lira_gaps(guess.score, groups, member, names=names, level=level, seed=seed),
        ranges=ranges,
        muted=is_muted(curve.auc),
    )


def study_steps(settings: MembershipSettings) -> int:
    """Return how many steps a study reports, see `attack_steps`."""
    return sum(attack_steps(settings).values())


def attack_steps(settings: MembershipSettings, names: Sequence[str] = ATTACKS) -> dict[str, int]:
    """Return attack -> steps it reports: one, or one for each shadow model if it is the first that needs them.

    Given predictions have no shadow models, and no attack that needs them.
    """
    steps, given = dict.fromkeys(names, 1), settings.target == GIVEN
    for place, name in enumerate(name for name in names if "shadows" in REGISTRY[name].needs):
        steps[name] = 0 if given else settings.shadows if place == 0 else 1
    return steps


def findings_of(target: Attacked) -> MembershipFindings:
    """Return the findings before any attack."""
    people, split = target.people, target.split
    return MembershipFindings(
        settings=target.settings,
        title=people.title,
        attribute=people.attribute,
        group_names=people.group_names,
        n_members=int(split.members.size),
        n_judged=int(split.judged_members.size + split.judged_outsiders.size),
        target=quality(target.probability, people.labels, split.members, split.unseen, predicted=target.predicted),
        attacks={},
        fairpick=None if target.picked is None else target.picked.findings,
        not_run=target.not_run,
    )


def guesses(target: Attacked, *, there: Collection[str] = (), report: Report | None = None) -> Iterator[MemberGuess]:
    """Yield what each attack of `ATTACKS` that can be run says about the judged, but for those that are there.

    `report` is called with (steps done, steps in all), see `study_steps`; it may raise `core.errors.Cancelled` to stop.
    """
    settings, total, done, told = target.settings, study_steps(target.settings), 0, 0
    named = (target.probability > 0.5).astype(np.uint8) if target.predicted is None else target.predicted
    evidence = Evidence(
        released=target.probability,
        predicted=named,
        labels=target.people.labels,
        split=target.split,
        seed=settings.seed,
        balance=target.picked is not None,
        train=target.train,
        shadows=settings.shadows,
        online=settings.online,
        memo=target.memo,
    )

    def tick(steps: int, _: int = 0) -> None:
        nonlocal told
        told = min(done + steps, total)
        if report is not None:
            report(told, total)

    for name, steps in attack_steps(settings).items():
        if name not in {*there, *target.not_run}:
            yield REGISTRY[name].judge(replace(evidence, report=tick))
            if told <= done:  # else it told of each of its shadows
                tick(1)
        done += steps


Row = dict[str, str | float | None]


def attack_rows(attacks: Mapping[str, AttackFindings]) -> tuple[Row, ...]:
    """Return a row an attack: how well it tells members, whatever their groups."""
    return tuple(
        {"attack": REGISTRY[name].title, "needs shadow models": "yes" if "shadows" in REGISTRY[name].needs else "no"}
        | cells("AUC", found.roc.auc)
        | cells("TPR at 1% FPR", found.roc.tpr_at(0.01))
        | cells("precision", found.precision)
        | cells("recall", found.recall)
        for name, found in attacks.items()
    )


def cells(name: str, found: Estimate | None) -> Row:
    """Return a number and the ends of its interval as three columns; empty where it was not measured."""
    ends = (None,) * 3 if found is None or math.isnan(found.value) else (found.value, found.low, found.high)
    return dict(zip((name, f"{name}, low", f"{name}, high"), ends, strict=True))
