"""Charts of the bias queries: valid, told in words, with fixed axes and every label inside."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import plotly.graph_objects as go
import pytest

from core.charts import DARK, LIGHT, Drawing, Palette, draw_answer_errors, draw_leakage, draw_targeted, draw_values
from core.estimates import Estimate
from core.queries import (
    DECODERS,
    Asking,
    ErrorQuantiles,
    Exact,
    LaplaceGlobal,
    Leak,
    NoisySums,
    SmoothCauchy,
    Trials,
    accuracy_limit,
    error_text,
    targeted_leakage,
)
from tests.unit.queries.people import pool

HOSTILE = ("<b>men</b> & others of a very long name indeed", "=women|`x`")
PHONE = 340  # width of the plot on a narrow screen, in pixels


@pytest.fixture(scope="module")
def trials() -> Trials:
    return Trials(pool(), Asking(n=40, repeats=4))


@pytest.fixture(scope="module")
def curves(trials: Trials) -> dict[str, dict[str, list[Leak]]]:
    made = {"exact": Exact(), "noisy": SmoothCauchy(50.0), "sums": NoisySums(100.0)}
    return {
        name: {d: [trials.leak(m, mechanism, d) for m in trials.numbers] for d in DECODERS}
        for name, mechanism in made.items()
    }


def rate(value: float, half: float = 0.02) -> Estimate:
    return Estimate(value=value, low=max(0.0, value - half), high=min(1.0, value + half), n=4)


def leak(m: int, value: float) -> Leak:
    return Leak(m=m, decoder="strongest", leakage=rate(value), gain=rate(0.0), complete=0.0, lowest=value, typical=0)


def leakage_chart(noisy, exact, now: Leak, palette: Palette = LIGHT, *, prior: float = 0.72, limit=("Limit", 0.9)):
    return draw_leakage(
        noisy, exact, now, palette, last=24, prior=rate(prior), limit=limit, attribute="origin & <b>more</b>"
    )


def check(drawing: Drawing) -> go.Figure:
    """Build the chart with plotly's checks; check its text and that its words lie inside."""
    figure = drawing.sketch.figure(check=True)
    assert drawing.alt.endswith(".") and "<b>" not in re.sub(r"origin & <b>more</b>", "", drawing.alt)
    assert len(drawing.table) >= 1 and figure.layout.xaxis.fixedrange and figure.layout.yaxis.fixedrange
    assert_words_inside(figure)
    return figure


def assert_words_inside(figure: go.Figure) -> None:
    """Check that no words leave the plot, each letter taken for 6.4 pixels at size 13."""
    (x0, x1), (y0, y1) = figure.layout.xaxis.range, figure.layout.yaxis.range
    words = figure.data[-1]
    assert words.name == "words"
    for x, y, text, place, size in zip(
        words.x, words.y, words.text, words.textposition, words.textfont.size, strict=True
    ):
        letters = len(re.sub(r"&\w+;", "x", re.sub(r"</?b>", "", text)))
        wide = letters * 6.4 * size / 13 * (x1 - x0) / PHONE
        high = 1.3 * size * (y1 - y0) / (figure.layout.height - 38)
        assert y0 - 0.5 * high <= y <= y1 + 0.5 * high, text
        left = x - wide if place.endswith("left") else x - wide / 2 if place.endswith("center") else x
        room = 0.03 * (x1 - x0)
        assert x0 - room <= left and left + wide <= x1 + room, (text, left, left + wide, (x0, x1))


def labels(figure: go.Figure) -> dict[str, tuple[float, float]]:
    words = figure.data[-1]
    return {re.sub(r"</?b>", "", text): (x, y) for x, y, text in zip(words.x, words.y, words.text, strict=True)}


@pytest.mark.parametrize(("noise", "palette"), [("exact", LIGHT), ("noisy", DARK), ("sums", LIGHT)])
def test_leakage_is_drawn_wherever_the_slider_stands(trials: Trials, curves, noise: str, palette: Palette):
    axes, exact = set(), {} if noise == "exact" else curves["exact"]
    for now in curves[noise]["strongest"]:
        for limit in (None, ("Limit with prior and group sizes", 0.93), ("Limit with prior and group sizes", 1.0)):
            drawing = leakage_chart(curves[noise], exact, now, palette, limit=limit)
            figure = check(drawing)
            marker = figure.data[-2]
            assert (marker.x, marker.y) == ((now.m,), (100 * now.leakage.value,))
            assert figure.layout.meta["asked"] == now.m
            axes.add((figure.layout.xaxis.range, figure.layout.yaxis.range))
            assert f"After {now.m} answers" in drawing.alt and ("Limit" in drawing.alt) == (limit is not None)
    assert axes == {((0, 24), (45.0, 102.0))}


def test_labels_of_the_leakage_do_not_touch(curves):
    for noise in ("noisy", "sums"):
        for now in curves[noise]["strongest"]:
            for prior in (0.5, 0.55, 0.72, 0.9, 0.99):
                figure = leakage_chart(curves[noise], curves["exact"], now, prior=prior).figure
                pixel = 57 / 272
                end = 0.985 * 24 if now.m <= 12 else 0.015 * 24  # away from the marker
                heights = [y for x, y in labels(figure).values() if x == end]
                assert len(heights) >= 3
                assert all(b - a >= 15.9 * pixel for a, b in pairwise(sorted(heights)))


def test_a_growing_curve_is_drawn_from_what_is_there(curves):
    some = {decoder: leaks[::-5] for decoder, leaks in curves["noisy"].items()}
    now = curves["noisy"]["strongest"][3]
    for noisy in ({}, {"strongest": [], "published": []}, {"strongest": some["strongest"][:1]}, some):
        drawing = leakage_chart(noisy, {}, now)
        drawing.sketch.figure(check=True)
        assert_words_inside(drawing.figure)
        assert len(drawing.table) == sum(map(len, noisy.values()))
    lines = [trace for trace in leakage_chart(some, {}, now).figure.data if trace.mode == "lines"]
    assert all(list(line.x) == sorted(line.x) for line in lines if line.fill != "toself")


def test_one_repeat_has_no_band_and_noise_is_told_in_the_table(curves):
    alone = [replace(k, leakage=replace(k.leakage, low=math.nan, high=math.nan)) for k in curves["noisy"]["strongest"]]
    with_band, without = (
        leakage_chart({"strongest": k}, curves["exact"], alone[2]) for k in (curves["noisy"]["strongest"], alone)
    )
    filled = [sum(trace.fill == "toself" for trace in drawing.figure.data) for drawing in (with_band, without)]
    assert filled == [1, 0]
    table = with_band.table
    assert set(table["noise"]) == {"none", "as chosen"} and set(table["decoder"]) == {*DECODERS}
    for told in curves["noisy"]["strongest"]:
        (row,) = table[(table.noise == "as chosen") & (table.answers == told.m)].to_dict("records")
        assert (row["leakage"], row["low"]) == (told.leakage.value, told.leakage.low)


ERRORS = [
    ("Rounded", ErrorQuantiles(median=0.00025, high=0.000475, closed_form=False)),
    ("Noisy sums", ErrorQuantiles(median=0.214, high=0.7, closed_form=False)),
    ("Laplace", ErrorQuantiles(median=1.77, high=7.6, closed_form=True)),
    ("Smooth Laplace", ErrorQuantiles(median=0.0, high=0.0, closed_form=True)),
    ("Cauchy", ErrorQuantiles(median=11.7, high=149.0, closed_form=True)),
]


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_errors_are_drawn_inside_their_decades(palette: Palette):
    axes = set()
    for chosen in ("Cauchy", "Rounded", "None"):
        for factor in (1e-9, 1.0, 3e3):
            errors = [
                (name, ErrorQuantiles(median=factor * e.median, high=factor * e.high, closed_form=True))
                for name, e in ERRORS
            ]
            drawing = draw_answer_errors(errors, chosen, palette)
            figure = check(drawing)
            axes.add((figure.layout.xaxis.range, figure.layout.yaxis.range))
            dots = [trace for trace in figure.data if trace.mode == "markers"]
            assert len(dots) == 5 and all(-4 <= x <= 4.5 for dot in dots for x in dot.x)
            assert all(dot.x[0] <= dot.x[1] for dot in dots)
            assert (dots[-1].marker.color == palette.leak) == (chosen == "Cauchy")
    assert len(axes) == 1
    assert "Cauchy 11.7, 149" in draw_answer_errors(ERRORS, "Cauchy", LIGHT).alt


def test_errors_of_each_noise_have_a_row_of_their_own():
    figure = draw_answer_errors(ERRORS, "Cauchy", LIGHT).figure
    heights = [trace.y[0] for trace in figure.data if trace.mode == "markers"]
    assert all(a - b > 0.5 for a, b in pairwise(heights))
    assert list(draw_answer_errors(ERRORS, "Cauchy", LIGHT).table["noise"]) == [name for name, _ in ERRORS]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.0, "0"),
        (1e-9, "under 0.0001"),
        (0.00025, "0.00025"),
        (0.2149, "0.21"),
        (0.999, "1"),
        (1.0, "1.0"),
        (11.72, "11.7"),
        (149.4, "149"),
        (1490.0, "1,500"),
        (123456.0, "120,000"),
    ],
)
def test_errors_have_two_or_three_digits(value: float, words: str):
    assert error_text(value) == words


@pytest.mark.parametrize("palette", [LIGHT, DARK])
@pytest.mark.parametrize("decoder", ["strongest", "without_prior", "published"])
def test_recovered_values_are_drawn_by_group(trials: Trials, decoder: str, palette: Palette):
    for mechanism, m in ((Exact(), 24), (SmoothCauchy(1.0), 12), (Exact(), 0)):
        people, reading = trials.reading(m, mechanism, decoder)
        drawing = draw_values(people, reading, palette, names=HOSTILE)
        figure = check(drawing)
        dots = [trace for trace in figure.data if trace.mode == "markers"]
        assert sum(len(trace.x) for trace in dots) == people.n == len(drawing.table)
        filled = sum(len(trace.x) for trace in dots if not trace.marker.symbol.endswith("-open"))
        assert filled == int((reading.recovered == people.sensitive).sum())
        assert figure.layout.yaxis.range == (-0.7, 1.85)
        assert all(-0.6 <= y <= 1.6 for trace in dots for y in trace.y)
        assert {trace.marker.symbol.removesuffix("-open") for trace in dots} == {"circle", "diamond"}


def test_names_of_groups_are_harmless(trials: Trials):
    people, reading = trials.reading(12, Exact(), "strongest")
    words = " ".join(draw_values(people, reading, LIGHT, names=HOSTILE).figure.data[-1].text)
    assert "&lt;b&gt;men&lt;/b&gt;" in words and "…" in words
    assert not re.search(r"<(?!/?b>|br>)", words) and "<b>men" not in words


def test_values_far_out_stay_on_the_chart_and_whole_in_the_table(trials: Trials):
    people, reading = trials.reading(12, SmoothCauchy(0.1), "published")
    far = replace(reading, values=np.where(np.arange(people.n) % 2, 900.0, -900.0))
    drawing = draw_values(people, far, LIGHT, names=("a", "b"))
    check(drawing)
    assert drawing.table["recovered value"].abs().max() == 900


MECHANISMS = {"Cauchy": SmoothCauchy, "Laplace": LaplaceGlobal, "Noisy sums": NoisySums}


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_one_targeted_person_at_every_epsilon(palette: Palette):
    epsilons = (0.1, 0.5, 1.0, 5.0, 20.0, 100.0, 500.0)
    curves = {name: [(e, targeted_leakage(make(e), 67, 33)) for e in epsilons] for name, make in MECHANISMS.items()}
    limits = {
        "Limit, sizes unknown": [(e, accuracy_limit(e)) for e in epsilons],
        "Limit, sizes known": [(e, accuracy_limit(e, sizes_known=True)) for e in epsilons],
    }
    axes = set()
    for epsilon in epsilons:
        for chosen in ("Noisy sums", "None"):
            drawing = draw_targeted(curves, limits, chosen, epsilon, palette)
            figure = check(drawing)
            axes.add((figure.layout.xaxis.range, figure.layout.yaxis.range))
            told = labels(figure)
            for name, points in [*curves.items(), *limits.items()]:
                at = dict(points)[epsilon]
                assert any(text.startswith(f"{name}  ") and f"{100 * at:.1f}%" in text for text in told)
            heights = [y for text, (_, y) in told.items() if "  " in text]
            assert all(b - a >= 16.9 * 57 / 272 for a, b in pairwise(sorted(heights)))
            assert len(drawing.table) == 5 * len(epsilons) and f"At {epsilon:g}:" in drawing.alt
    assert len(axes) == 1
    dashes = {trace.line.dash for trace in draw_targeted(curves, limits, "None", 5.0, LIGHT).figure.data if trace.x}
    assert len(dashes - {None}) >= 3  # told apart without colour
