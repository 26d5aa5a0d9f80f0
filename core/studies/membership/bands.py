"""Points of a curve over a setting, and their bands over repeats.

Bands speak of other seeds on this table (`core.stats.estimates.mean_over_repeats`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from ...base.serialize import Result
from ...stats.estimates import LEVEL, Estimate, mean_over_repeats, rate_over_repeats

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
