"""Charts of AttriGuard: valid, told in words, with fixed axes and every label inside."""

from __future__ import annotations

from functools import cache

import numpy as np
import plotly.graph_objects as go
import pytest

from core.attriguard import Compared, Concentration, Exposure, Point
from core.attriguard.exposure import Guesses
from core.charts import (
    Drawing,
    draw_budget,
    draw_cost,
    draw_defences,
    draw_mechanism,
    draw_transfer,
    draw_value_noise,
    draw_where,
)
from core.estimates import Estimate
from tests.unit.charts.checks import check, dots, written

HOSTILE = ("<b>women</b> & others of a very long name", "=men|`x`")
ATTACKERS = ("logistic", "forest", "network", "boosting", "adversarial", "distillation", "region", "dropping")
PAPER = ((0.3, 0.41), (1.0, 0.3), (5.0, 0.08))


@cache
def study(values: int = 2, people: int = 200, attackers: tuple[str, ...] = ATTACKERS, seed: int = 1) -> Exposure:
    """Return a study of invented guesses; an attacker further down the list is moved less by the noise."""
    rng = np.random.default_rng(seed)
    shares = np.sort(rng.dirichlet(np.full(values, 5.0)))[::-1]
    truth = rng.choice(values, people, p=shares)
    predicted = np.where(rng.random(people) < 0.6, truth, rng.choice(values, people, p=shares))
    size = rng.integers(1, 5, (people, values))
    size[np.arange(people), predicted] = 0
    found = rng.random((people, values)) < 0.95
    found[np.arange(people), predicted] = True
    guesses = []
    for i, name in enumerate(attackers):
        moved = rng.random((people, values)) < 1 - i / len(attackers)
        noisy = np.where(moved & found, np.arange(values), predicted[:, None])
        guesses.append(Guesses(attacker=name, clean=predicted, noisy=noisy))
    names = HOSTILE if values == 2 else tuple(f"city {i}" for i in range(values))
    return Exposure(
        title="invented",
        attribute="home & <b>city</b>",
        unit="ratings",
        values=names,
        truth=truth,
        predicted=predicted,
        size=size,
        found=found,
        target=shares,
        shares=shares,
        guesses=tuple(guesses),
    )


@cache
def curves(values: int = 2, attackers: tuple[str, ...] = ATTACKERS) -> dict[str, tuple[Point, ...]]:
    return study(values, attackers=attackers).curves(np.linspace(0, 5, 11).tolist())


def chart(made: Exposure, budget: float, **changes) -> Drawing:
    settings = {"last": 5.0, "budget": budget, "unit": made.unit, "attribute": made.attribute} | changes
    drawn = curves(len(made.values), made.attackers)
    return draw_budget(drawn, made.at(budget), made.majority, **settings)


def slider(figure: go.Figure) -> go.Scatter:
    (trace,) = (trace for trace in figure.data if trace.name == "slider")
    return trace


@pytest.mark.parametrize("values", [2, 25])
def test_the_budget_is_drawn_wherever_the_slider_stands(values: int):
    made, axes = study(values), set()
    for budget in (0.0, 0.1, 1.0, 2.5, 5.0):
        for balanced in (False, True):
            for published in ((), PAPER):
                drawing = chart(made, budget, balanced=balanced, published=published)
                figure = check(drawing)
                dots, points = slider(figure), made.at(budget)
                rates = [p.balanced if balanced else p.accuracy for p in points]
                assert list(dots.x) == [budget] * len(ATTACKERS)
                assert list(dots.y) == pytest.approx([100 * rate.value for rate in rates])
                assert f"at {budget:g}: " in drawing.alt and "Baseline" in drawing.alt
                axes.add((balanced, bool(published), figure.layout.xaxis.range, figure.layout.yaxis.range))
    assert len(axes) == 4  # the slider changes no range
    assert {axis[2] for axis in axes} == {(0, 5)}


@pytest.mark.parametrize("values", [2, 3, 12, 13, 30])
def test_the_noise_of_each_value(values: int):
    made = study(values)
    drawing = draw_value_noise(made, 1.0)
    check(drawing)
    table = drawing.table
    assert len(table) == values and table["ratings changed, mean"].is_monotonic_increasing
    assert table["used"].sum() == pytest.approx(1.0) == table["target share"].sum()
    for _, row in table.iterrows():
        i = made.values.index(row[made.attribute])
        others = made.predicted != i
        assert row["noise found for"] == (others & made.found[:, i]).sum()
        assert row["ratings changed, mean"] == pytest.approx(made.size[others & made.found[:, i], i].mean())


@pytest.mark.parametrize("entries", [3, 14, 500, 10_000])
def test_where_the_noise_sits(entries: int):
    names = [f"item <{i}>" for i in range(entries)]
    for steep in (0.0, 1.0, 6.0):
        shares = 1.0 / np.arange(1, entries + 1) ** steep
        shares /= shares.sum()
        carried = Concentration(entries=np.arange(entries), share=shares, n_entries=entries)
        drawing = draw_where(names, carried, unit="apps")
        check(drawing)
        assert drawing.table["with those above"].iloc[-1] == pytest.approx(1.0)
        half = int(np.argmax(np.cumsum(shares) >= 0.5 - 1e-9)) + 1
        assert entries <= 16 or f"{half:,} carr{'ies' if half == 1 else 'y'} 50%" in drawing.alt


def rate(value: float, half: float = 0.02) -> Estimate:
    return Estimate(value=value, low=max(0.0, value - half), high=min(1.0, value + half), n=100)


def test_further_charts_hold_what_is_drawn():
    """What the noise costs, other defences, one person's noise, and who is fooled."""
    budgets, axes = [0.1 * i for i in range(11)], set()
    curve = [(b, rate(0.12 + 0.03 * b)) for b in budgets]
    for now in curve:
        levels = {"Without noise": rate(0.12), "Most popular": rate(0.05)}
        drawing = draw_cost(curve, now, levels, last=1.0, quality="precision", unit="ratings")
        figure = check(drawing)
        assert (slider(figure).x, slider(figure).y) == ((now[0],), (100 * now[1].value,))
        assert len(drawing.table) == len(curve) + len(levels)
        axes.add((figure.layout.xaxis.range, figure.layout.yaxis.range))
    assert len(axes) == 1  # the slider changes no range
    rates = {name: rate(0.06) for name in ("logistic", "forest", "network")}
    made = [
        Compared(method="blurme", parameter=f"{n} added", knows_truth=True, size=rate(24.4), accuracy=rates)
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
