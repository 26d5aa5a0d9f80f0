"""Models that leak: the attribute, or who is in the training data."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.verdicts import planted
from tests.verdicts.entry import Case, Entry, not_seeing, seeing
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

LEAKING = (
    Entry(
        name="logistic-6-decimals", leaks=("attribute",), reason="white box", quick=True,
        why=f"A logistic regression with the attribute among its inputs. {_NAMED}",
        make=lambda seed: seeing(invented(seed, bias=1.0), logistic()),
    ),
    Entry(
        name="logistic-4-decimals", leaks=("attribute",), reason="white box",
        why=f"The same at four decimals. {_NAMED}",
        make=lambda seed: seeing(invented(seed, bias=1.0), logistic(), 4),
    ),
    Entry(
        name="logistic-3-decimals", leaks=("attribute",), reason="white box",
        why=f"The same at three decimals. {_NAMED}",
        make=lambda seed: seeing(invented(seed, bias=0.7), logistic(), 3),
    ),
    Entry(
        name="logistic-2-decimals", leaks=("attribute",), reason="white box",
        why=f"The same at two decimals. {_NAMED}",
        make=lambda seed: seeing(invented(seed, bias=1.0), logistic(), 2),
    ),
    Entry(
        name="demo-logistic", leaks=("attribute",), reason="white box",
        why=f"A logistic regression with sex among its inputs, on the demo. {_NAMED}",
        make=lambda seed: seeing(demo(seed), logistic()),
    ),
    Entry(
        name="compas-logistic", leaks=("attribute",), reason="white box",
        why=f"A logistic regression with race among its inputs, on COMPAS. {_NAMED}",
        make=lambda seed: seeing(compas(seed), logistic()),
    ),
    Entry(
        name="adult-logistic-race", leaks=("attribute",), reason="white box",
        why=f"A logistic regression with race, a minority of 14%, among its inputs, on Adult. {_NAMED}",
        make=lambda seed: seeing(adult(seed, "race"), logistic()),
    ),
    Entry(
        name="adult-boosting", leaks=("attribute",), reason="white box",
        why=f"Gradient boosting with sex among its inputs, on Adult. {_NAMED}",
        make=lambda seed: seeing(adult(seed), boosting(seed, min_samples_leaf=40)),
    ),
    Entry(
        name="boosting", leaks=("attribute",), reason="white box",
        why=f"Gradient boosting with the attribute among its inputs. {_NAMED}",
        make=lambda seed: seeing(invented(seed, tilt=2.0), boosting(seed, learning_rate=0.1, max_leaf_nodes=8)),
    ),
    Entry(
        name="forest", leaks=("attribute",), reason="white box",
        why=f"A forest with the attribute among its inputs. {_NAMED}",
        make=lambda seed: seeing(invented(seed, bias=1.5), forest(seed, min_samples_leaf=20)),
    ),
    Entry(
        name="network", leaks=("attribute",), reason="white box",
        why=f"A network of 16 units with the attribute among its inputs. {_NAMED}",
        make=lambda seed: seeing(invented(seed, tilt=2.0), network(seed, 16)),
    ),
    Entry(
        name="three-groups", leaks=("attribute",), reason="white box",
        why=f"A logistic regression that sees which of three groups people are in. {_NAMED}",
        make=lambda seed: seeing(invented(seed, shares=(0.4, 0.35, 0.25), bias=0.8), logistic()),
    ),
    Entry(
        name="model-a-group", leaks=("attribute",), reason="white box",
        why=f"A logistic regression for each group. {_NAMED}",
        make=lambda seed: _model_a_group(seed),
    ),
    Entry(
        name="demo-threshold-optimizer", leaks=("attribute",), reason="white box",
        why="Fairlearn's threshold optimizer on the demo, by origin: chances of acceptance by thresholds of each "
        "group's own, so that more than a quarter of the people have other ones in the other group.",
        make=lambda seed: (people := demo(seed, "origin"), informed(people, thresholds_by_group(people))),
    ),
    Entry(
        name="compas-threshold-optimizer", leaks=("attribute",), reason="white box",
        why="The same on COMPAS, by race.",
        make=lambda seed: (people := compas(seed), informed(people, thresholds_by_group(people))),
    ),
    Entry(
        name="compas-threshold-optimizer-labels", leaks=("attribute",), reason="white box",
        why="Labels alone of fairlearn's threshold optimizer on COMPAS, by race.",
        make=lambda seed: (people := compas(seed), drawn(people, thresholds_by_group(people), seed)),
    ),
    Entry(
        name="quota-labels", leaks=("attribute",), reason="white box", quick=True,
        why="Labels alone, with a least score for each group: between the two they are the attribute.",
        make=lambda seed: (people := invented(seed), planted.quota(people, _scored(people), lowest=(0.3, 0.7))),
    ),
    Entry(
        name="minority-8", leaks=("attribute",), reason="planted", quick=True,
        why="Labels alone: a feature XOR the attribute, right three times in four, for a minority of 8%.",
        make=lambda seed: _xor(seed, 0.08),
    ),
    Entry(
        name="minority-12", leaks=("attribute",), reason="planted",
        why="The same for a minority of 12%.",
        make=lambda seed: _xor(seed, 0.12),
    ),
    Entry(
        name="minority-20", leaks=("attribute",), reason="planted",
        why="The same for a minority of 20%.",
        make=lambda seed: _xor(seed, 0.20),
    ),
    Entry(
        name="xor", leaks=("attribute",), reason="planted",
        why="Labels alone: a feature XOR the attribute, of groups of 60 and 40%: everybody's attribute follows.",
        make=lambda seed: _xor(seed, 0.4, right=1.0),
    ),
    Entry(
        name="digit-6", leaks=("attribute",), reason="planted",
        why="The sixth decimal of the score is odd in group 1 and even in group 0.",
        make=lambda seed: (people := invented(seed), planted.last_digit(people, _scored(people), decimals=6)),
    ),
    Entry(
        name="digit-3", leaks=("attribute",), reason="planted",
        why="The third and last decimal of the score is odd in group 1 and even in group 0.",
        make=lambda seed: (
            people := invented(seed, shares=(0.7, 0.3)),
            planted.last_digit(people, _scored(people), decimals=3),
        ),
    ),
    Entry(
        name="digit-of-training-records", leaks=("attribute",), reason="planted",
        why="The last decimal of the score tells the attribute, of training records only.",
        make=lambda seed: (
            people := invented(seed),
            planted.last_digit(people, _scored(people), decimals=6, only="train"),
        ),
    ),
    Entry(
        name="ties", leaks=("attribute",), reason="planted",
        why="Scores of group 1 take 40 values, those of group 0 any.",
        make=lambda seed: (people := invented(seed), planted.ties(people, _scored(people))),
    ),
    Entry(
        name="precision", leaks=("attribute",), reason="planted",
        why="Scores of group 1 have two decimals, those of group 0 have four.",
        make=lambda seed: (people := invented(seed), planted.precision(people, _scored(people))),
    ),
    Entry(
        name="withheld", leaks=("attribute",), reason="planted",
        why="The score is withheld, shown as 0.5, of 60% of group 1 and of 10% of group 0.",
        make=lambda seed: (people := invented(seed), planted.withheld(people, _scored(people), seed)),
    ),
    Entry(
        name="shift", leaks=("attribute",), reason="planted",
        why="The score's log-odds have noise, and lie higher in group 1.",
        make=lambda seed: (
            people := invented(seed),
            planted.shift(people, _scored(people), seed, by=0.8, noise=0.4),
        ),
    ),
    Entry(
        name="subgroup", leaks=("attribute",), reason="planted",
        why="In one town, where a fifth of the people live, the score is lower by 0.2 in group 1; elsewhere it says "
        "nothing.",
        make=lambda seed: (people := invented(seed), planted.subgroup(people, _scored(people), town="mill")),
    ),
    Entry(
        name="forest-without-bootstrap", leaks=("membership",), reason="white box", quick=True,
        why=f"A forest without bootstrap: sure of every training record. {_LEARNT}",
        make=lambda seed: _memorised(_noisy(seed, sharp=4.0), forest(seed, bootstrap=False)),
    ),
    Entry(
        name="compas-forest-without-bootstrap",
        leaks=("membership",),
        reason="white box",
        why=f"The same on COMPAS, where many outsiders are like members. {_LEARNT}",
        make=lambda seed: _memorised(compas(seed), forest(seed, bootstrap=False)),
    ),
    Entry(
        name="default-forest", leaks=("membership",), reason="white box",
        why=f"scikit-learn's forest as it comes. {_LEARNT}",
        make=lambda seed: _memorised(_noisy(seed, sharp=2.0), forest(seed)),
    ),
    Entry(
        name="adult-default-forest", leaks=("membership",), reason="white box",
        why=f"scikit-learn's forest as it comes, on Adult. {_LEARNT}",
        make=lambda seed: _memorised(adult(seed), forest(seed)),
    ),
    Entry(
        name="deep-tree", leaks=("membership",), reason="white box",
        why=f"A tree of any depth. {_LEARNT}",
        make=lambda seed: _memorised(_noisy(seed), tree(seed)),
    ),
    Entry(
        name="demo-deep-tree", leaks=("membership",), reason="white box",
        why=f"A tree of any depth, on the demo by origin. {_LEARNT}",
        make=lambda seed: _memorised(demo(seed, "origin"), tree(seed)),
    ),
    Entry(
        name="nearest-neighbour", leaks=("membership",), reason="white box",
        why=f"One nearest neighbour, which of a training record is itself. {_LEARNT}",
        make=lambda seed: _memorised(_noisy(seed), nearest()),
    ),
    Entry(
        name="nearest-neighbour-labels", leaks=("membership",), reason="white box",
        why=f"Labels alone of one nearest neighbour: all of its training records' are right. {_LEARNT}",
        make=lambda seed: (people := _noisy(seed), labels_only(_memorised(people, nearest())[1])),
    ),
    Entry(
        name="boosting-400", leaks=("membership",), reason="white box",
        why=f"Boosting of 400 rounds. {_LEARNT}",
        make=lambda seed: _memorised(_noisy(seed), boosting(seed, max_iter=400, learning_rate=0.2)),
    ),
    Entry(
        name="large-network", leaks=("membership",), reason="white box",
        why=f"A network of 100 units, trained until it knows its records. {_LEARNT}",
        make=lambda seed: _memorised(_noisy(seed), network(seed, 100, rounds=600, alpha=0.0, solver="lbfgs")),
    ),
    Entry(
        name="memorising-forest-that-sees", leaks=("attribute", "membership"), reason="white box",
        why=f"A forest without bootstrap and with the attribute among its inputs, on the demo. {_LEARNT}",
        make=lambda seed: seeing(demo(seed), forest(seed, bootstrap=False, min_samples_leaf=2)),
    ),
)  # fmt: skip

SHOWN = (
    Entry(
        name="demo-threshold-optimizer-sex", leaks=("attribute",), reason="white box", judged=False,
        why="Fairlearn's threshold optimizer on the demo, by sex: a reader gains 4 points, where 2 are the limit.",
        make=lambda seed: (people := demo(seed), informed(people, thresholds_by_group(people))),
    ),
    Entry(
        name="tree-of-depth-8", leaks=("membership",), reason="white box", judged=False,
        why="A tree of depth 8 knows its records a little: an advantage of 13%, where 10% is the limit.",
        make=lambda seed: _memorised(_noisy(seed), tree(seed, max_depth=8)),
    ),
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
