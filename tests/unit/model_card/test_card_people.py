"""From a dataset to a card: attacker, natural models, disclosed people and what they share, draws, advice."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

from core.base.errors import Cancelled, InputError
from core.datasets import AuditDataset, build_dataset, demo_table
from core.datasets.splits import split
from core.studies.model_card import (
    DRAWS,
    Advice,
    ModelCardSettings,
    Pinned,
    Release,
    ReleasedPeople,
    advise,
    in_common,
    measure_card,
    measure_cards,
    pinned,
    project,
    release_of,
    released_people,
)
from core.studies.model_card.card_result import _trained, natural_models
from core.studies.model_card.pinned_people import common_values, noise_generator, worst_of_draws
from core.studies.model_card.study import STUDY
from core.studies.subject import AuditConfig, Subject, prior_of, subject_of
from tests.release_samples import Case, large_case, moved_bits
from tests.release_samples import people as made_up

CONFIG = AuditConfig(method="unmitigated", seed=3)


@cache
def demo() -> AuditDataset:
    table = demo_table()
    table = replace(table, frame=table.frame.head(3000))
    return build_dataset(table, table.roles[0])


@cache
def subject() -> Subject:
    return subject_of(CONFIG, demo())


STEPS: list[tuple[int, int]] = []
"""What was reported while these people were made."""


@cache
def people() -> ReleasedPeople:
    settings = ModelCardSettings(family="mixed", count=6, people=800)
    return released_people(subject(), settings, report=lambda *at: STEPS.append(at))


def test_the_attacker_is_calibrated_repeatable_and_learns_nothing_from_released_records():
    splits = split(demo(), seed=3)
    q = prior_of(demo(), splits, splits.test, seed=3)[:, 1]
    s = demo().sensitive[splits.test]
    assert q.shape == s.shape and q.mean() == pytest.approx(s.mean(), abs=0.03)
    other_splits = [(split(demo(), seed=seed), seed) for seed in (4, 5)]  # of one split few are in the last of these
    posteriors = np.concatenate(
        [q, *(prior_of(demo(), part, part.test, seed=seed)[:, 1] for part, seed in other_splits)]
    )
    truth = np.concatenate([s, *(demo().sensitive[part.test] for part, _ in other_splits)])
    for low, high in ((0.1, 0.4), (0.4, 0.6), (0.6, 0.9)):
        inside = (posteriors >= low) & (posteriors < high)
        assert truth[inside].mean() == pytest.approx(posteriors[inside].mean(), abs=0.08)
    again = dict(zip(people().rows.tolist(), people().posterior.tolist(), strict=True))
    assert [again[row] for row in sorted(again)] == q[np.argsort(splits.test)][
        np.isin(np.sort(splits.test), people().rows)
    ].tolist()
    assert sorted({*STEPS}) == [(done, 6) for done in range(7)]  # the prior, and a step each variant
    splits = split(demo(), seed=3)
    with pytest.raises(InputError, match="must not learn from released records, got 5 that are in both"):
        prior_of(demo(), splits, np.append(splits.test, splits.attack[:5]), seed=3)
    with pytest.raises(InputError, match="group must be one of men, women, got 'nobody'"):
        released_people(subject(), ModelCardSettings(group="nobody"))


@pytest.mark.parametrize("family", ["mixed", "seeds", "depths", "features"])
def test_a_family_differs_and_grows_from_its_start(family: str):
    splits = split(demo(), seed=3)
    rows = splits.test[:500]
    steps: list[tuple[int, int]] = []
    predictions, names = natural_models(
        demo(), splits, rows, count=4, family=family, seed=1, report=lambda *at: steps.append(at)
    )
    assert predictions.shape == (4, 500) and len(set(names)) == 4
    assert steps == [(i, 4) for i in range(5)]
    assert len(np.unique(predictions, axis=0)) == 4
    fewer, first = natural_models(demo(), splits, rows, count=2, family=family, seed=1)
    assert (fewer == predictions[:2]).all() and first == names[:2]
    right = (predictions == demo().labels[rows]).mean(axis=1)
    assert right.min() > 0.6


def test_natural_models_can_be_told_what_not_to_see_and_be_stopped():
    splits = split(demo(), seed=3)
    name = demo().feature_names[0]
    natural_models(demo(), splits, splits.test[:10], count=1, without=[name])

    def stop(done: int, total: int) -> None:
        raise Cancelled("stopped")

    with pytest.raises(Cancelled):
        natural_models(demo(), splits, splits.test[:10], count=1, report=stop)


def test_a_card_says_what_its_parts_say():
    card = measure_card(people(), ModelCardSettings(family="mixed", count=6))
    assert card.status == "converged" and card.n == 800 and card.n_models == 6 and card.n_numbers == 3 + 18
    moved = moved_bits(people().posterior, card.probability)
    assert card.measured.bits.value == pytest.approx(moved, abs=1e-6)
    after = project(people().posterior, card.published).probability
    assert (after == card.probability).all()
    assert card.pinned.count == pinned(people().posterior, after).count


def test_a_card_of_more_models_trains_those_of_fewer_no_more(monkeypatch: pytest.MonkeyPatch):
    assert people().names[:5] == released_people(subject(), ModelCardSettings(family="mixed", count=5)).names
    trained: list[int] = []

    def counted(*arguments: Any) -> Any:
        trained.append(arguments[-2])
        return _trained(*arguments)

    monkeypatch.setattr("core.studies.model_card.card_result._trained", counted)
    seven = released_people(subject(), ModelCardSettings(family="mixed", count=7, people=800))
    assert trained == [4, 5] and (seven.predictions[:6] == people().predictions).all()


def test_a_study_measures_the_card_of_the_first_few_models_too():
    settings = ModelCardSettings(family="mixed", count=6, people=800, decimals=2)
    first, last = STUDY.run(subject(), settings)
    assert first.advice is None and last.advice is not None
    assert [card.n_models for card in last.fewer] == [1, 2, 5]
    for card in (*last.fewer, last):
        alone = measure_card(people(), replace(settings, count=card.n_models))
        assert card.measured == alone.measured and card.n_models == alone.n_models


def _pinned(rows: list[int], n: int) -> Pinned:
    before, after = np.full(n, 0.5), np.full(n, 0.5)
    after[rows] = 1.0
    return pinned(before, after)


def test_what_the_pinned_share():
    n = 400
    rng = np.random.default_rng(0)
    columns = pd.DataFrame({"town": rng.choice(["A", "B", "C"], n), "age": np.arange(n), "seen": np.nan})
    rows = np.flatnonzero((columns["town"] == "B") & (columns["age"] >= 300)).tolist()
    h = np.zeros(n, dtype=int)
    h[rows[:2]] = 1
    h[:100] = 1
    labels = (np.arange(n) >= 300).astype(int)
    shared = in_common(_pinned(rows, n), columns, Release(h, labels=labels))
    assert {(row.column, row.value) for row in shared.values} == {("town", "B"), ("age", "above 299.25, to 399")}
    assert all(row.among_pinned.value == 1.0 for row in shared.values)
    assert shared.cell_sizes == ((2, 2), (98, len(rows) - 2))
    assert shared.median_cell == 98 and shared.median_cell_rest == 200


def test_what_ten_people_drawn_at_random_share_is_called_chance():
    """In 5% of the tables something is called shared, whatever the number of values."""
    rng, shared = np.random.default_rng(0), 0
    for _ in range(20):
        columns = pd.DataFrame({f"town {j}": rng.integers(0, 5, 1000) for j in range(8)})
        shared += bool(common_values(columns, rng.permutation(1000) < 10))
    assert shared <= 2


@cache
def advised() -> tuple[Case, Advice]:
    """Of this card three draws at 30 pin nobody, and half of all others do."""
    case = large_case(200, n=250, k=25)
    return case, advise(case.posterior, case.release, sensitive=case.sensitive)


@pytest.mark.long
def test_the_adviser_finds_the_finest_precision_that_pins_nobody():
    _, advice = advised()
    pins = {(row.decimals, row.epsilon): row.pinned for row in advice.tried}
    assert pins[None, None] > 0 and not advice.exact
    if advice.decimals is not None:
        assert all(pins[d, None] == 0 for d in range(1, advice.decimals + 1))
        assert advice.decimals == 4 or pins[advice.decimals + 1, None] > 0
    assert advice.epsilon is not None and all(pins[None, e] == 0 for (_, e) in pins if e and e <= advice.epsilon)


def test_an_advised_budget_seldom_pins_somebody_in_a_draw_it_was_not_tried_with():
    case, advice = advised()
    assert advice.epsilon is not None
    release = replace(case.release, decimals=None, epsilon=advice.epsilon)
    pins = 0
    for draw in range(28):
        published = release.publish(case.sensitive, rng=np.random.default_rng(draw))
        pins += pinned(case.posterior, project(case.posterior, published).probability).count > 0
    assert pins <= 4


def test_a_precision_whose_posterior_is_not_known_is_not_advised(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("core.studies.model_card.pinned_people._EPSILONS", (1.0,))
    case = large_case(6, n=600, k=1)
    q = case.posterior.copy()
    q[case.release.predictions[0] == 1] = 0.0  # certain of more people than the sizes allow
    advice = advise(q, case.release, sensitive=case.sensitive)
    exact = advice.tried[0]
    assert not exact.converged and exact.pinned == 0
    assert not advice.exact and advice.decimals is None
    assert advice.tried[-1].converged and advice.epsilon == 1.0  # much noise rules nothing out


def by_hand(posterior: np.ndarray, release: Release, sensitive: np.ndarray, *, seed: int, draws: int) -> list[int]:
    """Return how many people each draw pins down."""
    counts = []
    for draw in range(draws):
        rng = noise_generator(seed, epsilon=release.epsilon, draw=draw)
        after = project(posterior, release.publish(sensitive, rng=rng)).probability
        counts.append(pinned(posterior, after).count)
    return counts


@pytest.mark.parametrize("epsilon", [3.0, 20.0, 60.0, 200.0])
def test_the_worst_is_the_most_of_the_draws_looked_at(epsilon: float):
    case = large_case(200, n=250, k=25, epsilon=epsilon)
    worst = worst_of_draws(case.posterior, case.release, sensitive=case.sensitive, seed=4)
    counts = by_hand(case.posterior, case.release, case.sensitive, seed=4, draws=worst.count)
    assert worst.pinned == max(counts) and worst.converged
    assert worst.count == DRAWS or (worst.count >= 3 and worst.pinned and not any(counts[2:-1]))


@pytest.mark.long
@pytest.mark.parametrize(("decimals", "epsilon"), [(None, 10.0), (None, 17.5), (6, None), (0, None)])
def test_the_advice_tries_the_precision_of_the_card_with_the_same_draws(
    decimals: int | None, epsilon: float | None, monkeypatch: pytest.MonkeyPatch
):
    settings = ModelCardSettings(family="mixed", count=12, decimals=decimals, epsilon=epsilon, seed=2)
    redrawn = measure_cards(made_up(), settings)
    monkeypatch.setattr("core.studies.model_card.pinned_people._EPSILONS", (30.0, 10.0))
    advice = advise(made_up().posterior, release_of(made_up(), settings), sensitive=made_up().sensitive, seed=2)
    rows = [row for row in advice.tried if (row.decimals, row.epsilon) == (decimals, epsilon)]
    assert [row.pinned for row in rows] == [redrawn.most_pinned]
    assert rows[0].draws == (1 if redrawn.draws is None else redrawn.draws.count)
    coarse = [row.decimals for row in advice.tried if row.epsilon is None and row.decimals is not None]
    budgets = [row.epsilon for row in advice.tried if row.epsilon is not None]
    assert advice.tried[0].decimals is None and coarse == sorted(coarse, reverse=True)
    assert budgets == sorted(budgets, reverse=True)
