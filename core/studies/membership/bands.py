"""Points of a curve over a setting, their bands over repeats, and what is said of them.

Bands speak of other seeds on this table (`core.stats.estimates.mean_over_repeats`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any

from ...base.serialize import Result
from ...stats.estimates import (
    Estimate,
    count,
    epsilon_text,
    gap,
    mean_over_repeats,
    percent,
    rate_over_repeats,
)
from ...stats.quantities import Quantity, Row, change, share
from ..study import Finding
from .disparity import GAPS
from .fairpick import DELETION_REMINDER, FairPick
from .findings import MEASURES, NO_BETTER, interval_text, significant
from .roc import is_muted

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
        else replace(
            band,
            values={n: replace(v, low=math.nan, high=math.nan) for n, v in band.values.items()},
        )
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
            changes = {
                name: getattr(picked, name) - getattr(control, name) for name in (*RATES, *GAPS)
            }
            differences.append(replace(picked, variant=_DIFFERENCE, **changes))
    return summarise_curve(differences)


def epsilon_heading(
    bands: Sequence[CurveBand], names: tuple[str, str], *, growing: bool = False
) -> str:
    """Say up to which budget the attack does no better than chance, or what DP training noise does to the gap."""
    done = sorted((band for band in bands if band.variant == "epsilon"), key=lambda band: band.at)
    if (
        len(done) < 2
        or math.isnan(done[0].values["auc"].low)
        or math.isnan(done[-1].values["auc"].low)
    ):
        return "What DP training noise changes"
    low = done[0]
    high = done[-1]
    far = " so far" if growing else ""
    chance = list(takewhile(lambda band: is_muted(band.values["auc"]), done))
    if chance:
        vd = chance[-1].values["vd"]
        if significant(vd):
            still = f", though VD still reads {gap(vd.value)} there"
        else:
            still = ""
        if len(chance) == len(done):
            up_to = "At every ε"
        else:
            up_to = f"Up to ε = {epsilon_text(chance[-1].at)}"
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
    theta = differences[0].at
    repeats = differences[0].repeats
    difference = differences[0].values[measure]
    repeats_by_variant = {
        way: {p.repeat for p in points if p.at == theta and p.variant == way}
        for way in ("fairpick", "random")
    }
    both = [
        p
        for p in points
        if p.at == theta
        and p.repeat in repeats_by_variant["fairpick"] & repeats_by_variant["random"]
    ]
    by_way = {band.variant: gap(band.values[measure].value) for band in summarise_curve(both)}
    over = "repeats so far" if growing else "repeats"
    sentence = (
        f"{MEASURES[measure]} {by_way['fairpick']} after FairPick at θ = {theta:g}, {by_way['random']} after deleting "
        f"at random (mean, {over}: {repeats})"
    )
    if math.isnan(difference.low):  # too few repeats to tell
        return sentence
    if significant(difference):
        qualifier = ""
    else:
        qualifier = "no statistically significant difference, "
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
    return tuple(
        {at: band.at} | _way(band) | _band_cells(band.values, band.repeats) for band in done
    )


def _way(band: CurveBand) -> dict[str, Any]:
    if band.variant not in _WAYS:
        return {}
    way = _WAYS[band.variant] if band.at < 1.0 else "none"
    return {"rows deleted": way, "deleted on average": band.values["deleted"].value}


def _band_cells(values: Mapping[str, Estimate], repeats: int) -> dict[str, Any]:
    rates = {"accuracy_train": "accuracy, training", "accuracy_test": "accuracy, test"}
    cells: dict[str, Any] = {title: share(values.get(name)) for name, title in rates.items()}
    cells |= {"AUC": Quantity(values.get("auc"))} | {
        name: share(values.get(name)) for name in ("precision", "recall")
    }
    return (
        cells
        | {title: change(values.get(name)) for name, title in MEASURES.items()}
        | {"repeats": repeats}
    )
