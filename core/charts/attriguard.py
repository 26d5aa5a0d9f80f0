"""Charts of AttriGuard over the budget: attackers' accuracy, cost, other defences.

Grey are attackers who do not know of the noise, violet and orange those who do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.attriguard import Point, strongest_point
from core.charts.drawing import Axis, Drawing, Palette, limits, percents, rounded, short
from core.charts.lines import Curve, compared, draw_lines, level, reach
from core.charts.rows import Mark, Row, draw_rows, spans
from core.estimates import Estimate, percent

_HEIGHT = 310
_GUTTER = 150  # pixels for the names of attackers, and as many for the slider under the chart

_LABELS = {
    "logistic": "Logistic",
    "forest": "Forest",
    "network": "Network",
    "one_vs_rest": "One-vs-rest",
    "boosting": "Boosting",
    "adversarial": "Noise-trained",
    "adversarial_logistic": "Trained logistic",
    "distillation": "Distilled",
    "region": "Region",
    "low_rank": "Low rank",
    "dropping": "Drops noisy",
}
_UNAWARE = ("logistic", "forest", "network", "boosting", "one_vs_rest")
_UNAWARE_DASHES = ("solid", "dash", "longdash", "dashdot", "longdashdot")
_AWARE_DASHES = ("dashdot", "dash", "longdash", "longdashdot")


def attacker_label(attacker: str) -> str:
    """Return an attacker's name, short enough for the column of labels."""
    return _LABELS.get(attacker, attacker.replace("_", " ").capitalize())


def knows_the_noise(attacker: str) -> bool:
    """Whether an attacker reckons with noise."""
    return attacker not in _UNAWARE


def _looks(attackers: Sequence[str], palette: Palette) -> dict[str, dict[str, Any]]:
    """Return a colour by what the attacker knows, and a dash of her own within it."""
    unaware = [name for name in attackers if not knows_the_noise(name)]
    others = [name for name in attackers if knows_the_noise(name) and not name.startswith("adversarial")]
    trained = sorted(name for name in attackers if name.startswith("adversarial"))
    return {
        name: {"color": color, "dash": dashes[i % len(dashes)], "width": width}
        for names, color, dashes, width in (
            (unaware, palette.before, _UNAWARE_DASHES, 2),
            (others, palette.strongest, _AWARE_DASHES, 2),
            (trained, palette.leak, ("solid", "dash"), 3),
        )
        for i, name in enumerate(names)
    }


def draw_budget(
    curves: Mapping[str, Sequence[Point]],
    now: Sequence[Point],
    floor: Estimate,
    palette: Palette,
    *,
    last: float,
    budget: float,
    unit: str,
    attribute: str,
    balanced: bool = False,
    published: Sequence[tuple[float, float]] = (),
) -> Drawing:
    """Draw every attacker's accuracy over the budget, with the majority guess as the floor.

    Parameters
    ----------
    curves : mapping of attacker to its points
        Sorted by budget; may be incomplete.
    now : sequence of Point
        The same attackers at the slider, which stands at `budget`.
    floor : Estimate
        Accuracy of the majority guess.
    last : float
        Right end of the axis, in entries changed per person.
    unit, attribute : str
        What one entry is called, and what is private.
    balanced : bool
        Whether each value counts alike, not each person.
    published : sequence of (budget, accuracy)
        The paper's curve, drawn thin; empty where the paper has none.
    """
    x, looks = budgets(last, unit), _looks(list(curves), palette)
    drawn = [compared(x, floor, palette.chance, "Majority")]
    if there := [(b, 100 * rate) for b, rate in published if b <= last]:
        xs, ys = ([point[i] for point in there] for i in (0, 1))
        drawn.append(Curve(x=xs, y=ys, color=palette.muted, width=1.5, dash="dot", words="Paper's network"))
    for name, points in curves.items():
        found = [point.rate(balanced=balanced) for point in points]
        look, here = looks[name], next((p.rate(balanced=balanced) for p in now if p.attacker == name), None)
        banded, label = look["width"] > 2, attacker_label(name)
        words = label if here is None else f"<b>{percent(here)}</b> {label}"
        hover = f"{label}, %{{x:.2f}} {unit}: %{{y:.1f}}%"
        at = None if here is None else 100 * here.value
        drawn.append(Curve.of([p.budget for p in points], found, band=banded, words=words, hover=hover, now=at, **look))
    y = percents(reach(drawn), "named rightly (%)")
    sketch = draw_lines(palette, drawn, x=x, y=y, height=_HEIGHT, gutter=_GUTTER, at=budget, head=f"at {budget:g}")
    sketch.note(budget=budget)
    alt = _alt(now, floor, unit, attribute, budget, balanced=balanced)
    return Drawing.of(sketch, alt, _rows(curves, floor, published, unit))


def budgets(last: float, unit: str) -> Axis:
    """Return the axis of budgets from 0 to the largest, of which five parts are marked."""
    marks = [last * i / 5 for i in range(6)]
    return Axis(
        ends=(0, last), marks=marks, words=[f"{mark:.3g}" for mark in marks], title=f"{unit} changed per person"
    )


def _alt(now: Sequence[Point], floor: Estimate, unit: str, attribute: str, budget: float, *, balanced: bool) -> str:
    told = "; ".join(f"{attacker_label(p.attacker)} {percent(p.rate(balanced=balanced))}" for p in now)
    measure = "Balanced accuracy" if balanced else "Accuracy"
    best = f" Best: {attacker_label(strongest_point(now, balanced=balanced).attacker)}." if now else ""
    return (
        f"Line chart. {measure} of each attacker on {attribute}, by the {unit} changed per person on average. At "
        f"{budget:g}: {told or 'no attacker yet'}; baseline {percent(floor)}.{best}"
    )


def _rows(
    curves: Mapping[str, Sequence[Point]], floor: Estimate, published: Sequence[tuple[float, float]], unit: str
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [
        {
            "attacker": name,
            f"{unit} changed": point.budget,
            "named rightly": point.accuracy.value,
            **limits(point.accuracy),
            "balanced": point.balanced.value,
            "balanced low": point.balanced.low,
            "balanced high": point.balanced.high,
            "or majority": point.reported.value,
            "trained against": point.trained_at,
        }
        for name, points in curves.items()
        for point in points
    ]
    rows += [{"attacker": "majority", "named rightly": floor.value, **limits(floor)}]
    rows += [
        {"attacker": "paper, network against network", f"{unit} changed": budget, "named rightly": rate}
        for budget, rate in published
    ]
    return rows


_LOOKS = (("before", "dash"), ("chance", "dot"))  # of the levels


def draw_cost(
    curve: Sequence[tuple[float, Estimate]],
    now: tuple[float, Estimate],
    levels: Mapping[str, Estimate],
    palette: Palette,
    *,
    last: float,
    quality: str,
    unit: str,
    gap: bool = False,
) -> Drawing:
    """Draw a quality over the budget, with what it was before and its control as horizontal lines.

    Parameters
    ----------
    curve : sequence of (budget, Estimate)
        Sorted; fixes the ranges together with the levels.
    now : (budget, Estimate)
        Where the slider stands.
    levels : mapping of words to Estimate
        "Before" first, then a control.
    last : float
        Right end of the axis.
    quality, unit : str
        What is drawn, and what one entry is called.
    gap : bool
        Whether it is a difference of rates, written as 0.131, and not a rate in percent.
    """
    scale, x = 1.0 if gap else 100.0, budgets(last, unit)
    drawn = [
        level(x, scale * e.value, getattr(palette, role), f"<b>{_written(e, gap)}</b> {name}", dash=dash)
        for (name, e), (role, dash) in zip(levels.items(), _LOOKS, strict=False)
    ]
    drawn.append(
        Curve.of(
            [budget for budget, _ in curve],
            [e for _, e in curve],
            scale=scale,
            color=palette.leak,
            width=3,
            words=f"<b>{_written(now[1], gap)}</b> With noise",
            now=scale * now[1].value,
        )
    )
    y = rounded(reach(drawn), quality, span=0.04) if gap else percents(reach(drawn), f"{quality} (%)")
    sketch = draw_lines(palette, drawn, x=x, y=y, height=_HEIGHT - 60, gutter=_GUTTER, at=now[0], head=f"at {now[0]:g}")
    rows = [{f"{unit} changed": b, quality: e.value, **limits(e)} for b, e in curve]
    rows += [{f"{unit} changed": math.nan, quality: e.value, **limits(e)} for e in levels.values()]
    told = ", ".join(f"{name.lower()} {_written(level, gap)}" for name, level in levels.items())
    alt = f"{quality.capitalize()} by the {unit} changed per person: at {now[0]:g} {_written(now[1], gap)}; {told}."
    return Drawing.of(sketch, alt, rows)


def _written(estimate: Estimate, gap: bool) -> str:
    return f"{estimate.value:.3f}" if gap else percent(estimate)


@dataclass(frozen=True, slots=True, kw_only=True)
class DefenceRow:
    """One way to defend.

    Attributes
    ----------
    size : float
        Entries changed per person.
    rates : mapping of attacker to Estimate
        How often each attacker names the true value.
    ours : bool
        Whether it is AttriGuard.
    """

    name: str
    size: float
    rates: Mapping[str, Estimate]
    ours: bool = False


_GLYPHS = {"circle": "●", "diamond": "◆", "square": "■", "triangle-up": "▲", "x": "✖"}
"""The markers of the attackers, in their order, and how they look in text."""


def draw_defences(
    rows: Sequence[DefenceRow], floor: Estimate, palette: Palette, *, unit: str, labels: Mapping[str, str]
) -> Drawing:
    """Draw each defence's accuracies, one marker an attacker, with what it changes in words.

    `floor` is the majority guess, a dotted line; `labels` name the attackers, in the order of the markers.
    """
    names = dict(zip(labels, _GLYPHS, strict=False))
    lines = [_defence(row, names, labels, palette, unit) for row in rows]
    mark = Mark(at=100 * floor.value, color=palette.chance, symbol="", told=percent(floor))
    lines.append(Row(name="majority guess", value=percent(floor), color=palette.chance, marks=[mark], dash="dot"))
    key = "   ".join(f"{glyph} {name}" for name, glyph in zip(labels.values(), _GLYPHS.values(), strict=False))
    sketch = draw_rows(palette, lines, percents(spans(lines), "named rightly (%)", zero=True), heads=(key, ""))
    told = "; ".join(f"{row.name} changes {row.size:.1f}: {_rates_told(row, labels)}" for row in rows)
    alt = f"How often each attacker is right against each defence. {told}."
    table = [
        {"defence": row.name, f"{unit} changed": row.size}
        | {labels[a]: e.value for a, e in row.rates.items() if a in labels}
        for row in rows
    ]
    return Drawing.of(sketch, alt, table)


def _defence(
    row: DefenceRow, symbols: Mapping[str, str], labels: Mapping[str, str], palette: Palette, unit: str
) -> Row:
    """Return a defence's row with a marker for each attacker it was tried on."""
    name = short(row.name, 24)
    return Row(
        name=f"<b>{name}</b>" if row.ours else name,
        below=f"changes {row.size:.1f} {unit}",
        color=palette.leak if row.ours else "",
        marks=[
            Mark(
                at=100 * row.rates[attacker].value,
                color=palette.leak if row.ours else palette.before,
                symbol=symbol,
                told=f"{name}, {labels[attacker]}: {percent(row.rates[attacker])}",
                rim=palette.background,
            )
            for attacker, symbol in symbols.items()
            if attacker in row.rates
        ],
    )


def _rates_told(row: DefenceRow, labels: Mapping[str, str]) -> str:
    return ", ".join(f"{labels[a]} {percent(e)}" for a, e in row.rates.items() if a in labels)
