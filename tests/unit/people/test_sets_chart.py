"""The chart of which attacks find the same people."""

from __future__ import annotations

import numpy as np

from core.stats.estimates import proportion
from core.studies.people import ATTACKS, PeopleAtRisk
from core.studies.people.people_attacks import IdentifiedRecords
from core.studies.people.people_study import draw_sets
from tests import samples
from tests.unit.charts.checks import check, written


def risk(leaks: np.ndarray, *, reason: str = "") -> PeopleAtRisk:
    """Return people whom attacks find as an (n, attacks) array says."""
    n = len(leaks)
    attacks = tuple(
        IdentifiedRecords(
            attack=name,
            identified=leaks[:, i],
            leak=leaks[:, i],
            chance=0.5,
            reason=reason if name == "queries" else "",
        )
        for i, name in enumerate(ATTACKS)
    )
    return PeopleAtRisk(
        attribute="origin",
        group_names=("south", "<b>north</b>"),
        rows=np.arange(n),
        groups=(np.arange(n) % 2).astype(np.uint8),
        columns=samples.frame(n),
        attacks=attacks,
        imputed=np.zeros(n, dtype=np.bool_),
        fixes=((),) * n,
        effects=(),
    )


def test_a_row_a_set_with_its_attacks_and_its_number():
    leaks = np.zeros((50, len(ATTACKS)), dtype=np.bool_)
    leaks[:9, 4] = leaks[6:20, 2] = leaks[0, :] = True
    drawing = draw_sets(risk(leaks))
    figure = check(drawing)
    rows = {row["attacks"]: row["people"] for row in drawing.rows}
    assert rows == {
        "Bias queries": 11,
        "Membership": 5,
        "Bias queries and Membership": 3,
        " and ".join(ATTACKS.values()): 1,
    }
    assert [str(n) for n in rows.values()] == [text for text in written(figure) if text in {"11", "5", "3", "1"}][-4:]
    bars = [trace for trace in figure.data if trace.type == "bar"]
    lengths = [bar.x[0] for bar in bars]
    np.testing.assert_allclose(np.array(lengths) / lengths[0], np.array([11, 5, 3, 1]) / 11)
    assert {bar.base[0] for bar in bars} == {bars[0].base[0]}


def test_rates_are_the_share_of_each_group_that_is_found_with_its_interval():
    leaks = np.zeros((50, len(ATTACKS)), dtype=np.bool_)
    leaks[:10, 0] = leaks[2:5, 1] = leaks[20, 2] = True  # 6 of 25 even rows, 5 of 25 odd ones
    assert risk(leaks).rates == (proportion(6, 25), proportion(5, 25))
