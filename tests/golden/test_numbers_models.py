"""Trees, ledgers and fair answers are as they were, on few people, with ties, gaps and values at a limit."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from core.models import dp_id3, fair, id3
from core.models.model_answers import fair_access
from tests.golden.numbers import NamedValues, compare_numbers, refused

ACCOUNTINGS = id3.ACCOUNTINGS


def _records(n: int, sizes: tuple[int, ...], classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return codes (n, d), the last of each column rare, and labels that follow the first two."""
    rng = np.random.default_rng(seed)
    codes = np.column_stack([np.minimum(rng.integers(0, 2 * k, n) // 2, rng.integers(0, k, n)) for k in sizes])
    return codes, (codes[:, 0] + (codes[:, 1] > 0) + (rng.random(n) < 0.2)) % classes


def growing() -> NamedValues:
    yield "best", id3.best_attribute(np.array([[-1, -0.5, -0.5], [-np.inf, -3, -2.5], [-2, -2 + 5e-9, -9.0]]))
    yield "starts", [id3._starts(np.array(keys)) for keys in ([], [4], [1, 1, 2, 5, 5, 5])]
    for sizes, classes, n, depth in (((3, 2, 4), 2, 60, 3), ((2, 2), 3, 25, 1), ((4, 3, 2, 2), 2, 200, 2)):
        codes, labels = _records(n, sizes, classes, n)
        for accounting, epsilon in product(ACCOUNTINGS, (math.inf, 8.0, 60.0, 0.5)):
            ledger = id3.BudgetLedger(
                accounting=accounting, requested_epsilon=epsilon, depth=depth, n_attributes=len(sizes)
            )
            tree = id3.grow(
                np.ascontiguousarray(codes.T),
                labels,
                sizes=np.array(sizes),
                n_classes=classes,
                ledger=ledger,
                rng=np.random.default_rng(3),
            )
            yield f"{n} {accounting} {epsilon}", (tree, tree.leaves(codes))
    pure = np.zeros((9, 2), dtype=np.int64), np.array([1] * 9)
    for labels in (pure[1], np.array([0, 1] * 4 + [1])):
        ledger = id3.BudgetLedger(accounting="savings", requested_epsilon=math.inf, depth=2, n_attributes=2)
        more = {"sizes": np.array([2, 2]), "n_classes": 2, "ledger": ledger, "rng": np.random.default_rng(0)}
        yield f"alike {labels.sum()}", id3.grow(pure[0].T, labels, **more)


def ledgers() -> NamedValues:
    for accounting, (depth, columns) in product(ACCOUNTINGS, ((1, 1), (1, 4), (3, 3), (3, 5), (8, 14))):
        ledger = id3.BudgetLedger(accounting=accounting, requested_epsilon=2.5, depth=depth, n_attributes=columns)
        yield f"{accounting} {depth} of {columns}", (ledger.slot, ledger.total, ledger.counts_total)
        yield f"{accounting} {depth} of {columns}, columns", list(ledger.to_frame().iloc[-1])
    for epsilon in (math.inf, 5.0, 0.1, 1e-14, 9e-15, math.nan):
        drawn = refused(id3.noisy_counts, np.arange(20), epsilon, np.random.default_rng(1))
        yield f"noise {epsilon}", drawn
    columns = np.array([[0, 99, 100, -1, 0.5, 2.5], [1, 0, 3, 4, 1, 2.5], [4, 1, 0, 2, 2, 2.5]])
    yield "read", id3.read_domains(columns)
    domains = id3.public_domains([5, 100, (0, 10), (-1.0, 4), (0.5, 2)], 5)
    yield "sizes", (domains, id3.domain_sizes(domains), id3.codes_of(columns[:, :5], domains))
    for domain_columns in (
        [1],
        [0],
        [1_000_000],
        [1_000_001],
        [True],
        [(1, 1)],
        [(2, 1)],
        [(0, math.inf)],
        ["ab"],
        [(1,)],
        [1, 2],
    ):
        yield (
            f"given {domain_columns}",
            refused(lambda domain_columns=domain_columns: id3.public_domains(domain_columns, 1)),
        )
    for value in (-1, 0, 4, 5, 1.5):
        yield f"code {value}", refused(id3._checked, np.array([0.0, value]), 5, 2)
    edges = np.array([-9, 0, 0.0999, 0.1, 0.5, 0.99, 1.0, 7])
    for low, high in ((0.0, 1.0), (-1.7e308, 1.7e308), (1.0, np.nextafter(1.0, 2)), (0.0, 5e-324)):
        yield f"bins {low:g} to {high:g}", id3._bins(edges, low, high).tolist()


def classifiers() -> NamedValues:
    codes, labels = _records(90, (3, 2, 4), 2, 5)
    x = np.column_stack([codes, np.random.default_rng(6).normal(size=90).round(1)])
    names = np.array(["no", "yes"])[labels]
    for accounting, state, depth in product(
        ACCOUNTINGS, (7, np.random.RandomState(3), np.random.default_rng(2)), (1, None)
    ):
        tree = dp_id3.DPID3Classifier(
            20.0, depth, state, domains=[3, 2, 4, (-2, 2)], classes=["yes", "no"], accounting=accounting
        )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            tree.fit(x, names)
        name = f"{accounting} {type(state).__name__} {depth}"
        yield name, (tree.predict_proba(x), (tree.predict(x) == "yes").sum(), tree.n_nodes_, tree.depth_)
        yield f"{name}.warned", [str(warning.message) for warning in caught]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read = dp_id3.DPID3Classifier(9.0, 2, 1, accounting="naive").fit(x, names)
        exact = dp_id3.DPID3Classifier(math.inf, None, 1, accounting="naive").fit(x, names)
    yield "read", (read.domains_, read.budget_ledger_, [str(warning.message) for warning in caught])
    yield "exact", (exact.predict_proba(x), exact.n_nodes_, exact.budget_ledger_)
    for y, classes in ((["a", "b", "a"], None), (["a", "a"], None), (["b"], ["c", "a", "b"]), (["d", "a"], ["a", "b"])):
        yield f"labels {y} {classes}", refused(dp_id3._labels, np.array(y), classes)
    for depth in (None, 1, 0, True, 2.0, np.int64(3)):
        yield f"depth {depth!r}", refused(dp_id3._depth, depth)
    for bad in ([[1.0, math.nan]], [[math.inf, 1.0]], [[math.nan, math.inf]], [[1.0]]):
        yield f"finite {bad}", refused(dp_id3._finite, np.array(bad))


def fairness() -> NamedValues:
    for bad in (np.ones((1, 2, 2)), np.ones((2, 2)), np.ones((2, 2, 3)), [[[1, math.nan], [1, 1]]] * 2):
        yield f"bad {np.shape(bad)}", refused(fair._people, bad)
    for codes, groups in (([0, 1], 2), ([0, 2], 2), ([], 2), ([0], 1), ([1, 1], 3)):
        yield f"groups {codes} {groups}", refused(fair._check_groups, np.array(codes, int), groups)
    codes, labels = _records(150, (3, 2, 4), 2, 8)
    groups = np.random.default_rng(9).choice(3, 150, p=[0.5, 0.3, 0.2]).astype(np.uint8)
    for epsilon in (math.inf, 6.0):
        more = {"epsilon": epsilon, "n_groups": 3, "domains": [4, 2, 5], "max_depth": 2, "seed": 4}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fair, "TREE_SHARE", 0.5)
            tree, counts = fair.counted_private_tree(codes, labels, groups, **more)
        yield f"made {epsilon} 0.5", (counts, tree.predict_proba(codes))
        for acceptance in (np.tile([0.0, 1.0], (3, 1)), np.array([[0.2, 0.9], [0, 1], [1, 0.5]])):
            model = fair.PrivateFairModel(tree=tree, acceptance=acceptance)
            answers = model.probability(codes, groups), model.predict(codes, groups, seed=2)
            yield f"made {epsilon} 0.5, answers", answers
        fair_shares = fair.fair_acceptance(counts, tolerance=1.0, metric="statistical_parity")
        yield f"made {epsilon} 0.5, fair", fair_shares.sum() * 0


class _Table:
    """Answers from a column of a table, as a tree's."""

    def __init__(self, column: int, width: int = 0) -> None:
        self.column, self.sensitive_feature_ids = column, range(width)
        self.classes_ = np.array([0, 1])

    def predict(self, x: np.ndarray) -> np.ndarray:
        return x[:, self.column] > 0

    def predict_proba(self, x: np.ndarray) -> np.ndarray:
        return np.column_stack([1 - x[:, self.column] / 4, x[:, self.column] / 4])

    def transform(self, x: np.ndarray) -> np.ndarray:
        return x[:, :-2] - x[:, [-1]]


def models() -> NamedValues:
    codes, labels = _records(160, (4, 3, 5), 2, 10)
    groups = np.random.default_rng(11).choice(3, 160, p=[0.5, 0.3, 0.2]).astype(np.uint8)
    x = codes.astype(float)
    x[::9, 1] = -1
    for method in ("threshold_optimizer", "correlation_remover", "unmitigated", "dp_id3"):
        two = groups % 2 if method == "threshold_optimizer" else groups
        model = fair.fit_model(
            method, x, labels, two, depth=3, seed=1, epsilon=30.0, domains=[4, 4, (0.0, 4.0)], metric="equalized_odds"
        )
        yield method, (model.predict(x, two, seed=2), np.round(model.acceptance(x, two), 6), model.needs_sensitive)
        yield f"{method}.scores", (np.round(model.scores(x, two), 6), model.randomised)
    trees = SimpleNamespace(
        weights_=pd.Series([0.5, 0.0, 0.3], index=[2, 1, 0]), predictors_=[_Table(0), _Table(1), _Table(2)]
    )
    gradient = fair.FairModel(method="exponentiated_gradient", needs_sensitive=False, randomised=True, estimator=trees)
    yield "gradient", (gradient.acceptance(x, groups), gradient.scores(x, groups), gradient._weighted_trees()[0][0])
    remover = replace(gradient, method="correlation_remover", estimator=(_Table(0, 2), _Table(1)))
    yield "remover", (remover._decorrelated(x, groups), remover.scores(x, groups), remover.predict(x, groups, seed=0))
    missing_last = dp_id3._missing_last(x[:10], [4, 3, (0, 4)])
    yield "with groups", (fair._with_groups(x[:4], groups[:4], 3), missing_last[:, 1])
    unmitigated = replace(gradient, method="unmitigated", estimator=_Table(2))
    access = fair_access(lambda: unmitigated, x, groups, seed=1)
    yield "access", (access.columns, access.ask(np.random.default_rng(1).integers(0, 160, (30, 4))))


CASES: dict[str, Callable[[], NamedValues]] = {
    "growing": growing,
    "ledgers": ledgers,
    "classifiers": classifiers,
    "fairness": fairness,
    "models": models,
}


@pytest.mark.parametrize("case", CASES)
def test_numbers(case: str) -> None:
    compare_numbers(f"models_{case}", CASES[case]())
