"""Where an attack's flags fall: ten steps that add up to the vulnerability disparity, with both groups' shares below.

It is figure 5 of Zhang et al. (2020) with the differences made visible: each step is the first group's share of
flagged members within one range of the probability the model gave to the true label, minus the others'.
"""

from __future__ import annotations

import math

from core.figures.drawing import Drawing, Palette, group_style, short
from core.figures.framed import Framed, framed, mixed, plain_name
from core.membership.disparity import RangeTable
from core.wording import gap

_STEPS = (15.0, 25.0, 40.0, 60.0, 105.0)  # points
_END = 1.18  # right end, with room for the sum
_SUM = 1.09  # where it stands
_STEPS_PLOT = 170  # pixels of the steps
_BELOW = 76  # pixels of the axis and the two rows under it
_PAD = 18  # pixels for a step's label above and below
_HALF = 0.031  # of a bar's width


def draw_ranges(ranges: RangeTable, palette: Palette, *, muted: bool = False) -> Drawing:
    """Draw the ten steps up to VD and both groups' numbers under them.

    Parameters
    ----------
    muted : bool
        Whether VD says nothing, because the attack's AUC contains 0.5.
    """
    low, high = _ranges_axis(ranges)
    pixel = (high - low) / (_STEPS_PLOT - 2 * _PAD)
    bottom, top = low - _PAD * pixel, high + _PAD * pixel
    names = (short(ranges.group, 13), short(ranges.others, 13))
    left = min(100, max(56, round(6.6 * (max(map(len, (ranges.group[:13], ranges.others[:13]))) + 2))))
    sketch = framed(
        palette,
        height=_STEPS_PLOT + _BELOW + 8,
        x=(-0.012, _END),
        y=(bottom, top),
        left=left,
        right=14,
        bottom=_BELOW,
    )
    marks = [round(i / 10, 1) for i in range(11)]
    sketch.xaxis(
        tickvals=marks,
        ticktext=[f"{mark:g}" for mark in marks],
        showline=False,
        tickfont={"size": 11, "color": palette.grey},
    )
    sketch.segment((-0.012, 1), (bottom, bottom), {"color": palette.grey, "width": 1})
    _levels(sketch, palette, low, high)
    reached = _steps(sketch, palette, ranges, pixel, muted=muted)
    _sum(sketch, palette, ranges, reached, muted=muted)
    _numbers(sketch, palette, ranges, names, left, muted=muted)
    columns = ["from", "to", f"flagged of {ranges.group}", f"flagged of {ranges.others}", "difference"]
    rows = [(row.low, row.high, row.group, row.others, row.difference) for row in ranges.rows]
    return Drawing.of(sketch, _ranges_alt(ranges, muted=muted), rows, columns)


def _ranges_axis(ranges: RangeTable) -> tuple[float, float]:
    """Return the axis in points: from -15 to 15, wider in steps where the sums lie beyond."""
    sums, total = [0.0], 0.0
    for row in ranges.rows:
        total += 0.0 if math.isnan(row.difference) else 100 * row.difference
        sums.append(total)
    low, high = (next((s for s in _STEPS if s >= end), _STEPS[-1]) for end in (-min(sums), max(sums)))
    return -low, high


def _levels(sketch: Framed, palette: Palette, low: float, high: float) -> None:
    """Draw the zero line and round levels."""
    step = next((s for s in (10, 20, 25) if (high - low) / s <= 5), 50)
    ticks = [step * i for i in range(math.ceil(low / step), math.floor(high / step) + 1)]
    sketch.yaxis(showticklabels=True, tickvals=ticks, ticktext=[_signed(t / 100, 0) for t in ticks])
    for tick in ticks:
        if tick:
            sketch.segment((0, 1), (tick, tick), {"color": palette.grid, "width": 1}, xref="paper", layer="below")
    sketch.segment((0, 1), (0, 0), {"color": palette.ink, "width": 1.5}, xref="paper")


def _signed(difference: float, decimals: int = 1) -> str:
    if math.isnan(difference):
        return "n/a"
    told = gap(100 * difference, decimals=decimals)
    return "0" if float(told.replace("−", "-")) == 0 else told


def _steps(sketch: Framed, palette: Palette, ranges: RangeTable, pixel: float, *, muted: bool) -> float:
    """Draw the bars, each from where the one before ended; returns where the last one ends."""
    before = 0.0
    for i, row in enumerate(ranges.rows):
        middle = (row.low + row.high) / 2
        change = 0.0 if math.isnan(row.difference) else 100 * row.difference
        role = group_style(palette, int(change > 0)).color
        color = mixed(role, palette.background, 0.45) if muted else role
        after = before + change
        sketch.bar(
            x=[middle],
            base=[min(before, after)],
            y=[abs(change)],
            width=[2 * _HALF],
            marker={"color": color, "line": {"width": 0}},
            text=[_range_told(ranges, i)],
            textposition="none",
            hovertemplate="%{text}<extra></extra>",
        )
        beyond = ranges.rows[i + 1].low + 0.05 - _HALF if i + 1 < len(ranges.rows) else _SUM - 0.03
        sketch.segment((middle + _HALF, beyond), (after, after), {"color": palette.muted, "width": 1})
        told = _signed(row.difference)
        ink = palette.grey if muted or told in ("0", "n/a") else role
        up = change > 0
        edge = max(before, after) + pixel if up else min(before, after) - 3 * pixel
        place = "top center" if up else "bottom center"
        sketch.write(middle, edge, told if ink == palette.grey else f"<b>{told}</b>", ink, place, 11)
        before = after
    return before


def _range_told(ranges: RangeTable, i: int) -> str:
    row = ranges.rows[i]
    first, second = short(ranges.group), short(ranges.others)
    return f"{row.low:g} to {row.high:g}: {_share_text(row.group)}% of {first}, {_share_text(row.others)}% of {second}"


def _share_text(value: float) -> str:
    return "n/a" if math.isnan(value) else f"{100 * value:.1f}"


def _sum(sketch: Framed, palette: Palette, ranges: RangeTable, reached: float, *, muted: bool) -> None:
    """Draw VD where the steps end, its label on the side that the last step's label leaves free."""
    known, first = not math.isnan(ranges.vd), ranges.vd > 0
    quiet = muted or not known
    color = palette.muted if quiet else group_style(palette, int(first)).color
    level = 100 * ranges.vd if known else reached
    marker = {
        "size": 13,
        "opacity": 1,
        "color": color,
        "symbol": "circle" if first else "diamond",
        "line": {"width": 0},
    }
    if quiet:
        marker |= {"size": 11, "color": palette.background, "line": {"width": 2, "color": color}}
    words = f"VD {_signed(ranges.vd)}"
    told = {"text": [words], "hovertemplate": "%{text}<extra></extra>"}
    sketch.scatter(x=[_SUM], y=[level], mode="markers", cliponaxis=False, marker=marker, **told)
    below = bool(ranges.rows) and ranges.rows[-1].difference > 0
    side = ("center", "top" if below else "bottom")
    ink, shown = (palette.grey, words) if quiet else (color, f"<b>{words}</b>")
    shift, fill = (0, -9 if below else 9), palette.background  # the zero line may pass
    sketch.remark(shown, ink, x=_SUM, y=level, shift=shift, anchor=side, fill=fill)


def _numbers(
    sketch: Framed, palette: Palette, ranges: RangeTable, names: tuple[str, str], left: int, *, muted: bool
) -> None:
    """Write both groups' shares under the axis."""
    for i, name in enumerate(names):
        color = group_style(palette, 1 - i).color
        y = -28 - 15 * i
        place = ("paper", "paper")
        sketch.remark(f"<b>{name} %</b>", color, x=0, y=0, refs=place, shift=(4 - left, y), size=12)
        for row in ranges.rows:
            middle = (row.low + row.high) / 2
            value = _share_text(row.others if i else row.group)
            sketch.remark(
                value, color, x=middle, y=0, refs=("x", "paper"), shift=(0, y), anchor=("center", "middle"), size=11
            )
    sketch.axis_title("probability the model gave to the true label", palette, below=54)


def _ranges_alt(ranges: RangeTable, *, muted: bool) -> str:
    first, second = plain_name(ranges.group), plain_name(ranges.others)
    known = [row for row in ranges.rows if not math.isnan(row.difference)]
    if not known or math.isnan(ranges.vd):
        return f"Flagged members by probability, {first} minus {second}: not measured."
    largest = max(known, key=lambda row: abs(row.difference))
    aside = ", muted because the attack's AUC contains 0.5" if muted else ""
    return (
        f"Flagged members, {first} minus {second}, in {len(ranges.rows)} steps by the probability the model gave to "
        f"the true label. Largest: {_signed(largest.difference)} points from {largest.low:g} to {largest.high:g}; "
        f"they make VD {_signed(ranges.vd)} points{aside}."
    )
