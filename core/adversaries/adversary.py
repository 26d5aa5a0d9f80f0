"""Adversaries on what the attacker knows: the paper's forest, boosting, calibration.

The forest (Ferry et al. 2023, IV-A). A knows features and labels (X, Y) of everybody; A′ also knows the audited model's
predictions (X, Y, Ŷ). Both learn the sensitive attribute on records where they know it. The class weights are balanced,
as in the paper; this makes the forest name the smaller group far too often, which is much of what the correction then
repairs.

The imputation baseline. Without access to the model, neither predictions nor fairness, it marks what an attacker gets
from features alone. Without it, the weakness of the paper's forest would pass for a leak of the fairness constraint.

Platt scaling on records the adversary did not learn from. A forest with balanced class weights reports odds for a world
where all groups are equally large. One logistic regression on its log-odds brings them back; with two groups and a
positive slope, as for any adversary better than a guess, the order of people is kept. With more groups the regression
is multinomial, on the log-odds of every group against group 0.

The control of attacks that use predictions: the same on permuted predictions. Permuting the audited model's
answers within each label keeps what the label already tells about them (the model's accuracy, its true and false
positive rates, their number) and cuts every tie to the person: features, group, and whatever the training left in them.
A′, which knows features and labels anyway, can learn nothing new from such answers, so what it reaches with the real
ones beyond this control is what the predictions carry beyond features and label. The permuted column must replace the
real one both where the adversary learns and where it attacks. Without labels the answers are permuted among everybody;
nothing but their number is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..base.errors import InputError
from ..base.serialize import Result
from ..base.validation import (
    Codes,
    Floats,
    Ints,
    child_generator,
    child_seed,
    one_length,
    seed_value,
    whole_number,
)
from ..stats.estimates import Estimate, accuracy, balanced_accuracy, proportion
from .imputation import log_odds, normalised

if TYPE_CHECKING:
    import pandas

PINNED: dict[str, Any] = {
    "n_estimators": 100,
    "max_depth": 6,
    "min_samples_split": 10,
    "min_samples_leaf": 1,
    "max_features": "sqrt",
    "criterion": "gini",
}
"""Those of Ferry et al.'s published script on Adult; what it leaves out stands at scikit-learn's default."""

_INTEGER_RANGES = {
    "n_estimators": (1, 3000),
    "max_depth": (1, 64),
    "min_samples_split": (2, 10_000),
    "min_samples_leaf": (1, 10_000),
}
_CHOICES: dict[str, tuple[str | None, ...]] = {
    "max_features": ("sqrt", "log2", None),
    "criterion": ("gini", "entropy"),
}


def forest_parameters(parameters: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the forest's hyper-parameters: the given ones, and the published ones for the rest.

    Given may be any of `n_estimators` (1 to 3,000), `max_depth` (1 to 64, or None for no limit), `min_samples_split` (2
    to 10,000), `min_samples_leaf` (1 to 10,000), `max_features` ("sqrt", "log2" or None for all of them) and
    `criterion` ("gini" or "entropy"). Raises `InputError` if a name is unknown or a value out of range.
    """
    overrides = dict(parameters or {})
    unknown = [name for name in overrides if name not in PINNED]
    if unknown:
        raise InputError(
            f"A forest's parameters must be among {', '.join(PINNED)}, got {unknown[0]!r}."
        )
    return PINNED | {name: _checked(name, value) for name, value in overrides.items()}


def _checked(name: str, value: Any) -> Any:
    if name in _CHOICES:
        options = _CHOICES[name]
        if not (value is None or isinstance(value, str)) or value not in options:
            raise InputError(
                f"{name} must be one of {', '.join(map(str, options))}, got {value!r}."
            )
        return value
    if name == "max_depth" and value is None:
        return None
    low, high = _INTEGER_RANGES[name]
    none_text = ""
    if name == "max_depth":
        none_text = " or None"
    return whole_number(value, name=name, least=low, most=high, also=none_text)


def balanced_forest(parameters: Mapping[str, Any] | None, seed: int) -> Any:
    """Return the forest to be fitted, all groups weighing the same; see `forest_parameters`."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(
        **forest_parameters(parameters), class_weight="balanced", random_state=seed
    )


ADVERSARIES = ("features", "predictions")
"""A (features and label) and A′ (features, label and predictions)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackedRecords:
    """What the attacker has on one set of records, and the truth to judge it by.

    The adversary's probability of each group (n, K), rows adding up to 1, as it came and after calibration; the audited
    model's answers and the labels (n,), 0 or 1; and the sensitive attribute (n,), 0 to K - 1.
    """

    probability: Floats
    calibrated: Floats
    predictions: Codes
    labels: Codes
    truth: Codes

    @property
    def guess(self) -> Codes:
        """The group the adversary finds more probable."""
        return self.probability.argmax(axis=1).astype(np.uint8)

    @property
    def calibrated_guess(self) -> Codes:
        """The group that is more probable after calibration."""
        return self.calibrated.argmax(axis=1).astype(np.uint8)

    @property
    def accuracy(self) -> Estimate:
        """Accuracy of the adversary's guesses."""
        return accuracy(self.truth, self.guess)

    @property
    def confidence(self) -> Floats:
        """Probability the adversary gives to its own guess."""
        return self.probability.max(axis=1)

    @property
    def n_groups(self) -> int:
        """Number of groups, K."""
        return int(self.probability.shape[1])


def known_columns(features: Floats, labels: Codes, predictions: Codes | None = None) -> Floats:
    """Return what the adversary knows of each record as one matrix (n, d + 1) or (n, d + 2)."""
    one_length(features=features, labels=labels, predictions=predictions)
    columns = np.column_stack([features, labels])
    if predictions is None:
        return columns
    return np.column_stack([columns, predictions])


def check_groups(sensitive: Codes) -> None:
    """Refuse attack records without two groups, or with a gap in their numbers: an adversary could not name it."""
    present = np.unique(sensitive)
    if present.size < 2:
        raise InputError("The attack records must hold both groups, got only one.")
    if missing := sorted(set(range(int(present[-1]) + 1)) - set(present.tolist())):
        raise InputError(
            f"The attack records must hold people of every group, got none of group {missing[0]}."
        )


def train_adversary(
    columns: Floats,
    sensitive: Codes,
    *,
    seed: int = 0,
    parameters: Mapping[str, Any] | None = None,
) -> Any:
    """Train the paper's adversary, a forest, on records whose sensitive attribute the attacker knows.

    The class weights are balanced whatever the parameters; no search is run. Raises `InputError` if the records lack a
    group, or a parameter is unknown or out of range.

    Parameters
    ----------
    columns : ndarray of shape (n, d)
        What `known_columns` makes of them: with the audited model's predictions for A′, without for A.
    sensitive : ndarray of shape (n,)
        Groups 0 to K - 1, each of them there.
    parameters : mapping, optional
        Hyper-parameters of the forest, as `core.adversaries.tune_forest` finds them; what is left out stands at the
        published value.
    """
    check_groups(sensitive)
    return balanced_forest(parameters, seed_value(seed)).fit(columns, sensitive)


STRONG = ("strong", "strong_predictions")
"""The strong adversary on features and label, and with the audited model's predictions besides."""


_EDGE = 1e-6


def fit_platt_scale(probability: Floats, truth: Codes) -> Callable[[Floats], Floats]:
    """Fit calibrated log-odds against group 0 = slope · log-odds + intercept on held-out records (Platt 1999).

    `probability`, of shape (n, K), is what the adversary says of records it did not learn from; every group must occur
    in their truth. What is returned calibrates probabilities of any records.
    """
    from sklearn.linear_model import LogisticRegression

    one_length(probability=probability, truth=truth)
    k = probability.shape[1]
    if np.unique(truth).size < k:
        raise InputError(
            f"Calibration needs held-out records of all {k} groups, got {np.unique(truth).size}."
        )
    # Weak regularisation: with many groups of few people the unregularised fit may not exist.
    if k == 2:
        strength = 1e6
    else:
        strength = 10.0
    fitted = LogisticRegression(C=strength, max_iter=1000).fit(_log_odds(probability), truth)
    slope = fitted.coef_
    intercept = fitted.intercept_
    if k > 2:
        slope = slope[1:] - slope[0]
        intercept = intercept[1:] - intercept[0]

    def calibrated(raw: Floats) -> Floats:
        shifted = _log_odds(raw) @ slope.T + intercept
        return normalised(np.column_stack([np.zeros(len(shifted)), shifted]))

    return calibrated


def _log_odds(probability: Floats) -> Floats:
    """Return the log-odds of groups 1 to K - 1 against group 0, shape (n, K - 1)."""
    return log_odds(np.log(np.clip(probability, _EDGE, 1 - _EDGE)))


def permuted_predictions(
    predictions: Codes, labels: Codes | None = None, *, seed: int, records: str = "everybody"
) -> Codes:
    """Return the predictions permuted among the people of the same label, or among everybody without labels.

    `records` says which set of records this is; another name under the same seed permutes independently.
    """
    rng = child_generator(seed, f"permuted predictions of {records}")
    permuted = predictions.copy()
    if labels is None:
        parts: list[Any] = [slice(None)]
    else:
        parts = [labels == 0, labels == 1]
    for inside in parts:
        permuted[inside] = rng.permutation(predictions[inside])
    return permuted


def permuted_by_set(
    predictions: Codes, labels: Codes | None, sets: Mapping[str, Ints], *, seed: int
) -> Codes:
    """Return everybody's predictions with each set of records permuted within itself and its labels.

    An adversary trained and asked with these in place of the real ones is the control of an attack; nobody's answer
    crosses from the records they learn from to those they attack, so that a model's higher accuracy on its training
    records stays where it is. `sets` are disjoint row numbers by name; rows in none of them keep their prediction.
    """
    permuted = predictions.copy()
    for name, inside in sets.items():
        within = None if labels is None else labels[inside]
        permuted[inside] = permuted_predictions(
            predictions[inside], within, seed=seed, records=name
        )
    return permuted


_HELD_OUT = 0.2
_FOLDS = 3
_FEWEST = 10


ForestTrial = tuple[dict[str, int | str | None], Estimate]
"""Parameters, and the balanced accuracy on the search records by forests that had not seen them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TunedForest(Result):
    """What the search found.

    The parameters are those of the best trial, the earliest where several tie; `train_adversary` takes them. Accuracy
    and balanced accuracy are on the attacker's held-out records, which had no part in the search: of the forest with
    these parameters, and, as baseline, of the published forest, trained on the same records. `majority` is the control:
    always guessing the largest group, on the records held out. The trials are in order; the first is the published
    forest.
    """

    parameters: dict[str, int | str | None]
    accuracy: Estimate
    balanced: Estimate
    pinned_accuracy: Estimate
    pinned_balanced: Estimate
    majority: Estimate
    trials: tuple[ForestTrial, ...]

    def to_frame(self) -> pandas.DataFrame:
        """Return one row an evaluation: its parameters, its score with interval, and whether it was chosen."""
        import pandas as pd

        best = _best(self.trials)
        rows = [
            {"evaluation": i + 1}
            | parameters
            | {"max_features": parameters["max_features"] or "all"}
            | {"score": score.value, "low": score.low, "high": score.high, "chosen": i == best}
            for i, (parameters, score) in enumerate(self.trials)
        ]
        return pd.DataFrame(rows)


_Records = tuple[Floats, npt.NDArray[Any]]
"""What the attacker knows of some records, and their groups."""


def tune_forest(
    kind: str,
    features: Floats,
    labels: Codes,
    sensitive: npt.NDArray[Any],
    predictions: Codes | None = None,
    *,
    evaluations: int = 100,
    seed: int = 0,
    report: Callable[[int, int], None] | None = None,
) -> TunedForest:
    """Search the parameters of A's or A′'s forest on records whose sensitive attribute the attacker knows.

    The class-balanced measure of the paper is maximised. Raises `InputError` if a group has fewer than 10 records.

    Parameters
    ----------
    kind : {"features", "predictions"}
        A or A′.
    features, labels, predictions : ndarray of shape (n, d), (n,) and (n,)
        As for `train_adversary`.
    sensitive : ndarray of shape (n,)
        Group of each record, at least 10 records a group; any number of groups from two.
    evaluations : int
        Forests tried, at least one.
    seed : int
        Fixes the split, the folds, the sampler and the forests: same seed, same search.
    report : callable, optional
        Called with (evaluations done, evaluations in all) before each of them and after the last; may raise
        `core.base.errors.Cancelled`, which ends the search there and reaches the caller.
    """
    seen_predictions = None
    if kind == "predictions":
        seen_predictions = predictions
    columns = known_columns(features, labels, seen_predictions)
    groups, counts = np.unique(sensitive, return_counts=True)
    if counts.min() < _FEWEST:
        raise InputError(
            f"The search needs at least {_FEWEST} attack records of each group, got {counts.min()} of group "
            f"{groups[counts.argmin()]}."
        )
    search, (held_x, truth) = _halves(columns, sensitive, seed)
    trials: list[ForestTrial] = []
    study = _study(child_seed(seed, "tuning sampler"))
    for done in range(evaluations):
        if report is not None:
            report(done, evaluations)
        proposal = study.ask()
        parameters = forest_parameters(_suggested(proposal))
        score = _score(search, parameters, seed)
        study.tell(proposal, score.value)
        trials.append((parameters, score))
    if report is not None:
        report(evaluations, evaluations)
    best_parameters, _ = trials[_best(trials)]
    tuned, pinned = (
        balanced_forest(candidate, child_seed(seed, "tuning forests")).fit(*search).predict(held_x)
        for candidate in (best_parameters, None)
    )
    return TunedForest(
        parameters=best_parameters,
        accuracy=accuracy(truth, tuned),
        balanced=balanced_accuracy(truth, tuned),
        pinned_accuracy=accuracy(truth, pinned),
        pinned_balanced=balanced_accuracy(truth, pinned),
        majority=proportion(int(np.unique(truth, return_counts=True)[1].max()), truth.size),
        trials=tuple(trials),
    )


def _halves(columns: Floats, sensitive: npt.NDArray[Any], seed: int) -> tuple[_Records, _Records]:
    """Split the attacker's records into those that choose and those that judge, groups in proportion."""
    from sklearn.model_selection import train_test_split

    child = child_seed(seed, "tuning held-out records")
    x, held_x, s, held_s = train_test_split(
        columns, sensitive, test_size=_HELD_OUT, stratify=sensitive, random_state=child
    )
    return (x, s), (held_x, held_s)


def _study(seed: int) -> Any:
    """Return optuna's study; creating it is the one thing optuna would tell the console about."""
    import optuna

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        study = optuna.create_study(
            direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed)
        )
    finally:
        optuna.logging.set_verbosity(before)
    study.enqueue_trial(PINNED)
    return study


def _suggested(proposal: Any) -> dict[str, Any]:
    """Return the sampler's next forest; trees and least sizes are searched on a log scale."""
    return {
        "n_estimators": proposal.suggest_int("n_estimators", 10, 300, log=True),
        "max_depth": proposal.suggest_int("max_depth", 2, 24),
        "min_samples_split": proposal.suggest_int("min_samples_split", 2, 50, log=True),
        "min_samples_leaf": proposal.suggest_int("min_samples_leaf", 1, 50, log=True),
        "max_features": proposal.suggest_categorical("max_features", ["sqrt", None]),
        "criterion": proposal.suggest_categorical("criterion", ["gini", "entropy"]),
    }


def _score(records: _Records, parameters: dict[str, Any], seed: int) -> Estimate:
    """Return the balanced accuracy of the out-of-fold guesses (3 folds) on the search records."""
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    folds = StratifiedKFold(
        n_splits=_FOLDS, shuffle=True, random_state=child_seed(seed, "tuning folds")
    )
    forest = balanced_forest(parameters, child_seed(seed, "tuning forests"))
    return balanced_accuracy(records[1], cross_val_predict(forest, *records, cv=folds))


def _best(trials: Sequence[ForestTrial]) -> int:
    return int(np.argmax([score.value for _, score in trials]))
