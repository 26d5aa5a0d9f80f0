"""Each form with nasty inputs: names stay words, and all that is drawn is told and in the table."""

from __future__ import annotations

import math
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.charts import DARK, LIGHT, Palette
from core.charts.drawing import NARROW, Axis, percents
from core.charts.planes import draw_heat
from core.charts.rows import Mark, Row, draw_rows
from core.charts.theme import fit, plain, separate_labels, short, width
from core.stats.estimates import Estimate
from tests.unit.charts.checks import check, check_axes, check_table
from tests.unit.charts.nasty_studies import CHARTS, chart

FIXED = {"draw_leakage", "draw_targeted", "draw_gaps"}
"""Charts with one axis whatever is drawn: invented numbers may lie beyond it."""

ELSEWHERE = {"scatter", "draw_mechanism", "draw_where", "draw_pinned", "draw_values", "draw_answer_errors"}
ELSEWHERE |= {"draw_gaps", "draw_fullness", "draw_budget", "draw_sets"}
"""Charts with dots that stand for no single number of the table: capped, of several rows, or of a paper."""


@pytest.mark.long
@pytest.mark.parametrize("name", CHARTS)
@pytest.mark.parametrize("seed", range(3))
def test_nasty_names_stay_words_and_numbers_stand_where_the_table_says(name: str, seed: int):
    """That no words collide or are cut is measured in a browser: tests/browser/test_labels.py."""
    drawing = chart(name, seed)
    figure = check(drawing)
    if name not in FIXED:
        check_axes(figure)
    if name not in ELSEWHERE:
        check_table(drawing, figure)
    notes = [note.text for note in figure.layout.annotations]
    for title in (drawing.x.title, drawing.y.title):
        assert not title or any(fit(title, 9999, 12).startswith(note.partition("…")[0]) for note in notes)
    written = " ".join(notes)
    assert set(re.findall("&[^ ;]*;", written)) <= {"&lt;", "&gt;", "&amp;"}
    tags = set(re.findall("<[^>]*>", re.sub(' style="[^"]*"', "", written)))
    assert tags <= {"<b>", "</b>", "<br>", "<span>", "</span>"}


@given(st.text(max_size=60), st.integers(20, 300))
def test_names_are_shortened_in_the_middle_and_harmless(name: str, pixels: int):
    label = fit(name, pixels)
    flat = " ".join(name.split())
    assert width(label) <= pixels or len(plain(label)) <= 1
    assert plain(label) == flat or flat.startswith(plain(label).partition("…")[0])
    assert "<" not in label and "<" not in short(name)


@given(st.lists(st.floats(0, 1), max_size=6))
def test_a_range_holds_all_it_is_given_and_ignores_what_was_not_measured(rates: list[float]):
    axis = percents("").over(rates)
    low, high = axis.ends
    assert 0 <= low <= high - 4 and high <= 100
    assert all(low - 1e-9 <= 100 * rate <= high + 1e-9 for rate in rates)
    assert 2 <= len(axis.marks) == len(axis.labels) <= 5
    assert percents("").over([math.nan, *rates]).marks == axis.marks


@pytest.mark.parametrize(("end", "interval"), [(5.0, "(1.235 to 3.457)"), (5.5, "(1.2 to 3.5)")])
def test_axis_interval_has_three_decimals_up_to_a_length_of_five(end: float, interval: str):
    axis = Axis(ends=(0.0, end), marks=(), labels=(), title="")
    assert axis.interval(Estimate(value=2.0, low=1.23456, high=3.4567, n=9)) == interval


@pytest.mark.parametrize("columns", range(2, 9))
def test_draw_heat_writes_as_large_as_its_cells_allow(columns: int):
    names = [f"c{number}" for number in range(columns)], ["a", "b"]
    row, text = [0.1] * columns, "12,345"
    texts = [[text] * columns] * 2
    drawing = draw_heat("T", [row, row], texts, names=names, titles=("x", "y"), ends=(0, 1), rows=())
    (trace,), margin = drawing.data, drawing.layout["margin"]
    cell = (NARROW - margin["l"] - margin["r"]) / columns - 4  # with a gap
    sizes = [size for size in range(1, 14) if width(text, size) <= cell]
    assert trace["textfont"]["size"] == max(sizes)


@given(st.lists(st.floats(0, 100), min_size=1, max_size=5))
def test_labels_are_spread_apart_inside_the_chart(heights: list[float]):
    placed = separate_labels(heights, 10, 0, 100)
    assert all(-1e-9 <= p <= 100 + 1e-9 for p in placed)
    ordered = sorted(placed)
    assert all(b - a >= 10 - 1e-9 for a, b in pairwise(ordered))
    assert [p for _, p in sorted(zip(heights, placed, strict=True), key=lambda pair: pair[0])] == ordered


def contrast(foreground: str, background: str) -> float:
    """Return the contrast of two colours, 1 to 21 (Web Content Accessibility Guidelines 2.2)."""

    def luminance(color: str) -> float:
        shares = [channel / 255 for channel in (int(color[i : i + 2], 16) for i in (1, 3, 5))]
        linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    darker, lighter = sorted((luminance(foreground), luminance(background)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_words_can_be_read_on_every_ground(palette: Palette):
    roles = ("ink", "leak", "before", "strongest", "prior", "chance", "first", "second", "grey", "fail")
    assert all(contrast(getattr(palette, role), palette.background) >= 4.5 for role in roles)
    assert all(contrast(color, palette.pale) >= 4.5 for color in (palette.ink, palette.grey))
    assert all(contrast(palette.ink, ground) >= 4.5 for ground in (palette.grid, palette.shade))


def test_draw_rows_leaves_a_note_in_the_middle_of_its_row():
    """Between two heights of a row, half of the difference is above the note."""
    above = []
    for pitch in (25, 57):
        drawing = draw_rows("Rows", [Row(name="a", note="no number")], percents(""), pitch=pitch)
        (note,) = (note for note in check(drawing).layout.annotations if note.text == "no number")
        assert (note.y, note.yanchor) == (-0.5, "top")
        above.append(-note.yshift)
    assert above[0] > 0 and above[1] - above[0] == pytest.approx((57 - 25) / 2)


def test_draw_rows_leaves_a_long_note_in_the_last_row():
    """Lines are 16 pixels high, so that two fit into a row of 40."""
    rows = [Row(name=name, marks=[Mark(of=0.25, color="ink")]) for name in "abc"]
    drawing = draw_rows("Rows", [*rows, Row(name="d", note="no number " * 60)], percents(""), pitch=40)
    lines = [note for note in check(drawing).layout.annotations if "no number" in plain(note.text)]
    assert len(lines) == 2 and all(-note.yshift + 16 <= 40 for note in lines)


def test_draw_rows_has_only_rows_with_numbers_in_the_table():
    rows = [Row(name="a", note="no number"), Row(name="b", marks=[Mark(of=0.25, color="ink")])]
    drawing = draw_rows("Rows", rows, percents(""), first="row")
    assert list(drawing.table["row"]) == ["b"]
