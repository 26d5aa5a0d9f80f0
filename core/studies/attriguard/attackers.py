"""Attackers on records: defense-unaware and adaptive ones (Jia and Gong 2018), and what each of them learns.

How long a network learns from ratings is chosen on a tenth of the known people, who are held out: after every pass over
the others it says how likely their values are, and it stops when this has not become better, keeping the best pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ...base.validation import Floats, Ints
from .allocation import RepresentativeNoise
from .panda import in_batches
from .table import Column, fit_encoder

_NAMES = {
    "logistic": ("Logistic regression", "Logistic"),
    "adversarial": ("Adversarial training (AT-A)", "Adversarial AT-A"),
    "adversarial_logistic": ("Adversarially trained logistic", "Adversarial logistic"),
    "network": ("Neural network", "Network"),
    "forest": ("Random forest", "Forest"),
    "boosting": ("Gradient boosting", "Boosting"),
    "one_vs_rest": ("One-vs-rest logistic regression", "One-vs-rest"),
    "dropping": ("Feature-dropping (ours)", "Feature-dropping"),
    "region": ("Region-based (RC-A)", "Region RC-A"),
    "distillation": ("Defensive distillation (DD-A)", "Distillation DD-A"),
    "low_rank": ("Low-rank denoising (LRA-A)", "Low rank LRA-A"),
}
"""What to call an attacker: in full, and short enough for the column of labels."""

ATTACKER_TITLES = {name: title for name, (title, _) in _NAMES.items()}
"""What to call the attackers."""

RATING_ATTACKERS = tuple(
    name for name in _NAMES if name not in ("boosting", "adversarial_logistic")
)
"""Who attacks ratings, in this order."""

LEARNERS = ("logistic", "forest", "boosting", "network")
"""Defense-unaware attackers on a table."""

ADVERSARIAL = {"adversarial_logistic": "logistic", "adversarial": "boosting"}
"""Those who learn from noisy records, and what learns so on a table."""

TABLE_ATTACKERS = (*LEARNERS, "dropping", *ADVERSARIAL)
"""Who attacks a table, in this order."""

ADAPTIVE = frozenset({*ADVERSARIAL, "dropping"})
"""Those who run the defence themselves, on the people they know."""


def attacker_label(attacker: str) -> str:
    """Return an attacker's name, short enough for the column of labels."""
    return _NAMES[attacker][1]


def knows_the_noise(attacker: str) -> bool:
    """Whether an attacker is adaptive: reckons with noise."""
    return attacker not in (*LEARNERS, "one_vs_rest")


class Fitted:
    """An attacker who asks a fitted classifier, of scikit-learn or like it, about what `see` makes of the records."""

    def __init__(
        self, classifier: Any, see: Callable[[Any], Any] = lambda records: records
    ) -> None:
        self.classifier = classifier
        self._see = see

    def guess(self, records: Any) -> Ints:
        """Return the value named for each record, (n,)."""
        return in_batches(lambda part: self.classifier.predict(self._see(part)), records)


def drawn(mechanism: Floats, rng: np.random.Generator) -> Ints:
    """Return one value a person, drawn from their row of the mechanism, (n,)."""
    edges = np.cumsum(mechanism, axis=1)
    threshold = rng.random(len(mechanism)) * edges[:, -1]
    return np.asarray((threshold[:, None] >= edges[:, :-1]).sum(axis=1), dtype=np.int64)


# On ratings: attackers learn from known people's public records (n, d) and values (n,), 0 to m - 1, each of them there.

_HELD_OUT = 0.1
_PATIENCE = 2  # passes without gain
_MOST_PASSES = 60
_BATCHES = (
    30  # a pass has at least these many steps, so that small data need not be passed over for ever
)

Lesson = Callable[[], tuple[Any, Ints]]
"""Records and values to learn from in the next pass; the order of the people stays."""


def fit_network(records: Any, values: Ints, *, seed: int, lesson: Lesson | None = None) -> Any:
    """Return a fitted network with one hidden layer of 100 rectified units (NN-A; the paper's has 30,000).

    `lesson` is what to learn from in each pass, the known records and values by default. `seed` fixes the first
    weights, the order of the records and the people held out.
    """
    from sklearn.neural_network import MLPClassifier

    order = np.random.default_rng(seed).permutation(values.size)
    classes = np.unique(values)
    held, training = np.split(order, [max(1, round(_HELD_OUT * order.size))])
    # where there is only one person
    if not training.size:
        training = held
    network = MLPClassifier(
        (100,), random_state=seed, batch_size=int(np.clip(training.size // _BATCHES, 1, 200))
    )
    best = np.inf
    weights = []
    since = 0
    for _ in range(_MOST_PASSES):
        lesson_records, lesson_values = lesson() if lesson else (records, values)
        network.partial_fit(lesson_records[training], lesson_values[training], classes=classes)
        likely = network.predict_proba(lesson_records[held])[np.arange(held.size), values[held]]
        loss = float(-np.log(np.maximum(likely, 1e-12)).mean())
        since = since + 1 if loss >= best else 0
        if loss < best:
            best = loss
            weights = [part.copy() for part in (*network.coefs_, *network.intercepts_)]
        if since >= _PATIENCE:
            break
    network.coefs_, network.intercepts_ = (
        weights[: len(network.coefs_)],
        weights[len(network.coefs_) :],
    )
    return network


def fit_unaware(records: Any, values: Ints, kind: str, *, seed: int) -> Any:
    """Return a classifier fitted to clean ratings: "logistic", "logistic_smooth", "one_vs_rest", "forest", "network".

    Logistic regression has one softmax over all values; one-vs-rest one regression a value, each against all others,
    of which the most confident one is the guess.
    """
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    if kind == "network":
        return fit_network(records, values, seed=seed)
    classifiers = {
        "logistic": LogisticRegression(C=1.0, max_iter=1000),
        "logistic_smooth": LogisticRegression(C=0.1, max_iter=1000),
        "one_vs_rest": OneVsRestClassifier(LogisticRegression(C=0.3, solver="liblinear")),
        "forest": RandomForestClassifier(100, random_state=seed),
    }
    return classifiers[kind].fit(records, values)


def fit_adversarial(
    records: Any, values: Ints, noise: RepresentativeNoise, mechanism: Floats, *, seed: int
) -> Any:
    """Return a network that learned from AttriGuard's own draws, fresh in every pass, with true values (AT-A).

    They know the defence: its classifier, policy, margin, target distribution and budget, and so a mechanism (n, m). As
    they do not know which noise was drawn for the people they attack, they draw it for the people they know.
    """
    rng = np.random.default_rng([seed, 1])
    return fit_network(
        records, values, seed=seed, lesson=lambda: (noise.chosen(drawn(mechanism, rng)), values)
    )


def fit_distilled(records: Any, values: Ints, teacher: Any, *, seed: int) -> Any:
    """Return a network that learned the certainties of another one, the teacher (defensive distillation, DD-A).

    Learning from certainties means minimising their cross-entropy. Drawing a value from them again in every pass does
    this in expectation, with a classifier that takes values only. The certainties are taken as they are: softened ones
    made the student worse on the clean ratings, and no better on noisy ones. The seed is the teacher's: both must hold
    out the same people, of whom the teacher has learned nothing.
    """
    certainty = teacher.predict_proba(records)
    rng = np.random.default_rng([seed, 2])
    return fit_network(records, values, seed=seed, lesson=lambda: (records, drawn(certainty, rng)))


def fit_dropping(records: Any, values: Ints, entries: npt.NDArray[np.intp], *, seed: int) -> Fitted:
    """Return an attacker who learns from the entries kept, on clean records: there is no budget of training.

    Minimum noise uses the few entries that distinguish the values best, again and again; this attacker leaves them out.
    """
    network = fit_network(records[:, entries], values, seed=seed)
    return Fitted(network, lambda records: records[:, entries])


_RANK = 100  # directions of taste


def fit_low_rank(records: Any, values: Ints, *, seed: int) -> Fitted:
    """Return an attacker who looks at a record's place along the known people's main directions of taste (LRA-A).

    A rating that no direction explains, as noise may be, is lost in the projection; a network learns from what is left.
    The directions come from a truncated singular value decomposition (the paper's from a non-negative factorisation).
    """
    from sklearn.decomposition import TruncatedSVD

    people, entries = records.shape
    directions = TruncatedSVD(max(1, min(_RANK, entries - 1, people - 1)), random_state=seed)
    coordinates = directions.fit_transform(records)
    return Fitted(fit_network(coordinates, values, seed=seed), directions.transform)


class RegionBased:
    """Votes over a network's values at points of a small cube around the record, of half edge `radius` (RC-A).

    The same random points are used around every record. A point x + d reaches the first hidden layer as x W + d W, so
    the network's first layer is computed once a record and once a point, never for a dense record of every point.
    """

    def __init__(self, network: Any, *, seed: int, points: int = 100, radius: float = 0.05) -> None:
        rng = np.random.default_rng([seed, 3])
        self._network = network
        self._shifts = (
            rng.uniform(-radius, radius, size=(points, network.coefs_[0].shape[0]))
            @ network.coefs_[0]
        )

    def predict(self, records: Any) -> Ints:
        """Return the value with the most votes for each record, (n,)."""
        network = self._network
        hidden = (records @ network.coefs_[0] + network.intercepts_[0]).astype(np.float32)
        outer, bias = (part[1].astype(np.float32) for part in (network.coefs_, network.intercepts_))
        votes = np.zeros((records.shape[0], len(network.classes_)), dtype=np.int32)
        rows = np.arange(records.shape[0])
        for shift in self._shifts.astype(np.float32):
            scores = np.maximum(hidden + shift, 0) @ outer + bias
            if scores.shape[1] > 1:
                guesses = scores.argmax(axis=1)
            else:
                guesses = (scores[:, 0] > 0).astype(np.int64)
            votes[rows, guesses] += 1
        return np.asarray(network.classes_[votes.argmax(axis=1)], dtype=np.int64)


# On a table

_EPOCHS = 8  # more of them overfit to the known people
_MOST_CODES = 255  # categories the booster can tell apart


def fit_on_table(
    learner: str,
    records: Floats,
    truth: Ints,
    columns: tuple[Column, ...],
    *,
    selected: npt.NDArray[np.intp] | None = None,
    seed: int = 0,
) -> Fitted:
    """Train an attacker, one of `LEARNERS`, on records (n, d) and the columns `selected`, all by default.

    Logistic regression and the network get indicators and standardised numbers, the others the columns as they are.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier

    if selected is None:
        looked = np.arange(len(columns))
    else:
        looked = selected
    selected_columns = tuple(columns[j] for j in looked)
    if learner in ("logistic", "network"):
        encoder = fit_encoder(records[:, looked], selected_columns)
    else:
        encoder = None

    def see(rows: Floats) -> Any:
        if encoder is None:
            return rows[:, looked]
        return encoder.transform(rows[:, looked])

    inputs = see(records)
    if learner == "network":
        network = MLPClassifier((100,), random_state=seed)
        for _ in range(_EPOCHS):
            network.partial_fit(inputs, truth, classes=np.unique(truth))
        return Fitted(network, see)
    classifier: Any
    if learner == "logistic":
        classifier = LogisticRegression(max_iter=2000)
    elif learner == "forest":
        classifier = RandomForestClassifier(100, min_samples_leaf=5, random_state=seed)
    else:
        coded = [
            column.kind == "category" and column.listed.size <= _MOST_CODES
            for column in selected_columns
        ]
        # it stops on a tenth of the records, which must be able to hold every value
        counts = np.unique(truth, return_counts=True)[1]
        stops = bool(math.ceil(truth.size / 10) >= counts.size and counts.min() >= 2)
        classifier = HistGradientBoostingClassifier(
            categorical_features=coded, early_stopping=stops, random_state=seed
        )
    return Fitted(classifier.fit(inputs, truth), see)
