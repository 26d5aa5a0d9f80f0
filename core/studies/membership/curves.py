"""The study of other subjects: over privacy budgets or FairPick's theta, with other splits and noise; accountings.

Every point is a subject with a split and a training of its own, judged by the published attack.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...base.serialize import Result
from ...base.validation import Mask, child_seed
from ...datasets.dataset import AuditDataset
from ...datasets.splits import Splits, split
from ...models.fair import fit_private_tree
from ...models.id3 import ACCOUNTINGS, BudgetLedger
from ...stats.estimates import Estimate, accuracy, majority_share
from ..subject import AuditConfig, Subject, subject_of, train_model
from .disparity import COMPLEMENT
from .fairpick import (
    Clusters,
    FairPick,
    clusters,
    fairpick,
    like_outsiders,
    outsiders_at_random,
    random_deletion,
)
from .findings import EPSILONS, REPEATS, THETAS, CurvePoint
from .result import MembershipSettings
from .study import STUDY

_PUBLISHED = MembershipSettings(shadows=0, attacks=("network",))
"""The attack of Zhang et al. (2020)."""


def epsilon_curve(
    config: AuditConfig,
    dataset: AuditDataset,
    *,
    group: int = 1,
    epsilons: Sequence[float] = EPSILONS,
    repeats: int = REPEATS,
    finished: Collection[CurvePoint] = (),
) -> Iterator[CurvePoint]:
    """Yield one point a repeat and privacy budget of the private tree, all budgets of a repeat first.

    Gaps are those of a group, by code, less all others. Points `finished` in an earlier run are not computed again.
    """
    finished_keys = {(point.repeat, point.at) for point in finished}
    for repeat, seed in _repeats(config, repeats):
        for epsilon in epsilons:
            if (repeat, epsilon) not in finished_keys:
                subject = subject_of(
                    replace(config, method="dp_id3", epsilon=epsilon, seed=seed), dataset
                )
                point = CurvePoint(at=epsilon, repeat=repeat, variant="epsilon")
                yield _measured(point, subject, group, subject.splits)


def fairpick_curve(
    config: AuditConfig,
    dataset: AuditDataset,
    *,
    group: int = 1,
    thetas: Sequence[float] = THETAS,
    repeats: int = REPEATS,
    finished: Collection[CurvePoint] = (),
) -> Iterator[CurvePoint]:
    """Yield two points a repeat and theta: after FairPick, and after deleting as many rows at random.

    Both share the split of their repeat, and are attacked with non-members thinned like the members; see
    `fairpick_differences`. Points `finished` in an earlier run are not computed again.
    """
    finished_keys = {(point.repeat, point.at, point.variant) for point in finished}
    people = two_sides(dataset, group)
    for repeat, seed in _repeats(config, repeats):
        coming = {
            theta: [v for v in ("fairpick", "random") if (repeat, theta, v) not in finished_keys]
            for theta in thetas
        }
        if not any(coming.values()):
            continue
        now = replace(config, seed=seed)
        splits = split(dataset, train_share=config.train_share, seed=seed)
        clustering = clusters(people, splits.train, seed=seed)
        for theta, variants in coming.items():
            points = [CurvePoint(at=theta, repeat=repeat, variant=variant) for variant in variants]
            if points and theta >= 1.0:
                point = _measured(points[0], _trained_on(now, dataset, splits), group, splits)
                yield from (replace(point, variant=variant) for variant in variants)
                continue
            for point in points:
                picked, left = thinned(people, splits, clustering, theta=theta, seed=seed)
                if point.variant == "random":
                    left = _at_random(splits, picked.deleted.size, seed=seed)
                after = replace(point, deleted=picked.deleted.size)
                yield _measured(after, _trained_on(now, dataset, left), group, splits)


def two_sides(dataset: AuditDataset, group: int) -> AuditDataset:
    """Return the same people in two groups: 1 is the group of this code (of two, the first), 0 all others."""
    if dataset.n_groups == 2:
        return dataset
    return replace(
        dataset,
        sensitive=(dataset.sensitive == group).astype(np.uint8),
        group_names=(COMPLEMENT, dataset.group_names[group]),
    )


def thinned(
    people: AuditDataset, splits: Splits, clustering: Clusters, *, theta: float, seed: int
) -> tuple[FairPick, Splits]:
    """Return what FairPick deletes, and the sets after it, with test records thinned like the training records."""
    picked = fairpick(people, splits.train, clustering, theta=theta, seed=seed)
    test = like_outsiders(people, splits.test, like=picked, clustering=clustering, seed=seed)
    return picked, replace(splits, train=picked.retained, test=test)


def picked_from(
    config: AuditConfig, dataset: AuditDataset, *, group: int, theta: float
) -> FairPick:
    """Return what FairPick deletes of a subject's training records."""
    splits = split(dataset, train_share=config.train_share, seed=config.seed)
    people = two_sides(dataset, group)
    clustering = clusters(people, splits.train, seed=config.seed)
    return fairpick(people, splits.train, clustering, theta=theta, seed=config.seed)


def _at_random(splits: Splits, n_deleted: int, *, seed: int) -> Splits:
    """Return the sets after so many training records, and as large a share of the test records, were left out."""
    retained = random_deletion(splits.train, n_deleted, seed=seed)
    stay = round(splits.test.size * retained.size / splits.train.size)
    return replace(splits, train=retained, test=outsiders_at_random(splits.test, stay, seed=seed))


def _trained_on(config: AuditConfig, dataset: AuditDataset, splits: Splits) -> Subject:
    """Return the subject that is trained on the training records of these sets."""
    return Subject(config, dataset, splits, train_model(config, dataset, splits))


def _repeats(config: AuditConfig, repeats: int) -> Iterator[tuple[int, int]]:
    """Yield the number and the seed of each repeat."""
    for repeat in range(repeats):
        yield repeat, child_seed(config.seed, f"membership, repeat {repeat}")


def _measured(point: CurvePoint, subject: Subject, group: int, splits: Splits) -> CurvePoint:
    """Return a point with the rates of the published attack on a subject; accuracy is on all test records."""
    *_, result = STUDY.run(subject, _PUBLISHED)
    member = result.member == 1
    flagged = result.verdicts["network"] == 1
    side = two_sides(subject.dataset, group).sensitive[result.rows] == 1
    predictions = subject.model.predictions
    labels = subject.dataset.labels
    vd = _rate(flagged, member & side) - _rate(flagged, member & ~side)
    fpr_gap = _rate(flagged, ~member & side) - _rate(flagged, ~member & ~side)
    return replace(
        point,
        accuracy_train=subject.model.accuracy_train.value,
        accuracy_test=float((predictions == labels)[splits.test].mean()),
        auc=result.curves["network"].auc.value,
        precision=_rate(member, flagged),
        recall=_rate(flagged, member),
        vd=vd,
        fpr_gap=fpr_gap,
        advantage_gap=vd - fpr_gap,
    )


def _rate(hit: Mask, among: Mask) -> float:
    """Return the share of hits among the chosen; nan where nobody is chosen."""
    if among.any():
        return float(hit[among].mean())
    return math.nan


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounting(Result):
    """What a private tree costs, and what it is good for; `majority` is the control, the more frequent label.

    The ledger's `total` is what it costs in truth.
    """

    ledger: BudgetLedger
    accuracy_train: Estimate
    accuracy_test: Estimate
    majority: Estimate


def accountings(config: AuditConfig, dataset: AuditDataset) -> tuple[Accounting, ...]:
    """Grow the private tree of these settings once with each accounting, the last of which is not private.

    Warns with `PrivacyLeakWarning` for the naive accounting, which is here to be shown.
    """
    splits = split(dataset, train_share=config.train_share, seed=config.seed)
    train = splits.train
    test = splits.test
    labels = dataset.labels
    majority = majority_share(labels[test])
    grown = []
    for accounting in ACCOUNTINGS:
        tree = fit_private_tree(
            dataset.features[train],
            labels[train],
            epsilon=config.epsilon,
            domains=dataset.domains,
            max_depth=config.depth,
            seed=config.seed,
            accounting=accounting,
        )
        predicted = tree.predict(dataset.features)
        grown.append(
            Accounting(
                ledger=tree.budget_ledger_,
                accuracy_train=accuracy(labels[train], predicted[train]),
                accuracy_test=accuracy(labels[test], predicted[test]),
                majority=majority,
            )
        )
    return tuple(grown)
