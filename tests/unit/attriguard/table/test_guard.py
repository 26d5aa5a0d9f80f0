"""Everything but the attackers: settings, plausibility, where the noise sits, one person's card."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from core.attriguard.records import Concentration, changes_per_entry, concentration
from core.attriguard.settings import TableSettings
from core.attriguard.table_guard import TableGuard
from core.attriguard.table_people import TablePeople
from core.errors import InputError
from tests.table_people import people


@pytest.fixture(scope="module")
def village() -> TablePeople:
    return people(3, n=1500, u=200, leak=0.7, seed=3)


@pytest.fixture(scope="module")
def guard(village: TablePeople) -> TableGuard:
    return TableGuard(village)


def test_rules_make_changed_records_plausible(village: TablePeople) -> None:
    numbers = ("pay", "rooms")
    guard, free = (TableGuard(village, TableSettings(frozen=numbers, rules=rules)) for rules in (True, False))
    assert guard.rules.rules == guard.found_rules == free.found_rules and not free.rules.rules
    assert free.plausibility.plausible.value < 0.9 and guard.plausibility.plausible.value > 0.99
    assert guard.plausibility.changed == (guard.noise.size > 0).sum() == guard.plausibility.unseen.n
    assert guard.plausibility.without_solution == (~guard.noise.found).sum() > 0


def test_unseen_pairs_are_counted_by_hand(village: TablePeople) -> None:
    free = TableGuard(village, TableSettings(rules=False))
    everybody = np.vstack([village.known, village.public])[:, :4]
    seen = {(a, b, row[a], row[b]) for row in everybody for a in range(4) for b in range(a)}
    changed = free.noise.noisy[(free.noise.size > 0).ravel()]
    odd = [any((a, b, row[a], row[b]) not in seen for a in range(4) for b in range(a)) for row in changed]
    assert free.plausibility.unseen.value == pytest.approx(np.mean(odd))
    assert free.plausibility.plausible.value == pytest.approx(1 - np.mean(odd))


def test_editing_rules_and_freezing_columns(village: TablePeople, guard: TableGuard) -> None:
    pair = ("club", "chess", "home", "boat")
    gone = guard.found_rules[0].pair
    own = TableGuard(village, TableSettings(frozen=("job",), added=(pair,), removed=(gone,)))
    pairs = {rule.pair for rule in own.rules.rules}
    assert pair in pairs and gone not in pairs
    assert (own.noise.noisy[:, 0] == np.repeat(village.public[:, 0], 3)).all()


def _carried(guard: TableGuard, budget: float) -> Concentration:
    return concentration(guard.people.public, guard.noise, guard.mechanism(budget))


def test_where_the_noise_sits(village: TablePeople, guard: TableGuard) -> None:
    changes = changes_per_entry(village.public, guard.noise, np.full(guard.noise.size.shape, 1 / 3))
    changed = guard.noise.noisy != np.repeat(village.public, 3, axis=0)
    assert changes == pytest.approx(changed.sum(axis=0) / 3)
    carried = _carried(guard, 9.0)
    assert carried.share.sum() == pytest.approx(1) and (np.diff(carried.share) <= 0).all()


def test_where_the_noise_sits_at_a_budget(village: TablePeople, guard: TableGuard) -> None:
    used = guard.mechanism(0.2)
    changes = changes_per_entry(village.public, guard.noise, used)
    assert changes.sum() == pytest.approx((used * guard.noise.size).sum())
    assert not _carried(guard, 0.0).share.size and not _carried(guard, 0.0).carrying(0.5).size


def test_fewest_columns_that_carry_a_share(village: TablePeople, guard: TableGuard) -> None:
    carried = _carried(guard, 9.0)
    for share in (0.1, 0.5, 0.9):
        k = carried.carrying(share).size
        assert carried.share[:k].sum() >= share - 1e-9 and (k == 1 or carried.share[: k - 1].sum() < share)
    assert carried.carrying(1.0).size < carried.n_entries
    nobody = guard.noise_of(village.public[:0])
    assert not concentration(village.public[:0], nobody, np.zeros((0, 3))).carrying(0.5).size


def test_a_card_tells_her_columns_before_and_after(village: TablePeople, guard: TableGuard) -> None:
    card = guard.card(5)
    own = guard.noise.noisy[15:18] != village.public[5]
    assert set(card["column"]) == {name for name, some in zip(village.names, own.any(axis=0), strict=True) if some}
    for value, size in zip(village.values, guard.noise.size[5], strict=True):
        assert (card[value] != "").sum() == size
    assert guard.noise.size[5, guard.noise.predicted[5]] == 0 and card.shape[1] == 2 + 3
    whole = dict(zip(village.names, village.public[5], strict=True))
    for name, cell in zip(card["column"], card["without noise"], strict=True):
        place = village.names.index(name)
        assert cell == guard.columns[place].text(whole[name])


@pytest.mark.parametrize("person", [-1, 200, 0.5, "5", True])
def test_no_such_person(guard: TableGuard, person: int) -> None:
    with pytest.raises(InputError, match=f"one of 0 to 199, got {person!r}"):
        guard.card(person)


def test_targets(village: TablePeople, guard: TableGuard) -> None:
    assert guard.target.tolist() == [1 / 3] * 3
    shares = TableGuard(village, TableSettings(target="train_shares"))
    np.testing.assert_allclose(shares.target, np.bincount(village.known_truth) / 1500)
    given = TableGuard(village, TableSettings(target="given", given=(0.5, 0.5, 0.0)))
    assert given.mechanism(9.0)[0].tolist() == [0.5, 0.5, 0.0]


@pytest.mark.parametrize("m", [2, 20])
def test_the_fewest_and_the_most_values(m: int) -> None:
    village = people(m, n=900, u=12)
    noise = TableGuard(village).noise
    assert noise.size.shape == (12, m)
    everyone = np.arange(12)
    assert noise.found[everyone, noise.predicted].all() and not noise.size[everyone, noise.predicted].any()


def test_one_person_and_a_constant_column(village: TablePeople) -> None:
    known, public = village.known.copy(), village.public[:1].copy()
    known[:, 2] = public[:, 2] = 1.0
    alone = replace(village, known=known, public=public, truth=village.truth[:1], rows=village.rows[:1])
    noise = TableGuard(alone).noise
    assert (noise.noisy[:, 2] == 1.0).all() and noise.found.any()
