"""Everything released is used: each plant gives the attribute away in another way; imputation sees none of it.

Labels, scores and last digits that follow the group are the plants of the study's own test.
"""

import numpy as np
import pytest

from core.adversaries import Outputs, attack_released
from core.adversaries.released_outputs import _frequent_codes, _label_chance, _reweighted, _score_columns, _Teaching
from core.arrays import decimals_of

KNOWN, JUDGED = 2_000, 1_500


class People:
    """Invented people whose features say nearly nothing about their group."""

    def __init__(self, seed, share=0.4, n_groups=2):
        rng = np.random.default_rng(seed)
        n = KNOWN + JUDGED
        shares = [1 - share, share] if n_groups == 2 else np.full(n_groups, 1 / n_groups)
        self.sensitive = rng.choice(n_groups, size=n, p=shares)
        self.features = rng.normal(size=(n, 4)) + 0.2 * (self.sensitive == 1)[:, None]
        self.features[:, 3] = rng.integers(0, 5, n)
        self.labels = (rng.random(n) < 1 / (1 + np.exp(-self.features[:, 0]))).astype(np.uint8)
        self.logit = self.features[:, 0] - 0.5 * self.features[:, 1] + 0.3 * (self.features[:, 3] == 2)
        self.rng, self.n_groups = rng, n_groups

    def judged(self, scores=None, labels=None):
        labels = (scores >= 0.5).astype(np.uint8) if labels is None else labels
        outputs = Outputs(labels=labels, scores=scores, decimals=0 if scores is None else decimals_of(scores))
        rows = np.arange(KNOWN + JUDGED)
        found = attack_released(
            np.column_stack([self.features, self.labels]),
            outputs,
            self.sensitive,
            rows[:KNOWN],
            rows[KNOWN:],
            n_groups=self.n_groups,
            categorical=np.array([False, False, False, True, False]),
            seed=1,
        )
        truth = self.sensitive[KNOWN:]

        def accuracy(p):
            return float((p.argmax(axis=1) == truth).mean())

        def balanced(p):
            guess = (p / found.share).argmax(axis=1)
            return float(np.mean([(guess[truth == g] == g).mean() for g in range(self.n_groups)]))

        return (accuracy(found.before), balanced(found.before)), (accuracy(found.after), balanced(found.after)), found


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def rounds_one_group_more(people):
    return np.where(people.sensitive == 1, np.round(sigmoid(people.logit), 2), np.round(sigmoid(people.logit), 4))


def gives_a_group_values_of_its_own(people):
    return np.round(sigmoid(people.logit), 1) * 0.9 + 0.003 * people.sensitive


def uses_it_in_a_curve(people):
    bend = np.abs(people.features[:, 1]) + 0.5 * people.features[:, 0] ** 2
    return sigmoid(bend + 1.5 * people.sensitive)


def writes_one_group_in_32_bits(people):
    score = sigmoid(people.logit)
    return np.where(people.sensitive == 1, score.astype(np.float32), score)


def marks_the_ninth_decimal(people):
    whole = np.rint(sigmoid(people.logit) * 1e12)
    return (whole - (whole // 1000 % 2 - people.sensitive) * 1000) / 1e12


@pytest.mark.parametrize(
    ("scores", "least"),
    [
        (writes_one_group_in_32_bits, 0.97),
        (marks_the_ninth_decimal, 0.97),
        (rounds_one_group_more, 0.97),
        (gives_a_group_values_of_its_own, 0.97),
        (uses_it_in_a_curve, 0.95),
    ],
)
def test_scores_that_tell_the_group_are_read_whatever_way_they_tell_it(scores, least):
    people = People(3)
    before, after, found = people.judged(scores(people))
    assert before[0] < 0.68
    assert found.attack == "all"
    assert after[0] > least and after[1] > least


def test_of_several_groups_each_is_read():
    people = People(5, n_groups=3)
    before, after, _ = people.judged(np.round(sigmoid(people.logit + 0.4 * people.sensitive), 4))
    assert before[1] < 0.5 and after[1] > 0.85


@pytest.mark.parametrize("decimals", [15, 12, 1, 0])
def test_scores_of_features_alone_gain_nothing(decimals):
    people = People(6)
    scores = np.round(0.98 * sigmoid(people.logit), decimals)
    before, after, _ = people.judged(scores)
    assert abs(after[0] - before[0]) < 0.01 and abs(after[1] - before[1]) < 0.015


def test_a_withheld_score_is_something_released():
    people = People(7)
    scores = sigmoid(people.logit)
    scores[(people.rng.random(scores.size) < 0.6) & (people.sensitive == 1)] = np.nan
    before, after, _ = people.judged(scores, labels=(people.logit > 0).astype(np.uint8))
    assert after[0] > before[0] + 0.15


@pytest.mark.parametrize("scored", [0, 10])
def test_scores_that_hardly_any_known_person_has_are_no_obstacle(scored):
    people = People(8)
    scores = sigmoid(people.logit)
    scores[scored:KNOWN] = np.nan
    before, after, _ = people.judged(scores, labels=(people.logit > 0).astype(np.uint8))
    assert abs(after[0] - before[0]) < 0.01


@pytest.mark.parametrize("noise", [0.25, 1.0])
def test_a_learner_of_scores_gives_the_log_likelihood_ratio_of_the_model_that_made_them(noise):
    rng = np.random.default_rng(11)
    n, shift = 2_000, 1.0
    groups = rng.integers(0, 2, 2 * n)
    x = rng.normal(size=(2 * n, 2))
    own = noise * rng.normal(size=2 * n)
    outputs = Outputs(labels=np.zeros(2 * n, np.uint8), scores=sigmoid(x[:, 0] + shift * groups + own))
    rows = np.arange(2 * n)
    known = _Teaching(x[:n], outputs.of(rows[:n]), groups[:n], 2, np.zeros(2, bool), seed=1)
    numbers, _ = _score_columns(known, x[n:], outputs.of(rows[n:]))
    from_0 = own[n:] + shift * groups[n:]
    true = (from_0**2 - (from_0 - shift) ** 2) / (2 * noise**2)
    for found, error in ((numbers[:, 2], 0.15), (numbers[:, 4], 0.3)):  # linear, boosted
        slope = (found * true).sum() / (true**2).sum()
        assert slope == pytest.approx(1, abs=error) and np.corrcoef(found, true)[0, 1] > 0.9


@pytest.mark.parametrize(
    ("n", "positive", "learned"), [(40, 5, True), (40, 35, True), (40, 4, False), (40, 36, False), (39, 20, False)]
)
def test_the_label_of_few_people_or_of_people_alike_is_as_frequent_as_it_was(n, positive, learned):
    x, labels = np.arange(n, dtype=float)[:, None], (np.arange(n) < positive).astype(np.uint8)
    known = _Teaching(x, Outputs(labels=labels, scores=None), labels, 2, np.zeros(1, bool), seed=1)
    chance = _label_chance(x, labels, known, x)
    assert (np.ptp(chance) > 0.1) == learned
    assert learned or chance == pytest.approx((positive + 0.5) / (n + 1))


def test_rough_scores_count_as_little_as_their_rounding_leaves_open():
    rng = np.random.default_rng(2)
    x, variance = np.column_stack([np.ones(500), rng.normal(size=500)]), np.repeat([1e-4, 4.0], [300, 200])
    logits = x @ [1.0, 2.0] + rng.normal(size=500) * np.sqrt(variance + 0.01)
    found, spread = _reweighted(x, logits, variance)
    weight = 1 / (variance + spread**2)
    assert found == pytest.approx(np.linalg.solve((x.T * weight) @ x, (x.T * weight) @ logits), abs=1e-4)
    residual = 1.4826 * np.median(np.abs(logits - x @ found))
    assert spread == pytest.approx(np.sqrt(residual**2 - 1e-4))


@pytest.mark.parametrize(
    ("numbers", "kept"), [(110, [2, 2, 4]), (117, [1, 1, 1]), (118, [1, 0, 1]), (119, [1, 0, 0]), (120, [0, 0, 0])]
)
def test_categories_get_an_indicator_by_their_people_while_there_is_room(numbers, kept):
    """Of the commonest there is none; of equally rare ones all or none."""
    people = [[0] * 6 + [1] * 5 + [2], [0] * 7 + [1] * 3 + [2] * 2, [0] * 4 + [1] * 4 + [2, 3, 4, 4]]
    x = np.column_stack([np.zeros((12, numbers)), *people])
    codes = _frequent_codes(x, np.arange(numbers + 3) >= numbers)
    assert [each.size for each in codes] == kept and numbers + sum(kept) <= max(numbers, 120)


def test_decimals_are_the_fewest_that_write_every_score():
    assert decimals_of(np.array([0.25, 0.5])) == 2
    assert decimals_of(np.array([0.0, 1.0, np.nan])) == 0
    assert decimals_of(np.array([1 / 3])) == 15
