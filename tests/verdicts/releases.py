"""What models release about people: scores, or labels alone."""

import warnings
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from fairlearn.postprocessing import ThresholdOptimizer
from fairlearn.preprocessing import CorrelationRemover
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

from tests.verdicts.people import Codes, Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Release:
    """A release about n people: scores, or None where labels alone are released; predictions."""

    score: Floats | None
    prediction: Codes


def released(score, *, decimals=6, threshold=0.5):
    score = score.round(decimals)
    return Release(score=score, prediction=(score >= threshold).astype(np.int64))


def informed(people, scores, *, decimals=6):
    """Return the release of a score that depends on the attribute; `each` has shape (n, K), one score a value."""
    return released(scores[np.arange(people.n), people.attribute], decimals=decimals)


def drawn(people, chances, seed):
    """Return the release of labels alone, drawn with chances of shape (n, K), one for each attribute value."""
    chance = chances[np.arange(people.n), people.attribute]
    label = (np.random.default_rng([seed, 3]).random(people.n) < chance).astype(np.int64)
    return Release(score=None, prediction=label)


def fitted(people, model, *, sees_attribute=False, weights=None):
    """Return what scores people, shape (n,), or (n, K) for each value of the attribute if the model sees it."""
    x, train = people.matrix(), people.train
    more = {} if weights is None else {"sample_weight": weights[train]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # networks that stop before they converge
        if not sees_attribute:
            return model.fit(x[train], people.label[train], **more).predict_proba(x)[:, 1]
        one_hot = np.eye(people.groups)
        model.fit(np.column_stack([x, one_hot[people.attribute]])[train], people.label[train], **more)
        columns = [model.predict_proba(np.column_stack([x, np.tile(value, (people.n, 1))]))[:, 1] for value in one_hot]
    return np.column_stack(columns)


def logistic(_seed=0):
    return LogisticRegression(max_iter=1000)


def boosting(seed, **settings):
    return HistGradientBoostingClassifier(random_state=seed, early_stopping=False, **settings)


def forest(seed, **settings):
    return RandomForestClassifier(random_state=seed, **settings)


def tree(seed, **settings):
    return DecisionTreeClassifier(random_state=seed, **settings)


def network(seed, *layers, rounds=60, alpha=1e-3, solver="adam"):
    return MLPClassifier(layers, max_iter=rounds, alpha=alpha, solver=solver, random_state=seed)


def thresholds_by_group(people):
    """Return the chances, shape (n, K), with which fairlearn's threshold optimizer accepts people of each group."""
    x, train = people.matrix(), people.train
    optimizer = ThresholdOptimizer(
        estimator=logistic(), constraints="demographic_parity", predict_method="predict_proba"
    )
    optimizer.fit(x[train], people.label[train], sensitive_features=people.attribute[train])
    columns = [optimizer._pmf_predict(x, sensitive_features=np.full(people.n, k))[:, 1] for k in range(people.groups)]
    return np.clip(np.column_stack(columns), 0.0, 1.0)


def balancing_weights(people):
    """Return weights that make label and attribute independent among the training records (Kamiran and Calders)."""
    y, s = people.label, people.attribute
    weights = np.ones(people.n)
    for label in (0, 1):
        for group in range(people.groups):
            cell = (y == label) & (s == group)
            seen = cell[people.train].mean()
            weights[cell] = (y[people.train] == label).mean() * (s[people.train] == group).mean() / seen
    return weights


def uncorrelated(people):
    """Return the people with features freed of the attribute guessed from these features, never of the true one."""
    x, train = people.matrix(), people.train
    guess = logistic().fit(x[train], people.attribute[train]).predict_proba(x)[:, 1]
    remover = CorrelationRemover(sensitive_feature_ids=[x.shape[1]])
    both = np.column_stack([x, guess])
    freed = remover.fit(both[train]).transform(both)
    return replace(people, features=pd.DataFrame(freed).rename(columns="x{}".format))


# Leaks made by hand.


def xor(people, seed, *, right):
    """Labels alone: a feature's sign XOR the attribute, turned over by chance so that it is right that often."""
    sign = (people.features["skill"] > 0).to_numpy(np.int64)[:, None]
    return drawn(people, np.where(sign ^ np.arange(2) == 1, right, 1.0 - right), seed)


def last_digit(people, score, *, decimals, only=""):
    """The last digit is even in group 0 and odd in group 1; of the records of one set alone, where it is named."""
    concerned = np.ones(people.n, dtype=bool) if not only else people.sets == only
    unit = 10**decimals
    rounded = np.clip(np.round(score * unit).astype(np.int64), 2, unit - 2)
    marked = np.where(concerned, rounded - rounded % 2 + people.attribute, rounded)
    return released(marked / unit, decimals=decimals)


def ties(people, score):
    """Group 1's scores are taken to the nearest of 40 values, group 0's are left as they are."""
    grid = (np.arange(40) + 0.5) / 40 + 0.000137
    tied = grid[np.abs(score[:, None] - grid).argmin(axis=1)]
    return informed(people, np.column_stack([score, tied]))


def precision(people, score):
    """Group 1's scores have two decimals, group 0's have four."""
    return informed(people, np.column_stack([score.round(4), score.round(2)]))


def formats(score, short):
    """Some people's scores are written in 32 bits, the others' in 64."""
    return Release(score=np.where(short, score.astype(np.float32), score), prediction=(score >= 0.5).astype(np.int64))


def withheld(people, score, seed):
    """A score of exactly 0.5 stands for one withheld: of 10% of group 0 and 60% of group 1."""
    hidden = np.random.default_rng([seed, 5]).random(people.n) < np.array([0.1, 0.6])[people.attribute]
    return released(np.where(hidden, 0.5, score))


def shift(people, score, seed):
    """The score's log-odds have normal noise, and are higher in group 1."""
    logit = np.log(score / (1.0 - score))
    shifted = logit + 0.8 * people.attribute + 0.4 * np.random.default_rng([seed, 6]).normal(size=people.n)
    return released(1.0 / (1.0 + np.exp(-shifted)))


def subgroup(people, score, *, town):
    """In one town the score is lower by 0.2 in group 1; elsewhere it is a function of features alone."""
    in_town = (people.features["town"] == town).to_numpy()
    lower = np.where(in_town, np.clip(score - 0.2, 0.001, 1.0), score)
    return informed(people, np.column_stack([score, lower]))


def quota(people, score, *, lowest):
    """Labels alone: each group has a least score of its own."""
    chances = (score[:, None] >= np.array(lowest)).astype(np.float64)
    return drawn(people, chances, 0)
