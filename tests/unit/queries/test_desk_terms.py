"""The terms of a question: what its price is made of, which prices are on offer, and who is taken together."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.desk.findings import count_price, everybody_else, prices, suggested_price, together
from core.desk.noise import millionths

LEAST = 1e-6
AMOUNTS = st.integers(1, 10**9).map(lambda whole: whole / 10**6)


@given(AMOUNTS)
def test_prices_begin_with_a_small_share_and_end_with_all_that_remains(remaining: float):
    offered = prices(remaining, least=LEAST)
    assert offered[-1] == remaining and list(offered) == sorted(set(offered))
    assert all(0 < millionths(one, name="price") <= millionths(remaining, name="left") for one in offered)
    assert len({f"{one:.10g}" for one in offered}) == len(offered) <= 20
    first = suggested_price(remaining, least=LEAST)
    assert first in prices(remaining, least=LEAST)
    if remaining > 0.001:
        assert 0.03 * remaining <= first <= 0.07 * remaining


def test_where_nothing_remains():
    assert prices(0.4, least=0.5) == () and suggested_price(0.4, least=0.5) == 0.5
    assert prices(9.0, least=1.0) == (1.0, 2.0, 3.0, 5.0, 7.0, 9.0) and suggested_price(9.0, least=1.0) == 1.0
    assert prices(0.0, least=LEAST) == () and suggested_price(0.0, least=LEAST) == LEAST


@given(AMOUNTS, AMOUNTS)
def test_a_charge_is_split_into_answer_and_count(epsilon: float, size: float):
    assert count_price(round(epsilon + size, 6), epsilon) == pytest.approx(size, abs=1e-9)
    assert count_price(epsilon, epsilon) == count_price(0.0, epsilon) == 0.0


def test_values_taken_together():
    frame = pd.DataFrame({"sex": ["m"] * 5 + ["f"] * 3 + ["d"]})
    assert everybody_else(frame, "sex", "m") == {"f": 3, "d": 1}
    assert together({"f": 3, "d": 1}) == "3 'f' and 1 'd'" and together({"f": 3}) is None
    assert everybody_else(pd.DataFrame({"sex": [1, 0, 0]}), "sex", None) == {"0": 2}
    many = {f"v{k}": 9 - k for k in range(9)}
    assert together(many, most=2) == "9 'v0', 8 'v1' and 28 with 7 more values"
