"""The same audit over privacy budgets or FairPick's theta, with other splits and noise.

Every point comes from a split, a training and a network of its own; bands are over repeats and speak of other seeds on
this table (`core.estimates.over_repeats`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.arrays import Floats, Mask
from core.errors import InputError
from core.estimates import Estimate, not_measured, over_repeats, rate_over_repeats
from core.membership.attack import Train
from core.membership.attacks.network import network_attack
from core.membership.fairpick import Clusters, clusters, fairpick, like_outsiders, outsiders_at_random, random_deletion
from core.membership.inference import Attacked, attacked, two_sides
from core.membership.judged_people import MembershipSplit, member_split
from core.membership.people import MemberPeople
from core.membership.roc import roc
from core.membership.settings import MembershipSettings
from core.membership.targets import quality, target_of
from core.seeds import child_seed
from core.serialize import Result

EPSILONS = (0.01, 0.1, 0.5, 1.0, 5.0, 10.0, 100.0, math.inf)
"""Privacy budgets of the curves."""

THETAS = (0.4, 0.6, 0.8, 1.0)
"""Shares of the distribution differences that stay, as in Zhang et al. (2020)."""

REPEATS = 25
"""Repeats of Zhang et al. (2020)."""

RATES = ("accuracy_train", "accuracy_test", "auc", "precision", "recall")
GAPS = ("vd", "fpr_gap", "advantage_gap")


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint(Result):
    """One repeat at one setting: values without intervals.

    `at` is the epsilon, or the theta, of the curve; the variant is "epsilon", "fairpick" or "random" (the control of
    FairPick).
    """

    at: float
    repeat: int
    variant: str
    accuracy_train: float
    accuracy_test: float
    auc: float
    precision: float
    recall: float
    vd: float
    fpr_gap: float
    advantage_gap: float
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


def epsilon_curve(
    people: MemberPeople,
    settings: MembershipSettings,
    *,
    epsilons: Sequence[float] = EPSILONS,
    repeats: int = REPEATS,
    there: Collection[CurvePoint] = (),
) -> Iterator[CurvePoint]:
    """Yield one point a repeat and privacy budget of the private tree, all budgets of a repeat first.

    Points that are `there` from an earlier run are not computed again.
    """
    known = {(point.repeat, point.at) for point in there}
    for repeat, seed in _repeats(settings, repeats):
        split = member_split(people.n, seed=seed)
        for epsilon in epsilons:
            if (repeat, epsilon) not in known:
                now = replace(settings, target="dp_id3", epsilon=epsilon, theta=1.0, seed=seed)
                target = attacked(people, now, target_of(people, now), split=split)
                yield _point(target, at=epsilon, repeat=repeat, variant="epsilon")


def fairpick_curve(
    people: MemberPeople,
    settings: MembershipSettings,
    *,
    thetas: Sequence[float] = THETAS,
    repeats: int = REPEATS,
    train: Train | None = None,
    there: Collection[CurvePoint] = (),
) -> Iterator[CurvePoint]:
    """Yield two points a repeat and theta: after FairPick, and after deleting as many rows at random.

    Both share the split of their repeat, and are attacked with outsiders thinned like the members; see
    `fairpick_differences`. The target is that of the settings when `train` is left out; points that are `there` from an
    earlier run are not computed again.
    """
    known = {(point.repeat, point.at, point.variant) for point in there}
    for repeat, seed in _repeats(settings, repeats):
        split, found = member_split(people.n, seed=seed), None
        for theta in thetas:
            now = replace(settings, theta=theta, seed=seed)
            wanted = [v for v in ("fairpick", "random") if (repeat, theta, v) not in known]
            if wanted:
                if found is None:
                    found = clusters(two_sides(people, now.group), split.members, seed=seed)
                yield from _deleted(people, now, train or target_of(people, now), split, found, repeat, wanted)


def _deleted(
    people: MemberPeople,
    settings: MembershipSettings,
    train: Train,
    split: MembershipSplit,
    found: Clusters,
    repeat: int,
    wanted: Sequence[str],
) -> Iterator[CurvePoint]:
    """Yield the points of one repeat and theta."""
    theta, whole = settings.theta, replace(settings, theta=1.0)
    if theta >= 1.0:
        target = attacked(people, whole, train, split=split)
        whole_point = _point(target, at=theta, repeat=repeat, variant=wanted[0])
        yield from (replace(whole_point, variant=variant) for variant in wanted)
        return
    sides, seed = two_sides(people, settings.group), settings.seed
    picked = fairpick(sides, split.members, found, theta=theta, seed=seed, literal=settings.literal)
    for variant in wanted:
        if variant == "random":
            kept = random_deletion(split.members, picked.deleted.size, seed=seed)
            stay = round(split.outsiders.size * kept.size / max(split.members.size, 1))
            outsiders = outsiders_at_random(split.outsiders, stay, seed=seed)
        else:
            kept = picked.kept
            outsiders = like_outsiders(sides, split.outsiders, like=picked, found=found, seed=seed)
        target = attacked(people, whole, train, split=split.keeping(kept, outsiders=outsiders))
        yield _point(target, at=theta, repeat=repeat, variant=variant, deleted=int(picked.deleted.size))


def _repeats(settings: MembershipSettings, repeats: int) -> Iterator[tuple[int, int]]:
    """Yield the number and the seed of each repeat."""
    if repeats < 1:
        raise InputError(f"repeats must be at least 1, got {repeats!r}.")
    for repeat in range(repeats):
        yield repeat, child_seed(settings.seed, f"membership, repeat {repeat}")


def _point(target: Attacked, *, at: float, repeat: int, variant: str, deleted: int = 0) -> CurvePoint:
    """Attack a target with the paper's network and return the rates, without intervals."""
    people, split, given = target.people, target.split, target.probability
    guess = network_attack(given, people.labels, split, seed=target.settings.seed, balance=deleted > 0)
    assert guess.verdict is not None
    member, flagged = target.inside[guess.rows] == 1, guess.verdict == 1
    side = two_sides(people, target.settings.group).groups[guess.rows] == 1
    made = quality(given, people.labels, split.members, split.unseen)
    vd = _rate(flagged, member & side) - _rate(flagged, member & ~side)
    fpr_gap = _rate(flagged, ~member & side) - _rate(flagged, ~member & ~side)
    return CurvePoint(
        at=at,
        repeat=repeat,
        variant=variant,
        accuracy_train=made.accuracy_train.value,
        accuracy_test=made.accuracy_test.value,
        auc=roc(guess.score, member).auc.value,
        precision=_rate(member, flagged),
        recall=_rate(flagged, member),
        vd=vd,
        fpr_gap=fpr_gap,
        advantage_gap=vd - fpr_gap,
        deleted=deleted,
    )


def _rate(hit: Mask, among: Mask) -> float:
    """Return the share of hits among the chosen; nan where nobody is chosen."""
    return float(hit[among].mean()) if among.any() else math.nan


def summarise_curve(points: Iterable[CurvePoint]) -> tuple[CurveBand, ...]:
    """Return means and intervals over repeats, by variant and from the lowest setting up."""
    by_setting: dict[tuple[str, float], list[CurvePoint]] = {}
    for point in points:
        by_setting.setdefault((point.variant, point.at), []).append(point)
    return tuple(
        CurveBand(
            at=at,
            variant=variant,
            repeats=len(own),
            values={
                name: _measured([getattr(p, name) for p in own], rate_over_repeats if name in RATES else over_repeats)
                for name in (*RATES, *GAPS, "deleted")
            },
        )
        for (variant, at), own in sorted(by_setting.items())
    )


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
    by_way = {(point.at, point.repeat, point.variant): point for point in points}
    pairs: dict[float, list[tuple[CurvePoint, CurvePoint]]] = {}
    for (at, repeat, variant), picked in sorted(by_way.items()):
        control = by_way.get((at, repeat, "random"))
        if variant == "fairpick" and control is not None and at < 1.0:
            pairs.setdefault(at, []).append((picked, control))
    return tuple(
        CurveBand(
            at=at,
            variant="fairpick - random",
            repeats=len(own),
            values={
                name: _measured([getattr(one, name) - getattr(other, name) for one, other in own], over_repeats)
                for name in (*RATES, *GAPS)
            },
        )
        for at, own in pairs.items()
    )


def _measured(values: Iterable[float], over: Callable[[Floats], Estimate]) -> Estimate:
    """Return one quantity over the repeats in which it was measured."""
    known = np.array([value for value in values if not math.isnan(value)])
    return over(known) if known.size else not_measured()
