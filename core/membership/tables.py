"""What membership attacks measured, as tables: page, terminal and files show these numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.estimates import Estimate
from core.membership.attacks import REGISTRY
from core.membership.curves import CurveBand
from core.membership.disparity import GapTest
from core.membership.fairpick import FairPickFindings
from core.membership.findings import MEASURES, NO_BETTER
from core.membership.inference import AttackFindings, MembershipFindings
from core.quantities import Quantity, Row, Tables, change, share

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
    found: dict[str, list[Row]] = {"Models": [], "Attacks": [], gaps: [], curves: [], ranges: []}
    for model in models:
        settings = model.settings
        own: dict[str, Any] = {"ε": settings.epsilon} if settings.target == "dp_id3" else {}
        found["Models"].append(own | _model_row(model))
        for attack in model.attacks.values():
            named: dict[str, Any] = {**own, "attack": REGISTRY[attack.name].title}
            found["Attacks"].append(named | _attack_row(attack))
            found[gaps] += [{**named, **row} for row in gap_rows(attack)]
            found[curves] += [{**named, **row} for row in _curve_rows(attack, model.group_names)]
            found[ranges] += [{**named, **row} for row in _range_rows(attack)]
    return found


def _model_row(model: MembershipFindings) -> dict[str, Any]:
    target, private = model.target, model.settings.target == "dp_id3"
    cost = {"ε spent in truth": model.cost if math.isfinite(model.cost) else "no bound"} if private else {}
    return {
        **cost,
        "members": model.n_members,
        "people judged": model.n_judged,
        "accuracy, training": share(target.accuracy_train),
        "accuracy, test": share(target.accuracy_test),
        "majority-class baseline": share(target.majority_test),
    }


def _attack_row(attack: AttackFindings) -> dict[str, Any]:
    return {
        "needs shadow models": "yes" if "shadows" in REGISTRY[attack.name].needs else "no",
        "AUC": Quantity(attack.roc.auc),
        "TPR at 1% FPR": share(attack.roc.tpr_at(0.01)),
        "precision": share(attack.precision),
        "recall": share(attack.recall),
        "note": NO_BETTER if attack.muted else "",
    }


def gap_rows(attack: AttackFindings) -> Iterator[Row]:
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


def _curve_rows(attack: AttackFindings, groups: Sequence[str]) -> Iterator[Row]:
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


def _range_rows(attack: AttackFindings) -> Iterator[Row]:
    for ranges in attack.ranges:
        for one in ranges.rows:
            yield {
                "group": ranges.group,
                "from": one.low,
                "to": one.high,
                "flagged of the group": share(one.group),
                "flagged of the others": share(one.others),
                "difference": change(one.difference),
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


def deleted_rows(found: FairPickFindings) -> tuple[Row, ...]:
    """Return how many rows FairPick deletes of each group."""
    changes = {"largest difference of shares, before": found.largest_before, "after": found.largest_after}
    rows = ({"θ": found.theta, "group": name, "rows deleted": number} for name, number in found.deleted.items())
    return tuple(row | changes | {"dropped negative deletions": found.ignored} for row in rows)
