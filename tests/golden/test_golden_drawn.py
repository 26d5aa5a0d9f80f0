"""Everything that is drawn is as it was: charts of many results, forms at their limits, and the drawings of reports.

Kept are digests of what is drawn, said and listed, to four digits, and numbers where those are computed.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from core.auditing.policy.verdict import Bullet
from core.charts import DARK, LIGHT, Drawing
from core.charts.drawing import Axis, Scale, cells, decades, gap_text, gaps, joined, percents
from core.charts.lines import Curve, Dot, draw_lines, level, pointed
from core.charts.theme import fit, lines_of, plain_name, separate_labels, short, visible_labels, visible_ticks, width
from core.report.charts import SIDES, bar, element, group_chart, line_chart, svg
from core.report.report import TitledTable
from core.stats.estimates import Estimate
from core.studies.membership import charts as membership
from core.studies.membership.disparity import Disparities, GapTest
from core.studies.model_card import charts as model_card
from tests.golden.make import compare, normal
from tests.golden.numbers import compare_lines, compare_numbers, lines
from tests.golden.test_golden_extremes import SEEDS, SEPARATE_CHARTS
from tests.release_samples import card
from tests.unit.charts import membership_samples as members
from tests.unit.charts import nasty_studies as nasty

MORE = range(len(SEEDS), 11)
DEAR = {"draw_budgets": 2, "draw_budget": 4, "draw_search": 4}
"""Charts that take long to invent, and how many are kept."""


LISTED = {"draw_release_bits", "draw_fullness", "draw_recognised", "draw_in_common"}
"""Charts in whose tables are more computed numbers than are drawn."""


def digest(drawing: Drawing, *, computed: bool = False) -> str:
    """Return a digest of what is drawn, said and, unless that is computed, listed."""
    parts = [drawing.alt, drawing.data, drawing.layout, {} if computed else drawing.table.to_dict("list")]
    return sealed(json.dumps(_short(parts), sort_keys=True, default=str))


def sealed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _short(part: Any) -> Any:
    if isinstance(part, dict):
        return {str(key): _short(value) for key, value in part.items()}
    if isinstance(part, list | tuple | range):
        return [_short(value) for value in part]
    return float(f"{part:.4g}") + 0.0 if isinstance(part, float | np.floating) else part


@pytest.mark.long
def test_charts_of_many_results() -> None:
    entries = []
    for name, seed in product(nasty.CHARTS, MORE):
        if name not in SEPARATE_CHARTS and seed < len(SEEDS) + DEAR.get(name, 99):
            entries.append(f"{name} {seed}: {digest(nasty.chart(name, seed), computed=name in LISTED)}")
    compare("extremes/drawn.txt", normal("\n".join(entries)))


def _numbers(part: Any) -> Iterator[float]:
    """Yield all numbers in a part, in their order."""
    if isinstance(part, dict):
        for key in sorted(part):
            yield from _numbers(part[key])
    elif isinstance(part, list | tuple | range):
        for child in part:
            yield from _numbers(child)
    elif isinstance(part, int | float):
        yield float(part)


def test_charts_of_computed_results() -> None:
    entries = []
    for name, seed in product(sorted(SEPARATE_CHARTS | LISTED), MORE[:3]):
        drawing = nasty.chart(name, seed)
        parts = [*drawing.data, drawing.layout["shapes"]] * (name in SEPARATE_CHARTS) + [drawing.table.to_dict("list")]
        entries += [line for part in parts for line in lines(f"{name} {seed}", np.array([*_numbers(part), *[0.0] * 9]))]
    compare_lines("charts_computed", entries)


X = Scale(title="x")
RATE = Estimate(value=0.6, low=0.55, high=0.655, n=40)


def _curves() -> Iterator[Drawing]:
    """Yield curves with gaps, levels, bands cut at the ends, dots beyond them, one value, none, and many names."""
    over = [Estimate(value=v, low=v - 0.3, high=v + 0.2, n=9) for v in (0.1, 0.5, 0.97)]
    bands = Curve(x=[1, 2, 3], of=over, color="leak", band=True, width=3, name="banded <b>", current=over[1])
    gap = Curve(x=[1, 2, 3, 4], of=[0.2, None, math.nan, 0.4], color="ink", name="with gaps", dash="dash")
    short_curve = Curve(x=[1, 2], of=[0.3, None], color="before", name="one value")
    two = Curve(
        x=[1, 2, 4], of=[0.3, 0.7, None], color="before", name="ends early", opacity=0.4, current=0.5, hollow=True
    )
    dots = [Dot(x=i, of=replace(RATE, value=v), interval=i % 2 == 1, hollow=i == 2) for i, v in enumerate((-1, 0.6, 2))]
    dotted = Curve(x=[0, 1, 2], of=[None, None, None], color="strongest", name="dots", dots=dots, symbol="diamond")
    lone = Dot(x=2, of=0.5, hover="said", color="muted")
    at_two = Curve(x=[2], of=[0.5], color="tree", name="", dots=[lone, replace(lone, x=1, of=math.nan, color="")])
    flat = [level(0.5, "chance", "chance"), level(RATE, "prior", "prior", "62%"), pointed(2, 0.9, "fail", "here")]
    unit = Axis(ends=(0, 1), marks=(0, 0.5, 1), labels=("0", "½", "1"), title="unit")
    for curves, look in (
        ([gap, bands], {"at": 2}),
        ([gap, bands], {"at": 2, "head": "at 2", "gutter": 0}),
        ([bands, two], {"at": 4, "shaded": ("few", [(1, 2), (3, 4)])}),
        ([short_curve], {"shaded": ("few", [])}),
        ([two, dotted, at_two], {"holds": (-0.2, 1.3), "head": "head"}),
        ([*flat, gap], {"height": 200}),
        (flat, {"at": 1, "narrow": 500}),
        ([replace(gap, name="", current=0.3)], {"at": 1}),
        ([], {}),
        ([level(math.nan, "ink", "nothing"), Curve(x=[], of=[], color="ink", name="empty")], {"head": "head"}),
    ):
        for y in (percents("y"), unit, gaps("gap")):
            yield draw_lines("Curves", curves, x=X, y=y, **look)
    yield draw_lines("ROC", [bands, gap], x=unit, y=replace(unit, ends=(0.1, 0.9)), diagonal=True, head="TPR")
    yield draw_lines("ROC", [bands, gap], x=replace(unit, ends=(0.2, 0.8)), y=unit, diagonal=True)
    for many in (8, 9, 20):
        some = [level(0.5 + (7 * i % many) / 50, "ink", f"c{i}") for i in range(many)]
        some[3] = replace(some[3], width=3, color="leak")
        some[5] = replace(some[5], color="chance")
        for height in (150, 300):
            yield draw_lines("Many", [*some, bands], x=X, y=percents("y"), height=height)


def _membership() -> Iterator[Drawing]:
    """Yield gaps whose interval ends at 0, AUCs at 0.5, one repeat and three, and p-values at a thousandth."""
    zero = members.compared((0.018, -0.018, 0.0), half=0.018)
    test = GapTest(p_value=0.001, p_adjusted=0.001, smallest_detectable=0.1, significant=True)
    for muted, p in product((False, True), (0.001, 0.0009999, 0.04, 1.0)):
        tests = {name: replace(test, p_adjusted=p, significant=p < 0.05) for name in zero.tests}
        several = Disparities(results=(replace(zero, tests=tests), members.compared()))
        yield membership.draw_group_gaps(members.result(disparities=several, muted=muted))
        alone = Disparities(results=(replace(zero, tests=tests),))
        yield membership.draw_gaps_between(members.result(disparities=alone, muted=muted))
    for repeats, now in product((1, 2, 3, 4, 25), (0.01, 1.0, 1.0 + 1e-7, math.inf)):
        bands = members.bands(repeats=repeats)
        half = Estimate(value=0.51, low=0.5, high=0.52, n=9)
        bands = [
            replace(b, values={**b.values, "auc": half, "recall": half}) if i % 3 else b for i, b in enumerate(bands)
        ]
        yield membership.draw_epsilon_curve(bands, now=now)
        yield membership.draw_accuracy_by_epsilon(bands[: repeats + 1], now=now, majority=RATE if repeats > 2 else None)
        yield membership.draw_attack_by_epsilon(bands[-repeats:], now=now)
    for n, group_size in ((5, 5), (99, 100), (100, 100), (100, 99), (1000, 100), (10_000, 1000), (9999, 120)):
        for names in (("men", "women"), ("a", "b", "c")):
            rocs = tuple(
                replace(members.roc(0.4, size, 40, seed=size), n_members=n) for size in (group_size, n, n)[: len(names)]
            )
            yield membership.draw_roc(members.result(names=names, curve=members.roc(0.6, n), curves_by_group=rocs))
    for steps in ([0.0] * 10, [0.004, -0.0004, 0.0005] * 3 + [-0.02], [-0.2] + [0.0] * 8 + [0.2]):
        for muted in (False, True):
            yield membership.draw_ranges(members.ranges(steps), muted=muted)


def _cards() -> Iterator[Drawing]:
    for count, full in product((1, 3), (0.0, 0.99, 1.25, 1.26)):
        study = card(count)
        study = replace(study, meter=replace(study.meter, joint_bits=full * study.meter.prior_bits))
        yield model_card.draw_fullness(replace(study, fewer=(card(2),) if count == 3 else ()))


FORMS = {"curves": _curves, "membership": _membership, "cards": _cards}
"""Form or study -> its charts at their limits."""


@pytest.mark.parametrize("form", FORMS)
def test_forms_at_their_limits(form: str) -> None:
    entries = []
    for i, drawing in enumerate(FORMS[form]()):
        entries.append(
            f"{i} {digest(drawing)} {sealed(str(svg(drawing, 500, 'wide'))) if form == 'curves' else ''}".strip()
        )
    compare(f"extremes/form_{form}.txt", normal("\n".join(entries)))


def _labels() -> Iterator[tuple[str, Any]]:
    """Yield how wide words are, how names are shortened, and where labels stand."""
    names = (
        "",
        "a",
        "a <b> & c",
        "mWil 12,3%",
        "<b>bold</b><br>two lines",
        "Ünïcödé Ωmega ж 書道",
        "a b\n c" * 9,
        "≥ 1 → 2…",
    )
    for i, name in enumerate(names):
        yield f"width {i}", [width(name), width(name, 9), width(f"<b>{name}</b>")]
        yield f"fit {i}", [*dict.fromkeys(fit(name, pixels, 12) for pixels in (0, 20, 37.5, 60, 200))]
        yield f"lengths {i}", " ".join(str(len(fit(name, pixels, 12))) for pixels in range(2, 150, 4))
        yield (
            f"short {i}",
            [short(name), short(name, 3), plain_name(name, 5), plain_name(name, len(" ".join(name.split())))],
        )
        yield f"lines {i}", [lines_of(name * 3, pixels=p, size=12, most=most) for p in (30, 90) for most in (1, 2, 3)]
    for positions in (
        [],
        [5.0],
        [0.0, 0.0, 0.0],
        [9.0, 1.0, 9.5, 1.0, 5.0],
        [10.0, 10.0, 2.0],
        [-3.0, 4.0, 12.0, 13.0],
    ):
        yield f"spread {positions}", [separate_labels(positions, gap, 0.0, 10.0) for gap in (0.5, 2.0, 3.0)]
        yield (
            f"kept {positions}",
            [visible_labels(positions, [i % 2 == 1 for i in range(len(positions))], room) for room in range(1, 7)],
        )
        places = [max(0.0, min(1.0, at / 10)) for at in positions]
        texts = [f"{at:g}" for at in positions]
        ticks = ("".join(map(str, visible_ticks(places, texts, pixels=pixels))) for pixels in range(4, 130, 3))
        yield f"apart {positions}", " ".join(ticks)
    yield "joined", joined([{"a": 1, **cells("b", RATE)}, {"c": None, **cells("b", None), **cells("d", 0.5)}])


def _axes() -> Iterator[tuple[str, Any]]:
    """Yield axes over values at the ends of their parts, below and above 0, unknown and none."""
    scales = {
        "plain": Scale(title="t"),
        "span": Scale(title="t", span=0.0, parts=5),
        "start": Scale(title="t", span=0.04, start=0.25, holds=(0.5,)),
        "percents": percents("t"),
        "zero": percents("t", zero=True),
        "gaps": gaps("t", parts=3),
    }
    extents = (
        [],
        [math.nan],
        [0.0],
        [0.25, 0.5],
        [0.2500001],
        [0.96, 1.0],
        [0.961],
        [-0.3, 0.1],
        [0.1, 0.30000001, math.nan],
    )
    large = ([4.0], [4.0001], [5.0, 25.0], [1e5], [-1e-4, 1e-4], [123_456.0, 7.0], [0.07, 0.35])
    for (name, scale), (i, values) in product(scales.items(), enumerate((*extents, *large))):
        axis = scale.over(values)
        yield f"{name} {i}", " ".join(axis.labels)
    for low, high in ((0.1, 0.2), (-0.1, 0.2), (0.0, 0.0), (math.nan, math.nan)):
        estimate = Estimate(value=0.1, low=low, high=high, n=3)
        for axis in (percents("t").over([0, 1]), gaps("t").over([0]), Axis(ends=(0, 5), marks=(), labels=(), title="")):
            yield (
                f"interval {low} {axis.ends}",
                [axis.interval(estimate), axis.with_interval(estimate), axis.with_interval(0.25)],
            )
    log = decades((-2, 1.5), (0.01, 1, 1000), "t")
    yield "decades", [log.labels, log.marks, [log.position(n) for n in (0.0, 0.001, 0.01, 3.0, 31.0, 40.0, math.nan)]]
    yield "gap", [gap_text(n) for n in (0.0, -0.25, 0.12345, RATE)]
    colors = ["leak", "leak 45", "first/18", "#B0307A", "rgba(0,0,0,0)", "pale", "grid 100", "ink 0"]
    yield "colours", [palette.color(color) for palette in (LIGHT, DARK) for color in colors]
    nested = {
        "marker": {"color": ["leak", "before"], "line": {"color": "ink", "width": 2}},
        "text": ["leak"],
        "x": [{}],
    }
    yield "painted", DARK.painted({**nested, "colorscale": [[0.0, "grid"], [1.0, "shade"]], "shapes": [nested, nested]})


@pytest.mark.parametrize("kind", ["words", "axes"])
def test_words_and_axes(kind: str) -> None:
    numbers = {"words": _labels, "axes": _axes}[kind]()
    compare_numbers(f"charts_{kind}", numbers)


def titled(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> TitledTable:
    return TitledTable(title="t", columns=tuple(columns), rows=tuple(map(tuple, rows)))


def _report() -> Iterator[tuple[str, str]]:
    """Yield a report's charts: tolerances that are drawn or not, groups without records, bars at their ends."""
    columns = ["tolerance", "attacker", "before", "after", "after, low", "after, high"]
    names = ("Imputation", "A <b>", "c", "d", "e", "f")
    rows = [
        [t, name, 0.5 + i / 20, 0.55 + i / 20 + t, 0.5 if t else None, 0.7]
        for i, name in enumerate(names)
        for t in (0.1, 0.0, 0.05, 0.2)
    ]
    tables = {
        "all": rows,
        "three": [row for row in rows if row[0] < 0.2],
        "two": [row for row in rows if row[0] < 0.1],
        "gaps": [
            *rows[:4],
            [0.3, "A <b>", None, 0.4, None, None],
            ["inf", "c", 0.1, 0.2, 0.1, 0.3],
            [True, "c", 0, 0, 0, 0],
        ],
    }
    for name, some in tables.items():
        yield f"lines {name}", str(line_chart(titled(columns, some)))
    for column_names in (columns[1:], ["tolerance", "attacker", "before"]):
        yield f"lines {len(column_names)}", str(line_chart(titled(column_names, [])))
    yield "no interval", str(line_chart(titled(columns[:4], [row[:4] for row in rows])))
    rate = Estimate(value=0.3, low=0.2, high=0.45, n=30, level=0.95)
    missing = replace(rate, value=math.nan, low=math.nan, high=math.nan, n=0)
    for many in (0, 1, 2, 3):
        groups: list[Any] = [
            SimpleNamespace(group=f"g{i} <i>", test_rate=rate, test_tpr=missing if i % 2 else rate, test_fpr=missing)
            for i in range(many)
        ]
        yield f"groups {many}", str(group_chart(groups))
    sides_by_check = {"unfairness": SIDES, "four_fifths": SIDES[::-1]}
    for check, low in product(sides_by_check, (0.1, 0.3)):
        places = Bullet(value=0.3, low=low, high=0.3, arrows=(True, False) if low < 0.3 else ())
        yield f"bar {check} {low}", str(bar(places, "told", "fail", sides=sides_by_check[check]))
    yield "no bar", str(bar(None, "told", "none"))
    yield "element", str(element("a", "<b>\u202e", x=1 / 3, y=12345.678, class_="c", stroke_width=None, d="\u200b"))


def test_drawings_of_reports() -> None:
    entries = [f"{name}: {sealed(text) if len(text) > 400 else text}" for name, text in _report()]
    compare("extremes/report_drawings.txt", normal("\n".join(entries)))
