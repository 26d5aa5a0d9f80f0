"""Attackers on ratings: defense-unaware and adaptive ones (Jia and Gong 2018).

How long a network learns is chosen on a tenth of the known people, who are held out: after every pass over the others
it says how likely their values are, and it stops when this has not become better, keeping the best pass.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from core.attriguard.allocation import allocate
from core.attriguard.classifiers import in_batches
from core.attriguard.records import Noise, concentration
from core.serialize import Result

ATTACKER_TITLES = {
    "logistic": "Logistic regression",
    "adversarial": "Adversarial training (AT-A)",
    "adversarial_logistic": "Adversarially trained logistic",
    "network": "Neural network",
    "forest": "Random forest",
    "boosting": "Gradient boosting",
    "one_vs_rest": "One-vs-rest logistic regression",
    "dropping": "Feature-dropping (ours)",
    "region": "Region-based (RC-A)",
    "distillation": "Defensive distillation (DD-A)",
    "low_rank": "Low-rank denoising (LRA-A)",
}
"""What to call the attackers."""

RATING_ATTACKERS = tuple(name for name in ATTACKER_TITLES if name not in ("boosting", "adversarial_logistic"))
"""Who attacks ratings, in this order."""

UNAWARE = ("logistic", "forest", "network", "boosting", "one_vs_rest")
"""Defense-unaware attackers, who learned on clean records; all others are adaptive."""

_LABELS = {
    "logistic": "Logistic",
    "forest": "Forest",
    "network": "Network",
    "one_vs_rest": "One-vs-rest",
    "boosting": "Boosting",
    "adversarial": "Adversarial AT-A",
    "adversarial_logistic": "Adversarial logistic",
    "distillation": "Distillation DD-A",
    "region": "Region RC-A",
    "low_rank": "Low rank LRA-A",
    "dropping": "Feature-dropping",
}

ADAPTIVE = frozenset({"adversarial", "adversarial_logistic", "dropping"})
"""Those who run the defence themselves, on the people they know."""


def attacker_label(attacker: str) -> str:
    """Return an attacker's name, short enough for the column of labels."""
    return _LABELS.get(attacker, attacker.replace("_", " ").capitalize())


def knows_the_noise(attacker: str) -> bool:
    """Whether an attacker is adaptive: reckons with noise."""
    return attacker not in UNAWARE


@dataclass(frozen=True, slots=True, kw_only=True)
class Known(Result):
    """People who publish their attribute."""

    records: Any = field(repr=False)  # public, (n, d)
    values: npt.NDArray[np.int64] = field(repr=False)  # (n,), 0 to n_values - 1
    n_values: int  # m, number of values the attribute has


class Fitted:
    """An attacker who asks a fitted classifier, of scikit-learn or like it, about what `see` makes of the records."""

    def __init__(self, classifier: Any, see: Callable[[Any], Any] = lambda records: records) -> None:
        self.classifier, self._see = classifier, see

    def guess(self, records: Any) -> npt.NDArray[np.int64]:
        """Return the value named for each record, (n,)."""
        return in_batches(lambda part: self.classifier.predict(self._see(part)), records)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseSeen(Result):
    """AttriGuard run by an attacker on the people she knows.

    She knows the defence: its classifier, policy, margin, target distribution and budget. What she does not know is
    which noise was drawn for the people she attacks, so she draws noise of the same kind for those whose value she
    knows.
    """

    noise: Noise = field(repr=False)  # of the known people, n people and m values
    target: npt.NDArray[np.float64] = field(repr=False)  # the defender's, (m,)

    def mechanism(self, budget: float) -> npt.NDArray[np.float64]:
        """Return how often each noise is used at a budget, (n, m)."""
        return allocate(self.noise.size, self.target, budget, found=self.noise.found)

    def draw(self, mechanism: npt.NDArray[np.float64], rng: np.random.Generator) -> Any:
        """Return every known person's record with noise drawn from a mechanism, (n, d)."""
        return self.noise.chosen(drawn(mechanism, rng))


def drawn(mechanism: npt.NDArray[np.float64], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Return one value a person, drawn from her row of the mechanism, (n,)."""
    edges = np.cumsum(mechanism, axis=1)
    place = rng.random(len(mechanism)) * edges[:, -1]
    return np.asarray((place[:, None] >= edges[:, :-1]).sum(axis=1), dtype=np.int64)


_HIDDEN_UNITS = 100
_HELD_OUT = 0.1
_PATIENCE = 2  # passes without gain
_MOST_PASSES = 60
_BATCHES = 30  # a pass has at least these many steps, so that small data need not be passed over for ever

Lesson = Callable[[int], tuple[Any, npt.NDArray[np.int64]]]
"""Records and values to learn from in a pass, given its number (0, 1, ...); the order of the people stays."""


def fit_network(known: Known, *, seed: int, lesson: Lesson | None = None) -> Any:
    """Return a fitted network with one hidden layer of 100 rectified units (NN-A; the paper's has 30,000).

    `lesson` is what to learn from in each pass, the known records and values by default. `seed` fixes the first
    weights, the order of the records and the people held out.
    """
    from sklearn.neural_network import MLPClassifier

    held, taught = _parts(known.values.size, seed)
    network = MLPClassifier(
        (_HIDDEN_UNITS,), random_state=seed, batch_size=int(np.clip(taught.size // _BATCHES, 1, 200))
    )
    best, kept, since = np.inf, [], 0
    for number in range(_MOST_PASSES):
        records, values = lesson(number) if lesson else (known.records, known.values)
        network.partial_fit(records[taught], values[taught], classes=np.arange(known.n_values))
        loss = _loss(network, records[held], known.values[held])
        since = since + 1 if loss >= best else 0
        if loss < best:
            best, kept = loss, [part.copy() for part in (*network.coefs_, *network.intercepts_)]
        if since >= _PATIENCE:
            break
    network.coefs_, network.intercepts_ = kept[: len(network.coefs_)], kept[len(network.coefs_) :]
    return network


def _parts(people: int, seed: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the people held out and the others; the same ones where there is only one person."""
    order = np.random.default_rng(seed).permutation(people)
    held, taught = np.split(order, [max(1, round(_HELD_OUT * people))])
    return held, taught if taught.size else held


def _loss(network: Any, records: Any, values: npt.NDArray[np.int64]) -> float:
    """Return the mean of -log P(true value)."""
    likely = network.predict_proba(records)[np.arange(values.size), values]
    return float(-np.log(np.maximum(likely, 1e-12)).mean())


def fit_logistic(known: Known, *, strength: float = 1.0) -> Any:
    """Return a fitted logistic regression with one softmax over all values; `strength` is scikit-learn's C."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=strength, max_iter=1000).fit(known.records, known.values)


def fit_one_vs_rest(known: Known) -> Any:
    """Return one fitted logistic regression a value, each against all others; the most confident one is the guess."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    one = LogisticRegression(C=0.3, solver="liblinear")
    return OneVsRestClassifier(one).fit(known.records, known.values)


def fit_forest(known: Known, *, seed: int) -> Any:
    """Return a fitted random forest."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(100, random_state=seed).fit(known.records, known.values)


def fit_adversarial(known: Known, seen: NoiseSeen, *, budget: float, seed: int) -> Any:
    """Return a network that learned from AttriGuard's own draws, fresh in every pass, with true values (AT-A).

    The draws are at a budget of entries changed per person on average.
    """
    mechanism = seen.mechanism(budget)
    rng = np.random.default_rng([seed, 1])

    def lesson(_number: int) -> tuple[Any, npt.NDArray[np.int64]]:
        return seen.draw(mechanism, rng), known.values

    return fit_network(known, seed=seed, lesson=lesson)


def fit_distilled(known: Known, teacher: Any, *, seed: int) -> Any:
    """Return a network that learned the certainties of another one, the teacher (defensive distillation, DD-A).

    Learning from certainties means minimising their cross-entropy. Drawing a value from them anew in every pass does
    this in expectation, with a classifier that takes values only. The certainties are taken as they are: softened ones
    made the student worse on the clean ratings, and no better on noisy ones. The seed is the teacher's: both must hold
    out the same people, about whom the teacher has learned nothing.
    """
    certainty = teacher.predict_proba(known.records)
    rng = np.random.default_rng([seed, 2])

    def lesson(_number: int) -> tuple[Any, npt.NDArray[np.int64]]:
        return known.records, drawn(certainty, rng)

    return fit_network(known, seed=seed, lesson=lesson)


def quiet_entries(known: Known, seen: NoiseSeen, *, budget: float, share: float = 0.9) -> npt.NDArray[np.intp]:
    """Return the entries left without the fewest that carry this share of all expected changes.

    Minimum noise uses the few entries that tell the values apart best, again and again. An attacker finds them by
    running AttriGuard at a budget on the people she knows.
    """
    carried = concentration(known.records, seen.noise, seen.mechanism(budget))
    return np.setdiff1d(np.arange(carried.n_entries), carried.carrying(share))


def fit_dropping(known: Known, kept: npt.NDArray[np.intp], *, seed: int) -> Fitted:
    """Return an attacker who learns from the entries kept, on clean records: hers is no budget she was trained at."""
    rest = Known(records=known.records[:, kept], values=known.values, n_values=known.n_values)
    return Fitted(fit_network(rest, seed=seed), lambda records: records[:, kept])


def fit_low_rank(known: Known, *, seed: int, rank: int = 100) -> Fitted:
    """Return an attacker who looks at a record's place along the known people's main directions of taste (LRA-A).

    A rating that no direction explains, as noise may be, is lost in the projection; a network learns from what is left.
    The directions come from a truncated singular value decomposition (the paper's from a non-negative factorisation).
    """
    from sklearn.decomposition import TruncatedSVD

    people, entries = known.records.shape
    directions = TruncatedSVD(max(1, min(rank, entries - 1, people - 1)), random_state=seed)
    there = directions.fit_transform(known.records)
    places = Known(records=there, values=known.values, n_values=known.n_values)
    return Fitted(fit_network(places, seed=seed), directions.transform)


class RegionBased:
    """Votes over a network's values at points of a small cube around the record, of half edge `radius` (RC-A).

    The same random points are used around every record. A point x + d reaches the first hidden layer as x W + d W, so
    the network's first layer is computed once a record and once a point, never for a dense record of every point.
    """

    def __init__(self, network: Any, *, seed: int, points: int = 100, radius: float = 0.05) -> None:
        rng = np.random.default_rng([seed, 3])
        self._network = network
        self._shifts = rng.uniform(-radius, radius, size=(points, network.coefs_[0].shape[0])) @ network.coefs_[0]

    def predict(self, records: Any) -> npt.NDArray[np.int64]:
        """Return the value with the most votes for each record, (n,)."""
        network = self._network
        hidden = (records @ network.coefs_[0] + network.intercepts_[0]).astype(np.float32)
        outer, bias = (part[1].astype(np.float32) for part in (network.coefs_, network.intercepts_))
        votes = np.zeros((records.shape[0], len(network.classes_)), dtype=np.int32)
        rows = np.arange(records.shape[0])
        for shift in self._shifts.astype(np.float32):
            scores = np.maximum(hidden + shift, 0) @ outer + bias
            named = scores.argmax(axis=1) if scores.shape[1] > 1 else (scores[:, 0] > 0).astype(np.int64)
            votes[rows, named] += 1
        return np.asarray(network.classes_[votes.argmax(axis=1)], dtype=np.int64)
