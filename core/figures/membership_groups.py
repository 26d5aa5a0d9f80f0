"""What leaks more about each of several groups than about all others: one row a group, with its interval and test."""

from __future__ import annotations

import math
from html import escape
from typing import Any

from core.figures.drawing import Drawing, Palette, cells, group_style, short
from core.figures.framed import Framed, framed, gap_axis, gap_range, plain_name
from core.membership.disparity import DisparityResult
from core.membership.findings import AttackFindings
from core.wording import gap

_GROUP_ROW, _VALUES = 46, 118
_LONGEST = 44  # letters of a group's name, which stands above its row


def draw_group_gaps(found: AttackFindings, palette: Palette) -> Drawing:
    """Draw the TPR − FPR gap of every group that was measured, and VD as a thin mark beside it.

    Groups whose gap can be told from none, with all groups reckoned with, are in colour.

    Parameters
    ----------
    found : AttackFindings
        Of an attack that gives verdicts.
    """
    results = found.disparities.results if found.disparities is not None else ()
    reach = [v for r in results for v in (r.advantage_gap.low, r.advantage_gap.high, r.vd.value)]
    low, high = gap_range(reach)
    rows = max(len(results), 1)
    y = (rows - 0.6, -0.8)
    sketch = framed(
        palette, height=_GROUP_ROW * rows + 66, x=(low, high), y=y, left=14, right=_VALUES, top=8, bottom=48
    )
    marks, texts = gap_axis(low, high)
    sketch.xaxis(tickvals=marks, ticktext=texts)
    sketch.axis_title("group minus all others", palette)
    sketch.segment((0, 0), y, {"color": palette.ink, "width": 1.5})
    for i, result in enumerate(results):
        _group_row(sketch, palette, result, i, muted=found.muted)
    if not results:
        sketch.in_the_middle("no group is large enough", palette)
    told = "; ".join(_group_said(result) for result in results) or "no group is large enough"
    alt = f"What leaks more about each group than about all others (TPR − FPR gap), with 95% intervals: {told}."
    return Drawing.of(sketch, alt, _group_cells(found))


def _group_row(sketch: Framed, palette: Palette, result: DisparityResult, y: int, *, muted: bool) -> None:
    real, test = result.advantage_gap, result.tests["advantage_gap"]
    color = palette.chance
    if test.significant and not muted:
        color = group_style(palette, int(real.value > 0)).color
    side = ("paper", "y")
    sketch.remark(
        short(result.group, _LONGEST), palette.ink, x=0, y=y, refs=side, shift=(0, 17), fill=palette.background
    )
    sketch.scatter(x=[real.low, real.high], y=[y, y], mode="lines", line={"color": color, "width": 4}, hoverinfo="skip")
    sketch.markers(
        [result.vd.value],
        [y],
        size=13,
        symbol="line-ns",
        rim=(palette.muted if muted else palette.before, 2),
        told=[f"VD {gap(result.vd.value)} ({gap(result.vd.low)} to {gap(result.vd.high)})"],
    )
    least = f"smallest gap found in four of five such samples: {test.smallest_detectable:.3f}"
    sketch.markers(
        [real.value],
        [y],
        size=12,
        color=color,
        opacity=1,
        symbol="circle" if real.value > 0 or not test.significant else "diamond",
        told=[f"{escape(_group_said(result), quote=False)}<br>{least}"],
    )
    told = f"<b>{gap(real.value)}</b>" if test.significant and not muted else gap(real.value)
    words = f"{told} <span style='font-size:11px'>p {escape(_p(test.p_adjusted), quote=False)}</span>"
    sketch.remark(words, palette.ink, x=1, y=y, refs=side, shift=(_VALUES - 6, 0), anchor=("right", "middle"))


def _p(value: float) -> str:
    return f"{value:.2g}" if value >= 0.001 else "< 0.001"


def _group_said(result: DisparityResult) -> str:
    real, test = result.advantage_gap, result.tests["advantage_gap"]
    limits = f"{gap(real.low)} to {gap(real.high)}"
    return f"{plain_name(result.group)} {gap(real.value)} ({limits}, p {_p(test.p_adjusted)})"


def _group_cells(found: AttackFindings) -> list[dict[str, Any]]:
    """Return one row a group with everything measured; those too small with the reason."""
    low_fpr = {one.group: one for one in found.low_fpr}
    rows: list[dict[str, Any]] = []
    for result in found.disparities.results if found.disparities is not None else ():
        row: dict[str, Any] = {"group": result.group, "members": result.recall[0].n}
        row["outsiders"] = result.false_alarms[0].n
        for field, name in (("vd", "VD"), ("fpr_gap", "FPR gap"), ("advantage_gap", "TPR − FPR gap")):
            e, test = getattr(result, field), result.tests[field]
            row |= cells(name, e) | {f"{name}, p (Holm)": test.p_adjusted}
            row[f"{name}, smallest detectable"] = test.smallest_detectable
        one = low_fpr.get(result.group)
        row["TPR gap at 1% FPR"] = one.estimate.value if one is not None else math.nan
        rows.append(row)
    left_out = found.disparities.not_measured if found.disparities is not None else ()
    return [*rows, *({"group": name, "not measured": reason} for name, reason in left_out)]
