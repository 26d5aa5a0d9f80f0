"""Noiseless Attribute-Reveal on Adult, white and black people, beside table 1 of Hamman et al. (2023).

The audited model is the tree without mitigation; a sample holds the paper's 10.4 % of black people rounded up, 11 of
100 and 104 of 1,000. The paper prints 63, 100, 79 and 100 % for l1. How many of 100 people are black decides how soon
they are found: with 9, 10 and 11 of them box gives 92.1, 88.5 and 85.1 after 25 answers, l1 68.4, 67.3 and 65.1
(complete records hold 9.8 %). Rounding helps little.
"""

from __future__ import annotations

import pytest

from core.studies.bias_queries import QueryPool
from tests.reference.conceal_adult import adult_pool
from tests.reference.data import FOLDER, needs_adult
from tests.reference.table_1 import NOISELESS_ATTACKS, noiseless_row

pytestmark = [needs_adult, pytest.mark.long]

EXPECTED = {  # (n, m) -> repeats, leakage of l1, s >= 0, box with the sum
    (100, 25): (200, (0.651, 0.835, 0.838)),
    (100, 40): (200, (0.937, 0.995, 1.0)),
    (1000, 300): (6, (0.709, 0.977, 1.0)),
    (1000, 400): (3, (1.0, 1.0, 1.0)),
}


@pytest.fixture(scope="module")
def pool() -> QueryPool:
    return adult_pool(FOLDER)


@pytest.mark.parametrize(("n", "m"), list(EXPECTED))
def test_noiseless_rows_of_table_1(pool: QueryPool, n: int, m: int):
    repeats, expected = EXPECTED[n, m]
    row = noiseless_row(pool, n, m, repeats=repeats)
    means = [row.leakages[attack].value for attack in NOISELESS_ATTACKS]
    assert means[:3] == pytest.approx(expected, abs=0.03)
    assert means[3] >= means[2] - 0.01
    assert row.bits_complete


def test_answers_that_reveal_every_sample(pool: QueryPool):
    fewer, more = (noiseless_row(pool, 100, m, repeats=60).complete for m in (35, 45))
    assert fewer["box_with_prior"] == more["box"] == more["nonnegative"] == 1
    assert more["l1"] < 1
    assert fewer["nonnegative"] < 1
