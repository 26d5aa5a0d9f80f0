"""The card of a person on the AttriGuard page."""

from __future__ import annotations

import pandas as pd
import pytest

from pages.common import attriguard_sections as sections


def test_a_card_of_many_values_has_a_row_a_value():
    cells = {"item": ["app 1", "app 2"], "now": ["–", "0.4"], "Ulm": ["1", ""], "Bonn": ["", ""], "Kiel": ["1", "–"]}
    listed = sections._by_value(pd.DataFrame(cells))
    assert listed["to be read as"].tolist() == ["Ulm", "Bonn", "Kiel"]
    assert listed["what changes"].tolist() == ["app 1: – → 1", "nothing", "app 1: – → 1, app 2: 0.4 → –"]


@pytest.mark.parametrize("value", ["to be read as men", "men"])
def test_a_card_of_a_table_names_its_values_plainly(value: str):
    cells = {"column": ["age"], "without noise": ["40"], value: ["41"]}
    assert sections._by_value(pd.DataFrame(cells)).iloc[0].tolist() == ["men", "age: 40 → 41"]
