"""The figures and the table of Ferry et al. (2023) as data, made from a summary.

`recovery_rows` is figures 2-4 (and 9-11 for the other adversary), `model_rows` the curves of appendix B, and
`table_three` table III. Bands in the paper are standard deviations over 100 seeds; here standard deviation and
t-interval stand side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from core.errors import InputError
from core.sweep.configurations import SWEPT_METHODS
from core.sweep.summary import Spread, SweepRow, SweepSummary

if TYPE_CHECKING:
    import pandas

_FAIRNESS = ("unfairness_train", "unfairness_test", "difference_train", "difference_test")

_ADVERSARIES = {"features": "A", "predictions": "A'"}


def recovery_rows(
    summary: SweepSummary, *, adversary: str, protocol: str = "held_out", cost: str = "published"
) -> pandas.DataFrame:
    """Return accuracy before and after correction against the tolerance, for the methods that are swept over it.

    Columns: method, metric, tolerance, n_seeds, n_true, and mean, _sd, _low, _high, _n, _interval of majority,
    before, after, gain.
    """
    names = ("majority", "before", "after", "gain")
    chosen = _chosen(summary, adversary=adversary, protocol=protocol, cost=cost)
    return _frame([row for row in chosen if row.method in SWEPT_METHODS], names)


def model_rows(summary: SweepSummary) -> pandas.DataFrame:
    """Return accuracy and fairness of every audited model on training and test records, with the majority baseline.

    Columns: method, metric, tolerance, n_seeds, and mean, _sd, _low, _high, _n, _interval of model_train, model_test,
    model_majority, unfairness_train, unfairness_test, difference_train, difference_test.
    """
    names = ("model_train", "model_test", "model_majority", *_FAIRNESS)
    one: dict[tuple[str, str, float], SweepRow] = {}  # a model's figures are the same in the rows of all attackers
    for row in summary.rows:
        one.setdefault((row.method, row.metric, row.tolerance), row)
    return _frame(list(one.values()), names).drop(columns="n_true")


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
    swept appears with its smallest tolerance.

    Raises
    ------
    InputError
        If the sweep has no point of `method`.
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


def _chosen(summary: SweepSummary, *, adversary: str, protocol: str, cost: str) -> list[SweepRow]:
    wanted = (adversary, protocol, cost)
    rows = [row for row in summary.rows if (row.adversary, row.protocol, row.cost) == wanted]
    if not rows:
        known = sorted({" / ".join((row.adversary, row.protocol, row.cost)) for row in summary.rows})
        raise InputError(f"The attacker must be one of {', '.join(known)}, got {' / '.join(wanted)}.")
    return rows


def _frame(rows: Sequence[SweepRow], names: Sequence[str]) -> pandas.DataFrame:
    frame = SweepSummary(rows=tuple(rows), level=0.95).to_frame()
    columns = ["method", "metric", "tolerance", "n_seeds", "n_true"]
    for name in names:
        columns += [name, *(f"{name}_{part}" for part in ("sd", "low", "high", "n", "interval"))]
    return frame.reindex(columns=columns)
