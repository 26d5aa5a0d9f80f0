"""People the models of the bank decide about: out of a known law, from the demo, from Adult, from COMPAS."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pandas as pd

from core.datasets import load
from tests.reference.data import FOLDER

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

_WEIGHTS = {"skill": 1.2, "income": 0.8, "age": -0.5}
"""What the label of invented people depends on."""

_TOWNS = ("harbour", "hill", "mill", "station", "village")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class People:
    """Features, label and attribute of n people, and their sets, a third each."""

    features: pd.DataFrame
    attribute: Codes  # 0 to K - 1
    label: Codes  # 0 or 1
    sets: npt.NDArray[np.str_]

    @property
    def n(self):
        return int(self.label.size)

    @property
    def groups(self):
        return int(self.attribute.max()) + 1

    @property
    def train(self):
        return np.flatnonzero(self.sets == "train")

    def matrix(self):
        """Return the features for a model: numbers standardised, an indicator for each category."""
        filled = pd.get_dummies(self.features, dummy_na=False).astype(np.float64)
        filled = filled.fillna(filled.median())
        return ((filled - filled.mean()) / filled.std().replace(0.0, 1.0)).to_numpy()


def invented(seed, n=9_000, *, shares=(0.5, 0.5), proxy=0.3, bias=0.0, base=0.0, tilt=0.0, sharp=1.0):
    """Draw people out of a known law, in groups of these shares.

    "hours" rises by `proxy` standard deviations from group to group, and "town" leans as strongly. The label's log-odds
    are `base` for an average person and rise by `bias` from group to group; the weight of "skill" rises by `tilt`, so
    that the attribute matters and no group is ahead. They are multiplied by `sharp`: the larger, the less is chance.
    """
    rng = np.random.default_rng([seed, n])
    k = len(shares)
    attribute = rng.choice(k, size=n, p=shares)
    features = {name: rng.normal(size=n).round(2) for name in _WEIGHTS}
    features["hours"] = (rng.normal(size=n) + proxy * attribute).round(2)
    lean = np.exp(0.5 * min(proxy, 1.0) * np.outer(np.arange(k) - (k - 1) / 2, np.linspace(-1.0, 1.0, len(_TOWNS))))
    towns = lean / lean.sum(axis=1, keepdims=True)  # (K, towns)
    town = (rng.random((n, 1)) >= towns.cumsum(axis=1)[attribute][:, :-1]).sum(axis=1)
    merit = base + sum(weight * features[name] for name, weight in _WEIGHTS.items())
    group_effect = (bias + tilt * features["skill"])[:, None] * (np.arange(k) - (k - 1) / 2)
    chance = 1.0 / (1.0 + np.exp(-sharp * (merit[:, None] + group_effect)))  # (n, K)
    label = (rng.random(n) < chance[np.arange(n), attribute]).astype(np.int64)
    frame = pd.DataFrame({**features, "town": np.array(_TOWNS, dtype=object)[town]})
    return People(features=frame, attribute=attribute, label=label, sets=_thirds(n, rng))


def demo(seed, attribute="sex"):
    """Return the 12,000 people of the demo, by sex or origin, in sets drawn with the seed."""
    group = {"sex": "woman", "origin": "born abroad"}[attribute]
    return _of_table(load("demo"), seed, None, label=("approved", "yes"), attribute=(attribute, group))


def adult(seed, attribute="sex", n=12_000):
    """Return n people of Adult with complete records, by sex or by race (white, or not)."""
    group = {"sex": "Female", "race": "White"}[attribute]
    return _of_table(_table("adult"), seed, n, label=("income", ">50K"), attribute=(attribute, group))


def compas(seed):
    """Return the people of COMPAS with complete records, by race (African-American, or not)."""
    near_the_label = ("decile_score", "is_recid", "score_text")
    roles = {"label": ("two_year_recid", "1"), "attribute": ("race", "African-American")}
    return _of_table(_table("compas"), seed, None, **roles, without=near_the_label)


@lru_cache(maxsize=2)
def _table(name):
    return load(name, data_folder=FOLDER)


def _of_table(table, seed, n, *, label, attribute, without=()):
    rng = np.random.default_rng([seed, 7])
    frame = table.frame if table.name == "demo" else table.frame.dropna()
    chosen = rng.permutation(len(frame))[:n]
    frame = frame.iloc[chosen].reset_index(drop=True)
    codes, truth = ((frame[column].astype(str) == value).to_numpy(np.int64) for column, value in (attribute, label))
    if attribute[1] == "White":  # the smaller group is group 1
        codes = 1 - codes
    features = frame.drop(columns=[label[0], attribute[0], *without])
    return People(features=features, attribute=codes, label=truth, sets=_thirds(len(frame), rng))


def _thirds(n, rng):
    return rng.permutation(np.resize(["train", "attack", "test"], n))
