"""The model under attack: people split into members and outsiders, rows deleted if asked for, one training.

FairPick deletes members before the training; whoever is deleted is neither member nor outsider any more. Outsiders are
thinned by the same rule, so that nothing but the training sets members and outsiders apart. The target's accuracy is
measured on all who were drawn as outsiders.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from core.arrays import Codes, Floats
from core.errors import InputError
from core.membership.disparity.verdicts import OTHERS
from core.membership.fairpick import Clusters, FairPick, fairpick, like_outsiders, member_clusters
from core.membership.findings import FairPickFindings
from core.membership.given import NO_SHADOWS, GivenTarget
from core.membership.people import MemberPeople
from core.membership.settings import MembershipSettings
from core.membership.splits import MembershipSplit, member_split
from core.membership.targets import Train, target_by_name


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
