"""Charts of the correction: accuracy by tolerance, by knowledge, by group, by forest."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ...charts.drawing import Axis, Drawing, Scale, cells, percents, value_of
from ...charts.lines import Curve, Dot, draw_lines, level
from ...charts.rows import Mark, Row, draw_rows
from ...charts.theme import group_style
from ...stats.estimates import Estimate, percent, points, tolerance_text
from . import STEPS, Attribution, Disclosure

if TYPE_CHECKING:
    from ...adversaries import TunedForest
    from . import MoreDisclosed

HEIGHT = 250
"""Height of the smaller charts, in pixels."""

_ACCURACY = percents("Accuracy (%)")


def tolerance_axis(title: str, last: float = 0.0) -> Axis:
    """Return the axis from 0 to 0.2, or to the last tolerance, where the slider below it ends."""
    end = max(last, 0.2)
    scale = Scale(
        title=f"{title} (left: stricter)",
        span=0.2,
        label=lambda tolerance: f"{tolerance:.2f}" if tolerance else "0",
    )
    axis = scale.over([0.0, end])
    marks = [mark for mark in axis.marks if mark <= end]
    return replace(axis, ends=(0.0, end), marks=marks, labels=axis.labels[: len(marks)])


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
    before = curve[0].before
    none = marker.after is None
    curve_name = "after"
    curve_value = None
    if none:
        curve_name = "no correction"
        curve_value = ""
    curves = [
        level(curve[0].majority, "chance", "baseline"),
        level(before, "before", "before", dash="dash"),
    ]
    if strong is not None:
        curves.insert(1, level(strong, "strongest", "imputation", dash="dashdot"))
    curves.append(
        Curve(
            x=[d.disclosed_tolerance for d in curve],
            of=[d.after for d in curve],
            color="leak",
            band=True,
            width=3,
            name=curve_name,
            value=curve_value,
            current=marker.after or marker.before,
            hollow=none,
        )
    )
    text = tolerance_text(marker.disclosed_tolerance)
    if marker.used > marker.disclosed_tolerance:
        head = f"at {text} → {tolerance_text(marker.used)}"
    else:
        head = f"at {text}"
    drawing = draw_lines(
        f"Accuracy by disclosed tolerance, {attacker}",
        curves,
        x=tolerance_axis("Disclosed tolerance", curve[-1].disclosed_tolerance),
        y=percents(f"Accuracy at inferring {attribute} (%)"),
        at=marker.disclosed_tolerance,
        head=head,
        holds=(before.low, before.high),
    )
    return drawing.note(told=marker.disclosed_tolerance)


def draw_recognition(
    marker: Disclosure, curve: Sequence[Disclosure], *, names: Sequence[str]
) -> Drawing:
    """Draw, for each group and for all, the accuracy before and after the correction.

    `curve`, all positions of the slider, fixes the range; `names` are by group.
    """
    accuracies = [(names[group], *recognised) for group, recognised in marker.groups.items()]
    accuracies += [("all", marker.before, marker.after)]
    accuracies += [("balanced accuracy", marker.balanced_before, marker.balanced_after)]
    looks = [group_style(g) if len(names) == 2 else ("ink", "circle") for g in marker.groups]
    looks += [("chance", "circle")] * 2
    rows = [
        moved(*entry, {"records": entry[1].n}, look)
        for entry, look in zip(accuracies, looks, strict=True)
    ]
    holds = [
        v
        for d in curve
        for recognised in d.groups.values()
        for e in recognised
        if e
        for v in (e.low, e.high)
    ]
    drawing = draw_dumbbells("Accuracy by group, before and after disclosure", rows, "group", holds)
    return drawing.note(told=marker.disclosed_tolerance)


def moved(
    name: str,
    before: Estimate,
    after: Estimate | None,
    facts: Mapping[str, Any] = MappingProxyType({}),
    look: tuple[str, str] = ("leak", "circle"),
) -> Row:
    """Return a row with a hollow marker before and a filled one after."""
    color, symbol = look
    name_color = color if color in ("first", "second") else "ink"
    before_color = "before" if color == "leak" else color
    marks = [Mark(of=before, color=before_color, symbol=f"{symbol}-open", name="before")]
    if after is None:
        return Row(
            name=name, color=name_color, value=f"{percent(before)} → n/a", marks=marks, facts=facts
        )
    marks.append(Mark(of=after, color=color, symbol=symbol, name="after"))
    return Row(name=name, color=name_color, join=color, marks=marks, facts=facts)


def draw_dumbbells(
    title: str, rows: Sequence[Row], first: str, holds: Sequence[float] = ()
) -> Drawing:
    """Draw rows with an accuracy before and one after."""
    return draw_rows(title, rows, _ACCURACY, first=first, value="before → after", holds=holds)


_KNOWLEDGE = {
    "bound": "fairness constraint",
    "bound_shares": "and group proportions",
    "exact": "exact unfairness",
    "exact_shares": "exact, and proportions",
    "all_metrics": "three metrics at once",
}


def draw_more(disclosures: Sequence[MoreDisclosed]) -> Drawing:
    """Draw the accuracy with each kind of knowledge, one row each."""
    rows = [
        moved(
            _KNOWLEDGE[more.knowledge],
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
        for more in disclosures
    ]
    return draw_dumbbells("Accuracy of the attack by what is disclosed", rows, "attacker knows")


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
    attribution: Attribution,
    strong: Estimate,
    *,
    label: str,
    attribute: str,
    now: Disclosure | None = None,
) -> Drawing:
    """Draw what each step adds from the top; the baseline is a dot, because a bar from a cut axis would mislead.

    The last row and a vertical line are `strong`, the accuracy of imputation, without the model; `label` is what to
    call it. Below the steps stand, hollow, those beside the path, or with `now` the published correction of the same
    attacker with the same knowledge.
    """
    lines: list[Row] = []
    end = math.nan
    for step in attribution.steps:
        path = step.step in STEPS
        reached = step.values["accuracy"]
        if step.step not in _NAMES or not step.n_seeds or (now is not None and not path):
            continue
        if path:
            base = end
        else:
            base = attribution.step(step.builds_on or "majority").values["accuracy"].value
        if step.step.startswith("constraint"):
            color = "leak"
        else:
            color = "before"
        lines.append(
            _step(
                _NAMES[step.step],
                reached,
                step.changes.get("accuracy"),
                base,
                color,
                aside=not path,
            )
        )
        if path:
            end = reached.value
    if (
        now is not None
        and now.majority.value != attribution.step("majority").values["accuracy"].value
    ):
        lines[0] = replace(
            lines[0], name="Baseline they know"
        )  # among them another group is the largest
    if now is not None and now.after is not None:
        lines.append(
            _step(
                "constraint only (published)",
                now.after,
                now.gain,
                now.before.value,
                "leak",
                aside=True,
            )
        )
    mark = Mark(of=strong, color="strongest", name="accuracy")
    lines.append(Row(name=label, color="strongest", marks=[mark], dash="dashdot"))
    title = f"What each piece of knowledge adds to inferring {attribute}"
    drawing = draw_rows(title, lines, _ACCURACY, first="attacker knows", value="points")
    if now is None:
        return drawing
    return drawing.note(told=now.disclosed_tolerance)


def _step(
    name: str, reached: Estimate, change: Estimate | None, base: float, color: str, *, aside: bool
) -> Row:
    """Return a row of the waterfall: a bar from where the one above ends, a dot where none does."""
    if math.isnan(base):
        marks = [Mark(of=reached, color="chance", name="accuracy")]
        return Row(name=name, value=f"<b>{percent(reached)}</b>", marks=marks, color="chance")
    mark = Mark(of=reached, color=color, symbol="", name="accuracy", bar=base, hollow=aside)
    if math.isnan(value_of(change)):
        value = ""
    else:
        value = f"<b>{points(value_of(change)).removesuffix(' points')}</b>"
    if aside:
        color = "grey"
    else:
        color = "ink"
    return Row(name=name, value=value, color=color, marks=[mark], separated=aside)


def draw_search(search: TunedForest) -> Drawing:
    """Draw the score of every forest tried, and the best so far."""
    scores = [score.value for _, score in search.trials]
    tried = range(1, len(scores) + 1)
    n = len(scores)
    best = list(accumulate(scores, max))
    marks = [
        mark
        for mark in Scale(title="").over([1, n]).marks
        if 1 <= mark <= n and mark == round(mark)
    ]
    x = Axis(ends=(0, n + 1), marks=marks, labels=[f"{mark:g}" for mark in marks], title="Trial")
    pairs = zip(tried, scores, strict=True)
    dots = [
        Dot(x=number, of=score, hover=f"forest {number}:", hollow=True) for number, score in pairs
    ]
    curves = [
        level(scores[0], "grey", "published"),
        Curve(x=tried, of=best, color="leak", name="best"),
        Curve(x=tried, of=[None] * n, color="before", dots=dots, size=6),
    ]
    y = percents("Balanced accuracy (%)")
    title = "Forests in the order they were tried"
    return draw_lines(title, curves, x=x, y=y, rows=search.to_frame(), holds=scores, height=HEIGHT)
