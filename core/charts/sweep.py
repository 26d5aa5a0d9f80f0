"""The map of fair and private models."""

from __future__ import annotations

import math

from core.charts.drawing import Drawing
from core.charts.heat import draw_heat
from core.charts.theme import Palette
from core.charts.words import known, short
from core.estimates import Estimate, epsilon_text, interval, percent, points
from core.sweep.landscape import MEMBER_ATTACKER, Landscape, MapCell


def draw_landscape(found: Landscape, palette: Palette) -> Drawing:
    """Draw the map of at least one cell: target tolerance across, privacy budget down, colour the accuracy."""
    tolerances, epsilons, controls = found.plan.tolerances, found.plan.epsilons, found.controls()
    cells = [[found.cell(tolerance, epsilon) for tolerance in tolerances] for epsilon in epsilons]
    before, same = controls["before"], percent(controls["majority_label"])
    values = [[cell.after.value for cell in row] for row in cells]
    low = controls["majority"].value
    high = max([low + 0.01, *known([controls["strong"].value, *(value for row in values for value in row)])])
    named = ("majority", f"always “{short(found.majority_name, 12)}”"), ("strong", "imputation")
    marks = {min(max(controls[name].value, low), high): f"{words} {percent(controls[name])}" for name, words in named}
    columns = ["none" if tolerance is None else f"{tolerance:g}" for tolerance in tolerances]
    return draw_heat(
        palette,
        f"Accuracy at inferring {found.attribute} after disclosure, by model",
        values,
        [[_number(cell) for cell in row] for row in cells],
        names=(columns, [f"ε = {epsilon_text(epsilon)}" for epsilon in epsilons]),
        titles=("Fairness tolerance, trained and disclosed", "Privacy budget ε (down: more noise)"),
        colors=palette.shades,
        ends=(low, high),
        told=[[_hover(found, cell, same) for cell in row] for row in cells],
        rows=found.to_frame(),
        pitch=38,
        scale=(f"Accuracy; before disclosure {percent(before)}", {**marks, max(before.value, low): ""}),
    )


def _number(cell: MapCell) -> str:
    if math.isnan(cell.after.value):
        return "n/a"
    text = f"{100 * cell.after.value:.1f}"
    return f"<b>{text}</b>" if cell.measured else text


def _hover(found: Landscape, cell: MapCell, same_for_all: str) -> str:
    """Return what the pointer tells of a cell, in lines that fit a narrow screen."""
    trained = "No tolerance" if cell.tolerance is None else f"Tolerance {cell.tolerance:g}"
    lines = [
        f"<b>{trained}, ε = {epsilon_text(cell.epsilon)}</b>",
        f"{short(found.attribute)} inferred <b>{percent(cell.after)}</b> ({interval(cell.after)})",
    ]
    if cell.tolerance is None:
        lines.append("nothing is disclosed")
    else:
        lines.append(f"gain from disclosure {points(cell.gain)} ({_gain_text(cell.gain)})")
        lines.append(f"the tolerance holds in {cell.n_true} of {cell.n_seeds} seeds")
    return "<br>".join(
        [
            *lines,
            f"model accuracy <b>{percent(cell.accuracy)}</b> ({interval(cell.accuracy)})",
            f"  majority class {same_for_all}",
            f"unfairness <b>{_distance(cell.unfairness_train)}</b> training",
            f"  {_distance(cell.unfairness_test)} test",
            f"difference between groups <b>{_distance(cell.difference_train)}</b> training",
            f"  {_distance(cell.difference_test)} test",
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
