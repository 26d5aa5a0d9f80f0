"""Tables of membership attacks: what the run of the command in the golden files does not show."""

from __future__ import annotations

from core.membership.tables import curve_rows
from core.quantities import plain_row
from tests.unit.charts.membership_samples import bands, fairpick_bands


def test_curves_say_how_many_rows_each_way_deletes():
    rows, made = [plain_row(row) for row in curve_rows(fairpick_bands(), "θ")], fairpick_bands()
    assert {(row["θ"], row["deleted on average"]) for row in rows} == {(b.at, b.values["deleted"].value) for b in made}
    assert {row["rows deleted"] for row in rows if row["θ"] == 1.0} == {"none"}
    over = [plain_row(row) for row in curve_rows(bands(), "ε")]
    assert [row["VD"] for row in over] == [b.values["vd"].value for b in sorted(bands(), key=lambda band: band.at)]
    assert "rows deleted" not in over[0]
