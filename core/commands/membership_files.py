"""What ``python -m core membership`` writes to files: a row an attack and group, and everything as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from core.commands.running import interval_cells
from core.membership import AttackFindings, CurveBand, GapResult, MembershipFindings
from core.results import plain

if TYPE_CHECKING:
    from core.commands.membership_work import Audit

_RATES = (0.001, 0.01, 0.1)
"""FPRs at which the JSON file has the TPR."""


def records(audit: Audit, dataset: str) -> list[dict[str, Any]]:
    """Return the rows of the CSV file: privacy budget, attack and group, without repeats."""
    return [
        row
        for found, cost in zip(audit.findings, audit.costs, strict=True)
        for attack in found.attacks.values()
        for row in _rows(found, cost, attack, dataset)
    ]


def _rows(found: MembershipFindings, cost: float, attack: AttackFindings, dataset: str) -> Iterator[dict[str, Any]]:
    settings = found.settings
    shared: dict[str, Any] = {
        "dataset": dataset,
        "attribute": found.attribute,
        "target": settings.target,
        "epsilon": settings.epsilon,
        "true cost": cost,
        "depth": settings.max_depth,
        "seed": settings.seed,
    }
    for name in ("accuracy_train", "accuracy_test", "majority_test"):
        shared |= interval_cells(name.replace("_", " "), getattr(found.target, name))
    shared |= {"attack": attack.name, **interval_cells("auc", attack.roc.auc), "muted": attack.muted}
    shared |= {**interval_cells("precision", attack.precision), **interval_cells("recall", attack.recall)}
    for low in attack.low_fpr:
        yield shared | {"group": low.group, "others": low.others} | _gaps(attack, low)


def _gaps(attack: AttackFindings, low: GapResult) -> dict[str, Any]:
    """Return the gaps of one group; empty where they were not measured."""
    results = () if attack.disparities is None else attack.disparities.results
    own = next((result for result in results if result.group == low.group), None)
    row: dict[str, Any] = {}
    for name in ("vd", "fpr_gap", "advantage_gap"):
        told = name.replace("_", " ")
        row |= interval_cells(told, None if own is None else getattr(own, name))
        row[f"{told} p"] = None if own is None else own.tests[name].p_adjusted
    row |= interval_cells("tpr gap at 1% fpr", low.estimate)
    return row | {"tpr gap at 1% fpr p": None if low.test is None else low.test.p_adjusted, "reason": low.reason}


def everything(audit: Audit, dataset: str) -> dict[str, Any]:
    """Return the content of the JSON file; the text "inf" stands for an infinite privacy budget."""
    first = audit.findings[0]
    return {
        "dataset": dataset,
        "title": first.title,
        "attribute": first.attribute,
        "groups": list(first.group_names),
        "people": audit.people.n,
        "trained on": first.n_members,
        "judged": first.n_judged,
        "notes": list(audit.people.notes),
        "targets": [_target(found, cost) for found, cost in zip(audit.findings, audit.costs, strict=True)],
        "repeats": audit.repeats,
        "over epsilon": [_band(band, "epsilon") for band in audit.over_epsilon],
        "fairpick": None if audit.deletions is None else plain(audit.deletions.fairpick),
        "over theta": [
            {"epsilon": _number(epsilon), "bands": [_band(band, "theta") for band in bands]}
            for epsilon, bands in audit.over_theta
        ],
    }


def _target(found: MembershipFindings, cost: float) -> dict[str, Any]:
    settings = plain(found.settings) | {"epsilon": _number(found.settings.epsilon)}
    attacks = {name: _attack(attack) for name, attack in found.attacks.items()}
    return {"settings": settings, "true cost": _number(cost), "target": plain(found.target), "attacks": attacks}


def _attack(attack: AttackFindings) -> dict[str, Any]:
    """Return an attack's findings; of its curve the area and a few points."""
    told: dict[str, Any] = plain(attack)
    curve = attack.roc
    points = {f"{rate:g}": plain(curve.tpr_at(rate)) | {"reason": curve.resolution_reason(rate)} for rate in _RATES}
    told["roc"] = {"auc": plain(curve.auc), "TPR at FPR": points}
    told["roc_by_group"] = [plain(own.auc) for own in attack.roc_by_group]
    return told


def _band(band: CurveBand, at: str) -> dict[str, Any]:
    return {at: _number(band.at), "variant": band.variant, "values": plain(band.values)}


def _number(value: float) -> float | str:
    return "inf" if math.isinf(value) else value
