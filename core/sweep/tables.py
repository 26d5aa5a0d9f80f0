"""Table III of Ferry et al. (2023) as data, made from a summary, with t-intervals beside the standard deviations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.errors import InputError
from core.sweep.summary import Spread, SweepRow, SweepSummary

if TYPE_CHECKING:
    import pandas

_FAIRNESS = ("unfairness_train", "unfairness_test", "difference_train", "difference_test")

_ADVERSARIES = {"features": "A", "predictions": "A'"}


def table_three(
    summary: SweepSummary,
    *,
    method: str = "threshold_optimizer",
    protocol: str = "as_published",
    cost: str = "published",
) -> pandas.DataFrame:
    """Return table III: a metric a line, the audited model's figures, then each adversary's accuracy.

    Columns, each with _sd, _low and _high: model_train, model_test, unfairness_train, unfairness_test,
    difference_train, difference_test; majority; and for A (features) and A' (features and predictions) before, after
    and gain; other adversaries by their names. The paper prints mean and standard deviation, and raises the tolerance
    of 0 until the model keeps it; under "held_out" it stays 0, which often no correction can meet. A method that was
    swept appears with its smallest tolerance. Raises `InputError` if the sweep has no point of `method`.
    """
    rows = [row for row in summary.rows if (row.method, row.protocol, row.cost) == (method, protocol, cost)]
    if not rows:
        raise InputError(f"Table III needs points of {method} under {protocol} with the cost {cost}, got none.")
    import pandas as pd

    lines = []
    for metric in dict.fromkeys(row.metric for row in rows):
        least = min(row.tolerance for row in rows if row.metric == metric)
        here = {row.adversary: row for row in rows if (row.metric, row.tolerance) == (metric, least)}
        lines.append(_table_line(metric, here))
    return pd.DataFrame(lines)


def _table_line(metric: str, rows: dict[str, SweepRow]) -> dict[str, Any]:
    some = next(iter(rows.values()))
    line: dict[str, Any] = {"metric": metric, "tolerance": some.tolerance, "n_seeds": len(some.seeds)}
    for name in ("model_train", "model_test", *_FAIRNESS, "majority"):
        line |= _told(name, getattr(some, name))
    for adversary, row in rows.items():
        for name in ("before", "after", "gain"):
            spread = (row.before_corrected or row.before) if name == "before" else getattr(row, name)
            line |= _told(f"{_ADVERSARIES.get(adversary, adversary)} {name}", spread)
        line[f"{_ADVERSARIES.get(adversary, adversary)} n"] = 0 if row.after is None else row.after.n
    return line


def _told(name: str, spread: Spread | None) -> dict[str, Any]:
    parts = ("sd", "low", "high")
    return {name: None if spread is None else spread.mean} | {
        f"{name}_{part}": None if spread is None else getattr(spread, part) for part in parts
    }
