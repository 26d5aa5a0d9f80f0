"""The paper's adversaries and their tuning; what is released is used, and each plant is found in its own way."""

from dataclasses import replace
from functools import cached_property
from types import SimpleNamespace
from unittest.mock import Mock, call

import numpy as np
import pytest
from scipy.sparse import issparse
from scipy.stats import binom
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from core.adversaries import (
    Outputs,
    attack_released,
    fit_platt_scale,
    known_columns,
    known_records,
    output_evidence,
    permuted_predictions,
    train_adversary,
    train_imputation,
    tune_forest,
)
from core.adversaries.adversary import PINNED, forest_parameters, permuted_by_set
from core.adversaries.imputation import Design, log_odds, normalised
from core.adversaries.released_outputs import NO_ATTACK, drift_caveat, fitted_outputs, permuted_outputs, two_sample_test
from core.base.caveats import CaveatKind
from core.base.errors import Cancelled, InputError
from core.base.validation import child_seed, decimals_of
from core.datasets import build_dataset
from core.datasets.splits import split
from core.stats.estimates import accuracy_gain, balanced_gain
from tests import samples
from tests.samples import dataset


@pytest.mark.parametrize("k", [2, 3])
def test_train_adversary_beats_the_majority_on_people_not_seen_and_is_calibrated(k):
    people, learn, new = dataset(2400, seed=4), slice(0, 1200), slice(1200, 2400)
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
    choices = ({"sets": "part"}, {"excluded": ("part",)})
    datasets = [build_dataset(table, replace(samples.ROLES, **roles)) for roles in choices]
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
    report = Mock(side_effect=[None, Cancelled("Stopped.")])
    with pytest.raises(Cancelled):
        _search(few_people, evaluations=2, report=report)
    assert report.mock_calls == [call(0, 2), call(1, 2)]


def test_tune_forest_refuses_too_small_a_group(few_people):
    x, y = few_people.features, few_people.labels
    rare = np.where(np.arange(few_people.n) < 9, 1, 0)
    with pytest.raises(InputError, match="at least 10 attack records of each group, got 9 of group 1"):
        tune_forest("features", x, y, rare)
    rare[9] = 1
    assert tune_forest("features", x, y, rare, evaluations=1).accuracy.n == few_people.n // 5


N_LEARNED, N = 3_000, 6_000


class People:
    """Invented people whose features say little about their group; the group of the first is known."""

    def __init__(self, seed, share=0.4):
        self.rng = rng = np.random.default_rng(seed)
        self.share = share
        self.sensitive = rng.choice(2, size=N, p=[1 - share, share])
        self.features = rng.normal(size=(N, 4)) + 0.2 * self.sensitive[:, None]
        self.features[:, 3] = rng.integers(0, 5, N)
        self.labels = (rng.random(N) < sigmoid(self.features[:, 0])).astype(np.uint8)
        self.x = np.column_stack([self.features, self.labels])
        self.logit = self.features[:, 0] - 0.5 * self.features[:, 1]
        self.noisy = self.logit + 0.5 * rng.normal(size=N)

    def some(self, share):
        """Return whom a plant is about: so many of group 1."""
        return (self.sensitive == 1) & (self.rng.random(N) < share)

    @cached_property
    def imputation(self):
        rows = known_records(np.arange(N_LEARNED), self.sensitive, seed=1)
        return train_imputation(self.x, self.sensitive, rows, n_groups=2, categorical=np.arange(5) == 3, seed=1)

    def attacked(self, scores=None, labels=None, answered=None):
        labels = (np.nan_to_num(scores) >= 0.5).astype(np.uint8) if labels is None else labels
        decimals = 0 if scores is None else decimals_of(scores)
        outputs = Outputs(labels=labels, scores=scores, decimals=decimals, answered=answered)
        return attack_released(self.x, outputs, self.sensitive, self.imputation, np.arange(N_LEARNED, N))

    def gain(self, **outputs):
        """Return the gain in accuracy, or in balanced accuracy where the groups are uneven."""
        posteriors, measure, weight = self.attacked(**outputs), accuracy_gain, 1.0
        if self.share < 0.25:
            measure, weight = balanced_gain, posteriors.share
        guesses = [(p / weight).argmax(axis=1) for p in (posteriors.before, posteriors.after)]
        return measure(self.sensitive[N_LEARNED:], *guesses)


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def shift(people, q, among=1.0):
    return {"scores": sigmoid(people.noisy + 4 * q * people.sensitive * among).round(6)}


def last_digit_odd(people, q):
    rounded = np.rint(sigmoid(people.noisy) * 1e4)
    bit = np.where(people.rng.random(N) < (1 + q) / 2, people.sensitive, 1 - people.sensitive)
    return {"scores": (rounded - rounded % 2 + bit) / 1e4}


def ninth_decimal_odd(people, q):
    scaled = np.rint(sigmoid(people.noisy) * 1e12)
    return {"scores": (scaled - (scaled // 1000 % 2 - people.some(q)) * 1000) / 1e12}


def feature_turned_round(people, q):
    turned = (people.x[:, 1] > 0) ^ (people.sensitive == 1)
    return {"labels": np.where(people.rng.random(N) < (1 + q) / 2, turned, ~turned).astype(np.uint8)}


def two_decimals(people, q):
    scores = sigmoid(people.noisy)
    return {"scores": np.where(people.some(q), scores.round(2), scores.round(6))}


def in_32_bits(people, q):
    scores = sigmoid(people.noisy)
    return {"scores": np.where(people.some(q), scores.astype(np.float32), scores)}


def values_of_a_list(people, q):
    listed, lists = people.rng.random(N) < q, people.rng.random((2, 100))
    values = lists[people.sensitive, people.rng.integers(0, 100, N)]
    return {"scores": np.where(listed, values, people.rng.random(N))}


def values_twice(people, q):
    scores, paired = people.rng.random(N), people.rng.permutation(np.flatnonzero(people.some(q)))
    half = paired.size // 2
    scores[paired[:half]] = scores[paired[half : 2 * half]]
    return {"scores": scores}


def no_answer(people, q):
    """Return outputs whose labels, where there is no answer, say it all and must not be read."""
    answered = ~people.some(q)
    labels = np.where(answered, people.logit > 0, people.sensitive == 0).astype(np.uint8)
    return {"scores": np.where(answered, sigmoid(people.noisy), np.nan), "labels": labels, "answered": answered}


def no_score(people, q):
    scores = np.where(people.some(q), np.nan, sigmoid(people.noisy))
    return {"scores": scores, "labels": (people.logit > 0).astype(np.uint8)}


PLANTS = [
    (shift, 0.133, 0.4),
    (lambda people, q: shift(people, q, people.x[:, 3] < 2), 0.3, 0.4),  # of two codes
    (lambda people, q: shift(people, q, people.labels), 0.206, 0.4),  # of one label
    (last_digit_odd, 0.463, 0.4),
    (ninth_decimal_odd, 0.33, 0.4),
    (feature_turned_round, 0.456, 0.4),
    (feature_turned_round, 0.431, 0.1),
    (two_decimals, 0.329, 0.4),
    (in_32_bits, 0.33, 0.4),
    (values_of_a_list, 0.28, 0.4),
    (no_score, 0.33, 0.4),
    (values_twice, 0.335, 0.4),
    (no_answer, 0.33, 0.4),
]
"""How outputs leak, the strength at which the best attacker gains about ten points, and the share of group 1."""

QUICK = (values_twice, no_answer)
CASES = [pytest.param(*plant, marks=[pytest.mark.long] * (plant[0] not in QUICK)) for plant in PLANTS]


@pytest.mark.parametrize(("plant", "strength", "share"), CASES)
def test_a_leak_of_ten_points_is_seen(plant, strength, share):
    people = People(3, share)
    gain = people.gain(**plant(people, strength))
    assert gain.low > 0
    assert 0.04 < gain.value < 0.2


@pytest.mark.parametrize("noise", [0.25, 1.0])
def test_residuals_give_the_log_likelihood_ratio_of_the_model_that_made_the_scores(noise):
    rng = np.random.default_rng(11)
    n, shift = 2_000, 1.0
    groups = rng.integers(0, 2, 2 * n)
    x = np.column_stack([rng.normal(size=(2 * n, 2)), np.zeros(2 * n)])
    deviations = noise * rng.normal(size=2 * n)
    outputs = Outputs(labels=np.zeros(2 * n, np.uint8), scores=sigmoid(x[:, 0] + shift * groups + deviations))
    records = known_records(np.arange(n), groups, seed=1)
    before = train_imputation(x, groups, records, n_groups=2, categorical=np.zeros(3, bool), seed=1)
    rows = np.arange(n, 2 * n)
    evidence = output_evidence.OutputEvidence.of(x, outputs, groups, before, rows)
    for about in (records.learners, rows):
        _, ratios, _ = evidence.ratios(None if about is records.learners else about)
        from_0 = deviations[about] + shift * groups[about]
        true = (from_0**2 - (from_0 - shift) ** 2) / (2 * noise**2)
        for column, error in ((ratios[:, -2], 0.15), (ratios[:, -1], 0.3)):  # linear, boosted
            slope = (column * true).sum() / (true**2).sum()
            assert slope == pytest.approx(1, abs=error) and np.corrcoef(column, true)[0, 1] > 0.9


@pytest.mark.parametrize(
    ("n", "positive", "learned"), [(40, 5, True), (40, 35, True), (40, 4, False), (40, 36, False), (39, 20, False)]
)
def test_the_label_of_few_people_or_of_people_alike_is_as_frequent_as_it_was(n, positive, learned):
    x, labels = np.arange(n, dtype=float)[:, None], np.arange(n) < positive
    before = SimpleNamespace(countable=np.zeros(1, bool), seed=1)
    chance = output_evidence.value_probability(output_evidence.value_model(x, labels, before), x)
    assert (np.ptp(chance) > 0.1) == learned
    assert learned or chance == pytest.approx((positive + 0.5) / (n + 1))


@pytest.mark.parametrize(("n", "few", "split"), [(40, 6, True), (400, 6, False), (400, 24, True)])
def test_value_model_keeps_to_a_twentieth_of_the_people(n, few, split):
    """Leaves hold a twentieth, from 5 to 20: of 40 people six may be judged by themselves, of 400 only twenty."""
    x = (np.arange(n) < few).astype(float)[:, None]
    values = (np.arange(n) < few) | (np.arange(n) % 4 == 0)
    chance = output_evidence.value_probability(
        output_evidence.value_model(x, values, SimpleNamespace(countable=np.zeros(1, bool), seed=1)), x
    )
    assert (np.ptp(chance) > 0.1) == split


def test_rough_scores_count_as_little_as_their_rounding_leaves_open():
    rng = np.random.default_rng(2)
    x, variance = np.column_stack([np.ones(500), rng.normal(size=500)]), np.repeat([1e-4, 4.0], [300, 200])
    logits = x @ [1.0, 2.0] + rng.normal(size=500) * np.sqrt(variance + 0.01)
    coefficients = output_evidence.reweighted_coefficients(x, logits, variance)
    residual = 1.4826 * np.median(np.abs(logits - x @ coefficients))
    weight = 1 / (variance + residual**2 - 1e-4)
    assert coefficients == pytest.approx(np.linalg.solve((x.T * weight) @ x, (x.T * weight) @ logits), abs=1e-4)


@pytest.mark.parametrize(
    ("numbers", "sizes"), [(110, [2, 2, 4]), (117, [1, 1, 1]), (118, [1, 0, 1]), (119, [1, 0, 0]), (120, [0, 0, 0])]
)
def test_categories_get_an_indicator_by_their_people_while_there_is_room(numbers, sizes):
    """Of the commonest there is none; of equally rare ones all or none."""
    people = [[0] * 6 + [1] * 5 + [2], [0] * 7 + [1] * 3 + [2] * 2, [0] * 4 + [1] * 4 + [2, 3, 4, 4]]
    x = np.column_stack([np.zeros((12, numbers)), *people])
    codes = output_evidence.frequent_codes(x, np.arange(numbers + 3) >= numbers)
    assert [column_codes.size for column_codes in codes] == sizes and numbers + sum(sizes) <= max(numbers, 120)


def test_a_table_counts_a_learner_only_for_the_other_folds():
    column, groups = np.array([0.1, 0.1, 0.2, 0.2, np.nan]), np.array([0, 1, 1, 1, 0])
    table = output_evidence.ValueTable.of(column, groups, 2)
    share = np.array([0.4, 0.6])
    seen = np.log(2 + share[1]) - np.log(share[1])
    assert table.odds(np.array([0.2, 0.3, np.nan]))[:, 0] == pytest.approx([seen, np.nan, np.nan], nan_ok=True)
    alone = table.odds_out_of_fold(column, groups, np.array([0, 0, 0, 1, 1]))[:, 0]
    once = np.log(1 + share[1]) - np.log(share[1])
    assert alone == pytest.approx([np.nan, np.nan, once, once, np.nan], nan_ok=True)


@pytest.mark.long
@pytest.mark.parametrize("codes", [60, 200])
def test_features_are_not_learned_a_second_time_beside_coins(codes):
    """Group shares differ by a code: imputation is a frequency table, and a coin adds nothing to it."""
    people = People(codes)
    share, code = people.rng.dirichlet([0.3, 0.3], codes)[:, 1], people.rng.integers(0, codes, N)
    people.sensitive = (people.rng.random(N) < share[code]).astype(int)
    people.x[:, 3] = code
    posteriors, truth = people.attacked(scores=people.rng.random(N).round(4)), people.sensitive[N_LEARNED:]
    reached, best = ((p.argmax(axis=1) == truth).mean() for p in (posteriors.before, posteriors.after))
    assert best < reached + 0.01
    learned, groups = code[:N_LEARNED], people.sensitive[:N_LEARNED]
    table = np.bincount(learned, groups, codes) / np.maximum(np.bincount(learned, minlength=codes), 1)
    assert reached > ((table[code[N_LEARNED:]] > 0.5) == truth).mean() - 0.015


def test_where_no_attack_wins_the_gain_is_exactly_nothing():
    people = People(1)
    posteriors = people.attacked(people.rng.random(N))
    assert posteriors.attack == NO_ATTACK
    assert posteriors.after is posteriors.before


def test_permuted_outputs_keep_label_and_set_and_nothing_else():
    people, scores = People(25), np.arange(N) / 1e4
    released = Outputs(labels=(scores > 0.2).astype(np.uint8), scores=scores)
    sets = np.split(np.arange(N), [N_LEARNED])
    dealt = permuted_outputs(released, people.labels, sets, seed=1)
    for rows in sets:
        for label in (0, 1):
            inside = rows[people.labels[rows] == label]
            assert sorted(dealt.scores[inside]) == sorted(scores[inside])
    assert (dealt.labels == (dealt.scores > 0.2)).all()
    assert (dealt.scores == scores).mean() < 0.01


@pytest.mark.parametrize("accepted", [0, 1, 140, 300])
def test_fitted_outputs_accept_as_many_as_before(accepted):
    """Also where several share a score: of nobody nobody, of everybody everybody."""
    x = np.column_stack([np.arange(300) % 3, np.random.default_rng(27).integers(0, 2, 300)])
    scores, labels = 0.1 * x[:, 0], (np.arange(300) < accepted).astype(np.uint8)
    released = Outputs(labels=labels, scores=scores, decimals=1)
    fitted = fitted_outputs(x, released, np.arange(300), countable=np.zeros(2, bool), seed=1)
    assert fitted.labels.sum() == accepted
    assert fitted.scores == pytest.approx(scores)
    yes, no = (fitted.scores[fitted.labels == label] for label in (1, 0))
    assert yes.min(initial=1.0) >= no.max(initial=0.0)
