"""One bank of correction problems, run against every solver: 2 to 4 groups, one disclosure or two, shares, costs.

Each problem carries the objective every solver must reach (inf when infeasible). The hand-solved ones lie at an edge
that chance seldom meets, and say how they are solved; the random ones are solved by trying all K^n vectors in exact
fractions, with nothing of core involved.
Disclosures are dicts with fractions where `core.studies.correction.Disclosed` has floats; shares are fractions (exact),
pairs of fractions, or None.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from core.stats.fairness import METRICS
from core.studies.correction import Disclosed


@dataclass(frozen=True, kw_only=True)
class JointProblem:
    """A problem of `correct_jointly`; `solved` is its objective, inf when infeasible, where it was solved by hand."""

    name: str
    guess: tuple[int, ...]
    disclosures: tuple[dict, ...]
    n_groups: int
    shares: tuple | None = None
    cost: tuple[float, ...] | None = None
    solved: float | None = None

    @cached_property
    def objective(self):
        """The least cost of a vector that meets everything."""
        if self.solved is not None:
            return self.solved
        return joint_brute_force(self.guess, self.disclosures, self.n_groups, self.shares, self.cost)

    def shared_arguments(self):
        return {
            "guess": np.array(self.guess, dtype=np.uint8),
            "n_groups": self.n_groups,
            "group_shares": None if self.shares is None else [_float(share) for share in self.shares],
            "cost": None if self.cost is None else np.array(self.cost),
        }

    def arguments(self):
        return self.shared_arguments() | {"disclosures": [Disclosed(**plain(item)) for item in self.disclosures]}

    def single(self):
        return self.shared_arguments() | plain(self.disclosures[0])


def plain(disclosed):
    """Return a disclosure with numbers for fractions."""
    return {key: _float(value) for key, value in disclosed.items()}


def _float(value):
    if isinstance(value, Fraction):
        return float(value)
    if isinstance(value, tuple) and isinstance(value[0], Fraction):
        return tuple(map(float, value))
    return value


def parts(metric, labels, n):
    """Return the indices of each row set of a metric."""
    if metric == "statistical_parity":
        return [list(range(n))]
    label_values = {"predictive_equality": (0,), "equal_opportunity": (1,), "equalized_odds": (0, 1)}[metric]
    return [[i for i in range(n) if labels[i] == value] for value in label_values]


def reached(disclosed, vector, n_groups):
    """Return the unfairness in exact fractions; None when a group is empty in a row set."""
    predictions, worst = disclosed["predictions"], Fraction(0)
    for rows in parts(disclosed.get("metric", METRICS[0]), disclosed.get("labels"), len(vector)):
        size, hits = [0] * n_groups, [0] * n_groups
        for i in rows:
            size[vector[i]] += 1
            hits[vector[i]] += predictions[i]
        if 0 in size:
            return None
        overall = Fraction(sum(hits), len(rows))
        worst = max(worst, *(abs(overall - Fraction(a, m)) for a, m in zip(hits, size, strict=True)))
    return worst


def _ends(disclosed):
    """Return the least and the largest unfairness that a disclosure allows."""
    published = disclosed.get("unfairness", (Fraction(0), disclosed.get("tolerance")))
    return published if isinstance(published, tuple) else (published, published)


def shares_true(shares, vector):
    return all(share_true(share, vector.count(group), len(vector)) for group, share in enumerate(shares or ()))


def share_true(share, count, n):
    """Tell whether so many of n are what a share says."""
    if isinstance(share, tuple):
        return share[0] * n <= count <= share[1] * n
    return share is None or abs(share * n - count) <= Fraction(1, 2)


def joint_brute_force(guess, disclosures, n_groups, shares=None, cost=None):
    """Return the least cost over all vectors; inf when none meets everything."""
    n, price = len(guess), np.array(cost or (1.0,) * len(guess))
    vectors = np.indices((n_groups,) * n).reshape(n, -1).T
    fits = np.ones(len(vectors), dtype=bool)
    for group, share in enumerate(shares or ()):
        counts = [count for count in range(n + 1) if share_true(share, count, n)]
        fits &= np.isin((vectors == group).sum(axis=1), counts)
    for disclosed in disclosures:
        fits &= all_told_true(disclosed, vectors, n_groups)
    changed = vectors[fits] != guess
    if not changed.size:
        return math.inf
    return math.fsum(price[changed[(changed @ price).argmin()]])


def all_told_true(disclosed, vectors, n_groups):
    """Tell which vectors, one a row, have every group in every row set and the disclosed unfairness.

    In whole numbers: a distance is |Σŷ·size − hits·n| / (n·size).
    """
    predictions = np.array(disclosed["predictions"])
    low, high = _ends(disclosed)
    at_most, at_least = np.ones(len(vectors), dtype=bool), np.zeros(len(vectors), dtype=bool)
    for rows in parts(disclosed.get("metric", METRICS[0]), disclosed.get("labels"), vectors.shape[1]):
        inside = vectors[:, rows, None] == np.arange(n_groups)
        size = inside.sum(axis=1).astype(object)
        hits = inside[:, predictions[rows] == 1].sum(axis=1).astype(object)
        distance, unit = np.abs(int(predictions[rows].sum()) * size - hits * len(rows)), len(rows) * size
        at_most &= (size > 0).all(axis=1) & (distance * high.denominator <= high.numerator * unit).all(axis=1)
        at_least |= (distance * low.denominator >= low.numerator * unit).any(axis=1)
    return at_most & at_least


def brute_force(guess, predictions, tolerance, **more):
    """Return the least cost of two groups' correction over all vectors that meet the tolerance; inf when none does."""
    cost = tuple(more.pop("cost", None) or (1.0,) * len(guess))
    disclosure = {"predictions": tuple(predictions), "tolerance": tolerance, **more}
    return joint_brute_force(tuple(guess), (disclosure,), 2, cost=cost)


def digits(text):
    return tuple(map(int, text))


def _solved(name, guess, published, objective, **more):
    """Return a problem solved by hand, of as many groups as are guessed unless it says more; vectors are digits."""
    disclosures = tuple(
        {key: digits(value) if key in ("predictions", "labels") else value for key, value in disclosure.items()}
        for disclosure in published
    )
    groups = {"n_groups": max(2, len(set(guess)))} | more
    return JointProblem(name=name, guess=digits(guess), disclosures=disclosures, solved=objective, **groups)


def _pair(name, guess, predictions, tolerance, objective, **more):
    """Return a problem of two groups and one tolerance, solved by hand."""
    disclosure = {"predictions": predictions, "tolerance": Fraction(tolerance)}
    disclosure |= {key: more.pop(key) for key in ("metric", "labels") if key in more}
    return _solved(name, guess, [disclosure], objective, **more)


_POWERS = tuple(float(b) ** 60 for b in (1.0, 1.3, 1.1, 1.9, 2.0, 1.6, 1.2, 1.7))

_ZERO, _UNIT, _HALF = Fraction(0), Fraction(1), Fraction(1, 2)

HAND_SOLVED = (
    _pair("met with equality: overall 1/2, groups 2/3 and 1/3", "111000", "110100", "1/6", 0.0),
    _pair("one group is empty: the cheapest record moves", "000", "101", "1", 2.0, cost=(3.0, 2.0, 4.0)),
    _pair("all predictions equal: only an empty group needs repair", "111", "000", "0", 2.5, cost=(3.0, 2.5, 4.0)),
    _pair("coprime: 1 of 5, 1/5 away whatever the split", "11000", "10000", "0", math.inf),
    # the record predicted 1 leaves: rates 0 and 1/4 against 1/5
    _pair("coprime at their smallest tolerance", "11000", "10000", "1/5", 1.0),
    # one of the first two joins: groups of 3 with one predicted 1 each
    _pair("an empty cell: nobody predicted 1 is guessed in group 1", "000110", "110000", "0", 1.0),
    _pair("one record cannot be split", "1", "1", "1", math.inf),
    # two of {1, 1.3, 2, 1.6} and two of {1.1, 1.9, 1.2, 1.7}
    _pair(
        "exponent 60: the dear record stays, many magnitudes apart",
        "11001100",
        "11001100",
        "0",
        1.0 + 1.3**60 + 1.1**60 + 1.2**60,
        cost=_POWERS,
    ),
    _solved(
        "an empty third group takes the cheapest record at tolerance 1",
        "0011",
        [{"predictions": "1010", "tolerance": _UNIT}],
        2.5,
        n_groups=3,
        cost=(3.0, 2.5, 4.0, 5.0),
    ),
    _solved("gcd 2 makes two groups, not three", "0120", [{"predictions": "1010", "tolerance": _ZERO}], math.inf),
    _solved("three cannot fill four", "012", [{"predictions": "101", "tolerance": _UNIT}], math.inf, n_groups=4),
    _solved(
        "a share at equal opportunity moves records outside its row set, at their cost",
        "010000",
        [{"predictions": "111100", "tolerance": _ZERO, "metric": "equal_opportunity", "labels": "111100"}],
        5.0,  # rates are 1 whatever the groups; two of the others join group 1, the cheapest 2 + 3
        shares=(_HALF, _HALF),
        cost=(4.0, 1.0, 6.0, 5.0, 2.0, 3.0),
    ),
)


def _random_share(rng, counts, n):
    """Return shares around counts: exact, intervals, unknown, mixed."""
    shares = []
    for count in counts:
        kind = int(rng.integers(3))
        if kind == 0:
            shares.append(Fraction(count, n))
        elif kind == 1:
            shares.append((Fraction(max(0, count - int(rng.integers(2))), n), Fraction(min(n, count + 1), n)))
        else:
            shares.append(None)
    return tuple(shares)


def _random_disclosure(rng, n, kind, vector, k):
    """Return a disclosure that, half of the time, is true of a vector (so that some problems are feasible)."""
    disclosure = {
        "predictions": tuple((rng.random(n) < rng.choice([0.3, 0.5, 0.7])).astype(int).tolist()),
        "metric": METRICS[int(rng.integers(4)) if kind != "parity" else 0],
        "labels": tuple((rng.random(n) < 0.5).astype(int).tolist()),
    }
    true = reached(disclosure, vector, k)
    value = Fraction(int(rng.integers(0, 50)), 100) if true is None or rng.random() < 0.15 else true
    if kind == "value":
        return disclosure | {"unfairness": value}
    if kind == "interval":
        ends = max(Fraction(0), value - Fraction(1, 20)), min(Fraction(1), value + Fraction(1, 50))
        return disclosure | {"unfairness": ends}
    return disclosure | {"tolerance": value}


KINDS = ("tolerance", "parity", "value", "interval")


def random_joint(seed):
    """Return a random problem with 2 to 4 groups: one or two disclosures of any kind, shares in half of them."""
    rng = np.random.default_rng(seed)
    k = (2, 3, 3, 4)[seed % 4]
    n = int(rng.integers(6, {2: 12, 3: 10, 4: 9}[k]))
    vector = tuple(rng.permutation(np.arange(n) % k).tolist())
    guess = tuple(rng.integers(0, k, n).tolist())
    kinds = [KINDS[seed // 4 % 4]] + ([KINDS[int(rng.integers(4))]] if seed // 16 % 2 else [])
    disclosures = tuple(_random_disclosure(rng, n, kind, vector, k) for kind in kinds)
    shares = _random_share(rng, [vector.count(g) for g in range(k)], n) if seed // 32 % 2 else None
    base = 1 + rng.random(n)
    cost = tuple((np.ones(n), base, base**60, rng.integers(1, 4, n).astype(float))[seed // 64 % 4].tolist())
    name = f"random {seed}: {k} groups, {n} records, {'+'.join(kinds)}{', shares' if shares else ''}"
    return JointProblem(name=name, guess=guess, disclosures=disclosures, n_groups=k, shares=shares, cost=cost)


def joint_bank():
    """Return the hand-solved problems and 128 random ones over all kinds."""
    return HAND_SOLVED + tuple(random_joint(seed) for seed in range(128))


def adult_like(n, seed=0, exponent=6):
    """Return guesses that overstate the groups' difference, with distinct costs; no solution comes with them."""
    rng = np.random.default_rng(seed)
    predictions = (rng.random(n) < 0.2).astype(np.uint8)
    guess = (rng.random(n) < np.where(predictions, 0.25, 0.42)).astype(np.uint8)
    cost = (1 + rng.random(n)) ** exponent
    return {"guess": guess, "predictions": predictions, "cost": cost}
