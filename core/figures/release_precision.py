"""How precise a card may be: how many people each rounding and each amount of privacy noise still pins down."""

from __future__ import annotations

from core.figures.drawing import Drawing, Palette
from core.figures.framed import framed, mixed
from core.figures.release_bits import bits_text
from core.release import Advice, Tried

_TRIED_ROW = 25  # pixels
_TRIED_LEFT, _TRIED_RIGHT, _TRIED_TOP = 96, 84, 24
_FEWEST = 4.0  # people at the end of the axis at least


def precision_text(decimals: int | None, epsilon: float | None) -> str:
    """Name a precision."""
    if epsilon is not None:
        return f"noise, ε = {epsilon:g}"
    if decimals is None:
        return "exact"
    return f"{decimals} decimal{'' if decimals == 1 else 's'}"


def draw_precisions(advice: Advice, chosen: tuple[int | None, float | None], palette: Palette) -> Drawing:
    """Draw a bar a precision tried: the people it pins down, and the bits the meter predicts beside it.

    Parameters
    ----------
    chosen : (decimals, epsilon)
        The precision of the controls; its row is set off where it was tried.
    """
    rows = advice.tried
    most = max([_FEWEST, *(row.pinned for row in rows)])
    sketch = framed(
        palette,
        height=_TRIED_ROW * len(rows) + _TRIED_TOP + 14,
        x=(0, 1.12 * most),
        y=(len(rows) - 0.5, -0.5),
        left=_TRIED_LEFT,
        right=_TRIED_RIGHT,
        top=_TRIED_TOP,
        bottom=14,
    )
    sketch.xaxis(showticklabels=False, ticks="", showline=False)
    sketch.above("people pinned down", palette, x=0)
    edge = ("paper", "paper")
    sketch.remark(
        "bits predicted",
        palette.grey,
        x=1,
        y=1,
        refs=edge,
        shift=(_TRIED_RIGHT - 8, 3),
        anchor=("right", "bottom"),
        size=12,
    )
    shade = mixed(palette.grid, palette.background, 0.5)
    for y, row in enumerate(rows):
        now = (row.decimals, row.epsilon) == chosen
        if now:
            sketch.shade_row((y - 0.5, y + 0.5), shade, left=_TRIED_LEFT - 2, right=_TRIED_RIGHT - 2)
        bold = ("<b>", "</b>") if now else ("", "")
        side = ("paper", "y")
        name = f"{bold[0]}{precision_text(row.decimals, row.epsilon)}{bold[1]}"
        sketch.remark(name, palette.ink if now else palette.grey, x=0, y=y, refs=side, shift=(6 - _TRIED_LEFT, 0))
        color = palette.leak if row.pinned else palette.prior
        words = f"<b>{row.pinned:,}</b>" if row.pinned else _none(row)
        sketch.remark(words, color, x=row.pinned, y=y, shift=(6, 0))
        bits = f"{bold[0]}{bits_text(row.df_bits)}{bold[1]}"
        sketch.remark(bits, palette.ink, x=1, y=y, refs=side, shift=(_TRIED_RIGHT - 8, 0), anchor=("right", "middle"))
    sketch.bar(
        x=[row.pinned for row in rows],
        y=list(range(len(rows))),
        orientation="h",
        width=0.6,
        marker={
            "color": [
                palette.leak if (r.decimals, r.epsilon) == chosen else mixed(palette.leak, palette.background, 0.45)
                for r in rows
            ]
        },
        hoverinfo="skip",
    )
    sketch.segment((0, 0), (-0.5, len(rows) - 0.5), {"color": palette.ink, "width": 1.5})
    told = "; ".join(f"{precision_text(row.decimals, row.epsilon)}: {row.pinned or _none(row)}" for row in rows)
    table = [
        {
            "precision": precision_text(row.decimals, row.epsilon),
            "pinned": row.pinned,
            "predicted bits": row.df_bits,
        }
        for row in rows
    ]
    return Drawing.of(sketch, f"People pinned down by the precision of the numbers. {told}.", table)


def _none(row: Tried) -> str:
    """Say that nobody is pinned down, or that nobody knows."""
    return "nobody" if row.known else "not known"
