"""The curve over trained tolerances: each point is another model, trained anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.correction import Disclosure
from core.estimates import Estimate
from core.figures.correction import WIDEST, recovery_range, strongest, ticks
from core.figures.drawing import Drawing, Palette, Reference, Sketch, bare, line, references, value_axis, whiskers
from core.sweep import SweepPoint

if TYPE_CHECKING:
    import pandas

__all__ = ["draw_trained"]

_HEIGHT = 270
_PLOT = _HEIGHT - 38


def draw_trained(
    points: Sequence[SweepPoint],
    baseline: tuple[Estimate, Estimate, Estimate],
    palette: Palette,
    *,
    shown: tuple[str, str, str],
    attribute: str,
) -> Drawing:
    """Draw what the attacker recovers from models trained for different tolerances and told each its own.

    Parameters
    ----------
    points : sequence of SweepPoint
        The models finished so far, in any order.
    baseline : (majority, before, strong)
        Estimates from the audited model; they fix the range before any point is there.
    shown : (adversary, protocol, cost)
        Which disclosure of each point to draw.
    """
    done = sorted(points, key=lambda p: p.tolerance)
    told = [(p, p.disclosures[shown]) for p in done]
    majority, before, strong = baseline
    drawn = [e for _, d in told for e in (d.before, d.after) if e is not None]
    low, high = recovery_range([majority, before, strong, *drawn])
    pixel = (high - low) / _PLOT
    sketch = bare(palette, height=_HEIGHT, x=(-0.003, WIDEST + 0.003), y=(low, high))
    sketch.xaxis(tickvals=[0, 0.05, 0.1, 0.15, 0.2], ticktext=["0", "0.05", "0.10", "0.15", "0.20"])
    levels = [100 * e.value for e in (before, majority, strong)]
    value_axis(sketch, palette, ticks(low, high), WIDEST, crowded=levels, room=16 * pixel)
    xs = [p.tolerance for p, _ in told]
    line(sketch, xs, [100 * d.before.value for _, d in told], palette.before, dash="dash")
    line(sketch, xs, [None if d.after is None else 100 * d.after.value for _, d in told], palette.leak, width=2)
    _points(sketch, told, palette)
    last = told[-1][1].before if told else before
    rates = (
        Reference(words=strongest(strong, before), estimate=strong, color=palette.strongest, dash="dashdot"),
        Reference(words="Before", estimate=last, color=palette.before, below=True),
        Reference(words="Majority guess", estimate=majority, color=palette.chance, dash="dot"),
    )
    references(sketch, rates, end=WIDEST, low=low, high=high, pixel=pixel)
    alt = (
        f"Line chart of the people whose {attribute} is recovered from {len(done)} models, by the tolerance each was "
        f"trained for, from 0 to 0.2."
    )
    return Drawing(sketch=sketch, alt=alt, table=_table(told))


def _table(told: Sequence[tuple[SweepPoint, Disclosure]]) -> pandas.DataFrame:
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "trained tolerance": p.tolerance,
                "unfairness reached": p.achieved,
                "told the truth": d.is_true,
                "tolerance used": d.used,
                "model accuracy, training": p.accuracy_train.value,
                "model accuracy, unseen": p.accuracy_test.value,
                "accuracy before": d.before.value,
                "accuracy after": d.after.value if d.after else None,
                "after, low": d.after.low if d.after else None,
                "after, high": d.after.high if d.after else None,
                "gain": d.gain.value if d.gain else None,
            }
            for p, d in told
        ]
    )


def _points(sketch: Sketch, told: Sequence[tuple[SweepPoint, Disclosure]], palette: Palette) -> None:
    for truthful, symbol in ((True, "circle"), (False, "circle-open")):
        chosen = [(p, d.after) for p, d in told if d.after is not None and d.is_true == truthful]
        if not chosen:
            continue
        sketch.scatter(
            x=[p.tolerance for p, _ in chosen],
            y=[100 * after.value for _, after in chosen],
            mode="markers",
            cliponaxis=False,
            marker={
                "size": 9,
                "color": palette.leak,
                "symbol": symbol,
                "line": {"width": 2, "color": palette.leak},
            },
            error_y=whiskers([after for _, after in chosen], palette.leak),
            customdata=[[p.achieved] for p, _ in chosen],
            hovertemplate="trained for %{x}, reached %{customdata[0]:.4f}: %{y:.1f}%<extra></extra>",
        )
