"""Models that tell nothing: functions of features alone that do not know their training records."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.verdicts.entry import Case, kind, not_seeing
from tests.verdicts.people import People, adult, compas, demo, invented
from tests.verdicts.releases import (
    balancing_weights,
    blind,
    boosting,
    fitted,
    forest,
    labels_only,
    logistic,
    tree,
    uncorrelated,
)

_ALONE = "It is a function of the features alone, and those who know the features learn nothing from it."

blind_to_it = kind((), "blind", _ALONE)
tells_nothing = kind((), "blind")

HARMLESS = (
    tells_nothing("random", "The score is drawn at random for everybody.",
        lambda seed: _random(seed, decimals=6), quick=True),
    tells_nothing("random-with-ties", "The score is drawn at random out of eleven values.",
        lambda seed: _random(seed, decimals=1)),
    tells_nothing("constant", "Everybody is accepted, with one score.",
        lambda seed: (people := invented(seed, 12_000), blind(people, np.full(people.n, 0.7)))),
    blind_to_it("blind-logistic", "A logistic regression.",
        lambda seed: not_seeing(invented(seed, 12_000), logistic()), quick=True),
    blind_to_it("blind-logistic-2-decimals", "A logistic regression, at two decimals.",
        lambda seed: not_seeing(invented(seed, 12_000), logistic(), 2)),
    blind_to_it("blind-labels", "Labels alone of a logistic regression.",
        lambda seed: (people := invented(seed, 12_000), labels_only(not_seeing(people, logistic())[1]))),
    blind_to_it("blind-forest", "A forest of large leaves.",
        lambda seed: not_seeing(invented(seed, 12_000), forest(seed, min_samples_leaf=100, max_features=None))),
    blind_to_it("blind-boosting", "Boosting of few rounds and large leaves.",
        lambda seed: not_seeing(invented(seed, 12_000), boosting(seed, max_iter=40, learning_rate=0.1,
            max_leaf_nodes=4, min_samples_leaf=100))),
    blind_to_it("private-tree", "A tree trained with differential privacy, epsilon 0.5.", lambda seed: _private(seed)),
    blind_to_it("reweighed", "A logistic regression trained with weights that make label and attribute independent.",
        lambda seed: _reweighed(seed)),
    blind_to_it("correlation-remover", "A logistic regression on features freed of an attribute guessed from them.",
        lambda seed: _freed(seed)),
    blind_to_it("demo-exponentiated-gradient", "Exponentiated gradient on the demo: the attribute is used in "
        "training and never after it.",
        lambda seed: _fair_demo(seed)),
    blind_to_it("adult-race", "A tree of depth 5 on Adult, which does not see race.",
        lambda seed: not_seeing(adult(seed, "race", 24_000), tree(seed, max_depth=5, min_samples_leaf=50)),
            unfair=True),
    blind_to_it("adult-sex", "A tree of depth 5 on Adult, which does not see sex.",
        lambda seed: not_seeing(adult(seed, "sex", 24_000), tree(seed, max_depth=5, min_samples_leaf=50)), unfair=True),
    blind_to_it("adult-race-cautious", "A logistic regression on Adult that accepts from 0.9 on, and does not see "
        "race.",
        lambda seed: not_seeing(adult(seed, "race", 24_000), logistic(), threshold=0.9)),
    blind_to_it("compas-blind", "A logistic regression on COMPAS, which does not see race.",
        lambda seed: not_seeing(compas(seed), logistic()), unfair=True),
    blind_to_it("coarse", "A logistic regression whose scores are taken to five well calibrated levels.",
        lambda seed: _coarse(seed)),
    blind_to_it("three-groups-blind", "A logistic regression, and people of three groups.",
        lambda seed: not_seeing(invented(seed, 15_000, shares=(0.4, 0.35, 0.25)), logistic())),
    blind_to_it("five-groups-blind", "A logistic regression that accepts few, and people of five groups.",
        lambda seed: not_seeing(invented(seed, 24_000, shares=(0.2,) * 5, proxy=0.1, base=-2.0), logistic())),
    blind_to_it("proxies", "A logistic regression, where features tell the attribute of 19 people in 20 without it.",
        lambda seed: not_seeing(invented(seed, 12_000, proxy=3.2), logistic())),
    blind_to_it("noise-features", "A network of random weights on two features that have to do with nothing.",
        lambda seed: _of_noise(seed)),
    blind_to_it("small-600", "A score card set before these 600 people were seen.",
        lambda seed: _score_card(invented(seed, 600)), large_enough=False, quick=True),
    blind_to_it("small-1200-minority", "A score card set before these 1,200 people, a quarter of them a minority, "
        "were seen.",
        lambda seed: _score_card(invented(seed, 1_200, shares=(0.75, 0.25))), large_enough=False),
)  # fmt: skip


def _random(seed: int, *, decimals: int) -> Case:
    people = invented(seed, 12_000)
    return people, blind(people, np.random.default_rng([seed, 8]).random(people.n), decimals=decimals)


def _private(seed: int) -> Case:
    from core.models import DPID3Classifier

    people = invented(seed, 12_000)
    x = np.clip(people.matrix(), -3.0, 3.0)
    model = DPID3Classifier(0.5, 3, seed, domains=[(-3.0, 3.0)] * x.shape[1], classes=(0, 1))
    model.fit(x[people.train], people.label[people.train])
    return people, blind(people, np.clip(model.predict_proba(x)[:, 1], 0.0, 1.0))


def _reweighed(seed: int) -> Case:
    people = invented(seed, 12_000, bias=1.0)
    return people, blind(people, fitted(people, logistic(), weights=balancing_weights(people)))


def _freed(seed: int) -> Case:
    people = invented(seed, 12_000, bias=1.0, proxy=0.5)
    return people, blind(people, fitted(uncorrelated(people), logistic()))


def _fair_demo(seed: int) -> Case:
    from fairlearn.reductions import DemographicParity, ExponentiatedGradient

    people = demo(seed)
    x, train = people.matrix(), people.train
    model = ExponentiatedGradient(logistic(), DemographicParity(difference_bound=0.005))
    model.fit(x[train], people.label[train], sensitive_features=people.attribute[train])
    release = blind(people, np.clip(model._pmf_predict(x)[:, 1], 0.0, 1.0))
    return people, replace(release, prediction=np.asarray(model.predict(x, random_state=seed)).astype(np.int64))


def _coarse(seed: int) -> Case:
    people = invented(seed, 12_000)
    score = fitted(people, logistic())
    level = np.digitize(score, np.quantile(score, [0.2, 0.4, 0.6, 0.8]))
    rates = np.array([people.label[people.train][level[people.train] == k].mean() for k in range(5)])
    return people, blind(people, rates[level], decimals=3)


def _of_noise(seed: int) -> Case:
    people = invented(seed, 12_000)
    rng = np.random.default_rng([seed, 9])
    luck = rng.normal(size=(people.n, 2)).round(2)
    logit = np.tanh(luck @ rng.normal(size=(2, 6))) @ rng.normal(size=6)
    features = people.features.assign(luck=luck[:, 0], chance=luck[:, 1])
    return replace(people, features=features), blind(people, 1.0 / (1.0 + np.exp(-logit)))


def _score_card(people: People) -> Case:
    logit = people.features["skill"] + 0.5 * people.features["income"]
    return people, blind(people, (1.0 / (1.0 + np.exp(-logit))).to_numpy())
