"""Charts that compare: methods beside each other, and forests an attacker has tried."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.estimates import Estimate
from core.figures.correction import dumbbells, recovery_range, ticks
from core.figures.drawing import Drawing, Palette, bare, cells, line, value_axis
from core.figures.trained import as_estimate
from core.models import METHOD_TITLES
from core.wording import percent

if TYPE_CHECKING:
    from core.adversaries import TunedForest
    from core.correction import MoreDisclosed
    from core.sweep import SweepRow


def draw_methods(rows: Sequence[SweepRow], palette: Palette) -> Drawing:
    """Draw what is recovered before and after the correction, one row a method."""
    ordered = sorted(rows, key=lambda row: list(METHOD_TITLES).index(row.method))
    told: list[tuple[str, Estimate, Estimate | None]] = [
        (
            METHOD_TITLES[row.method],
            as_estimate(row.before_corrected or row.before),
            None if row.after is None else as_estimate(row.after),
        )
        for row in ordered
    ]
    sketch = dumbbells(told, [e for _, before, after in told for e in (before, after) if e is not None], palette)
    table = [{"method": name, **cells("before", before), **cells("after", after)} for name, before, after in told]
    said = "; ".join(
        f"{name} {percent(before)} before, {'no correction' if after is None else percent(after)} after"
        for name, before, after in told
    )
    return Drawing.of(sketch, f"People recovered, by fair learning method: {said}.", table)


_KNOWN = {
    "bound": "the bound",
    "bound_shares": "bound and group shares",
    "exact": "the exact unfairness",
    "exact_shares": "exact and group shares",
    "all_metrics": "three metrics at once",
}


def draw_more(found: Sequence[MoreDisclosed], palette: Palette) -> Drawing:
    """Draw what is recovered with each kind of knowledge, one row each."""
    rows = [(_KNOWN[more.known], more.before, more.after) for more in found]
    sketch = dumbbells(rows, [e for _, before, after in rows for e in (before, after) if e is not None], palette)
    table = [
        {
            "attacker knows": _KNOWN[more.known],
            "before": more.before.value,
            **cells("after", more.after),
            **cells("gain", more.gain),
            "guesses changed": more.n_changed,
            "solver status": more.certificate.status,
            "best bound": more.certificate.best_bound,
            "reason": more.reason,
        }
        for more in found
    ]
    said = "; ".join(f"{name} {percent(after) if after else 'no correction'}" for name, _, after in rows)
    return Drawing.of(sketch, f"People recovered, by what is disclosed: {said}.", table)


def draw_search(found: TunedForest, palette: Palette) -> Drawing:
    """Draw the score of every forest tried, and the best so far."""
    scores = [100 * trial.score.value for trial in found.trials]
    low, high = recovery_range([trial.score for trial in found.trials])
    n = len(scores)
    sketch = bare(palette, height=250, x=(0, n + 1), y=(low, high))
    step = next(s for s in (1, 2, 5, 10, 20, 50, 100, 200) if n / s <= 6)
    marks = [1, *range(step if step > 1 else 2, n + 1, step)]
    sketch.xaxis(tickvals=marks, ticktext=[str(m) for m in marks])
    value_axis(sketch, palette, ticks(low, high), n + 1)
    sketch.scatter(
        x=list(range(1, n + 1)),
        y=scores,
        mode="markers",
        marker={"size": 6, "color": palette.before, "symbol": "circle-open"},
        hovertemplate="forest %{x}: %{y:.1f}%<extra></extra>",
    )
    best = [max(scores[: i + 1]) for i in range(n)]
    line(sketch, list(range(1, n + 1)), best, palette.leak, width=2)
    sketch.write(1, scores[0], f"pinned forest <b>{scores[0]:.1f}%</b>", palette.grey, "top right")
    sketch.write(n, best[-1], f"best <b>{best[-1]:.1f}%</b>", palette.leak, "top left")
    alt = f"Scores of {n} forests in the order they were tried, from {min(scores):.1f}% to {max(scores):.1f}%."
    return Drawing(sketch=sketch, alt=alt, table=found.to_frame())
