"""Whom trials ask about, and repeats: drawn once from their seed, asked the same questions, read by each attacker."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.base.errors import InputError
from core.datasets import AuditDataset, build_dataset, demo_table
from core.datasets.splits import split
from core.stats.estimates import Estimate
from core.stats.fairness import METRICS
from core.studies.bias_queries import (
    Exact,
    Leak,
    SmoothCauchy,
    SmoothLaplace,
    Trials,
    leakage,
    needed,
    statistical_parity_gap,
)
from core.studies.bias_queries.trials import FEWEST_IN_GROUP, query_pool
from core.studies.subject import AuditConfig, subject_of
from tests.samples import dataset
from tests.unit.queries.people import pool

ASKING: dict[str, Any] = {"n": 30, "repeats": 5, "seed": 9}


def trials(**changes) -> Trials:
    return Trials(pool(), **{**ASKING, **changes})


@pytest.mark.parametrize("design", ["jitter", "random_binary", "targeted", "single"])
def test_the_first_questions_do_not_depend_on_the_last(design: str):
    drawn_trials, later = trials(design=design), trials(design=design)
    later.ask(later.numbers[-1], Exact())
    for m in (1, 7):
        first, again = drawn_trials.ask(m, Exact()), later.ask(m, Exact())
        everything = later.ask(later.numbers[-1], Exact())
        assert (first.scores == again.scores).all() and (first.answers == again.answers).all()
        assert (everything.scores[:, :m] == first.scores).all()
        assert everything.answers[:, :m] == pytest.approx(first.answers, abs=1e-12)


def test_ask_answers_about_the_people_of_each_repeat():
    drawn_trials = trials()
    queries = drawn_trials.ask(6, Exact())
    for r, people in enumerate(drawn_trials.people):
        assert people.sizes == (drawn_trials.n_advantaged, drawn_trials.n_disadvantaged)
        assert queries.answers[r] == pytest.approx(statistical_parity_gap(queries.scores[r], people.sensitive))
        assert np.abs(queries.scores[r] - people.base).max() <= 0.1 + 1e-12
    some = drawn_trials.ask(6, SmoothCauchy(2.0), [3, 1])
    assert (some.answers == drawn_trials.ask(6, SmoothCauchy(2.0)).answers[[3, 1]]).all()
    assert (some.prior == drawn_trials.prior[[3, 1]]).all()


def test_accuracy_has_the_spread_between_the_models_asked_about():
    drawn_trials = trials()
    spread = []
    for people, scores in zip(drawn_trials.people, drawn_trials.ask(6, Exact()).scores, strict=True):
        spread.append(np.std([np.mean((model >= 0.5) == people.labels) for model in scores]))
    assert len(spread) == 5 and drawn_trials.accuracy(6)[2] == pytest.approx(np.mean(spread))


ENDS = {"jitter": 18, "random_binary": 18, "bits": 1, "targeted": 31, "single": 30}


@pytest.mark.parametrize("design", ENDS)
def test_enough_exact_answers_are_the_truth(design: str):
    drawn_trials, last = trials(design=design), ENDS[design]
    assert drawn_trials.numbers[-1] == last
    for decoder in ("strongest", "without_prior", *(["published"] if design == "bits" else [])):
        assert drawn_trials.leak(last, Exact(absolute=design == "single"), decoder).complete == 1.0


def leak(m: int, value: float, complete: float = 0.0) -> Leak:
    rate = Estimate(value=value, low=value, high=value, n=2)
    return Leak(m=m, decoder="strongest", leakage=rate, gain=rate, complete=complete, typical=0)


@pytest.mark.parametrize(
    ("leaks", "target", "answers"),
    [
        ([(0, 0.5), (20, 1.0), (5, 0.96), (10, 0.94), (15, 0.999)], 0.95, 15),  # reached and lost again does not count
        ([(0, 0.5), (20, 1.0), (5, 0.96), (10, 0.94), (15, 0.999)], 0.5, 0),
        ([(0, 0.5), (20, 1.0), (25, 0.9)], 0.95, None),
        ([(0, 0.5)], 0.95, None),
        ([], 0.95, None),
    ],
)
def test_needed_is_the_fewest_answers_from_which_on_it_is_reached(leaks, target: float, answers: int | None):
    assert needed([leak(m, value) for m, value in leaks], target) == answers


def test_an_epsilon_that_may_fail_bounds_nobody_where_it_surely_fails():
    drawn_trials, sure = trials(), [SmoothLaplace(0.9, d) for d in (1e-9, 0.05, 0.9)]
    limits = [drawn_trials.bound(mechanism) for mechanism in sure]
    assert limits[0] == pytest.approx(drawn_trials.limit(0.9, with_sizes=True)) and limits[2] == 1.0
    assert limits[0] < limits[1] < limits[2]


@given(st.integers(2, 300), st.integers(2, 300), st.integers(4, 600))
def test_samples_keep_the_shares(advantaged: int, disadvantaged: int, n: int):
    people_pool = pool(advantaged + disadvantaged, disadvantaged)
    if n > people_pool.people.n:
        with pytest.raises(InputError, match=f"4 to {people_pool.people.n} people, got {n}"):
            people_pool.sizes(n)
        return
    expected = n * disadvantaged / people_pool.people.n
    if min(round(expected), n - round(expected)) < FEWEST_IN_GROUP:
        with pytest.raises(InputError, match="at least 2 people of each group, or the first answer reveals them"):
            people_pool.sizes(n)
        return
    n1, n0 = people_pool.sizes(n)
    assert n1 + n0 == n and abs(n0 - expected) <= 0.5
    drawn = people_pool.sample(n, np.random.default_rng(0))
    assert drawn.sizes == (n1, n0) and drawn.n == n


@pytest.fixture(scope="module")
def demo() -> AuditDataset:
    table = demo_table()
    return build_dataset(table, table.roles[0])


def config_for(data: AuditDataset, **changes) -> AuditConfig:
    return AuditConfig(dataset="demo", roles=data.roles, **changes)


@pytest.mark.parametrize("metric", METRICS)
def test_query_pool_holds_the_test_people_a_metric_is_about(demo: AuditDataset, metric: str):
    config = config_for(demo, method="unmitigated", metric=metric)
    people_pool = query_pool(subject_of(config, demo))
    people, rows = people_pool.people, split(demo, train_share=config.train_share, seed=config.seed).test
    label = {"equal_opportunity": 1, "equalized_odds": 1, "predictive_equality": 0}.get(metric)
    if label is not None:
        rows = rows[demo.labels[rows] == label]
    assert (people.sensitive == (demo.sensitive[rows] == demo.group_names.index("men"))).all()
    assert (people.labels == demo.labels[rows]).all()
    assert (people_pool.advantaged, people_pool.disadvantaged) == ("men", "women")  # the larger group is advantaged
    share = people.sizes[0] / people.n
    assert leakage(people.sensitive, people.prior > share) > 0.6
    assert abs(people.prior.mean() - share) < 0.04  # calibrated on other people


def test_groups_that_cannot_be_compared_are_refused_in_one_sentence():
    data = dataset(1500)
    north = data.group_names.index("north")
    config = config_for(data, metric="equal_opportunity", method="unmitigated")
    subject = subject_of(config, data)
    test, labels = subject.splits.test, data.labels.copy()
    labels[test[data.sensitive[test] == north]] = 0
    with pytest.raises(InputError, match=r"Equal opportunity needs at least 2 people of each group .* got 0 of one"):
        query_pool(replace(subject, dataset=replace(data, labels=labels)))
