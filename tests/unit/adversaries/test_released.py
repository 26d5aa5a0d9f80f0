"""Everything released is used: each plant gives the attribute away in another way; imputation sees none of it.

Labels, scores and last digits that follow the group are the plants of the study's own test.
"""

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

ATTACK_SIZE, ATTACKED_SIZE = 2_000, 1_500


class People:
    """Invented people whose features say nearly nothing about their group."""

    def __init__(self, seed, share=0.4, n_groups=2):
        rng = np.random.default_rng(seed)
        n = ATTACK_SIZE + ATTACKED_SIZE
        shares = [1 - share, share] if n_groups == 2 else np.full(n_groups, 1 / n_groups)
        self.sensitive = rng.choice(n_groups, size=n, p=shares)
        self.features = rng.normal(size=(n, 4)) + 0.2 * (self.sensitive == 1)[:, None]
        self.features[:, 3] = rng.integers(0, 5, n)
        self.labels = (rng.random(n) < 1 / (1 + np.exp(-self.features[:, 0]))).astype(np.uint8)
        self.logit = self.features[:, 0] - 0.5 * self.features[:, 1] + 0.3 * (self.features[:, 3] == 2)
        self.rng, self.n_groups = rng, n_groups

    @property
    def x(self):
        return np.column_stack([self.features, self.labels])

    @property
    def imputation(self):
        rows = known_records(np.arange(ATTACK_SIZE), self.sensitive, seed=1)
        codes = np.array([False, False, False, True, False])
        return train_imputation(self.x, self.sensitive, rows, n_groups=self.n_groups, categorical=codes, seed=1)

    def attack_outcome(self, scores=None, labels=None, answered=None):
        labels = (scores >= 0.5).astype(np.uint8) if labels is None else labels
        decimals = 0 if scores is None else decimals_of(scores)
        outputs = Outputs(labels=labels, scores=scores, decimals=decimals, answered=answered)
        posteriors = attack_released(
            self.x, outputs, self.sensitive, self.imputation, np.arange(ATTACK_SIZE, ATTACK_SIZE + ATTACKED_SIZE)
        )
        truth = self.sensitive[ATTACK_SIZE:]

        def accuracy(p):
            return float((p.argmax(axis=1) == truth).mean())

        def balanced(p):
            guess = (p / posteriors.share).argmax(axis=1)
            return float(np.mean([(guess[truth == g] == g).mean() for g in range(self.n_groups)]))

        return (
            (accuracy(posteriors.before), balanced(posteriors.before)),
            (accuracy(posteriors.after), balanced(posteriors.after)),
            posteriors,
        )


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def rounds_one_group_more(people):
    return np.where(people.sensitive == 1, np.round(sigmoid(people.logit), 2), np.round(sigmoid(people.logit), 4))


def shifts_values_by_group(people):
    return np.round(sigmoid(people.logit), 1) * 0.9 + 0.003 * people.sensitive


def uses_it_in_a_curve(people):
    bend = np.abs(people.features[:, 1]) + 0.5 * people.features[:, 0] ** 2
    return sigmoid(bend + 1.5 * people.sensitive)


def writes_one_group_in_32_bits(people):
    score = sigmoid(people.logit)
    return np.where(people.sensitive == 1, score.astype(np.float32), score)


def marks_the_ninth_decimal(people):
    scaled = np.rint(sigmoid(people.logit) * 1e12)
    return (scaled - (scaled // 1000 % 2 - people.sensitive) * 1000) / 1e12


@pytest.mark.long
@pytest.mark.parametrize(
    ("scores", "least"),
    [
        (writes_one_group_in_32_bits, 0.97),
        (marks_the_ninth_decimal, 0.97),
        (rounds_one_group_more, 0.97),
        (shifts_values_by_group, 0.97),
        (uses_it_in_a_curve, 0.95),
    ],
)
def test_scores_that_tell_the_group_are_read_whatever_way_they_tell_it(scores, least):
    people = People(3)
    before, after, posteriors = people.attack_outcome(scores(people))
    assert before[0] < 0.68
    assert posteriors.attack in ("values", "regression", "boosting", "mean")
    assert after[0] > least and after[1] > least


@pytest.mark.long
def test_of_several_groups_each_is_read():
    people = People(5, n_groups=3)
    before, after, _ = people.attack_outcome(np.round(sigmoid(people.logit + 0.4 * people.sensitive), 4))
    assert before[1] < 0.5 and after[1] > 0.85


@pytest.mark.long
@pytest.mark.parametrize("decimals", [15, 12, 1, 0])
def test_scores_of_features_alone_gain_nothing(decimals):
    people = People(6)
    scores = np.round(0.98 * sigmoid(people.logit), decimals)
    before, after, _ = people.attack_outcome(scores)
    assert abs(after[0] - before[0]) < 0.01 and abs(after[1] - before[1]) < 0.015


@pytest.mark.long
def test_a_withheld_score_is_something_released():
    people = People(7)
    scores = sigmoid(people.logit)
    scores[(people.rng.random(scores.size) < 0.6) & (people.sensitive == 1)] = np.nan
    before, after, _ = people.attack_outcome(scores, labels=(people.logit > 0).astype(np.uint8))
    assert after[0] > before[0] + 0.15


@pytest.mark.parametrize("scored", [0, 10])
def test_scores_that_hardly_any_known_person_has_are_no_obstacle(scored):
    people = People(8)
    scores = sigmoid(people.logit)
    scores[scored:ATTACK_SIZE] = np.nan
    before, after, _ = people.attack_outcome(scores, labels=(people.logit > 0).astype(np.uint8))
    assert abs(after[0] - before[0]) < 0.01


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
        ratios = evidence.columns(None if about is records.learners else about).ratios
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


def test_values_that_hardly_repeat_are_looked_up():
    """Of every ten people one has a value of the group's list, all others one that nobody else has."""
    people = People(21)
    scores = people.rng.random(ATTACK_SIZE + ATTACKED_SIZE)
    listed = people.rng.random(scores.size) < 0.1
    lists = people.rng.random((2, 30))
    scores[listed] = lists[people.sensitive, people.rng.integers(0, 30, scores.size)][listed]
    assert np.unique(scores[:ATTACK_SIZE]).size > 0.9 * ATTACK_SIZE
    before, after, _ = people.attack_outcome(scores)
    assert after[0] > before[0] + 0.015


def test_that_a_value_stands_twice_is_something_released():
    people = People(22)
    scores = people.rng.random(ATTACK_SIZE + ATTACKED_SIZE)
    ones = people.rng.permutation(np.flatnonzero(people.sensitive == 1))
    half = ones.size // 2
    scores[ones[:half]] = scores[ones[half : 2 * half]]
    assert people.attack_outcome(scores)[1][0] > 0.97


def test_having_no_answer_is_something_released():
    people = People(23)
    scores = sigmoid(people.logit)
    answered = ~((people.rng.random(scores.size) < 0.5) & (people.sensitive == 1))
    labels = np.where(answered, people.logit > 0, people.sensitive == 0).astype(np.uint8)  # must not be read
    before, after, _ = people.attack_outcome(np.where(answered, scores, np.nan), labels, answered)
    assert before[0] + 0.1 < after[0] < 0.9  # who is told by absence alone: half of a group
    before, after, _ = people.attack_outcome(None, labels, answered)
    assert before[0] + 0.1 < after[0] < 0.9


@pytest.mark.long
@pytest.mark.parametrize("codes", [60, 200])
def test_features_are_not_learned_a_second_time_beside_coins(codes):
    """Group shares differ by a code: imputation is a frequency table, and a coin adds nothing to it."""
    rng = np.random.default_rng(codes)
    n = ATTACK_SIZE + ATTACKED_SIZE
    share, code = rng.dirichlet([0.3, 0.3], codes)[:, 1], rng.integers(0, codes, n)
    groups = (rng.random(n) < share[code]).astype(int)
    x = np.column_stack([code, rng.normal(size=(n, 2)), rng.integers(0, 2, n)])
    records = known_records(np.arange(ATTACK_SIZE), groups, seed=1)
    before = train_imputation(x, groups, records, n_groups=2, categorical=np.arange(4) == 0, seed=1)
    scores = rng.random(n).round(4)
    outputs = Outputs(labels=(scores > 0.5).astype(np.uint8), scores=scores, decimals=4)
    posteriors = attack_released(x, outputs, groups, before, np.arange(ATTACK_SIZE, n))
    truth = groups[ATTACK_SIZE:]
    reached, best = (p.argmax(axis=1) == truth for p in (posteriors.before, posteriors.after))
    assert best.mean() < reached.mean() + 0.01
    table = np.bincount(code[:ATTACK_SIZE], groups[:ATTACK_SIZE], codes) / np.maximum(
        np.bincount(code[:ATTACK_SIZE], minlength=codes), 1
    )
    assert reached.mean() > ((table[code[ATTACK_SIZE:]] > 0.5) == truth).mean() - 0.015


def test_where_no_attack_wins_the_gain_is_exactly_nothing():
    people = People(24)
    before, after, posteriors = people.attack_outcome(np.full(ATTACK_SIZE + ATTACKED_SIZE, 0.3))
    assert posteriors.attack == NO_ATTACK and posteriors.after is posteriors.before and before == after


def test_permuted_outputs_keep_label_and_set_and_nothing_else():
    people = People(25)
    scores = np.arange(ATTACK_SIZE + ATTACKED_SIZE) / 1e4
    released = Outputs(labels=(scores > 0.2).astype(np.uint8), scores=scores)
    sets = np.arange(ATTACK_SIZE), np.arange(ATTACK_SIZE, ATTACK_SIZE + ATTACKED_SIZE)
    dealt = permuted_outputs(released, people.labels, sets, seed=1)
    for rows in sets:
        for label in (0, 1):
            inside = rows[people.labels[rows] == label]
            assert sorted(dealt.scores[inside]) == sorted(scores[inside])
    assert (dealt.labels == (dealt.scores > 0.2)).all() and (dealt.scores == scores).mean() < 0.01


@pytest.mark.long
@pytest.mark.parametrize("labels_alone", [False, True])
def test_fitted_outputs_follow_the_features_and_not_the_group(labels_alone):
    people = People(26)
    chance = sigmoid(2 * people.logit + 3 * people.sensitive)
    labels = (chance > 0.5).astype(np.uint8)
    released = Outputs(labels=labels, scores=None if labels_alone else chance.round(4), decimals=4)
    rows = np.arange(ATTACK_SIZE + ATTACKED_SIZE)
    fitted = fitted_outputs(people.x, released, rows, countable=np.zeros(5, bool), seed=1)
    assert abs(int(fitted.labels.sum()) - int(labels.sum())) < 100
    before, after, _ = people.attack_outcome(fitted.scores, fitted.labels)
    assert after[0] < before[0] + 0.02 < people.attack_outcome(released.scores, labels)[1][0]
