"""Leaks made by hand, each with the law it follows; what is said of bits is said by `truth`."""

from __future__ import annotations

import numpy as np

from tests.verdicts.people import Floats, People
from tests.verdicts.releases import Release, drawn, informed, planted


def xor(people: People, seed: int, *, right: float) -> Release:
    """Labels alone: a feature's sign XOR the attribute, turned over by chance so that it is right that often."""
    sign = (people.features["skill"] > 0).to_numpy(np.int64)[:, None]
    return drawn(people, np.where(sign ^ np.arange(2) == 1, right, 1.0 - right), seed)


def last_digit(people: People, score: Floats, *, decimals: int, only: str = "") -> Release:
    """The last digit is even in group 0 and odd in group 1; of the records of one set alone, where it is named."""
    concerned = np.ones(people.n, dtype=bool) if not only else people.sets == only
    unit = 10**decimals
    whole = np.clip(np.round(score * unit).astype(np.int64), 2, unit - 2)
    marked = np.where(concerned, whole - whole % 2 + people.attribute, whole)
    likelihood = np.where(concerned[:, None], (marked % 2)[:, None] == np.arange(2), True).astype(np.float64)
    return planted(people, marked / unit, likelihood, decimals=decimals)


def ties(people: People, score: Floats) -> Release:
    """Group 1's scores are taken to the nearest of 40 values, group 0's are left as they are."""
    grid = (np.arange(40) + 0.5) / 40 + 0.000137
    tied = grid[np.abs(score[:, None] - grid).argmin(axis=1)]
    return informed(people, np.column_stack([score, tied]))


def precision(people: People, score: Floats) -> Release:
    """Group 1's scores have two decimals, group 0's have four."""
    return informed(people, np.column_stack([score.round(4), score.round(2)]))


def withheld(people: People, score: Floats, seed: int) -> Release:
    """A score of exactly 0.5 stands for one withheld: of 10% of group 0 and 60% of group 1."""
    shares = np.array([0.1, 0.6])
    hidden = np.random.default_rng([seed, 5]).random(people.n) < shares[people.attribute]
    likelihood = np.where(hidden[:, None], shares, 1.0 - shares)
    return planted(people, np.where(hidden, 0.5, score), likelihood)


def shift(people: People, score: Floats, seed: int, *, by: float, noise: float) -> Release:
    """The score's log-odds have normal noise, and are higher in group 1."""
    logit = np.log(score / (1.0 - score))
    told = logit + by * people.attribute + noise * np.random.default_rng([seed, 6]).normal(size=people.n)
    off = (told - logit)[:, None] - by * np.arange(2)
    return planted(people, 1.0 / (1.0 + np.exp(-told)), np.exp(-0.5 * (off / noise) ** 2))


def subgroup(people: People, score: Floats, *, town: str) -> Release:
    """In one town the score is lower by 0.2 in group 1; elsewhere it is a function of features alone."""
    there = (people.features["town"] == town).to_numpy()
    lower = np.where(there, np.clip(score - 0.2, 0.001, 1.0), score)
    return informed(people, np.column_stack([score, lower]))


def quota(people: People, score: Floats, *, lowest: tuple[float, float]) -> Release:
    """Labels alone: each group has a least score of its own."""
    chances = (score[:, None] >= np.array(lowest)).astype(np.float64)
    return drawn(people, chances, 0)
