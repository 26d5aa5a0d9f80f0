"""The numbers of AttriGuard are as they were: noise, budgets, attackers, other defences and costs of a few people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from core.datasets.ratings import build_ratings
from core.studies.attriguard import allocation, attackers, comparators, table, utility
from core.studies.attriguard.comparators import CLEAN_ATTACKERS, SURROGATES, transfer
from core.studies.attriguard.defense import RatingsDefense, TableDefense
from core.studies.attriguard.panda import POLICIES, read_scores, representatives
from core.studies.attriguard.result import AttriGuardSettings
from core.studies.attriguard.table_search import Defender, TableSearch, log_odds
from tests import ratings_samples, table_people
from tests.golden.numbers import NamedValues, compare_numbers
from tests.linear_cases import classifier_of
from tests.ratings_samples import ratings_settings
from tests.unit.attriguard.test_panda import fitted


def _search() -> NamedValues:
    rng = np.random.default_rng(1)
    weights = {m: np.round(rng.normal(size=(1 if m == 2 else m, 40)), 2) for m in (2, 3, 4)}
    for m, rows in weights.items():
        classifier = classifier_of(rows, np.linspace(0.3, -0.6, len(rows)), multinomial=m == 3)
        yield f"{m} values, scores", read_scores(classifier)
        yield f"{m} values, tie", read_scores(classifier_of(-np.abs(rows), rows[:, 0], multinomial=m == 3)).tie * 1e9
    for m in (2, 3):
        records, network = fitted(m)
        for policy in POLICIES:
            yield f"network, {m} values, {policy}", representatives(records[:8], network, policy=policy).size
    for outputs in (1, 3):
        model = SimpleNamespace(
            coefs_=[np.arange(12.0).reshape(4, 3) - 5, np.linspace(-2, 1, 3 * outputs).reshape(3, outputs)],
            intercepts_=[np.array([0.1, -0.2, 0.3]), np.linspace(0.4, 0.6, outputs)],
            activation="relu",
            out_activation_="logistic" if outputs == 1 else "softmax",
            classes_=np.arange(max(outputs, 2)),
        )
        scores = read_scores(model)
        state = scores.enter(np.array([[0.0, 0.5, 1.0, 0.2], [1.0, 0.0, 0.0, 0.7]]))
        gradient = scores.gradient(state, np.array([1, 0]))
        yield f"layers, {outputs}", (scores, scores.tie * 1e9, scores.scores(state), gradient, scores.n_columns)
        leads = [scores.leading(state, np.array([1, 0]), lead).tolist() for lead in (0.0, 1.0, 9.0)]
        yield f"leads, {outputs}", leads


def _where() -> NamedValues:
    share = np.array([0.5, 0.25, 0.25])  # all three carry some
    carried = allocation.Concentration(entries=np.array([3, 0, 1]), share=share, n_entries=3)
    for share in (0.0, 0.3, 0.5, 0.75, 0.9, 1.0):
        yield f"without {share}", carried.without(share)
        yield f"without {share} of 5", replace(carried, n_entries=5).without(share)


def _small(seed: int = 0, **settings: Any) -> TableDefense:
    people = table_people.people(3, n=90, u=14, seed=seed, leak=1.2)
    return TableDefense(people, AttriGuardSettings(trained_budgets=(0.7,), **settings))


def _table() -> NamedValues:
    records = np.array([[0, 0, 1], [0, 0, 2], [0, 1, 2], [1, 0, 40], [1, 0, 40], [-1, 1, 7.5]])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table, "_LEAST_SHARE", 0.2)
        columns = tuple(table._column(f"{j}", records[:, j], j < 2, ("x", "y"), False) for j in range(3))
        yield "hand", columns
        for expected in (0.0, 1 / 3, 0.34, 2 / 3, 1.0):
            patch.setattr(table, "LEAST_EXPECTED", expected)
            yield f"rules, {expected:.2f}", table.find_rules(records, columns)


def _columns() -> NamedValues:
    scores = np.array([[0.0, 1.0, 3.0], [0.0, -1.0, 2.0], [0.5, -1.0, 1.0]])
    for target, lead in ((0, 0.0), (1, 1.0), (2, 0.5)):
        yield f"odds, {target}", [odds.tolist() for odds in log_odds(scores, target, lead=lead)]
        yield f"odds of two, {target}", [odds.tolist() for odds in log_odds(scores[:2], target % 2, lead=lead)]
    many = [(5 + seed, 2 + seed % 3, 0.4 * (seed % 4)) for seed in range(12)]
    for seed, m, margin in ((0, 2, 0.0), (1, 3, 0.0), (2, 3, 1.5), (3, 4, 0.25), (4, 2, 2.0), *many):
        rng = np.random.default_rng(seed)
        people = table_people.people(m, n=80, u=12 if seed < 5 else 30, seed=seed)
        columns = table.table_columns(people, frozen=("pay",) if seed == 1 else ())
        encoder = table.fit_encoder(people.attacker_records, columns, ranges=seed == 2)
        starts = np.cumsum([0, *(encoder.block(j, np.zeros(1)).shape[1] for j in range(5))])
        weights, offsets = np.round(rng.normal(size=(m, starts[-1])), 2), np.linspace(-0.4, 0.5, m)
        classifier = SimpleNamespace(predict=lambda x, w=weights, b=offsets: (x @ w.T + b).argmax(axis=1))
        defender = Defender(encoder=encoder, classifier=classifier, weights=weights, offsets=offsets, starts=starts)
        if seed > 4:  # many pairs in each other's way
            values = table._listed(columns)
            drawn = rng.integers(len(values), size=(40, 2))
            pairs = [values[i] + values[k] for i, k in drawn if values[i][0] != values[k][0]]
            rules = table.pair_rules(columns, forbidden=pairs)
            noise = TableSearch(columns, defender, rules, margin=margin).noise(people.public)
            yield f"{seed}, blocked", (noise.size, noise.noisy, noise.reached)
            continue
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(table, "LEAST_EXPECTED", (2.0, 0.2)[seed % 2])
            frequent_rules = table.find_rules(people.attacker_records, columns)
        for which, rules in (("free", table.pair_rules(columns)), ("rules", table.pair_rules(columns, frequent_rules))):
            noise = TableSearch(columns, defender, rules, margin=margin).noise(people.public)
            yield f"{seed}, {which}", noise
            yield f"{seed}, {which}, plausible", table.judge_plausibility(people, noise, columns)
    for defender in ("logistic", "ranges"):
        guard = _small(defender=defender, margin=0.3, target="train_shares")
        yield defender, (guard.noise.size, guard.noise.noisy, guard.found_rules, guard.target)
        yield f"{defender}, terms", np.round(guard.defender.all_terms(guard.people.public[:3]), 3)


def _attackers() -> NamedValues:
    some = ratings_samples.ratings(people=80, items=12, values=3, seed=4)
    knowledge = attackers.KnownPeople(records=some.people_train, values=some.values_train, n_values=3)
    network = attackers.fit_network(knowledge, seed=1)
    yield "network", network.predict_proba(some.people_test)
    noise = representatives(knowledge.records, classifier_of(np.eye(3, 12), np.zeros(3), multinomial=True))
    trained = attackers.fit_adversarial(knowledge, noise, noise.mechanism(np.full(3, 1 / 3), 0.5), seed=1)
    yield "adversarial", trained.predict_proba(some.people_test)
    yield "distilled", attackers.fit_distilled(knowledge, network, seed=1).predict_proba(some.people_test)
    for kind in ("one_vs_rest", "logistic_smooth", "forest"):
        yield kind, np.round(attackers.fit_unaware(knowledge, kind, seed=3).predict_proba(some.people_test), 3)
    person = attackers.KnownPeople(records=knowledge.records[:1], values=knowledge.values[:1], n_values=3)
    yield "of one person", attackers.fit_network(person, seed=0).predict_proba(some.people_test)
    guard = _small(1)
    for name in guard.attackers:
        for guess in guard.guesses(name):
            yield f"table, {name}", guess
    column_indices = np.array([0, 3, 4])
    for learner, n in (*((learner, 9) for learner in attackers.LEARNERS), ("boosting", 41)):
        truth = np.arange(n) % 3 if n < 10 else np.arange(n) % 2 + 2 * (np.arange(n) == 40)
        few = attackers.fit_on_table(
            learner, guard.people.attacker_records[:n], truth, guard.columns, selected=column_indices, seed=2
        )
        yield f"few, {learner}, {n}", few.guess(guard.people.public)


def _comparators() -> NamedValues:
    some = ratings_samples.ratings(people=60, items=14, values=3, seed=2)
    knowledge = attackers.KnownPeople(records=some.people_train, values=some.values_train, n_values=3)
    records, one_hot = some.people_test, np.eye(3)[some.values_train]
    yield "usual", comparators.usual_ratings(knowledge.records)
    yield "statistic", comparators._statistic(knowledge.records, one_hot)
    for m in (2, 3):
        weights = np.round(np.random.default_rng(m).normal(size=(1 if m == 2 else 3, 14)), 1)
        judge = SimpleNamespace(coef_=weights)
        for n in (1, 3, 20):
            obfuscated = comparators.blurme(records, np.minimum(some.values_test, m - 1), knowledge, judge, n_added=n)
            yield f"blurme, {m} values, {n}", obfuscated
    for n in (1, 5):
        yield f"chisquare, {n}", comparators.chisquare(records, some.values_test, knowledge, n_added=n)
    for epsilon in (0.1, 2.0, 7.0, 900.0):
        yield f"local dp, {epsilon:g}", comparators.local_dp(records, epsilon=epsilon, rng=np.random.default_rng(3))
    yield "nearest", comparators._nearest(np.array([0.0, 0.1, 0.11, 0.29, 0.5, 0.9, 1.0]))
    distance = np.round(np.random.default_rng(0).random((knowledge.records.shape[0], 2)), 1)
    yield "representatives", comparators._representatives(knowledge.records, distance)
    which = np.arange(knowledge.records.shape[0]) % 3 // 2 * 2  # the cluster between has nobody
    yield "distances", comparators._distances(knowledge.records, which, knowledge.records[:3], 3)
    joint, far = np.array([[0.3, 0.1, 0.05], [0.05, 0.1, 0.4]]), np.array([[0.0, 2, 4], [3, 0, 1], [5, 2, 0]])
    for slack in (0.25, 0.5, 1.0):
        mapping = comparators._mapping(joint, far, slack)
        shared, spent = joint @ mapping, (joint.sum(axis=0)[:, None] * far * mapping).sum()
        information = (shared * np.log(shared / np.outer(shared.sum(axis=1), shared.sum(axis=0)))).sum()
        yield f"mapping, {slack}", (round(1000 * information), round(100 * spent) * (slack < 1), mapping.sum())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparators, "_MOST_CLUSTERS", 50)
        yield "qpm", comparators.qpm(records, knowledge, slack=1e-6, rng=np.random.default_rng(5))


def _ratings() -> NamedValues:
    some = ratings_samples.ratings(people=60, items=14, values=3, seed=2)
    guard = RatingsDefense(
        some, ratings_settings(trained_budgets=(0.2, 2.5), attackers=("logistic", "adversarial", "forest"))
    )
    progress: list[tuple[int, int]] = []
    for exposure in guard.expose(lambda *done: progress.append(done)):
        yield f"{len(exposure.guesses)} attackers", exposure.at(1.0)
    yield "told", progress
    yield "without", replace(guard.baseline_exposure(), defense=None)
    yield "card", guard.card(3).to_csv(index=False).split("\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(SURROGATES, "network")
        patch.setattr(comparators, "_TRANSFER_PEOPLE", 10)
        yield "transfer", transfer(guard)
    yield "other defences", [defence[:3] for defence in comparators._defences(guard)]
    for row in islice(comparators.comparison(guard), 3):
        yield f"{row.method}, {row.parameter}", row
    rich = np.flatnonzero(np.diff(some.people_train.indptr) > 4)[:3]
    retained, aside = utility._set_aside(some.people_train[rich], np.random.default_rng(1))
    yield "set aside", (retained, aside)
    scores = np.random.default_rng(0).permutation(15 * 14).reshape(15, 14).astype(float)
    for n in (1, 4, 20):
        taken = np.arange(75).reshape(15, 5) % 14
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(utility, "RECOMMENDED", n)
            yield f"precision, {n}", utility._precision(some.people_test, taken, lambda rows: scores.copy())
    with pytest.MonkeyPatch.context() as patch:
        for constant, number in (("_MOST_PEOPLE", 9), ("RECOMMENDED", 3), ("_RANK", 5)):
            patch.setattr(utility, constant, number)
        recommendation = utility.recommendation(guard)
    yield "recommended", (recommendation.popular.size, recommendation.noise.size, recommendation.noisy.shape)
    flat = replace(recommendation, clean=np.linspace(0, 0.4, 9), noisy=np.linspace(0, 1, 27).reshape(9, 3) ** 2)
    yield "precision by budget", [(flat.at(b), flat.change(b), flat.before) for b in (0.0, 0.7, 3.0)]
    few = build_ratings(
        (some.people_train[:5], some.people_test[:3]),
        (list("abbab"), list("aba")),
        title="few",
        source="",
        attribute="town",
        items=some.items,
    )
    yield "few", RatingsDefense(few, ratings_settings(defender="network", margin=0.1)).noise.size
    budgets: list[float] = []

    def mechanism(budget: float, *, training: bool) -> Any:
        budgets.append(budget)
        return guard.search(training=training).mechanism(guard.target, budget)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(guard, "mechanism", mechanism)
        patch.setattr(
            "core.studies.attriguard.defense.fit_dropping", lambda knowledge, column_indices, seed: column_indices
        )
        yield "left", [subset for _, subset in guard.fitted("dropping")]
    yield "at", budgets
    for name in ("dropping", "low_rank", "region"):
        yield name, [(budget, attacker.guess(some.people_test)) for budget, attacker in guard.fitted(name)]
    yield "readers", [guard.reader(name).predict(some.people_test) for name in CLEAN_ATTACKERS]


def _decisions() -> NamedValues:
    def accepts(rows: np.ndarray, groups: np.ndarray) -> np.ndarray:
        return np.clip(0.3 + rows @ (0.11, -0.07, 0.2, 0.05, 0.13) - 0.2 * groups, 0, 1)

    labels = (np.arange(14) % 3 > 0).astype(np.uint8)
    for seed, metric in ((0, "statistical_parity"), (0, "equalized_odds"), (1, "statistical_parity")):
        outcome = utility.utility_of(_small(seed), accepts, labels=labels, metric=metric)
        yield (
            f"{seed}, {metric}",
            (outcome.clean, outcome.noisy, outcome.without_noise(), outcome.at(0.0), outcome.at(0.7)),
        )
    values, groups = np.array([0.1, 0.9, 0.4, 0.4, 1.0, 0.0, 0.7]), np.array([0, 0, 1, 2, 2, 2, 2])
    two = np.array([0, 0, 0, 0, 0, 1, 1])
    for name, parts, after in (
        ("three groups", [(values, groups)], [(values[::-1], groups)]),
        ("two groups", [(values, two)], [(1 - values**2, two)]),
        ("two sets", [(values, two), (values[:4], groups[:4])], [(values**3, two), (1 - values[:4], groups[:4])]),
    ):
        yield name, (utility._unfairness(parts), utility._change(parts, after), utility._farthest(parts))


CASES: dict[str, Callable[[], NamedValues]] = {
    "search": _search,
    "where": _where,
    "table": _table,
    "columns": _columns,
    "attackers": _attackers,
    "comparators": _comparators,
    "ratings": _ratings,
    "decisions": _decisions,
}
"""Golden file -> its numbers, each with a name."""


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_numbers(name: str) -> None:
    compare_numbers(f"attriguard_{name}", CASES[name]())
