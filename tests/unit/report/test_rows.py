"""What a row of the report's board says beside its number."""

from __future__ import annotations

import dataclasses

from core.report import check_rows, document
from tests.samples_report import sample


def test_further_numbers_are_in_order_with_the_digits_a_reader_needs():
    made = sample()
    first = dataclasses.replace(
        made.measurements[0], details={"shadows": 16.0, "LiRA, gain": -0.04236, "LiRA, AUC": 0.58884, "people": 8040.0}
    )
    made = dataclasses.replace(made, measurements=(first, *made.measurements[1:]))
    rows = {row.verdict.check: row for row in check_rows(document(made, edition="internal"))}
    assert rows[first.check].details == "LiRA, AUC: 0.589; LiRA, gain: −0.042; people: 8,040; shadows: 16"
