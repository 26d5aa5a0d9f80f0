"""What reconstruction correction measured, as tables: page, terminal and files show these numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from core.config import AuditConfig
from core.correction.attribution import MEASURES, STEP_TITLES, Attribution
from core.correction.disclosure import Disclosure
from core.correction.findings import mitigation_rows
from core.correction.knowledge import LeakPoint
from core.quantities import Quantity, Row, Tables, change, share

_TITLES = {"accuracy": "accuracy", "balanced_accuracy": "balanced accuracy", "log_loss": "log-loss (nats a person)"}

MEANING = (
    "Each change is against the step that a line builds on. n/a: no guess agrees with the tolerance.",
    "Corrections by seed: of the published attack A, on the records trained on.",
)
"""What the columns mean."""

DETAILS = ("Corrections by seed", "Accuracy on the attackers' own validation sets")
"""Titles of the long tables."""


def tables(points: Sequence[LeakPoint], leaks: Sequence[Attribution], config: AuditConfig) -> Tables:
    """Return the attribution of the leak over seeds, mitigation and controls."""
    method = config.method.replace("_", " ")
    corrections, held_out = DETAILS
    steps = {f"What each piece of knowledge adds, {leak.attacker} attacker": list(step_rows(leak)) for leak in leaks}
    return {
        **steps,
        f"With mitigation ({method}) and without, paired by seed": mitigation_rows(points, config),
        corrections: [row for point in points for row in _seed_rows(point)],
        held_out: [
            _of_seed(point) | {"attacker": kind, "accuracy": share(right)}
            for point in points
            for kind, right in point.held_out.items()
        ],
    }


def step_rows(leak: Attribution) -> Iterator[Row]:
    """Yield what an attacker reaches at each step, and what the step changes."""
    for step in leak.steps:
        row: dict[str, Any] = {"step": STEP_TITLES[step.step]}
        for measure in MEASURES:
            title, cell = _TITLES[measure], Quantity if measure == "log_loss" else share
            row[title] = cell(step.values.get(measure))
            unit = "" if measure == "log_loss" else "points"
            changed = step.changes.get(measure)
            row[f"{title}, change"] = Quantity(changed, unit, signed=True) if step.changes else None
        row["builds on"] = STEP_TITLES[step.builds_on] if step.builds_on else ""
        row |= {"seeds": step.n_seeds, "interval over": step.values[MEASURES[0]].over}
        yield row | {"note": " ".join(step.reasons)}


def disclosure_row(told: Disclosure) -> dict[str, Any]:
    """Return a correction of one guess."""
    return {
        "metric": told.metric,
        "disclosed tolerance": told.told,
        "tolerance used": told.used,
        "model's unfairness": told.achieved,
        "baseline": share(told.majority),
        "accuracy before": share(told.before),
        "accuracy after": share(told.after),
        "gain": change(told.gain),
        "balanced accuracy before": share(told.balanced_before),
        "balanced accuracy after": share(told.balanced_after),
        "guesses changed": told.n_changed,
        "correct changes": told.n_right,
        "exponent": told.exponent,
        "solver status": str(told.certificate.status),
    }


def _seed_rows(point: LeakPoint) -> Iterator[Row]:
    corrections = {
        "with the model's predictions": point.real,
        "with permuted predictions": point.permuted,
        "with the true constraint": point.unknown.trained,
        "with the estimated constraint": point.unknown.estimated,
    }
    for name, told in corrections.items():
        if told is not None:
            yield _of_seed(point) | {"correction": name} | disclosure_row(told)


def _of_seed(point: LeakPoint) -> dict[str, Any]:
    return {"seed": point.config.seed, "method": point.config.method}
