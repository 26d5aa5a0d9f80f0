"""Every chart under a slider: a dot at each curve's number there, the head told, and axes that do not move."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import pytest

from core.charts import Drawing
from core.stats.estimates import ALMOST_ALL, Estimate, epsilon_text
from core.studies.attriguard import AttriGuardSettings
from core.studies.attriguard.charts import draw_budget, draw_cost
from core.studies.bias_queries import (
    DECODERS,
    BiasQueriesResult,
    BiasQueriesSettings,
    Exact,
    LaplaceGlobal,
    NoisySums,
    SmoothCauchy,
    Trials,
    accuracy_limit,
    targeted_leakage,
)
from core.studies.bias_queries.charts import draw_leakage, draw_targeted
from core.studies.bias_queries.trials import best_by_number
from core.studies.correction import run
from core.studies.correction.charts import draw_disclosure
from core.studies.membership.charts import draw_accuracy_by_epsilon, draw_epsilon_curve, draw_fairpick
from core.studies.model_card.charts import draw_fullness, draw_release_bits
from core.studies.subject import AuditConfig
from tests.release_samples import card
from tests.samples import ROLES, dataset
from tests.unit.charts.checks import check
from tests.unit.charts.guard_samples import study
from tests.unit.charts.membership_samples import bands, estimate, fairpick_bands
from tests.unit.queries.people import pool

MECHANISMS = {"Cauchy": SmoothCauchy, "Laplace": LaplaceGlobal, "Noisy sums": NoisySums}


class At(NamedTuple):
    """A chart with its slider at a place, how the head tells it, and the numbers that stand there, as drawn."""

    drawing: Drawing
    head: str
    position: float
    heights: list[float]


def percents(*numbers: Estimate) -> list[float]:
    return [100 * number.value for number in numbers]


def disclosures() -> Iterator[At]:
    correction = run(AuditConfig(dataset="sample", roles=ROLES, tolerance=0.01), dataset=dataset(600, seed=11))
    curve = [correction.disclose(tolerance) for tolerance in (0.01, 0.05, 0.1, 0.2, 0.4)]
    for now in curve:
        drawing = draw_disclosure(curve, now, correction.strong, attribute="origin", attacker="Attacker")
        assert now.after is not None
        yield At(drawing, f"at {now.disclosed_tolerance:g}", now.disclosed_tolerance, percents(now.after))


def budgets(values: int, *, balanced: bool) -> Iterator[At]:
    exposure_study = study(values)
    for budget in (0.0, 0.1, 1.0, exposure_study.last_budget):
        points = exposure_study.at(budget)
        drawing = draw_budget(exposure_study, AttriGuardSettings(budget=budget, balanced=balanced))
        yield At(drawing, f"at {budget:g}", budget, percents(*(point.rate(balanced=balanced) for point in points)))


def costs() -> Iterator[At]:
    curve = [(0.1 * i, estimate(0.12 + 0.003 * i)) for i in range(11)]
    levels = {"Without noise": estimate(0.12), "Most popular": estimate(0.05)}
    for now in curve:
        drawing = draw_cost(curve, now, levels, last=1.0, quality="precision", unit="ratings")
        assert len(drawing.table) == len(curve) + len(levels)
        yield At(drawing, f"at {now[0]:g}", now[0], percents(now[1]))


@cache
def leaks(noise: str) -> list[BiasQueriesResult]:
    mechanism = {"exact": Exact(), "noisy": SmoothCauchy(50.0), "sums": NoisySums(100.0)}[noise]
    trials = Trials(pool(), n=40, repeats=4)
    return [
        BiasQueriesResult(
            attribute="origin & <b>more</b>",
            prior=estimate(0.72),
            leaks=tuple(trials.leak(m, mechanism, decoder) for decoder in DECODERS),
        )
        for m in trials.numbers
    ]


def leakage(noise: str, limit: float | None) -> Iterator[At]:
    exact = [] if noise == "exact" else leaks("exact")
    numbers = [result.best.m for result in leaks(noise)]
    settings = BiasQueriesSettings(mechanism="exact" if noise == "exact" else "noisy_sums")
    for index, m in enumerate(numbers):
        now = replace(leaks(noise)[index], ceiling=limit)
        (best,) = best_by_number(now.leaks)
        by_decoder = {leak.decoder: leak.leakage for leak in now.leaks}
        beside = [by_decoder["published"], by_decoder["without_prior"]]
        faint = []
        if exact:
            free = exact[index].leaks
            faint = [best_by_number(free)[0].leakage, free[DECODERS.index("published")].leakage]
        drawing = draw_leakage([now, *leaks(noise)], settings, exact=exact, numbers=numbers)
        assert (" bound" in drawing.alt) == (noise != "exact" and limit is not None and limit < ALMOST_ALL)
        assert drawing.x.ends == (0, 24) and drawing.y.ends == (45.0, 102.0)
        yield At(drawing, f"after {m}", m, percents(*faint, *beside, best.leakage))


def targeted(chosen: str) -> Iterator[At]:
    epsilons = (0.1, 0.5, 1.0, 5.0, 20.0, 100.0, 500.0)
    curves = {name: [(e, targeted_leakage(make(e), 67, 33)) for e in epsilons] for name, make in MECHANISMS.items()}
    limits = {
        "Limit, sizes unknown": [(e, accuracy_limit(e)) for e in epsilons],
        "Limit, sizes known": [(e, accuracy_limit(e, with_sizes=True)) for e in epsilons],
    }
    every = {**limits, **curves}
    for epsilon in epsilons:
        drawing = draw_targeted(curves, limits, chosen, epsilon)
        rates = {name: 100 * dict(points)[epsilon] for name, points in every.items()}
        assert all(f"{rate:.1f}% {name}" in drawing.alt for name, rate in rates.items())
        assert len(drawing.table) == 5 * len(epsilons)
        dashes = {trace["line"]["dash"] for trace in drawing.data if trace["mode"] == "lines"}
        assert len(dashes) >= 3  # told apart without colour
        yield At(drawing, f"at ε = {epsilon:g}", math.log10(epsilon), list(rates.values()))


def over_epsilon(draw: Callable[..., Drawing], fields: tuple[str, ...], scale: float = 1.0) -> Iterator[At]:
    for band in bands():
        heights = [scale * band.values[field].value for field in fields]
        position = 2.75 if math.isinf(band.at) else math.log10(band.at)
        yield At(draw(bands(), now=band.at), f"at ε = {epsilon_text(band.at)}", position, heights)


def over_theta() -> Iterator[At]:
    for theta in (0.4, 0.6, 0.8, 1.0):
        values = {band.variant: band.values["vd"].value for band in fairpick_bands() if band.at == theta}
        drawing = draw_fairpick(fairpick_bands(), now=theta)
        assert "+0.131 before" in drawing.alt
        yield At(drawing, f"at θ = {theta:g}", theta, [values["random"], values["fairpick"]])


SLIDERS: dict[str, Callable[[], Iterator[At]]] = {
    "disclosure": disclosures,
    "budget": lambda: budgets(2, balanced=False),
    "budget, balanced": lambda: budgets(25, balanced=True),
    "cost": costs,
    "leakage of exact answers": lambda: leakage("exact", None),
    "leakage with noise": lambda: leakage("noisy", 0.93),
    "leakage of noisy sums": lambda: leakage("sums", 1.0),
    "targeted": lambda: targeted("Noisy sums"),
    "targeted, none chosen": lambda: targeted("None"),
    "gaps": lambda: over_epsilon(draw_epsilon_curve, ("vd", "fpr_gap", "advantage_gap")),
    "accuracy": lambda: over_epsilon(draw_accuracy_by_epsilon, ("accuracy_train", "accuracy_test"), 100),
    "fairpick": over_theta,
}


@pytest.mark.long
@pytest.mark.parametrize("name", SLIDERS)
def test_dots_stand_at_the_slider_and_the_axes_do_not_move(name: str):
    axes = set()
    for drawing, head, position, heights in SLIDERS[name]():
        figure = check(drawing)
        (dots,) = (trace for trace in figure.data if trace.name == "slider")
        assert list(dots.x) == pytest.approx([position] * len(heights)) and list(dots.y) == pytest.approx(heights)
        assert head in drawing.alt and any(head in str(note.text) for note in figure.layout.annotations)
        low, high = figure.layout.yaxis.range
        assert all(low <= height <= high for height in heights)
        axes.add((figure.layout.xaxis.range, figure.layout.yaxis.range))
    assert len(axes) == 1


@pytest.mark.parametrize("n_models", [1, 2, 5, 12])
def test_curves_over_the_number_of_models_end_at_the_card(n_models: int):
    *fewer, now = (card(count) for count in (1, 2, 5, 12) if count <= n_models)
    now = replace(now, fewer=tuple(fewer))
    heights = {
        draw_release_bits: [now.prediction.bits.value, now.measured.bits.value],
        draw_fullness: [now.meter.share],
    }
    for draw, expected in heights.items():
        drawing = draw(now)
        figure = check(drawing)
        (dots,) = (trace for trace in figure.data if trace.name == "slider")
        assert list(dots.x) == pytest.approx([len(fewer)] * len(expected)) and list(dots.y) == pytest.approx(expected)
        assert f"at {n_models:,}" in drawing.alt and list(drawing.table["models"])[-1] == n_models
    low, high = check(draw_release_bits(now)).layout.yaxis.range
    intervals = [drawn.measured.bits for drawn in (*fewer, now)]
    ends = [end for interval in intervals for end in (interval.low, interval.high)]
    assert low <= min(ends) and max(ends) <= high  # the band is not cut off
