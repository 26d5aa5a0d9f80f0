"""The study of other subjects: over privacy budgets or FairPick's theta, with other splits and noise; accountings.

Every point is a subject with a split and a training of its own, judged by the published attack. Bands over repeats
speak of other seeds on this table (`core.stats.estimates.mean_over_repeats`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

import numpy as np

from ...base.arrays import Mask
from ...base.seeds import child_seed
from ...base.serialize import Result
from ...datasets.dataset import AuditDataset
from ...datasets.splits import Splits, split
from ...models.private_fair import fit_private_tree
from ...models.tree_budget import ACCOUNTINGS, BudgetLedger
from ...stats.estimates import (
    Estimate,
    accuracy,
    count,
    epsilon_text,
    gap,
    mean_over_repeats,
    percent,
    proportion,
    rate_over_repeats,
)
from ...stats.quantities import Quantity, Row, change, share
from ..config import AuditConfig
from ..study import Finding
from ..subject import Progress, Subject, subject_of, train_model
from .disparity import COMPLEMENT, GAPS
from .fairpick import (
    DELETION_REMINDER,
    Clusters,
    FairPick,
    Sides,
    clusters,
    fairpick,
    like_outsiders,
    outsiders_at_random,
    random_deletion,
)
from .findings import MEASURES, NO_BETTER, interval_text, significant
from .roc import is_muted
from .settings import MembershipSettings
from .study import STUDY

EPSILONS = (0.01, 0.1, 0.5, 1.0, 5.0, 10.0, 100.0, math.inf)
"""Privacy budgets of the curves."""

THETAS = (0.4, 0.6, 0.8, 1.0)
"""Shares of the distribution differences that stay, as in Zhang et al. (2020)."""

REPEATS = 25
"""Repeats of Zhang et al. (2020)."""

RATES = ("accuracy_train", "accuracy_test", "auc", "precision", "recall")
_DIFFERENCE = "fairpick - random"


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint(Result):
    """One repeat at one setting: values without intervals.

    `at` is the epsilon, or the theta, of the curve; the variant is "epsilon", "fairpick" or "random" (the control of
    FairPick).
    """

    at: float
    repeat: int
    variant: str
    accuracy_train: float = math.nan
    accuracy_test: float = math.nan
    auc: float = math.nan
    precision: float = math.nan
    recall: float = math.nan
    vd: float = math.nan
    fpr_gap: float = math.nan
    advantage_gap: float = math.nan
    deleted: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveBand(Result):
    """One setting over its repeats; the fields are those of `CurvePoint` with an interval over repeats.

    The variant may also be "fairpick - random", for differences; values are by the name of a field of `CurvePoint`.
    """

    at: float
    variant: str
    repeats: int
    values: dict[str, Estimate]


def summarise_curve(points: Iterable[CurvePoint]) -> tuple[CurveBand, ...]:
    """Return means and intervals over repeats, by variant and from the lowest setting up."""
    by_setting: dict[tuple[str, float], list[CurvePoint]] = {}
    for point in points:
        by_setting.setdefault((point.variant, point.at), []).append(point)
    bands = []
    for (variant, at), same_setting in sorted(by_setting.items()):
        shares = RATES if variant != _DIFFERENCE else ()
        values = {
            name: (rate_over_repeats if name in shares else mean_over_repeats)(
                [value for p in same_setting if not math.isnan(value := getattr(p, name))]
            )
            for name in (*RATES, *GAPS, "deleted")
        }
        bands.append(CurveBand(at=at, variant=variant, repeats=len(same_setting), values=values))
    return tuple(bands)


_FEWEST_REPEATS = 5
"""Repeats from which on an interval over them is drawn; one over two is wider than any chart."""


def steady(bands: Iterable[CurveBand]) -> tuple[CurveBand, ...]:
    """Return the bands, without the intervals of those with too few repeats to draw one."""
    return tuple(
        band
        if band.repeats >= _FEWEST_REPEATS
        else replace(band, values={n: replace(v, low=math.nan, high=math.nan) for n, v in band.values.items()})
        for band in bands
    )


def fairpick_differences(points: Iterable[CurvePoint]) -> tuple[CurveBand, ...]:
    """Return FairPick less its control, with intervals over repeats, from the lowest theta below 1 up.

    Both share the split of a repeat, so that differences within repeats are looked at: what one split does to both
    falls out. Repeats in which one of the two is not there yet are left out. The bands are of the variant "fairpick -
    random".
    """
    by_variant = {(point.at, point.repeat, point.variant): point for point in points}
    differences = []
    for (at, repeat, variant), picked in sorted(by_variant.items()):
        control = by_variant.get((at, repeat, "random"))
        if variant == "fairpick" and control is not None and at < 1.0:
            changes = {name: getattr(picked, name) - getattr(control, name) for name in (*RATES, *GAPS)}
            differences.append(replace(picked, variant=_DIFFERENCE, **changes))
    return summarise_curve(differences)


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
                subject = subject_of(replace(config, method="dp_id3", epsilon=epsilon, seed=seed), dataset)
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
    sides = two_sides(dataset, group)
    for repeat, seed in _repeats(config, repeats):
        coming = {
            theta: [v for v in ("fairpick", "random") if (repeat, theta, v) not in finished_keys] for theta in thetas
        }
        if not any(coming.values()):
            continue
        now = replace(config, seed=seed)
        splits = split(dataset, train_share=config.train_share, seed=seed)
        clustering = clusters(sides, splits.train, seed=seed)
        for theta, variants in coming.items():
            points = [CurvePoint(at=theta, repeat=repeat, variant=variant) for variant in variants]
            if points and theta >= 1.0:
                point = _measured(points[0], _trained_on(now, dataset, splits), group, splits)
                yield from (replace(point, variant=variant) for variant in variants)
                continue
            for point in points:
                picked, left = thinned(sides, splits, clustering, theta=theta, seed=seed)
                if point.variant == "random":
                    left = _at_random(splits, picked.deleted.size, seed=seed)
                after = replace(point, deleted=picked.deleted.size)
                yield _measured(after, _trained_on(now, dataset, left), group, splits)


def two_sides(dataset: AuditDataset, group: int) -> Sides:
    """Return the same people in two groups: 1 is the group of this code (of two, the first), 0 all others."""
    groups, names = dataset.sensitive, (dataset.group_names[0], dataset.group_names[1])
    if dataset.n_groups > 2:
        groups, names = (groups == group).astype(np.uint8), (COMPLEMENT, dataset.group_names[group])
    return Sides(features=dataset.features, labels=dataset.labels, groups=groups, names=names)


def thinned(sides: Sides, splits: Splits, clustering: Clusters, *, theta: float, seed: int) -> tuple[FairPick, Splits]:
    """Return what FairPick deletes, and the sets after it, with test records thinned like the training records."""
    picked = fairpick(sides, splits.train, clustering, theta=theta, seed=seed)
    test = like_outsiders(sides, splits.test, like=picked, clustering=clustering, seed=seed)
    return picked, replace(splits, train=picked.retained, test=test)


def picked_from(config: AuditConfig, dataset: AuditDataset, *, group: int, theta: float) -> FairPick:
    """Return what FairPick deletes of a subject's training records."""
    splits = split(dataset, train_share=config.train_share, seed=config.seed)
    sides = two_sides(dataset, group)
    clustering = clusters(sides, splits.train, seed=config.seed)
    return fairpick(sides, splits.train, clustering, theta=theta, seed=config.seed)


def _at_random(splits: Splits, n_deleted: int, *, seed: int) -> Splits:
    """Return the sets after so many training records, and as large a share of the test records, were left out."""
    retained = random_deletion(splits.train, n_deleted, seed=seed)
    stay = round(splits.test.size * retained.size / splits.train.size)
    return replace(splits, train=retained, test=outsiders_at_random(splits.test, stay, seed=seed))


def _trained_on(config: AuditConfig, dataset: AuditDataset, splits: Splits) -> Subject:
    """Return the subject that is trained on the training records of these sets."""
    return Subject(config, dataset, splits, train_model(config, dataset, splits), Progress(1))


def _repeats(config: AuditConfig, repeats: int) -> Iterator[tuple[int, int]]:
    """Yield the number and the seed of each repeat."""
    for repeat in range(repeats):
        yield repeat, child_seed(config.seed, f"membership, repeat {repeat}")


def _measured(point: CurvePoint, subject: Subject, group: int, splits: Splits) -> CurvePoint:
    """Return a point with the rates of the published attack on a subject; accuracy is on all test records."""
    *_, result = STUDY.run(subject, _PUBLISHED)
    guess = result.guesses["network"]
    member, flagged = result.inside(guess) == 1, result.verdicts["network"] == 1
    side = two_sides(subject.dataset, group).groups[guess.rows] == 1
    predictions, labels = subject.model.predictions, subject.dataset.labels
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
    return float(hit[among].mean()) if among.any() else math.nan


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
    train, test, labels = splits.train, splits.test, dataset.labels
    majority = proportion(int(np.bincount(labels[test], minlength=2).max()), test.size)
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
                ledger=tree.tree.budget_ledger_,
                accuracy_train=accuracy(labels[train], predicted[train]),
                accuracy_test=accuracy(labels[test], predicted[test]),
                majority=majority,
            )
        )
    return tuple(grown)


# Sentences and tables


def epsilon_heading(bands: Sequence[CurveBand], names: tuple[str, str], *, growing: bool = False) -> str:
    """Say up to which budget the attack does no better than chance, or what DP training noise does to the gap."""
    done = sorted((band for band in bands if band.variant == "epsilon"), key=lambda band: band.at)
    if len(done) < 2 or math.isnan(done[0].values["auc"].low) or math.isnan(done[-1].values["auc"].low):
        return "What DP training noise changes"
    low, high = done[0], done[-1]
    far = " so far" if growing else ""
    chance = list(takewhile(lambda band: is_muted(band.values["auc"]), done))
    if chance:
        vd = chance[-1].values["vd"]
        still = f", though VD still reads {gap(vd.value)} there" if significant(vd) else ""
        up_to = "At every ε" if len(chance) == len(done) else f"Up to ε = {epsilon_text(chance[-1].at)}"
        return f"{up_to} the attack is {NO_BETTER} in these repeats{far}{still}"
    before, after = (gap(band.values["advantage_gap"].value) for band in (high, low))
    return (
        f"Membership-advantage gap, {names[0]} − {names[1]}{far}: {before} at ε = {epsilon_text(high.at)}, "
        f"{after} at {epsilon_text(low.at)}"
    )


def picking_heading(points: Sequence[CurvePoint], measure: str, *, growing: bool = False) -> str:
    """Say what FairPick does at the smallest θ measured, what chance does, and how the two differ within repeats."""
    differences = steady(fairpick_differences(points))
    if not differences:
        return "What FairPick changes"
    theta, repeats, difference = differences[0].at, differences[0].repeats, differences[0].values[measure]
    repeats_by_variant = {
        way: {p.repeat for p in points if p.at == theta and p.variant == way} for way in ("fairpick", "random")
    }
    both = [
        p for p in points if p.at == theta and p.repeat in repeats_by_variant["fairpick"] & repeats_by_variant["random"]
    ]
    by_way = {band.variant: gap(band.values[measure].value) for band in summarise_curve(both)}
    over = "repeats so far" if growing else "repeats"
    sentence = (
        f"{MEASURES[measure]} {by_way['fairpick']} after FairPick at θ = {theta:g}, {by_way['random']} after deleting "
        f"at random (mean, {over}: {repeats})"
    )
    if math.isnan(difference.low):  # too few repeats to tell
        return sentence
    qualifier = "" if significant(difference) else "no statistically significant difference, "
    return f"{sentence}: {qualifier}{gap(difference.value)} ({interval_text(difference)}) within repeats"


def deletions(picked: FairPick) -> Finding:
    """Say whom FairPick deletes before the training."""
    return Finding(
        point=f"At θ = {picked.theta:g} FairPick deletes {count(picked.deleted.size)} "
        f"of {count(picked.deleted.size + picked.retained.size)} training rows",
        evidence=f"The largest difference between the group proportions of a cluster falls from "
        f"{percent(picked.largest_before)} to {percent(picked.largest_after)}. "
        f"Repeats of a curve have other splits, and so other deletions. {DELETION_REMINDER}",
    )


_WAYS = {"fairpick": "by FairPick", "random": "at random"}


def curve_rows(bands: Sequence[CurveBand], at: str) -> tuple[Row, ...]:
    """Return a curve over repeats, by the name of what it is over: "ε" or "θ"."""
    done = sorted(bands, key=lambda band: (band.at, band.variant))
    return tuple({at: band.at} | _way(band) | _band_cells(band.values, band.repeats) for band in done)


def _way(band: CurveBand) -> dict[str, Any]:
    if band.variant not in _WAYS:
        return {}
    way = _WAYS[band.variant] if band.at < 1.0 else "none"
    return {"rows deleted": way, "deleted on average": band.values["deleted"].value}


def _band_cells(values: Mapping[str, Estimate], repeats: int) -> dict[str, Any]:
    rates = {"accuracy_train": "accuracy, training", "accuracy_test": "accuracy, test"}
    cells: dict[str, Any] = {title: share(values.get(name)) for name, title in rates.items()}
    cells |= {"AUC": Quantity(values.get("auc"))} | {name: share(values.get(name)) for name in ("precision", "recall")}
    return cells | {title: change(values.get(name)) for name, title in MEASURES.items()} | {"repeats": repeats}
