"""A membership audit of page and command, attack after attack: the quick one first, LiRA last.

The people are judged by membership of one training; intervals treat the judged as a sample and the training as given.

FairPick deletes members before the training; a deleted person is neither member nor non-member any more. Non-members
are thinned by the same rule, so that nothing but the training sets members and non-members apart. The target's accuracy
is measured on all who were drawn as non-members.

Given predictions. Their members are the records that the table says the model was trained on, their non-members the
test records. Attacks that only look at scores run as on any target; those with shadow models, which are trained alike
on other people, cannot.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...base.arrays import Codes
from ...base.errors import InputError
from ...base.serialize import Result
from ...datasets import AuditDataset
from ...datasets.splits import split as audit_split
from ...models import GIVEN_PREDICTIONS
from ...stats.estimates import Estimate
from ..config import AuditConfig
from ..study import ReportProgress
from .attack import MemberGuess
from .attacks import ATTACKS, REGISTRY
from .disparity import (
    COMPLEMENT,
    Disparities,
    GapResult,
    RangeTable,
    disparities,
    lira_gaps,
    recall_by_range,
)
from .evidence import Evidence, MembershipSplit, Train, member_split, split_between
from .fairpick import (
    Clusters,
    FairPick,
    FairPickFindings,
    Sides,
    clusters,
    fairpick,
    like_outsiders,
)
from .people import MemberPeople
from .roc import Roc, is_muted, precision_recall, roc
from .settings import MembershipSettings
from .targets import TargetFindings, audited_target, ledger_of, quality, target_of


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackResult(Result):
    """What one attack found."""

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
    """Verdicts by predicted probability, a group each; empty without a verdict."""
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
    n_targets: int
    """People trained on; people judged, about as many members as non-members, and as many unless some were deleted."""
    target: TargetFindings
    attacks: dict[str, AttackResult]
    fairpick: FairPickFindings | None = None
    not_run: dict[str, str] = field(default_factory=dict)
    """Name of an attack that cannot be run on this target -> why, in one sentence."""
    cost: float = math.inf
    """Privacy budget that the target spends in truth; infinite without a bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainedTarget:
    """A trained target: what it says of everybody, and who knows what about it."""

    people: MemberPeople
    settings: MembershipSettings
    evidence: Evidence = field(repr=False)
    """Its split is without the rows that were deleted and the non-members left aside like them."""
    picked: FairPick | None = field(default=None, repr=False)
    """What FairPick deleted before the training."""

    @property
    def split(self) -> MembershipSplit:
        """Who is trained on, known and judged."""
        return self.evidence.split

    @property
    def inside(self) -> Codes:
        """Who was trained on, shape (n,)."""
        return np.isin(np.arange(self.people.n), self.split.members).astype(np.uint8)

    @property
    def quality(self) -> TargetFindings:
        """How well the target predicts."""
        evidence, split, level = self.evidence, self.split, self.settings.level
        answers, people = (evidence.probability, evidence.labels), (split.members, split.unseen)
        return quality(*answers, *people, predicted=evidence.predicted, level=level)

    @property
    def findings(self) -> MembershipFindings:
        """The findings before any attack."""
        people, split, settings = self.people, self.split, self.settings
        return MembershipFindings(
            settings=settings,
            title=people.title,
            attribute=people.attribute,
            group_names=people.group_names,
            n_members=split.members.size,
            n_targets=split.judged_rows.size,
            target=self.quality,
            attacks={},
            fairpick=None if self.picked is None else self.picked.findings,
            not_run=self.not_run,
            cost=ledger_of(people, settings).total if settings.target == "dp_id3" else math.inf,
        )

    @property
    def not_run(self) -> dict[str, str]:
        """Attacks of `core.studies.membership.ATTACKS` that cannot be run on this target, and why."""
        if self.evidence.train is not None:
            return {}
        return {
            name: f"{REGISTRY[name].title} needs a model that can be trained again on other people, "
            "not given predictions."
            for name in ATTACKS
            if "shadows" in REGISTRY[name].needs
        }


def train_target(
    people: MemberPeople, settings: MembershipSettings, train: Train, *, split: MembershipSplit | None = None
) -> TrainedTarget:
    """Train the target, after FairPick's deletions where its theta is below 1.

    The split is drawn from the seed when left out.
    """
    split, picked = member_split(people.n, seed=settings.seed) if split is None else split, None
    if settings.theta != 1.0:
        sides = two_sides(people, settings.group)
        picked, split = thinned(sides, split, clusters(sides, split.members, seed=settings.seed), settings)
    released = train(split.members, settings.seed)
    evidence = _evidence(people, settings, split=split, released=released, train=train, balance=picked is not None)
    return TrainedTarget(people=people, settings=settings, evidence=evidence, picked=picked)


def thinned(
    sides: Sides, split: MembershipSplit, clustering: Clusters, settings: MembershipSettings
) -> tuple[FairPick, MembershipSplit]:
    """Return what FairPick deletes, and the split after it, with non-members thinned like the members."""
    seed = settings.seed
    picked = fairpick(sides, split.members, clustering, theta=settings.theta, seed=seed)
    outsiders = like_outsiders(sides, split.outsiders, like=picked, clustering=clustering, seed=seed)
    return picked, split.keeping(picked.retained, outsiders=outsiders)


def _evidence(people: MemberPeople, settings: MembershipSettings, **more: Any) -> Evidence:
    """Return what an attacker is given of these people with these settings, and more."""
    seed, shadows, online = settings.seed, settings.shadows, settings.online
    return Evidence(labels=people.labels, features=people.codes, seed=seed, shadows=shadows, online=online, **more)


def attacked_as(
    people: MemberPeople, settings: MembershipSettings, *, config: AuditConfig, dataset: AuditDataset | None
) -> TrainedTarget:
    """Train the target of the settings; the audited or given model has the audit's own training and test people.

    The dataset is theirs alone, and None with other targets. Raises `InputError` if given predictions come without
    scores or without a column that says which records the model was trained on.
    """
    if dataset is None or settings.target not in ("audited", GIVEN_PREDICTIONS):
        return train_target(people, settings, target_of(people, settings))
    rows = audit_split(dataset, train_share=config.train_share, seed=config.seed)
    split = split_between(rows.train, rows.test, seed=config.seed)
    if settings.target != GIVEN_PREDICTIONS:
        return train_target(people, settings, audited_target(config, dataset), split=split)
    if dataset.scores is None:
        raise InputError("Membership attacks on given predictions need the model's scores, the table gives none.")
    if dataset.sets is None:
        raise InputError(
            "Membership attacks on given predictions need a column that says which records the model was trained on, "
            "the table's roles name none."
        )
    evidence = _evidence(people, settings, split=split, released=dataset.scores, predictions=dataset.predictions)
    return TrainedTarget(people=people, settings=settings, evidence=evidence)


def two_sides(people: MemberPeople, group: int) -> Sides:
    """Return the same people in two groups: 1 is the group of this code (of two, the first), 0 all others."""
    groups, names = people.groups, (people.group_names[0], people.group_names[1])
    if people.n_groups > 2:
        groups, names = (groups == group).astype(np.uint8), (COMPLEMENT, people.group_names[group])
    features = np.delete(people.codes.astype(np.float64), sorted(people.protected), axis=1)
    return Sides(features=features, labels=people.labels, groups=groups, names=names)


def evaluate_attack(target: TrainedTarget, guess: MemberGuess, *, people: MemberPeople | None = None) -> AttackResult:
    """Return what an attack found; `people` may be the same people in other groups."""
    people = target.people if people is None else people
    level, seed = target.settings.level, target.settings.seed
    rows, member = guess.rows, target.inside[guess.rows]
    groups, names = people.groups[rows], people.group_names
    curve = roc(guess.score, member, level=level)
    by_group = [groups == code for code in range(len(names))]
    measured = precision = recall = None
    ranges: tuple[RangeTable, ...] = ()
    if guess.verdict is not None:
        precision, recall = precision_recall(guess.verdict, member, level=level)
        measured = disparities(guess.verdict, groups, member, names=names, level=level, seed=seed)
        certainty = target.evidence.label_probability[rows]
        for comparison in measured.results:
            side = by_group[names.index(comparison.group)]
            ranges += (
                recall_by_range(certainty, guess.verdict, side, member, names=(comparison.group, comparison.reference)),
            )
    return AttackResult(
        name=guess.name,
        roc=curve,
        roc_by_group=tuple(roc(guess.score[mask], member[mask], level=level) for mask in by_group),
        precision=precision,
        recall=recall,
        disparities=measured,
        low_fpr=lira_gaps(guess.score, groups, member, names=names, level=level, seed=seed),
        ranges=ranges,
        muted=is_muted(curve.auc),
    )


def attack_steps(settings: MembershipSettings, names: Sequence[str] = ATTACKS) -> dict[str, int]:
    """Return attack -> steps it reports: one, or one for each shadow model if it is the first that needs them.

    Given predictions have no shadow models, and no attack that needs them.
    """
    steps, predictions_only = dict.fromkeys(names, 1), settings.target == GIVEN_PREDICTIONS
    for index, name in enumerate(name for name in names if "shadows" in REGISTRY[name].needs):
        steps[name] = 0 if predictions_only else settings.shadows if index == 0 else 1
    return steps


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipAudit:
    """An audit as far as it has come, and what each attack says of each person."""

    findings: MembershipFindings
    target: TrainedTarget = field(repr=False)
    guesses: Mapping[str, MemberGuess] = field(default_factory=dict, repr=False)


def iter_audits(
    now: MembershipAudit, *, left_out: Collection[str] = (), report: ReportProgress | None = None
) -> Iterator[MembershipAudit]:
    """Yield an audit with one attack more each time, but for those left out; what is there is not sought again."""
    for guess in run_attacks(now.target, finished=(*now.guesses, *left_out), report=report):
        attacks = {**now.findings.attacks, guess.name: evaluate_attack(now.target, guess)}
        now = replace(now, findings=replace(now.findings, attacks=attacks), guesses={**now.guesses, guess.name: guess})
        yield now


def run_attacks(
    target: TrainedTarget, *, finished: Collection[str] = (), report: ReportProgress | None = None
) -> Iterator[MemberGuess]:
    """Yield what each attack of `ATTACKS` that can be run says about the judged, but for those that are there.

    `report` is called with (steps done, steps in all), see `attack_steps`; it may raise `core.base.errors.Cancelled` to
    stop.
    """
    steps_by_attack = attack_steps(target.settings)
    total, done, reported = sum(steps_by_attack.values()), 0, 0

    def tick(steps: int, _: int = 0) -> None:
        nonlocal reported
        reported = min(done + steps, total)
        if report is not None:
            report(reported, total)

    evidence = replace(target.evidence, report=tick)
    for name, steps in steps_by_attack.items():
        if name not in {*finished, *target.not_run}:
            yield REGISTRY[name].judge(evidence)
            if reported <= done:  # else it told of each of its shadows
                tick(1)
        done += steps
