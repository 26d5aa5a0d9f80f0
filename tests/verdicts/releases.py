"""What models release about people: scores or labels, and how likely the release is under each attribute value.

Whoever releases knows the model. So each release comes with `likelihood`: P(what was released | features, attribute =
k) for each k, up to a factor a person. Of a function of features, attribute and nothing else it is 1 where the value k
would give the same release, else 0; of a function of features alone it is 1 throughout.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.verdicts.people import Codes, Floats, People


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Release:
    """A release about n people.

    Attributes
    ----------
    score : ndarray of shape (n,) or None
        None where labels alone are released.
    prediction : ndarray of shape (n,), 0 or 1
    likelihood : ndarray of shape (n, K)
    """

    score: Floats | None
    prediction: Codes
    likelihood: Floats


def blind(people: People, score: Floats, *, decimals: int = 6, threshold: float = 0.5) -> Release:
    """Return the release of a score that nobody's attribute goes into."""
    score = score.round(decimals)
    return Release(
        score=score, prediction=(score >= threshold).astype(np.int64), likelihood=np.ones((people.n, people.groups))
    )


def informed(people: People, each: Floats, *, decimals: int = 6) -> Release:
    """Return the release of a score that depends on the attribute; `each` has shape (n, K), one score a value."""
    each = each.round(decimals)
    own = each[np.arange(people.n), people.attribute]
    return Release(
        score=own, prediction=(own >= 0.5).astype(np.int64), likelihood=(each == own[:, None]).astype(np.float64)
    )


def planted(people: People, score: Floats, likelihood: Floats, *, decimals: int = 6) -> Release:
    """Return the release of a score made by hand, with the likelihood it was made with."""
    score = score.round(decimals)
    return Release(score=score, prediction=(score >= 0.5).astype(np.int64), likelihood=likelihood)


def drawn(people: People, chances: Floats, seed: int) -> Release:
    """Return the release of labels alone, drawn with chances of shape (n, K), one for each attribute value."""
    own = chances[np.arange(people.n), people.attribute]
    label = (np.random.default_rng([seed, 3]).random(people.n) < own).astype(np.int64)
    return Release(score=None, prediction=label, likelihood=np.where(label[:, None] == 1, chances, 1.0 - chances))


def labels_only(release: Release) -> Release:
    """Return the release without its scores, of a model that does not see the attribute."""
    assert (release.likelihood == 1.0).all()
    return replace(release, score=None)


def fitted(people: People, model: Any, *, sees_attribute: bool = False, weights: Floats | None = None) -> Any:
    """Return what scores people, shape (n,), or (n, K) for each value of the attribute if the model sees it."""
    x, train = people.matrix(), people.train
    more = {} if weights is None else {"sample_weight": weights[train]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # networks that stop before they converge
        if not sees_attribute:
            return model.fit(x[train], people.label[train], **more).predict_proba(x)[:, 1]
        told = np.eye(people.groups)
        model.fit(np.column_stack([x, told[people.attribute]])[train], people.label[train], **more)
        each = [model.predict_proba(np.column_stack([x, np.tile(value, (people.n, 1))]))[:, 1] for value in told]
    return np.column_stack(each)


def logistic() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000)


def boosting(seed: int, **settings: Any) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=seed, early_stopping=False, **settings)


def forest(seed: int, **settings: Any) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(random_state=seed, **settings)


def tree(seed: int, **settings: Any) -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(random_state=seed, **settings)


def network(seed: int, *layers: int, rounds: int = 60, alpha: float = 1e-3, solver: str = "adam") -> Any:
    from sklearn.neural_network import MLPClassifier

    return MLPClassifier(layers, max_iter=rounds, alpha=alpha, solver=solver, random_state=seed)


def nearest() -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(1)


def thresholds_by_group(people: People, *, constraint: str = "demographic_parity") -> Floats:
    """Return the chances, shape (n, K), with which fairlearn's threshold optimizer accepts people of each group."""
    from fairlearn.postprocessing import ThresholdOptimizer

    x, train = people.matrix(), people.train
    optimizer = ThresholdOptimizer(estimator=logistic(), constraints=constraint, predict_method="predict_proba")
    optimizer.fit(x[train], people.label[train], sensitive_features=people.attribute[train])
    each = [optimizer._pmf_predict(x, sensitive_features=np.full(people.n, k))[:, 1] for k in range(people.groups)]
    return np.clip(np.column_stack(each), 0.0, 1.0)


def balancing_weights(people: People) -> npt.NDArray[np.float64]:
    """Return weights that make label and attribute independent among the training records (Kamiran and Calders)."""
    y, s = people.label, people.attribute
    weights = np.ones(people.n)
    for label in (0, 1):
        for group in range(people.groups):
            here = (y == label) & (s == group)
            seen = here[people.train].mean()
            weights[here] = (y[people.train] == label).mean() * (s[people.train] == group).mean() / seen
    return weights


def uncorrelated(people: People) -> People:
    """Return the people with features freed of the attribute guessed from these features, never of the true one."""
    import pandas as pd
    from fairlearn.preprocessing import CorrelationRemover

    x, train = people.matrix(), people.train
    guess = logistic().fit(x[train], people.attribute[train]).predict_proba(x)[:, 1]
    remover = CorrelationRemover(sensitive_feature_ids=[x.shape[1]])
    both = np.column_stack([x, guess])
    freed = remover.fit(both[train]).transform(both)
    return replace(people, features=pd.DataFrame(freed).rename(columns="x{}".format))
