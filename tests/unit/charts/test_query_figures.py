"""Charts of the bias queries: valid, told in words, with fixed axes and every label inside."""

from __future__ import annotations

import pytest

from core.charts import LIGHT
from core.charts.queries import GapRow, draw_answer_errors, draw_gaps, draw_values
from core.estimates import Estimate
from core.queries import (
    Asking,
    ErrorQuantiles,
    Exact,
    SmoothCauchy,
    Trials,
    error_text,
)
from tests.unit.charts.checks import check, dots
from tests.unit.queries.people import pool

HOSTILE = ("<b>men</b> & others of a very long name indeed", "=women|`x`")


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
    assert ("the last 6 of 20" in drawing.alt) == (count == 20)
