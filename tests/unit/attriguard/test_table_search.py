"""Noise on raw columns, against trying every change."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from core.attriguard.noisy_records import Noise
from core.attriguard.table import Column, Pair, PairRules, TablePeople, pair_rules, table_columns
from core.attriguard.table_search import Defender, TableSearch, fit_defender, log_odds
from tests.table_people import leads, least_columns, pairs_held, people


@dataclass(frozen=True)
class Case:
    village: TablePeople
    columns: tuple[Column, ...]
    rules: PairRules
    defender: Defender

    def noise(self, *, margin: float = 0.0) -> Noise:
        return TableSearch(self.columns, self.defender, self.rules, margin=margin).noise(self.village.public)


def case(m: int = 2, *, pairs: tuple[Pair, ...] = (), **settings: float) -> Case:
    village = people(m, **settings)  # type: ignore[arg-type]
    columns = table_columns(village)
    return Case(
        village=village,
        columns=columns,
        rules=pair_rules(columns, added=pairs),
        defender=fit_defender(village.known, village.known_truth, columns),
    )


def least(own: Case, person: int, value: int) -> int | None:
    return least_columns(own.village.public[person], own.columns, own.defender, value, own.rules, most=3)


def test_two_values_without_rules_take_the_least_columns() -> None:
    taken = []
    for seed in range(4):
        own = case(seed=seed, leak=1.5, u=25)
        noise = own.noise()
        for k, value in enumerate(1 - noise.predicted):
            best = least(own, k, value)
            if best is None:
                assert noise.size[k, value] > 3 or not noise.found[k, value]
            else:
                assert noise.found[k, value] and noise.size[k, value] == best
            taken.append(best)
    assert {1, 2} <= set(taken)


def test_several_values_are_near_the_least_columns() -> None:
    own = case(4, u=25)
    noise, taken, fewest = own.noise(), 0, 0
    for k, i in np.argwhere(noise.size > 0):
        best = least(own, k, i)
        assert best is not None or noise.size[k, i] > 3
        if best is not None:
            assert noise.size[k, i] >= best
            assert best > 1 or noise.size[k, i] == 1
            taken, fewest = taken + noise.size[k, i], fewest + best
    assert fewest and taken <= 1.15 * fewest


RULES: tuple[Pair, ...] = (
    ("job", "cook", "home", "flat"),
    ("job", "nurse", "home", "house"),
    ("job", "smith", "home", "boat"),
    ("job", "clerk", "club", "chess"),
    ("home", "house", "club", "choir"),
    ("rooms", "2", "job", "clerk"),
)


@pytest.mark.parametrize("m", [2, 3])
def test_rules_are_kept_and_a_single_change_is_preferred(m: int) -> None:
    own = case(m, pairs=RULES, u=40)
    noise = own.noise()
    for k, i in np.argwhere(noise.found):
        record = own.village.public[k]
        after = noise.noisy[k * m + i]
        assert pairs_held(after, own.rules) <= pairs_held(record, own.rules)
        if noise.predicted[k] != i:
            assert (least(own, k, i) == 1) == (noise.size[k, i] == 1)


def blocked() -> Case:
    """Return people whom the job alone gives away, and each job bound to a home."""
    village = people(n=400, u=8)
    rng = np.random.default_rng(0)
    records = [rng.integers(0, k, 408).astype(float) for k in (2, 2, 2, 3)]
    known = np.column_stack([records[0], records[0], *records[2:], rng.normal(size=408)])
    truth = records[0].astype(int)
    village = replace(
        village, known=known[:400], known_truth=truth[:400], public=known[400:], truth=truth[400:], rows=np.arange(8)
    )
    columns = table_columns(village)
    rules = pair_rules(columns, added=(("job", "cook", "home", "house"), ("job", "nurse", "home", "flat")))
    defender = fit_defender(village.known, village.known_truth, columns)
    return Case(village, columns, rules, defender)


def test_two_columns_in_each_others_way_change_together() -> None:
    own = blocked()
    noise = own.noise()
    assert noise.found.all()
    for k, predicted in enumerate(noise.predicted):
        assert noise.size[k, 1 - predicted] == 2
        changed = noise.noisy[2 * k + 1 - predicted] != own.village.public[k]
        assert changed.tolist() == [True, True, False, False, False]


def test_records_that_rules_leave_without_a_solution_stay_as_they_are() -> None:
    own = blocked()
    noise = replace(own, columns=table_columns(own.village, frozen=("home",))).noise()
    others = 1 - noise.predicted
    everyone = np.arange(8)
    assert not noise.found[everyone, others].any() and not noise.size.any()
    np.testing.assert_array_equal(noise.noisy, np.repeat(own.village.public, 2, axis=0))
    assert noise.found[everyone, noise.predicted].all()


def kept(own: Case, noise: Noise, margin: float) -> bool:
    """Return whether all noise there is leads by the margin, and nothing is changed where there is none."""
    u, m = noise.size.shape
    lead = leads(own.defender, noise.noisy).reshape(u, m, m)[:, np.arange(m), np.arange(m)]
    untouched = (noise.noisy.reshape(u, m, -1) == own.village.public[:, None]).all(axis=2)
    return bool((lead[noise.size > 0] >= margin - 1e-9).all() and (untouched == (noise.size == 0)).all())


def test_a_margin_costs_columns_and_noise_that_misses_it_is_none() -> None:
    """That it is kept: tests/properties/test_table_noise_properties.py."""
    own = case(4, leak=0.5)
    plain, wide = own.noise(), own.noise(margin=4.0)
    both, missed = plain.found & wide.found, plain.found & ~wide.found
    assert wide.size[both].mean() > plain.size[both].mean() and wide.found.sum() < plain.found.sum()
    assert missed.any() and not wide.size[missed].any()


def test_two_columns_that_change_together_keep_the_margin() -> None:
    own = blocked()
    noise = own.noise()
    others = 1 - noise.predicted
    least = leads(own.defender, noise.noisy).reshape(8, 2, 2)[np.arange(8), others, others].min()
    within, beyond = own.noise(margin=0.9 * least), own.noise(margin=20 * least)
    assert within.found.all() and (within.size[np.arange(8), others] >= 2).all() and kept(own, within, 0.9 * least)
    assert not beyond.found[np.arange(8), others].any() and not beyond.size.any()


def test_the_records_are_cut_into_pieces_without_a_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    own = case(3, pairs=RULES)
    whole = own.noise()
    monkeypatch.setattr("core.attriguard.table_search._CELLS", 7 * 3 * 20)
    pieces = own.noise()
    np.testing.assert_array_equal(whole.noisy, pieces.noisy)
    np.testing.assert_array_equal(whole.found, pieces.found)


def test_log_odds_by_hand() -> None:
    scores = np.log(np.array([[2.0], [3.0], [5.0]]))
    odds, reached = log_odds(scores, 2, lead=np.log(5 / 3) - 1e-12)
    assert odds[0] == pytest.approx(0.0) and reached[0]
    assert not log_odds(scores, 2, lead=0.52).reached[0]
    assert log_odds(scores, 0, lead=0.0).odds[0] == pytest.approx(np.log(2 / 8))
    assert log_odds(np.array([[1e4], [-1e4]]), 1, lead=0.0).odds[0] == -2e4
