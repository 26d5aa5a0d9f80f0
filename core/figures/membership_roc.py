"""ROC curve of a membership attack, by group, on two logarithmic axes.

Between two thresholds a curve shows what breaking ties at random reaches. Left of the point where a curve rests on
fewer than ten false positives the plot is shaded, because there the sample says next to nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.figures.drawing import Drawing, Palette, cells, short
from core.figures.framed import Framed, framed, mixed, plain_name
from core.membership.findings import ATTACK_TITLES, AttackFindings, MembershipFindings
from core.membership.roc import Roc
from core.wording import percent

_HEIGHT = 300
_TOP = 24  # pixels for the head of the shaded part
_PLOT = _HEIGHT - _TOP - 48
_LEAST = -3.0  # decades: the axes begin at 0.1%
_PIXEL = -_LEAST / _PLOT
_LETTER, _DECADE = 6.3, 76.0  # pixels of a letter, and of a decade on a narrow screen
_LOW_RATE = 0.01
_ALARMS = 10  # false positives an FPR should rest on
_SMALLEST = 100  # outsiders and members of a group that gets a curve of its own
_POINTS = 300
_LOOKS = (("first", "solid", "circle", 2.5), ("second", "dash", "diamond", 2.5), ("leak", "solid", "circle", 3.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Curve:
    """A group's curve and its look."""

    name: str
    roc: Roc
    color: str
    dash: str
    symbol: str
    width: float

    def caught(self, rate: float) -> float:
        """Return the TPR at this FPR, ties broken at random; nan where everybody has the same score."""
        return math.nan if self.roc.fpr.size == 2 else float(self.roc.reached(rate))


def draw_roc(findings: MembershipFindings, palette: Palette, *, attack: str = "lira", group: int = 0) -> Drawing:
    """Draw an attack's curve: of both groups, of one group of many and everybody, or of everybody alone.

    Everybody stands alone where the groups are too small for curves of their own.

    Parameters
    ----------
    attack : str
        One of `core.membership.findings.ATTACKS`; before it has finished the chart is empty and says so.
    group : int
        Of more than two groups, which one, in the order of the comparisons.
    """
    found = findings.attacks.get(attack)
    curves = [] if found is None else _curves(findings, found, palette, group)
    fewest = min((curve.roc.n_outsiders for curve in curves), default=0)
    sketch = _axes(palette)
    title = ATTACK_TITLES.get(attack, attack)
    if not curves:
        sketch.in_the_middle("being measured", palette)
        return Drawing.of(sketch, f"ROC curve of {title}, TPR against FPR: being measured.", [], _ROC_COLUMNS)
    edge = min(0.0, math.log10(_ALARMS / fewest)) if fewest else 0.0
    _shade(sketch, palette, edge)
    for curve in reversed(curves):
        _draw(sketch, curve)
    at = 0.01 if edge <= -2 + 1e-9 else 0.1 if edge <= -1 + 1e-9 else math.nan
    if not math.isnan(at):
        there = [curve for curve in curves if not math.isnan(curve.caught(at))]
        _mark(sketch, palette, there, at)
        silent = [curve for curve in curves if math.isnan(curve.caught(at))]
        _silent(sketch, palette, silent, at, above=18.0 * len(there) * (at > _LOW_RATE))
    else:
        _name(sketch, curves)
    return Drawing.of(sketch, _roc_alt(curves, title, at, fewest), _roc_rows(curves), _ROC_COLUMNS)


def _curves(findings: MembershipFindings, found: AttackFindings, palette: Palette, group: int) -> list[_Curve]:
    """Return the curves to draw, the first group first."""
    names, rocs = findings.group_names, found.roc_by_group
    large = [roc.n_outsiders >= _SMALLEST and roc.n_members >= _SMALLEST for roc in rocs]
    everybody = _curve("everybody", found.roc, palette, 2)
    if len(rocs) == 2 and all(large):
        return [_curve(names[1], rocs[1], palette, 0), _curve(names[0], rocs[0], palette, 1)]
    code = _code(findings, found, group)
    if len(rocs) > 2 and large[code]:
        return [_curve(names[code], rocs[code], palette, 0), everybody]
    return [everybody]


def _code(findings: MembershipFindings, found: AttackFindings, group: int) -> int:
    """Return the code of the group that is compared as number `group`."""
    compared = [one.group for one in found.low_fpr]
    for other in findings.attacks.values():
        compared = compared or [one.group for one in (other.disparities.results if other.disparities else ())]
    name = compared[group] if group < len(compared) else ""
    return findings.group_names.index(name) if name in findings.group_names else min(group, len(found.roc_by_group) - 1)


def _curve(name: str, roc: Roc, palette: Palette, look: int) -> _Curve:
    role, dash, symbol, width = _LOOKS[look]
    return _Curve(name=name, roc=roc, color=getattr(palette, role), dash=dash, symbol=symbol, width=width)


def _axes(palette: Palette) -> Framed:
    sketch = framed(palette, height=_HEIGHT, x=(_LEAST, 0), y=(_LEAST, 0.04), left=46, right=18, top=_TOP, bottom=48)
    ticks = {"tickvals": [-3, -2, -1, 0], "ticktext": ["0.1%", "1%", "10%", "100%"]}
    sketch.xaxis(**ticks)
    sketch.yaxis(showticklabels=True, **ticks)
    for tick in (-2, -1, 0):
        sketch.segment((_LEAST, 0), (tick, tick), {"color": palette.grid, "width": 1}, layer="below")
    sketch.segment((_LEAST, 0), (_LEAST, 0), {"color": palette.chance, "width": 1.5, "dash": "dot"})
    sketch.axis_title("False positive rate (FPR)", palette, below=24)
    return sketch


def _shade(sketch: Framed, palette: Palette, edge: float) -> None:
    """Shade where an FPR rests on fewer than ten false positives."""
    if edge <= _LEAST:
        return
    sketch.shade((_LEAST, edge), (_LEAST, 0.04), mixed(palette.grid, palette.background, 0.5), opacity=1)
    sketch.above(f"under {_ALARMS} false positives", palette, x=_LEAST)


def _points(roc: Roc) -> tuple[list[float], list[float]]:
    """Return the curve in decades from the left end of the axis on, no finer than can be seen."""
    grid = np.logspace(_LEAST, 0, _POINTS + 1)  # 1% is among them
    return np.log10(grid).tolist(), np.log10(np.maximum(roc.reached(grid), 10.0 ** (_LEAST - 1))).tolist()


def _draw(sketch: Framed, curve: _Curve) -> None:
    x, y = _points(curve.roc)
    sketch.scatter(
        x=x,
        y=y,
        mode="lines",
        line={"color": curve.color, "width": curve.width, "dash": curve.dash},
        text=[
            f"{short(curve.name)}: {percent(10**b)} of members at {percent(10**a)} FPR"
            for a, b in zip(x, y, strict=True)
        ],
        hovertemplate="%{text}<extra></extra>",
    )


def _mark(sketch: Framed, palette: Palette, curves: Sequence[_Curve], at: float) -> None:
    """Draw the TPR at one FPR, with labels above the upper and below the lower curve."""
    x = math.log10(at)
    order = sorted(curves, key=lambda curve: curve.caught(at), reverse=True)
    for curve in order:
        sketch.markers(
            [x],
            [_decades(curve.caught(at))],
            size=13 if curve.symbol == "diamond" else 12,
            opacity=1,
            color=curve.color,
            symbol=curve.symbol,
            rim=(palette.background, 2),
            told=[f"{short(curve.name)}: {percent(curve.caught(at))} of members at {100 * at:g}% FPR"],
            cliponaxis=False,
        )
    if order:
        _labels(sketch, palette, order, at)


def _silent(sketch: Framed, palette: Palette, curves: Sequence[_Curve], at: float, *, above: float) -> None:
    """Say of which curves no TPR can be read, because everybody has the same score."""
    if not curves:
        return
    words = [f"{short(curve.name, 16)}: one score for everybody" for curve in curves]
    _together(sketch, curves, words, palette, x=0.0, y=_LEAST, shift=(-6.0, 8.0 + above), anchor=("right", "bottom"))


def _labels(sketch: Framed, palette: Palette, order: Sequence[_Curve], at: float) -> None:
    """Write what is caught at `at` above the upper and below the lower marker; together where these are too near."""
    rows = [_decades(curve.caught(at)) for curve in order]
    words = [f"{short(curve.name, 16)} <b>{percent(curve.caught(at))}</b>" for curve in order]
    if at > _LOW_RATE:  # the markers are far at the right: the corner below the diagonal has room
        where = {"x": 0.0, "y": _LEAST, "shift": (-6.0, 8.0), "anchor": ("right", "bottom")}
        _together(sketch, order, [f"{told} at {100 * at:g}%" for told in words], palette, **where)
    elif len(order) == 1 or rows[0] - rows[-1] < 20 * _PIXEL:
        below = max(rows[-1], _LEAST + 24 * len(order) * _PIXEL)
        where = {"x": math.log10(at), "y": below, "shift": (10.0, -8.0), "anchor": ("left", "top")}
        _together(sketch, order, words, palette, **where)
    else:
        over = _over(order[0], len(order[0].name[:16]) + 6, at)
        sketch.remark(words[0], order[0].color, x=_LEAST, y=over, shift=(6, 6), anchor=("left", "bottom"))
        below = max(rows[-1], _LEAST + 24 * _PIXEL)
        place = {"x": math.log10(at), "y": below, "shift": (10.0, -6.0), "anchor": ("left", "top")}
        _together(sketch, order[-1:], words[-1:], palette, **place)


def _over(curve: _Curve, letters: int, at: float) -> float:
    """Return the height that words at the left end clear over their own length, on a narrow screen as well."""
    end = min(_LEAST + (10 + letters * _LETTER) / _DECADE, 0.0)
    height = _decades(curve.caught(10**end))
    near = end > math.log10(at) - 10 / _DECADE  # to the marker
    return max(height, _decades(curve.caught(at)) + 7 * _PIXEL) if near else height


def _together(sketch: Framed, order: Sequence[_Curve], words: Sequence[str], palette: Palette, **place: Any) -> None:
    """Write several labels as one, line under line, each in its colour."""
    lines = [f'<span style="color:{curve.color}">{told}</span>' for curve, told in zip(order, words, strict=True)]
    sketch.remark("<br>".join(lines), palette.ink, fill=palette.background, **place)


def _decades(rate: float) -> float:
    """Return the decimal logarithm of a rate, kept on the axis."""
    return max(math.log10(rate), _LEAST) if rate > 0 else _LEAST


def _name(sketch: Framed, curves: Sequence[_Curve]) -> None:
    """Name the curves of a sample too small for any rate to be told."""
    for i, curve in enumerate(curves):
        words, side = f"<b>{short(curve.name, 24)}</b>", ("right", "bottom")
        sketch.remark(words, curve.color, x=0, y=_LEAST, shift=(-8, 12 + 17 * i), anchor=side)


def _roc_alt(curves: Sequence[_Curve], title: str, at: float, fewest: int) -> str:
    told = (
        ", ".join(f"{plain_name(curve.name)} {_caught_text(curve.caught(at))}" for curve in curves) if at == at else ""
    )
    names = " and ".join(plain_name(curve.name) for curve in curves)
    here = f"TPR at {100 * at:g}% FPR: {told}. " if told else ""
    return (
        f"ROC curve of {title}, TPR against FPR, both axes logarithmic, for {names}. {here}"
        f"Chance is the diagonal; the shaded part rests on fewer than {_ALARMS} false positives of {fewest:,} "
        "non-members."
    )


def _caught_text(caught: float) -> str:
    return "n/a, everybody has the same score" if math.isnan(caught) else percent(caught)


_ROC_COLUMNS = ("people", "FPR", "TPR", "members", "non-members", "AUC", "AUC, low", "AUC, high")


def _roc_rows(curves: Sequence[_Curve]) -> list[dict[str, Any]]:
    """Return the TPR at round FPRs; nan where it rests on fewer than ten false positives or on nothing but ties."""
    return [
        {
            "people": curve.name,
            "FPR": rate,
            "TPR": curve.caught(rate) if rate * curve.roc.n_outsiders >= _ALARMS - 1e-9 else math.nan,
            "members": curve.roc.n_members,
            "non-members": curve.roc.n_outsiders,
            **cells("AUC", curve.roc.auc),
        }
        for curve in curves
        for rate in (0.001, 0.01, 0.1, 0.5)
    ]
