"""Charts of sweeps: accuracy and unfairness by target tolerance, and by method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...charts.drawing import Axis, Drawing, Scale, percents, value_of
from ...charts.lines import Curve, Dot, draw_lines, level
from ...models import METHOD_TITLES
from ...stats.estimates import Estimate, Spread
from ...studies.correction.charts import HEIGHT, draw_dumbbells, moved, tolerance_axis
from . import SweepRow, summary_frame


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
