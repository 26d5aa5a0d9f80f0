"""Charts of models attacked by what they disclose: accuracy and unfairness by target tolerance, and by method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..charts.drawing import Axis, Drawing, Scale, percents, value_of
from ..charts.lines import Curve, Dot, draw_lines, level
from ..models import METHOD_TITLES
from ..stats.estimates import Estimate, Spread
from ..studies.correction.charts import HEIGHT, draw_dumbbells, moved, tolerance_axis
from .attacked_models import before_disclosure
from .summary import SeedSummary, summary_frame


def draw_methods(summaries: Sequence[SeedSummary]) -> Drawing:
    """Draw the accuracy before and after the correction, one row a method."""
    methods = list(METHOD_TITLES)
    ordered = sorted(summaries, key=lambda summary: methods.index(summary.values["model.method"]))
    lines = [
        moved(
            METHOD_TITLES[summary.values["model.method"]],
            before_disclosure(summary),
            summary.numbers.get("attack_after"),
        )
        for summary in ordered
    ]
    return draw_dumbbells("Accuracy of the attack by fair learning method", lines, "method")


def draw_trained(
    summaries: Sequence[SeedSummary],
    baseline: tuple[Estimate, Estimate, Estimate],
    *,
    attribute: str,
    tolerances: Sequence[float],
) -> Drawing:
    """Draw the accuracy at models trained for different tolerances, each disclosed (Ferry et al. 2023, figures 2-4).

    Parameters
    ----------
    summaries : sequence of SeedSummary
        What is finished so far for one method, metric and attacker, in any order; intervals are over seeds where
        there are several, else over people. A dot is hollow where a model of some seed breaks what is disclosed.
    baseline : (majority, before, strong)
        Estimates from the audited model; they fix the range before any point is there.
    tolerances : sequence of float
        Of all models, also of those that are not finished.
    """
    done = _by_tolerance(summaries)
    corrected = [summary for summary in done if "attack_after" in summary.numbers]
    majority, before, strong = baseline
    alone = all(len(summary.seeds) == 1 for summary in corrected)
    before_curve = _over(
        done,
        [before_disclosure(summary) for summary in done],
        "before",
        "before",
        grid=tolerances,
        dash="dash",
    )
    after_curve = _over(
        done,
        [summary.numbers.get("attack_after") for summary in done],
        "leak",
        "after",
        grid=tolerances,
        width=3,
        dots=[_dot(summary, interval=alone) for summary in corrected],
        size=9 if alone else 7,
    )
    curves = [
        level(majority, "chance", "baseline"),
        level(strong, "strongest", "imputation", dash="dashdot"),
        before_curve,
        after_curve,
    ]
    y = percents(f"Accuracy at inferring {attribute} (%)")
    return _trained(
        "Accuracy by target tolerance", done, curves, y, height=310, holds=[before.value]
    )


def _dot(summary: SeedSummary, *, interval: bool) -> Dot:
    tolerance = summary.values["model.tolerance"]
    return Dot(
        x=tolerance,
        of=summary.numbers["attack_after"],
        hover=f"trained for {tolerance:g}, reached {summary.numbers['unfairness_train'].value:.4f}:",
        interval=interval,
        hollow=summary.count("tolerance_holds") != len(summary.seeds),
    )


def draw_models_accuracy(summaries: Sequence[SeedSummary], tolerances: Sequence[float]) -> Drawing:
    """Draw the models' accuracy on training and test set over the target tolerance; arguments as `draw_trained`."""
    done = _by_tolerance(summaries)
    test = [summary.numbers["accuracy_test"] for summary in done]
    training = [summary.numbers["accuracy_train"] for summary in done]
    curves = [
        level(summary.baselines["accuracy_test"].value, "chance", "majority class")
        for summary in done[-1:]
    ]
    curves.append(_over(done, test, "grey", "test", grid=tolerances, dash="dash"))
    curves.append(_over(done, training, "ink", "training", grid=tolerances))
    return _trained("Accuracy of the models", done, curves, percents("Model accuracy (%)"))


def draw_models_unfairness(
    summaries: Sequence[SeedSummary], tolerances: Sequence[float]
) -> Drawing:
    """Draw the models' unfairness on training and test set over the target tolerance, beside the tolerance.

    Arguments as `draw_trained`.
    """
    done = _by_tolerance(summaries)
    training = [summary.numbers["unfairness_train"] for summary in done]
    test = [summary.numbers["unfairness"] for summary in done]
    y = Scale(
        title="Achieved unfairness",
        span=0.02,
        start=0.0,
        write=lambda number: f"{value_of(number):.3f}",
    )
    axis = y.over([spread.value for spread in (*training, *test)])
    end = min(0.2, axis.ends[1])
    curves = [
        Curve(
            x=[0, end],
            of=[0, end],
            color="ink",
            width=1.5,
            dash="longdash",
            name="target",
            value="",
        ),
        _over(done, test, "grey", "test", grid=tolerances, dash="dash"),
        _over(done, training, "ink", "training", grid=tolerances),
    ]
    return _trained("Unfairness of the models", done, curves, axis)


def _by_tolerance(summaries: Sequence[SeedSummary]) -> list[SeedSummary]:
    return sorted(summaries, key=lambda summary: summary.values["model.tolerance"])


def _over(
    summaries: Sequence[SeedSummary],
    spreads: Sequence[Spread | None],
    color: str,
    name: str,
    **look: Any,
) -> Curve:
    """Return a line through the means over the target tolerance, with a band where the interval is over seeds."""
    band = any(spread is not None and spread.over == "seeds" for spread in spreads)
    tolerances = [summary.values["model.tolerance"] for summary in summaries]
    return Curve(x=tolerances, of=spreads, band=band, color=color, name=name, **look)


def _trained(
    title: str,
    done: Sequence[SeedSummary],
    curves: Sequence[Curve],
    y: Axis | Scale,
    *,
    height: int = HEIGHT,
    **more: Any,
) -> Drawing:
    """Draw curves over the target tolerance."""
    rows = summary_frame(done)
    return draw_lines(
        title, curves, x=tolerance_axis("Target tolerance"), y=y, rows=rows, height=height, **more
    )
