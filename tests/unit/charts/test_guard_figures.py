"""Charts of AttriGuard: valid, told in words, with fixed axes and every label inside."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from core.attriguard import Compared, Concentration
from core.attriguard.tables import value_rows
from core.charts.attriguard import (
    draw_defences,
    draw_mechanism,
    draw_transfer,
    draw_value_noise,
    draw_where,
)
from core.estimates import Estimate
from core.quantities import plain_row
from tests.unit.charts.checks import check, dots, written
from tests.unit.charts.guard_samples import ATTACKERS, study


@pytest.mark.parametrize("values", [2, 3, 12, 13, 30])
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
    """Other defences, one person's noise, and who is fooled."""
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
