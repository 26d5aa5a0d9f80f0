"""The paper's adversaries and their tuning, calibration, permuted predictions, and sets that differ without a model."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import issparse
from scipy.stats import binom
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from core.adversaries import (
    fit_platt_scale,
    known_columns,
    permuted_by_set,
    permuted_predictions,
    train_adversary,
    tune_forest,
)
from core.adversaries.adversary import PINNED, forest_parameters
from core.adversaries.imputation import Design, log_odds, normalised
from core.adversaries.released_outputs import drift_caveat, two_sample_test
from core.base.caveats import CaveatKind
from core.base.errors import Cancelled, InputError
from core.base.validation import child_seed
from core.datasets import build_dataset
from core.datasets.splits import split
from tests import samples
from tests.samples import dataset


@pytest.fixture(scope="module")
def people():
    return dataset(2400, seed=4)


def _halves(people):
    return slice(0, people.n // 2), slice(people.n // 2, people.n)


@pytest.mark.parametrize("k", [2, 3])
def test_train_adversary_beats_the_majority_on_people_not_seen_and_is_calibrated(people, k):
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


def test_a_prime_learns_nothing_from_permuted_predictions_that_gave_the_attribute_away(people):
    x, y, s = people.features, people.labels, people.sensitive
    learn, new = _halves(people)

    def posterior(predictions):
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
    alone, turned = (permuted_by_set(predictions, labels, {key: sets["attack"]}, seed=2) for key in ("attack", "train"))
    assert np.array_equal(alone[sets["attack"]], dealt[sets["attack"]])  # another set changes nothing in this one
    assert not np.array_equal(alone, turned)


@pytest.mark.parametrize(("k", "is_sparse"), [(3, False), (45, True)])
def test_design_has_a_column_a_category_and_is_sparse_where_they_are_many(k, is_sparse):
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


def drawn(seed, shift=0.0):
    """Return columns of 400 people, one of them skewed and one of categories, and who is of the first sample."""
    rng = np.random.default_rng(seed)
    inside = (np.arange(400) < 240).astype(np.uint8)
    columns = np.column_stack([rng.exponential(size=400), rng.integers(0, 4, 400), rng.random(400) < 0.2])
    columns[:, 0] += shift * inside
    return columns, inside


@pytest.mark.long
def test_two_hundred_tables_without_drift_are_within_the_level():
    p_values = np.array([two_sample_test(*drawn(seed), seed=seed)[1] for seed in range(200)])
    for level in (0.01, 0.05, 0.2):
        assert np.count_nonzero(p_values < level) <= binom.ppf(0.999, p_values.size, level)


@pytest.mark.parametrize("seed", range(5))
def test_planted_drift_has_a_small_p_value(seed):
    auc, p_value = two_sample_test(*drawn(seed, shift=1.0), seed=seed)
    assert auc > 0.6
    assert p_value < 0.01


@pytest.mark.parametrize(("shift", "kind"), [(1.0, CaveatKind.SETS_DIFFER), (0.0, CaveatKind.NO_DRIFT)])
def test_drift_caveat_is_of_named_sets_alone(shift, kind):
    frame = samples.frame(1000)
    frame["part"] = np.where(np.arange(1000) % 2 == 0, "train", "test")
    frame.loc[frame["part"] == "train", "skill"] += shift
    table = replace(samples.table(), frame=frame)
    datasets = [
        build_dataset(table, replace(samples.ROLES, **roles)) for roles in ({"sets": "part"}, {"excluded": ("part",)})
    ]
    of_sets, of_rows = (drift_caveat(dataset, split(dataset, seed=0), seed=0) for dataset in datasets)
    assert of_sets.kind is kind
    assert of_rows is None


@pytest.fixture(scope="module")
def few_people():
    return dataset(400, leak=1.2, seed=4)


def _search(people, **settings):
    return tune_forest("features", people.features, people.labels, people.sensitive, people.labels, seed=1, **settings)


@pytest.fixture(scope="module")
def tuned_forest(few_people):
    return _search(few_people, evaluations=12)  # ten of them drawn at random, as the sampler starts


def test_the_search_starts_from_the_pinned_forest_and_keeps_the_best(tuned_forest):
    parameters, scores = zip(*tuned_forest.trials, strict=True)
    scores = [score.value for score in scores]
    assert len(scores) == 12
    assert parameters[0] == PINNED == forest_parameters()
    assert tuned_forest.parameters == parameters[int(np.argmax(scores))]
    table = tuned_forest.to_frame()
    assert table.loc[table["chosen"], "score"].tolist() == [max(scores)]


@pytest.mark.parametrize("pinned", [True, False])
def test_accuracies_are_of_forests_trained_on_the_search_records(few_people, tuned_forest, pinned):
    records, truth = np.column_stack([few_people.features, few_people.labels]), few_people.sensitive
    drawn_with = child_seed(1, "tuning held-out records")
    search, held_out = train_test_split(np.arange(truth.size), test_size=0.2, stratify=truth, random_state=drawn_with)
    parameters, estimate = tuned_forest.parameters, tuned_forest.accuracy
    if pinned:
        parameters, estimate = PINNED, tuned_forest.pinned_accuracy
    grown_with = child_seed(1, "tuning forests")
    forest = RandomForestClassifier(**parameters, class_weight="balanced", random_state=grown_with)
    right = forest.fit(records[search], truth[search]).predict(records[held_out]) == truth[held_out]
    assert estimate.value == pytest.approx(right.mean())
    assert estimate.n == held_out.size == few_people.n // 5


def test_tune_forest_can_be_stopped_before_each_evaluation(few_people):
    progress = []

    def report(done, total):
        progress.append((done, total))
        if done == 1:
            raise Cancelled("Stopped.")

    with pytest.raises(Cancelled):
        _search(few_people, evaluations=2, report=report)
    assert progress == [(0, 2), (1, 2)]


def test_tune_forest_refuses_too_small_a_group(few_people):
    x, y = few_people.features, few_people.labels
    rare = np.where(np.arange(few_people.n) < 9, 1, 0)
    with pytest.raises(InputError, match="at least 10 attack records of each group, got 9 of group 1"):
        tune_forest("features", x, y, rare)
    rare[9] = 1
    assert tune_forest("features", x, y, rare, evaluations=1).accuracy.n == few_people.n // 5


def test_train_adversary_takes_the_parameters(few_people):
    x, s = few_people.features, few_people.sensitive
    shallow = train_adversary(x, s, seed=1, parameters={"max_depth": 1})
    assert (shallow.max_depth, shallow.n_estimators, shallow.min_samples_split) == (1, 100, 10)
    default, pinned = (train_adversary(x, s, seed=1, parameters=p) for p in (None, PINNED))
    assert np.array_equal(default.predict_proba(x), pinned.predict_proba(x))
