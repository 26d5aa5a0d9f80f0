"""Attribute inference from everything a model releases, beside imputation from features and label.

Every attack combines the odds of imputation with evidence of the outputs
(`core.adversaries.output_evidence`), learned on the same records and folds as the imputation:

    label       regression on the odds and the ratios of the label (and of having an answer);
    values      the same with the table of the score and equal scores;
    regression  the same with the ratios of the residuals and the tables of digits;
    boosting    on odds, features and everything that outputs say;
    mean        of the log posteriors of these two.

The attack is the one with the lowest log-loss on validation records of the attacker's own, or
imputation itself where none has a lower one: then the release adds exactly nothing. The records
that are judged see no choice.

Where no records of the attacker's own are at hand, two halves of people teach each other (`cross_fitted`). The attacker
knows the truth of one half and learns by gradient boosting what it looks like in what is released; the other half is
scored, and then the halves change places. What boosting returns is replaced by its rank within its half, so that two
fits share one scale. The halves have equal shares of both kinds and the ranks use nobody's truth, so that where nothing
leaks the scores of both halves together are independent of the truth.

Drift or memory is the last question: whether training and test records differ before any model has seen them.
A membership attack ranks training records above test records. It may do so without any memory of the model, where the
two were collected at other times or places. So a classifier that sees features and true label, and nothing that the
model gives, is asked the same question: a two-sample test by a classifier (Lopez-Paz & Oquab 2017).

Each half of the records teaches a classifier that judges the other half. Given what one half taught, the other half's
training and test records are ranked alike if both were drawn alike, so that the rank-sum test of each half is valid,
whatever the classifier learned; of both halves the smaller p value counts twice (Bonferroni), as they are not
independent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..base.caveats import Caveat, CaveatKind
from ..base.validation import Codes, Floats, Ints, Mask, child_generator, child_seed, decimals_of
from ..stats.estimates import (
    Estimate,
    accuracy,
    accuracy_gain,
    balanced_accuracy,
    balanced_gain,
    mean,
)
from .imputation import (
    Groups,
    ImputationAttacker,
    Imputed,
    Rows,
    fit_group_boosting,
    fit_group_regression,
    log_loss,
    log_posterior,
    normalised,
)
from .output_evidence import OutputEvidence, Outputs, late_decimals

if TYPE_CHECKING:
    from ..datasets import AuditDataset
    from ..datasets.splits import Splits


def released_columns(
    predicted: Codes, labels: Codes, score: Floats | None
) -> list[npt.NDArray[Any]]:
    """Return what boosting is given of n people: predicted and true label, and of a score all that models betray.

    Models that memorise give themselves away in several ways: by the probability of one's own label, by a probability
    of exactly 0 or 1, by how many people share a score, and by how exactly it is written.
    """
    columns = [predicted, labels, predicted == labels]
    if score is not None:
        label_probability = np.where(labels == 1, score, 1.0 - score)
        _, index, count = np.unique(score, return_inverse=True, return_counts=True)
        columns += [
            score,
            label_probability,
            (label_probability == 1.0).astype(np.int8) - (label_probability == 0.0),
            np.log(count[index]),
        ]
        columns += [*late_decimals(score, decimals_of(score)).T]
    return columns


def halves(member: Codes, *, seed: int) -> Mask:
    """Return who is in the second half; each half has as many members, and as many non-members, as the other.

    An odd one goes to the second half. Were the halves unlike, what is learned of one would say something of the
    other's share of members. The same people in the same order get the same halves.
    """
    rng = child_generator(seed, "halves of the judged")
    second = np.zeros(member.size, dtype=np.bool_)
    for kind in (0, 1):
        rows = rng.permutation(np.flatnonzero(member == kind))
        second[rows[rows.size // 2 :]] = True
    return second


_AGREE = math.sqrt(1.0 + 2.0 / math.pi)


def cross_fitted_interval(estimate: Estimate, chance: float) -> Estimate:
    """Return an estimate over both halves, each judged by what the other taught, with an interval that is wide enough.

    Where nothing leaks, the halves differ from chance in a and b, independent with variance v. What one learns is the
    sign of its own difference, and the mean of both, (sign(b) a + sign(a) b) / 2, has the variance v (1 + 2/pi) / 2 and
    not v / 2: either both halves are right or both are wrong. Where something leaks for certain the signs are no
    chance. So the interval is sqrt(1 + 2/pi) times as wide unless it lies above chance even then.
    """
    below, above = (_AGREE * abs(end - estimate.value) for end in (estimate.low, estimate.high))
    if estimate.value - below > chance:
        return estimate
    return replace(estimate, low=estimate.value - below, high=estimate.value + above)


MAX_TEACHERS = 100_000
"""Most people of a half who teach; of more, so many are drawn at random. All are judged."""

_TREES = 40
_LEAVES = 8
_FEWEST_IN_LEAF = 50
_RATE = 0.1
"""Small: a few numbers a person, and more trees learn the teaching half's chance."""


def cross_fitted(
    columns: Sequence[npt.ArrayLike], member: Codes, *, seed: int, name: str
) -> tuple[Floats, Codes]:
    """Return everybody's score, higher for members, and verdict, from boosting on the half that they are not in.

    The score lies in (0, 1); the verdict is 1 where boosting finds a member likelier than a non-member, both as
    frequent: the largest TPR - FPR. The columns, each of shape (n,), are nan where there is no evidence; the name is
    the attack's, for its own use of chance.
    """
    from scipy.stats import rankdata

    evidence = np.column_stack(columns).astype(np.float32)
    second = halves(member, seed=seed)
    score = np.empty(member.size)
    verdict = np.empty(member.size, dtype=np.uint8)
    for number, half in enumerate((second, ~second)):
        teachers = np.flatnonzero(~half)
        if teachers.size > MAX_TEACHERS:
            drawn = child_generator(seed, f"{name}, teaching sample {number}")
            teachers = np.sort(drawn.choice(teachers, MAX_TEACHERS, replace=False))
        model = _fitted(
            evidence[teachers], member[teachers], child_seed(seed, f"{name}, boosting {number}")
        )
        decisions = np.round(
            model.decision_function(evidence), 9
        )  # equal evidence, equal score, but for rounding
        score[half] = ((rankdata(decisions) - 0.5) / decisions.size)[half]
        verdict[half] = decisions[half] > 0.0
    return score, verdict


def _fitted(evidence: npt.NDArray[np.float32], member: Codes, seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    model = HistGradientBoostingClassifier(
        max_iter=_TREES,
        max_leaf_nodes=_LEAVES,
        min_samples_leaf=min(_FEWEST_IN_LEAF, max(1, member.size // 20)),
        learning_rate=_RATE,
        early_stopping=False,
        class_weight="balanced",
        random_state=seed,
    )
    with threadpool_limits(limits=1):
        return model.fit(evidence, member)


NO_ATTACK = "imputation"
"""What the attack is called where none beat imputation on the validation records."""

_FEWEST_VALUES = 40
"""Columns that fewer learners have a value in are dropped; of few learners, a quarter of them."""

_FOLDS = 3

_MOST_FITTED = 30_000
"""Most records from which a regression of the outputs on the features is learned."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AttackerPosteriors:
    """What one attacker believes of m training records, beside the truth.

    `before` and `after`, shape (m, K), are probabilities of the groups by imputation and with what is released;
    `share`, shape (K,), are the group proportions among the `n_attacker_records` people whose attribute the attacker
    knows. `attack` is the one that was chosen, `NO_ATTACK` if none was, or two with "and" between them where the halves
    chose differently.
    """

    truth: Groups = field(repr=False)
    before: Floats = field(repr=False)
    after: Floats = field(repr=False)
    share: Floats
    attack: str
    n_attacker_records: int

    @property
    def beaten(self) -> bool:
        """Whether an attack beat imputation on the attacker's validation records; if not, the gain is exactly 0."""
        return self.attack != NO_ATTACK

    def level(self, measure: str, probability: Floats) -> Estimate:
        """Return a measure of these probabilities."""
        if measure == "bits":
            return mean(self.bits(probability))
        if measure == "balanced_accuracy":
            return balanced_accuracy(self.truth, self.guess(probability, balanced=True))
        return accuracy(self.truth, self.guess(probability))

    def gain(self, measure: str) -> Estimate:
        """Return what the release adds to a measure, on the same people."""
        if measure == "bits":
            return mean(self.bits(self.before) - self.bits(self.after))
        balanced = measure == "balanced_accuracy"
        before, after = (self.guess(p, balanced=balanced) for p in (self.before, self.after))
        if balanced:
            return balanced_gain(self.truth, before, after)
        return accuracy_gain(self.truth, before, after)

    def guess(self, probability: Floats, *, balanced: bool = False) -> Ints:
        """Return the likeliest group, or the one whose probability is farthest above its share."""
        if balanced:
            return (probability / self.share).argmax(axis=1)
        return probability.argmax(axis=1)

    def bits(self, probability: Floats) -> Floats:
        """Return everybody's log-loss in bits."""
        return -np.log2(np.maximum(probability[np.arange(self.truth.size), self.truth], 1e-9))


def attack_released(
    x: Floats,
    outputs: Outputs,
    sensitive: Groups,
    before: ImputationAttacker,
    attacked_rows: Rows,
    *,
    imputed: Imputed | None = None,
) -> AttackerPosteriors:
    """Let an attacker who imputes as `before` does infer the groups of the rows judged.

    x, (n, d), holds everybody's features and the true label as the last column, as the imputation
    learned them. The groups, 0 to K - 1, are read of known records only; they and those judged are
    disjoint rows. The groups of those judged are the truth that the result carries, and nothing
    else. `imputed` is what the imputation says of those judged, where that is at hand.
    """
    if imputed is None:
        imputed = before.about(x[attacked_rows])
    imputed_odds, imputation = imputed
    evidence = OutputEvidence.of(x, outputs, sensitive, before, attacked_rows)
    log_posteriors = _fitted_attack(x, evidence)
    validation = before.records.validation
    truth = sensitive[validation]
    validation_odds, validation_probability = before.validation
    logs = log_posteriors(validation, validation_odds)
    losses = {NO_ATTACK: log_loss(validation_probability, truth)}
    losses |= {name: log_loss(normalised(value), truth) for name, value in logs.items()}
    chosen = min(losses, key=lambda name: losses[name])
    after = imputation
    if chosen != NO_ATTACK:
        after = normalised(log_posteriors(attacked_rows, imputed_odds)[chosen])
    return AttackerPosteriors(
        truth=sensitive[attacked_rows],
        before=imputation,
        after=after,
        attack=chosen,
        share=before.share,
        n_attacker_records=before.records.n,
    )


def _fitted_attack(
    x: Floats, evidence: OutputEvidence
) -> Callable[[Rows, Floats], dict[str, Floats]]:
    """Fit the combinations of imputation and evidence on all learners.

    What is returned gives, of some rows and their odds of imputation, the log posteriors by every combination, (m, K).
    """
    before = evidence.before
    of_learners, categorical = evidence.columns(x[before.records.learners], before.odds)
    everything = of_learners.pop("boosting")
    regressions = {
        name: fit_group_regression(columns, before.groups) for name, columns in of_learners.items()
    }
    present = (~np.isnan(everything)).sum(axis=0)
    taken = present >= min(_FEWEST_VALUES, before.groups.size / 4)
    boosted = fit_group_boosting(
        everything[:, taken], before.groups, categorical[taken], seed=before.seed, slow=True
    )

    def log_posteriors(rows: Rows, odds: Floats) -> dict[str, Floats]:
        columns, _ = evidence.columns(x[rows], odds, rows)
        logs = {
            name: log_posterior(model, columns[name], before.n_groups)
            for name, model in regressions.items()
        }
        *_, of_regression = logs.values()
        logs["boosting"] = log_posterior(boosted, columns["boosting"][:, taken], before.n_groups)
        logs["mean"] = (of_regression + logs["boosting"]) / 2
        return logs

    return log_posteriors


# --------------------------------------------------------------------------------------- controls


def permuted_outputs(
    outputs: Outputs, labels: Groups, sets: tuple[Rows, ...], *, seed: int
) -> Outputs:
    """Return outputs permuted among the records of the same true label, each set by itself.

    What an attack gains from these it does not gain from the release.
    """
    permuted = np.arange(labels.size)
    for number, rows in enumerate(sets):
        rng = child_generator(seed, f"permuted outputs, set {number}")
        for label in np.unique(labels[rows]):
            members = rows[labels[rows] == label]
            permuted[members] = rng.permutation(members)
    return outputs.of(permuted)


def fitted_outputs(
    x: Floats, outputs: Outputs, rows: Rows, *, countable: Mask, seed: int
) -> Outputs:
    """Return outputs replaced, in these rows, by a cross-fitted regression of them on the features.

    x holds the features and the true label as the last column, which the regression does not take.
    An attack gains from these what any well-fitted score of the features would give it: such a
    score teaches how the attribute follows from the features. As many labels are 1 as before.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    features = x[:, :-1]
    flags = countable[:-1]
    visible = outputs.visible
    scored = outputs.scores is not None
    if scored:
        target = visible
    else:
        target = np.where(outputs.labelled, outputs.labels, np.nan)
    fold = child_generator(seed, "folds of fitted outputs").permutation(rows.size) % _FOLDS
    fitted = np.full(visible.size, np.nan)
    for number in range(_FOLDS):
        teachers = rows[fold != number]
        teachers = teachers[~np.isnan(target[teachers])][:_MOST_FITTED]
        fold_rows = rows[fold == number]
        if scored:
            kind = HistGradientBoostingRegressor
        else:
            kind = HistGradientBoostingClassifier
        model = kind(categorical_features=flags, random_state=seed).fit(
            features[teachers], target[teachers]
        )
        if scored:
            fold_predictions = model.predict(features[fold_rows])
        else:
            fold_predictions = model.predict_proba(features[fold_rows])[:, -1]
        fitted[fold_rows] = np.clip(fold_predictions, 0.0, 1.0)
    labels = outputs.labels.copy()
    rate = outputs.labels[rows][outputs.labelled[rows]].mean()
    # The highest are accepted, as many as the model accepts; of equal ones the first.
    from_highest = np.argsort(-fitted[rows], kind="stable")
    labels[rows] = 0
    labels[rows[from_highest[: round(rate * rows.size)]]] = 1
    scores = np.round(fitted, outputs.decimals) if scored else None
    return replace(outputs, labels=labels, scores=scores, answered=None)


DRIFT_LEVEL = 0.01
"""p value below which records are said to differ: of 100 tables without drift about one has a caveat."""


def two_sample_test(columns: Floats, inside: Codes, *, seed: int) -> tuple[float, float]:
    """AUC of a classifier of two samples by their columns, and the p value of their being drawn alike.

    Parameters
    ----------
    columns : (n, d)
        What is known of each record; codes of categories are taken as numbers, nan as a missing value.
    inside : (n,)
        1 for the first sample, 0 for the second; at least two records of each.
    seed : int
        Seed of the halves and of the classifiers.

    Returns
    -------
    auc, p_value : float
        Chance that a record of the first sample is ranked above one of the second, mean of both halves; and one-sided
        p value, in [0, 1].
    """
    from scipy.stats import mannwhitneyu

    score, _ = cross_fitted(list(columns.T), inside, seed=seed, name="drift")
    second = halves(inside, seed=seed)
    aucs = []
    p_values = []
    for half in (second, ~second):
        first_scores = score[half & (inside == 1)]
        other_scores = score[half & (inside == 0)]
        test = mannwhitneyu(first_scores, other_scores, alternative="greater", method="asymptotic")
        aucs.append(test.statistic / (first_scores.size * other_scores.size))
        p_values.append(test.pvalue)
    return float(np.mean(aucs)), min(1.0, 2.0 * min(p_values))


def drift_caveat(dataset: AuditDataset, splits: Splits, *, seed: int) -> Caveat | None:
    """Caveat on whether training and test records differ without any model; None where nothing is tested.

    Sets that FairLeak drew at random are drawn alike, and are not tested.
    """
    if dataset.sets is None:
        return None
    rows = np.concatenate([splits.train, splits.test])
    inside = np.isin(rows, splits.train).astype(np.uint8)
    columns = np.column_stack([dataset.features, dataset.labels])[rows]
    auc, p_value = two_sample_test(columns, inside, seed=seed)
    if p_value >= DRIFT_LEVEL:
        text = (
            f"No drift found: features and true label alone distinguish training from test records with AUC "
            f"{auc:.2f} (chance 0.5, p = {p_value:.2f})."
        )
        return Caveat(CaveatKind.NO_DRIFT, text)
    text = (
        f"Training and test records differ before any model sees them: features and true label alone distinguish them "
        f"with AUC {auc:.2f} (chance 0.5, p below {DRIFT_LEVEL:g}). A membership attack may find this and not "
        "memory of the model."
    )
    return Caveat(CaveatKind.SETS_DIFFER, text)
