"""What membership attacks found, in sentences and tables: those of page, command, report and files.

The sentences are plain text; names of groups are in them as they stand in the table.

Also points of a curve over a setting, and their bands over repeats. Bands speak of other seeds on this table
(`core.stats.estimates.mean_over_repeats`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from typing import Any

from ...base.serialize import Result
from ...models import GIVEN_PREDICTIONS
from ...stats.estimates import (
    Estimate,
    Quantity,
    Row,
    change,
    count,
    ends_text,
    epsilon_text,
    gap,
    level_text,
    mean_over_repeats,
    number_text,
    percent,
    rate_over_repeats,
    ratio,
    share,
)
from ..study import Finding, Measurement
from .attacks import REGISTRY
from .disparity import GAPS, RANGE_EDGES, GapTest
from .fairpick import DELETION_REMINDER, FairPick
from .result import MembershipResult
from .roc import is_muted, most_caught
from .tpr_gaps import GapResult

NO_BETTER = "not significantly better than random guessing"
_DIFFER = "The model's outputs differ between members and non-members."
_LOWER = "Train a simpler model, or one with DP training noise, until the AUC is near 0.5."

MEASURES = {"vd": "VD", "fpr_gap": "FPR gap", "advantage_gap": "Membership-advantage gap"}
"""Gap -> what it is called."""

_SMALL = 2.0
_LARGE = 6.9
_PAST_TELLING = math.log(1e6)
"""Exponents below which a factor has three decimals, from which on it has none, and from which on it is a power."""


def significant(estimate: Estimate) -> bool:
    """Whether an interval leaves out 0."""
    return estimate.low > 0.0 or estimate.high < 0.0


def _auc_text(auc: Estimate, attacks: int) -> str:
    """Write the AUC that decides: "0.530 (95% CI 0.495 to 0.556 after adjusting for 9 attacks)"."""
    if math.isnan(auc.value) or attacks < 2:
        return ratio(auc)
    return f"{ratio(auc)[:-1]} after adjusting for {count(attacks)} attacks)"


def interval_text(estimate: Estimate) -> str:
    """Write an interval of a gap: "95% CI −0.020 to +0.131"."""
    return f"{level_text(estimate.level)} CI {gap(estimate.low)} to {gap(estimate.high)}"


def guarantee(result: MembershipResult) -> str:
    """Return what the privacy budget of the subject's training guarantees, beside what was measured."""
    config = result.subject.config
    member = result.member == 1
    called = result.verdicts[result.strongest] == 1
    tpr = float(called[member].mean())
    fpr = float(called[~member].mean())
    measured = f" Measured, by {REGISTRY[result.strongest].phrase}: TPR {percent(tpr)}, FPR {percent(fpr)}."
    if config.method == GIVEN_PREDICTIONS:
        return f"No DP guarantee: nothing is known of how this model was trained.{measured}"
    if config.method != "dp_id3":
        return f"No DP guarantee (trained without a privacy budget).{measured}"
    if math.isinf(config.epsilon):
        return f"No DP guarantee (ε = ∞).{measured}"
    once = _factor(config.epsilon)
    twice = _factor(2 * config.epsilon)
    most = math.ceil(1000.0 * most_caught(fpr, config.epsilon)) / 1000.0
    if most < 1.0:
        allowed = f"at most {percent(most, decimals=1)}"
    else:
        allowed = "practically 100%"
    guaranteed = (
        f"ε = {epsilon_text(config.epsilon)} guarantees that no outcome is more than {once} times as likely with one "
        "person's record as without it. Here somebody else takes the person's place, which doubles ε. No attack can be "
        f"expected to flag members more than {twice} times as often as non-members."
    )
    return f"{guaranteed}{measured} At this FPR the guarantee allows a TPR of {allowed}."


def _factor(epsilon: float) -> str:
    """Write exp(epsilon), rounded up; as a power where it is above a million."""
    if epsilon > _PAST_TELLING:
        return f"e^{epsilon:g}"
    factor = math.exp(epsilon)
    if epsilon < _SMALL:
        places = 3
    elif epsilon < _LARGE:
        places = 1
    else:
        places = 0
    return f"{math.ceil(factor * 10**places) / 10**places:,.{places}f}"


def groups_heading(result: MembershipResult, attribute: str) -> str:
    """Say for how many groups the membership advantage differs from that of the others, and for which most."""
    gaps = result.disparities
    if not gaps:
        return f"No group by {attribute} is large enough to be measured"
    if result.muted:
        return f"The attack is {NO_BETTER}, so the gaps by {attribute} say nothing"
    clear = [
        gap_of_group for gap_of_group in gaps if gap_of_group.tests["advantage_gap"].significant
    ]
    heading = f"Statistically significant differences in membership advantage by {attribute}: {len(clear)}"
    heading = f"{heading} of {count(len(gaps))}"
    if not clear:
        return heading
    most = max(clear, key=lambda gap_of_group: abs(gap_of_group.advantage_gap.value))
    return f"{heading}, largest “{most.group}” {gap(most.advantage_gap.value)}"


def release_findings(measured: Mapping[str, Measurement], identifying: str) -> tuple[Finding, ...]:
    """Return the findings of a release: the largest AUC, the largest TPR at 1% FPR, the largest gap between groups.

    Each is of the attack that is best at it; `identifying` names the second one's.
    """
    auc, caught, largest = (measured[f"membership_{name}"] for name in ("auc", "caught", "gap"))
    statements = []
    if auc.estimate is not None:
        works = auc.estimate.low > 0.5
        does = "beats random guessing" if works else f"is {NO_BETTER}"
        statement = _finding(
            auc,
            f"Membership inference {does} (AUC {auc.estimate.value:.3f}).",
            f"{auc.attacked} AUC {_auc_text(auc.estimate, len(auc.details or ()))}; random guessing: 0.5.",
        )
        if works:
            statement = replace(statement, so_what=_DIFFER, to_do=_LOWER)
        statements.append(statement)
    if (rate := caught.estimate) is not None:
        by = REGISTRY[identifying].phrase
        point = f"{percent(rate)} of the training records are identified at 1% FPR by {by}."
        ends = f"{percent(rate.low)} to {percent(rate.high)}"
        span = f"95% CI {ends}, adjusted for the attacks tried; random guessing: 1.0%."
        statements.append(_finding(caught, point, span))
    if (difference := largest.estimate) is not None:
        size = number_text(difference.value, ".3f")
        point = f"The largest difference between groups in TPR at 1% FPR is {size} in size."
        ends = ends_text(difference.low, difference.high, ".3f")
        span = f"95% CI of the size: {ends}, adjusted for the attacks and groups tried."
        statements.append(_finding(largest, point, f"{largest.attacked} {span}"))
    return tuple(statements)


def _finding(measurement: Measurement, point: str, evidence: str) -> Finding:
    """Return a finding with all that the measurement behind it says."""
    return Finding(
        point=point,
        evidence=evidence,
        caveats=measurement.assumptions,
        estimate=measurement.estimate,
        baseline=measurement.control,
        attacker_knows=measurement.knows,
    )


# Tables


def gap_rows(result: MembershipResult) -> Iterator[Row]:
    """Yield each group's gaps by the strongest attack, with the rates and tests behind them, or why there are none."""
    for gaps in result.disparities:
        rates = {"vd": gaps.tpr, "fpr_gap": gaps.fpr}
        for name, title in MEASURES.items():
            if result.muted and name == "vd":
                note = f"greyed out: {NO_BETTER}"
            else:
                note = ""
            sides = rates.get(name, (None, None))
            yield _gap_row(gaps.group, title, getattr(gaps, name), sides, gaps.tests[name], note)
    for group, reason in result.too_small:
        yield _gap_row(group, MEASURES["vd"], None, (None, None), None, reason)
    for low in result.gaps[result.strongest]:
        yield _low_row(low)


def _low_row(low: GapResult) -> Row:
    title = f"Gap in TPR at {100 * low.fpr:g}% FPR"
    return _gap_row(low.group, title, low.estimate, low.rates, low.test, low.reason)


def _gap_row(
    group: str,
    title: str,
    gap: Estimate | None,
    rates: tuple[Estimate | None, Estimate | None],
    test: GapTest | None,
    note: str,
) -> Row:
    detectable = None
    p_adjusted = None
    if test is not None:
        detectable = Quantity(test.smallest_detectable, "points")
        p_adjusted = test.p_adjusted
    return {
        "group": group,
        "gap": title,
        "group − others": change(gap),
        "rate of the group": share(rates[0]),
        "rate of the others": share(rates[1]),
        "smallest detectable": detectable,
        "p (Holm)": p_adjusted,
        "note": note,
    }


def range_rows(result: MembershipResult) -> Iterator[Row]:
    """Yield whom the strongest attack flags of each group, by the score of their own label."""
    for ranges in result.ranges:
        for (low, high), group, reference, difference in zip(
            pairwise(RANGE_EDGES),
            ranges.group_shares,
            ranges.reference_shares,
            ranges.differences,
            strict=True,
        ):
            yield {
                "group": ranges.group,
                "from": low,
                "to": high,
                "flagged of the group": share(group),
                "flagged of the others": share(reference),
                "difference": change(difference),
            }


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
        values = {}
        for name in (*RATES, *GAPS, "deleted"):
            numbers = [value for p in same_setting if not math.isnan(value := getattr(p, name))]
            if name in RATES and variant != _DIFFERENCE:
                values[name] = rate_over_repeats(numbers)
            else:
                values[name] = mean_over_repeats(numbers)
        bands.append(CurveBand(at=at, variant=variant, repeats=len(same_setting), values=values))
    return tuple(bands)


_FEWEST_REPEATS = 5
"""Repeats from which on an interval over them is drawn; one over two is wider than any chart."""


def steady(bands: Iterable[CurveBand]) -> tuple[CurveBand, ...]:
    """Return the bands, without the intervals of those with too few repeats to draw one."""
    steady_bands = []
    for band in bands:
        if band.repeats < _FEWEST_REPEATS:
            values = {
                name: replace(value, low=math.nan, high=math.nan)
                for name, value in band.values.items()
            }
            band = replace(band, values=values)
        steady_bands.append(band)
    return tuple(steady_bands)


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
