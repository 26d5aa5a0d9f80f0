"""Noisy answers on Adult's race: what the decoders leak, and the noisy rows of table 1, which do not reproduce.

n = 100, m = 40, ε = 100, random binary questions, Cauchy noise. Expected: 65 % for the decoder that knows the noise
against 50 % for the paper's l1, and 75 % with the developers' prior, which alone is right for 69 %. Measured over 200
draws (seed 42, 95 % interval ± 1.2): 65.7, 51.8, 75.6 and 71.7.
"""

from __future__ import annotations

import pytest

from core.studies.bias_queries import LaplaceGlobal, QueryPool, SmoothCauchy, Trials
from tests.reference.conceal_adult import adult_pool
from tests.reference.data import FOLDER, needs_adult
from tests.reference.table_1 import TABLE_1

pytestmark = needs_adult

DECODER_ORDER = ("published", "without_prior", "strongest")


@pytest.fixture(scope="module")
def pool() -> QueryPool:
    return adult_pool(FOLDER)


@pytest.mark.long
def test_leakage_of_the_decoders(pool: QueryPool):
    trials = Trials(pool, n=100, design="random_binary", repeats=150, seed=42)
    leakages = {
        name: trials.leak(40, SmoothCauchy(100.0), name).leakage.value for name in ("published", "without_prior")
    }
    assert leakages["published"] == pytest.approx(0.50, abs=0.03)
    assert leakages["without_prior"] == pytest.approx(0.65, abs=0.03)
    assert trials.leak(40, SmoothCauchy(100.0), "strongest").leakage.value == pytest.approx(0.75, abs=0.03)
    assert trials.leak(0, SmoothCauchy(100.0), "strongest").leakage.value == pytest.approx(0.69, abs=0.03)


@pytest.mark.long
def test_leakages_of_table_1_are_those_on_record(pool: QueryPool):
    trials = Trials(pool, n=100, repeats=50, seed=42)
    for row in TABLE_1:
        for noise, recorded in row.measured.items():
            if row.n == 100:
                mechanism = (SmoothCauchy if noise == "cauchy" else LaplaceGlobal)(float(row.epsilon))
                leakages = [100 * trials.leak(row.m, mechanism, name).leakage.value for name in DECODER_ORDER]
                assert leakages == pytest.approx(recorded, abs=1.5)
