"""Each form with nasty inputs: no words collide or are cut, and all that is drawn is told and in the table."""

from __future__ import annotations

import math
import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.charts import DARK, LIGHT, Drawing, Palette
from core.charts.drawing import Axis, decades, percents, rounded
from core.charts.heat import draw_heat
from core.charts.lines import Curve, Dot, compared, draw_lines, reach
from core.charts.rows import Row, draw_rows, rate, spans
from core.charts.scatter import Points, Region, draw_scatter
from core.charts.theme import contrast
from core.charts.words import apart, fit, kept, plain, short, spread, width
from core.estimates import Estimate, percent
from tests.unit.charts.boxes import boxes, check

SEEDS = range(12)
LETTERS = list("abcdefgh iljMW<>&\"'`|_*$%éß漢")


def nasty(rng: np.random.Generator, longest: int = 60) -> str:
    """Return a name of up to 60 letters, some of them wide, some of them markup."""
    return str(rng.choice(["x", "<script>"])) + "".join(rng.choice(LETTERS, int(rng.integers(0, longest))))


def estimate(rng: np.random.Generator) -> Estimate:
    """Return a rate, often 0, 1, or without an interval, of few people."""
    value = float(rng.choice([0.0, 1.0, 0.5, rng.random()]))
    half = float(rng.choice([0.0, math.nan, rng.random()]))
    return Estimate(value=value, low=max(0.0, value - half), high=min(1.0, value + half), n=int(rng.integers(1, 99999)))


def lines(seed: int, palette: Palette) -> Drawing:
    rng = np.random.default_rng(seed)
    xs = sorted(rng.random(int(rng.integers(1, 12))).tolist())
    x = rounded([0.0, float(rng.choice([1.0, 12.0, 1e6]))], nasty(rng), words="{:,.0f}".format)
    curves = [compared(x, estimate(rng), palette.chance, nasty(rng))]
    for i in range(int(rng.integers(1, 21))):  # more than there is room for
        found = [estimate(rng) if rng.random() < 0.9 else None for _ in xs]
        there = [e for e in found if e is not None]
        now = there[-1] if there else None
        curves.append(
            Curve.of(
                xs,
                found,
                color=palette.leak,
                name=nasty(rng),
                value=percent(now),
                width=3 if i == 3 else 2,
                now=None if now is None else 100 * now.value,
                dots=[Dot(x=xs[0], y=50.0, told="here", ends=(40.0, 60.0))],
            )
        )
    y = percents([v for v in reach(curves) if not math.isnan(v)], nasty(rng))
    shaded = ("AUC contains 0.5", [(0.0, 0.4)] if rng.random() < 0.5 else [])
    look = {"at": 0.3, "head": nasty(rng), "shaded": shaded, "height": int(rng.integers(200, 320))}
    look["gutter"] = int(rng.choice([0, 152, 152]))  # 0: names stand under the plot
    return draw_lines(palette, "Curves", curves, x=x, y=y, **look)


def rows(seed: int, palette: Palette) -> Drawing:
    rng = np.random.default_rng(seed)
    made, two = [], rng.random() < 0.5
    for i in range(int(rng.integers(0, 21))):
        before, after = estimate(rng), estimate(rng)
        marks = [rate(before, palette.before, "circle-open", name="before"), rate(after, palette.leak, name="after")]
        none = rng.random() < 0.2
        made.append(
            Row(
                name=nasty(rng),
                below=nasty(rng) if two else "",
                value="n/a" if none else f"{percent(before)} → <b>{percent(after)}</b>",
                note="" if not none else nasty(rng, 160),
                marks=[] if none else marks,
                shaded=i % 3 == 0,
                bold=i % 2 == 0,
            )
        )
    sides = [(nasty(rng), palette.first), (nasty(rng), palette.second)] if rng.random() < 0.5 else []
    head = "" if sides else "before → after"
    return draw_rows(palette, "Rows", made, percents(spans(made), nasty(rng)), first="who", value=head, sides=sides)


def steps(seed: int, palette: Palette) -> Drawing:
    rng = np.random.default_rng(seed)
    made, start = [], 0.0
    for _ in range(int(rng.integers(2, 12))):
        e = estimate(rng)
        mark = rate(e, palette.leak, "", name="reached", bar=100 * start, hollow=rng.random() < 0.3)
        made.append(Row(name=nasty(rng), value=f"<b>{percent(e)}</b>", marks=[mark], apart=rng.random() < 0.2))
        start = e.value
    e = estimate(rng)
    made.append(Row(name=nasty(rng), value=percent(e), marks=[rate(e, palette.ink, name="reached")], dash="dashdot"))
    return draw_rows(palette, "Steps", made, percents(spans(made), nasty(rng)), first="step", value="points")


def heat(seed: int, palette: Palette) -> Drawing:
    rng = np.random.default_rng(seed)
    deep, wide = (int(rng.integers(1, 11)) for _ in range(2))
    values = rng.choice([0.0, 1.0, math.nan, 0.123], (deep, wide))
    values[0, 0] = 0.5
    words = [[f"<b>{100 * v:.1f}</b>" if v == v else "n/a" for v in row] for row in values]
    names = ([nasty(rng) for _ in range(wide)], [nasty(rng) for _ in range(deep)])
    look = {"names": names, "titles": (nasty(rng), nasty(rng)), "colors": palette.shades, "ends": (0.0, 1.0)}
    return draw_heat(palette, "Map", values.tolist(), words, told=words, rows=values, **look)


def scatter(seed: int, palette: Palette) -> Drawing:
    rng = np.random.default_rng(seed)
    n = int(rng.choice([0, 1, 400]))
    x, y = (decades((-3, 0), (0.001, 0.01, 0.1, 1), nasty(rng)) for _ in range(2))
    points = [Points(x=(-3 * rng.random(n)).tolist(), y=[-1.0] * n, color=palette.leak, told=["one"] * n)]
    counts = [(nasty(rng), palette.first), (nasty(rng), palette.second)][: int(rng.integers(0, 3))]
    region = Region(x=(-1, 0), y=(-1, 0))
    look = {"x": x, "y": y, "counts": counts, "regions": [region], "diagonal": True, "threshold": -0.3}
    return draw_scatter(palette, "Points", points, rows={"x": points[0].x}, **look)


def roc(seed: int, palette: Palette) -> Drawing:
    rng = np.random.default_rng(seed)
    x, y = (
        decades((-1, 2), (0.1, 1, 10, 100), title) for title in ("False-positive rate (%)", "True-positive rate (%)")
    )
    grid = np.linspace(-1, 2, 30).tolist()
    curves = [
        Curve(x=grid, y=grid, color=palette.leak, name=nasty(rng), value=str(rng.choice(["0.0%", "one score for all"])))
        for _ in range(int(rng.integers(0, 3)))
    ]
    shaded = ("fewer than 10 false positives", [(-1.0, 0.0)])
    return draw_lines(
        palette, "ROC curve", curves, x=x, y=y, rows=[], head="TPR at 1% FPR", shaded=shaded, diagonal=True
    )


FORMS = (lines, rows, steps, heat, scatter, roc)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
@pytest.mark.parametrize("seed", SEEDS)
def test_no_words_collide_or_are_cut_whatever_the_numbers(form, seed: int) -> None:
    drawing = form(seed, LIGHT if seed % 2 else DARK)
    figure = check(drawing)
    titles = (figure.layout.annotations, drawing.sketch.x.title, drawing.sketch.y.title)
    for title in titles[1:]:
        whole = fit(title, 9999, 12)
        assert not title or any(whole.startswith(note.text.partition("…")[0]) for note in titles[0])
    written = " ".join(note.text for note in figure.layout.annotations)
    assert set(re.findall("&[^ ;]*;", written)) <= {"&lt;", "&gt;", "&amp;"}
    assert set(re.findall("<[^>]*>", re.sub(' style="[^"]*"', "", written))) <= {
        "<b>",
        "</b>",
        "<br>",
        "<span>",
        "</span>",
    }


def test_what_is_written_is_told_and_in_the_table() -> None:
    drawing = rows(3, LIGHT)
    assert len(drawing.table) and set(drawing.table.columns) >= {"who", "before", "before, low", "after, high"}
    for name, before in zip(drawing.table.who, drawing.table.before, strict=True):
        assert " ".join(name.split()) in drawing.alt and (before != before or f"{100 * before:.0f}" in drawing.alt)
    curves = lines(4, LIGHT)
    assert set(curves.table.columns) == {"curve", curves.sketch.x.title, "value", "value, low", "value, high"}
    assert all(" ".join(name.split()) in curves.alt for name in curves.table[curves.table.value.notna()].curve)
    lowest = heat(5, LIGHT)
    assert "lowest and highest" in lowest.alt or lowest.sketch.told.count(";") < 20


def test_more_names_than_there_is_room_for_keep_the_finding_the_highest_and_the_lowest() -> None:
    x = rounded([0.0, 1.0], "x")
    heights = [50 + i / 10 for i in range(30)]
    curves = [Curve(x=[0, 1], y=[h, h], color=LIGHT.ink, name=f"c{i}", width=2) for i, h in enumerate(heights)]
    curves[11] = Curve(x=[0, 1], y=[heights[11]] * 2, color=LIGHT.leak, name="finding", width=3)
    drawing = draw_lines(LIGHT, "Curves", curves, x=x, y=percents(heights, "y"), height=250)
    shown = [plain(note.text) for note in check(drawing).layout.annotations]
    assert {"finding", "c0", "c29"} <= set(shown) and len(shown) < 15
    assert kept([1.0, 2.0, 3.0], [False, True, False], 2) == [1, 2]


@given(st.text(max_size=60), st.integers(20, 300))
def test_names_are_shortened_in_the_middle_and_harmless(name: str, pixels: int) -> None:
    shown = fit(name, pixels)
    flat = " ".join(name.split())
    assert width(shown) <= pixels or len(plain(shown)) <= 1
    assert plain(shown) == flat or flat.startswith(plain(shown).partition("…")[0])
    assert "<" not in shown and "<" not in short(name)


@given(st.lists(st.floats(0, 100), max_size=6))
def test_a_range_holds_all_it_is_given_and_ignores_what_was_not_measured(rates: list[float]) -> None:
    axis = percents(rates, "")
    low, high = axis.ends
    assert 0 <= low <= high - 4 and high <= 100
    assert all(low <= rate <= high for rate in rates)
    assert 2 <= len(axis.marks) == len(axis.words) <= 6
    assert percents([math.nan, *rates], "") == axis


@given(st.lists(st.floats(0, 100), min_size=1, max_size=5))
def test_labels_are_spread_apart_inside_the_chart(wanted: list[float]) -> None:
    placed = spread(wanted, 10, 0, 100)
    assert all(-1e-9 <= p <= 100 + 1e-9 for p in placed)
    ordered = sorted(placed)
    assert all(b - a >= 10 - 1e-9 for a, b in pairwise(ordered))
    assert [p for _, p in sorted(zip(wanted, placed, strict=True), key=lambda pair: pair[0])] == ordered


def test_marks_that_stand_too_close_are_not_named() -> None:
    x = Axis(ends=(0, 30), marks=range(31), words=[f"{10**6 + i:,}" for i in range(31)], title="")
    named = apart([mark / 30 for mark in x.marks], x.words, pixels=200)
    assert 0 in named and 30 in named and len(named) < 6


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_words_can_be_read_on_every_ground(palette: Palette) -> None:
    roles = ("ink", "leak", "before", "strongest", "prior", "chance", "first", "second", "grey", "fail")
    assert all(contrast(getattr(palette, role), palette.background) >= 4.5 for role in roles)
    assert all(contrast(color, palette.pale) >= 4.5 for color in (palette.ink, palette.grey))
    assert all(contrast(palette.ink, shade) >= 4.5 for shade in palette.shades)


def test_boxes_see_a_collision() -> None:
    drawing = lines(1, LIGHT)
    place = drawing.sketch.layout["annotations"][0]
    drawing.sketch.layout["annotations"].append(dict(place))
    with pytest.raises(AssertionError):
        check(drawing)
    assert len(boxes(drawing.figure, 400)) > 3
