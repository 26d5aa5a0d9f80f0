"""Predictions dealt out to other people: what is kept, what is lost."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.adversaries import permuted_by_set, train_adversary
from core.adversaries.permuted import permuted_predictions
from core.errors import InputError
from tests.samples import dataset


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=60), st.integers(0, 2**32 - 1))
def test_counts_within_each_label_are_kept(pairs: list[tuple[int, int]], seed: int) -> None:
    predictions, labels = (np.array(column, dtype=np.uint8) for column in zip(*pairs, strict=True))
    dealt = permuted_predictions(predictions, labels, seed=seed)
    for label in (0, 1):
        assert dealt[labels == label].sum() == predictions[labels == label].sum()
    assert permuted_predictions(predictions, seed=seed).sum() == predictions.sum()


def test_without_labels_only_the_number_is_kept() -> None:
    labels = np.repeat([0, 1], 500).astype(np.uint8)
    dealt = permuted_predictions(labels, seed=1)
    assert dealt.sum() == 500
    assert 180 < dealt[labels == 1].sum() < 320  # 500 would be the label itself
    assert permuted_predictions(labels, labels, seed=1).tolist() == labels.tolist()


def test_the_seed_and_the_name_of_the_records_fix_the_permutation() -> None:
    rng = np.random.default_rng(0)
    predictions, labels = ((rng.random(300) < 0.5).astype(np.uint8) for _ in range(2))
    before = predictions.copy()
    first, again = (permuted_predictions(predictions, labels, seed=5) for _ in range(2))
    assert np.array_equal(first, again)
    assert np.array_equal(predictions, before)  # the argument stays as it was
    assert not np.array_equal(first, permuted_predictions(predictions, labels, seed=6))
    assert not np.array_equal(first, permuted_predictions(predictions, labels, seed=5, records="attacked"))


def test_every_way_to_deal_is_equally_likely() -> None:
    """Two 1s among four people of one label: each of the six placements in a sixth of 3,000 seeds."""
    predictions, labels = np.array([1, 1, 0, 0, 1], dtype=np.uint8), np.array([0, 0, 0, 0, 1], dtype=np.uint8)
    dealt = np.array([permuted_predictions(predictions, labels, seed=seed) for seed in range(3000)])
    assert (dealt[:, 4] == 1).all()
    _, counts = np.unique(dealt[:, :4], axis=0, return_counts=True)
    assert counts.size == 6
    assert ((counts - 500) ** 2 / 500).sum() < 20.5  # chi-square with 5 degrees of freedom, 99.9%


def test_a_prime_learns_nothing_from_permuted_predictions_that_gave_the_attribute_away() -> None:
    people = dataset(2400, seed=4)
    x, y, s = people.features, people.labels, people.sensitive
    learn, new = slice(0, 1200), slice(1200, 2400)

    def reached(kind: str, told_learn: np.ndarray, told_new: np.ndarray) -> float:
        forest = train_adversary(kind, x[learn], y[learn], s[learn], told_learn, seed=1)
        return float(((forest.probability(x[new], y[new], told_new)[:, 1] > 0.5) == s[new]).mean())

    real = reached("predictions", s[learn], s[new])
    control = reached(
        "predictions",
        permuted_predictions(s[learn], y[learn], seed=1, records="attack"),
        permuted_predictions(s[new], y[new], seed=1, records="attacked"),
    )
    alone = reached("features", s[learn], s[new])
    assert real > 0.98
    assert control == pytest.approx(alone, abs=0.03)


def test_nobodys_answer_leaves_its_set_or_its_label() -> None:
    rng = np.random.default_rng(1)
    predictions, labels = ((rng.random(900) < 0.5).astype(np.uint8) for _ in range(2))
    rows = rng.permutation(900)
    sets = {"train": rows[:300], "attack": rows[300:600]}
    dealt = permuted_by_set(predictions, labels, sets, seed=2)
    for inside in sets.values():
        assert not np.array_equal(dealt[inside], predictions[inside])
        for label in (0, 1):
            some = inside[labels[inside] == label]
            assert dealt[some].sum() == predictions[some].sum()
    assert np.array_equal(dealt[rows[600:]], predictions[rows[600:]])
    train = permuted_predictions(predictions[rows[:300]], labels[rows[:300]], seed=2, records="train")
    assert np.array_equal(dealt[rows[:300]], train)
    alone = permuted_by_set(predictions, labels, {"attack": rows[300:600]}, seed=2)
    assert np.array_equal(alone[rows[300:600]], dealt[rows[300:600]])  # another set changes nothing in this one
    everybody = permuted_by_set(predictions, None, {"all": rows}, seed=2)
    assert everybody.sum() == predictions.sum() and (everybody[labels == 1].sum() != predictions[labels == 1].sum())


def test_sets_that_overlap_are_refused() -> None:
    with pytest.raises(InputError, match="disjoint, got 4 rows"):
        permuted_by_set([0, 1, 1], None, {"a": np.array([0, 1]), "b": np.array([1, 2])}, seed=0)
    assert permuted_by_set([0, 1, 1], None, {}, seed=0).tolist() == [0, 1, 1]


def test_bad_arguments_are_told() -> None:
    with pytest.raises(InputError, match="predictions must hold only 0 and 1"):
        permuted_predictions([0, 2], seed=0)
    with pytest.raises(InputError, match="same length"):
        permuted_predictions([0, 1], [1], seed=0)
    with pytest.raises(InputError, match="seed must be"):
        permuted_predictions([0, 1], seed=-1)
