"""Noiseless Attribute-Reveal on Adult, white and black people, beside table 1 of Hamman et al. (2023).

Measured when these tests were written, leakage in per cent, mean and standard deviation over people and jitter. The
audited model is the tree without mitigation (test accuracy .848); a sample holds the paper's 10.4 % of black people
rounded up, 11 of 100 and 104 of 1,000; 200 repeats at n = 100, 12 (l1, s >= 0) or 3 at n = 1,000 with 300 answers and
3 with 400.

| n, m      | paper | l1          | s >= 0      | box, sum    | with prior  | sizes unknown |
|-----------|-------|-------------|-------------|-------------|-------------|---------------|
| 100, 25   | 63    | 65.1 ± 8.5  | 82.0 ± 14.4 | 85.1 ± 15.2 | 94.5 ± 10.2 | 84.9 ± 11.9   |
| 100, 40   | 100   | 91.2 ± 12.6 | 99.8 ± 2.2  | 99.9 ± 2.0  | 100         | 99.9 ± 0.9    |
| 1000, 300 | 79    | 72.7 ± 3.2  | 99.2 ± 2.5  | 100         | 100         | 100           |
| 1000, 400 | 100   | 100         | 100         | 100         | 100         | 100           |

How many of 100 people are black decides how soon they are found: with 9, 10 and 11 of them box gives 92.1, 88.5 and
85.1 after 25 answers, l1 68.4, 67.3 and 65.1 (complete records hold 9.8 %). Of 200 samples of 100 people all are
revealed whole after 45 answers by s >= 0 and by box, and after 35 by box with the strong attacker's prior, while l1
still misses somebody in 8 % of them. Rounding helps little: told to 3 decimals, box needs 40 answers (100), to 2
decimals 100 (99.1). The prior alone, read at the groups' share, is right for 69.9 %. Models that leak so much are
within 0.2 points of the audited one's accuracy, with a standard deviation of 0.1 (paper: 86.23 %, deviation 0.26).
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from core.studies.bias_queries import QueriedRecords, leakage, statistical_parity_gap
from core.studies.bias_queries.gaps import design_scores
from core.studies.bias_queries.reveal import recover_compressed
from tests.reference.conceal_adult import adult_pool
from tests.reference.data import FOLDER, needs_adult

pytestmark = needs_adult

SHARE = 0.104
# (n, m) -> leakage of l1, s >= 0, box with the sum
EXPECTED = {
    (100, 25): (0.651, 0.835, 0.838),
    (100, 40): (0.937, 0.995, 1.0),
    (1000, 300): (0.709, 0.977, 1.0),
    (1000, 400): (1.0, 1.0, 1.0),
}
REPEATS = {(100, 25): 200, (100, 40): 200, (1000, 300): 6, (1000, 400): 3}
METHODS = ("l1", "nonnegative", "box")


@pytest.fixture(scope="module")
def people() -> QueriedRecords:
    pool = adult_pool(FOLDER)
    assert (pool.advantaged, pool.disadvantaged) == ("White people", "Black people")
    return pool.people


def drawn(people: QueriedRecords, n: int, seed: int) -> tuple[np.ndarray, np.random.Generator]:
    """Return whom a repeat asks about, as rows, and its generator."""
    rng = np.random.default_rng([seed, n, 5])
    few = math.ceil(SHARE * n)
    rows = [
        rng.choice(np.flatnonzero(people.sensitive == group), size, replace=False)
        for group, size in ((0, few), (1, n - few))
    ]
    return rng.permutation(np.concatenate(rows)), rng


def sizes(a: np.ndarray) -> dict[str, int]:
    return {"n_advantaged": int(a.sum()), "n_disadvantaged": int(a.size - a.sum())}


def reached(people: QueriedRecords, n: int, m: int, seed: int, *, decimals: int | None = None) -> dict[str, float]:
    """Return the leakage of every attack in one repeat; rounded answers are known to half a step."""
    rows, rng = drawn(people, n, seed)
    a = people.sensitive[rows]
    scores = design_scores("jitter", people.base[rows], m, rng=rng)
    answers, arguments = statistical_parity_gap(scores, a), {"slack": 0.0, **sizes(a)}
    if decimals is not None:
        answers, arguments["slack"] = np.round(answers, decimals), 0.5 * 10.0**-decimals
    recoveries = {method: recover_compressed(scores, answers, method=method, **arguments) for method in METHODS}
    recoveries["prior"] = recover_compressed(scores, answers, method="box", prior=people.prior[rows], **arguments)
    return {name: leakage(a, recovery.recovered) for name, recovery in recoveries.items()}


@pytest.mark.parametrize(("n", "m"), [pytest.param(n, m, marks=[pytest.mark.long] * (n > 100)) for n, m in EXPECTED])
def test_noiseless_rows_of_table_1(people: QueriedRecords, n: int, m: int) -> None:
    leakages = [reached(people, n, m, seed) for seed in range(REPEATS[n, m])]
    means = [np.mean([repeat[method] for repeat in leakages]) for method in METHODS]
    assert means == pytest.approx(EXPECTED[n, m], abs=0.03)
    assert np.mean([repeat["prior"] for repeat in leakages]) >= means[-1] - 0.01


def test_questions_that_reveal_every_sample(people: QueriedRecords) -> None:
    by_questions = {m: [reached(people, 100, m, seed) for seed in range(60)] for m in (35, 45)}
    all_revealed = {
        (name, m): all(repeat[name] == 1 for repeat in repeats)
        for m, repeats in by_questions.items()
        for name in repeats[0]
    }
    assert all_revealed["prior", 35] and all_revealed["box", 45] and all_revealed["nonnegative", 45]
    assert not all_revealed["l1", 45] and not all_revealed["nonnegative", 35]


@pytest.mark.parametrize(("decimals", "m", "box"), [(2, 40, 0.783), (2, 100, 0.991), (3, 25, 0.767), (3, 40, 1.0)])
def test_rounding_is_no_defence(people: QueriedRecords, decimals: int, m: int, box: float) -> None:
    leakages = [reached(people, 100, m, seed, decimals=decimals) for seed in range(25)]
    assert np.mean([repeat["box"] for repeat in leakages]) == pytest.approx(box, abs=0.03)
    assert np.mean([repeat["prior"] for repeat in leakages]) > box - 0.01


def test_the_prior_alone_and_models_nobody_would_find_odd(people: QueriedRecords) -> None:
    share = people.sensitive.mean()
    assert leakage(people.sensitive, people.prior >= share) == pytest.approx(0.69, abs=0.03)
    scores = design_scores("jitter", people.base, 40, rng=np.random.default_rng(0))
    accuracy = ((scores > 0.5) == people.labels).mean(axis=1)
    assert ((people.base > 0.5) == people.labels).mean() == pytest.approx(0.848, abs=0.01)
    assert accuracy.mean() == pytest.approx(0.846, abs=0.01) and accuracy.std() < 0.004
