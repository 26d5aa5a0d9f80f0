"""Table 1 of Hamman et al.: its numbers as printed, and rows recomputed on a small pool."""

from __future__ import annotations

import math

import pytest

from core.studies.bias_queries import LaplaceGlobal
from tests.reference.table_1 import NOISELESS_ATTACKS, TABLE_1, PrintedCauchy, noiseless_row
from tests.unit.queries.people import pool

# Table 1 of Hamman et al. (2023), column by column. n: (m: (error ×1000 of Attribute-Conceal, of Laplace, leakages))
PRINTED = {
    100: {
        25: ([10.9, 5.1, 0.05, 0], [200.9, 112.6, 12.1, 0], [50, 48, 58, 63], [54, 49, 44, 63]),
        40: ([77.9, 12.3, 0.7, 0], [660.2, 236.8, 27.6, 0], [55, 49, 67, 100], [57, 43, 47, 100]),
    },
    1000: {
        300: ([122.2, 35.7, 2.0, 0], [874.5, 160.8, 11.5, 0], [52, 50, 53, 79], [49, 51, 51, 79]),
        400: ([140.0, 42.2, 0.2, 0], [893.4, 216.3, 54.4, 0], [52, 52, 55, 100], [49, 52, 49, 100]),
    },
}
EPSILONS = (5, 10, 100, math.inf)


def test_table_1_is_as_printed():
    assert len(TABLE_1) == 16 == len({(row.n, row.m, row.epsilon) for row in TABLE_1})
    for row in TABLE_1:
        printed = [column[EPSILONS.index(row.epsilon)] for column in PRINTED[row.n][row.m]]
        computed = [1000 * row.errors[noise] for noise in ("cauchy", "laplace")]
        assert [*computed, *(100 * row.leakages[noise] for noise in ("cauchy", "laplace"))] == pytest.approx(printed)


def test_its_noisy_errors_are_not_those_of_its_formulas():
    """So many times below the median that the printed scales must give."""
    ratios = []
    for row in TABLE_1:
        if math.isinf(row.epsilon):
            continue
        n0 = round(0.098 * row.n)
        cauchy = PrintedCauchy(row.epsilon).scale(row.n - n0, n0, row.m)
        laplace = math.log(2) * LaplaceGlobal(row.epsilon).scale(row.n - n0, n0, row.m)
        ratios.append((cauchy / row.errors["cauchy"], laplace / row.errors["laplace"]))
    for column, (low, high) in zip(zip(*ratios, strict=True), ((100, 3400), (4, 91)), strict=True):
        assert low < min(column) < 1.1 * low and 0.95 * high < max(column) < high


def test_a_row_orders_the_attacks_by_what_they_know():
    row = noiseless_row(pool(), 50, 18, repeats=6, seed=1)
    values = {attack: row.leakages[attack].value for attack in NOISELESS_ATTACKS}
    assert values["box_with_prior"] >= values["box"] >= values["nonnegative"] - 0.05 >= values["l1"] - 0.05
    assert values["l1"] > 0.5 and all(estimate.n == 6 for estimate in row.leakages.values())
    assert row.bits_complete and row.bits_questions == 1
    assert 0.4 < row.prior.value < values["box_with_prior"] and row.prior.n == 6
    assert all(row.complete[a] == 1 for a in NOISELESS_ATTACKS if row.leakages[a].value == 1)
