"""A verdict as a table, and a check's place on the scale that all bullets share."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.estimates import Estimate
from core.policy.checks import CHECKS
from core.policy.verdict import CheckVerdict, Status, Verdict
from core.policy.words import limit_text, source_text
from core.results import Result

if TYPE_CHECKING:
    import pandas

_SPAN = {"columns": 1.0}
"""Half the scale of a limit of 0, by unit; 0.05 for the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bullet(Result):
    """Where a value lies on a scale from 0 over the limit to twice the limit.

    Attributes
    ----------
    value, low, high : float in [0, 1]
        Positions of the value and of the interval the verdict follows from; the limit's is 0.5. Without an interval
        low and high are the value's.
    value_beyond, low_beyond, high_beyond : bool
        Whether it lies off the scale and is shown at its end.
    """

    value: float
    low: float
    high: float
    value_beyond: bool
    low_beyond: bool
    high_beyond: bool


def bullet(row: CheckVerdict) -> Bullet | None:
    """Return the positions of a check's value and interval; None without a limit or without a number.

    The scale of a limit L is 0 to 2L. Of a limit below 0 it is 2L to 0, and of a limit of 0 it is ±0.05, or ±1 column,
    so that larger values are always further to the right.
    """
    estimate = row.measurement.estimate if row.measurement else None
    if row.limit is None or estimate is None or math.isnan(estimate.value) or row.verdict == Status.NOT_RUN:
        return None
    shown = row.decided or estimate
    limit, unit = float(row.limit.value), CHECKS[row.check].unit
    span = abs(limit) or _SPAN.get(unit, 0.05)
    ends = [estimate.value if math.isnan(x) else x for x in (estimate.value, shown.low, shown.high)]
    places = [0.5 + (x - limit) / span / 2 for x in ends]
    value, low, high = (min(1.0, max(0.0, place)) for place in places)
    beyond = [not -1e-9 <= place <= 1 + 1e-9 for place in places]
    return Bullet(value=value, low=low, high=high, value_beyond=beyond[0], low_beyond=beyond[1], high_beyond=beyond[2])


def verdict_frame(verdict: Verdict) -> pandas.DataFrame:
    """Return a verdict as a table: a row a check, in the verdict's order; numbers as shares, nan where there are none.

    `basis` says whether a number was measured, declared, or rests on both; a limit's `source` is never empty.
    """
    import pandas as pd

    return pd.DataFrame([_row(row) for row in verdict.rows])


def _row(row: CheckVerdict) -> dict[str, str | float | int | bool]:
    found, limit = row.measurement, row.limit
    return {
        "item": row.item,
        "check": row.check,
        "title": row.title,
        "verdict": str(row.verdict),
        "required": limit is not None and limit.required,
        "blocks": row.blocks,
        "outcome": str(found.outcome) if found else "",
        "basis": str(found.basis) if found else "",
        **_interval("", found.estimate if found else None, with_value=True),
        "limit": limit.value if limit else math.nan,
        "limit_text": limit_text(row.check, limit.value) if limit else "",
        **_interval("decided_", row.decided),
        "p_value": row.p_value,
        "p_adjusted": row.p_adjusted,
        **_interval("control_", found.control if found else None, with_value=True),
        "control_name": found.control_name if found else "",
        "why": row.why,
        "attacked": found.attacked if found else "",
        "knows": found.knows if found else "",
        "assumptions": " ".join(found.assumptions) if found else "",
        "author": limit.author if limit else "",
        "date": limit.date if limit else "",
        "rationale": limit.rationale if limit else "",
        "source": source_text(limit) if limit else "",
    }


def _interval(prefix: str, estimate: Estimate | None, *, with_value: bool = False) -> dict[str, float]:
    names = (*(("value",) if with_value else ()), "low", "high", "level")
    return {f"{prefix}{name}": math.nan if estimate is None else getattr(estimate, name) for name in names}
