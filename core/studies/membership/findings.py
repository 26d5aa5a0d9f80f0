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
from ...stats.estimates import (
    LEVEL,
    Estimate,
    certain,
    count,
    epsilon_text,
    gap,
    level_text,
    percent,
    ratio,
    strongest,
)
from ...stats.quantities import Quantity, Row, Tables, change, share
from ..study import Finding, Measurement
from .attacks import ATTACKS, REGISTRY
from .curves import CurveBand, CurvePoint, fairpick_differences, steady, summarise_curve
from .disparity import COMPLEMENT, DisparityResult, GapTest
from .fairpick import DELETION_REMINDER, FairPickFindings
from .inference import AttackResult, MembershipFindings
from .roc import is_muted
from .settings import MembershipSettings
from .targets import most_caught

NO_BETTER = "not significantly better than random guessing"
_DIFFER = "The model's outputs differ between members and non-members."
_LOWER = "Train a simpler model, or one with DP training noise, until the AUC is near 0.5."
_ON_THE_PAGE = {
    "dp_id3": "Lower ε or depth with the sliders below.",
    **dict.fromkeys(("decision_tree", "random_forest"), "Lower the depth below, or attack a private tree."),
    "logistic": "Compare it with a private tree at Model under attack.",
    "audited": "Choose the private tree with a small ε on the Model page.",
    GIVEN_PREDICTIONS: "Train your model with less depth or with DP training noise.",
}
"""Model under attack -> what lowers its risk, by the controls of the page."""

MEASURES = {"vd": "VD", "fpr_gap": "FPR gap", "advantage_gap": "Membership-advantage gap"}
"""Gap -> what it is called."""

_SMALL, _LARGE, _PAST_TELLING = 2.0, 6.9, math.log(1e6)
"""Exponents below which a factor has three decimals, from which on it has none, and from which on it is a power."""


class MembershipSummary:
    """What is read in an audit as far as it has come: one attack's verdicts, the chosen group beside the others.

    The attack is the published attack, until it is there the first with verdicts. `sides` are the group and the others
    as they are called in the table; `result` is None where the group is too small for one or no attack gives verdicts.
    `epsilon` is ∞ for models that have no budget.
    """

    def __init__(self, audit: MembershipFindings, chosen: MembershipSettings) -> None:
        self.audit, self.chosen = audit, chosen
        self.epsilon = chosen.epsilon if chosen.target in ("dp_id3", "audited") else math.inf
        decided = [attack for attack in audit.attacks.values() if attack.disparities is not None]
        self.attack = audit.attacks.get("network") or next(iter(decided or audit.attacks.values()))
        self.result: DisparityResult | None = None
        self.why_not = ""
        names, measured = audit.group_names, self.attack.disparities
        self.many = len(names) > 2
        name = names[chosen.group if self.many else 1]
        if measured is not None:
            self.why_not = dict(measured.not_measured).get(name, "")
            self.result = next((result for result in measured.results if result.group == name), None)
        self.sides = (name, COMPLEMENT if self.many else names[0])
        self.names = (f"“{name}”", COMPLEMENT) if self.many else self.sides

    @property
    def phrase(self) -> str:
        """What the attack is called inside a sentence."""
        return REGISTRY[self.attack.name].phrase

    @property
    def rates(self) -> tuple[float, float]:
        """Shares of members and of non-members whom the attack calls members; there is a result."""
        assert self.result is not None
        tpr, fpr = (
            sum(rate.n * rate.value for rate in rates) / sum(rate.n for rate in rates)
            for rates in (self.result.recall, self.result.false_alarms)
        )
        return tpr, fpr


def significant(estimate: Estimate) -> bool:
    """Whether an interval leaves out 0."""
    return estimate.low > 0.0 or estimate.high < 0.0


def strongest_attack(audit: MembershipFindings) -> AttackResult:
    """Return the attack with the largest AUC, one that does better than chance if there is one."""
    return max(audit.attacks.values(), key=lambda attack: (not attack.muted, attack.roc.auc.value))


def best_auc(audit: MembershipFindings) -> Estimate:
    """Return the AUC of the best attack with an interval that holds although it was picked among several."""
    best = strongest_attack(audit).roc.auc
    areas = {name: attack.roc.auc for name, attack in audit.attacks.items() if attack.roc.auc.n}
    if len(areas) < 2:
        return best
    adjusted = strongest(areas, within=(0.0, 1.0))[1]
    return replace(best, low=min(best.low, adjusted.low), high=max(best.high, adjusted.high))


def succeeds(audit: MembershipFindings) -> bool:
    """Return whether the best attack beats random guessing, although it was picked among several (Bonferroni)."""
    return not strongest_attack(audit).muted and best_auc(audit).low > 0.5


def _auc_text(auc: Estimate, attacks: int) -> str:
    """Write the AUC that decides: "0.530 (95% CI 0.495 to 0.556 after adjusting for 9 attacks)"."""
    if math.isnan(auc.value) or attacks < 2:
        return ratio(auc)
    return f"{ratio(auc)[:-1]} after adjusting for {count(attacks)} attacks)"


def findings(read: MembershipSummary, *, sliders: bool = False) -> tuple[Finding, Finding]:
    """Return what the attacks on one model found, and what its privacy budget guarantees."""
    return headline(read, sliders=sliders), Finding(point=guarantee(read))


def headline(read: MembershipSummary, *, sliders: bool = False) -> Finding:
    """Return whether membership inference succeeds, and about which group; `sliders` are those of the page below it."""
    audit, epsilon = read.audit, read.epsilon
    best = strongest_attack(audit)
    name, auc = REGISTRY[best.name].phrase, best_auc(audit)
    at = f" at ε = {epsilon_text(epsilon)}" if math.isfinite(epsilon) else ""
    if succeeds(audit):
        point = f"Membership inference beats random guessing{at} ({name}: AUC {auc.value:.3f})"
        point = f"{point}{_between_groups(read)}."
        so_what, to_do = _found_at(best.roc.tpr_at(0.1)), _remedy(read, sliders)
    else:
        point, so_what, to_do = f"Membership inference is {NO_BETTER}{at} ({name}: AUC {auc.value:.3f}).", "", ""
    return Finding(
        point=point,
        evidence=" ".join([*_gap_sentences(read), _areas(audit), *_beside_the_report(read)]),
        so_what=so_what,
        to_do=to_do,
        estimate=auc,
        baseline=certain(0.5, auc.n),
        attacker_knows=REGISTRY[best.name].knows(scores=True, shadows=audit.settings.shadows),
    )


def _beside_the_report(read: MembershipSummary) -> list[str]:
    """Say why a report on the same model may name another attack as the best; nothing of models trained here."""
    if read.chosen.target not in ("audited", GIVEN_PREDICTIONS):
        return []
    return [
        f"Attacked here are {count(read.audit.n_targets)} people. The report attacks all training and test records, by "
        "attacks of its own: another one may be the best there."
    ]


def _remedy(read: MembershipSummary, sliders: bool) -> str:
    """Return what lowers the risk of the model under attack, and how accurate that is now."""
    target, quality = read.chosen.target, read.audit.target
    how = _ON_THE_PAGE[target] if sliders else _LOWER
    now = f"Accuracy on unseen people is now {percent(quality.accuracy_test)} (majority class "
    price = "; “Accuracy over ε” shows the price" * (sliders and target == "dp_id3")
    return f"{how} {now}{percent(quality.majority_test)}){price}."


def _found_at(tpr: Estimate) -> str:
    """Return how many members are identified at a false-positive rate of 10%, where there are enough people."""
    if math.isnan(tpr.value):
        return _DIFFER
    return f"At 10% false positives the attack identifies {percent(tpr)} of members; random guessing identifies 10%."


def _between_groups(read: MembershipSummary) -> str:
    """Return the end of the headline: for which group the attack does better."""
    result, (group, complement) = read.result, read.names
    if result is None:
        return f"; the gaps between {group} and {complement} cannot be measured in this table" if read.why_not else ""
    if read.attack.muted:
        return f", but {read.phrase} is {NO_BETTER}: its gap between {group} and {complement} says nothing"
    if not _has_significant_gap(read, result):
        least = f"smallest detectable: {100 * result.tests['advantage_gap'].smallest_detectable:.1f} points"
        return f", with no statistically significant difference between {group} and {complement} ({least})"
    real = result.advantage_gap.value
    return f", and reveals more about {group if real > 0 else complement}: {abs(100 * real):.1f} points"


def _has_significant_gap(read: MembershipSummary, result: DisparityResult) -> bool:
    """Whether the gap in membership advantage differs significantly from 0, with many groups after Holm too."""
    return significant(result.advantage_gap) and not (read.many and not result.tests["advantage_gap"].significant)


def _gap_sentences(read: MembershipSummary) -> list[str]:
    """Return the gaps behind the headline, or why there are none."""
    result, (group, complement) = read.result, read.names
    if result is None:
        return [read.why_not] if read.why_not else []
    if read.attack.muted:
        return [f"VD would read {gap(result.vd.value)}."]
    real = result.advantage_gap
    return [f"Membership-advantage gap, {group} − {complement}: {gap(real.value)} ({_span(real)})."]


def _areas(audit: MembershipFindings) -> str:
    """Return the AUC of the best attack and of the published one, and why that or one with shadows was not run."""
    best = strongest_attack(audit).name
    attacks = sum(attack.roc.auc.n > 0 for attack in audit.attacks.values())
    areas = [f"{REGISTRY[best].title}: AUC {_auc_text(best_auc(audit), attacks)}."]
    if best != "network" and "network" in audit.attacks:
        areas.append(f"{REGISTRY['network'].title}: AUC {ratio(audit.attacks['network'].roc.auc)}.")
    attack_names = [name for name in ATTACKS if name == "network" or "shadows" in REGISTRY[name].needs]
    return " ".join([*areas, *dict.fromkeys(audit.not_run[name] for name in attack_names if name in audit.not_run)])


def _span(estimate: Estimate) -> str:
    return f"{level_text(estimate.level)} CI {gap(estimate.low)} to {gap(estimate.high)}"


def guarantee(read: MembershipSummary) -> str:
    """Return what the privacy budget guarantees, beside what was measured."""
    epsilon, result = read.epsilon, read.result
    measured = ""
    if result is not None:
        tpr, fpr = read.rates
        measured = f" Measured, by {read.phrase}: TPR {percent(tpr)}, FPR {percent(fpr)}."
    if read.chosen.target == GIVEN_PREDICTIONS:
        return f"No DP guarantee: nothing is known of how this model was trained.{measured}"
    if not math.isfinite(epsilon):
        private = read.chosen.target == "dp_id3"
        return f"No DP guarantee ({'ε = ∞' if private else 'trained without a privacy budget'}).{measured}"
    if read.chosen.accounting == "naive":
        return f"No DP guarantee: the naive accounting does not keep ε = {epsilon_text(epsilon)}.{measured}"
    if read.chosen.theta < 1.0:
        return (
            "FairPick looks at everybody's record before the private training starts, so the guarantee of "
            f"ε = {epsilon_text(epsilon)} does not hold for what is released here.{measured}"
        )
    once, twice = _factor(epsilon), _factor(2 * epsilon)
    most = 1.0 if result is None else math.ceil(1000.0 * most_caught(read.rates[1], epsilon)) / 1000.0
    allowed = f"at most {percent(most, decimals=1)}" if most < 1.0 else "practically 100%"
    return (
        f"ε = {epsilon_text(epsilon)} guarantees that no outcome is more than {once} times as likely with one person's "
        "record as without it. Here somebody else takes the person's place, which doubles ε. No attack can be expected "
        f"to flag members more than {twice} times as often as non-members.{measured}"
        + ("" if result is None else f" At this FPR the guarantee allows a TPR of {allowed}.")
    )


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


def deletions(audit: MembershipFindings) -> Finding:
    """Say whom FairPick deletes before the training."""
    deletion = audit.fairpick
    if deletion is None:
        return Finding(point="At θ = 1 FairPick deletes nobody")
    rows = sum(deletion.deleted.values())
    return Finding(
        point=f"At θ = {deletion.theta:g} FairPick deletes {count(rows)} "
        f"of {count(rows + audit.n_members)} training rows",
        evidence=f"The largest difference between the group proportions of a cluster falls from "
        f"{percent(deletion.largest_before)} to {percent(deletion.largest_after)}. "
        f"Repeats of a curve have other splits, and so other deletions. {DELETION_REMINDER}",
    )


def groups_heading(attack: AttackResult, attribute: str) -> str:
    """Say for how many groups the membership advantage differs from that of the others, and for which most."""
    results = attack.disparities.results if attack.disparities is not None else ()
    if not results:
        return f"No group by {attribute} is large enough to be measured"
    if attack.muted:
        return f"The attack is {NO_BETTER}, so the gaps by {attribute} say nothing"
    clear = [result for result in results if result.tests["advantage_gap"].significant]
    heading = f"Statistically significant differences in membership advantage by {attribute}: {len(clear)}"
    heading = f"{heading} of {count(len(results))}"
    if not clear:
        return heading
    most = max(clear, key=lambda result: abs(result.advantage_gap.value))
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

RATES = (0.001, 0.01, 0.1, 0.5)
"""FPRs at which a ROC curve is read."""

MEANING = (
    "VD: gap in TPR. FPR gap: the same among non-members. Membership-advantage gap: VD − FPR gap, net of false "
    "positives.",
    "p: of a permutation test, after Holm's correction over the groups compared. Smallest detectable: a gap that a "
    "sample of this size finds in four of five cases.",
)
"""What the columns of gaps mean."""


DETAILS = ("ROC curves", "VD by predicted probability")
"""Titles of the long tables."""


def tables(models: Sequence[MembershipFindings]) -> Tables:
    """Return what was measured on models that differ in their privacy budget, or on one."""
    gaps, (curves, ranges) = "Gaps between groups", DETAILS
    rows_by_table: dict[str, list[Row]] = {"Models": [], "Attacks": [], gaps: [], curves: [], ranges: []}
    for model in models:
        settings = model.settings
        model_cells: dict[str, Any] = {"ε": settings.epsilon} if settings.target == "dp_id3" else {}
        rows_by_table["Models"].append(model_cells | _model_row(model))
        for attack in model.attacks.values():
            attack_cells: dict[str, Any] = {**model_cells, "attack": REGISTRY[attack.name].title}
            rows_by_table["Attacks"].append(attack_cells | _attack_row(attack))
            rows_by_table[gaps] += [{**attack_cells, **row} for row in gap_rows(attack)]
            rows_by_table[curves] += [{**attack_cells, **row} for row in _curve_rows(attack, model.group_names)]
            rows_by_table[ranges] += [{**attack_cells, **row} for row in _range_rows(attack)]
    return rows_by_table


def _model_row(model: MembershipFindings) -> dict[str, Any]:
    target, private = model.target, model.settings.target == "dp_id3"
    cost = {"ε spent in truth": model.cost if math.isfinite(model.cost) else "no bound"} if private else {}
    return {
        **cost,
        "members": model.n_members,
        "people judged": model.n_targets,
        "accuracy, training": share(target.accuracy_train),
        "accuracy, test": share(target.accuracy_test),
        "majority-class baseline": share(target.majority_test),
    }


def _attack_row(attack: AttackResult) -> dict[str, Any]:
    return {
        "needs shadow models": "yes" if "shadows" in REGISTRY[attack.name].needs else "no",
        "AUC": Quantity(attack.roc.auc),
        "TPR at 1% FPR": share(attack.roc.tpr_at(0.01)),
        "precision": share(attack.precision),
        "recall": share(attack.recall),
        "note": NO_BETTER if attack.muted else "",
    }


def gap_rows(attack: AttackResult) -> Iterator[Row]:
    """Yield each group's gaps, with the rates and tests behind them, or why there are none."""
    measured = attack.disparities
    for result in () if measured is None else measured.results:
        rates = {"vd": result.recall, "fpr_gap": result.false_alarms}
        for name, title in MEASURES.items():
            note = f"greyed out: {NO_BETTER}" if attack.muted and name == "vd" else ""
            sides = rates.get(name, (None, None))
            yield _gap_row(result.group, title, getattr(result, name), sides, result.tests[name], note)
    for group, reason in () if measured is None else measured.not_measured:
        yield _gap_row(group, MEASURES["vd"], None, (None, None), None, reason)
    for low in attack.low_fpr:
        yield _gap_row(
            low.group, f"Gap in TPR at {100 * low.fpr:g}% FPR", low.estimate, low.rates, low.test, low.reason
        )


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


def _curve_rows(attack: AttackResult, groups: Sequence[str]) -> Iterator[Row]:
    """Yield the TPR at some FPRs, of everybody and of each group."""
    for people, curve in (("all", attack.roc), *zip(groups, attack.roc_by_group, strict=True)):
        for rate in RATES:
            yield {
                "people": people,
                "FPR": share(rate),
                "TPR": share(curve.tpr_at(rate)),
                "members": curve.n_members,
                "non-members": curve.n_outsiders,
                "AUC": Quantity(curve.auc),
                "note": curve.resolution_reason(rate).removeprefix("n/a, "),
            }


def _range_rows(attack: AttackResult) -> Iterator[Row]:
    for ranges in attack.ranges:
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


def deleted_rows(deletion: FairPickFindings) -> tuple[Row, ...]:
    """Return how many rows FairPick deletes of each group."""
    changes = {"largest difference of shares, before": deletion.largest_before, "after": deletion.largest_after}
    rows = ({"θ": deletion.theta, "group": name, "rows deleted": number} for name, number in deletion.deleted.items())
    return tuple(row | changes for row in rows)
