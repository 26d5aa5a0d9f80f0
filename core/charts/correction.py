"""Charts of the correction: accuracy by tolerance, by knowledge, by group; by model, method, forest; the map."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from core.charts.drawing import Axis, Drawing, Scale, cells, percents, value_of
from core.charts.heat import draw_heat
from core.charts.lines import Curve, Dot, draw_lines, level
from core.charts.rows import Mark, Row, draw_rows
from core.charts.theme import group_style
from core.charts.words import known, short
from core.correction import STEPS, Attribution, Disclosure
from core.estimates import Estimate, Spread, epsilon_text, interval, percent, point_interval, points, tolerance_text
from core.models import METHOD_TITLES
from core.sweep import SweepRow, summary_frame
from core.sweep.landscape import MEMBER_ATTACKER, Landscape, MapCell

if TYPE_CHECKING:
    from core.adversaries import TunedForest
    from core.correction import MoreDisclosed

_HEIGHT = 250  # of the smaller ones
_ACCURACY = percents("Accuracy (%)")


def _tolerances(title: str, last: float = 0.0) -> Axis:
    """Return the axis from 0 to 0.2, or to the last tolerance, where the slider below it ends."""
    end = max(last, 0.2)
    scale = Scale(title=f"{title} (left: stricter)", span=0.2, words=lambda told: f"{told:.2f}" if told else "0")
    axis = scale.over([0.0, end])
    marks = [mark for mark in axis.marks if mark <= end]
    return replace(axis, ends=(0.0, end), marks=marks, words=axis.words[: len(marks)])


def draw_disclosure(
    curve: Sequence[Disclosure],
    marker: Disclosure,
    strong: Estimate | None,
    *,
    attribute: str,
    attacker: str,
) -> Drawing:
    """Draw the corrected accuracy over the disclosed tolerance, with a marker at one tolerance.

    Parameters
    ----------
    curve : sequence of Disclosure
        Sorted by tolerance, from 0 to 0.2 or farther; fixes the ranges, which do not depend on the marker.
    strong : Estimate or None
        Accuracy of imputation, without the model; None where the curve is its own.
    """
    before, none = curve[0].before, marker.after is None
    curves = [level(curve[0].majority, "chance", "baseline"), level(before, "before", "before", dash="dash")]
    if strong is not None:
        curves.insert(1, level(strong, "strongest", "imputation", dash="dashdot"))
    curves.append(
        Curve(
            x=[d.told for d in curve],
            of=[d.after for d in curve],
            color="leak",
            band=True,
            width=3,
            name="no correction" if none else "after",
            value="" if none else None,
            here=marker.after or marker.before,
            hollow=none,
        )
    )
    shown = tolerance_text(marker.told)
    drawing = draw_lines(
        f"Accuracy by disclosed tolerance, {attacker}",
        curves,
        x=_tolerances("Disclosed tolerance", curve[-1].told),
        y=percents(f"Accuracy at inferring {attribute} (%)"),
        at=marker.told,
        head=f"at {shown} → {tolerance_text(marker.used)}" if marker.used > marker.told else f"at {shown}",
        holds=(before.low, before.high),
    )
    return drawing.note(told=marker.told)


def draw_recognition(marker: Disclosure, curve: Sequence[Disclosure], *, names: Sequence[str]) -> Drawing:
    """Draw, for each group and for all, the accuracy before and after the correction.

    `curve`, all positions of the slider, fixes the range; `names` are by group.
    """
    found = [(names[g.group], g.before, g.after) for g in marker.groups]
    found += [("all", marker.before, marker.after)]
    found += [("balanced accuracy", marker.balanced_before, marker.balanced_after)]
    looks = [group_style(g.group) if len(names) == 2 else ("ink", "circle") for g in marker.groups]
    looks += [("chance", "circle")] * 2
    rows = [_moved(*one, {"records": one[1].n}, look) for one, look in zip(found, looks, strict=True)]
    holds = [v for d in curve for g in d.groups for e in (g.before, g.after) if e for v in (e.low, e.high)]
    drawing = _dumbbells("Accuracy by group, before and after disclosure", rows, "group", holds)
    return drawing.note(told=marker.told)


def _moved(
    name: str,
    before: Estimate,
    after: Estimate | None,
    facts: Mapping[str, Any] = MappingProxyType({}),
    look: tuple[str, str] = ("leak", "circle"),
) -> Row:
    """Return a row with a hollow marker before and a filled one after."""
    color, symbol = look
    own = color if color in ("first", "second") else "ink"
    marks = [Mark(of=before, color="before" if color == "leak" else color, symbol=f"{symbol}-open", name="before")]
    if after is None:
        return Row(name=name, color=own, value=f"{percent(before)} → n/a", marks=marks, facts=facts)
    marks.append(Mark(of=after, color=color, symbol=symbol, name="after"))
    return Row(name=name, color=own, join=color, marks=marks, facts=facts)


def _dumbbells(title: str, rows: Sequence[Row], first: str, holds: Sequence[float] = ()) -> Drawing:
    return draw_rows(title, rows, _ACCURACY, first=first, value="before → after", holds=holds)


def draw_methods(rows: Sequence[SweepRow]) -> Drawing:
    """Draw the accuracy before and after the correction, one row a method."""
    ordered = sorted(rows, key=lambda row: list(METHOD_TITLES).index(row.method))
    lines = [_moved(METHOD_TITLES[row.method], row.before_corrected or row.before, row.after) for row in ordered]
    return _dumbbells("Accuracy of the attack by fair learning method", lines, "method")


_KNOWN = {
    "bound": "fairness constraint",
    "bound_shares": "and group proportions",
    "exact": "exact unfairness",
    "exact_shares": "exact, and proportions",
    "all_metrics": "three metrics at once",
}


def draw_more(found: Sequence[MoreDisclosed]) -> Drawing:
    """Draw the accuracy with each kind of knowledge, one row each."""
    rows = [
        _moved(
            _KNOWN[more.known],
            more.before,
            more.after,
            {
                **cells("gain", more.gain),
                "guesses changed": more.n_changed,
                "solver status": more.certificate.status,
                "best bound": more.certificate.best_bound,
                "reason": more.reason,
            },
        )
        for more in found
    ]
    return _dumbbells("Accuracy of the attack by what is disclosed", rows, "attacker knows")


_NAMES = {
    "majority": "Baseline",
    "features": "+ features",
    "predictions": "+ predictions",
    "shares": "+ group proportions",
    "constraint": "+ fairness constraint",
    "constraint_without_shares": "constraint only",
    "permuted_predictions": "permutation control",
}


def draw_waterfall(
    found: Attribution, strong: Estimate, *, words: str, attribute: str, now: Disclosure | None = None
) -> Drawing:
    """Draw what each step adds from the top; the baseline is a dot, because a bar from a cut axis would mislead.

    The last row and a vertical line are `strong`, the accuracy of imputation, without the model; `words` is what to
    call it. Below the steps stand, hollow, those beside the path, or with `now` the published correction of the same
    attacker with the same knowledge.
    """
    lines: list[Row] = []
    end = math.nan
    for step in found.steps:
        path, reached = step.step in STEPS, step.values["accuracy"]
        if step.step not in _NAMES or not step.n_seeds or (now is not None and not path):
            continue
        base = end if path else found.step(step.builds_on or "majority").values["accuracy"].value
        color = "leak" if step.step.startswith("constraint") else "before"
        lines.append(_step(_NAMES[step.step], reached, step.changes.get("accuracy"), base, color, aside=not path))
        end = reached.value if path else end
    if now is not None and now.majority.value != found.step("majority").values["accuracy"].value:
        lines[0] = replace(lines[0], name="Baseline they know")  # among them another group is the largest
    if now is not None and now.after is not None:
        lines.append(_step("constraint only (published)", now.after, now.gain, now.before.value, "leak", aside=True))
    mark = Mark(of=strong, color="strongest", name="accuracy")
    lines.append(Row(name=words, color="strongest", marks=[mark], dash="dashdot"))
    title = f"What each piece of knowledge adds to inferring {attribute}"
    drawing = draw_rows(title, lines, _ACCURACY, first="attacker knows", value="points")
    return drawing if now is None else drawing.note(told=now.told)


def _step(name: str, reached: Estimate, change: Estimate | None, base: float, color: str, *, aside: bool) -> Row:
    """Return a row of the waterfall: a bar from where the one above ends, a dot where none does."""
    if math.isnan(base):
        marks = [Mark(of=reached, color="chance", name="accuracy")]
        return Row(name=name, value=f"<b>{percent(reached)}</b>", marks=marks, color="chance")
    mark = Mark(of=reached, color=color, symbol="", name="accuracy", bar=base, hollow=aside)
    value = "" if math.isnan(value_of(change)) else f"<b>{points(value_of(change)).removesuffix(' points')}</b>"
    return Row(name=name, value=value, color="grey" if aside else "ink", marks=[mark], apart=aside)


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
    found = [[row.unfairness_train for row in done], [row.unfairness_test for row in done]]
    y = Scale(title="Achieved unfairness", span=0.02, start=0.0, write=lambda number: f"{value_of(number):.3f}")
    axis = y.over([spread.value for some in found for spread in some])
    end = min(0.2, axis.ends[1])
    curves = [
        Curve(x=[0, end], of=[0, end], color="ink", width=1.5, dash="longdash", name="target", value=""),
        _over(done, found[1], "grey", "test", grid=tolerances, dash="dash"),
        _over(done, found[0], "ink", "training", grid=tolerances),
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
    height: int = _HEIGHT,
    **more: Any,
) -> Drawing:
    """Draw curves over the target tolerance."""
    rows = summary_frame(done)
    return draw_lines(title, curves, x=_tolerances("Target tolerance"), y=y, rows=rows, height=height, **more)


def draw_search(found: TunedForest) -> Drawing:
    """Draw the score of every forest tried, and the best so far."""
    scores = [trial.score.value for trial in found.trials]
    tried, n, best = range(1, len(scores) + 1), len(scores), list(accumulate(scores, max))
    marks = [mark for mark in Scale(title="").over([1, n]).marks if 1 <= mark <= n and mark == round(mark)]
    x = Axis(ends=(0, n + 1), marks=marks, words=[f"{mark:g}" for mark in marks], title="Trial")
    pairs = zip(tried, scores, strict=True)
    dots = [Dot(x=number, of=score, hover=f"forest {number}:", hollow=True) for number, score in pairs]
    curves = [
        level(scores[0], "grey", "published"),
        Curve(x=tried, of=best, color="leak", name="best"),
        Curve(x=tried, of=[None] * n, color="before", dots=dots, size=6),
    ]
    y, title = percents("Balanced accuracy (%)"), "Forests in the order they were tried"
    return draw_lines(title, curves, x=x, y=y, rows=found.to_frame(), holds=scores, height=_HEIGHT)


def draw_landscape(found: Landscape) -> Drawing:
    """Draw the map of at least one cell: target tolerance across, privacy budget down, colour the gain.

    What is written is the accuracy after disclosure, in bold where the gain is significant.
    """
    tolerances, epsilons, controls = found.plan.tolerances, found.plan.epsilons, found.controls()
    every = {(cell.tolerance, cell.epsilon): cell for cell in found.cells}
    cells = [[every[tolerance, epsilon] for tolerance in tolerances] for epsilon in epsilons]
    same, gains = percent(controls["majority_label"]), [[_gained(cell) for cell in row] for row in cells]
    most = max([0.01, *known([gain for row in gains for gain in row])])
    columns = ["none" if tolerance is None else f"{tolerance:g}" for tolerance in tolerances]
    drawing = draw_heat(
        f"Accuracy at inferring {found.attribute} after disclosure, by model",
        gains,
        [[_number(cell) for cell in row] for row in cells],
        names=(columns, [f"ε = {epsilon_text(epsilon)}" for epsilon in epsilons]),
        titles=("Fairness tolerance, trained and disclosed (left: stricter)", "Privacy budget ε"),
        ends=(0.0, most),
        hover=[[_hover(found, cell, same) for cell in row] for row in cells],
        rows=found.to_frame(),
        beside=("Membership AUC", [_area(row[0].members) for row in cells]),
    )
    for place in range(1, len(tolerances)):
        if None in tolerances[place - 1 : place + 1]:  # what nothing is disclosed of is set apart
            drawing.segment(place - 0.5, drawing.y.ends, "background", width=8)
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


def _hover(found: Landscape, cell: MapCell, same_for_all: str) -> str:
    """Return what the pointer shows of a cell, in lines that fit a narrow screen."""
    trained = "No tolerance" if cell.tolerance is None else f"Tolerance {cell.tolerance:g}"
    lines = [
        f"<b>{trained}, ε = {epsilon_text(cell.epsilon)}</b>",
        f"{short(found.attribute)} inferred <b>{percent(cell.after)}</b> ({interval(cell.after)})",
    ]
    if cell.tolerance is None:
        lines.append("nothing is disclosed")
    else:
        span = "one seed, no interval" if math.isnan(cell.gain.low) else point_interval(cell.gain)
        lines.append(f"gain from disclosure {points(cell.gain)} ({span})")
        lines.append(f"imputation without the model {percent(found.controls()['strong'])}")
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


def _distance(found: Estimate) -> str:
    if math.isnan(found.low):
        return f"{found.value:.3f}"
    return f"{found.value:.3f} ({found.low:.3f} to {found.high:.3f})"
