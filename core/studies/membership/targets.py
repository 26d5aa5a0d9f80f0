"""Models under attack: trained on some rows with a seed, asked for everybody's P(label = 1).

A target is a callable (see `core.studies.membership.evidence.Train`), so that an attack with shadow models can train it
again on other rows. All know the people as codes of the public domains; only the audited fair model reads the audit's
features.

The guarantee of a privacy budget is about one record more or less. A membership experiment trains on as many people
either way: where a person is out, somebody else is in. Such tables differ by a record replaced, which is one record
less and then one more, so that the guarantee for them is twice epsilon (Dwork and Roth 2014, theorem 2.2). Assumed: the
attacker does not know the seed of the noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.arrays import Codes, Floats, Ints
from ...base.serialize import Result
from ...datasets.dataset import AuditDataset
from ...models.query_access import QueryAccess, fair_access
from ...models.tree_budget import BudgetLedger
from ...stats.estimates import Estimate, accuracy, proportion
from ..config import AuditConfig
from ..subject import Subject, fit_rows, fitted
from .evidence import Train
from .people import MemberPeople
from .settings import MembershipSettings

_TREES = 50


def target_of(people: MemberPeople, settings: MembershipSettings) -> Train:
    """Return the target of these settings, other than the audited model and given predictions."""
    name, depth = settings.target, settings.max_depth
    if name == "dp_id3":
        return id3_target(people, epsilon=settings.epsilon, max_depth=depth, accounting=settings.accounting)
    return library_target(people, lambda seed: _estimator(name, depth, seed))


def id3_target(
    people: MemberPeople, *, epsilon: float = math.inf, max_depth: int, accounting: str = "savings"
) -> Train:
    """Return the target of Zhang et al. (2020): a tree by DP-ID3, private for a finite epsilon.

    The columns' domains are public. See `core.models.DPID3Classifier`; it raises `InputError` when it is trained.
    """

    def train(rows: Ints, seed: int) -> Floats:
        from ...models import DPID3Classifier

        domains = people.n_values
        tree = DPID3Classifier(epsilon, max_depth, seed, domains=domains, classes=(0, 1), accounting=accounting)
        tree.fit(people.codes[rows], people.labels[rows])
        return np.asarray(tree.predict_proba(people.codes)[:, 1], dtype=np.float64)

    return train


def library_target(people: MemberPeople, estimator: Callable[[int], Any]) -> Train:
    """Return any scikit-learn classifier as a target, on one indicator a value of each column.

    The estimator takes a seed and returns an unfitted classifier with `predict_proba`.
    """
    starts = np.concatenate([[0], np.cumsum(people.n_values)])
    indicators = np.zeros((people.n, int(starts[-1])), dtype=np.float32)
    indicators[np.arange(people.n)[:, None], people.codes + starts[:-1]] = 1.0

    def train(rows: Ints, seed: int) -> Floats:
        labels = people.labels[rows]
        if (labels == labels[0]).all():
            return np.full(people.n, float(labels[0]))
        fitted = estimator(seed).fit(indicators[rows], labels)
        return np.clip(np.asarray(fitted.predict_proba(indicators)[:, 1], dtype=np.float64), 0.0, 1.0)

    return train


def _estimator(name: str, max_depth: int, seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.tree import DecisionTreeClassifier

    if name == "decision_tree":
        return DecisionTreeClassifier(max_depth=max_depth, random_state=seed)
    if name == "random_forest":
        return RandomForestClassifier(n_estimators=_TREES, max_depth=max_depth, random_state=seed)
    return LogisticRegression(C=1.0, solver="liblinear", random_state=seed)


def audited_target(config: AuditConfig, dataset: AuditDataset) -> Train:
    """Return the audit's fair learning method as a target; it answers with `core.models.FairModel.scores`.

    Its members are the audit's training rows and its non-members the test rows. The first training, of the target
    itself, takes the audit's seed.
    """
    return lambda rows, seed: fit_rows(config, dataset, rows, seed=seed).scores(dataset.features, dataset.sensitive)


def audited_access(subject: Subject) -> QueryAccess | None:
    """Return query access to the audited model, trained here or in a file; None where only predictions are given."""
    if not subject.trainable:
        return subject.access
    config, dataset = subject.config, subject.dataset
    return fair_access(
        lambda: fitted(config, dataset, subject.splits), dataset.features, dataset.sensitive, seed=config.seed
    )


def default_depth(people: MemberPeople) -> int:
    """Return a depth for the trees: as published 14 for the 14 columns of Adult and 10 for the 11 of COMPAS, else 8."""
    d = len(people.names)
    return {14: 14, 11: 10, 10: 10}.get(d, min(8, d))


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetFindings(Result):
    """How well the attacked model predicts.

    The control `majority_test` is the more frequent label for everybody.
    """

    accuracy_train: Estimate
    accuracy_test: Estimate
    majority_test: Estimate


def quality(
    probability: Floats,
    labels: Codes,
    members: Ints,
    outsiders: Ints,
    *,
    predicted: Codes | None = None,
    level: float = 0.95,
) -> TargetFindings:
    """Return how well a target predicts those it was trained on and others, and the majority label as control.

    Where what it predicts is not given, a probability of exactly one half predicts label 0, the first, as the trees do.
    """
    labels_predicted = (probability > 0.5).astype(np.uint8) if predicted is None else predicted
    more = int(labels[members].mean() > 0.5)  # what a model without columns would learn
    return TargetFindings(
        accuracy_train=accuracy(labels[members], labels_predicted[members], level=level),
        accuracy_test=accuracy(labels[outsiders], labels_predicted[outsiders], level=level),
        majority_test=proportion(int(np.count_nonzero(labels[outsiders] == more)), outsiders.size, level=level),
    )


def ledger_of(people: MemberPeople, settings: MembershipSettings, accounting: str = "") -> BudgetLedger:
    """Return what the private tree of these settings spends, by their accounting or by another."""
    columns = len(people.names)
    return BudgetLedger(
        accounting=accounting or settings.accounting,
        requested_epsilon=settings.epsilon,
        depth=min(settings.max_depth, columns),
        n_attributes=columns,
    )


_LARGEST = 350.0
"""Epsilon beyond which exp(2 epsilon) is too large to be written."""


def most_caught(false_alarms: float, epsilon: float) -> float:
    """Return the largest share of members that an attack with so many false positives can be expected to flag.

    A member can be flagged at most exp(2 epsilon) times as often as a non-member; the bound holds for who is flagged
    and for who is not (Kairouz, Oh and Viswanath 2015, theorem 2.1). `false_alarms`, in [0, 1], is the share of
    non-members flagged.
    """
    if epsilon > _LARGEST:
        return 1.0
    times = math.exp(2.0 * epsilon)
    return min(times * false_alarms, 1.0 - (1.0 - false_alarms) / times)
