"""FairPick: a gap before and after deletion over theta, and who was deleted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from core.charts.drawing import Axis, Drawing, Palette, Sketch, group_style, plain_name, rounded, short
from core.charts.lines import Curve, draw_lines, level
from core.charts.membership_epsilon import ends, reached, value_of, within
from core.charts.rows import Mark, Row, draw_rows
from core.estimates import Estimate, count, gap, not_measured
from core.membership.findings import CurveBand, FairPickFindings

_MEASURES = {"vd": "VD", "fpr_gap": "FPR gap", "advantage_gap": "TPR − FPR gap"}
_LEAST = 0.15  # how long the axis of gaps is at least


@dataclass(frozen=True, slots=True)
class _Way:
    """One way to delete rows, and its look."""

    variant: str
    name: str
    color: str
    dash: str
    symbol: str
    width: float
    aside: float  # of its dots on the axis of theta, so that intervals do not hide each other


def draw_fairpick(bands: Sequence[CurveBand], palette: Palette, *, now: float, measure: str = "vd") -> Drawing:
    """Draw a gap over theta after FairPick and after deleting as many rows at random, with intervals over repeats.

    Parameters
    ----------
    bands : sequence of CurveBand
        Of the variants "fairpick" and "random", in any order; theta = 1 deletes nobody and is the gap before.
    now : float
        Where the slider stands, in (0, 1].
    measure : {"vd", "fpr_gap", "advantage_gap"}
    """
    ways = (
        _Way("random", "at random", palette.prior, "dash", "diamond", width=2, aside=0.006),
        _Way("fairpick", "FairPick", palette.leak, "solid", "circle", width=3, aside=-0.006),
    )
    done = sorted((b for b in bands if b.variant in ("fairpick", "random")), key=lambda b: b.at)
    before = next((value_of(b, measure) for b in reversed(done) if b.at == 1.0), not_measured())
    y = rounded([0.0, *(v for b in done for v in reached(b, measure))], _MEASURES[measure], words=_level, span=_LEAST)
    x = _thetas(min([0.4, now, *(b.at for b in done)]))
    curves = [level(x, 0.0, palette.ink, dash="solid")]
    if not math.isnan(before.value):
        words = f"<b>{gap(before.value)}</b> before"
        curves.append(level(x, before.value, palette.before, words, dash="dash"))
    curves += [_curve([b for b in done if b.variant == way.variant], way, now, measure) for way in ways]
    head = f"at θ = {now:g}" if any(math.isclose(b.at, now) for b in done) else ""
    sketch = draw_lines(palette, curves, x=x, y=y, at=now, head=head)
    for way in ways:
        _dots(sketch, [b for b in done if b.variant == way.variant], way, measure, y.ends)
    columns = ["theta", "deletion", "repeats", _MEASURES[measure], "low", "high", "rows deleted"]
    rows = []
    for b in done:
        e = value_of(b, measure)
        rows.append((b.at, b.variant, b.repeats, e.value, e.low, e.high, value_of(b, "deleted").value))
    return Drawing.of(sketch, _alt(done, ways, before, now, measure), rows, columns)


def _level(height: float) -> str:
    return gap(height, decimals=2) if abs(height) > 1e-9 else "0"


def _thetas(first: float) -> Axis:
    """Return the axis of theta, from the first or below it up to 1."""
    start = 0.2 * math.floor(first / 0.2 + 1e-9)
    marks = [round(start + 0.2 * i, 1) for i in range(round((1.0 - start) / 0.2) + 1)]
    room = 0.05 * (1.0 - start)
    title = "share of the groups' differences kept (θ)"
    return Axis(ends=(start - room, 1 + room), marks=marks, words=[f"{mark:g}" for mark in marks], title=title)


def _curve(bands: Sequence[CurveBand], way: _Way, now: float, measure: str) -> Curve:
    """Return a way's curve, named by its value at the slider where that is measured."""
    there = [(b.at, value_of(b, measure)) for b in bands if not math.isnan(value_of(b, measure).value)]
    here = next((e.value for at, e in there if math.isclose(at, now)), None)
    return Curve.of(
        [at for at, _ in there],
        [e for _, e in there],
        scale=1.0,
        color=way.color,
        dash=way.dash,
        width=way.width,
        words=way.name if here is None else f"<b>{gap(here)}</b> {way.name}",
        now=here,
    )


def _dots(sketch: Sketch, bands: Sequence[CurveBand], way: _Way, measure: str, y: tuple[float, float]) -> None:
    """Draw a dot with its interval at every theta measured."""
    there = [b for b in bands if not math.isnan(value_of(b, measure).value)]
    limits = [within(1.0, ends(value_of(b, measure)), y) for b in there]
    sketch.markers(
        [b.at + (way.aside if b.at < 1 else 0) for b in there],
        [value for _, value, _ in limits],
        size=11,
        color=way.color,
        symbol=way.symbol,
        rim=(sketch.palette.background, 1.5),
        told=[f"{way.name}, {_told(b, measure)}" for b in there],
        ends=[(low, high) for low, _, high in limits],
        stroke=way.color,
    )


def _told(found: CurveBand, measure: str) -> str:
    e, rows = value_of(found, measure), value_of(found, "deleted").value
    gone = "" if math.isnan(rows) else f", {count(round(rows))} rows deleted"
    return f"θ = {found.at:g}: {_MEASURES[measure]} {gap(e.value)} ({gap(e.low)} to {gap(e.high)}){gone}"


def _alt(done: Sequence[CurveBand], ways: Sequence[_Way], before: Estimate, now: float, measure: str) -> str:
    title = f"{_MEASURES[measure]} over theta after FairPick and after deleting as many rows at random"
    if not done:
        return f"{title}: being measured."
    here = [
        f"{way.name} {gap(value_of(b, measure).value)}"
        for way in reversed(ways)
        for b in done
        if b.variant == way.variant and math.isclose(b.at, now)
    ]
    start = "not measured yet" if math.isnan(before.value) else gap(before.value)
    return f"{title}. Before {start}; at {now:g}: {', '.join(here) or 'not measured yet'}."


def draw_deleted(found: FairPickFindings, palette: Palette, *, group_names: Sequence[str]) -> Drawing:
    """Draw the rows deleted of each group; the names are by code, of two 1 is the first group, drawn above."""
    names = [name for name in reversed(group_names) if name in found.deleted]
    rows = [found.deleted[name] for name in names]
    two, lines = len(group_names) == 2, []
    for name, number in zip(names, rows, strict=True):
        color = group_style(palette, group_names.index(name)).color if two else palette.before
        share = f" ({100 * number / sum(rows):.0f}% of the rows deleted)" if sum(rows) else ""
        told = f"{short(name, 60)}: {count(number)}{share}"
        mark = Mark(at=number, bar=0, color=color, symbol="", told=told)
        lines.append(Row(name=short(name, 26), value=f"<b>{count(number)}</b>", color=color, marks=[mark]))
    axis = rounded([0, *rows], "rows deleted", words="{:,.0f}".format)
    sketch = draw_rows(palette, lines, axis)
    told = "; ".join(f"{plain_name(name)} {count(number)}" for name, number in zip(names, rows, strict=True))
    alt = f"Rows deleted per group at theta {found.theta:g}: {told or 'none'}."
    return Drawing.of(sketch, alt, {"group": names, "rows deleted": rows})
