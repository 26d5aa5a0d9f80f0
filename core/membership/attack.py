"""A membership attack: what it is given, what it says, and what attacks share.

They share a threshold that is set on known people, and boosting: the attacker knows who of one half was trained on and
learns by gradient boosting what members have in common in what the model says of them; the other half is scored, and
then the halves change places. What boosting returns is replaced by its rank within its half, so that two fits share one
scale. The halves have equal shares of members and the ranks use nobody's membership, so that where nothing leaks the
scores of both halves together are independent of membership.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from core.arrays import Codes, Floats, Ints
from core.estimates import Estimate, proportion
from core.membership.judged_people import MembershipSplit, halves
from core.seeds import child_generator, child_seed
from core.validation import binary_array, one_length, probabilities

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberGuess:
    """Scores, and verdicts where the attack gives some."""

    name: str
    """One of `core.membership.ATTACKS`."""
    rows: Ints = field(repr=False)
    """(m,): who is judged."""
    score: Floats = field(repr=False)
    """(m,): finite; a higher one speaks for a member."""
    verdict: Codes | None = field(repr=False)
    """(m,): 1 = called a member."""


Train = Callable[[Ints, int], Floats]
"""Trains a model on these rows with this seed and returns P(label = 1) of everybody."""

Report = Callable[[int, int], None]
"""Called with (steps done, steps in all); may raise `core.errors.Cancelled` to stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What an attack is given of n people."""

    released: Floats | None
    """The target's P(label = 1), in [0, 1], as it is released; None where labels alone are."""
    predicted: Codes
    """What it predicts of them, 0 or 1."""
    labels: Codes
    split: MembershipSplit
    """Whom the attacker knows, and whom to judge."""
    seed: int
    balance: bool
    """Whether members of one label were deleted from the training data."""
    train: Train
    """Trains a model as the target was trained."""
    shadows: int
    online: bool
    """Whether shadows are trained with and without the judged, or without them alone."""
    report: Report | None = None
    """Told of each shadow."""
    memo: dict[str, Any] = field(default_factory=dict, repr=False)
    """What attacks share; see `once`."""

    @property
    def probability(self) -> Floats:
        """The target's P(label = 1) where it is released."""
        assert self.released is not None
        return self.released

    def once(self, name: str, make: Callable[[], T]) -> T:
        """Return what `make` returns, made once for all attacks on this evidence, such as shadow models."""
        if name not in self.memo:
            self.memo[name] = make()
        made: T = self.memo[name]
        return made


NEEDS = {
    "labels": "true and predicted labels",
    "scores": "released scores",
    "shadows": "shadow models, trained as the model was on others of these people",
    "population": "people the model was not trained on, beside those judged",
    "halves": "who is a member of half of those judged, to judge the other half",
}
"""What an attack may need -> what that is."""

USES = ("study", "scores", "labels")
"""Where attacks are run: by page and command, in an audit of released scores, in one of labels alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """An attack, as its file in `core.membership.attacks` declares it: all that its readers need to know of it."""

    name: str
    title: str
    phrase: str
    """What it is called inside a sentence, such as "the loss threshold"."""
    paper: str
    """Authors and year; empty where it is not published."""
    glossary: str
    """What it does, in one sentence."""
    needs: frozenset[str]
    """Keys of `NEEDS`."""
    uses: frozenset[str]
    """Among `USES`."""
    turn: int
    """Its place among the attacks, the quickest first."""
    judge: Callable[[Evidence], MemberGuess]
    """Says of the judged how much speaks for each being a member."""

    @property
    def described(self) -> str:
        """What it does, and where it is published."""
        return f"{self.glossary[:-1]} ({self.paper})." if self.paper else self.glossary

    @property
    def learns(self) -> bool:
        """Whether two halves of the judged teach each other."""
        return "halves" in self.needs

    def knows(self, *, scores: bool, shadows: int) -> str:
        """Return what the attacker knows who uses it on a model that is handed out with scores or without."""
        told = "Every person's true and predicted label"
        if scores:
            told += ", and score"
        if "shadows" in self.needs:
            told += ", features, how the model is trained, "
            told += f"and {shadows} models trained alike on others of these people"
        if "population" in self.needs:
            told += "; also other people, whom the model was not trained on"
        if self.learns:
            told += "; of half of the people also who is a member, to judge the other half"
        return f"{told}."


def both_labels(predictions: npt.ArrayLike, labels: npt.ArrayLike) -> tuple[Codes, Codes]:
    """Return predicted and true labels of everybody as arrays."""
    predicted, y = binary_array(predictions, name="predictions"), binary_array(labels, name="labels")
    one_length(predictions=predicted, labels=y)
    return predicted, y


def checked(probability: npt.ArrayLike, labels: npt.ArrayLike) -> tuple[Floats, Codes]:
    """Return P(label = 1) and the label of everybody as arrays.

    Raises `InputError` if their lengths differ, a probability is outside [0, 1] or a label is not 0 or 1.
    """
    p, y = probabilities(probability, name="A probability"), binary_array(labels, name="labels")
    one_length(probability=p, labels=y)
    return p, y


def true_label_probability(probability: Floats, labels: Codes) -> Floats:
    """Return the probability the model gave to each person's own label."""
    return np.where(labels == 1, probability, 1.0 - probability)


def precision_recall(
    verdict: npt.ArrayLike, member: npt.ArrayLike, *, level: float = 0.95
) -> tuple[Estimate, Estimate]:
    """Return members among those called members, and those called members among members.

    With nobody called a member there is no precision: it is nan with n = 0.
    """
    called, truth = binary_array(verdict, name="verdict"), binary_array(member, name="member")
    one_length(verdict=called, member=truth)
    right = int(np.count_nonzero(called & truth))
    precision = proportion(right, int(called.sum()), level=level)
    return precision, proportion(right, int(truth.sum()), level=level)


def above_threshold(name: str, score: Floats, split: MembershipSplit) -> MemberGuess:
    """Call those of the judged members whose score reaches the threshold that is best for the known."""
    known, member = split.known
    rows, _ = split.judged
    verdict = score[rows] >= best_threshold(score[known], member)
    return MemberGuess(name=name, rows=rows, score=score[rows], verdict=verdict.astype(np.uint8))


def best_threshold(score: Floats, member: Codes) -> float:
    """Return the score from which up people are called members for the best balanced accuracy.

    Of several as good the highest; infinity, which calls nobody a member, if no threshold is better than chance. There
    is at least one member and one outsider.
    """
    levels, place = np.unique(score, return_inverse=True)
    members = np.bincount(place, weights=member, minlength=levels.size)
    outsiders = np.bincount(place, weights=1 - member.astype(np.int64), minlength=levels.size)
    caught, alarms = np.cumsum(members[::-1])[::-1], np.cumsum(outsiders[::-1])[::-1]
    # whole numbers, so that equal gains tie exactly
    gain = caught * alarms[0] - alarms * caught[0]
    if gain.max() <= 0:
        return float("inf")
    return float(levels[np.flatnonzero(gain == gain.max())[-1]])


TAUGHT = 100_000
"""Most people of a half who teach; of more, so many are drawn at random. All are judged."""

_TREES, _LEAVES, _FEWEST_IN_LEAF, _RATE = 40, 8, 50, 0.1
"""Small: a few numbers a person, and more trees learn the teaching half's chance."""


def cross_fitted(columns: Sequence[npt.ArrayLike], member: Codes, *, seed: int, name: str) -> tuple[Floats, Codes]:
    """Return everybody's score, higher for members, and verdict, from boosting on the half that they are not in.

    The score lies in (0, 1); the verdict is 1 where boosting finds a member likelier than a non-member, both as
    frequent: the largest TPR - FPR. The columns, each of shape (n,), are nan where there is no evidence; the name is
    the attack's, for its own use of chance.
    """
    from scipy.stats import rankdata

    evidence = np.column_stack([np.asarray(column, dtype=np.float32) for column in columns])
    second = halves(member, seed=seed)
    score, verdict = np.empty(member.size), np.empty(member.size, dtype=np.uint8)
    for number, half in enumerate((second, ~second)):
        teach = np.flatnonzero(~half)
        if teach.size > TAUGHT:
            drawn = child_generator(seed, f"{name}, teaching sample {number}")
            teach = np.sort(drawn.choice(teach, TAUGHT, replace=False))
        model = _fitted(evidence[teach], member[teach], child_seed(seed, f"{name}, boosting {number}"))
        found = np.round(model.decision_function(evidence), 9)  # equal evidence, equal score, but for rounding
        score[half] = ((rankdata(found) - 0.5) / found.size)[half]
        verdict[half] = found[half] > 0.0
    return score, verdict


def _fitted(evidence: npt.NDArray[np.float32], member: Codes, seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    model = HistGradientBoostingClassifier(
        max_iter=_TREES,
        max_leaf_nodes=_LEAVES,
        min_samples_leaf=min(_FEWEST_IN_LEAF, max(1, member.size // 20)),
        learning_rate=_RATE,
        early_stopping=False,
        class_weight="balanced",
        random_state=seed,
    )
    with threadpool_limits(limits=1):
        return model.fit(evidence, member)
