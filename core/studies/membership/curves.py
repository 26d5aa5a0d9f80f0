"""The same audit over privacy budgets or FairPick's theta, with other splits and noise.

Every point comes from a split, a training and a network of its own; bands are over repeats and speak of other seeds on
this table (`core.stats.estimates.mean_over_repeats`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from ...base.arrays import Mask
from ...base.seeds import child_seed
from ...base.serialize import Result
from ...models.tree_budget import ACCOUNTINGS, BudgetLedger
from ...stats.estimates import LEVEL, Estimate, mean_over_repeats, rate_over_repeats
from .attacks import REGISTRY
from .evidence import Train, member_split
from .fairpick import clusters, outsiders_at_random, random_deletion
from .inference import TrainedTarget, thinned, train_target, two_sides
from .people import MemberPeople
from .roc import roc
from .settings import MembershipSettings
from .targets import TargetFindings, ledger_of, target_of

EPSILONS = (0.01, 0.1, 0.5, 1.0, 5.0, 10.0, 100.0, math.inf)
"""Privacy budgets of the curves."""

THETAS = (0.4, 0.6, 0.8, 1.0)
"""Shares of the distribution differences that stay, as in Zhang et al. (2020)."""

REPEATS = 25
"""Repeats of Zhang et al. (2020)."""

RATES = ("accuracy_train", "accuracy_test", "auc", "precision", "recall")
GAPS = ("vd", "fpr_gap", "advantage_gap")
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
    finished: Collection[CurvePoint] = (),
) -> Iterator[CurvePoint]:
    """Yield one point a repeat and privacy budget of the private tree, all budgets of a repeat first.

    Points that are `finished` in an earlier run are not computed again.
    """
    finished_keys = {(point.repeat, point.at) for point in finished}
    for repeat, seed in _repeats(settings, repeats):
        split = member_split(people.n, seed=seed)
        for epsilon in epsilons:
            if (repeat, epsilon) not in finished_keys:
                now = replace(settings, target="dp_id3", epsilon=epsilon, theta=1.0, seed=seed)
                target = train_target(people, now, target_of(people, now), split=split)
                yield _point(target, at=epsilon, repeat=repeat, variant="epsilon")


def fairpick_curve(
    people: MemberPeople,
    settings: MembershipSettings,
    *,
    thetas: Sequence[float] = THETAS,
    repeats: int = REPEATS,
    train: Train | None = None,
    finished: Collection[CurvePoint] = (),
) -> Iterator[CurvePoint]:
    """Yield two points a repeat and theta: after FairPick, and after deleting as many rows at random.

    Both share the split of their repeat, and are attacked with non-members thinned like the members; see
    `fairpick_differences`. The target is that of the settings when `train` is left out; points `finished` in an
    earlier run are not computed again.
    """
    finished_keys = {(point.repeat, point.at, point.variant) for point in finished}
    sides = two_sides(people, settings.group)
    for repeat, seed in _repeats(settings, repeats):
        coming = {
            theta: [v for v in ("fairpick", "random") if (repeat, theta, v) not in finished_keys] for theta in thetas
        }
        if not any(coming.values()):
            continue
        split, unthinned = member_split(people.n, seed=seed), replace(settings, theta=1.0, seed=seed)
        target, clustering = train or target_of(people, unthinned), clusters(sides, split.members, seed=seed)
        for theta, variants in coming.items():
            if variants and theta >= 1.0:
                point = _point(
                    train_target(people, unthinned, target, split=split), at=theta, repeat=repeat, variant=variants[0]
                )
                yield from (replace(point, variant=variant) for variant in variants)
                continue
            for variant in variants:
                picked, left = thinned(sides, split, clustering, replace(unthinned, theta=theta))
                if variant == "random":
                    retained = random_deletion(split.members, picked.deleted.size, seed=seed)
                    stay = round(split.outsiders.size * retained.size / split.members.size)
                    left = split.keeping(retained, outsiders=outsiders_at_random(split.outsiders, stay, seed=seed))
                trained = train_target(people, unthinned, target, split=left)
                yield _point(trained, at=theta, repeat=repeat, variant=variant, deleted=picked.deleted.size)


def _repeats(settings: MembershipSettings, repeats: int) -> Iterator[tuple[int, int]]:
    """Yield the number and the seed of each repeat."""
    for repeat in range(repeats):
        yield repeat, child_seed(settings.seed, f"membership, repeat {repeat}")


def _point(target: TrainedTarget, *, at: float, repeat: int, variant: str, deleted: int = 0) -> CurvePoint:
    """Attack a target with the published attack and return the rates, without intervals."""
    guess = REGISTRY["network"].judge(replace(target.evidence, balance=deleted > 0))
    assert guess.verdict is not None
    member, flagged = target.inside[guess.rows] == 1, guess.verdict == 1
    side = two_sides(target.people, target.settings.group).groups[guess.rows] == 1
    quality = target.quality
    vd = _rate(flagged, member & side) - _rate(flagged, member & ~side)
    fpr_gap = _rate(flagged, ~member & side) - _rate(flagged, ~member & ~side)
    return CurvePoint(
        at=at,
        repeat=repeat,
        variant=variant,
        accuracy_train=quality.accuracy_train.value,
        accuracy_test=quality.accuracy_test.value,
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


def summarise_curve(points: Iterable[CurvePoint], *, level: float = LEVEL) -> tuple[CurveBand, ...]:
    """Return means and intervals over repeats, by variant and from the lowest setting up."""
    by_setting: dict[tuple[str, float], list[CurvePoint]] = {}
    for point in points:
        by_setting.setdefault((point.variant, point.at), []).append(point)
    bands = []
    for (variant, at), same_setting in sorted(by_setting.items()):
        shares = RATES if variant != _DIFFERENCE else ()
        values = {
            name: (rate_over_repeats if name in shares else mean_over_repeats)(
                [value for p in same_setting if not math.isnan(value := getattr(p, name))], level=level
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


def fairpick_differences(points: Iterable[CurvePoint], *, level: float = LEVEL) -> tuple[CurveBand, ...]:
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
    return summarise_curve(differences, level=level)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountingFindings(Result):
    """What a tree costs, and what it is good for.

    The ledger's `total` is what it costs in truth.
    """

    ledger: BudgetLedger
    target: TargetFindings


def accountings(people: MemberPeople, settings: MembershipSettings) -> tuple[AccountingFindings, ...]:
    """Train the private tree once with each accounting, the last of which is not private.

    Warns with `PrivacyLeakWarning` for the naive accounting, which is here to be shown.
    """
    split, findings = member_split(people.n, seed=settings.seed), []
    for accounting in ACCOUNTINGS:
        train = target_of(people, replace(settings, target="dp_id3", accounting=accounting))
        target = train_target(people, settings, train, split=split)
        findings.append(AccountingFindings(ledger=ledger_of(people, settings, accounting), target=target.quality))
    return tuple(findings)
