"""From a dataset to a card: attacker, natural models, disclosed people and what they share, draws, advice."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

from core.base.caveats import Caveat, CaveatKind
from core.base.errors import InputError
from core.datasets import build_dataset, demo_table
from core.datasets.splits import split
from core.studies.model_card import DRAWS, Advice, ModelCardSettings, Release, advise, measure_card, pinned, project
from core.studies.model_card.card_result import _left_out, _trained, natural_models, released_people
from core.studies.model_card.pinned_people import Tried, cells_of, common_values, noise_generator, worst_of_draws
from core.studies.subject import AuditConfig, prior_of, subject_of
from tests.release_samples import large_case, moved_bits


@cache
def demo():
    table = demo_table()
    table = replace(table, frame=table.frame.head(3000))
    return build_dataset(table, table.roles[0])


@cache
def subject():
    return subject_of(AuditConfig(method="unmitigated", seed=3), demo())


@cache
def people():
    return released_people(subject(), ModelCardSettings(family="mixed", count=6, people=800))


def test_prior_of_is_calibrated_on_other_people():
    priors, truth = [], []
    for seed in (3, 4, 5):  # of one split few are in the last of these
        part = split(demo(), seed=seed)
        priors.append(prior_of(demo(), part, part.test, seed=seed)[:, 1])
        truth.append(demo().sensitive[part.test])
    prior, member = np.concatenate(priors), np.concatenate(truth)
    for low, high in ((0.1, 0.4), (0.4, 0.6), (0.6, 0.9)):
        inside = (prior >= low) & (prior < high)
        assert member[inside].mean() == pytest.approx(prior[inside].mean(), abs=0.08)


def test_prior_of_refuses_to_learn_from_released_records():
    splits = split(demo(), seed=3)
    with pytest.raises(InputError, match="must not learn from released records, got 5 that are in both"):
        prior_of(demo(), splits, np.append(splits.test, splits.attack[:5]), seed=3)


def test_released_people_refuses_an_unknown_group():
    with pytest.raises(InputError, match="group must be one of men, women, got 'nobody'"):
        released_people(subject(), ModelCardSettings(group="nobody"))


@pytest.mark.parametrize("family", ["mixed", "seeds", "depths", "features"])
def test_natural_models_differ_and_grow_from_their_start(family):
    splits = split(demo(), seed=3)
    rows = splits.test[:500]
    predictions, names = natural_models(demo(), splits, rows, count=4, family=family, seed=1)
    assert len(set(names)) == len(np.unique(predictions, axis=0)) == 4
    fewer, first = natural_models(demo(), splits, rows, count=2, family=family, seed=1)
    assert (fewer == predictions[:2]).all()
    assert first == names[:2]
    assert (predictions == demo().labels[rows]).mean(axis=1).min() > 0.6


def test_measure_card_is_what_its_parts_say():
    card = measure_card(people(), ModelCardSettings(family="mixed", count=6))
    assert (card.status, card.n, card.n_models, card.n_numbers) == ("converged", 800, 6, 3 + 18)
    assert card.measured.bits.value == pytest.approx(moved_bits(people().posterior, card.probability), abs=1e-6)
    after = project(people().posterior, card.published).probability
    assert (after == card.probability).all()
    assert card.pinned.count == pinned(people().posterior, after).count


def test_a_card_of_more_models_trains_those_of_fewer_no_more(monkeypatch):
    assert people().names[:5] == released_people(subject(), ModelCardSettings(family="mixed", count=5)).names
    trained = []

    def counted(*arguments):
        trained.append(arguments[-2])
        return _trained(*arguments)

    monkeypatch.setattr("core.studies.model_card.card_result._trained", counted)
    seven = released_people(subject(), ModelCardSettings(family="mixed", count=7, people=800))
    assert trained == [4, 5] and (seven.predictions[:6] == people().predictions).all()


def test_what_the_pinned_share():
    n = 400
    rng = np.random.default_rng(0)
    columns = pd.DataFrame({"town": rng.choice(["A", "B", "C"], n), "age": np.arange(n), "seen": np.nan})
    rows = np.flatnonzero((columns["town"] == "B") & (columns["age"] >= 300)).tolist()
    h = ((np.arange(n) < 100) | np.isin(np.arange(n), rows[:2])).astype(int)
    labels = (np.arange(n) >= 300).astype(int)
    after = np.where(np.isin(np.arange(n), rows), 1.0, 0.5)
    disclosed = pinned(np.full(n, 0.5), after)
    shared = common_values(columns, disclosed.among(n))
    assert {(row.column, row.value) for row in shared} == {("town", "B"), ("age", "above 299.25, to 399")}
    rest = columns.drop(index=rows)
    shares = {"town": (rest["town"] == "B").mean(), "age": (rest["age"] >= 300).mean()}
    assert {row.column: row.among_rest.value for row in shared} == pytest.approx(shares)
    cells, other_cells = cells_of(disclosed, Release(h, labels=labels))
    assert [cells.tolist().count(size) for size in (2, 98)] == [2, len(rows) - 2] and cells.size == len(rows)
    assert (np.median(cells), np.median(other_cells)) == (98, 200)


def test_what_ten_people_drawn_at_random_share_is_called_chance():
    """In 5% of the tables something is called shared, whatever the number of values."""
    rng, shared = np.random.default_rng(0), 0
    for _ in range(20):
        columns = pd.DataFrame({f"town {j}": rng.integers(0, 5, 1000) for j in range(8)})
        shared += bool(common_values(columns, rng.permutation(1000) < 10))
    assert shared <= 2


@pytest.mark.parametrize(
    ("exact", "rounded", "noisy", "misled"), [(True, 9, 0, False), (True, 0, 1, True), (False, 0, 1, False)]
)
def test_advice_is_misled_where_noise_alone_pins_somebody(exact, rounded, noisy, misled):
    tried = (
        Tried(decimals=None, epsilon=None, pinned=int(not exact)),
        Tried(decimals=3, epsilon=None, pinned=rounded, df_bits=0.0),
        Tried(decimals=None, epsilon=3.0, pinned=noisy, df_bits=0.0),
    )
    assert Advice(tried=tried).misled == misled


@pytest.mark.long
def test_advise_finds_the_finest_precision_that_pins_nobody():
    """Of this card three draws at 30 pin nobody, and half of all others do."""
    case = large_case(200, n=250, k=25)
    advice = advise(case.posterior, case.release, sensitive=case.sensitive)
    pins = {(row.decimals, row.epsilon): row.pinned for row in advice.tried}
    assert pins[None, None] > 0
    harmless = [d for d in range(1, 5) if not any(pins[coarser, None] for coarser in range(1, d + 1))]
    assert advice.decimals == max(harmless, default=None)
    assert advice.epsilon is not None
    assert all(pins[None, e] == 0 for (_, e) in pins if e and e <= advice.epsilon)


@pytest.mark.parametrize("epsilon", [3.0, 20.0, 200.0])
def test_worst_of_draws_is_the_most_of_those_looked_at(epsilon):
    case = large_case(200, n=250, k=25, epsilon=epsilon)
    worst = worst_of_draws(case.posterior, case.release, sensitive=case.sensitive, seed=4)
    counts = []
    for draw in range(worst.draws):
        published = case.release.publish(case.sensitive, rng=noise_generator(4, epsilon=epsilon, draw=draw))
        counts.append(pinned(case.posterior, project(case.posterior, published).probability).count)
    assert worst.pinned == max(counts)
    assert worst.draws == DRAWS or (worst.draws >= 3 and worst.pinned and not any(counts[2:-1]))


def test_a_precision_whose_posterior_is_not_known_is_not_advised(monkeypatch):
    monkeypatch.setattr("core.studies.model_card.pinned_people._EPSILONS", (1.0,))
    case = large_case(6, n=600, k=1)
    q = case.posterior.copy()
    q[case.release.predictions[0] == 1] = 0.0  # certain of more people than the sizes allow
    advice = advise(q, case.release, sensitive=case.sensitive)
    exact = advice.tried[0]
    assert not exact.converged
    assert not advice.exact
    assert advice.decimals is None
    assert advice.epsilon == 1.0  # much noise rules nothing out


def test_left_out_counts_records_once():
    """By what was noted when the table was read, or else by the records that are no longer there."""
    dropped = Caveat(CaveatKind.RECORDS_DROPPED, "Without a label: 7.")
    complete = replace(demo(), rows_read=demo().n, caveats=())
    less = replace(complete, rows_read=demo().n + 7)
    assert _left_out(complete) == ()
    (sentence,) = _left_out(less)
    assert "7" in sentence
    assert _left_out(replace(less, caveats=(dropped,))) == (dropped.text,)
