"""An audit whose every sentence, detail and table tells the counts of its groups, as careless messages would."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from core.estimates import Estimate, proportion
from core.model_card import ReleasedPeople
from core.release_audit import ReleaseAudit
from core.release_audit.result import GroupSummary
from tests.report_people import people_with
from tests.samples_report import group, sample

Cells = tuple[int, ...]
"""True positives, false negatives, false positives, true negatives on the test records; labelled and not elsewhere."""

FILE = "people of the northern branches, spring and summer, final version 3.csv"


def groups_of(cells: dict[str, Cells]) -> tuple[GroupSummary, ...]:
    """Return the groups' summaries."""
    return tuple(
        group(name, (tp, fn, fp, tn), tp + fn + labelled, tp + fn + fp + tn + labelled + not_labelled)
        for name, (tp, fn, fp, tn, labelled, not_labelled) in cells.items()
    )


def told(cells: dict[str, Cells]) -> str:
    """Return a sentence with every count of every group, and the rates they give."""
    parts = []
    for name, (tp, fn, fp, tn, *_) in cells.items():
        n = tp + fn + fp + tn
        rates = [f"{k}/{n} is {100 * k / n:.1f}% or {k / n:.4f}" for k in (tp, fn, fp, tn, tp + fn, tp + fp) if n]
        parts.append(f"of {name} got {n}, {tp}, {fn}, {fp}, {tn}: {'; '.join(rates)}")
    return f"It needs 10 people, {' and '.join(parts)}, in '{FILE[:38]}…' of /home/my files/{FILE}."


def people_in(cells: dict[str, Cells]) -> ReleasedPeople:
    """Return the test people, by label and prediction; what a reader makes of each does not hang on the truth."""
    patterns = [(1, 1), (1, 0), (0, 1), (0, 0)]
    rows = [(y, p, g) for i, (y, p) in enumerate(patterns) for g, c in enumerate(cells.values()) for _ in range(c[i])]
    labels, predictions, sensitive = (np.array(column, dtype=np.uint8) for column in zip(*rows, strict=True))
    prior = np.random.default_rng(5).dirichlet(np.ones(len(cells)), size=len(rows))
    return people_with(tuple(cells), predictions, labels, sensitive, prior)


def leaky(cells: dict[str, Cells]) -> ReleaseAudit:
    """Return the audit."""
    groups, sentence = groups_of(cells), told(cells)
    whole = sample(groups)
    sizes = [g.test_rate.n for g in groups]
    larger = proportion(max(sizes), max(1, sum(sizes)))
    measurements = tuple(_measurement(m, sentence, larger, groups) for m in whole.measurements)
    by_check = {m.check: m for m in measurements}
    rows = tuple(
        dataclasses.replace(
            row,
            why=sentence,
            measurement=by_check[row.check],
            decided=None if row.decided is None else by_check[row.check].estimate,
            p_value=min(1.0, sizes[0] / 1000) if row.decided else row.p_value,
        )
        for row in sample().verdict.rows  # the same whatever the cells are
    )
    return dataclasses.replace(
        whole,
        plan=dataclasses.replace(
            whole.plan, title=FILE, data=dataclasses.replace(whole.plan.data, file=f"my files/{FILE}")
        ),
        data=dataclasses.replace(
            whole.data, title=FILE, source=sentence, split=sentence, notes=(sentence, f"{sizes[0]} records are twice.")
        ),
        model=dataclasses.replace(whole.model, notes=(sentence,), achieved=by_check["unfairness"].estimate.value / 2),
        measurements=measurements,
        verdict=dataclasses.replace(whole.verdict, rows=rows, headline=sentence, detail=sentence),
        tables={
            **whole.tables,
            "Where the leak comes from": (
                {"attacker": "The strong attacker", "step": "Majority guess", "accuracy": larger.value},
            ),
            "AttriGuard": ({"attacker": "None", "budget": 1.0, "accuracy": larger.value, "balanced accuracy": 0.5},),
            "Membership attacks": tuple(
                {"attack": "LiRA", "AUC": 0.6, "people": name, "TPR at 1% FPR": rate}
                for name, rate in (("everybody", 0.1), ("others", larger.value), (groups[0].group, larger.low))
            ),
            "Some table": ({"people": sizes[0], "note": sentence},),
            sentence: ({"people": 15375, "note": "nothing"},),
        },
    )


def _measurement(measurement: Any, sentence: str, larger: Estimate, groups: tuple[GroupSummary, ...]) -> Any:
    changed: dict[str, Any] = {}
    if measurement.check in ("answers_excess", "attriguard_exposure"):
        changed = {"outcome": "done", "estimate": larger, "freedom": None}
    if measurement.check == "membership_gap":
        rate = groups[0].test_rate
        changed = {"estimate": proportion(round(rate.n * (rate.value if rate.n else 0) / 2), max(1, rate.n))}
    done = changed.get("outcome", measurement.outcome) == "done"
    if measurement.check in ("attribute_excess", "correction_gain", "attriguard_exposure"):
        changed["control"] = larger
    return dataclasses.replace(
        measurement,
        **changed,
        control_name=sentence,
        attacked=sentence,
        knows=sentence,
        assumptions=(sentence,),
        reason="" if done else sentence,
        details={sentence: larger.value},
    )
