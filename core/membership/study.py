"""A membership audit, attack after attack: the quick one first, LiRA last.

The people are judged by membership of one training; intervals treat the judged as a sample and the training as given.

FairPick deletes members before the training; whoever is deleted is neither member nor outsider any more. Outsiders are
thinned by the same rule, so that nothing but the training sets members and outsiders apart. The target's accuracy is
measured on all who were drawn as outsiders.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from core.arrays import Codes, Floats
from core.errors import InputError
from core.estimates import Estimate
from core.membership.attacks import (
    MemberGuess,
    confidence_attack,
    lira,
    loss_attack,
    network_attack,
    precision_recall,
    true_label_probability,
)
from core.membership.attacks.lira import Train
from core.membership.disparity import OTHERS, Disparities, RangeTable, disparities, is_muted
from core.membership.disparity import recall_by_range as ranges_of
from core.membership.fairpick import Clusters, FairPick, fairpick, like_outsiders, member_clusters
from core.membership.findings import ATTACKS, AttackFindings, FairPickFindings, MembershipFindings
from core.membership.judged_people import MembershipSplit, member_split
from core.membership.low_fpr import lira_gaps
from core.membership.people import MemberPeople
from core.membership.roc import group_rocs, roc
from core.membership.settings import MembershipSettings
from core.membership.targets import NO_SHADOWS, GivenTarget, quality, target_by_name
from core.models import GIVEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Attacked:
    """A trained target and who knows what about it.

    Attributes
    ----------
    split : MembershipSplit
        Without the rows that were deleted and the outsiders left aside like them.
    train : Train
        Trains such a model on other rows.
    probability : ndarray of shape (n,), in [0, 1]
        What the target gives to label 1, for everybody.
    picked : FairPick or None
        What FairPick deleted before the training.
    """

    people: MemberPeople
    settings: MembershipSettings
    split: MembershipSplit
    train: Train = field(repr=False)
    probability: Floats = field(repr=False)
    picked: FairPick | None = field(default=None, repr=False)

    @property
    def not_run(self) -> dict[str, str]:
        """Attacks of `core.membership.ATTACKS` that cannot be run on this target, and why."""
        return {"lira": NO_SHADOWS} if isinstance(self.train, GivenTarget) else {}

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

    def fairpick(self) -> FairPickFindings | None:
        """Return what FairPick deleted; None where it was not asked for."""
        if self.picked is None:
            return None
        return FairPickFindings(
            theta=self.settings.theta,
            deleted=dict(self.picked.deleted_by_group),
            clusters=dict(self.picked.clusters),
            ignored=self.picked.ignored,
            largest_before=self.picked.largest_before,
            largest_after=self.picked.largest_after,
        )


def target_of(people: MemberPeople, settings: MembershipSettings) -> Train:
    """Return the target of these settings.

    The audited model must be made with `core.membership.audited_target`, given predictions with
    `core.membership.given_target`.
    """
    return target_by_name(
        settings.target,
        people,
        epsilon=settings.epsilon,
        max_depth=settings.max_depth,
        accounting=settings.accounting,
    )


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
        found = clusters_of(people, split, settings)
        picked = pick(people, split, settings, found=found)
        split = left_by(people, split, settings, picked, found=found)
    probability = train(split.members, settings.seed)
    return Attacked(people=people, settings=settings, split=split, train=train, probability=probability, picked=picked)


def pick(people: MemberPeople, split: MembershipSplit, settings: MembershipSettings, *, found: Clusters) -> FairPick:
    """Return what FairPick deletes among the members of a split, given what `clusters_of` returned for them."""
    sides = two_sides(people, settings.group)
    return fairpick(
        sides.codes,
        sides.labels,
        sides.groups,
        split.members,
        theta=settings.theta,
        seed=settings.seed,
        literal=settings.literal,
        leave_out=sides.protected,
        names=(sides.group_names[0], sides.group_names[1]),
        found=found,
    )


def left_by(
    people: MemberPeople, split: MembershipSplit, settings: MembershipSettings, picked: FairPick, *, found: Clusters
) -> MembershipSplit:
    """Return the split after FairPick: without the deleted, and with outsiders like the members that stay."""
    sides = two_sides(people, settings.group)
    outsiders = like_outsiders(
        sides.codes,
        sides.labels,
        sides.groups,
        split.outsiders,
        like=picked,
        found=found,
        seed=settings.seed,
        leave_out=sides.protected,
    )
    return split.keeping(picked.kept, outsiders=outsiders)


def clusters_of(people: MemberPeople, split: MembershipSplit, settings: MembershipSettings) -> Clusters:
    """Return FairPick's clusters of the members, which do not depend on theta."""
    sides = two_sides(people, settings.group)
    return member_clusters(
        sides.codes, sides.labels, sides.groups, split.members, leave_out=sides.protected, seed=settings.seed
    )


def two_sides(people: MemberPeople, group: int) -> MemberPeople:
    """Return the same people in two groups: 1 is the group of this code, 0 all others."""
    if people.n_groups == 2:
        return people
    names = (OTHERS, people.group_names[group])
    return replace(people, groups=(people.groups == group).astype(np.uint8), group_names=names)


def judge(target: Attacked, guess: MemberGuess, *, people: MemberPeople | None = None) -> AttackFindings:
    """Return what an attack found out.

    `people` may be the same people in other groups.
    """
    people = target.people if people is None else people
    level, seed = target.settings.level, target.settings.seed
    rows, member = guess.rows, target.inside[guess.rows]
    groups, names = people.groups[rows], people.group_names
    curve = roc(guess.score, member, level=level)
    measured: Disparities | None = None
    precision: Estimate | None = None
    recall: Estimate | None = None
    ranges: tuple[RangeTable, ...] = ()
    if guess.verdict is not None:
        precision, recall = precision_recall(guess.verdict, member, level=level)
        measured = disparities(guess.verdict, groups, member, names=names, level=level, seed=seed)
        ranges = _ranges(target, guess, measured, groups, member, names)
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


def _ranges(
    target: Attacked,
    guess: MemberGuess,
    measured: Disparities,
    groups: Codes,
    member: Codes,
    names: tuple[str, ...],
) -> tuple[RangeTable, ...]:
    assert guess.verdict is not None
    certainty = true_label_probability(target.probability[guess.rows], target.people.labels[guess.rows])
    tables = []
    for found in measured.results:
        side = (groups == names.index(found.group)).astype(np.uint8)
        tables.append(ranges_of(certainty, guess.verdict, side, member, names=(found.group, found.others)))
    return tuple(tables)


Report = Callable[[int, int], None]


def study(
    people: MemberPeople,
    settings: MembershipSettings,
    *,
    train: Train | None = None,
    split: MembershipSplit | None = None,
    report: Report | None = None,
) -> Iterator[MembershipFindings]:
    """Yield the findings as they grow, once more after each attack of `ATTACKS` that can be run on the target.

    Parameters
    ----------
    train : Train, optional
        The target; by its name in the settings when left out.
    split : MembershipSplit, optional
        Members and outsiders; drawn from the seed when left out.
    report : callable, optional
        Called with (steps done, steps in all), see `study_steps`; may raise `core.errors.Cancelled` to stop.
    """
    target = attacked(people, settings, target_of(people, settings) if train is None else train, split=split)
    found = findings_of(target)
    for guess in guesses(target, report=report):
        found = replace(found, attacks={**found.attacks, guess.name: judge(target, guess)})
        yield found


def study_steps(settings: MembershipSettings) -> int:
    """Return how many steps a study reports: one for each attack but LiRA, one for each of its shadow models.

    Given predictions have no shadow models.
    """
    return len(ATTACKS) - 1 + (0 if settings.target == GIVEN else settings.shadows)


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
        fairpick=target.fairpick(),
        not_run=target.not_run,
    )


def guesses(target: Attacked, *, there: Collection[str] = (), report: Report | None = None) -> Iterator[MemberGuess]:
    """Yield what each attack of `ATTACKS` that can be run says about the judged, but for those that are there."""
    people, split, seed, given = target.people, target.split, target.settings.seed, target.probability
    total = study_steps(target.settings)

    def tick(done: int) -> None:
        if report is not None:
            report(done, total)

    quick = {"loss": loss_attack, "confidence": confidence_attack}
    for steps, (name, attack) in enumerate(quick.items(), 1):
        if name not in there:
            yield attack(given, people.labels, split)
            tick(steps)
    if "network" not in there:
        yield network_attack(given, people.labels, split, seed=seed, balance=target.picked is not None)
        tick(len(quick) + 1)
    if "lira" not in {*there, *target.not_run}:
        yield lira(
            target.train,
            given,
            people.labels,
            split,
            shadows=target.settings.shadows,
            online=target.settings.online,
            seed=seed,
            report=lambda done, _: tick(len(quick) + 1 + done),
        )
