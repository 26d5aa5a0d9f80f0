"""Charts of sweeps: accuracy and unfairness by target tolerance, by method, and the map of tolerance and ε."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...charts.drawing import Axis, Drawing, Scale, percents, value_of
from ...charts.heat import draw_heat
from ...charts.lines import Curve, Dot, draw_lines, level
from ...charts.text import measured, short
from ...models import METHOD_TITLES
from ...stats.estimates import Estimate, Spread, epsilon_text, interval, percent, point_interval, points
from ...studies.correction.charts import HEIGHT, draw_dumbbells, moved, tolerance_axis
from . import SweepRow, summary_frame
from .landscape import MEMBER_ATTACKER, Landscape, MapCell


def draw_methods(rows: Sequence[SweepRow]) -> Drawing:
    """Draw the accuracy before and after the correction, one row a method."""
    ordered = sorted(rows, key=lambda row: list(METHOD_TITLES).index(row.method))
    lines = [moved(METHOD_TITLES[row.method], row.before_corrected or row.before, row.after) for row in ordered]
    return draw_dumbbells("Accuracy of the attack by fair learning method", lines, "method")


def draw_trained(
    rows: Sequence[SweepRow],
    baseline: tuple[Estimate, Estimate, Estimate],
    *,
    attribute: str,
    tolerances: Sequence[float],
) -> Drawing:
    """Draw the accuracy at models trained for different tolerances, each disclosed (Ferry et al. 2023, figures 2-4).

    Parameters
    ----------
    rows : sequence of SweepRow
        What is finished so far for one method, metric and attacker, in any order; intervals are over seeds where
        there are several, else over people. A dot is hollow where a model of some seed breaks what is disclosed.
    baseline : (majority, before, strong)
        Estimates from the audited model; they fix the range before any point is there.
    tolerances : sequence of float
        Of all models, also of those that are not finished.
    """
    done = sorted(rows, key=lambda row: row.tolerance)
    majority, before, strong = baseline
    alone = all(len(row.seeds) == 1 for row in done if row.after is not None)
    dots = [
        Dot(
            x=row.tolerance,
            of=row.after,
            hover=f"trained for {row.tolerance:g}, reached {row.unfairness_train.value:.4f}:",
            interval=alone,
            hollow=row.n_true != len(row.seeds),
        )
        for row in done
        if row.after is not None
    ]
    curves = [
        level(majority, "chance", "baseline"),
        level(strong, "strongest", "imputation", dash="dashdot"),
        _over(
            done,
            [row.before_corrected or row.before for row in done],
            "before",
            "before",
            grid=tolerances,
            dash="dash",
        ),
        _over(
            done,
            [row.after for row in done],
            "leak",
            "after",
            grid=tolerances,
            width=3,
            dots=dots,
            size=9 if alone else 7,
        ),
    ]
    y = percents(f"Accuracy at inferring {attribute} (%)")
    return _trained("Accuracy by target tolerance", done, curves, y, height=310, holds=[before.value])


def draw_models_accuracy(rows: Sequence[SweepRow], tolerances: Sequence[float]) -> Drawing:
    """Draw the models' accuracy on training and test set over the target tolerance; arguments as `draw_trained`."""
    done = sorted(rows, key=lambda row: row.tolerance)
    curves = [level(row.model_majority.value, "chance", "majority class") for row in done[-1:]]
    curves.append(_over(done, [row.model_test for row in done], "grey", "test", grid=tolerances, dash="dash"))
    curves.append(_over(done, [row.model_train for row in done], "ink", "training", grid=tolerances))
    return _trained("Accuracy of the models", done, curves, percents("Model accuracy (%)"))


def draw_models_unfairness(rows: Sequence[SweepRow], tolerances: Sequence[float]) -> Drawing:
    """Draw the models' unfairness on training and test set over the target tolerance, beside the tolerance.

    Arguments as `draw_trained`.
    """
    done = sorted(rows, key=lambda row: row.tolerance)
    series = [[row.unfairness_train for row in done], [row.unfairness_test for row in done]]
    y = Scale(title="Achieved unfairness", span=0.02, start=0.0, write=lambda number: f"{value_of(number):.3f}")
    axis = y.over([spread.value for spreads in series for spread in spreads])
    end = min(0.2, axis.ends[1])
    curves = [
        Curve(x=[0, end], of=[0, end], color="ink", width=1.5, dash="longdash", name="target", value=""),
        _over(done, series[1], "grey", "test", grid=tolerances, dash="dash"),
        _over(done, series[0], "ink", "training", grid=tolerances),
    ]
    return _trained("Unfairness of the models", done, curves, axis)


def _over(rows: Sequence[SweepRow], spreads: Sequence[Spread | None], color: str, name: str, **look: Any) -> Curve:
    """Return a line through the means over the target tolerance, with a band where the interval is over seeds."""
    band = any(spread is not None and spread.over == "seeds" for spread in spreads)
    return Curve(x=[row.tolerance for row in rows], of=spreads, band=band, color=color, name=name, **look)


def _trained(
    title: str,
    done: Sequence[SweepRow],
    curves: Sequence[Curve],
    y: Axis | Scale,
    *,
    height: int = HEIGHT,
    **more: Any,
) -> Drawing:
    """Draw curves over the target tolerance."""
    rows = summary_frame(done)
    return draw_lines(title, curves, x=tolerance_axis("Target tolerance"), y=y, rows=rows, height=height, **more)


def draw_landscape(landscape: Landscape) -> Drawing:
    """Draw the map of at least one cell: target tolerance across, privacy budget down, colour the gain.

    What is written is the accuracy after disclosure, in bold where the gain is significant.
    """
    tolerances, epsilons, controls = landscape.plan.tolerances, landscape.plan.epsilons, landscape.controls()
    every = {(cell.tolerance, cell.epsilon): cell for cell in landscape.cells}
    cells = [[every[tolerance, epsilon] for tolerance in tolerances] for epsilon in epsilons]
    same, gains = percent(controls["majority_label"]), [[_gained(cell) for cell in row] for row in cells]
    most = max([0.01, *measured([gain for row in gains for gain in row])])
    columns = ["none" if tolerance is None else f"{tolerance:g}" for tolerance in tolerances]
    drawing = draw_heat(
        f"Accuracy at inferring {landscape.attribute} after disclosure, by model",
        gains,
        [[_number(cell) for cell in row] for row in cells],
        names=(columns, [f"ε = {epsilon_text(epsilon)}" for epsilon in epsilons]),
        titles=("Fairness tolerance, trained and disclosed (left: stricter)", "Privacy budget ε"),
        ends=(0.0, most),
        hover=[[_hover(landscape, cell, same) for cell in row] for row in cells],
        rows=landscape.to_frame(),
        beside=("Membership AUC", [_area(row[0].members) for row in cells]),
    )
    for index in range(1, len(tolerances)):
        if None in tolerances[index - 1 : index + 1]:  # what nothing is disclosed of is set apart
            drawing.segment(index - 0.5, drawing.y.ends, "background", width=8)
    return drawing


def _area(auc: Estimate) -> str:
    """Return the AUC against a row's tree, which all its tolerances share, in bold where it is not chance."""
    text = "n/a" if math.isnan(auc.value) else f"{auc.value:.2f}"
    return f"<b>{text}</b>" if auc.low > 0.5 or auc.high < 0.5 else text


def _gained(cell: MapCell) -> float:
    """Return the gain from disclosure, 0 where nothing is disclosed; nan where nothing was measured."""
    return 0.0 if cell.tolerance is None and not math.isnan(cell.after.value) else cell.gain.value


def _number(cell: MapCell) -> str:
    if math.isnan(cell.after.value):
        return "n/a"
    text = f"{100 * cell.after.value:.1f}"
    return f"<b>{text}</b>" if cell.measured else text


def _hover(landscape: Landscape, cell: MapCell, same_for_all: str) -> str:
    """Return what the pointer shows of a cell, in lines that fit a narrow screen."""
    trained = "No tolerance" if cell.tolerance is None else f"Tolerance {cell.tolerance:g}"
    lines = [
        f"<b>{trained}, ε = {epsilon_text(cell.epsilon)}</b>",
        f"{short(landscape.attribute)} inferred <b>{percent(cell.after)}</b> ({interval(cell.after)})",
    ]
    if cell.tolerance is None:
        lines.append("nothing is disclosed")
    else:
        span = "one seed, no interval" if math.isnan(cell.gain.low) else point_interval(cell.gain)
        lines.append(f"gain from disclosure {points(cell.gain)} ({span})")
        lines.append(f"imputation without the model {percent(landscape.controls()['strong'])}")
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


def _distance(estimate: Estimate) -> str:
    if math.isnan(estimate.low):
        return f"{estimate.value:.3f}"
    return f"{estimate.value:.3f} ({estimate.low:.3f} to {estimate.high:.3f})"
