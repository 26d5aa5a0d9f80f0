"""Charts of the correction: accuracy by tolerance, by knowledge, by group; by model, method, forest; the map."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from core.charts.drawing import Axis, Drawing, cells, percents, rounded
from core.charts.heat import draw_heat
from core.charts.lines import Curve, Dot, compared, draw_lines, level, reach
from core.charts.rows import Row, draw_rows, rate, spans
from core.charts.theme import Palette
from core.charts.words import known, short
from core.correction import STEPS, Attribution, Disclosure
from core.estimates import Estimate, Spread, epsilon_text, interval, percent, points, tolerance_text
from core.models import METHOD_TITLES
from core.sweep import SweepRow
from core.sweep.landscape import MEMBER_ATTACKER, Landscape, MapCell

if TYPE_CHECKING:
    from core.adversaries import TunedForest
    from core.correction import MoreDisclosed

_HEIGHT = 250  # of the smaller ones
_ACCURACY = "Accuracy (%)"


def _tolerances(title: str) -> Axis:
    words = ("0", "0.05", "0.10", "0.15", "0.20")
    return Axis(ends=(0.0, 0.2), marks=(0, 0.05, 0.1, 0.15, 0.2), words=words, title=f"{title} (left: stricter)")


def draw_disclosure(
    curve: Sequence[Disclosure],
    marker: Disclosure,
    strong: Estimate | None,
    palette: Palette,
    *,
    attribute: str,
    attacker: str,
    difference: float = math.nan,
) -> Drawing:
    """Draw the corrected accuracy over the disclosed tolerance, with a marker at one tolerance.

    Parameters
    ----------
    curve : sequence of Disclosure
        Sorted by tolerance, from 0 to 0.2; fixes the ranges, which do not depend on the marker.
    strong : Estimate or None
        Accuracy of imputation, without the model; None where the curve is its own.
    difference : float
        The model's difference between groups, for the table.
    """
    before, baseline = curve[0].before, curve[0].majority
    x = _tolerances("Disclosed tolerance")
    curves = [compared(x, baseline, palette.chance, "baseline")]
    if strong is not None:
        curves.append(compared(x, strong, palette.strongest, "imputation", dash="dashdot"))
    curves.append(compared(x, before, palette.before, "before", dash="dash"))
    corrected = Curve.of(
        [d.told for d in curve],
        [d.after for d in curve],
        color=palette.leak,
        width=3,
        name="no correction" if marker.after is None else "after",
        value=percent(marker.after) if marker.after is not None else "",
        hover="disclosed %{x:.3f}: %{y:.1f}%",
        now=100 * (marker.after or marker.before).value,
        hollow=marker.after is None,
    )
    curves.append(corrected)
    y = percents([*reach(curves), 100 * before.low, 100 * before.high], f"Accuracy at inferring {attribute} (%)")
    told = tolerance_text(marker.told)
    head = f"at {told} → {tolerance_text(marker.used)}" if marker.used > marker.told else f"at {told}"
    rows = _disclosed(curve, strong, difference)
    at, title = min(marker.told, x.ends[1]), f"Accuracy by disclosed tolerance, {attacker}"
    drawing = draw_lines(palette, title, curves, x=x, y=y, rows=rows, at=at, head=head)
    drawing.sketch.note(told=marker.told)
    return drawing


def _disclosed(curve: Sequence[Disclosure], strong: Estimate | None, difference: float) -> list[dict[str, Any]]:
    return [
        {
            "disclosed tolerance": d.told,
            "tolerance used": d.used,
            "model's unfairness": d.achieved,
            "model's difference between groups": difference,
            "baseline": d.majority.value,
            "accuracy before": d.before.value,
            **cells("accuracy after", d.after),
            "gain": d.gain.value if d.gain else None,
            "balanced before": d.balanced_before.value,
            "balanced after": d.balanced_after.value if d.balanced_after else None,
            "guesses changed": d.n_changed,
            "correct changes": d.n_right,
            "exponent": d.exponent,
            "solver status": d.certificate.status,
            "imputation, without the model": strong.value if strong else None,
        }
        for d in curve
    ]


def draw_recognition(
    marker: Disclosure, curve: Sequence[Disclosure], palette: Palette, *, names: Sequence[str]
) -> Drawing:
    """Draw, for each group and for all, the accuracy before and after the correction.

    `curve`, all positions of the slider, fixes the range; `names` are by group.
    """
    found = [(names[g.group], g.before, g.after) for g in marker.groups]
    found += [("all", marker.before, marker.after)]
    found += [("balanced accuracy", marker.balanced_before, marker.balanced_after)]
    rows = [_moved(name, before, after, palette, records=before.n) for name, before, after in found]
    every = [100 * v for d in curve for g in d.groups for e in (g.before, g.after) if e for v in (e.low, e.high)]
    drawing = _dumbbells("Accuracy by group, before and after disclosure", rows, palette, "group", every)
    drawing.sketch.note(told=marker.told)
    return drawing


def _moved(name: str, before: Estimate, after: Estimate | None, palette: Palette, **facts: Any) -> Row:
    """Return a row with before as a ring and after as a dot."""
    marks, value = [rate(before, palette.before, "circle-open", name="before")], percent(before)
    if after is not None:
        marks.append(rate(after, palette.leak, name="after"))
        value = f"{value} → <b>{percent(after)}</b>"
    return Row(name=name, value=value, join=palette.leak, marks=marks, facts=facts)


def _dumbbells(title: str, rows: Sequence[Row], palette: Palette, first: str, every: Sequence[float] = ()) -> Drawing:
    axis = percents([*every, *spans(rows)], _ACCURACY)
    return draw_rows(palette, title, rows, axis, first=first, value="before → after")


def draw_methods(rows: Sequence[SweepRow], palette: Palette) -> Drawing:
    """Draw the accuracy before and after the correction, one row a method."""
    ordered = sorted(rows, key=lambda row: list(METHOD_TITLES).index(row.method))
    lines = []
    for row in ordered:
        after = None if row.after is None else as_estimate(row.after)
        before = as_estimate(row.before_corrected or row.before)
        lines.append(_moved(METHOD_TITLES[row.method], before, after, palette))
    return _dumbbells("Accuracy of the attack by fair learning method", lines, palette, "method")


_KNOWN = {
    "bound": "fairness constraint",
    "bound_shares": "and group proportions",
    "exact": "exact unfairness",
    "exact_shares": "exact, and proportions",
    "all_metrics": "three metrics at once",
}


def draw_more(found: Sequence[MoreDisclosed], palette: Palette) -> Drawing:
    """Draw the accuracy with each kind of knowledge, one row each."""
    rows = [
        _moved(
            _KNOWN[more.known],
            more.before,
            more.after,
            palette,
            **cells("gain", more.gain),
            **{"guesses changed": more.n_changed, "solver status": more.certificate.status},
            **{"best bound": more.certificate.best_bound, "reason": more.reason},
        )
        for more in found
    ]
    return _dumbbells("Accuracy of the attack by what is disclosed", rows, palette, "attacker knows")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing the attacker knows more, and the accuracy with it."""

    name: str
    reached: Estimate
    change: Estimate | None = None  # against the row before, or against `base` where that is given
    promise: bool = False  # whether the row is the fairness constraint, whose effect is the point of the chart
    base: float | None = None  # where the bar begins when it is no step of the path: drawn hollow, below a line


_NAMES = {
    "majority": "Baseline",
    "features": "+ features",
    "predictions": "+ predictions",
    "shares": "+ group proportions",
    "constraint": "+ fairness constraint",
    "constraint_without_shares": "constraint only",
    "permuted_predictions": "permutation control",
}


def rows_of_one(found: Attribution, now: Disclosure) -> list[Step]:
    """Return the rows of one audit, with the correction of the same attacker, told the same, beside the path."""
    names = dict(_NAMES)
    if found.steps[0].values["accuracy"].value != now.majority.value:
        # among the people they know another group is the largest
        names["majority"] = "Baseline they know"
    path = replace(found, steps=tuple(step for step in found.steps if step.step in STEPS))
    rows = rows_over_seeds(path, names)
    if now.after is not None:
        name = "constraint only (published)"
        rows.append(Step(name=name, reached=now.after, change=now.gain, promise=True, base=now.before.value))
    return rows


def rows_over_seeds(found: Attribution, names: Mapping[str, str] = _NAMES) -> list[Step]:
    """Return the rows of several seeds, with the constraint alone and the permutation control beside the path."""
    rows = []
    for step in found.steps:
        if step.step not in names or not step.n_seeds:
            continue
        aside = step.step not in STEPS
        base = found.step(step.builds_on).values["accuracy"].value if aside and step.builds_on else None
        rows.append(
            Step(
                name=names[step.step],
                reached=step.values["accuracy"],
                change=step.changes["accuracy"] if step.changes else None,
                promise=step.step.startswith("constraint"),
                base=base,
            )
        )
    return rows


def draw_waterfall(
    rows: Sequence[Step], strong: Estimate, palette: Palette, *, words: str, attribute: str, told: float | None = None
) -> Drawing:
    """Draw the steps from the top; the first is the baseline, a dot, because a bar from a cut axis would mislead.

    There are at least two. The last row and a vertical line are `strong`, the accuracy of imputation, without the
    model; `words` is what to call it. `told`, the disclosed tolerance, is noted for tests.
    """
    lines, before = [], rows[0].reached.value
    for i, row in enumerate(rows):
        lines.append(_step(row, 100 * (before if row.base is None else row.base), palette, first=i == 0))
        before = row.reached.value if row.base is None else before
    value, mark = f"<b>{percent(strong)}</b>", rate(strong, palette.strongest, name="accuracy")
    lines.append(Row(name=words, value=value, color=palette.strongest, marks=[mark], dash="dashdot"))
    title = f"What each piece of knowledge adds to inferring {attribute}"
    axis = percents(spans(lines), _ACCURACY)
    drawing = draw_rows(palette, title, lines, axis, first="attacker knows", value="points")
    if told is not None:
        drawing.sketch.note(told=told)
    return drawing


def _step(row: Step, start: float, palette: Palette, *, first: bool) -> Row:
    """Return a row of the waterfall: a dot for the baseline, else a bar from where the one above ends."""
    facts = cells("change", row.change)
    if first:
        mark = rate(row.reached, palette.chance, name="accuracy")
        return Row(name=row.name, value=percent(row.reached), marks=[mark], color=palette.grey, facts=facts)
    color, aside = palette.leak if row.promise else palette.before, row.base is not None
    mark = rate(row.reached, color, "", name="accuracy", bar=start, hollow=aside)
    known = row.change is not None and not math.isnan(row.change.value)
    value = f"<b>{points(row.change).removesuffix(' points')}</b>" if known and row.change is not None else ""
    tint = palette.grey if aside else ""
    return Row(name=row.name, value=value, color=tint, marks=[mark], apart=aside, facts=facts)


_TRAINED = "Target tolerance"


def draw_trained(
    rows: Sequence[SweepRow], baseline: tuple[Estimate, Estimate, Estimate], palette: Palette, *, attribute: str
) -> Drawing:
    """Draw the accuracy at models trained for different tolerances, each disclosed (Ferry et al. 2023, figures 2-4).

    Parameters
    ----------
    rows : sequence of SweepRow
        What is finished so far for one method, metric and attacker, in any order; intervals are over seeds where
        there are several, else over people. A dot is hollow where a model of some seed breaks what is disclosed.
    baseline : (majority, before, strong)
        Estimates from the audited model; they fix the range before any point is there.
    """
    done = sorted(rows, key=lambda row: row.tolerance)
    majority, before, strong = baseline
    x = _tolerances(_TRAINED)
    there = [(row, row.after, as_estimate(row.after)) for row in done if row.after is not None]
    alone = all(len(row.seeds) == 1 for row, _, _ in there)
    dots = [
        Dot(
            x=row.tolerance,
            y=100 * after.value,
            told=f"trained for {row.tolerance:g}, reached {row.unfairness_train.value:.4f}: {100 * after.value:.1f}%",
            ends=(100 * after.low, 100 * after.high) if alone else (math.nan, math.nan),
            hollow=row.n_true != len(row.seeds),
        )
        for row, _, after in there
    ]
    corrected = [row.before_corrected or row.before for row in done]
    curves = [
        compared(x, majority, palette.chance, "baseline"),
        compared(x, strong, palette.strongest, "imputation", dash="dashdot"),
        _over(done, corrected, palette.before, "before", dash="dash"),
        _over(done, [row.after for row in done], palette.leak, "after", width=3, dots=dots, size=9 if alone else 7),
    ]
    held = [*reach(curves), *(v for dot in dots for v in dot.ends), 100 * before.value]
    y, title = percents(held, f"Accuracy at inferring {attribute} (%)"), "Accuracy by target tolerance"
    return draw_lines(palette, title, curves, x=x, y=y, rows=_swept(done))


def draw_models_accuracy(rows: Sequence[SweepRow], palette: Palette) -> Drawing:
    """Draw the models' accuracy on training and test set over the target tolerance."""
    done = sorted(rows, key=lambda row: row.tolerance)
    x = _tolerances(_TRAINED)
    same = [as_estimate(row.model_majority) for row in done[-1:]]
    curves = [compared(x, rate, palette.chance, "majority class") for rate in same]
    curves.append(_over(done, [row.model_test for row in done], palette.grey, "test", dash="dash"))
    curves.append(_over(done, [row.model_train for row in done], palette.ink, "training"))
    y, title = percents(reach(curves), _ACCURACY), "Accuracy of the models"
    return draw_lines(palette, title, curves, x=x, y=y, rows=_swept(done), height=_HEIGHT)


def draw_models_unfairness(rows: Sequence[SweepRow], palette: Palette) -> Drawing:
    """Draw the models' unfairness on training and test set over the target tolerance, beside the tolerance."""
    done = sorted(rows, key=lambda row: row.tolerance)
    achieved = [s.value for row in done for s in (row.unfairness_train, row.unfairness_test)]
    x, y = _tolerances(_TRAINED), rounded([0.0, *achieved], "Unfairness", span=0.02)
    end, title = min(x.ends[1], y.ends[1]), "Unfairness of the models"
    target = Curve(x=[0, end], y=[0, end], color=palette.ink, width=1.5, dash="longdash", name="target")
    curves = [
        target,
        _over(done, [row.unfairness_test for row in done], palette.grey, "test", scale=1.0, dash="dash"),
        _over(done, [row.unfairness_train for row in done], palette.ink, "training", scale=1.0),
    ]
    return draw_lines(palette, title, curves, x=x, y=y, rows=_swept(done), height=_HEIGHT)


def as_estimate(spread: Spread) -> Estimate:
    """Return a number over seeds in the form that labels and ranges take."""
    low, high = (spread.value if math.isnan(v) else v for v in (spread.low, spread.high))
    return Estimate(value=spread.value, low=low, high=high, n=spread.seeds)


def _over(
    rows: Sequence[SweepRow],
    spreads: Sequence[Spread | None],
    color: str,
    name: str,
    *,
    scale: float = 100.0,
    **look: Any,
) -> Curve:
    """Return a line through the means over the target tolerance, with a band where the interval is over seeds."""
    banded = any(s is not None and s.over == "seeds" for s in spreads)
    last = next((spread for spread in reversed(spreads) if spread is not None), None)
    value = "" if last is None else percent(last) if scale == 100.0 else f"{last.value:.3f}"
    x = [row.tolerance for row in rows]
    return Curve.of(x, spreads, scale=scale, band=banded, color=color, name=name, value=value, **look)


def _swept(rows: Sequence[SweepRow]) -> list[dict[str, Any]]:
    def told(name: str, spread: Spread | None) -> dict[str, float | None]:
        parts = {"": "value", ", low": "low", ", high": "high", ", sd over seeds": "sd"}
        return {f"{name}{end}": None if spread is None else getattr(spread, part) for end, part in parts.items()}

    return [
        {
            "target tolerance": row.tolerance,
            "seeds": len(row.seeds),
            "seeds in which it holds": row.n_true,
            **told("unfairness, training", row.unfairness_train),
            **told("unfairness, test", row.unfairness_test),
            **told("difference between groups, training", row.difference_train),
            **told("difference between groups, test", row.difference_test),
            **told("model accuracy, training", row.model_train),
            **told("model accuracy, test", row.model_test),
            **told("accuracy before", row.before),
            **told("accuracy after", row.after),
            **told("gain", row.gain),
        }
        for row in rows
    ]


def draw_search(found: TunedForest, palette: Palette) -> Drawing:
    """Draw the score of every forest tried, and the best so far."""
    scores = [100 * trial.score.value for trial in found.trials]
    n, best = len(scores), list(accumulate(scores, max))
    steps = rounded([1, n], "Forests tried")
    marks = sorted({max(1, round(mark)) for mark in steps.marks if mark <= n})
    x = Axis(ends=(0, n + 1), marks=marks, words=[f"{mark}" for mark in marks], title=steps.title)
    tried = list(range(1, n + 1))
    told = [f"forest {number}: {score:.1f}%" for number, score in zip(tried, scores, strict=True)]
    dots = [Dot(x=x, y=y, told=words, hollow=True) for x, y, words in zip(tried, scores, told, strict=True)]
    look: dict[str, Any] = {"name": "published", "value": f"{scores[0]:.1f}%"}
    curves = [
        level(x, scores[0], palette.grey, **look, dash="dot"),
        Curve(x=tried, y=best, color=palette.leak, name="best", value=f"{best[-1]:.1f}%"),
        Curve(x=tried, y=[None] * n, color=palette.before, dots=dots, size=6),
    ]
    y, title = percents(scores, "Balanced accuracy (%)"), "Forests in the order they were tried"
    return draw_lines(palette, title, curves, x=x, y=y, rows=found.to_frame(), height=_HEIGHT)


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
