"""The map: tolerance trained for across, privacy budget down, colour how often the attribute is recovered."""

from __future__ import annotations

import math

from core.estimates import Estimate
from core.figures.drawing import Drawing, Palette, Sketch, bare, short
from core.figures.framed import mixed
from core.landscape import MEMBER_ATTACKER, Landscape, MapCell
from core.wording import epsilon_text, interval, percent, points

_ROW = 38  # pixels
_BELOW = 2.95  # rows under the map: tolerances, what they are, the scale with its words
_LEFT = 62
_READABLE = 4.6  # contrast of the numbers in the darkest cell
_STEPS = 40  # rectangles the scale is drawn with


def draw_landscape(found: Landscape, palette: Palette) -> Drawing:
    """Draw a map with its scale.

    Parameters
    ----------
    found : Landscape
        With at least one cell.
    """
    tolerances, epsilons = found.plan.tolerances, found.plan.epsilons
    wide, deep = len(tolerances), len(epsilons)
    height = round(_ROW * (deep + _BELOW)) + 8
    sketch = bare(palette, height=height, x=(-0.5, wide - 0.5), y=(deep - 0.5 + _BELOW, -0.5))
    sketch.margins(l=_LEFT, t=4, b=4)
    sketch.xaxis(showline=False, showticklabels=False, ticks="")
    cells = [[found.cell(tolerance, epsilon) for tolerance in tolerances] for epsilon in epsilons]
    low, high = _scale_ends(found, cells)
    pale, strong = shades(palette)
    same_for_all = percent(found.controls()["majority_label"])
    sketch.heatmap(
        x=list(range(wide)),
        y=list(range(deep)),
        z=[[None if math.isnan(cell.after.value) else cell.after.value for cell in row] for row in cells],
        zmin=low,
        zmax=high,
        colorscale=[[0.0, pale], [1.0, strong]],
        showscale=False,
        xgap=2,
        ygap=2,
        customdata=[[_cell_told(found, cell, same_for_all) for cell in row] for row in cells],
        hoverlabel={"align": "left", "font": {"size": 12}},
        hovertemplate="%{customdata}<extra></extra>",
    )
    for y, row in enumerate(cells):
        sketch.write(-0.5, y, f"ε = {epsilon_text(epsilons[y])}  ", palette.grey, "middle left", 12)
        for x, cell in enumerate(row):
            sketch.write(x, y, _number(cell), palette.ink, "middle center", 13)
    for x, tolerance in enumerate(tolerances):
        sketch.write(
            x, deep - 0.24, "none" if tolerance is None else f"{tolerance:g}", palette.grey, "middle center", 12
        )
    sketch.write(-0.5, deep + 0.22, "tolerance trained for, and told to the attacker", palette.grey, "middle right", 12)
    _draw_scale(sketch, found, palette, (low, high), (wide, deep))
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


def _draw_scale(
    sketch: Sketch, found: Landscape, palette: Palette, ends: tuple[float, float], size: tuple[int, int]
) -> None:
    """Draw the colours with the control where they start, and whom else there is to compare with."""
    (low, high), (wide, deep), controls = ends, size, found.controls()
    pale, strong = shades(palette)
    left, right, top = -0.5, wide - 0.5, deep + 1.2
    step = (right - left) / _STEPS
    for i in range(_STEPS):
        color = mixed(strong, pale, (i + 0.5) / _STEPS)
        sketch.shade((left + i * step, left + (i + 1) * step), (top, top + 0.34), color, opacity=1.0)
    for name, words, at, place, y in (
        ("majority", f"all “{short(found.majority_name, 12)}”", left, "right", top + 0.72),
        ("strong", "strong attacker", right, "left", top + 0.72),
        ("before", "told nothing", (left + right) / 2, "center", top - 0.3),
    ):
        share = (controls[name].value - low) / (high - low)
        if share >= 0.0:
            mark = left + share * (right - left)
            sketch.segment((mark, mark), (top - 0.06, top + 0.4), {"color": palette.ink, "width": 1.5})
            at = mark if name == "before" else at
        told = f"{words} {percent(controls[name])}{'' if share >= 0.0 else ', below'}"
        sketch.write(at, y, told, palette.grey, f"middle {_beside(at, left, right) if name == 'before' else place}", 12)


def _beside(at: float, left: float, right: float) -> str:
    """Return on which side of a place words fit."""
    share = (at - left) / (right - left)
    return "right" if share < 0.3 else "left" if share > 0.7 else "center"


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
