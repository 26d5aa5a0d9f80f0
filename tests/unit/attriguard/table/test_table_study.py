"""The study of a table: the audit's own splits, its attackers, its seed."""

from __future__ import annotations

import numpy as np
import pytest

from core.attriguard import (
    Exposure,
    TableGuard,
    TableSettings,
    table_guard,
)
from core.attriguard.records import concentration
from core.attriguard.table_guard import fit_attacker
from core.attriguard.table_people import table_columns
from core.config import AuditConfig
from core.datasets import split
from tests import samples
from tests.table_people import people

BUDGETS = (0.2, 0.6)
SETTINGS = TableSettings(trained_budgets=BUDGETS)
CONFIG = AuditConfig(dataset="sample", seed=3)


@pytest.fixture(scope="module")
def guard() -> TableGuard:
    return table_guard(samples.dataset(1600, leak=2.0, seed=1), CONFIG, SETTINGS)


@pytest.fixture(scope="module")
def grown(guard: TableGuard) -> list[Exposure]:
    return [exposure for exposure in guard.expose() if exposure.guesses]


def test_known_and_protected_people_are_the_audits(guard: TableGuard, grown: list[Exposure]) -> None:
    data = samples.dataset(1600, leak=2.0, seed=1)
    splits = split(data, train_share=CONFIG.train_share, seed=CONFIG.seed)
    np.testing.assert_array_equal(guard.people.rows, splits.test)
    np.testing.assert_array_equal(grown[-1].truth, data.sensitive[splits.test])
    np.testing.assert_array_equal(guard.people.known, data.features[splits.known])
    assert grown[-1].values == data.group_names and grown[-1].unit == "columns"
    shares = np.bincount(data.sensitive[splits.known]) / splits.known.size
    np.testing.assert_allclose(grown[-1].shares, shares)


def test_the_defenders_own_attacker_reads_what_the_noise_wants(guard: TableGuard, grown: list[Exposure]) -> None:
    own = grown[0].guesses[0]
    assert own.attacker == "logistic"
    np.testing.assert_array_equal(own.clean, guard.noise.predicted)
    told = own.noisy == np.arange(len(guard.people.values))
    np.testing.assert_array_equal(told, guard.noise.found)


def test_noise_hurts_the_naive_and_training_against_it_helps(grown: list[Exposure]) -> None:
    clean = {p.attacker: p.accuracy.value for p in grown[-1].undefended()}
    noisy = {p.attacker: p.accuracy.value for p in grown[-1].at(0.6)}
    for naive in ("logistic", "boosting", "forest", "network"):
        assert clean[naive] > grown[-1].majority.value + 0.1
        assert noisy[naive] < clean[naive] - 0.1
    assert noisy["adversarial"] > noisy["boosting"] + 0.05
    assert noisy["adversarial_logistic"] > noisy["logistic"] + 0.05


def test_the_dropping_attacker_does_not_see_what_carries_the_noise(guard: TableGuard, grown: list[Exposure]) -> None:
    guesses = next(g for g in grown[-1].guesses if g.attacker == "dropping")
    most = concentration(guard.people.public, guard.noise, np.full(guard.noise.size.shape, 0.5)).entries[0]
    changed = guard.noise.noisy != np.repeat(guard.people.public, 2, axis=0)
    only = changed.sum(axis=1) == changed[:, most]
    same = guesses.noisy.ravel() == np.repeat(guesses.clean, 2)
    assert only.sum() > 100 and same[only].all()


def test_the_seed_decides(guard: TableGuard, grown: list[Exposure]) -> None:
    data = samples.dataset(1600, leak=2.0, seed=1)

    def forest(seed: int) -> np.ndarray:
        told = TableSettings(trained_budgets=BUDGETS, seed=seed)
        return next(s for s in table_guard(data, CONFIG, told).expose() if len(s.guesses) == 2).guesses[1].noisy

    np.testing.assert_array_equal(forest(SETTINGS.seed), grown[1].guesses[1].noisy)
    assert (forest(7) != grown[1].guesses[1].noisy).any()


@pytest.mark.parametrize("learner", ["logistic", "forest", "boosting", "network"])
def test_attackers_name_every_value_and_unseen_cells_are_no_obstacle(learner: str) -> None:
    village = people(4, leak=2.0)
    attacker = fit_attacker(learner, village.known, village.known_truth, table_columns(village), seed=1)
    guess = attacker.guess(village.public)
    assert set(guess) == {0, 1, 2, 3} and (guess == village.truth).mean() > 0.5
    odd = np.array([[-1.0, 40.0, 1.0, 1e6, -1e6]])
    assert attacker.guess(odd).shape == (1,)
