"""Charts of AttriGuard: valid, told in words, with fixed axes and every label inside."""

from __future__ import annotations

from functools import cache

import numpy as np
import plotly.graph_objects as go
import pytest

from core.attriguard import Exposure, Point, knows_the_noise
from core.attriguard.exposure import Guesses
from core.charts import (
    DARK,
    LIGHT,
    DefenceRow,
    Drawing,
    Drawn,
    Palette,
    draw_budget,
    draw_cost,
    draw_defences,
    draw_mechanism,
    draw_transfer,
    draw_value_noise,
    draw_where,
    value_noise,
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


def chart(made: Exposure, budget: float, palette: Palette = LIGHT, **changes) -> Drawing:
    settings = {"last": 5.0, "budget": budget, "unit": made.unit, "attribute": made.attribute} | changes
    drawn = curves(len(made.values), made.attackers)
    return draw_budget(drawn, made.at(budget), made.majority, palette, **settings)


def slider(figure: go.Figure) -> go.Scatter:
    (trace,) = (trace for trace in figure.data if trace.name == "slider")
    return trace


def lines(figure: go.Figure) -> list[go.Scatter]:
    """Return the attackers' curves."""
    drawn = [trace for trace in figure.data if trace.mode == "lines" and trace.fill != "toself"]
    return [trace for trace in drawn if len(trace.x) > 2]


@pytest.mark.parametrize(("values", "palette"), [(2, LIGHT), (25, DARK)])
def test_the_budget_is_drawn_wherever_the_slider_stands(values: int, palette: Palette):
    made, axes = study(values), set()
    for budget in (0.0, 0.1, 1.0, 2.5, 5.0):
        for balanced in (False, True):
            for published in ((), PAPER):
                drawing = chart(made, budget, palette, balanced=balanced, published=published)
                figure = check(drawing)
                dots, points = slider(figure), made.at(budget)
                rates = [p.balanced if balanced else p.accuracy for p in points]
                assert list(dots.x) == [budget] * len(ATTACKERS)
                assert list(dots.y) == pytest.approx([100 * rate.value for rate in rates])
                assert figure.layout.meta["budget"] == budget
                assert f"at {budget:g}: " in drawing.alt and "Baseline" in drawing.alt
                axes.add((balanced, bool(published), figure.layout.xaxis.range, figure.layout.yaxis.range))
    assert len(axes) == 4  # the slider changes no range
    assert {axis[2] for axis in axes} == {(0, 5)}


def test_attackers_who_know_the_noise_have_colours_of_their_own_and_nobody_the_same_line():
    figure = chart(study(), 1.0).figure
    looks = [(trace.line.color, trace.line.dash) for trace in lines(figure)]
    assert len(looks) == len(set(looks)) == len(ATTACKERS)
    for name, (color, _) in zip(ATTACKERS, looks, strict=True):
        expected = LIGHT.leak if name == "adversarial" else LIGHT.strongest if knows_the_noise(name) else LIGHT.before
        assert color == expected


def test_the_table_holds_what_is_drawn():
    made = study()
    table = chart(made, 1.0, published=PAPER).table
    row = table[(table.attacker == "forest") & (table["ratings changed"] == 2.5)].iloc[0]
    (point,) = (p for p in made.at(2.5) if p.attacker == "forest")
    assert isinstance(point, Point) and row["accuracy"] == point.accuracy.value
    assert row["or baseline"] == point.reported.value and row["balanced"] == point.balanced.value
    assert (table.attacker == "baseline").sum() == 1 and table.attacker.str.startswith("paper").sum() == len(PAPER)


@pytest.mark.parametrize("values", [2, 3, 12, 13, 30])
def test_the_noise_of_each_value(values: int):
    made = study(values)
    rows = value_noise(made, 1.0)
    drawing = draw_value_noise(rows, LIGHT, unit="ratings", attribute=made.attribute)
    check(drawing)
    assert [row.size.value for row in rows] == sorted(row.size.value for row in rows)
    assert sum(row.used for row in rows) == pytest.approx(1.0) == sum(row.target for row in rows)
    for row in rows:
        i = made.values.index(row.value)
        others = made.predicted != i
        assert row.missing == (others & ~made.found[:, i]).sum()
        assert row.size.value == pytest.approx(made.size[others & made.found[:, i], i].mean())
    assert len(drawing.table) == values
    assert drawing.table["target"].sum() == pytest.approx(1.0)


def test_a_value_without_any_noise_stands_last():
    made = study(3)
    found = made.found & (made.predicted[:, None] == np.arange(3))
    found[:, :2] = True
    none = Exposure(**{name: getattr(made, name) for name in made.__dataclass_fields__} | {"found": found})
    rows = value_noise(none, 1.0)
    assert (rows[-1].value, rows[-1].size.n) == (made.values[2], 0)
    figure = check(draw_value_noise(rows, LIGHT, unit="ratings", attribute="city"))
    assert "no noise found" in written(figure)


def test_the_heat_map_tells_every_number():
    rng = np.random.default_rng(3)
    for rows, columns in ((1, 2), (2, 7), (4, 3)):
        fooled = rng.random((rows, columns))
        made, attackers = [f"noise {i}" for i in range(rows)], [f"attacker {i}" for i in range(columns)]
        drawing = draw_transfer(made, attackers, fooled, DARK, corner="noise")
        told = written(check(drawing))
        assert all(f"{100 * rate:.0f}%" in told for rate in fooled.ravel())
        assert drawing.table.shape == (rows, columns + 1)


@pytest.mark.parametrize("entries", [3, 14, 500, 10_000])
def test_where_the_noise_sits(entries: int):
    names = [f"item <{i}>" for i in range(entries)]
    for steep in (0.0, 1.0, 6.0):
        shares = 1.0 / np.arange(1, entries + 1) ** steep
        shares /= shares.sum()
        drawing = draw_where(names, shares, LIGHT, entries=entries, unit="apps")
        check(drawing)
        assert drawing.table["with those above"].iloc[-1] == pytest.approx(1.0)
        half = int(np.argmax(np.cumsum(shares) >= 0.5 - 1e-9)) + 1
        assert entries <= 16 or f"{half:,} carr{'ies' if half == 1 else 'y'} 50%" in drawing.alt


def rate(value: float, half: float = 0.02) -> Estimate:
    return Estimate(value=value, low=max(0.0, value - half), high=min(1.0, value + half), n=100)


@pytest.mark.parametrize("gap", [False, True])
@pytest.mark.parametrize("slope", [-0.02, 0.0, 0.03])
def test_what_it_costs(gap: bool, slope: float):
    budgets, axes = [0.1 * i for i in range(11)], set()
    curve = [(b, rate(0.12 + slope * b)) for b in budgets]
    for b, here in curve:
        levels = {"Without noise": rate(0.12), "Most popular": rate(0.05)}
        drawing = draw_cost(curve, (b, here), levels, DARK, last=1.0, quality="precision", unit="ratings", gap=gap)
        figure = check(drawing)
        marker, scale = slider(figure), 1.0 if gap else 100.0
        assert (marker.x, marker.y) == ((b,), (scale * here.value,))
        words = f"{here.value:.3f} With noise" if gap else f"{100 * here.value:.1f}% With noise"
        assert words in written(figure) and f"at {b:g}" in written(figure)
        low, high = figure.layout.yaxis.range
        assert all(low <= scale * e.low and scale * e.high <= high for _, e in curve)  # the band is whole
        assert f"at {b:g}: " in drawing.alt
        axes.add((figure.layout.xaxis.range, figure.layout.yaxis.range))
        assert np.allclose(figure.layout.xaxis.tickvals, np.linspace(0, 1, 6))  # from nothing to the largest budget
        assert len(drawing.table) == len(curve) + len(levels)
    assert len(axes) == 1


def test_other_defences():
    readers = {"logistic": "Logistic", "forest": "Forest", "network": "Network"}
    rows = [
        DefenceRow(
            name="AttriGuard", size=3.0, rates={name: rate(0.1 + 0.1 * i) for i, name in enumerate(readers)}, ours=True
        ),
        DefenceRow(name="Other <b>defence</b>, true value", size=24.4, rates={"forest": rate(0.06)}),
    ]
    drawing = draw_defences(rows, rate(0.1), LIGHT, unit="ratings", labels=readers)
    figure = check(drawing)
    shown = [(trace.y[0], trace.marker.symbol) for trace in dots(figure)]
    assert shown == [(0, "circle"), (0, "diamond"), (0, "square"), (1, "diamond")]
    assert "changes 24.4 ratings" in written(figure) and "AttriGuard changes 3.0" in drawing.alt
    assert drawing.table["ratings changed"].tolist() == [3.0, 24.4]


def test_one_persons_mechanism_takes_the_rarest_values_together():
    made = study(30)
    used = made.mechanism(1.0)
    rows = [
        Drawn(value=name, goal=float(made.target[i]), used=float(used[0, i]), size=int(made.size[0, i]))
        for i, name in enumerate(made.values)
    ]
    drawing = draw_mechanism(rows, LIGHT, unit="ratings")
    for symbol in ("diamond", "circle"):
        shown = [trace.x[0] for trace in dots(check(drawing)) if trace.marker.symbol == symbol]
        assert len(shown) == 10 and sum(shown) == pytest.approx(100.0)
    assert list(drawing.table["used M*"]) == [row.used for row in rows]
