"""The bank: models that leak and harmless ones, each with the reason why it is known to be so.

No entry was chosen by what an attack says of it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from fairlearn.reductions import DemographicParity, ExponentiatedGradient
from sklearn.neighbors import KNeighborsClassifier

from core.models.dp_id3 import DPID3Classifier
from tests.verdicts import releases
from tests.verdicts.people import People, adult, compas, demo, invented
from tests.verdicts.releases import Release, boosting, fitted, forest, informed, logistic, network, released, tree

MEANT = {
    "attribute": ("attribute_excess", "attribute_balanced"),
    "membership": ("membership_caught", "membership_auc", "membership_advantage"),
}
"""Kind of leak -> checks meant for it; one of them that fails is enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A model whose truth is known; `make` returns people and release of a seed.

    `leaks` are keys of `MEANT`, () of a harmless model, whose release is a function of features alone. A table is
    `large_enough` where every required check can be decided; a harmless model is `unfair` where its unfairness is near
    its limit or beyond, so that this check does not count; every run takes `quick` ones.
    """

    name: str
    leaks: tuple[str, ...]
    why: str
    make: Callable[[int], tuple[People, Release]]
    large_enough: bool = True
    unfair: bool = False
    quick: bool = False

    @property
    def needs(self):
        """Name of the table that must be there; "" if none."""
        return self.name.split("-")[0] if self.name.startswith(("adult-", "compas-")) else ""

    @property
    def meant(self):
        return tuple(check for kind in self.leaks for check in MEANT[kind])


def kind(leaks, because=""):
    """Return what makes entries of one kind, from a name, a sentence and a function; `because` ends the sentence."""

    def entry(name, why, make, **more):
        return Entry(name=name, leaks=leaks, why=f"{why} {because}".rstrip(), make=make, **more)

    return entry


def seeing(draw, model, decimals=6):
    """Return what makes the case of a model that has the attribute among its inputs; people and model are of a seed."""

    def make(seed):
        people = draw(seed)
        return people, informed(people, fitted(people, model(seed), sees_attribute=True), decimals=decimals)

    return make


def not_seeing(draw, model, decimals=6, threshold=0.5):
    """Return what makes the case of a model that has not."""

    def make(seed):
        people = draw(seed)
        return people, released(fitted(people, model(seed)), decimals=decimals, threshold=threshold)

    return make


_many = partial(invented, n=12_000)
_noisy = partial(invented, n=6_000, proxy=0.2)
_memorised = partial(not_seeing, decimals=4)
_shallow = partial(tree, max_depth=5, min_samples_leaf=50)

_READABLE = "Another value of the attribute would nearly always change the score: those who know the model read it off."
_LEARNT = "It answers far better about the records it was trained on than about others drawn alike."

sees = kind(("attribute",), _READABLE)
plants = kind(("attribute",))
remembers = kind(("membership",), _LEARNT)
both = kind(("attribute", "membership"), _LEARNT)


def _scored(people):
    """Return the score of a logistic regression that does not see the attribute, inside (0, 1)."""
    return np.clip(fitted(people, logistic()), 0.002, 0.998)


def altered(change, draw=invented, **options):
    """Return what makes people with a score that tells nothing of them but what a change puts into it."""

    def make(seed):
        people = draw(seed)
        return people, change(people, _scored(people), **options)

    return make


def _labels(make):
    def make_labels(seed):
        people, release = make(seed)
        return people, replace(release, score=None)

    return make_labels


def _xor(seed, *, share, right=0.75):
    people = invented(seed, shares=(1.0 - share, share))
    return people, releases.xor(people, seed, right=right)


def _model_a_group(seed):
    people = invented(seed, bias=1.0)
    parts = []
    for group in (0, 1):
        trained = (people.sets == "train") & (people.attribute == group)
        model, x = logistic(), people.matrix()
        parts.append(model.fit(x[trained], people.label[trained]).predict_proba(x)[:, 1])
    return people, informed(people, np.column_stack(parts))


def _random(seed, *, decimals):
    people = _many(seed)
    return people, released(np.random.default_rng([seed, 8]).random(people.n), decimals=decimals)


def _private(seed):
    people = _many(seed)
    x = np.clip(people.matrix(), -3.0, 3.0)
    model = DPID3Classifier(0.5, 3, seed, domains=[(-3.0, 3.0)] * x.shape[1], classes=(0, 1))
    model.fit(x[people.train], people.label[people.train])
    return people, released(np.clip(model.predict_proba(x)[:, 1], 0.0, 1.0))


def _reweighed(seed):
    people = _many(seed, bias=1.0)
    return people, released(fitted(people, logistic(), weights=releases.balancing_weights(people)))


def _freed(seed):
    people = _many(seed, bias=1.0, proxy=0.5)
    return people, released(fitted(releases.uncorrelated(people), logistic()))


def _fair_demo(seed):
    people = demo(seed)
    x, train = people.matrix(), people.train
    model = ExponentiatedGradient(logistic(), DemographicParity(difference_bound=0.005))
    model.fit(x[train], people.label[train], sensitive_features=people.attribute[train])
    release = released(np.clip(model._pmf_predict(x)[:, 1], 0.0, 1.0))
    return people, replace(release, prediction=np.asarray(model.predict(x, random_state=seed)).astype(np.int64))


def _coarse(seed):
    people = _many(seed)
    score = fitted(people, logistic())
    level = np.digitize(score, np.quantile(score, [0.2, 0.4, 0.6, 0.8]))
    rates = np.array([people.label[people.train][level[people.train] == k].mean() for k in range(5)])
    return people, released(rates[level], decimals=3)


def _of_noise(seed):
    people = _many(seed)
    rng = np.random.default_rng([seed, 9])
    luck = rng.normal(size=(people.n, 2)).round(2)
    logit = np.tanh(luck @ rng.normal(size=(2, 6))) @ rng.normal(size=6)
    features = people.features.assign(luck=luck[:, 0], chance=luck[:, 1])
    return replace(people, features=features), released(1.0 / (1.0 + np.exp(-logit)))


def _score_card(people):
    logit = people.features["skill"] + 0.5 * people.features["income"]
    return people, released((1.0 / (1.0 + np.exp(-logit))).to_numpy())


LEAKING = (
    *(sees(f"logistic-{decimals}-decimals", "A logistic regression with the attribute among its inputs.",
        seeing(partial(invented, bias=bias), logistic, decimals))
        for decimals, bias in ((6, 1.0), (4, 1.0), (3, 0.7), (2, 1.0))),
    sees("demo-logistic", "A logistic regression with sex among its inputs, on the demo.", seeing(demo, logistic)),
    sees("compas-logistic", "A logistic regression with race among its inputs, on COMPAS.", seeing(compas, logistic)),
    sees("adult-logistic-race", "A logistic regression with race, a minority of 14%, among its inputs, on Adult.",
        seeing(partial(adult, attribute="race"), logistic)),
    sees("adult-boosting", "Gradient boosting with sex among its inputs, on Adult.",
        seeing(adult, partial(boosting, min_samples_leaf=40))),
    sees("boosting", "Gradient boosting with the attribute among its inputs.",
        seeing(partial(invented, tilt=2.0), partial(boosting, learning_rate=0.1, max_leaf_nodes=8))),
    sees("forest", "A forest with the attribute among its inputs.",
        seeing(partial(invented, bias=1.5), partial(forest, min_samples_leaf=20))),
    sees("network", "A network of 16 units with the attribute among its inputs.",
        seeing(partial(invented, tilt=2.0), lambda seed: network(seed, 16))),
    sees("three-groups", "A logistic regression that sees which of three groups people are in.",
        seeing(partial(invented, shares=(0.4, 0.35, 0.25), bias=0.8), logistic)),
    sees("model-a-group", "A logistic regression for each group.", _model_a_group),
    plants("demo-threshold-optimizer", "Fairlearn's threshold optimizer on the demo, by origin: chances of "
        "acceptance by thresholds of each group's own, so that more than a quarter of the people have other ones "
        "in the other group.",
        lambda seed: (people := demo(seed, "origin"), informed(people, releases.thresholds_by_group(people)))),
    plants("compas-threshold-optimizer", "The same on COMPAS, by race.",
        lambda seed: (people := compas(seed), informed(people, releases.thresholds_by_group(people)))),
    plants("compas-threshold-optimizer-labels", "Labels alone of fairlearn's threshold optimizer on COMPAS, "
        "by race.",
        lambda seed: (people := compas(seed), releases.drawn(people, releases.thresholds_by_group(people), seed))),
    plants("quota-labels", "Labels alone, with a least score for each group: between the two they are the "
        "attribute.",
        altered(releases.quota, lowest=(0.3, 0.7))),
    *(plants(f"minority-{share}", f"Labels alone: a feature XOR the attribute, right three times in four, for a"
        f" minority of {share}%.", partial(_xor, share=share / 100)) for share in (8, 12, 20)),
    plants("xor", "Labels alone: a feature XOR the attribute, of groups of 60 and 40%: everybody's attribute follows.",
        partial(_xor, share=0.4, right=1.0)),
    plants("digit-6", "The sixth decimal of the score is odd in group 1 and even in group 0.",
        altered(releases.last_digit, decimals=6)),
    plants("digit-3", "The third and last decimal of the score is odd in group 1 and even in group 0.",
        altered(releases.last_digit, partial(invented, shares=(0.7, 0.3)), decimals=3)),
    plants("digit-of-training-records", "The last decimal of the score tells the attribute, of training records only.",
        altered(releases.last_digit, decimals=6, only="train")),
    plants("ties", "Scores of group 1 take 40 values, those of group 0 any.", altered(releases.ties)),
    plants("precision", "Scores of group 1 have two decimals, those of group 0 have four.",
        altered(releases.precision)),
    plants("formats", "Scores of group 1 are written in 32 bits, those of group 0 in 64.",
        lambda seed: (people := invented(seed), releases.formats(_scored(people), people.attribute == 1))),
    plants("withheld", "The score is withheld, shown as 0.5, of 60% of group 1 and of 10% of group 0.",
        lambda seed: (people := invented(seed), releases.withheld(people, _scored(people), seed))),
    plants("shift", "The score's log-odds have noise, and lie higher in group 1.",
        lambda seed: (people := invented(seed), releases.shift(people, _scored(people), seed))),
    plants("subgroup", "In one town, where a fifth of the people live, the score is lower by 0.2 in group 1; "
        "elsewhere it says nothing.",
        altered(releases.subgroup, town="mill")),
    remembers("forest-without-bootstrap", "A forest without bootstrap: sure of every training record.",
        _memorised(partial(_noisy, sharp=4.0, n=3_000), partial(forest, bootstrap=False)), quick=True),
    remembers("compas-forest-without-bootstrap", "The same on COMPAS, where many outsiders are like members.",
        _memorised(compas, partial(forest, bootstrap=False))),
    remembers("default-forest", "scikit-learn's forest as it comes.", _memorised(partial(_noisy, sharp=2.0), forest)),
    remembers("adult-default-forest", "scikit-learn's forest as it comes, on Adult.", _memorised(adult, forest)),
    remembers("deep-tree", "A tree of any depth.", _memorised(_noisy, tree)),
    remembers("demo-deep-tree", "A tree of any depth, on the demo by origin.",
        _memorised(partial(demo, attribute="origin"), tree)),
    remembers("nearest-neighbour", "One nearest neighbour, which of a training record is itself.",
        _memorised(_noisy, lambda seed: KNeighborsClassifier(1))),
    remembers("nearest-neighbour-labels", "Labels alone of one nearest neighbour: all of its training records' are "
        "right.",
        _labels(_memorised(_noisy, lambda seed: KNeighborsClassifier(1)))),
    kind(("membership",))("formats-of-training-records", "Scores of training records are written in 32 bits, those of "
        "others in 64.",
        lambda seed: (people := invented(seed), releases.formats(_scored(people), people.sets == "train"))),
    remembers("boosting-400", "Boosting of 400 rounds.",
        _memorised(_noisy, partial(boosting, max_iter=400, learning_rate=0.2))),
    remembers("large-network", "A network of 100 units, trained until it knows its records.",
        _memorised(_noisy, lambda seed: network(seed, 100, rounds=600, alpha=0.0, solver="lbfgs"))),
    both("memorising-forest-that-sees", "A forest without bootstrap and with the attribute among its inputs, on the "
        "demo.",
        seeing(demo, partial(forest, bootstrap=False, min_samples_leaf=2))),
)  # fmt: skip


_ALONE = "It is a function of the features alone, and those who know the features learn nothing from it."

blind_to_it = kind((), _ALONE)
tells_nothing = kind(())

HARMLESS = (
    tells_nothing("random", "The score is drawn at random for everybody.", partial(_random, decimals=6)),
    tells_nothing("random-with-ties", "The score is drawn at random out of eleven values.",
        partial(_random, decimals=1)),
    tells_nothing("constant", "Everybody is accepted, with one score.",
        lambda seed: (people := _many(seed), released(np.full(people.n, 0.7)))),
    blind_to_it("blind-logistic", "A logistic regression.", not_seeing(_many, logistic), quick=True),
    blind_to_it("blind-logistic-2-decimals", "A logistic regression, at two decimals.", not_seeing(_many, logistic, 2)),
    blind_to_it("blind-labels", "Labels alone of a logistic regression.", _labels(not_seeing(_many, logistic))),
    blind_to_it("blind-forest", "A forest of large leaves.",
        not_seeing(_many, partial(forest, min_samples_leaf=100, max_features=None))),
    blind_to_it("blind-boosting", "Boosting of few rounds and large leaves.",
        not_seeing(_many, partial(boosting, max_iter=40, learning_rate=0.1, max_leaf_nodes=4, min_samples_leaf=100))),
    blind_to_it("private-tree", "A tree trained with differential privacy, epsilon 0.5.", _private),
    blind_to_it("reweighed", "A logistic regression trained with weights that make label and attribute independent.",
        _reweighed),
    blind_to_it("correlation-remover", "A logistic regression on features freed of an attribute guessed from them.",
        _freed),
    blind_to_it("demo-exponentiated-gradient", "Exponentiated gradient on the demo: the attribute is used in "
        "training and never after it.",
        _fair_demo),
    blind_to_it("adult-race", "A tree of depth 5 on Adult, which does not see race.",
        not_seeing(partial(adult, attribute="race", n=24_000), _shallow), unfair=True),
    blind_to_it("adult-sex", "A tree of depth 5 on Adult, which does not see sex.",
        not_seeing(partial(adult, n=24_000), _shallow), unfair=True),
    blind_to_it("adult-race-cautious", "A logistic regression on Adult that accepts from 0.9 on, and does not see "
        "race.",
        not_seeing(partial(adult, attribute="race", n=24_000), logistic, threshold=0.9)),
    blind_to_it("compas-blind", "A logistic regression on COMPAS, which does not see race.",
        not_seeing(compas, logistic), unfair=True),
    blind_to_it("coarse", "A logistic regression whose scores are taken to five well calibrated levels.", _coarse),
    blind_to_it("three-groups-blind", "A logistic regression, and people of three groups.",
        not_seeing(partial(invented, n=15_000, shares=(0.4, 0.35, 0.25)), logistic)),
    blind_to_it("five-groups-blind", "A logistic regression that accepts few, and people of five groups.",
        not_seeing(partial(invented, n=24_000, shares=(0.2,) * 5, proxy=0.1, base=-2.0), logistic)),
    blind_to_it("proxies", "A logistic regression, where features tell the attribute of 19 people in 20 without it.",
        not_seeing(partial(invented, n=12_000, proxy=3.2), logistic)),
    blind_to_it("noise-features", "A network of random weights on two features that have to do with nothing.",
        _of_noise),
    blind_to_it("small-600", "A score card set before these 600 people were seen.",
        lambda seed: _score_card(invented(seed, 600)), large_enough=False, quick=True),
    blind_to_it("small-1200-minority", "A score card set before these 1,200 people, a quarter of them a minority, "
        "were seen.",
        lambda seed: _score_card(invented(seed, 1_200, shares=(0.75, 0.25))), large_enough=False),
)  # fmt: skip


BANK = {entry.name: entry for entry in (*LEAKING, *HARMLESS)}
"""Name -> entry."""
