"""The card of a person on the AttriGuard page."""

from __future__ import annotations

import pandas as pd

from pages.common import attriguard_sections as sections


def test_a_card_of_many_values_has_a_row_a_value():
    cells = {"item": ["app 1", "app 2"], "without noise": ["–", "0.4"], "Ulm": ["1", ""], "Bonn": ["", ""]}
    listed = sections._by_value(pd.DataFrame(cells | {"Kiel": ["1", "–"]}))
    assert listed["target value"].tolist() == ["Ulm", "Bonn", "Kiel"]
    assert listed["what changes"].tolist() == ["app 1: – → 1", "nothing", "app 1: – → 1, app 2: 0.4 → –"]
