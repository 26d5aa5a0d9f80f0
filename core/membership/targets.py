"""Models under attack: trained on some rows with a seed, asked for everybody's P(label = 1).

A target is a callable (see `core.membership.attack.Train`), so that an attack with shadow models can train it again on
other rows. All know the people as codes of the public domains; only the audited fair model reads the audit's features.

Given predictions. Its members are the records that the table says it was trained on, its outsiders the test records.
Attacks that only look at its scores run as on any target; LiRA, which trains such models on other people, cannot.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from core.arrays import Codes, Floats, Ints
from core.config import AuditConfig
from core.datasets.dataset import AuditDataset
from core.errors import InputError
from core.estimates import Estimate, accuracy, proportion
from core.membership.attack import Train, checked
from core.membership.people import MemberPeople
from core.membership.settings import MembershipSettings
from core.models import GIVEN, fit_model
from core.serialize import Result


@dataclass(frozen=True, kw_only=True, eq=False)
class GivenTarget:
    """The model behind the scores of a dataset that says which records it was trained on."""

    dataset: AuditDataset

    def __call__(self, rows: Ints, seed: int) -> Floats:
        """Return the scores of everybody, shape (n,); `rows` must be those the model was trained on.

        Raises `InputError` if they are others, such as after deletions: the model was not trained on these.
        """
        assert self.dataset.scores is not None and self.dataset.sets is not None
        trained = np.flatnonzero(self.dataset.sets == "train")
        if not np.array_equal(np.sort(rows), trained):
            raise InputError(
                f"Given predictions come from a model trained on {trained.size:,} records and none can be trained on "
                f"{rows.size:,} others."
            )
        return self.dataset.scores

    @property
    def predicted(self) -> Codes:
        """Return the predicted labels of everybody, shape (n,)."""
        assert self.dataset.predictions is not None
        return self.dataset.predictions


def given_target(dataset: AuditDataset) -> GivenTarget:
    """Return the model behind a table's scores as a target.

    Make the split with `core.membership.split_between` from the audit's training and test rows. Raises `InputError` if
    the table gives no scores, or does not say which records the model was trained on.
    """
    if dataset.scores is None:
        raise InputError("Membership attacks on given predictions need the model's scores, the table gives none.")
    if dataset.sets is None:
        raise InputError(
            "Membership attacks on given predictions need a column that says which records the model was trained on, "
            "the table's roles name none."
        )
    return GivenTarget(dataset=dataset)


_TREES = 50


@dataclass(frozen=True, kw_only=True, eq=False)
class ID3Target:
    """The target of Zhang et al. (2020): a tree by DP-ID3, private for a finite epsilon.

    The columns' domains are public. See `core.models.DPID3Classifier`; it raises `InputError` when it is trained.
    """

    people: MemberPeople
    epsilon: float = math.inf
    max_depth: int = 14
    accounting: str = "savings"

    def fit(self, rows: Ints, seed: int) -> Any:
        """Return the tree trained on these rows."""
        from core.models import DPID3Classifier

        tree = DPID3Classifier(
            self.epsilon,
            self.max_depth,
            seed,
            domains=self.people.n_values,
            classes=(0, 1),
            accounting=self.accounting,
        )
        return tree.fit(self.people.codes[rows], self.people.labels[rows])

    def answers(self, tree: Any) -> Floats:
        """Return a fitted tree's P(label = 1) of everybody, shape (n,)."""
        return np.asarray(tree.predict_proba(self.people.codes)[:, 1], dtype=np.float64)

    def __call__(self, rows: Ints, seed: int) -> Floats:
        """Train on these rows and return P(label = 1) of everybody, shape (n,)."""
        return self.answers(self.fit(rows, seed))


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


def audited_target(config: AuditConfig, dataset: AuditDataset) -> Train:
    """Return the audit's fair learning method as a target; it answers with `core.models.FairModel.scores`.

    Its members are the audit's training rows and its outsiders the test rows: make the split with
    `core.membership.split_between`. The first training, of the target itself, takes the audit's seed.
    """
    x, y, s = dataset.features, dataset.labels, dataset.sensitive

    def train(rows: Ints, seed: int) -> Floats:
        model = fit_model(
            config.method,
            x[rows],
            y[rows],
            s[rows],
            metric=config.metric,
            tolerance=config.tolerance,
            seed=seed,
            epsilon=config.epsilon,
            domains=dataset.domains,
        )
        return model.scores(x, s)

    return train


def target_of(people: MemberPeople, settings: MembershipSettings) -> Train:
    """Return the target of these settings.

    The audited model must be made with `core.membership.audited_target`, given predictions with
    `core.membership.given_target`: raises `InputError` for these, which need the audit's settings and data.
    """
    name, depth = settings.target, settings.max_depth
    if name == "dp_id3":
        return ID3Target(people=people, epsilon=settings.epsilon, max_depth=depth, accounting=settings.accounting)
    if name in ("audited", GIVEN):
        raise InputError("The audited model can be a target only with the audit's settings and data, got none.")
    return library_target(people, lambda seed: _estimator(name, depth, seed))


def _estimator(name: str, max_depth: int, seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.tree import DecisionTreeClassifier

    if name == "decision_tree":
        return DecisionTreeClassifier(max_depth=max_depth, random_state=seed)
    if name == "random_forest":
        return RandomForestClassifier(n_estimators=_TREES, max_depth=max_depth, random_state=seed)
    return LogisticRegression(C=1.0, solver="liblinear", random_state=seed)


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
    probability: npt.ArrayLike,
    labels: npt.ArrayLike,
    members: npt.ArrayLike,
    outsiders: npt.ArrayLike,
    *,
    predicted: Codes | None = None,
) -> TargetFindings:
    """Return how well a target predicts those it was trained on and others, and the majority label as control.

    Where what it predicts is not given, a probability of exactly one half predicts label 0, the first, as the trees do.
    """
    p, y = checked(probability, labels)
    inside, outside = (np.asarray(rows, dtype=np.int64) for rows in (members, outsiders))
    named = (p > 0.5).astype(np.uint8) if predicted is None else predicted
    more = int(y[inside].mean() > 0.5)  # what a model without columns would learn
    return TargetFindings(
        accuracy_train=accuracy(y[inside], named[inside]),
        accuracy_test=accuracy(y[outside], named[outside]),
        majority_test=proportion(int(np.count_nonzero(y[outside] == more)), outside.size),
    )
