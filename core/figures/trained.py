"""Curves over trained tolerances: each point is another model, trained anew, or several with different seeds.

They are figures 2 to 4 of Ferry et al. (2023): what is recovered before and after correction, and how accurate and
how unfair the models themselves are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from core.estimates import Estimate
from core.figures.correction import IMPUTATION, WIDEST, recovery_range, ticks
from core.figures.drawing import (
    Drawing,
    Palette,
    Reference,
    Sketch,
    band,
    bare,
    line,
    references,
    value_axis,
    whiskers,
)
from core.sweep import Spread, SweepRow

_HEIGHT = 270
_PLOT = _HEIGHT - 38
_TICKS = {"tickvals": [0, 0.05, 0.1, 0.15, 0.2], "ticktext": ["0", "0.05", "0.10", "0.15", "0.20"]}


def draw_trained(
    rows: Sequence[SweepRow],
    baseline: tuple[Estimate, Estimate, Estimate],
    palette: Palette,
    *,
    attribute: str,
) -> Drawing:
    """Draw what the attacker recovers from models trained for different tolerances and told each its own.

    Parameters
    ----------
    rows : sequence of SweepRow
        What is finished so far for one method, metric and attacker, in any order; intervals are over seeds where
        there are several, else over people.
    baseline : (majority, before, strong)
        Estimates from the audited model; they fix the range before any point is there.
    attribute : str
        Name of the sensitive attribute.
    """
    done = sorted(rows, key=lambda row: row.tolerance)
    majority, before, strong = baseline
    drawn = [as_estimate(s) for row in done for s in (row.before, row.after) if s is not None]
    low, high = recovery_range([majority, before, strong, *drawn])
    pixel = (high - low) / _PLOT
    sketch = bare(palette, height=_HEIGHT, x=(-0.003, WIDEST + 0.003), y=(low, high))
    sketch.xaxis(**_TICKS)
    levels = [100 * e.value for e in (before, majority, strong)]
    value_axis(sketch, palette, ticks(low, high), WIDEST, crowded=levels, room=16 * pixel)
    _banded(sketch, [(row.tolerance, row.before_corrected or row.before) for row in done], palette.before, dash="dash")
    corrected = [(row.tolerance, row.after) for row in done]
    _banded(sketch, corrected, palette.leak, dash="solid")
    _points(sketch, done, palette)
    rates = [Reference(words=IMPUTATION, estimate=strong, color=palette.strongest, dash="dashdot")]
    if done:
        rates.append(Reference(words="Before", estimate=as_estimate(done[-1].before), color=palette.before, below=True))
    rates.append(Reference(words="Majority guess", estimate=majority, color=palette.chance, dash="dot"))
    references(sketch, rates, end=WIDEST, low=low, high=high, pixel=pixel)
    seeds = max((len(row.seeds) for row in done), default=1)
    told = f", each with {seeds} seeds" if seeds > 1 else ""
    alt = (
        f"Line chart of the people whose {attribute} is recovered from models trained for {len(done)} tolerances from "
        f"0 to 0.2{told}: before and after correction."
    )
    return Drawing.of(sketch, alt, _rows(done))


def draw_models_accuracy(rows: Sequence[SweepRow], palette: Palette) -> Drawing:
    """Draw the models' accuracy on training and unseen people over the trained tolerance."""
    done = sorted(rows, key=lambda row: row.tolerance)
    every = [as_estimate(s) for row in done for s in (row.model_train, row.model_test, row.model_majority)]
    low, high = recovery_range(every) if every else (0.0, 100.0)
    pixel = (high - low) / (_PLOT - 50)
    sketch = bare(palette, height=_HEIGHT - 50, x=(-0.003, WIDEST + 0.003), y=(low, high))
    sketch.xaxis(**_TICKS)
    crowded = [100 * e.value for e in every[-3:]]
    value_axis(sketch, palette, ticks(low, high), WIDEST, crowded=crowded, room=16 * pixel)
    if done:
        _banded(sketch, [(row.tolerance, row.model_train) for row in done], palette.ink, dash="solid")
        _banded(sketch, [(row.tolerance, row.model_test) for row in done], palette.grey, dash="dash")
        last = done[-1]
        rates = (
            Reference(words="Training people", estimate=as_estimate(last.model_train), color=palette.ink),
            Reference(words="Unseen people", estimate=as_estimate(last.model_test), color=palette.grey, below=True),
            Reference(
                words="Always the same answer",
                estimate=as_estimate(last.model_majority),
                color=palette.chance,
                dash="dot",
            ),
        )
        references(sketch, rates, end=WIDEST, low=low, high=high, pixel=pixel)
    alt = f"Line chart of the accuracy of models trained for {len(done)} tolerances, on training and unseen people."
    return Drawing.of(sketch, alt, _rows(done))


def draw_models_unfairness(rows: Sequence[SweepRow], palette: Palette) -> Drawing:
    """Draw the models' unfairness on training and unseen people over the trained tolerance, beside what was asked."""
    done = sorted(rows, key=lambda row: row.tolerance)
    reached = [s.mean for row in done for s in (row.unfairness_train, row.unfairness_test)]
    high = 1.12 * max([0.02, *reached])
    sketch = bare(palette, height=_HEIGHT - 50, x=(-0.003, WIDEST + 0.003), y=(-0.02 * high, high))
    sketch.xaxis(**_TICKS)
    step = next(s for s in (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5) if high / s <= 6)
    for i in range(1, int(high / step) + 1):
        sketch.segment((0, 1), (i * step, i * step), {"color": palette.grid, "width": 1}, xref="paper", layer="below")
        sketch.write(WIDEST, i * step, f"{i * step:g}", palette.grey, "top left", 12)
    end = min(WIDEST, high)
    line(sketch, [0, end], [0, end], palette.ink, width=1.5, dash="longdash")
    sketch.write(0.5 * end, 0.44 * end, "asked for", palette.ink, "middle right", 12)
    for name, color, dash in (
        ("unfairness_train", palette.ink, "solid"),
        ("unfairness_test", palette.grey, "dash"),
    ):
        spreads = [(row.tolerance, getattr(row, name)) for row in done]
        _banded(sketch, spreads, color, dash=dash, scale=1.0)
    if done:
        last = done[-1]
        apart = 0.07 * high if abs(last.unfairness_train.mean - last.unfairness_test.mean) < 0.1 * high else 0.0
        for spread, words, color, up in (
            (last.unfairness_train, "Training people", palette.ink, -1),
            (last.unfairness_test, "Unseen people", palette.grey, 1),
        ):
            told = f"{words} <b>{spread.mean:.3f}</b>"
            sketch.write(0.93 * WIDEST, spread.mean + up * (apart or 0.04 * high), told, color, "middle left")
    alt = f"Line chart of the unfairness of models trained for {len(done)} tolerances, on training and unseen people."
    if done:
        last = done[-1]
        differ = (
            f"{last.difference_train.mean:.3f} on training people, {last.difference_test.mean:.3f} on unseen people"
        )
        alt += f" At the loosest the difference between groups is {differ}."
    return Drawing.of(sketch, alt, _rows(done))


def as_estimate(spread: Spread) -> Estimate:
    """Return a number over seeds in the form that labels and ranges take."""
    low, high = (spread.mean if math.isnan(v) else v for v in (spread.low, spread.high))
    return Estimate(value=spread.mean, low=low, high=high, n=spread.n)


def _banded(
    sketch: Sketch, spreads: Sequence[tuple[float, Spread | None]], color: str, *, dash: str, scale: float = 100.0
) -> None:
    """Draw a line through the means, with a band where the interval is over seeds."""
    there = [(x, s) for x, s in spreads if s is not None and s.over == "seeds" and not math.isnan(s.low)]
    if len(there) > 1:
        lows, highs = [scale * s.low for _, s in there], [scale * s.high for _, s in there]
        band(sketch, [x for x, _ in there], lows, highs, color)
    line(sketch, [x for x, _ in spreads], [None if s is None else scale * s.mean for _, s in spreads], color, dash=dash)


def _rows(rows: Sequence[SweepRow]) -> list[dict[str, Any]]:
    def told(name: str, spread: Spread | None) -> dict[str, float | None]:
        parts = {"": "mean", ", low": "low", ", high": "high", ", sd over seeds": "sd"}
        return {f"{name}{end}": None if spread is None else getattr(spread, part) for end, part in parts.items()}

    return [
        {
            "trained tolerance": row.tolerance,
            "seeds": len(row.seeds),
            "seeds told the truth": row.n_true,
            **told("unfairness, training", row.unfairness_train),
            **told("unfairness, unseen", row.unfairness_test),
            **told("difference between groups, training", row.difference_train),
            **told("difference between groups, unseen", row.difference_test),
            **told("model accuracy, training", row.model_train),
            **told("model accuracy, unseen", row.model_test),
            **told("accuracy before", row.before),
            **told("accuracy after", row.after),
            **told("gain", row.gain),
        }
        for row in rows
    ]


def _points(sketch: Sketch, rows: Sequence[SweepRow], palette: Palette) -> None:
    """Draw corrected accuracies; hollow where a model of some seed misses what the attacker is told."""
    for truthful, symbol in ((True, "circle"), (False, "circle-open")):
        chosen = [
            (row, row.after) for row in rows if row.after is not None and (row.n_true == len(row.seeds)) == truthful
        ]
        if not chosen:
            continue
        alone = len(chosen[0][0].seeds) == 1
        sketch.scatter(
            x=[row.tolerance for row, _ in chosen],
            y=[100 * after.mean for _, after in chosen],
            mode="markers",
            cliponaxis=False,
            marker={
                "size": 9 if alone else 7,
                "color": palette.leak,
                "symbol": symbol,
                "line": {"width": 2, "color": palette.leak},
            },
            **({"error_y": whiskers([as_estimate(after) for _, after in chosen], palette.leak)} if alone else {}),
            customdata=[[row.unfairness_train.mean] for row, _ in chosen],
            hovertemplate="trained for %{x}, reached %{customdata[0]:.4f}: %{y:.1f}%<extra></extra>",
        )
