"""Charts of all studies: numbers are where core says, names harmless."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from core.charts import LIGHT, Drawing
from core.charts.planes import draw_heat
from core.charts.theme import NARROW, width
from core.experiments.choose import Choice, ChoiceOutcome, ChooseSettings, choose
from core.experiments.choose.charts import METHOD_STYLES, draw_choice
from core.models import METHODS, PRIVATE_METHODS
from core.stats.estimates import plain_row
from core.studies.attriguard.charts import draw_mechanism, draw_value_noise
from core.studies.attriguard.findings import value_rows
from core.studies.bias_queries import ErrorQuantiles, Exact, SmoothCauchy, Trials, error_text
from core.studies.bias_queries.charts import GapRow, draw_answer_errors, draw_gaps, draw_values
from core.studies.correction import STEPS, CorrectionResult, Disclosure, run
from core.studies.correction.charts import draw_disclosure, draw_waterfall
from core.studies.membership.charts import draw_epsilon_curve, draw_gaps_between, draw_ranges, draw_roc
from core.studies.membership.disparity import Disparities
from core.studies.membership.findings import EPSILONS
from core.studies.model_card import Advice, Tried
from core.studies.model_card.charts import _log_odds, draw_fullness, draw_in_common, draw_pinned, draw_precisions
from core.studies.subject import AuditConfig
from tests.release_samples import card, people
from tests.samples import ROLES, dataset
from tests.unit.charts.checks import check, dots, written
from tests.unit.charts.guard_samples import HOSTILE, study
from tests.unit.charts.membership_samples import bands, compared, estimate, ranges, result, roc
from tests.unit.choose.candidate_samples import POLICY, SAFE, point
from tests.unit.queries.people import pool


@pytest.mark.parametrize("values", [2, 13])
def test_the_noise_of_each_value(values: int):
    exposure_study = study(values)
    check(draw_value_noise(exposure_study, 1.0))
    table = pd.DataFrame(map(plain_row, value_rows(exposure_study, 1.0)))
    assert len(table) == values and table["ratings changed, mean"].is_monotonic_increasing
    assert table["drawn"].sum() == pytest.approx(1.0) == table["target share"].sum()
    for _, row in table.iterrows():
        i = exposure_study.values.index(row[exposure_study.attribute])
        different = exposure_study.predicted != i
        assert row["noise found for"] == (different & exposure_study.reached[:, i]).sum()
        assert row["people inferred otherwise"] == different.sum()
        assert row["ratings changed, mean"] == pytest.approx(
            exposure_study.size[different & exposure_study.reached[:, i], i].mean()
        )


def test_the_rarest_values_are_drawn_together():
    drawing = draw_mechanism(study(30), 0, 1.0)
    for symbol in ("diamond", "circle"):
        shares = [trace.x[0] for trace in dots(check(drawing)) if trace.marker.symbol == symbol]
        assert len(shares) == 10 and sum(shares) == pytest.approx(100.0)


# Bias queries


def test_errors_stand_at_their_decades() -> None:
    errors = {"noisy_sums": ErrorQuantiles(median=0.1, high=10.0)}
    markers = dots(check(draw_answer_errors(errors, "noisy_sums")))
    assert [dot.x[0] for dot in markers] == pytest.approx([-1.0, 1.0])


ERRORS = {0.0: "0", 1e-9: "under 0.0001", 0.00025: "0.00025", 0.2149: "0.21", 0.999: "1", 1.0: "1.0"}
ERRORS |= {11.72: "11.7", 149.4: "149", 1490.0: "1,500", 123456.0: "120,000"}


def test_errors_have_two_or_three_digits():
    assert {value: error_text(value) for value in ERRORS} == ERRORS


def test_recovered_values_are_drawn_by_group():
    trials = Trials(pool(), n=40, repeats=4)
    for mechanism, m in ((Exact(), 24), (SmoothCauchy(1.0), 12), (Exact(), 0)):
        people, decoded = trials.decoding(m, mechanism, "strongest")
        drawing = draw_values(people, decoded, names=HOSTILE)
        figure = check(drawing)
        markers = dots(figure)
        assert sum(len(trace.x) for trace in markers) == people.n == len(drawing.table)
        filled = sum(len(trace.x) for trace in markers if not trace.marker.symbol.endswith("-open"))
        assert filled == int((decoded.recovered == people.sensitive).sum())
        assert all(-0.6 <= y <= 1.6 for trace in markers for y in trace.y) and figure.layout.yaxis.range == (-0.7, 1.7)


@pytest.mark.parametrize("count", [0, 1, 6, 20])
def test_the_last_six_answers_are_drawn_latest_first_and_all_are_in_the_table(count: int):
    values = [-1 + 2 * k / 20 for k in range(count)]
    drawing = draw_gaps([GapRow(label=HOSTILE[0], gap=estimate(value, 0.1), price=0.1) for value in values])
    markers = dots(check(drawing))
    assert [trace.x[0] for trace in markers] == list(reversed(values))[:6]
    assert [trace.marker.color == LIGHT.leak for trace in markers] == [k == 0 for k in range(len(markers))]
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
    drawing = draw_fullness(replace(CARDS[1], fewer=(CARDS[0],)))
    line = [
        shape
        for shape in drawing.figure(LIGHT).layout.shapes
        if shape.line.color == LIGHT.fail and shape.xref != "paper"
    ]
    assert [(segment.y0, segment.y1) for segment in line] == [(1, 1)]
    full = replace(CARDS[1], meter=replace(CARDS[1].meter, joint_bits=3 * CARDS[1].meter.prior_bits))
    beyond = draw_fullness(replace(full, fewer=(CARDS[0],)))
    assert traces(beyond, "slider") == [(1, 1.25)]
    assert "3.00 ▴ resolved" in beyond.alt


def test_everybody_pinned_is_a_dot_or_a_cross_inside_the_zones():
    now = CARDS[-1]
    assert now.pinned.count > 2  # or this test says nothing
    wrong = people().sensitive.copy()
    wrong[now.pinned.people] = 1 - now.pinned.inferred
    unsure, settled = math.log(0.95 / 0.05), math.log(0.995 / 0.005)
    for somebody in (people(), replace(people(), codes=wrong)):
        drawing = draw_pinned(replace(now, people=somebody))
        right = now.pinned.inferred == somebody.sensitive[now.pinned.people]
        right_ones, crosses = traces(drawing, "right"), traces(drawing, "wrong")
        assert len(right_ones) == int(right.sum()) and len(crosses) == int((~right).sum())
        for x, y in right_ones + crosses:
            assert abs(x) <= unsure + 1e-9 and settled - 1e-9 <= abs(y) <= 7.0
        assert f"near-certain: {int((now.pinned.inferred == 1).sum())} north" in drawing.alt
        assert (" wrong" in drawing.alt) == bool(crosses)
        assert list(drawing.table["row"]) == people().rows[now.pinned.people].tolist()
        assert 0 < len(traces(drawing, "others")) <= people().n - now.pinned.count
    assert len(draw_in_common(now).table) == len(now.in_common.values)


def test_a_precision_nobody_knows_about_pins_not_nobody():
    tried = Tried(decimals=2, epsilon=None, pinned=0, df_bits=3.0)
    advice = Advice(exact=False, decimals=2, epsilon=None, tried=(replace(tried, converged=False), tried))
    assert "2 decimals not known · 3.0; 2 decimals ✓ nobody · 3.0" in draw_precisions(advice, (None, None)).alt
    # three decimals expose somebody where exact numbers happen not to: these are not advised
    advice = replace(advice, tried=(replace(tried, decimals=None), replace(tried, decimals=3, pinned=1), tried))
    assert "exact nobody · 3.0; 3 decimals 1 · 3.0" in draw_precisions(advice, (None, None)).alt


# Choice


def choice_among_methods(leak: float) -> Choice:
    rng = np.random.default_rng(1)
    points = [point(k, 0.75, {**SAFE, "membership_auc": leak}, rng, method=method) for k, method in enumerate(METHODS)]
    return choose(points, POLICY, ChooseSettings(), attribute="sex")


def test_every_candidate_is_drawn_and_the_recommended_one_is_ringed():
    choice = choice_among_methods(leak=0.5)
    assert choice.outcome == ChoiceOutcome.RECOMMENDED
    figure = check(draw_choice(choice))
    *models, ring = dots(figure)
    assert sum(len(trace.x) for trace in models) == len(METHODS)
    at = choice.chosen.choosing
    assert (ring.x[0], ring.y[0]) == (at.leak, 100 * at.accuracy.value)
    lines = [(shape.x0, shape.x1, shape.y0, shape.y1) for shape in figure.layout.shapes if shape.type == "line"]
    assert (max(0.0, at.low), at.high, ring.y[0], ring.y[0]) in lines  # a cross of its intervals
    assert (at.leak, at.leak, 100 * at.accuracy.low, 100 * at.accuracy.high) in lines
    assert len({METHOD_STYLES[m].symbol for m in METHODS}) == len(METHODS)
    trees = {METHOD_STYLES[m].color for m in PRIVATE_METHODS}  # one colour, two markers
    assert len(trees) == 1 and len({METHOD_STYLES[m].color for m in METHODS}) == len(METHODS) - 1


def test_what_leaks_more_than_twice_its_limit_stands_at_the_right_edge_and_nobody_is_ringed():
    choice = choice_among_methods(leak=0.9)
    figure = check(draw_choice(choice))
    assert choice.outcome == ChoiceOutcome.NONE
    assert {x for trace in dots(figure) for x in trace.x} == {2.1}
    assert not any("recommended" in text for text in written(figure))


# Correction and model


@pytest.fixture(scope="module")
def findings() -> CorrectionResult:
    return run(AuditConfig(dataset="sample", roles=ROLES, tolerance=0.01), dataset=dataset(2000, seed=11))


@pytest.fixture(scope="module")
def curve(findings: CorrectionResult) -> list[Disclosure]:
    return [findings.disclose(t) for t in (0.0, 0.01, 0.05, 0.1, 0.2)]


@pytest.mark.long
def test_the_bars_of_a_waterfall_join(findings: CorrectionResult, curve: list[Disclosure]) -> None:
    leak, now = findings.attribution("published", 0.05), curve[2]
    drawing = draw_waterfall(leak, findings.strong, label="Strong", attribute="origin", now=now)
    bars = [trace for trace in check(drawing).data if trace.type == "bar"]
    ends = [(bar.base[0], bar.base[0] + bar.x[0]) for bar in bars]  # the control is a dot
    reached = [100 * leak.step(name).values["accuracy"].value for name in STEPS]
    assert ends[:-1] == [pytest.approx(pair) for pair in pairwise(reached)]
    assert now.after is not None
    assert ends[-1] == pytest.approx((100 * now.before.value, 100 * now.after.value))
    high_baseline = replace(now, majority=replace(now.majority, value=0.9))
    renamed = draw_waterfall(leak, findings.strong, label="Strong", attribute="origin", now=high_baseline)
    assert renamed.table["attacker knows"].tolist()[:2] == ["Baseline they know", "+ features"]


def test_no_correction_leaves_a_gap_and_a_hollow_marker(findings: CorrectionResult, curve: list[Disclosure]) -> None:
    none = replace(curve[0], after=None, gain=None, balanced_after=None, n_changed=None, n_right=None, reached=math.nan)
    none = replace(none, groups=tuple(replace(g, after=None) for g in none.groups))
    drawing = draw_disclosure([none, *curve[1:]], none, findings.strong, attribute="origin", attacker="Attacker")
    (dot,) = dots(check(drawing))
    assert dot.marker.color == (LIGHT.background,) and "no correction" in drawing.alt


def test_what_a_map_writes_fits_its_cells_beside_a_wide_column_on_the_narrowest_screen():
    names = ([f"tolerance 0.00{i}" for i in range(5)], ["none", "every setting"])
    cells, column = [["<b>76.8%</b>"] * 5] * 2, ("Membership AUC", ["0.716 (0.700 to 0.731)"] * 2)
    settings = {"names": names, "titles": ("Tolerance", "ε"), "ends": (0.0, 1.0), "rows": [], "beside": column}
    drawing = draw_heat("Map", [[0.1] * 5] * 2, cells, **settings)
    (trace,), margin, axis = drawing.data, drawing.layout["margin"], drawing.layout["xaxis"]
    room = (NARROW - margin["l"] - margin["r"]) / 5
    assert width(cells[0][0], trace["textfont"]["size"]) <= room
    assert max(width(name, 12) for name in axis["ticktext"]) <= room


# Membership


def test_four_gaps_are_coloured_by_the_group_that_is_more_exposed():
    figure = check(draw_gaps_between(result()))
    marks = dots(figure)
    assert [(m.x[0], m.y[0]) for m in marks] == [(0.131, 0), (0.210, 1), (-0.079, 2), (-0.051, 3)]
    looks = [(m.marker.color, m.marker.symbol) for m in marks]
    assert looks == [(LIGHT.first, "circle")] * 2 + [(LIGHT.second, "diamond")] * 2
    shaded = {(shape.y0 + shape.y1) / 2 for shape in figure.layout.shapes if shape.type == "rect"}
    assert [mark.y[0] in shaded for mark in marks] == [False, False, True, True]  # flags are no leak


def test_a_muted_attack_mutes_vd_alone():
    muted = result(muted=True, disparities=Disparities(results=(compared((0.187, 0.185, 0.002)),)))
    vd, fpr, advantage, _ = dots(check(draw_gaps_between(muted)))
    assert vd.marker.color == LIGHT.background and vd.marker.line.color == LIGHT.muted  # hollow
    assert fpr.marker.color == LIGHT.first and advantage.marker.color == LIGHT.chance  # the last holds 0


def test_the_roc_tells_what_is_caught_at_one_percent():
    by_group = (roc(2.0, 4000, seed=2), roc(0.3, 3000, seed=3))
    figure = check(draw_roc(result(curves_by_group=by_group)))
    for name, group_roc in zip(("men", "women"), by_group, strict=True):
        caught = group_roc.tpr_at(0.01).value  # as in the report
        assert any(f"{name} {100 * caught:.1f}%" in text for text in written(figure))
        assert math.log10(caught) + 2 in [pytest.approx(mark.y[0]) for mark in dots(figure)]
    (shade,) = (shape for shape in figure.layout.shapes if shape.type == "rect")
    assert shade.x1 == pytest.approx(math.log10(10 / 3000) + 2)  # the smaller group decides


@pytest.mark.parametrize("levels", [0, 12])
def test_a_curve_is_what_breaking_ties_at_random_reaches(levels: int):
    group_roc = roc(0.8, 2000, levels=levels)
    figure = draw_roc(result(curves_by_group=(group_roc, group_roc))).figure(LIGHT)
    curve = next(trace for trace in figure.data if trace.mode.startswith("lines"))
    assert len(curve.x) <= 401  # no more than can be seen
    for x, y in zip(curve.x, curve.y, strict=True):
        assert 10 ** (y - 2) == pytest.approx(max(float(group_roc.reached(10 ** (x - 2))), 1e-4))


def test_where_nobody_is_caught_the_pointer_says_so_at_the_end_of_the_axis():
    none = replace(roc(0.8, 3000), fpr=np.array([0.0, 0.5, 1.0]), tpr=np.array([0.0, 0.0, 1.0]))
    (dot, _) = dots(check(draw_roc(result(curves_by_group=(none, none)))))
    assert dot.y[0] == pytest.approx(-1.0) and dot.text[0].endswith("TPR at 1% FPR 0.0%")


def test_ten_steps_add_up_to_vd():
    range_table = ranges()
    figure = check(draw_ranges(range_table))
    bars = [trace for trace in figure.data if trace.type == "bar"]
    assert len(bars) == 10
    height = 0.0
    for bar, row in zip(bars, range_table.rows, strict=True):
        assert (bar.base[0], bar.x[0]) == pytest.approx((height, 100 * row.difference))
        height += 100 * row.difference
    (last,) = dots(figure)
    assert last.x[0] == pytest.approx(height) == pytest.approx(13.1)


def test_vd_is_muted_where_the_attack_is_no_better_than_chance():
    quiet = [b.at for b in bands() if b.values["auc"].low <= 0.5]
    assert 2 < len(quiet) < len(EPSILONS)
    aucs = estimate(0.47, 0.01), estimate(0.625, 0.125)  # neither interval is above 0.5
    first = [replace(b, values={**b.values, "auc": auc}) for b, auc in zip(bands(), aucs, strict=False)]
    figure = check(draw_epsilon_curve([*first, *bands()[2:]], now=quiet[0]))
    vd, flags, _ = (trace for trace in figure.data if trace.mode == "markers" and trace.name != "slider")
    assert [color == LIGHT.background for color in vd.marker.color] == [e in quiet for e in EPSILONS]
    assert set(flags.marker.color) == {LIGHT.chance}
    (shade,) = (shape for shape in figure.layout.shapes if shape.type == "rect")
    assert [shade.x0 <= math.log10(e) <= shade.x1 for e in EPSILONS[:-1]] == [e in quiet for e in EPSILONS[:-1]]


@pytest.mark.parametrize("epsilons", [(), (1.0,), (math.inf, 0.01, 5.0), (math.inf, 0.01, 100.0)])
def test_growing_curves_are_drawn_from_their_points(epsilons: Sequence[float]):
    for now in (0.02, 1.0, math.inf):
        figure = check(draw_epsilon_curve(bands(epsilons), now=now))
        assert ("being measured" in written(figure)) is (not epsilons)
        (slider,) = (trace for trace in figure.data if trace.name == "slider")
        assert bool(len(slider.y)) is (now in epsilons)  # nothing is invented between the points
        dotted = [t for t in figure.data if t.mode == "lines" and t.line.dash == "dot"]
        assert len(dotted) == 3 * ({100.0, math.inf} <= {*epsilons})  # from the largest budget to none


def test_what_is_certain_stands_inside_the_axes_of_a_card():
    probability = np.array([0.0, 0.0002, 0.5, 0.9, 0.9999, 1.0])
    assert _log_odds(probability) == pytest.approx([-6.85, -6.85, 0.0, math.log(9.0), 6.85, 6.85])
