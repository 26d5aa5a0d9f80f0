"""What a private tree promises, on whatever tables hypothesis finds.

Without noise it is the tree of a recursive ID3 that shares no code with it. Its ledger adds up to the budget on every
full path and to no more on any. The promise itself is checked by composition: with what is released held equal, a
record more moves every table it is released from by what the ledger has paid for, and nothing else is read.
"""

import itertools
import math
from collections import Counter, namedtuple
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.base.errors import PrivacyLeakWarning
from core.models import id3 as growing
from core.models.dp_id3 import DPID3Classifier
from core.models.id3 import ACCOUNTINGS, BudgetLedger

EVERY = settings(max_examples=120)


# ID3 as a textbook writes it: recursive, a record at a time, compared by exact fractions instead of logarithms


def plain_id3(records, labels, sizes, depth):
    """Return the tree: (column, one child a value), or the class counts of a leaf."""
    return _grown(list(zip(records, labels, strict=True)), tuple(range(len(sizes))), sizes, depth, Counter(labels))


def _grown(people, open_, sizes, depth, above):
    counts = Counter(label for _, label in people)
    if not people:
        return above
    if len(counts) == 1 or not open_ or depth == 0:
        return counts
    best = max(open_, key=lambda column: (_purity(people, column), -column))
    left = tuple(column for column in open_ if column != best)
    parts = [[p for p in people if p[0][best] == value] for value in range(sizes[best])]
    return best, [_grown(part, left, sizes, depth - 1, counts) for part in parts]


def _purity(people, column):
    """Return 2 to the power of minus the conditional entropy times the number of people, exactly."""
    cells = Counter((record[column], label) for record, label in people)
    values = Counter(record[column] for record, _ in people)
    return Fraction(math.prod(n**n for n in cells.values()), math.prod(n**n for n in values.values()))


def plain_shares(tree, record, n_classes):
    """Return the shares of the classes in the record's leaf."""
    while not isinstance(tree, Counter):
        tree = tree[1][record[tree[0]]]
    return [tree[label] / tree.total() for label in range(n_classes)]


Case = namedtuple("Case", "codes labels sizes n_classes depth")
"""A small table: codes (n, d), labels (n,), codes of each column, classes, depth."""


@st.composite
def tables(draw, *, most=14):
    """Draw a table; columns are often copies of one another under other names of the values, which makes ties."""
    sizes = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    n, n_classes = draw(st.integers(1, most)), draw(st.integers(2, 3))
    columns = [draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n)) for k in sizes]
    if draw(st.booleans()) and len(sizes) > 1:
        sizes, columns = (
            (sizes[0], sizes[0], *sizes[2:]),
            [columns[0], [sizes[0] - 1 - v for v in columns[0]], *columns[2:]],
        )
    labels = np.array(draw(st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n)))
    return Case(np.array(columns).T, labels, sizes, n_classes, draw(st.integers(1, 5)))


def fitted(case, epsilon, accounting):
    tree = DPID3Classifier(
        epsilon, case.depth, 0, domains=case.sizes, classes=range(case.n_classes), accounting=accounting
    )
    return tree.fit(case.codes, case.labels)


@EVERY
@given(tables(), st.sampled_from(ACCOUNTINGS))
def test_without_noise_it_is_the_plain_tree(case, accounting):
    plain = plain_id3([tuple(row) for row in case.codes.tolist()], case.labels.tolist(), case.sizes, case.depth)
    tree = fitted(case, math.inf, accounting)
    records = np.array(list(itertools.product(*map(range, case.sizes))))  # every one there can be
    expected = np.array([plain_shares(plain, tuple(row), case.n_classes) for row in records.tolist()])
    assert np.array_equal(tree.predict_proba(records), expected)
    assert np.array_equal(tree.predict(records), expected.argmax(axis=1))


@EVERY
@given(st.integers(1, 40), st.integers(1, 60), st.floats(1e-6, 1e6), st.sampled_from(["savings", "literal"]))
def test_the_ledger_adds_up(depth, further, epsilon, accounting):
    ledger = BudgetLedger(
        accounting=accounting, requested_epsilon=epsilon, depth=depth, n_attributes=depth + further - 1
    )
    assert ledger.total == pytest.approx(epsilon, rel=1e-9, abs=1e-9)
    paths = [math.fsum(entry.epsilon for entry in ledger.path(level)) for level in range(depth + 1)]
    assert max(paths) <= epsilon * (1 + 1e-9)
    assert paths[-1] == pytest.approx(epsilon, rel=1e-9)
    if accounting == "savings":
        assert paths == pytest.approx([epsilon] * (depth + 1), rel=1e-9)


@contextmanager
def fixed_counts(values):
    """Let every count come out as told, whatever it is, and keep what it was and what it cost."""
    requests = []

    def release(counts, epsilon, rng):
        requests.append((counts.copy(), epsilon))
        return np.array([next(values) for _ in range(counts.size)], dtype=np.int64).reshape(counts.shape)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growing, "noisy_counts", release)
        yield requests


def loss(case, record, label, epsilon, accounting, seed):
    """Return the privacy loss between a table and the same with a record more, given that all releases are equal."""
    more = Case(np.vstack([case.codes, record]), np.append(case.labels, label), case.sizes, case.n_classes, case.depth)
    runs, trees = [], []
    for table in (case, more):
        rng = np.random.default_rng(seed)
        with fixed_counts(int(rng.choice([-3, 0, 2, 40, 10_000])) for _ in itertools.count()) as requests:
            trees.append(fitted(table, epsilon, accounting).tree_)
        runs.append(requests)
    assert [x.shape for x, _ in runs[0]] == [x.shape for x, _ in runs[1]]
    assert np.array_equal(trees[0].answer, trees[1].answer) and np.array_equal(trees[0].attribute, trees[1].attribute)
    return math.fsum(cost * np.abs(first - second).sum() for (first, cost), (second, _) in zip(*runs, strict=True))


@EVERY
@given(tables(most=8), st.data(), st.floats(0.01, 100), st.integers(0, 1000))
def test_equal_releases_make_equal_trees_and_cost_no_more_than_the_budget(case, data, epsilon, seed):
    record = [data.draw(st.integers(0, k - 1)) for k in case.sizes]
    label = data.draw(st.integers(0, case.n_classes - 1))
    assert loss(case, record, label, epsilon, "literal", seed) <= epsilon * (1 + 1e-9)
    # with savings every leaf spends all of it
    assert loss(case, record, label, epsilon, "savings", seed) == pytest.approx(epsilon, rel=1e-9)


def test_the_naive_tree_costs_more_than_its_budget_by_its_counts_alone():
    rng = np.random.default_rng(0)
    case = Case(rng.integers(0, 2, (40, 3)), rng.integers(0, 2, 40), (2, 2, 2), 2, 1)
    with fixed_counts(itertools.repeat(40)) as requests, pytest.warns(PrivacyLeakWarning, match="every count"):
        tree = fitted(case, 1.0, "naive")
    holding = [cost for counts, cost in requests if counts.any()]  # somebody is in a table: one more would move it
    assert holding == [1.0] * 7  # two tables of each of three columns, and the leaves'
    assert tree.budget_ledger_.counts_total == 7.0
    assert math.isinf(tree.budget_ledger_.total)
