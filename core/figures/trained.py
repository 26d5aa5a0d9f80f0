"""The curve over trained tolerances: each point is another model, trained anew."""

from __future__ import annotations

from collections.abc import Sequence

from core.estimates import Estimate
from core.figures.correction import recovery_range, ticks
from core.figures.drawing import Drawing, Palette, Sketch, bare, line, spread, value_axis, whiskers
from core.sweep import SweepPoint
from core.wording import percent

__all__ = ["draw_trained"]

_HEIGHT = 270
_PLOT = _HEIGHT - 38


def draw_trained(
    points: Sequence[SweepPoint],
    baseline: tuple[Estimate, Estimate, Estimate],
    palette: Palette,
    *,
    adversary: str,
    protocol: str,
    attribute: str,
) -> Drawing:
    """Draw what the attacker recovers from models trained for different tolerances and told each its own.

    Parameters
    ----------
    points : sequence of SweepPoint
        The models finished so far, in any order.
    baseline : (majority, before, strong)
        Estimates from the audited model; they fix the range before any point is there.
    adversary, protocol : str
        Which disclosure of each point to draw.
    """
    import pandas as pd

    done = sorted(points, key=lambda p: p.tolerance)
    told = [(p, p.disclosures[adversary, protocol]) for p in done]
    majority, before, strong = baseline
    low, high = recovery_range([majority, before, strong, *(d.after for _, d in told if d.after is not None)])
    pixel = (high - low) / _PLOT
    sketch = bare(palette, height=_HEIGHT, x=(-0.003, 0.203), y=(low, high))
    sketch.xaxis(tickvals=[0, 0.05, 0.1, 0.15, 0.2], ticktext=["0", "0.05", "0.10", "0.15", "0.20"])
    references = [100 * e.value for e in (before, majority, strong)]
    value_axis(sketch, palette, ticks(low, high), 0.2, crowded=references, room=16 * pixel)
    for estimate, color, width, dash in (
        (majority, palette.chance, 1.5, "dot"),
        (strong, palette.strongest, 2, "dashdot"),
    ):
        level = 100 * estimate.value
        sketch.segment((0, 0.2), (level, level), {"color": color, "width": width, "dash": dash}, layer="below")
    xs = [p.tolerance for p, _ in told]
    line(sketch, xs, [100 * d.before.value for _, d in told], palette.before, dash="dash")
    line(sketch, xs, [None if d.after is None else 100 * d.after.value for _, d in told], palette.leak, width=2)
    _points(sketch, told, palette)
    labels = [
        ("Stronger attacker, told nothing", strong, palette.strongest, 10 * pixel),
        ("Before", told[-1][1].before if told else before, palette.before, -11 * pixel),
        ("Majority guess", majority, palette.chance, 10 * pixel),
    ]
    heights = spread([100 * e.value + off for _, e, _, off in labels], 17 * pixel, low + 8 * pixel, high - 6 * pixel)
    for (words, estimate, color, _), height in zip(labels, heights, strict=True):
        sketch.write(0.187, height, f"{words}  <b>{percent(estimate)}</b>", color, "middle left")
    table = pd.DataFrame(
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
    alt = (
        f"Line chart of the people whose {attribute} is recovered from {len(done)} models, by the tolerance each was "
        f"trained for, from 0 to 0.2."
    )
    return Drawing(sketch=sketch, alt=alt, table=table)


def _points(sketch: Sketch, told: Sequence, palette: Palette) -> None:  # type: ignore[type-arg]
    for truthful, symbol in ((True, "circle"), (False, "circle-open")):
        chosen = [(p, d) for p, d in told if d.after is not None and d.is_true == truthful]
        if not chosen:
            continue
        sketch.scatter(
            x=[p.tolerance for p, _ in chosen],
            y=[100 * d.after.value for _, d in chosen],
            mode="markers",
            cliponaxis=False,
            marker={
                "size": 9,
                "color": palette.leak,
                "symbol": symbol,
                "line": {"width": 2, "color": palette.leak},
            },
            error_y=whiskers([d.after for _, d in chosen], palette.leak),
            customdata=[[p.achieved] for p, _ in chosen],
            hovertemplate="trained for %{x}, reached %{customdata[0]:.4f}: %{y:.1f}%<extra></extra>",
        )
