"""The private tree as an estimator, what seeds fix, what it refuses and warns of, and what it spends by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from core.base.errors import InputError, PrivacyLeakWarning
from core.models import BudgetLedger, DPID3Classifier
from core.models.id3 import noisy_counts

SIZES = (3, 2, 4)
NEEDS_A_SWITCH = "check_array_api_input"  # runs only with SCIPY_ARRAY_API set before scipy is loaded
CHECKS = [c for _, c in estimator_checks_generator(DPID3Classifier()) if c.func.__name__ != NEEDS_A_SWITCH]


def records(n: int = 600, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return records of three columns, and a label that leans on the first two."""
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, k, n) for k in SIZES], axis=1)
    return codes, (rng.random(n) < 0.15 + 0.3 * codes[:, 1] + 0.2 * codes[:, 0]).astype(int)


def private(epsilon: float = 5.0, seed: Any = 1, **settings: Any) -> DPID3Classifier:
    return DPID3Classifier(epsilon, random_state=seed, **{"domains": SIZES, "classes": (0, 1), **settings})


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.func.__name__)
def test_scikit_learn_accepts_it(check: Any):
    """All checks apply, and no failure is expected; sample weights and sparse records it does not offer at all.

    The checks fit records without domains, so they are of the tree without noise.
    """
    check(DPID3Classifier())


def test_the_same_seed_makes_the_same_tree_and_another_seed_another():
    x, y = records()
    seeds = (1, 1, 2, None, None)
    first, again, *more = (private(seed=seed).fit(x, y).predict_proba(x).tobytes() for seed in seeds)
    assert first == again
    assert len({first, *more}) == 4


@pytest.mark.parametrize("low", [0, -30])
def test_numbers_go_into_ten_bins_of_their_public_range(low: int):
    x = low + np.array([[-5.0], [0.0], [0.99], [1.0], [5.5], [9.0], [10.0], [99.0]])
    y = np.array([0, 0, 0, 1, 0, 1, 1, 1])
    tree = DPID3Classifier(domains=((low, low + 10),), classes=(0, 1)).fit(x, y)
    assert tree.n_nodes_ == 11
    numbers = [[low + 0.5], [low + 1.9], [low + 8.01], [-1e300], [1e300]]
    assert tree.predict_proba(numbers)[:, 1].tolist() == [0, 1, 0.5, 0, 1]


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"domains": None}, "Domains or classes were read from the records"),
        ({"classes": None}, "Domains or classes were read from the records"),
        ({"accounting": "naive"}, "gives every count the whole epsilon"),
    ],
)
def test_a_promise_that_is_not_kept_is_warned_of(settings: dict[str, Any], message: str):
    with pytest.warns(PrivacyLeakWarning, match=message):
        private(**settings).fit(*records())


BAD = [
    ({"epsilon": 0}, "epsilon must be at least 1e-06, or infinite, got 0."),
    ({"epsilon": math.nan}, "epsilon must be at least 1e-06, or infinite, got nan."),
    ({"accounting": "none"}, "accounting must be one of savings, literal, naive, got 'none'."),
    ({"domains": (3, 2, 3)}, "Column 2 must hold whole numbers from 0 to 2, got 3."),
    ({"random_state": -1}, "seed must be a whole number from 0 to 4294967295, got -1."),
]


@pytest.mark.parametrize("settings, sentence", BAD, ids=lambda value: str(value)[:40])
def test_bad_settings_are_told_in_one_sentence(settings: dict[str, Any], sentence: str):
    with pytest.raises(InputError) as caught:
        private().set_params(**settings).fit(*records())
    assert str(caught.value) == sentence


SIZE, LEAF, TRUE = "node size", "leaf counts", (0, "true counts", 1, math.inf)
PATHS = [
    ("savings", 0, [(0, SIZE, 1, 2.0), (0, LEAF, 1, 10.0)]),
    (
        "savings",
        2,
        [
            (0, SIZE, 1, 2.0),
            (0, "attributes", 4, 0.5),
            (1, SIZE, 1, 2.0),
            (1, "attributes", 3, 2 / 3),
            (2, LEAF, 1, 4.0),
        ],
    ),
    ("literal", 1, [(0, SIZE, 1, 2.0), (0, "attributes", 8, 0.25), (1, SIZE, 1, 2.0), (1, LEAF, 1, 2.0)]),
    ("naive", 1, [TRUE, (0, "attributes", 8, 12.0), (1, *TRUE[1:]), (1, LEAF, 1, 12.0)]),
]


@pytest.mark.parametrize("accounting, level, rows", PATHS)
def test_what_a_path_spends_by_hand(accounting: str, level: int, rows: list[tuple[int, str, int, float]]):
    ledger = BudgetLedger(
        accounting=accounting, requested_epsilon=12.0, depth=2, n_attributes=4
    )  # a slot is 12 / (2 · 3) = 2
    assert [(e.level, e.slot, e.tables, e.table_epsilon) for e in ledger.path(level)] == rows
    if accounting == "naive":
        assert ledger.counts_total == 12.0 * (8 + 6 + 1) and math.isinf(ledger.total)
    else:
        assert len(ledger.entries) == (5 if accounting == "savings" else 6)  # a literal tree asks for the last size too


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 3.0])
def test_noise_is_the_discrete_laplace_distribution(epsilon: float):
    n, decay = 200_000, math.exp(-epsilon)
    noise = noisy_counts(np.full(n, 7), epsilon, np.random.default_rng(1)) - 7
    assert noise.dtype == np.int64
    most = math.ceil(math.log(n / 50) / epsilon)
    values = np.arange(-most, most + 1)
    expected = n * (1 - decay) / (1 + decay) * decay ** np.abs(values)  # P(x) = (1 - a) / (1 + a) a^|x|
    seen = np.array([np.count_nonzero(noise == value) for value in values])
    squares = ((seen - expected)[expected >= 5] ** 2 / expected[expected >= 5]).sum()
    cells = int((expected >= 5).sum())
    assert squares < cells + 4 * math.sqrt(2 * cells)
    ratios = expected[1:] / expected[:-1]
    assert np.abs(np.log(ratios)).max() == pytest.approx(epsilon)  # one record more moves the law by e^ε, exactly
