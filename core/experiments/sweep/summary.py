"""A sweep over seeds: mean, standard deviation and interval of every number of its points.

A seed fixes the splits, the training, the random predictions and the adversaries. The intervals over seeds are
Student's t-intervals for the mean and so speak of repeating the experiment on the same table; seeds share that
table's people, so they say nothing about another table. With one seed there is no such interval: the number then
keeps its own interval over people, and says so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...base.serialize import Result
from ...stats.estimates import Spread, summarize_seeds
from .point import SweepPoint

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepRow(Result):
    """All seeds of one setting and one attacker.

    The target tolerance is disclosed; in `n_true` seeds the model satisfies it. `majority` is the baseline: always
    guess the larger group. Accuracy and balanced accuracy of the adversary's guess before are over
    all seeds; `before_corrected`, those after and the gain seed by seed are over the seeds that have a correction, None
    without any. Of the audited model: accuracy, and that of always predicting the more frequent label (on the test
    records).
    """

    method: str
    metric: str
    tolerance: float
    adversary: str
    protocol: str
    cost: str
    seeds: tuple[int, ...]
    majority: Spread
    before: Spread
    balanced_before: Spread
    before_corrected: Spread | None
    after: Spread | None
    balanced_after: Spread | None
    gain: Spread | None
    n_true: int
    model_train: Spread
    model_test: Spread
    model_majority: Spread
    unfairness_train: Spread
    unfairness_test: Spread
    difference_train: Spread
    difference_test: Spread


_SETTING = ("method", "metric", "tolerance", "adversary", "protocol", "cost")
_OF_GUESSES = ("majority", "before", "before_corrected", "after", "gain", "balanced_before", "balanced_after")
_OF_MODEL = {
    "model_train": "accuracy_train",
    "model_test": "accuracy_test",
    "model_majority": "majority_test",
    "unfairness_train": "achieved",
    "unfairness_test": "unfairness_test",
    "difference_train": "difference_train",
    "difference_test": "difference_test",
}
"""Number of a row -> that of a point."""


def summary_frame(rows: Iterable[SweepRow]) -> pandas.DataFrame:
    """Return one line a row; each number as its mean, and with _sd, _low, _high, _n, _interval."""
    import pandas as pd

    return pd.DataFrame([_line(row) for row in rows])


def summarise(points: Sequence[SweepPoint]) -> tuple[SweepRow, ...]:
    """Gather the points of a sweep, each of another configuration, in any order, setting by setting over seeds.

    They are of one table and one training share, and all private trees of one epsilon.
    """
    groups: dict[tuple[Any, ...], list[SweepPoint]] = defaultdict(list)
    for point in sorted(points, key=lambda p: p.config.seed):
        groups[point.config.method, point.config.metric, point.tolerance].append(point)
    return tuple(
        _row(members, attacker)
        for _, members in sorted(groups.items())
        for attacker in members[0].disclosures
        if all(attacker in member.disclosures for member in members)
    )


def _row(points: Sequence[SweepPoint], attacker: tuple[str, str, str]) -> SweepRow:
    config, disclosures = points[0].config, [point.disclosures[attacker] for point in points]

    def over(records: Sequence[Any], name: str) -> Any:
        values = [getattr(record, name) for record in records]
        if all(value is None for value in values):
            return None
        return summarize_seeds(values, least=-1.0 if name == "gain" else 0.0, most=1.0)

    numbers = {name: over(disclosures, name) for name in _OF_GUESSES if name != "before_corrected"}
    numbers |= {name: over(points, source) for name, source in _OF_MODEL.items()}
    return SweepRow(
        method=config.method,
        metric=config.metric,
        tolerance=config.tolerance,
        adversary=attacker[0],
        protocol=attacker[1],
        cost=attacker[2],
        seeds=tuple(point.config.seed for point in points),
        n_true=sum(d.is_true for d in disclosures),
        before_corrected=over([d for d in disclosures if d.after is not None], "before"),
        **numbers,
    )


def _line(row: SweepRow) -> dict[str, Any]:
    line: dict[str, Any] = {name: getattr(row, name) for name in _SETTING}
    line |= {"n_seeds": len(row.seeds), "n_true": row.n_true}
    for name in (*_OF_GUESSES, *_OF_MODEL):
        spread: Spread | None = getattr(row, name)
        line |= _spread_columns(name, spread)
        line[f"{name}_n"] = 0 if spread is None else spread.seeds
        line[f"{name}_interval"] = "" if spread is None else spread.over
    return line


_ADVERSARIES = {"features": "A", "predictions": "A'"}


def table_three(
    summary: Iterable[SweepRow],
    *,
    protocol: str = "as_published",
    cost: str = "published",
) -> pandas.DataFrame:
    """Return table III: a metric a line, the threshold optimizer's figures, then each adversary's accuracy.

    Columns, each with _sd, _low and _high: model_train, model_test, unfairness_train, unfairness_test,
    difference_train, difference_test; majority; and for A (features) and A' (features and predictions) before, after
    and gain; other adversaries by their names. The paper prints mean and standard deviation, and raises the tolerance
    of 0 until the model keeps it; under "held_out" it stays 0, which often no correction can meet.
    """
    method = "threshold_optimizer"
    rows = [row for row in summary if (row.method, row.protocol, row.cost) == (method, protocol, cost)]
    import pandas as pd

    lines = []
    for metric in dict.fromkeys(row.metric for row in rows):
        tightest = min(row.tolerance for row in rows if row.metric == metric)
        rows_by_adversary = {row.adversary: row for row in rows if (row.metric, row.tolerance) == (metric, tightest)}
        lines.append(_table_line(metric, rows_by_adversary))
    return pd.DataFrame(lines)


def _table_line(metric: str, rows: dict[str, SweepRow]) -> dict[str, Any]:
    first = next(iter(rows.values()))
    line: dict[str, Any] = {"metric": metric, "tolerance": first.tolerance, "n_seeds": len(first.seeds)}
    fairness = ("unfairness_train", "unfairness_test", "difference_train", "difference_test")
    for name in ("model_train", "model_test", *fairness, "majority"):
        line |= _spread_columns(name, getattr(first, name))
    for adversary, row in rows.items():
        for name in ("before", "after", "gain"):
            spread = (row.before_corrected or row.before) if name == "before" else getattr(row, name)
            line |= _spread_columns(f"{_ADVERSARIES.get(adversary, adversary)} {name}", spread)
        line[f"{_ADVERSARIES.get(adversary, adversary)} n"] = 0 if row.after is None else row.after.seeds
    return line


def _spread_columns(name: str, spread: Spread | None) -> dict[str, Any]:
    """Return a number's columns."""
    parts = {name: "value"} | {f"{name}_{part}": part for part in ("sd", "low", "high")}
    return {column: None if spread is None else getattr(spread, part) for column, part in parts.items()}
