"""Who is asked about: samples of the test set in the pool's shares, and what the developers know of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.config import AuditConfig
from core.datasets import AuditDataset, build_dataset, demo_table
from core.datasets.splits import split
from core.errors import InputError
from core.fairness import METRICS
from core.queries import leakage
from core.queries.trials import FEWEST_IN_GROUP, People, QueryPool, query_pool
from core.subject import train_model
from tests.samples import dataset
from tests.unit.queries.people import pool


def few(advantaged: int, disadvantaged: int) -> QueryPool:
    """Return a pool of these group sizes."""
    a = np.array([1] * advantaged + [0] * disadvantaged, dtype=np.uint8)
    half = np.full(a.size, 0.5)
    everybody = People(sensitive=a, base=half, prior=half, labels=np.zeros(a.size, dtype=np.uint8))
    return QueryPool(people=everybody, advantaged="north", disadvantaged="south", metric="statistical_parity")


@given(st.integers(2, 300), st.integers(2, 300), st.integers(4, 600))
def test_samples_keep_the_shares(advantaged: int, disadvantaged: int, n: int):
    made = few(advantaged, disadvantaged)
    if n > made.people.n:
        with pytest.raises(InputError, match=f"4 to {made.people.n} people, got {n}"):
            made.sizes(n)
        return
    expected = n * disadvantaged / made.people.n
    if min(round(expected), n - round(expected)) < FEWEST_IN_GROUP:
        with pytest.raises(InputError, match="at least 2 people of each group, or the first answer reveals them"):
            made.sizes(n)
        return
    n1, n0 = made.sizes(n)
    assert n1 + n0 == n and abs(n0 - expected) <= 0.5
    drawn = made.sample(n, np.random.default_rng(0))
    assert drawn.sizes == (n1, n0) and drawn.n == n


def test_a_sample_is_of_different_people_in_no_order():
    made = pool(400, 120)
    drawn = made.sample(400, np.random.default_rng(1))
    for name in ("sensitive", "base", "prior", "labels"):
        assert sorted(getattr(drawn, name)) == sorted(getattr(made.people, name))
    assert len(set(drawn.prior)) == 400  # nobody twice
    order = np.argsort(drawn.prior)
    assert (drawn.base[order] == made.people.base[np.argsort(made.people.prior)]).all()  # nobody torn apart
    assert 100 < np.flatnonzero(drawn.sensitive == 0).mean() < 300
    again, other = (made.sample(50, np.random.default_rng(seed)) for seed in (2, 3))
    assert (again.prior == made.sample(50, np.random.default_rng(2)).prior).all() and (again.prior != other.prior).any()


@pytest.mark.parametrize(
    ("n", "disadvantaged", "told"),
    [
        (3, None, "must hold 4 to 30 people, got 3"),
        (31, None, "must hold 4 to 30 people, got 31"),
        (10, 0, "a sample of 10 holds 0 of south"),
        (10, 1, "a sample of 10 holds 1 of south"),
        (10, 9, "a sample of 10 holds 1 of north"),
        (10, 10, "a sample of 10 holds 0 of north"),
        (10, 11, "a sample of 10 holds -1 of north"),
        (20, 8, "The test set holds 6 of south, too few for a sample with 8"),
        (30, 5, "The test set holds 24 of north, too few for a sample with 25"),
        (4, None, "a sample of 4 holds 1 of south"),
    ],
)
def test_impossible_samples_are_one_sentence(n: int, disadvantaged: int | None, told: str):
    made = few(24, 6)
    for attempt in (
        lambda: made.sizes(n, disadvantaged),
        lambda: made.sample(n, np.random.default_rng(0), n_disadvantaged=disadvantaged),
    ):
        with pytest.raises(InputError, match=told) as raised:
            attempt()
        assert "\n" not in str(raised.value) and str(raised.value).endswith(".")


@pytest.fixture(scope="module")
def demo() -> AuditDataset:
    table = demo_table()
    return build_dataset(table, table.roles[0])


def config_for(data: AuditDataset, **changes) -> AuditConfig:
    return AuditConfig(dataset="demo", roles=data.roles, **changes)


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric(demo: AuditDataset, metric: str):
    config = config_for(demo, method="unmitigated", metric=metric)
    made = query_pool(config, demo)
    people, rows = made.people, split(demo, train_share=config.train_share, seed=config.seed).test
    asked = {"equal_opportunity": 1, "equalized_odds": 1, "predictive_equality": 0}.get(metric)
    if asked is not None:
        rows = rows[demo.labels[rows] == asked]
        assert (people.labels == asked).all()
    assert made.metric == ("equal_opportunity" if metric == "equalized_odds" else metric)
    assert people.n == rows.size == people.base.size == people.prior.size == people.labels.size
    assert ((people.base >= 0) & (people.base <= 1)).all() and len(np.unique(people.base)) > 3
    assert ((people.prior > 0) & (people.prior < 1)).all()
    assert (made.advantaged, made.disadvantaged) == ("men", "women")
    share = people.sizes[0] / people.n
    assert leakage(people.sensitive, people.prior > share) > 0.6
    assert abs(people.prior.mean() - share) < 0.04  # calibrated on other people
    name = demo.group_names.index("men")
    assert (people.sensitive == (demo.sensitive[rows] == name)).all()


def test_the_larger_group_is_the_advantaged_one():
    data = dataset(1500)  # 35% north
    assert data.group_names[int(np.bincount(data.sensitive).argmax())] == "south"
    made = query_pool(config_for(data, method="unmitigated"), data)
    assert (made.advantaged, made.disadvantaged) == ("south", "north")
    assert made.people.sizes[0] > made.people.sizes[1]


def test_more_than_two_groups_are_refused_in_one_sentence():
    table = demo_table()
    data = build_dataset(table, table.roles[2])
    with pytest.raises(InputError, match="compare two groups, got 4; choose a sensitive attribute in two groups"):
        query_pool(config_for(data), data)


def test_too_few_people_of_a_label_are_refused():
    data = dataset(1500)
    north = data.group_names.index("north")
    config = config_for(data, metric="equal_opportunity", method="unmitigated")
    splits = split(data, train_share=config.train_share, seed=config.seed)
    model = train_model(config, data, splits)
    labels = data.labels.copy()
    labels[splits.test[data.sensitive[splits.test] == north]] = 0
    with pytest.raises(InputError, match=r"Equal opportunity needs at least 2 people of each group .* got 0 of one"):
        query_pool(config, replace(data, labels=labels), model)
