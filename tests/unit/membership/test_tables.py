"""Tables of membership attacks: every number that was measured, and why one was not."""

from __future__ import annotations

from core.membership.disparity import Disparities
from core.membership.findings import MEASURES, NO_BETTER, curve_rows, gap_rows
from core.quantities import plain_row
from tests.unit.charts.membership_samples import REASON, attack, bands, compared, fairpick_bands, low_fpr


def test_gaps_stand_with_their_rates_and_tests_or_the_reason_why_there_are_none():
    one, small = compared(), ("few", "few has 3 members.")
    measured = Disparities(results=(one,), not_measured=(small,))
    found = attack("network", disparities=measured, low_fpr=(low_fpr(reason=REASON),), muted=True)
    rows = {(row["group"], row["gap"]): plain_row(row) for row in gap_rows(found)}
    for name, title in MEASURES.items():
        row, test = rows[one.group, title], one.tests[name]
        own = getattr(one, name)
        columns = ("group − others", "group − others, low", "group − others, high", "p (Holm)", "smallest detectable")
        assert [row[key] for key in columns] == [
            own.value,
            own.low,
            own.high,
            test.p_adjusted,
            test.smallest_detectable,
        ]
    assert (rows[one.group, "VD"]["rate of the group"], rows[one.group, "FPR gap"]["rate of the others"]) == (
        one.recall[0].value,
        one.false_alarms[1].value,
    )
    notes = [row["note"] for row in rows.values()]
    assert notes == [f"greyed out: {NO_BETTER}", "", "", small[1], REASON]


def test_curves_say_how_many_rows_each_way_deletes():
    rows, made = [plain_row(row) for row in curve_rows(fairpick_bands(), "θ")], fairpick_bands()
    assert {(row["θ"], row["deleted on average"]) for row in rows} == {(b.at, b.values["deleted"].value) for b in made}
    assert {row["rows deleted"] for row in rows if row["θ"] == 1.0} == {"none"}
    over = [plain_row(row) for row in curve_rows(bands(), "ε")]
    assert [row["VD"] for row in over] == [b.values["vd"].value for b in sorted(bands(), key=lambda band: band.at)]
    assert "rows deleted" not in over[0]
