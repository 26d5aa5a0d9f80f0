"""Charts of the bias queries: valid, told in words, with fixed axes and every label inside."""

from __future__ import annotations

import pytest

from core.charts import (
    LIGHT,
    GapRow,
    draw_answer_errors,
    draw_gaps,
    draw_leakage,
    draw_targeted,
    draw_values,
)
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
from tests.unit.charts.checks import check, dots
from tests.unit.queries.people import pool

HOSTILE = ("<b>men</b> & others of a very long name indeed", "=women|`x`")


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


def leakage_chart(noisy, exact, now: Leak, *, prior: float = 0.72, limit=("Limit", 0.9)):
    return draw_leakage(noisy, exact, now, last=24, prior=rate(prior), limit=limit, attribute="origin & <b>more</b>")


@pytest.mark.parametrize("noise", ["exact", "noisy", "sums"])
def test_leakage_is_drawn_wherever_the_slider_stands(trials: Trials, curves, noise: str):
    axes, exact = set(), {} if noise == "exact" else curves["exact"]
    for now in curves[noise]["strongest"]:
        for limit in (None, ("Limit with prior and group sizes", 0.93), ("Limit with prior and group sizes", 1.0)):
            drawing = leakage_chart(curves[noise], exact, now, limit=limit)
            figure = check(drawing)
            (marker,) = dots(figure)
            assert (marker.x, marker.y) == ((now.m,), (100 * now.leakage.value,))
            axes.add((figure.layout.xaxis.range, figure.layout.yaxis.range))
            assert f"after {now.m}: " in drawing.alt and (" bound" in drawing.alt) == (limit is not None)
    assert axes == {((0, 24), (45.0, 102.0))}


def test_errors_stand_at_their_decades() -> None:
    errors = [("Noisy sums", ErrorQuantiles(median=0.1, high=10.0, closed_form=False))]
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


MECHANISMS = {"Cauchy": SmoothCauchy, "Laplace": LaplaceGlobal, "Noisy sums": NoisySums}


def test_one_targeted_person_at_every_epsilon():
    epsilons = (0.1, 0.5, 1.0, 5.0, 20.0, 100.0, 500.0)
    curves = {name: [(e, targeted_leakage(make(e), 67, 33)) for e in epsilons] for name, make in MECHANISMS.items()}
    limits = {
        "Limit, sizes unknown": [(e, accuracy_limit(e)) for e in epsilons],
        "Limit, sizes known": [(e, accuracy_limit(e, sizes_known=True)) for e in epsilons],
    }
    axes = set()
    for epsilon in epsilons:
        for chosen in ("Noisy sums", "None"):
            drawing = draw_targeted(curves, limits, chosen, epsilon)
            figure = check(drawing)
            axes.add((figure.layout.xaxis.range, figure.layout.yaxis.range))
            for name, points in [*curves.items(), *limits.items()]:
                assert f"{100 * dict(points)[epsilon]:.1f}% {name}" in drawing.alt
            assert len(drawing.table) == 5 * len(epsilons) and f"at ε = {epsilon:g}:" in drawing.alt
    assert len(axes) == 1
    dashes = {trace.line.dash for trace in draw_targeted(curves, limits, "None", 5.0).figure(LIGHT).data if trace.x}
    assert len(dashes - {None}) >= 3  # told apart without colour


def row(value: float, **facts: object) -> GapRow:
    gap = Estimate(value=value, low=max(value - 0.1, -1.0), high=min(value + 0.1, 1.0), n=100, level=0.95)
    return GapRow(words=str(facts.pop("words", "Team")), gap=gap, price=0.1, **facts)  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [0, 1, 6, 20])
def test_the_last_six_answers_are_drawn_latest_first_and_all_are_in_the_table(count: int):
    values = [-1 + 2 * k / 20 for k in range(count)]
    drawing = draw_gaps([row(value, words=HOSTILE[0]) for value in values])
    found = dots(check(drawing))
    assert [trace.x[0] for trace in found] == list(reversed(values))[:6]
    assert [trace.marker.color == LIGHT.leak for trace in found] == [k == 0 for k in range(len(found))]
    assert len(drawing.table) == count and ("the last 6 of 20" in drawing.alt) == (count == 20)
