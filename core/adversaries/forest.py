"""The two adversaries of Ferry et al. (2023, IV-A): a random forest on what the attacker knows.

A knows features and labels (X, Y) of everybody; A′ also knows the audited model's predictions (X, Y, Ŷ). Both learn
the sensitive attribute on records where they know it. The class weights are balanced, as in the paper; this makes
the forest name the smaller group far too often, which is much of what the correction then repairs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.adversaries.parameters import forest_parameters
from core.arrays import Codes, Floats
from core.errors import InputError
from core.validation import choice, one_length, seed_value

ADVERSARIES = ("features", "predictions")
"""A (features and label) and A′ (features, label and predictions)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Adversary:
    """A trained attribute-inference adversary.

    It holds a fitted scikit-learn classifier of s, and whether the audited model's predictions are among its inputs.
    """

    sees_predictions: bool
    estimator: Any

    def probability(
        self,
        features: Floats,
        labels: Codes,
        predictions: Codes | None = None,
    ) -> Floats:
        """Return P(s = g) for each record and group, shape (n, K), rows adding up to 1."""
        known = known_columns(features, labels, predictions if self.sees_predictions else None)
        return np.asarray(self.estimator.predict_proba(known), dtype=np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackedRecords:
    """What the attacker has on one set of records, and the truth to judge it by.

    Attributes
    ----------
    probability, calibrated : ndarray of shape (n, K), rows adding up to 1
        The adversary's probability of each group, as it came and after calibration.
    predictions, labels : ndarray of shape (n,), 0 or 1
        The audited model's answers, and the labels.
    truth : ndarray of shape (n,), 0 to K - 1
        The sensitive attribute.
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
    def confidence(self) -> Floats:
        """Probability the adversary gives to its own guess."""
        return np.asarray(self.probability.max(axis=1))

    @property
    def n_groups(self) -> int:
        """Number of groups, K."""
        return int(self.probability.shape[1])


def known_columns(
    features: Floats,
    labels: Codes,
    predictions: Codes | None = None,
) -> Floats:
    """Return what the adversary knows of each record as one matrix (n, d + 1) or (n, d + 2)."""
    one_length(features=features, labels=labels, predictions=predictions)
    known = np.column_stack([features, labels])
    return known if predictions is None else np.column_stack([known, predictions])


def check_groups(sensitive: Codes) -> None:
    """Refuse attack records without two groups, or with a gap in their numbers: an adversary could not name it."""
    present = np.unique(sensitive)
    if present.size < 2:
        raise InputError("The attack records must hold both groups, got only one.")
    if missing := sorted(set(range(int(present[-1]) + 1)) - set(present.tolist())):
        raise InputError(f"The attack records must hold people of every group, got none of group {missing[0]}.")


def train_adversary(
    kind: str,
    features: Floats,
    labels: Codes,
    sensitive: Codes,
    predictions: Codes | None = None,
    *,
    seed: int = 0,
    parameters: Mapping[str, Any] | None = None,
) -> Adversary:
    """Train the paper's adversary on records whose sensitive attribute the attacker knows.

    Raises `InputError` if A′ gets no predictions, the records lack a group, or a parameter is unknown or out of range.

    Parameters
    ----------
    kind : {"features", "predictions"}
        A or A′.
    features : ndarray of shape (n, d)
    labels : ndarray of shape (n,), 0 or 1
    sensitive : ndarray of shape (n,), int
        Groups 0 to K - 1, each of them there.
    predictions : ndarray of shape (n,), 0 or 1
        The audited model's answers; required by A′, ignored by A.
    parameters : mapping, optional
        Hyper-parameters of the forest, as `core.adversaries.tune_forest` finds them; what is left out stands at the
        pinned value.

    Notes
    -----
    The pinned parameters are those Ferry et al. publish for Adult: 100 trees, depth 6, at least 10 records to split.
    The class weights are balanced whatever the parameters. No search is run.
    """
    from sklearn.ensemble import RandomForestClassifier

    kind = choice(kind, ADVERSARIES, name="adversary")
    sees = kind == "predictions"
    if sees and predictions is None:
        raise InputError("Adversary 'predictions' needs the model's predictions on the attack records, got none.")
    check_groups(sensitive)
    known = known_columns(features, labels, predictions if sees else None)
    forest = RandomForestClassifier(
        **forest_parameters(parameters), class_weight="balanced", random_state=seed_value(seed)
    ).fit(known, sensitive)
    return Adversary(sees_predictions=sees, estimator=forest)
