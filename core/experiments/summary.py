"""An experiment over seeds: mean, standard deviation and interval of every number of its rows.

A seed fixes the splits, the training, the random predictions and the adversaries. The intervals over seeds are
Student's t-intervals for the mean, of a fact Wilson's for the share of seeds in which it holds, and so speak of
repeating the experiment on the same table; seeds share that table's people, so they say nothing about another table.
With one seed there is no such interval: the number then keeps its own interval over people, and says so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..auditing.policy import estimate_text
from ..base.serialize import Result
from ..stats.estimates import (
    Estimate,
    Spread,
    estimate_columns,
    plain_number,
    proportion,
    summarize_seeds,
)
from ..studies.study import Finding
from .experiment import ExperimentRow, measurable

if TYPE_CHECKING:
    import pandas

SEED = "model.seed"

_RANGES = {"points": (-1.0, 1.0), "percent": (0.0, 1.0), "gap": (0.0, 1.0), "ratio": (0.0, 1.0)}
"""Unit -> smallest and largest value; other units have none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedSummary(Result):
    """All seeds of one setting: numbers by name, and what is reached without the model in the same seeds.

    A number is over the seeds that measured it; one that none did has the reasons why in its place.
    """

    values: dict[str, Any]
    """Varied keys but the seed."""
    seeds: tuple[int, ...]
    numbers: dict[str, Spread]
    baselines: dict[str, Spread]
    reasons: dict[str, str]

    def count(self, name: str) -> int:
        """Return in how many seeds a fact holds, which is 1 or 0 in each."""
        spread = self.numbers[name]
        return round(spread.value * spread.seeds)


def summarise(rows: Sequence[ExperimentRow]) -> tuple[SeedSummary, ...]:
    """Return the summary of each setting: rows with all keys equal but the seed, in the order in which they came."""
    groups: dict[tuple[Any, ...], list[ExperimentRow]] = {}
    for row in rows:
        groups.setdefault(tuple(_setting(row).items()), []).append(row)
    return tuple(_summary(group) for group in groups.values())


def _setting(row: ExperimentRow) -> dict[str, Any]:
    return {key: value for key, value in row.values.items() if key != SEED}


def _summary(rows: Sequence[ExperimentRow]) -> SeedSummary:
    by_name: dict[str, list[ExperimentRow]] = {}
    for row in sorted(rows, key=lambda row: row.seed):
        by_name.setdefault(row.measurement.check, []).append(row)
    numbers = {}
    baselines = {}
    reasons = {}
    for name, named_rows in by_name.items():
        measurements = [row.measurement for row in named_rows]
        measured = [measurement for measurement in measurements if measurement.estimate is not None]
        if measured:
            numbers[name] = _spread(name, [measurement.estimate for measurement in measured])
        controls = [
            measurement.control for measurement in measured if measurement.control is not None
        ]
        if controls:
            baselines[name] = _spread(name, controls)
        notes = dict.fromkeys(
            measurement.reason for measurement in measurements if measurement.reason
        )
        if notes:
            reasons[name] = " ".join(notes)
    return SeedSummary(
        values=_setting(rows[0]),
        seeds=tuple(sorted({row.seed for row in rows})),
        numbers=numbers,
        baselines=baselines,
        reasons=reasons,
    )


def _spread(name: str, estimates: Sequence[Estimate | None]) -> Spread:
    """Return some numbers over seeds; a fact without a width has no interval of its own."""
    _, check = measurable()[name]
    if check.unit == "fact" and len(estimates) > 1:
        return _share(estimates)
    least, most = _RANGES.get(check.unit, (-math.inf, math.inf))
    return summarize_seeds([_plain(estimate) for estimate in estimates], least=least, most=most)


def _share(facts: Sequence[Estimate | None]) -> Spread:
    """Return in which share of several seeds a fact holds, with Wilson's interval."""
    share = proportion(sum(fact.value for fact in facts if fact is not None), len(facts))
    return Spread(
        value=share.value,
        low=share.low,
        high=share.high,
        n=share.n,
        sd=math.nan,
        over="seeds",
        seeds=len(facts),
    )


def _plain(estimate: Estimate | None) -> Estimate | float | None:
    if estimate is not None and estimate.low == estimate.high:
        return estimate.value
    return estimate


def summary_frame(summaries: Sequence[SeedSummary]) -> pandas.DataFrame:
    """Return one line a setting and number: mean, sd, interval and what it is over, seeds, baseline."""
    import pandas as pd

    return pd.DataFrame([line for summary in summaries for line in _lines(summary)])


def _lines(summary: SeedSummary) -> list[Mapping[str, Any]]:
    studies = measurable()
    names = dict.fromkeys((*summary.numbers, *summary.reasons))
    return [
        {
            **summary.values,
            "study": studies[name][0],
            "check": name,
            **_columns("value", summary.numbers.get(name)),
            **_columns("baseline", summary.baselines.get(name)),
            "seeds": summary.numbers[name].seeds if name in summary.numbers else 0,
            "of seeds": len(summary.seeds),
            "interval over": summary.numbers[name].over if name in summary.numbers else "",
            "reason": summary.reasons.get(name, ""),
        }
        for name in names
    ]


def _columns(name: str, spread: Spread | None) -> dict[str, float | None]:
    sd = None
    if spread is not None:
        sd = plain_number(spread.sd)
    return {**estimate_columns(name, spread), f"{name}, sd": sd}


def setting_title(summary: SeedSummary, summaries: Sequence[SeedSummary]) -> str:
    """Return what tells a setting from the others: "method dp_id3, epsilon 3"."""
    varied = [
        key
        for key in summary.values
        if len({str(setting.values.get(key)) for setting in summaries}) > 1
    ]
    parts = [
        f"{key.rpartition('.')[2]} {summary.values[key]}"
        for key in varied
        if summary.values[key] is not None
    ]
    return ", ".join(parts) or "as planned"


def grid_finding(summaries: Sequence[SeedSummary], name: str) -> Finding:
    """Return where a number is smallest and largest over the settings, with their intervals."""
    measured = [summary for summary in summaries if name in summary.numbers]
    if not measured:
        return Finding(point="No setting has this number.")
    smallest = min(measured, key=lambda summary: summary.numbers[name].value)
    largest = max(measured, key=lambda summary: summary.numbers[name].value)
    if all(len(summary.seeds) == 1 for summary in measured):
        over = "people"
    else:
        over = "seeds"
    lines = []
    for end, summary in (("Smallest", smallest), ("Largest", largest)):
        value, interval = estimate_text(name, summary.numbers[name])
        lines.append(f"{end}: {value} ({interval}), {setting_title(summary, summaries)}.")
    return Finding(
        point=" ".join(lines if len(measured) > 1 else lines[:1]),
        evidence=f"Settings measured: {len(measured)}. 95% intervals over {over}, not corrected for their number.",
    )


def grid_announced(n_models: int, *, trained: bool) -> Finding:
    """Return how many models a grid has, and whether any is trained for it."""
    if trained:
        return Finding(
            point=f"Models in the grid: {n_models}.", evidence="Each is trained and attacked once."
        )
    return Finding(
        point=f"Settings in the grid: {n_models}.",
        evidence="The model is given: nothing is trained.",
    )
