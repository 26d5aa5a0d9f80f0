"""Everything released is used: each plant gives the attribute away in its own way; without one nothing is gained."""

from functools import cached_property
from types import SimpleNamespace

import numpy as np
import pytest

from core.adversaries import Outputs, attack_released, known_records, train_imputation
from core.adversaries.output_evidence import (
    OutputEvidence,
    ValueTable,
    frequent_codes,
    reweighted_coefficients,
    value_model,
    value_probability,
)
from core.adversaries.released_outputs import NO_ATTACK, fitted_outputs, permuted_outputs
from core.base.validation import decimals_of
from core.stats.estimates import accuracy_gain, balanced_gain

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
        categorical = np.arange(5) == 3
        return train_imputation(self.x, self.sensitive, rows, n_groups=2, categorical=categorical, seed=1)

    def attacked(self, scores=None, labels=None, answered=None):
        """Return what the attacker believes after these outputs."""
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


def shift_of_two_codes(people, q):
    return shift(people, q, people.x[:, 3] < 2)


def shift_of_one_label(people, q):
    return shift(people, q, people.labels)


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
    (shift_of_two_codes, 0.3, 0.4),
    (shift_of_one_label, 0.206, 0.4),
    (last_digit_odd, 0.463, 0.4),
    (ninth_decimal_odd, 0.33, 0.4),
    (feature_turned_round, 0.456, 0.4),
    (feature_turned_round, 0.431, 0.1),
    (two_decimals, 0.329, 0.4),
    (in_32_bits, 0.33, 0.4),
    (values_of_a_list, 0.28, 0.4),
    (no_score, 0.33, 0.4),
]
"""How outputs leak, the strength at which the best attacker gains about ten points, and the share of group 1."""


@pytest.mark.parametrize(
    ("plant", "strength", "share"),
    [
        *(pytest.param(*plant, marks=pytest.mark.long) for plant in PLANTS),
        (values_twice, 0.335, 0.4),
        (no_answer, 0.33, 0.4),
    ],
)
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
    evidence = OutputEvidence.of(x, outputs, groups, before, rows)
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
    chance = value_probability(value_model(x, labels, before), x)
    assert (np.ptp(chance) > 0.1) == learned
    assert learned or chance == pytest.approx((positive + 0.5) / (n + 1))


@pytest.mark.parametrize(("n", "few", "split"), [(40, 6, True), (400, 6, False), (400, 24, True)])
def test_value_model_keeps_to_a_twentieth_of_the_people(n, few, split):
    """Leaves hold a twentieth, from 5 to 20: of 40 people six may be judged by themselves, of 400 only twenty."""
    x = (np.arange(n) < few).astype(float)[:, None]
    values = (np.arange(n) < few) | (np.arange(n) % 4 == 0)
    chance = value_probability(value_model(x, values, SimpleNamespace(countable=np.zeros(1, bool), seed=1)), x)
    assert (np.ptp(chance) > 0.1) == split


def test_rough_scores_count_as_little_as_their_rounding_leaves_open():
    rng = np.random.default_rng(2)
    x, variance = np.column_stack([np.ones(500), rng.normal(size=500)]), np.repeat([1e-4, 4.0], [300, 200])
    logits = x @ [1.0, 2.0] + rng.normal(size=500) * np.sqrt(variance + 0.01)
    coefficients = reweighted_coefficients(x, logits, variance)
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
    codes = frequent_codes(x, np.arange(numbers + 3) >= numbers)
    assert [column_codes.size for column_codes in codes] == sizes and numbers + sum(sizes) <= max(numbers, 120)


def test_decimals_are_the_fewest_that_write_every_score():
    assert decimals_of(np.array([0.25, 0.5])) == 2
    assert decimals_of(np.array([0.0, 1.0, np.nan])) == 0
    assert decimals_of(np.array([1 / 3])) == 15


def test_a_table_counts_a_learner_only_for_the_other_folds():
    column, groups = np.array([0.1, 0.1, 0.2, 0.2, np.nan]), np.array([0, 1, 1, 1, 0])
    table = ValueTable.of(column, groups, 2)
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
