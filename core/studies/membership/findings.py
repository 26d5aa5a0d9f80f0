"""What membership attacks found, in sentences and tables: those of page, command, report and files.

The sentences are plain text; names of groups are in them as they stand in the table.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any

from ...models import GIVEN_PREDICTIONS
from ...stats.estimates import LEVEL, Estimate, count, epsilon_text, gap, level_text, percent, ratio
from ...stats.quantities import Quantity, Row, change, share
from ..study import Finding, Measurement
from .attacks import REGISTRY
from .bands import CurveBand, CurvePoint, fairpick_differences, steady, summarise_curve
from .disparity import GapResult, GapTest
from .fairpick import DELETION_REMINDER, FairPick
from .membership_result import MembershipResult
from .roc import is_muted
from .targets import most_caught

NO_BETTER = "not significantly better than random guessing"
_DIFFER = "The model's outputs differ between members and non-members."
_LOWER = "Train a simpler model, or one with DP training noise, until the AUC is near 0.5."

MEASURES = {"vd": "VD", "fpr_gap": "FPR gap", "advantage_gap": "Membership-advantage gap"}
"""Gap -> what it is called."""

_SMALL, _LARGE, _PAST_TELLING = 2.0, 6.9, math.log(1e6)
"""Exponents below which a factor has three decimals, from which on it has none, and from which on it is a power."""


def significant(estimate: Estimate) -> bool:
    """Whether an interval leaves out 0."""
    return estimate.low > 0.0 or estimate.high < 0.0


def _auc_text(auc: Estimate, attacks: int) -> str:
    """Write the AUC that decides: "0.530 (95% CI 0.495 to 0.556 after adjusting for 9 attacks)"."""
    if math.isnan(auc.value) or attacks < 2:
        return ratio(auc)
    return f"{ratio(auc)[:-1]} after adjusting for {count(attacks)} attacks)"


def _span(estimate: Estimate) -> str:
    return f"{level_text(estimate.level)} CI {gap(estimate.low)} to {gap(estimate.high)}"


def guarantee(result: MembershipResult) -> str:
    """Return what the privacy budget of the subject's training guarantees, beside what was measured."""
    config, guess = result.subject.config, result.guesses[result.strongest]
    member, called = result.inside(guess) == 1, result.verdicts[result.strongest] == 1
    tpr, fpr = float(called[member].mean()), float(called[~member].mean())
    measured = f" Measured, by {REGISTRY[result.strongest].phrase}: TPR {percent(tpr)}, FPR {percent(fpr)}."
    if config.method == GIVEN_PREDICTIONS:
        return f"No DP guarantee: nothing is known of how this model was trained.{measured}"
    if config.method != "dp_id3":
        return f"No DP guarantee (trained without a privacy budget).{measured}"
    if math.isinf(config.epsilon):
        return f"No DP guarantee (ε = ∞).{measured}"
    once, twice = _factor(config.epsilon), _factor(2 * config.epsilon)
    most = math.ceil(1000.0 * most_caught(fpr, config.epsilon)) / 1000.0
    allowed = f"at most {percent(most, decimals=1)}" if most < 1.0 else "practically 100%"
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
    factor, places = math.exp(epsilon), 3 if epsilon < _SMALL else 1 if epsilon < _LARGE else 0
    return f"{math.ceil(factor * 10**places) / 10**places:,.{places}f}"


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


def picking_heading(points: Sequence[CurvePoint], measure: str, *, growing: bool = False, level: float = LEVEL) -> str:
    """Say what FairPick does at the smallest θ measured, what chance does, and how the two differ within repeats."""
    differences = steady(fairpick_differences(points, level=level))
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
    return f"{sentence}: {qualifier}{gap(difference.value)} ({_span(difference)}) within repeats"


def deletions(picked: FairPick) -> Finding:
    """Say whom FairPick deletes before the training."""
    findings = picked.findings
    return Finding(
        point=f"At θ = {findings.theta:g} FairPick deletes {count(picked.deleted.size)} "
        f"of {count(picked.deleted.size + picked.retained.size)} training rows",
        evidence=f"The largest difference between the group proportions of a cluster falls from "
        f"{percent(findings.largest_before)} to {percent(findings.largest_after)}. "
        f"Repeats of a curve have other splits, and so other deletions. {DELETION_REMINDER}",
    )


def groups_heading(result: MembershipResult, attribute: str) -> str:
    """Say for how many groups the membership advantage differs from that of the others, and for which most."""
    gaps = result.disparities.results
    if not gaps:
        return f"No group by {attribute} is large enough to be measured"
    if result.muted:
        return f"The attack is {NO_BETTER}, so the gaps by {attribute} say nothing"
    clear = [gap_of_group for gap_of_group in gaps if gap_of_group.tests["advantage_gap"].significant]
    heading = f"Statistically significant differences in membership advantage by {attribute}: {len(clear)}"
    heading = f"{heading} of {count(len(gaps))}"
    if not clear:
        return heading
    most = max(clear, key=lambda gap_of_group: abs(gap_of_group.advantage_gap.value))
    return f"{heading}, largest “{most.group}” {gap(most.advantage_gap.value)}"


def release_findings(measured: Mapping[str, Measurement]) -> tuple[Finding, ...]:
    """Return the findings of a release: the best attack's AUC first, then whom it identifies, then groups."""
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
        statements.append(replace(statement, so_what=_DIFFER, to_do=_LOWER) if works else statement)
    if (rate := caught.estimate) is not None:
        point = f"{percent(rate)} of the training records are identified at 1% FPR."
        span = f"95% CI {percent(rate.low)} to {percent(rate.high)}; random guessing: 1.0%."
        statements.append(_finding(caught, point, span))
    if (difference := largest.estimate) is not None:
        point = f"The largest difference between groups in TPR at 1% FPR is {gap(difference.value)}."
        statements.append(_finding(largest, point, f"{largest.attacked} {_span(difference)}."))
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
    for gaps in result.disparities.results:
        rates = {"vd": gaps.recall, "fpr_gap": gaps.false_alarms}
        for name, title in MEASURES.items():
            note = f"greyed out: {NO_BETTER}" if result.muted and name == "vd" else ""
            sides = rates.get(name, (None, None))
            yield _gap_row(gaps.group, title, getattr(gaps, name), sides, gaps.tests[name], note)
    for group, reason in result.disparities.not_measured:
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
    return {
        "group": group,
        "gap": title,
        "group − others": change(gap),
        "rate of the group": share(rates[0]),
        "rate of the others": share(rates[1]),
        "smallest detectable": None if test is None else Quantity(test.smallest_detectable, "points"),
        "p (Holm)": None if test is None else test.p_adjusted,
        "note": note,
    }


def range_rows(result: MembershipResult) -> Iterator[Row]:
    """Yield whom the strongest attack flags of each group, by the score of their own label."""
    for ranges in result.ranges:
        for range_row in ranges.rows:
            yield {
                "group": ranges.group,
                "from": range_row.low,
                "to": range_row.high,
                "flagged of the group": share(range_row.group),
                "flagged of the others": share(range_row.reference),
                "difference": change(range_row.difference),
            }


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
