"""Charts over epsilon and theta: steady under the slider, growing, and honest about what is not measured."""

from __future__ import annotations

import math
from collections.abc import Sequence

import plotly.graph_objects as go
import pytest

from core.charts import LIGHT
from core.charts.membership import draw_accuracy_by_epsilon, draw_deleted, draw_epsilon_curve
from core.membership.curves import EPSILONS
from core.membership.fairpick import FairPickFindings
from tests.unit.charts.checks import check, written
from tests.unit.charts.membership_samples import bands, estimate

MAJORITY = estimate(0.752, 0.006)
FIELDS = ("vd", "fpr_gap", "advantage_gap")
NAMES = ("<script>alert('men')</script> & a very long name of sixty letters", "women")


def slider(figure: go.Figure) -> list[float]:
    (found,) = (trace for trace in figure.data if trace.name == "slider")
    return list(found.y)


def curve(figure: go.Figure, field: str) -> go.Scatter:
    """Return the dots of a field: those of the three gaps stand in this order."""
    return [trace for trace in figure.data if trace.mode == "markers" and trace.name != "slider"][FIELDS.index(field)]


def test_vd_is_muted_where_the_attack_is_no_better_than_chance():
    quiet = [b.at for b in bands() if b.values["auc"].low <= 0.5 <= b.values["auc"].high]
    assert 0 < len(quiet) < len(EPSILONS)
    drawing = draw_epsilon_curve(bands(), now=quiet[0])
    figure = check(drawing)
    for field in FIELDS:
        assert list(curve(figure, field).y) == [b.values[field].value for b in bands()]
    colors = curve(figure, "vd").marker.color
    assert [color == LIGHT.background for color in colors] == [e in quiet for e in EPSILONS]
    assert set(curve(figure, "fpr_gap").marker.color) == {LIGHT.chance}
    (shade,) = (shape for shape in figure.layout.shapes if shape.type == "rect")
    assert all(shade.x0 <= math.log10(e) <= shade.x1 for e in quiet)
    assert all(not shade.x0 <= math.log10(e) <= shade.x1 for e in EPSILONS[:-1] if e not in quiet)
    assert "shaded, AUC contains 0.5" in drawing.alt
    assert "shaded: AUC contains 0.5" in written(figure) and any(
        words.endswith("VD, greyed out") for words in written(figure)
    )


@pytest.mark.parametrize("there", [(), (1.0,), (math.inf,), (0.1, 10.0), (math.inf, 0.01, 5.0)])
@pytest.mark.parametrize("repeats", [1, 25])
def test_growing_curves_are_drawn_from_what_is_there(there: Sequence[float], repeats: int):
    made = bands(there, repeats=repeats)
    for now in (0.02, 1.0, math.inf):
        drawings = [draw_epsilon_curve(made, now=now)]
        drawings.append(draw_accuracy_by_epsilon(made, now=now, majority=MAJORITY))
        for drawing in drawings:
            figure = check(drawing)
            assert ("being measured" in written(figure)) is (not there)
            assert bool(slider(figure)) is (now in there)  # nothing is invented between the points


def test_accuracy_over_epsilon():
    drawing = draw_accuracy_by_epsilon(bands(), now=math.inf, majority=MAJORITY)
    figure = check(drawing)
    assert {"95.2% training", "80.2% test", "75.2% majority class"} <= set(written(figure))
    assert "at ε = ∞: 95.2% training; 80.2% test; 75.2% majority class." in drawing.alt
    low, high = figure.layout.yaxis.range
    every = [e for b in bands() for name, e in b.values.items() if name.startswith("accuracy")]
    assert all(low <= 100 * e.low and 100 * e.high <= high for e in every)
    without = draw_accuracy_by_epsilon(bands(), now=1.0)
    assert "majority" not in without.alt + " ".join(written(check(without)))


def test_rows_deleted_of_each_group():
    def deleted(numbers: dict[str, int]) -> FairPickFindings:
        return FairPickFindings(
            theta=0.6, deleted=numbers, clusters={0: 4, 1: 3}, ignored=0, largest_before=0.05, largest_after=0.03
        )

    drawing = draw_deleted(deleted({NAMES[0]: 3620, "women": 1763}))
    figure = check(drawing)
    bars = [trace for trace in figure.data if trace.type == "bar"]
    assert [(bar.x[0], bar.marker.color) for bar in bars] == [(1763, LIGHT.first), (3620, LIGHT.second)]
    assert {"women", "1,763"} <= set(written(figure)) and "women 1,763" in drawing.alt
    assert drawing.table["records deleted"].tolist() == [1763, 3620]
    check(draw_deleted(deleted(dict.fromkeys("ab", 0))))
