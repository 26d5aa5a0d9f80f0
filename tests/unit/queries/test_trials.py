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
    DECODERS,
    BiasQueriesResult,
    BiasQueriesSettings,
    Exact,
    LaplaceGlobal,
    Leak,
    NoisySums,
    Rounded,
    SmoothCauchy,
    SmoothLaplace,
    Trials,
    curve_finding,
    leakage,
    needed,
    statistical_parity_gap,
)
from core.studies.bias_queries.trials import FEWEST_IN_GROUP, best_by_number, query_pool
from core.studies.subject import AuditConfig, subject_of
from tests.samples import dataset
from tests.unit.queries.people import pool

ASKING: dict[str, Any] = {"n": 30, "repeats": 5, "seed": 9}


def trials(**changes) -> Trials:
    return Trials(pool(), **{**ASKING, **changes})


def test_a_seed_draws_people_questions_and_noise():
    first, second = trials(), trials(seed=10)
    for r in range(5):
        assert (first.people[r].base != second.people[r].base).any()
        first_queries, second_queries = (
            drawn_trials.ask(6, LaplaceGlobal(5.0), [r]) for drawn_trials in (first, second)
        )
        assert (first_queries.scores != second_queries.scores).mean() > 0.5 and (
            first_queries.answers != second_queries.answers
        ).all()
    assert len({people.base.tobytes() for people in first.people}) == 5  # repeats are not one another's copies
    noise = first.ask(6, LaplaceGlobal(5.0)).answers - first.ask(6, Exact()).answers
    assert len({round(value, 9) for value in noise.ravel()}) == 30


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


@pytest.mark.parametrize("make", [LaplaceGlobal, SmoothCauchy])
def test_noise_is_common(make):
    """The same stream of noise at every ε and number of questions, so that curves move with the answers alone."""
    drawn_trials = trials()
    n1, n0 = drawn_trials.n_advantaged, drawn_trials.n_disadvantaged

    def standard(epsilon: float, m: int) -> np.ndarray:
        mechanism = make(epsilon)
        noise = drawn_trials.ask(m, mechanism).answers - drawn_trials.ask(m, Exact()).answers
        return noise / mechanism.scale(n1, n0, m)

    standardised = standard(1.0, 12)
    assert standard(7.0, 12) == pytest.approx(standardised, abs=2e-3)  # the grid is a thousandth of the scale
    assert standard(1.0, 5) == pytest.approx(standardised[:, :5], abs=2e-3)


def test_answers_are_those_of_the_people_asked_about():
    drawn_trials = trials()
    queries = drawn_trials.ask(6, Exact())
    for r, people in enumerate(drawn_trials.people):
        assert people.sizes == (drawn_trials.n_advantaged, drawn_trials.n_disadvantaged) and people.n == 30
        assert queries.answers[r] == pytest.approx(statistical_parity_gap(queries.scores[r], people.sensitive))
        assert np.abs(queries.scores[r] - people.base).max() <= 0.1 + 1e-12
    assert (queries.prior == drawn_trials.prior).all() and queries.share == drawn_trials.n_advantaged / 30
    assert drawn_trials.ask(0, SmoothCauchy(1.0)).scores.shape == (5, 0, 30)
    some = drawn_trials.ask(6, SmoothCauchy(2.0), [3, 1])
    assert (some.answers == drawn_trials.ask(6, SmoothCauchy(2.0)).answers[[3, 1]]).all()
    assert (some.prior == drawn_trials.prior[[3, 1]]).all()


@pytest.mark.parametrize("mechanism", [Exact(), Rounded(2), SmoothCauchy(50.0), NoisySums(50.0)], ids=str)
@pytest.mark.parametrize("decoder", DECODERS)
def test_a_leak_is_the_mean_over_repeats(mechanism, decoder: str):
    drawn_trials = trials()
    leak = drawn_trials.leak(9, mechanism, decoder)
    leakages = []
    for r in range(5):
        people, decoded = drawn_trials.decoding(9, mechanism, decoder, repeat=r)
        leakages.append(leakage(people.sensitive, decoded.recovered))
    assert leak.leakage.value == pytest.approx(np.mean(leakages))
    assert leak.leakage.n == 5
    assert leak.complete == sum(value == 1.0 for value in leakages) / 5
    assert (
        abs(leakages[leak.typical] - np.mean(leakages))
        < min(abs(value - np.mean(leakages)) for value in leakages) + 0.03
    )
    assert 0 <= leak.leakage.low < leak.leakage.value <= leak.leakage.high <= 1
    assert (leak.m, leak.decoder) == (9, decoder)
    alone = drawn_trials.leakages(0, Exact(), "strongest")
    assert leak.gain.value == pytest.approx(np.mean(leakages) - np.mean(alone)) and leak.gain.low < leak.gain.high


def test_how_odd_the_models_look():
    drawn_trials = trials()
    accuracy = drawn_trials.accuracy(18)
    base = [((people.base >= 0.5) == people.labels).mean() for people in drawn_trials.people]
    correct = [((drawn_trials.ask(18, Exact()).scores[r] >= 0.5) == drawn_trials.people[r].labels) for r in range(5)]
    assert accuracy.base.value == pytest.approx(np.mean(base)) and accuracy.base.n == 5
    assert accuracy.queried.value == pytest.approx(np.mean([right.mean() for right in correct]))
    assert accuracy.spread == pytest.approx(np.mean([right.mean(axis=1).std() for right in correct]))
    assert abs(accuracy.base.value - accuracy.queried.value) < 0.05
    assert drawn_trials.accuracy(0) == drawn_trials.accuracy(1)


ENDS = {"jitter": 18, "random_binary": 18, "bits": 1, "targeted": 31, "single": 30}


@pytest.mark.parametrize("design", ENDS)
def test_enough_exact_answers_are_the_truth(design: str):
    drawn_trials, last = trials(design=design), ENDS[design]
    assert drawn_trials.numbers[-1] == last
    for decoder in ("strongest", "without_prior", *(["published"] if design == "bits" else [])):
        assert drawn_trials.leak(last, Exact(), decoder).complete == 1.0
        assert design != "single" or drawn_trials.leak(last, Exact(absolute=True), decoder).complete == 1.0
    with pytest.raises(InputError, match="got -1"):
        drawn_trials.leak(-1, Exact(), "strongest")
    if design in ("bits", "targeted", "single"):  # which end there
        with pytest.raises(InputError, match=f"must be in 0 to {last}, got {last + 1}"):
            drawn_trials.ask(last + 1, Exact())


def leak(m: int, value: float, complete: float = 0.0) -> Leak:
    rate = Estimate(value=value, low=value, high=value, n=2)
    return Leak(m=m, decoder="strongest", leakage=rate, gain=rate, complete=complete, typical=0)


def test_answers_needed():
    leaks = [leak(0, 0.5), leak(20, 1.0, 1.0), leak(5, 0.96), leak(10, 0.94), leak(15, 0.999, 0.5)]
    assert needed(leaks, 0.95) == 15  # what was reached and lost again does not count
    assert needed(leaks, 1.0) == 20 and needed(leaks, 0.5) == 0
    assert needed(leaks[:1], 0.95) is None and needed([], 0.95) is None
    assert needed([*leaks, leak(25, 0.9)], 0.95) is None
    assert needed([leak(5, 1.0, 0.5)], 1.0) is None
    rivals = [replace(point, decoder="without_prior") for point in (leak(5, 0.97), leak(10, 0.7), leak(20, 0.9))]
    assert [(best.m, best.leakage.value) for best in best_by_number([*leaks, *rivals])][1:3] == [(5, 0.97), (10, 0.94)]


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        ("statistical_parity", "Accuracy"),
        ("equal_opportunity", "True positive rate"),
        ("predictive_equality", "True negative rate"),
    ],
)
def test_the_curve_is_of_the_best_decoder_and_names_the_rate_of_its_models(metric: str, name: str):
    drawn_trials = Trials(pool(metric=metric), **ASKING, most=10)
    leaks = (leak(10, 0.6), replace(leak(10, 0.995), decoder="without_prior"))
    result = BiasQueriesResult(attribute="sex", leaks=leaks, accuracy=drawn_trials.accuracy(10), metric=metric)
    finding = curve_finding([result], BiasQueriesSettings(mechanism="exact"))
    assert finding.point.startswith("Answers needed without noise for 95% balanced accuracy: 10;")
    assert finding.evidence.startswith(f"{name} of the queried models: ")


def test_the_error_of_answers_is_that_of_all_repeats():
    drawn_trials = trials(repeats=400)
    error = drawn_trials.error(1, Rounded(1))
    assert (error.median, error.high) == pytest.approx((0.025, 0.0475), abs=0.003)


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


def test_a_sample_is_of_different_people_in_no_order():
    people_pool = pool(400, 120)
    drawn = people_pool.sample(400, np.random.default_rng(1))
    for name in ("sensitive", "base", "prior", "labels"):
        assert sorted(getattr(drawn, name)) == sorted(getattr(people_pool.people, name))
    assert len(set(drawn.prior)) == 400  # nobody twice
    order = np.argsort(drawn.prior)
    assert (
        drawn.base[order] == people_pool.people.base[np.argsort(people_pool.people.prior)]
    ).all()  # nobody torn apart
    assert 100 < np.flatnonzero(drawn.sensitive == 0).mean() < 300
    again, different = (people_pool.sample(50, np.random.default_rng(seed)) for seed in (2, 3))
    assert (again.prior == people_pool.sample(50, np.random.default_rng(2)).prior).all() and (
        again.prior != different.prior
    ).any()


@pytest.fixture(scope="module")
def demo() -> AuditDataset:
    table = demo_table()
    return build_dataset(table, table.roles[0])


def config_for(data: AuditDataset, **changes) -> AuditConfig:
    return AuditConfig(dataset="demo", roles=data.roles, **changes)


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric(demo: AuditDataset, metric: str):
    config = config_for(demo, method="unmitigated", metric=metric)
    people_pool = query_pool(subject_of(config, demo))
    people, rows = people_pool.people, split(demo, train_share=config.train_share, seed=config.seed).test
    label = {"equal_opportunity": 1, "equalized_odds": 1, "predictive_equality": 0}.get(metric)
    if label is not None:
        rows = rows[demo.labels[rows] == label]
        assert (people.labels == label).all()
    assert people_pool.metric == ("equal_opportunity" if metric == "equalized_odds" else metric)
    assert people.n == rows.size == people.base.size == people.prior.size == people.labels.size
    assert ((people.base >= 0) & (people.base <= 1)).all() and len(np.unique(people.base)) > 3
    assert ((people.prior > 0) & (people.prior < 1)).all()
    assert (people_pool.advantaged, people_pool.disadvantaged) == ("men", "women")
    share = people.sizes[0] / people.n
    assert leakage(people.sensitive, people.prior > share) > 0.6
    assert abs(people.prior.mean() - share) < 0.04  # calibrated on other people
    name = demo.group_names.index("men")
    assert (people.sensitive == (demo.sensitive[rows] == name)).all()


def test_the_larger_group_is_advantaged():
    data = dataset(1500)  # 35% north
    assert data.group_names[int(np.bincount(data.sensitive).argmax())] == "south"
    people_pool = query_pool(subject_of(config_for(data, method="unmitigated"), data))
    assert (people_pool.advantaged, people_pool.disadvantaged) == ("south", "north")
    assert people_pool.people.sizes[0] > people_pool.people.sizes[1]


def test_groups_that_cannot_be_compared_are_refused_in_one_sentence():
    data = dataset(1500)
    north = data.group_names.index("north")
    config = config_for(data, metric="equal_opportunity", method="unmitigated")
    subject = subject_of(config, data)
    test, labels = subject.splits.test, data.labels.copy()
    labels[test[data.sensitive[test] == north]] = 0
    with pytest.raises(InputError, match=r"Equal opportunity needs at least 2 people of each group .* got 0 of one"):
        query_pool(replace(subject, dataset=replace(data, labels=labels)))
