"""Charts of all studies but membership: numbers are where core says, names harmless."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from core.attriguard import Compared, Concentration
from core.attriguard.findings import value_rows
from core.charts import LIGHT, Drawing
from core.charts.attriguard import draw_defences, draw_mechanism, draw_transfer, draw_value_noise, draw_where
from core.charts.choose import METHOD_STYLES, draw_choice
from core.charts.correction import (
    draw_disclosure,
    draw_landscape,
    draw_models_accuracy,
    draw_models_unfairness,
    draw_waterfall,
)
from core.charts.heat import draw_heat
from core.charts.model_card import draw_fullness, draw_in_common, draw_pinned, draw_precisions
from core.charts.queries import GapRow, draw_answer_errors, draw_gaps, draw_values
from core.charts.words import NARROW, width
from core.choose import Choice, ChooseSettings, Outcomes, choose
from core.config import AuditConfig
from core.correction import STEPS, CorrectionResult, Disclosure, run
from core.estimates import percent, points
from core.model_card import Advice, Tried
from core.models import METHODS
from core.quantities import plain_row
from core.queries import Asking, ErrorQuantiles, Exact, SmoothCauchy, Trials, error_text
from core.sweep.landscape import KEPT_MAP, read_landscape
from tests.release_samples import card, people
from tests.samples import ROLES, dataset
from tests.unit.charts.checks import check, dots, written
from tests.unit.charts.guard_samples import ATTACKERS, HOSTILE, study
from tests.unit.charts.membership_samples import estimate
from tests.unit.charts.nasty_studies import sweep_row
from tests.unit.choose.made import POLICY, SAFE, point
from tests.unit.queries.people import pool


@pytest.mark.parametrize("values", [2, 13])
def test_the_noise_of_each_value(values: int):
    made = study(values)
    check(draw_value_noise(made, 1.0))
    table = pd.DataFrame(map(plain_row, value_rows(made, 1.0)))
    assert len(table) == values and table["ratings changed, mean"].is_monotonic_increasing
    assert table["drawn"].sum() == pytest.approx(1.0) == table["target share"].sum()
    for _, row in table.iterrows():
        i = made.values.index(row[made.attribute])
        others = made.predicted != i
        assert row["noise found for"] == (others & made.found[:, i]).sum()
        assert row["people inferred otherwise"] == others.sum()
        assert row["ratings changed, mean"] == pytest.approx(made.size[others & made.found[:, i], i].mean())


@pytest.mark.parametrize(("entries", "steep"), [(3, 1.0), (500, 6.0), (10_000, 1.0)])
def test_where_the_noise_sits(entries: int, steep: float):
    shares = 1.0 / np.arange(1, entries + 1) ** steep
    shares /= shares.sum()
    carried = Concentration(entries=np.arange(entries), share=shares, n_entries=entries)
    drawing = draw_where([f"item <{i}>" for i in range(entries)], carried, unit="apps")
    check(drawing)
    assert drawing.table["with those above"].iloc[-1] == pytest.approx(1.0)
    half = int(np.argmax(np.cumsum(shares) >= 0.5 - 1e-9)) + 1
    carried = f"{100 * shares[:half].sum():.0f}%"  # half of it, or all that the first one has
    assert entries <= 16 or f"{half:,} carr{'ies' if half == 1 else 'y'} {carried}" in drawing.alt


def test_further_charts_hold_what_is_drawn():
    """Other defences, one person's noise, and who is fooled."""
    rates = {name: estimate(0.06) for name in ("logistic", "forest", "network")}
    made = [
        Compared(method="blurme", parameter=f"{n} added", knows_truth=True, size=estimate(24.4), accuracy=rates)
        for n in (1, 3)
    ]
    exposure = study(attackers=("forest",))
    drawing = draw_defences(exposure, 1.0, made)
    shown = [(trace.y[0], trace.marker.symbol) for trace in dots(check(drawing))]
    assert shown == [(0, "diamond"), (1, "circle"), (1, "diamond"), (1, "square")]
    assert drawing.table["ratings changed"].tolist() == [exposure.spent(1.0).value, 24.4]
    drawing = draw_mechanism(study(30), 0, 1.0)
    for symbol in ("diamond", "circle"):  # the rarest values together
        shown = [trace.x[0] for trace in dots(check(drawing)) if trace.marker.symbol == symbol]
        assert len(shown) == 10 and sum(shown) == pytest.approx(100.0)
    fooled = np.random.default_rng(3).random((2, 7))
    drawing = draw_transfer(ATTACKERS[:2], [f"noise {i}" for i in range(7)], fooled)
    told = written(check(drawing))
    assert all(f"{100 * share:.0f}%" in told for share in fooled.ravel())


# Bias queries


@pytest.fixture(scope="module")
def trials() -> Trials:
    return Trials(pool(), Asking(n=40, repeats=4))


def test_errors_stand_at_their_decades() -> None:
    errors = [("Noisy sums", ErrorQuantiles(median=0.1, high=10.0))]
    found = dots(check(draw_answer_errors(errors, "Noisy sums")))
    assert [dot.x[0] for dot in found] == pytest.approx([-1.0, 1.0])


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


@pytest.mark.parametrize("decoder", ["strongest", "without_prior", "published"])
def test_recovered_values_are_drawn_by_group(trials: Trials, decoder: str):
    for mechanism, m in ((Exact(), 24), (SmoothCauchy(1.0), 12), (Exact(), 0)):
        people, reading = trials.reading(m, mechanism, decoder)
        drawing = draw_values(people, reading, names=HOSTILE)
        figure = check(drawing)
        found = dots(figure)
        assert sum(len(trace.x) for trace in found) == people.n == len(drawing.table)
        filled = sum(len(trace.x) for trace in found if not trace.marker.symbol.endswith("-open"))
        assert filled == int((reading.recovered == people.sensitive).sum())
        assert figure.layout.yaxis.range == (-0.7, 1.7)
        assert all(-0.6 <= y <= 1.6 for trace in found for y in trace.y)
        assert {trace.marker.symbol.removesuffix("-open") for trace in found} == {"circle", "diamond"}


@pytest.mark.parametrize("count", [0, 1, 6, 20])
def test_the_last_six_answers_are_drawn_latest_first_and_all_are_in_the_table(count: int):
    values = [-1 + 2 * k / 20 for k in range(count)]
    drawing = draw_gaps([GapRow(words=HOSTILE[0], gap=estimate(value, 0.1), price=0.1) for value in values])
    found = dots(check(drawing))
    assert [trace.x[0] for trace in found] == list(reversed(values))[:6]
    assert [trace.marker.color == LIGHT.leak for trace in found] == [k == 0 for k in range(len(found))]
    assert ("the last 6 of 20" in drawing.alt) == (count == 20)


# Model card

COUNTS = (1, 2, 5, 12)
CARDS = [card(count) for count in COUNTS]


def traces(drawing: Drawing, name: str) -> list[tuple[float, float]]:
    """Return the points of a named trace."""
    return [
        point for trace in check(drawing).data if trace.name == name for point in zip(trace.x, trace.y, strict=True)
    ]


def test_the_line_at_one_and_a_share_beyond_the_axis():
    drawing = draw_fullness(CARDS, CARDS[1])
    line = [
        shape
        for shape in drawing.figure(LIGHT).layout.shapes
        if shape.line.color == LIGHT.fail and shape.xref != "paper"
    ]
    assert [(one.y0, one.y1) for one in line] == [(1, 1)]
    full = replace(CARDS[1], meter=replace(CARDS[1].meter, joint_bits=3 * CARDS[1].meter.prior_bits))
    beyond = draw_fullness([CARDS[0], full], full)
    assert traces(beyond, "slider") == [(1, 1.25)]
    assert "3.00 ▴ resolved" in beyond.alt


def test_everybody_pinned_is_a_dot_or_a_cross_inside_the_zones():
    now = CARDS[-1]
    assert now.pinned.count > 2  # or this test says nothing
    wrong = people().sensitive.copy()
    wrong[now.pinned.people] = 1 - now.pinned.said
    unsure, settled = math.log(0.95 / 0.05), math.log(0.995 / 0.005)
    for somebody in (people(), replace(people(), codes=wrong)):
        drawing = draw_pinned(somebody, now)
        right = now.pinned.said == somebody.sensitive[now.pinned.people]
        right_ones, crosses = traces(drawing, "right"), traces(drawing, "wrong")
        assert len(right_ones) == int(right.sum()) and len(crosses) == int((~right).sum())
        for x, y in right_ones + crosses:
            assert abs(x) <= unsure + 1e-9 and settled - 1e-9 <= abs(y) <= 7.0
        assert f"near-certain: {int((now.pinned.said == 1).sum())} north" in drawing.alt
        assert (" wrong" in drawing.alt) == bool(crosses)
        assert list(drawing.table["row"]) == people().rows[now.pinned.people].tolist()
        assert 0 < len(traces(drawing, "others")) <= people().n - now.pinned.count
    assert len(draw_in_common(now).table) == len(now.in_common.values)


def test_a_precision_nobody_knows_about_pins_not_nobody():
    tried = Tried(decimals=2, epsilon=None, pinned=0, df_bits=3.0)
    advice = Advice(exact=False, decimals=2, epsilon=None, tried=(replace(tried, known=False), tried))
    assert "2 decimals not known · 3.0; 2 decimals ✓ nobody · 3.0" in draw_precisions(advice, (None, None)).alt
    # three decimals expose somebody where exact numbers happen not to: these are not advised
    advice = replace(advice, tried=(replace(tried, decimals=None), replace(tried, decimals=3, pinned=1), tried))
    assert "exact nobody · 3.0; 3 decimals 1 · 3.0" in draw_precisions(advice, (None, None)).alt


# Choice


def made(leak: float) -> Choice:
    rng = np.random.default_rng(1)
    points = [point(k, 0.75, {**SAFE, "membership_auc": leak}, rng, method=method) for k, method in enumerate(METHODS)]
    return choose(points, POLICY, ChooseSettings(), attribute="sex")


def test_every_candidate_is_drawn_and_the_recommended_one_is_ringed():
    choice = made(leak=0.5)
    assert choice.outcome == Outcomes.RECOMMENDED
    drawing = draw_choice(choice)
    figure = check(drawing)
    *models, ring = dots(figure)
    assert sum(len(trace.x) for trace in models) == 5
    at = choice.chosen.choosing
    assert (ring.x[0], ring.y[0]) == (at.leak, 100 * at.accuracy.value)
    lines = [(shape.x0, shape.x1, shape.y0, shape.y1) for shape in figure.layout.shapes if shape.type == "line"]
    assert (max(0.0, at.low), at.high, ring.y[0], ring.y[0]) in lines  # a cross of its intervals
    assert (at.leak, at.leak, 100 * at.accuracy.low, 100 * at.accuracy.high) in lines
    assert any(f"recommended: {choice.chosen.title}" in words for words in written(figure))
    assert len({METHOD_STYLES[m].color for m in METHODS}) == len({METHOD_STYLES[m].symbol for m in METHODS}) == 5
    assert len(drawing.table) == 5


def test_what_leaks_more_than_twice_its_limit_stands_at_the_right_edge_and_nobody_is_ringed():
    choice = made(leak=0.9)
    figure = check(draw_choice(choice))
    assert choice.outcome == Outcomes.NONE
    assert {x for trace in dots(figure) for x in trace.x} == {2.1}
    assert not any("recommended" in words for words in written(figure))


# Correction and model


@pytest.fixture(scope="module")
def findings() -> CorrectionResult:
    return run(AuditConfig(dataset="sample", roles=ROLES, tolerance=0.01), dataset=dataset(2000, seed=11))


@pytest.fixture(scope="module")
def curve(findings: CorrectionResult) -> list[Disclosure]:
    return [findings.disclose(t) for t in (0.0, 0.01, 0.05, 0.1, 0.2)]


def test_the_bars_of_a_waterfall_join(findings: CorrectionResult, curve: list[Disclosure]) -> None:
    leak, now = findings.attribution("published", 0.05), curve[2]
    drawing = draw_waterfall(leak, findings.strong, words="Strong", attribute="origin", now=now)
    names = ["Baseline", "+ features", "+ predictions", "+ group proportions", "+ fairness constraint"]
    assert drawing.table["attacker knows"].tolist() == [*names, "constraint only (published)", "Strong"]
    steps = [leak.step(name) for name in STEPS]
    for before, after in pairwise(steps):
        change = after.changes["accuracy"].value
        assert after.values["accuracy"].value - before.values["accuracy"].value == pytest.approx(change)
    bars = [trace for trace in check(drawing).data if trace.type == "bar"]
    ends = [(bar.base[0], bar.base[0] + bar.x[0]) for bar in bars]  # the control is a dot
    reached = [100 * step.values["accuracy"].value for step in steps]
    assert ends[:-1] == [pytest.approx(pair) for pair in pairwise(reached)]
    assert now.after is not None
    assert ends[-1] == pytest.approx((100 * now.before.value, 100 * now.after.value))
    written = [note.text for note in drawing.figure(LIGHT).layout.annotations]
    for step in steps[1:]:
        assert f"<b>{points(step.changes['accuracy']).removesuffix(' points')}</b>" in written
    other = replace(now, majority=replace(now.majority, value=0.9))
    renamed = draw_waterfall(leak, findings.strong, words="Strong", attribute="origin", now=other)
    assert renamed.table["attacker knows"].tolist()[:2] == ["Baseline they know", "+ features"]


def test_no_correction_leaves_a_gap_and_a_hollow_marker(findings: CorrectionResult, curve: list[Disclosure]) -> None:
    none = replace(curve[0], after=None, gain=None, balanced_after=None, n_changed=None, n_right=None, reached=math.nan)
    none = replace(none, groups=tuple(replace(g, after=None) for g in none.groups))
    drawing = draw_disclosure([none, *curve[1:]], none, findings.strong, attribute="origin", attacker="Attacker")
    check(drawing)
    (dot,) = dots(drawing.figure(LIGHT))
    assert dot.marker.color == (LIGHT.background,)
    assert "no correction" in drawing.alt
    for now, head in ((curve[2], "at 0.05"), (replace(curve[2], used=0.051), "at 0.05 → 0.051")):
        shown = draw_disclosure(curve, now, findings.strong, attribute="origin", attacker="Attacker")
        assert [words for words in written(shown.figure(LIGHT)) if words.startswith("at ")] == [head]


def test_models_stand_at_their_target_tolerances_beside_one_baseline():
    rng = np.random.default_rng(3)
    rows = [sweep_row(rng, tolerance=tolerance) for tolerance in (0.1, 0.0, 0.02)]
    done = [rows[1], rows[2], rows[0]]
    for draw, names, scale in (
        (draw_models_accuracy, ("model_test", "model_train"), 100),
        (draw_models_unfairness, ("unfairness_test", "unfairness_train"), 1),
    ):
        figure = draw(rows).figure(LIGHT)
        lines = [trace for trace in figure.data if len(trace.x) == len(rows)]  # bands go there and back
        assert [trace.x for trace in lines] == [(0.0, 0.02, 0.1)] * 2
        for line, name in zip(lines, names, strict=True):
            assert line.y == pytest.approx([scale * getattr(row, name).value for row in done])
    told = [words for words in written(draw_models_accuracy(rows).figure(LIGHT)) if "majority class" in words]
    assert told == [f"{percent(rows[0].model_majority.value)} majority class"]


def test_the_pointer_tells_accuracy_unfairness_and_the_membership_attack():
    kept = read_landscape(KEPT_MAP)
    (trace,) = (t for t in draw_landscape(kept).data if t["type"] == "heatmap")
    gains = [cell.gain.value for cell in kept.cells if cell.tolerance is not None]
    assert (trace["zmin"], trace["zmax"]) == (0.0, max(gains)) and max(gains) > 0.01
    told, cell = trace["customdata"], kept.cell(0.001, 1.0)
    (text,) = (t for row in told for t in row if t.startswith("<b>Tolerance 0.001, ε = 1<"))
    for part in (f"{100 * cell.accuracy.value:.1f}%", f"{cell.unfairness_train.value:.3f}", "loss threshold", "AUC"):
        assert part in text
    assert f"{cell.members.value:.3f} ({cell.members.low:.3f} to {cell.members.high:.3f})" in text
    assert f"holds in {cell.n_true} of 20 seeds" in text
    assert all("nothing is disclosed" in row[-1] for row in told)


def test_what_a_map_writes_fits_its_cells_beside_a_wide_column_on_the_narrowest_screen():
    names = ([f"tolerance 0.00{i}" for i in range(5)], ["none", "every setting"])
    cells, column = [["<b>76.8%</b>"] * 5] * 2, ("Membership AUC", ["0.716 (0.700 to 0.731)"] * 2)
    told = {"names": names, "titles": ("Tolerance", "ε"), "ends": (0.0, 1.0), "rows": [], "beside": column}
    drawing = draw_heat("Map", [[0.1] * 5] * 2, cells, **told)
    (trace,), margin, axis = drawing.data, drawing.layout["margin"], drawing.layout["xaxis"]
    room = (NARROW - margin["l"] - margin["r"]) / 5
    assert width(cells[0][0], trace["textfont"]["size"]) <= room
    assert max(width(name, 12) for name in axis["ticktext"]) <= room
