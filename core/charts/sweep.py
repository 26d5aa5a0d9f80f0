"""Charts over many models: curves over trained tolerances, methods, forests tried, the map.

The curves are figures 2 to 4 of Ferry et al. (2023): what is recovered before and after correction, and how accurate
and how unfair the models themselves are; each point is another model, trained anew, or several with different seeds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from core.charts.correction import dumbbells, tolerances
from core.charts.drawing import Axis, Drawing, Palette, Sketch, cells, mixed, percents, rounded, short
from core.charts.heat import draw_heat
from core.charts.lines import Curve, compared, draw_lines, reach
from core.estimates import Estimate, epsilon_text, interval, percent, points
from core.models import METHOD_TITLES
from core.sweep import Spread, SweepRow
from core.sweep.landscape import MEMBER_ATTACKER, Landscape, MapCell

if TYPE_CHECKING:
    from core.adversaries import TunedForest
    from core.correction import MoreDisclosed
    from core.sweep import SweepRow

_HEIGHT = 250
_TRAINED = "tolerance trained for (left: stricter)"


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
    """
    done = sorted(rows, key=lambda row: row.tolerance)
    majority, before, strong = baseline
    x = tolerances(_TRAINED)
    curves = [
        compared(x, majority, palette.chance, "majority guess"),
        compared(x, strong, palette.strongest, "imputation", dash="dashdot"),
        _over(done, [row.before_corrected or row.before for row in done], palette.before, "before", dash="dash"),
        _over(done, [row.after for row in done], palette.leak, "after", width=3),
    ]
    ends = [100 * v for row in done if row.after is not None for v in (row.after.low, row.after.high)]
    y = percents([*reach(curves), *ends, 100 * before.value], "people recovered (%)")
    sketch = draw_lines(palette, curves, x=x, y=y)
    _points(sketch, done)
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
    x = tolerances(_TRAINED)
    same = [as_estimate(row.model_majority) for row in done[-1:]]
    curves = [compared(x, rate, palette.chance, "same for all") for rate in same]
    curves.append(_over(done, [row.model_test for row in done], palette.grey, "unseen", dash="dash"))
    curves.append(_over(done, [row.model_train for row in done], palette.ink, "training"))
    y = percents(reach(curves), "accuracy (%)")
    sketch = draw_lines(palette, curves, x=x, y=y, height=_HEIGHT)
    alt = f"Line chart of the accuracy of models trained for {len(done)} tolerances, on training and unseen people."
    return Drawing.of(sketch, alt, _rows(done))


def draw_models_unfairness(rows: Sequence[SweepRow], palette: Palette) -> Drawing:
    """Draw the models' unfairness on training and unseen people over the trained tolerance, beside what was asked."""
    done = sorted(rows, key=lambda row: row.tolerance)
    reached = [s.mean for row in done for s in (row.unfairness_train, row.unfairness_test)]
    x, y = tolerances(_TRAINED), rounded([0.0, *reached], "unfairness", span=0.02)
    end = min(x.ends[1], y.ends[1])
    curves = [
        Curve(x=[0, end], y=[0, end], color=palette.ink, width=1.5, dash="longdash", words="asked for"),
        _over(done, [row.unfairness_test for row in done], palette.grey, "unseen", scale=1.0, dash="dash"),
        _over(done, [row.unfairness_train for row in done], palette.ink, "training", scale=1.0),
    ]
    sketch = draw_lines(palette, curves, x=x, y=y, height=_HEIGHT)
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


def _over(
    rows: Sequence[SweepRow],
    spreads: Sequence[Spread | None],
    color: str,
    name: str,
    *,
    scale: float = 100.0,
    **look: Any,
) -> Curve:
    """Return a line through the means over the trained tolerance, with a band where the interval is over seeds."""
    banded = any(s is not None and s.over == "seeds" for s in spreads)
    estimates = [None if s is None else Estimate(value=s.mean, low=s.low, high=s.high, n=s.n) for s in spreads]
    last = next((e for e in reversed(estimates) if e is not None), None)
    told = "" if last is None else percent(last) if scale == 100.0 else f"{last.value:.3f}"
    x, words = [row.tolerance for row in rows], f"<b>{told}</b> {name}"
    return Curve.of(x, estimates, scale=scale, band=banded, color=color, words=words, **look)


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


def _points(sketch: Sketch, rows: Sequence[SweepRow]) -> None:
    """Draw corrected accuracies; hollow where a model of some seed misses what the attacker is told."""
    there, leak = [(row, row.after) for row in rows if row.after is not None], sketch.palette.leak
    alone = all(len(row.seeds) == 1 for row, _ in there)
    sketch.markers(
        [row.tolerance for row, _ in there],
        [100 * after.mean for _, after in there],
        size=9 if alone else 7,
        color=leak,
        symbol=["circle" if row.n_true == len(row.seeds) else "circle-open" for row, _ in there],
        rim=(leak, 2),
        told=[
            f"trained for {row.tolerance:g}, reached {row.unfairness_train.mean:.4f}: {100 * after.mean:.1f}%"
            for row, after in there
        ],
        ends=[(100 * e.low, 100 * e.high) for e in (as_estimate(after) for _, after in there)] if alone else (),
        stroke=leak,
    )


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
    sketch = dumbbells(told, palette)
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
    sketch = dumbbells(rows, palette)
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
    n, best = len(scores), list(accumulate(scores, max))
    steps = rounded([1, n], "forests tried")
    marks = sorted({max(1, round(mark)) for mark in steps.marks if mark <= n})
    x = Axis(ends=(0, n + 1), marks=marks, words=[f"{mark}" for mark in marks], title=steps.title)
    first, numbers = Estimate(value=scores[0] / 100, low=math.nan, high=math.nan, n=0), list(range(1, n + 1))
    words = f"<b>{best[-1]:.1f}%</b> best"
    curves = [
        compared(x, first, palette.grey, "pinned forest"),
        Curve(x=numbers, y=best, color=palette.leak, words=words),
    ]
    y = percents(scores, "score (%)")
    sketch = draw_lines(palette, curves, x=x, y=y, height=_HEIGHT)
    told = [f"forest {number}: {score:.1f}%" for number, score in zip(numbers, scores, strict=True)]
    sketch.markers(numbers, scores, size=6, color=palette.before, symbol="circle-open", told=told)
    alt = f"Scores of {n} forests in the order they were tried, from {min(scores):.1f}% to {max(scores):.1f}%."
    return Drawing(sketch=sketch, alt=alt, table=found.to_frame())


_ROW = 38  # pixels
_READABLE = 4.6  # contrast of the numbers in the darkest cell


def draw_landscape(found: Landscape, palette: Palette) -> Drawing:
    """Draw the map of at least one cell: tolerance trained for across, budget down, colour what is recovered."""
    tolerances, epsilons, controls = found.plan.tolerances, found.plan.epsilons, found.controls()
    cells = [[found.cell(tolerance, epsilon) for tolerance in tolerances] for epsilon in epsilons]
    low, high = _scale_ends(found, cells)
    columns = ["none" if tolerance is None else f"{tolerance:g}" for tolerance in tolerances]
    named = ("majority", f"all “{short(found.majority_name, 12)}”"), ("strong", "strong attacker")
    marks = {min(max(controls[name].value, low), high): f"{words} {percent(controls[name])}" for name, words in named}
    before = controls["before"]
    sketch = draw_heat(
        palette,
        [[None if math.isnan(cell.after.value) else cell.after.value for cell in row] for row in cells],
        [[_number(cell) for cell in row] for row in cells],
        names=(columns, [f"ε = {epsilon_text(epsilon)}" for epsilon in epsilons]),
        colors=shades(palette),
        ends=(low, high),
        told=[[_cell_told(found, cell, percent(controls["majority_label"])) for cell in row] for row in cells],
        left=62,
        pitch=_ROW,
        title="tolerance trained for, and told to the attacker",
        scale=(f"told nothing {percent(before)}", {**marks, max(before.value, low): ""}),
    )
    return Drawing(sketch=sketch, alt=_map_alt(found, cells), table=found.to_frame())


def _scale_ends(found: Landscape, cells: list[list[MapCell]]) -> tuple[float, float]:
    """Return where the colour starts, at the control, and where it is full: nothing recovered more than that."""
    controls = found.controls()
    start = controls["majority"].value
    highest = [controls["strong"].value, *(cell.after.value for row in cells for cell in row)]
    return start, max(start + 0.01, *(value for value in highest if not math.isnan(value)))


def shades(palette: Palette) -> tuple[str, str]:
    """Return the colours where the scale starts and ends, the latter as strong as keeps numbers in ink readable."""
    weight = 1.0
    while contrast(palette.ink, mixed(palette.leak, palette.background, weight)) < _READABLE:
        weight -= 0.01
    return palette.grid, mixed(palette.leak, palette.background, weight)


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, 1 to 21 (Web Content Accessibility Guidelines 2.2)."""

    def luminance(color: str) -> float:
        shares = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _number(cell: MapCell) -> str:
    if math.isnan(cell.after.value):
        return "n/a"
    text = f"{100 * cell.after.value:.1f}"
    return f"<b>{text}</b>" if cell.measured else text


def _cell_told(found: Landscape, cell: MapCell, same_for_all: str) -> str:
    """Return what the pointer tells of a cell, in lines that fit a narrow screen."""
    trained = "No tolerance" if cell.tolerance is None else f"Tolerance {cell.tolerance:g}"
    lines = [
        f"<b>{trained}, ε = {epsilon_text(cell.epsilon)}</b>",
        f"{short(found.attribute)} recovered <b>{percent(cell.after)}</b> ({interval(cell.after)})",
    ]
    if cell.tolerance is None:
        lines.append("told nothing, as nothing is promised")
    else:
        lines.append(f"for being told {points(cell.gain)} ({_gain_text(cell.gain)})")
        lines.append(f"what is told is true in {cell.n_true} of {cell.n_seeds} seeds")
    return "<br>".join(
        [
            *lines,
            f"model right <b>{percent(cell.accuracy)}</b> ({interval(cell.accuracy)})",
            f"  the same answer for all {same_for_all}",
            f"unfairness <b>{_distance(cell.unfairness_train)}</b> training",
            f"  {_distance(cell.unfairness_test)} unseen",
            f"difference between groups <b>{_distance(cell.difference_train)}</b> training",
            f"  {_distance(cell.difference_test)} unseen",
            f"members: AUC <b>{_distance(cell.members)}</b>",
            f"  {MEMBER_ATTACKER}",
            f"in brackets 95% over {cell.n_seeds} seeds",
        ]
    )


def _gain_text(found: Estimate) -> str:
    if math.isnan(found.low):
        return "one seed, no interval"
    return " to ".join(points(limit).removesuffix(" points") for limit in (found.low, found.high))


def _distance(found: Estimate) -> str:
    if math.isnan(found.low):
        return f"{found.value:.3f}"
    return f"{found.value:.3f} ({found.low:.3f} to {found.high:.3f})"


def _map_alt(found: Landscape, cells: list[list[MapCell]]) -> str:
    controls = found.controls()
    known = [cell for row in cells for cell in row if not math.isnan(cell.after.value)]
    most, least = (choose(known, key=lambda cell: cell.after.value) for choose in (max, min))
    return (
        f"Map of {len(known)} models, by trained tolerance and privacy budget: the {found.attribute} the paper's "
        f"attacker recovers, from {percent(least.after)} at {_cell_place(least)} to {percent(most.after)} at "
        f"{_cell_place(most)}; before any correction {percent(controls['before'])}, control "
        f"{percent(controls['majority'])}."
    )


def _cell_place(cell: MapCell) -> str:
    tolerance = "no tolerance" if cell.tolerance is None else f"tolerance {cell.tolerance:g}"
    return f"{tolerance}, ε = {epsilon_text(cell.epsilon)}"
