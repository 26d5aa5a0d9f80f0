"""The paper's adversaries, calibration, and the control with predictions dealt out to others."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import issparse

from core.adversaries import (
    fit_platt_scale,
    known_columns,
    permuted_by_set,
    permuted_predictions,
    train_adversary,
)
from core.adversaries.imputation import Design, log_odds, normalised
from core.datasets import AuditDataset
from tests.samples import dataset


@pytest.fixture(scope="module")
def people() -> AuditDataset:
    return dataset(2400, seed=4)


def _halves(people: AuditDataset) -> tuple[slice, slice]:
    return slice(0, people.n // 2), slice(people.n // 2, people.n)


@pytest.mark.parametrize("k", [2, 3])
def test_train_adversary_beats_the_majority_on_people_not_seen_and_is_calibrated(people: AuditDataset, k: int):
    learn, new = _halves(people)
    x, y = people.features, people.labels
    s = (people.sensitive + (k == 3) * (x[:, 0] > 1.6)).astype(np.uint8)
    shares = np.bincount(s[new]) / s[new].size
    columns = known_columns(x, y)
    raw = train_adversary(columns[learn], s[learn], seed=1).predict_proba(columns[new])
    scaled = fit_platt_scale(raw, s[new])(raw)
    assert scaled.sum(axis=1) == pytest.approx(1)
    assert scaled.mean(axis=0) == pytest.approx(shares, abs=1e-3 if k == 2 else 5e-3)
    guess = (raw if k == 2 else scaled).argmax(axis=1)
    assert (guess == s[new]).mean() > shares.max() + 0.05
    if k == 2:  # calibration keeps the order
        assert (np.diff(scaled[np.argsort(raw[:, 1], kind="stable"), 1]) >= 0).all()


def test_every_way_to_deal_is_equally_likely():
    """Two 1s among four people of one label: each of the six placements in a sixth of 3,000 seeds."""
    predictions, labels = np.array([1, 1, 0, 0, 1], dtype=np.uint8), np.array([0, 0, 0, 0, 1], dtype=np.uint8)
    dealt = np.array([permuted_predictions(predictions, labels, seed=seed) for seed in range(3000)])
    assert (dealt[:, 4] == 1).all()
    _, counts = np.unique(dealt[:, :4], axis=0, return_counts=True)
    assert counts.size == 6
    assert ((counts - 500) ** 2 / 500).sum() < 20.5  # chi-square with 5 degrees of freedom, 99.9%


def test_a_prime_learns_nothing_from_permuted_predictions_that_gave_the_attribute_away(people: AuditDataset):
    x, y, s = people.features, people.labels, people.sensitive
    learn, new = _halves(people)

    def posterior(predictions: np.ndarray | None) -> np.ndarray:
        columns = known_columns(x, y, predictions)
        return train_adversary(columns[learn], s[learn], seed=1).predict_proba(columns[new])

    dealt = np.concatenate([permuted_predictions(s[half], y[half], seed=1, records=str(half)) for half in (learn, new)])
    posteriors = [posterior(s), posterior(dealt), posterior(None)]
    real, control, alone = (float(((p[:, 1] > 0.5) == s[new]).mean()) for p in posteriors)
    assert real > 0.98
    assert control == pytest.approx(alone, abs=0.03)


def test_permuted_by_set_deals_within_each_set_and_label():
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
    alone = permuted_by_set(predictions, labels, {"attack": rows[300:600]}, seed=2)
    assert np.array_equal(alone[rows[300:600]], dealt[rows[300:600]])  # another set changes nothing in this one


def test_permuted_predictions_differ_by_seed_and_set():
    rng = np.random.default_rng(1)
    predictions, labels = ((rng.random(300) < 0.5).astype(np.uint8) for _ in range(2))
    settings = ({"seed": 2, "records": "train"}, {"seed": 3, "records": "train"}, {"seed": 2, "records": "attacked"})
    assert len({permuted_predictions(predictions, labels, **dealing).tobytes() for dealing in settings}) == 3


@pytest.mark.parametrize(("k", "is_sparse"), [(3, False), (45, True)])
def test_design_has_a_column_a_category_and_is_sparse_where_they_are_many(k: int, is_sparse: bool):
    category, number = np.arange(90) % k, np.arange(90.0)
    columns = np.column_stack([category, number])
    design = Design.of(columns, np.array([True, False]))(columns)
    assert issparse(design) == is_sparse
    dense = design.toarray() if is_sparse else design
    assert dense[:, 0] == pytest.approx((number - 44.5) / number.std())
    assert (dense[:, 1:] == (category[:, None] == np.arange(k))).all()


def test_log_odds_are_against_group_0_and_normalised_takes_them_back():
    probability = np.random.default_rng(0).dirichlet([1, 2, 3], size=20)
    against_first = log_odds(np.log(probability))
    assert against_first == pytest.approx(np.log(probability[:, 1:] / probability[:, :1]))
    assert normalised(np.column_stack([np.zeros(20), against_first])) == pytest.approx(probability)
