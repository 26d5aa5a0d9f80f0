"""FairPick: a gap before and after deletion over theta, and who was deleted."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.charts.drawing import (
    Drawing,
    Palette,
    Sketch,
    error_bars,
    framed,
    group_style,
    plain_name,
    short,
)
from core.charts.membership_epsilon import ends, reached, value_of, within
from core.estimates import Estimate, count, gap, not_measured
from core.membership.curves import CurveBand
from core.membership.fairpick import FairPickFindings

_MEASURES = {"vd": "VD", "fpr_gap": "FPR gap", "advantage_gap": "TPR − FPR gap"}
_ROW = 46
_STEP, _LEAST = 0.05, 0.15  # of the axis of gaps, and how long it is at least


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
    low, high = _range(v for b in done for v in reached(b, measure))
    sketch = _axes(palette, (low, high), min([0.4, now, *(b.at for b in done)]))
    if not math.isnan(before.value):
        sketch.rule(before.value, palette.before, width=2, dash="dash")
    sketch.segment(now, (low, high), palette.ink)
    for way in ways:
        _draw(sketch, [b for b in done if b.variant == way.variant], way, measure, (low, high))
    _labels(sketch, done, ways, before, now, measure)
    columns = ["theta", "deletion", "repeats", _MEASURES[measure], "low", "high", "rows deleted"]
    rows = []
    for b in done:
        e = value_of(b, measure)
        rows.append((b.at, b.variant, b.repeats, e.value, e.low, e.high, value_of(b, "deleted").value))
    return Drawing.of(sketch, _alt(done, ways, before, now, measure), rows, columns)


def _range(values: Iterable[float]) -> tuple[float, float]:
    """Return a range in steps of 0.05 that holds 0 and all values."""
    known = [0.0, *(v for v in values if not math.isnan(v))]
    low, high = _STEP * math.floor(min(known) / _STEP + 1e-9), _STEP * math.ceil(max(known) / _STEP - 1e-9)
    return (low, high) if high - low >= _LEAST else (low, low + _LEAST)


def _axes(palette: Palette, y: tuple[float, float], first: float) -> Sketch:
    start = 0.2 * math.floor(first / 0.2 + 1e-9)
    width = 1.0 - start
    sketch = framed(palette, height=300, x=(start - 0.05 * width, 1 + 0.05 * width), y=y, margins=(46, 118, 24, 48))
    marks = [round(start + 0.2 * i, 1) for i in range(round(width / 0.2) + 1)]
    sketch.ticks(marks, "{:g}")
    step = _STEP if y[1] - y[0] <= 6 * _STEP else 2 * _STEP if y[1] - y[0] <= 12 * _STEP else 10 * _STEP
    levels = [step * i for i in range(math.ceil(y[0] / step - 1e-9), math.floor(y[1] / step + 1e-9) + 1)]
    texts = [gap(level, decimals=2) if abs(level) > 1e-9 else "0" for level in levels]
    sketch.yaxis(showticklabels=True, tickvals=levels, ticktext=texts)
    for level, text in zip(levels, texts, strict=True):
        zero = text == "0"
        sketch.rule(level, palette.ink if zero else "", width=1.5 if zero else 1)
    sketch.axis_title("share of the groups' differences kept (θ)")
    return sketch


def _draw(sketch: Sketch, there: Sequence[CurveBand], way: _Way, measure: str, y: tuple[float, float]) -> None:
    """Draw a way's curve, its band, and a dot with its interval at every theta measured."""
    there = [b for b in there if not math.isnan(value_of(b, measure).value)]
    limits = [within(1.0, ends(value_of(b, measure)), y) for b in there]
    xs = [b.at for b in there]
    if len(there) > 1:
        sketch.band(xs, [e[0] for e in limits], [e[2] for e in limits], way.color, opacity=0.12)
        sketch.line(xs, [e[1] for e in limits], way.color, width=way.width, dash=way.dash)
    sketch.markers(
        [x + (way.aside if x < 1 else 0) for x in xs],
        [e[1] for e in limits],
        size=11,
        opacity=1,
        color=way.color,
        symbol=way.symbol,
        rim=(sketch.palette.background, 1.5),
        told=[f"{way.name}, {_told(b, measure)}" for b in there],
        cliponaxis=False,
        error_y=error_bars([e[2] - e[1] for e in limits], [e[1] - e[0] for e in limits], way.color),
    )


def _told(found: CurveBand, measure: str) -> str:
    e, rows = value_of(found, measure), value_of(found, "deleted").value
    gone = "" if math.isnan(rows) else f", {count(round(rows))} rows deleted"
    return f"θ = {found.at:g}: {_MEASURES[measure]} {gap(e.value)} ({gap(e.low)} to {gap(e.high)}){gone}"


def _labels(
    sketch: Sketch,
    done: Sequence[CurveBand],
    ways: Sequence[_Way],
    before: Estimate,
    now: float,
    measure: str,
) -> None:
    """Name the curves at the right, with their values at the slider where these are measured."""
    wanted = [(before.value, f"<b>{gap(before.value)}</b> before", sketch.palette.before)]
    wanted = [] if math.isnan(before.value) else wanted
    for way in ways:
        there = [b for b in done if b.variant == way.variant and not math.isnan(value_of(b, measure).value)]
        if not there:
            continue
        here = next((b for b in there if math.isclose(b.at, now)), None)
        value = value_of(here, measure).value if here else math.nan
        words = way.name if math.isnan(value) else f"<b>{gap(value)}</b> {way.name}"
        wanted.append((value_of(there[0], measure).value, words, way.color))
    if not wanted:
        sketch.in_the_middle("being measured")
    head = f"at θ = {now:g}" if any(math.isclose(b.at, now) for b in done) else ""
    sketch.label_column(wanted, head=head)


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
    """Draw the rows deleted of each group.

    Parameters
    ----------
    group_names : sequence of str
        By code; of two, 1 is the first group, drawn above.
    """
    names = [name for name in reversed(group_names) if name in found.deleted]
    rows = [found.deleted[name] for name in names]
    end = max([1, *rows])
    rows_shown = max(1, len(names))
    sketch = framed(
        palette, height=_ROW * rows_shown + 12, x=(0, 1.02 * end), y=(rows_shown - 0.65, -0.65), margins=(9, 14, 4, 8)
    )
    sketch.no_xaxis()
    two = len(group_names) == 2
    for i, (name, number) in enumerate(zip(names, rows, strict=True)):
        color = group_style(palette, group_names.index(name)).color if two else palette.before
        share = f" ({100 * number / sum(rows):.0f}% of the rows deleted)" if sum(rows) else ""
        sketch.bars([number], [i], {"color": color}, told=f"{short(name, 60)}: {count(number)}{share}", width=0.34)
        sketch.write(0, i - 0.4, f"{short(name, 30)} <b>{count(number)}</b>", color, "middle right")
    told = "; ".join(f"{plain_name(name)} {count(number)}" for name, number in zip(names, rows, strict=True))
    alt = f"Rows deleted per group at theta {found.theta:g}: {told or 'none'}."
    return Drawing.of(sketch, alt, {"group": names, "rows deleted": rows})
