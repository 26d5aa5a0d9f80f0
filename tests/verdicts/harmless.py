"""Models that tell nothing: functions of features alone that do not know their training records."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.verdicts.entry import Case, Entry, not_seeing
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

HARMLESS = (
    Entry(
        name="random", leaks=(), reason="blind", quick=True,
        why="The score is drawn at random for everybody.",
        make=lambda seed: _random(seed, decimals=6),
    ),
    Entry(
        name="random-with-ties", leaks=(), reason="blind",
        why="The score is drawn at random out of eleven values.",
        make=lambda seed: _random(seed, decimals=1),
    ),
    Entry(
        name="constant", leaks=(), reason="blind",
        why="Everybody is accepted, with one score.",
        make=lambda seed: (people := invented(seed, 12_000), blind(people, np.full(people.n, 0.7))),
    ),
    Entry(
        name="blind-logistic", leaks=(), reason="blind", quick=True,
        why=f"A logistic regression. {_ALONE}",
        make=lambda seed: not_seeing(invented(seed, 12_000), logistic()),
    ),
    Entry(
        name="blind-logistic-2-decimals", leaks=(), reason="blind",
        why=f"A logistic regression, at two decimals. {_ALONE}",
        make=lambda seed: not_seeing(invented(seed, 12_000), logistic(), 2),
    ),
    Entry(
        name="blind-labels", leaks=(), reason="blind",
        why=f"Labels alone of a logistic regression. {_ALONE}",
        make=lambda seed: (people := invented(seed, 12_000), labels_only(not_seeing(people, logistic())[1])),
    ),
    Entry(
        name="blind-forest", leaks=(), reason="blind",
        why=f"A forest of large leaves. {_ALONE}",
        make=lambda seed: not_seeing(invented(seed, 12_000), forest(seed, min_samples_leaf=100, max_features=None)),
    ),
    Entry(
        name="blind-boosting", leaks=(), reason="blind",
        why=f"Boosting of few rounds and large leaves. {_ALONE}",
        make=lambda seed: not_seeing(
            invented(seed, 12_000),
            boosting(seed, max_iter=40, learning_rate=0.1, max_leaf_nodes=4, min_samples_leaf=100),
        ),
    ),
    Entry(
        name="private-tree", leaks=(), reason="blind",
        why=f"A tree trained with differential privacy, epsilon 0.5. {_ALONE}",
        make=lambda seed: _private(seed),
    ),
    Entry(
        name="reweighed", leaks=(), reason="blind",
        why=f"A logistic regression trained with weights that make label and attribute independent. {_ALONE}",
        make=lambda seed: _reweighed(seed),
    ),
    Entry(
        name="correlation-remover", leaks=(), reason="blind",
        why=f"A logistic regression on features freed of an attribute guessed from them. {_ALONE}",
        make=lambda seed: _freed(seed),
    ),
    Entry(
        name="demo-exponentiated-gradient", leaks=(), reason="blind",
        why=f"Exponentiated gradient on the demo: the attribute is used in training and never after it. {_ALONE}",
        make=lambda seed: _fair_demo(seed),
    ),
    Entry(
        name="adult-race", leaks=(), reason="blind", unfair=True,
        why=f"A tree of depth 5 on Adult, which does not see race. {_ALONE}",
        make=lambda seed: not_seeing(adult(seed, "race", 24_000), tree(seed, max_depth=5, min_samples_leaf=50)),
    ),
    Entry(
        name="adult-sex", leaks=(), reason="blind", unfair=True,
        why=f"A tree of depth 5 on Adult, which does not see sex. {_ALONE}",
        make=lambda seed: not_seeing(adult(seed, "sex", 24_000), tree(seed, max_depth=5, min_samples_leaf=50)),
    ),
    Entry(
        name="adult-race-cautious", leaks=(), reason="blind",
        why=f"A logistic regression on Adult that accepts from 0.9 on, and does not see race. {_ALONE}",
        make=lambda seed: not_seeing(adult(seed, "race", 24_000), logistic(), threshold=0.9),
    ),
    Entry(
        name="compas-blind", leaks=(), reason="blind", unfair=True,
        why=f"A logistic regression on COMPAS, which does not see race. {_ALONE}",
        make=lambda seed: not_seeing(compas(seed), logistic()),
    ),
    Entry(
        name="coarse", leaks=(), reason="blind",
        why=f"A logistic regression whose scores are taken to five well calibrated levels. {_ALONE}",
        make=lambda seed: _coarse(seed),
    ),
    Entry(
        name="three-groups-blind", leaks=(), reason="blind",
        why=f"A logistic regression, and people of three groups. {_ALONE}",
        make=lambda seed: not_seeing(invented(seed, 15_000, shares=(0.4, 0.35, 0.25)), logistic()),
    ),
    Entry(
        name="five-groups-blind", leaks=(), reason="blind",
        why=f"A logistic regression that accepts few, and people of five groups. {_ALONE}",
        make=lambda seed: not_seeing(invented(seed, 24_000, shares=(0.2,) * 5, proxy=0.1, base=-2.0), logistic()),
    ),
    Entry(
        name="proxies", leaks=(), reason="blind",
        why=f"A logistic regression, where features tell the attribute of 19 people in 20 without it. {_ALONE}",
        make=lambda seed: not_seeing(invented(seed, 12_000, proxy=3.2), logistic()),
    ),
    Entry(
        name="noise-features", leaks=(), reason="blind",
        why=f"A network of random weights on two features that have to do with nothing. {_ALONE}",
        make=lambda seed: _of_noise(seed),
    ),
    Entry(
        name="small-600", leaks=(), reason="blind", large_enough=False, quick=True,
        why=f"A score card set before these 600 people were seen. {_ALONE}",
        make=lambda seed: _score_card(invented(seed, 600)),
    ),
    Entry(
        name="small-1200-minority", leaks=(), reason="blind", large_enough=False,
        why=f"A score card set before these 1,200 people, a quarter of them a minority, were seen. {_ALONE}",
        make=lambda seed: _score_card(invented(seed, 1_200, shares=(0.75, 0.25))),
    ),
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
