"""Models that leak: the attribute, or who is in the training data."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.verdicts import planted
from tests.verdicts.entry import Case, kind, not_seeing, seeing
from tests.verdicts.people import Floats, People, adult, compas, demo, invented
from tests.verdicts.releases import (
    boosting,
    drawn,
    fitted,
    forest,
    informed,
    labels_only,
    logistic,
    nearest,
    network,
    thresholds_by_group,
    tree,
)

_NAMED = "Another value of the attribute would nearly always change the score: those who know the model read it off."
_LEARNT = "It answers far better about the records it was trained on than about others drawn alike."

sees = kind(("attribute",), "white box", _NAMED)
treats_apart = kind(("attribute",), "white box")
plants = kind(("attribute",), "planted")
remembers = kind(("membership",), "white box", _LEARNT)
remembers_little = kind(("membership",), "white box")
both = kind(("attribute", "membership"), "white box", _LEARNT)

LEAKING = (
    sees("logistic-6-decimals", "A logistic regression with the attribute among its inputs.",
        lambda seed: seeing(invented(seed, bias=1.0), logistic()), quick=True),
    sees("logistic-4-decimals", "The same at four decimals.",
        lambda seed: seeing(invented(seed, bias=1.0), logistic(), 4)),
    sees("logistic-3-decimals", "The same at three decimals.",
        lambda seed: seeing(invented(seed, bias=0.7), logistic(), 3)),
    sees("logistic-2-decimals", "The same at two decimals.",
        lambda seed: seeing(invented(seed, bias=1.0), logistic(), 2)),
    sees("demo-logistic", "A logistic regression with sex among its inputs, on the demo.",
        lambda seed: seeing(demo(seed), logistic())),
    sees("compas-logistic", "A logistic regression with race among its inputs, on COMPAS.",
        lambda seed: seeing(compas(seed), logistic())),
    sees("adult-logistic-race", "A logistic regression with race, a minority of 14%, among its inputs, on Adult.",
        lambda seed: seeing(adult(seed, "race"), logistic())),
    sees("adult-boosting", "Gradient boosting with sex among its inputs, on Adult.",
        lambda seed: seeing(adult(seed), boosting(seed, min_samples_leaf=40))),
    sees("boosting", "Gradient boosting with the attribute among its inputs.",
        lambda seed: seeing(invented(seed, tilt=2.0), boosting(seed, learning_rate=0.1, max_leaf_nodes=8))),
    sees("forest", "A forest with the attribute among its inputs.",
        lambda seed: seeing(invented(seed, bias=1.5), forest(seed, min_samples_leaf=20))),
    sees("network", "A network of 16 units with the attribute among its inputs.",
        lambda seed: seeing(invented(seed, tilt=2.0), network(seed, 16))),
    sees("three-groups", "A logistic regression that sees which of three groups people are in.",
        lambda seed: seeing(invented(seed, shares=(0.4, 0.35, 0.25), bias=0.8), logistic())),
    sees("model-a-group", "A logistic regression for each group.", lambda seed: _model_a_group(seed)),
    treats_apart("demo-threshold-optimizer", "Fairlearn's threshold optimizer on the demo, by origin: chances of "
        "acceptance by thresholds of each group's own, so that more than a quarter of the people have other ones "
        "in the other group.",
        lambda seed: (people := demo(seed, "origin"), informed(people, thresholds_by_group(people)))),
    treats_apart("compas-threshold-optimizer", "The same on COMPAS, by race.",
        lambda seed: (people := compas(seed), informed(people, thresholds_by_group(people)))),
    treats_apart("compas-threshold-optimizer-labels", "Labels alone of fairlearn's threshold optimizer on COMPAS, "
        "by race.",
        lambda seed: (people := compas(seed), drawn(people, thresholds_by_group(people), seed))),
    treats_apart("quota-labels", "Labels alone, with a least score for each group: between the two they are the "
        "attribute.",
        lambda seed: (people := invented(seed), planted.quota(people, _scored(people), lowest=(0.3, 0.7))), quick=True),
    plants("minority-8", "Labels alone: a feature XOR the attribute, right three times in four, for a minority of 8%.",
        lambda seed: _xor(seed, 0.08), quick=True),
    plants("minority-12", "The same for a minority of 12%.", lambda seed: _xor(seed, 0.12)),
    plants("minority-20", "The same for a minority of 20%.", lambda seed: _xor(seed, 0.20)),
    plants("xor", "Labels alone: a feature XOR the attribute, of groups of 60 and 40%: everybody's attribute follows.",
        lambda seed: _xor(seed, 0.4, right=1.0)),
    plants("digit-6", "The sixth decimal of the score is odd in group 1 and even in group 0.",
        lambda seed: (people := invented(seed), planted.last_digit(people, _scored(people), decimals=6))),
    plants("digit-3", "The third and last decimal of the score is odd in group 1 and even in group 0.",
        lambda seed: (people := invented(seed, shares=(0.7, 0.3)), planted.last_digit(people, _scored(people),
            decimals=3))),
    plants("digit-of-training-records", "The last decimal of the score tells the attribute, of training records only.",
        lambda seed: (people := invented(seed), planted.last_digit(people, _scored(people), decimals=6, only="train"))),
    plants("ties", "Scores of group 1 take 40 values, those of group 0 any.",
        lambda seed: (people := invented(seed), planted.ties(people, _scored(people)))),
    plants("precision", "Scores of group 1 have two decimals, those of group 0 have four.",
        lambda seed: (people := invented(seed), planted.precision(people, _scored(people)))),
    plants("withheld", "The score is withheld, shown as 0.5, of 60% of group 1 and of 10% of group 0.",
        lambda seed: (people := invented(seed), planted.withheld(people, _scored(people), seed))),
    plants("shift", "The score's log-odds have noise, and lie higher in group 1.",
        lambda seed: (people := invented(seed), planted.shift(people, _scored(people), seed, by=0.8, noise=0.4))),
    plants("subgroup", "In one town, where a fifth of the people live, the score is lower by 0.2 in group 1; "
        "elsewhere it says nothing.",
        lambda seed: (people := invented(seed), planted.subgroup(people, _scored(people), town="mill"))),
    remembers("forest-without-bootstrap", "A forest without bootstrap: sure of every training record.",
        lambda seed: _memorised(_noisy(seed, sharp=4.0), forest(seed, bootstrap=False)), quick=True),
    remembers("compas-forest-without-bootstrap", "The same on COMPAS, where many outsiders are like members.",
        lambda seed: _memorised(compas(seed), forest(seed, bootstrap=False))),
    remembers("default-forest", "scikit-learn's forest as it comes.",
        lambda seed: _memorised(_noisy(seed, sharp=2.0), forest(seed))),
    remembers("adult-default-forest", "scikit-learn's forest as it comes, on Adult.",
        lambda seed: _memorised(adult(seed), forest(seed))),
    remembers("deep-tree", "A tree of any depth.", lambda seed: _memorised(_noisy(seed), tree(seed))),
    remembers("demo-deep-tree", "A tree of any depth, on the demo by origin.",
        lambda seed: _memorised(demo(seed, "origin"), tree(seed))),
    remembers("nearest-neighbour", "One nearest neighbour, which of a training record is itself.",
        lambda seed: _memorised(_noisy(seed), nearest())),
    remembers("nearest-neighbour-labels", "Labels alone of one nearest neighbour: all of its training records' are "
        "right.",
        lambda seed: (people := _noisy(seed), labels_only(_memorised(people, nearest())[1]))),
    remembers("boosting-400", "Boosting of 400 rounds.",
        lambda seed: _memorised(_noisy(seed), boosting(seed, max_iter=400, learning_rate=0.2))),
    remembers("large-network", "A network of 100 units, trained until it knows its records.",
        lambda seed: _memorised(_noisy(seed), network(seed, 100, rounds=600, alpha=0.0, solver="lbfgs"))),
    both("memorising-forest-that-sees", "A forest without bootstrap and with the attribute among its inputs, on the "
        "demo.",
        lambda seed: seeing(demo(seed), forest(seed, bootstrap=False, min_samples_leaf=2))),
)  # fmt: skip

SHOWN = (
    treats_apart("demo-threshold-optimizer-sex", "Fairlearn's threshold optimizer on the demo, by sex: a reader "
        "gains 4 points, where 2 are the limit.",
        lambda seed: (people := demo(seed), informed(people, thresholds_by_group(people))), judged=False),
    remembers_little("tree-of-depth-8", "A tree of depth 8 knows its records a little: an advantage of 13%, where "
        "10% is the limit.",
        lambda seed: _memorised(_noisy(seed), tree(seed, max_depth=8)), judged=False),
)  # fmt: skip


def _scored(people: People) -> Floats:
    """Return the score of a logistic regression that does not see the attribute, inside (0, 1)."""
    return np.clip(fitted(people, logistic()), 0.002, 0.998)


def _model_a_group(seed: int) -> Case:
    people = invented(seed, bias=1.0)
    parts = []
    for group in (0, 1):
        known = (people.sets == "train") & (people.attribute == group)
        model, x = logistic(), people.matrix()
        parts.append(model.fit(x[known], people.label[known]).predict_proba(x)[:, 1])
    return people, informed(people, np.column_stack(parts))


def _xor(seed: int, share: float, right: float = 0.75) -> Case:
    people = invented(seed, shares=(1.0 - share, share))
    return people, planted.xor(people, seed, right=right)


def _noisy(seed: int, sharp: float = 1.0) -> People:
    return invented(seed, 6_000, proxy=0.2, sharp=sharp)


def _memorised(people: People, model: Any) -> Case:
    return not_seeing(people, model, decimals=4)
