"""A membership attack: what its file declares, what it says, and what attacks share.

They share a threshold that is set on known people, and boosting: the attacker knows who of one half was trained on and
learns by gradient boosting what members have in common in what the model says of them; the other half is scored, and
then the halves change places. What boosting returns is replaced by its rank within its half, so that two fits share one
scale. The halves have equal shares of members and the ranks use nobody's membership, so that where nothing leaks the
scores of both halves together are independent of membership.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from core.arrays import Codes, Floats, Ints, Mask
from core.estimates import Estimate
from core.membership.evidence import Evidence
from core.seeds import child_generator, child_seed


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
    """(m,): 1 = classified as a member."""


NEEDS = {
    "labels": "true and predicted labels",
    "scores": "released scores",
    "shadows": "shadow models, trained as the model was on others of these people",
    "queries": "query access, to ask the model about changed records",
    "records": "everybody's features",
    "population": "people the model was not trained on, beside those judged",
    "halves": "who is a member of half of those judged, to judge the other half",
}
"""What an attack may need -> what that is."""


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
    """Where it is run: "study" is page and command, "scores" an audit of released scores, "labels" one of labels."""
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
        elif "records" in self.needs:
            told += ", and features"
        if "queries" in self.needs:
            told += ", and what the model answers about changed records"
        if "population" in self.needs:
            told += "; also other people, whom the model was not trained on"
        if self.learns:
            told += "; of half of the people also who is a member, to judge the other half"
        return f"{told}."


def above_threshold(name: str, score: Floats, evidence: Evidence) -> MemberGuess:
    """Call those of the judged members whose score, (n,), reaches the threshold that is best for the known."""
    known, member = evidence.split.known
    rows = evidence.split.judged_rows
    verdict = score[rows] >= best_threshold(score[known], member)
    return MemberGuess(name=name, rows=rows, score=score[rows], verdict=verdict.astype(np.uint8))


def best_threshold(score: Floats, member: Codes) -> float:
    """Return the score from which up people are classified as members for the best balanced accuracy.

    Of several as good the highest; infinity, which classifies nobody as a member, if no threshold is better than
    chance. There is at least one member and one non-member.
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


def halves(member: Codes, *, seed: int) -> Mask:
    """Return who is in the second half; each half has as many members, and as many non-members, as the other.

    An odd one goes to the second half. Were the halves unlike, what is learned of one would say something of the
    other's share of members. The same people in the same order get the same halves.
    """
    rng = child_generator(seed, "halves of the judged")
    second = np.zeros(member.size, dtype=np.bool_)
    for kind in (0, 1):
        rows = rng.permutation(np.flatnonzero(member == kind))
        second[rows[rows.size // 2 :]] = True
    return second


_AGREE = math.sqrt(1.0 + 2.0 / math.pi)


def taught_both_ways(found: Estimate, chance: float) -> Estimate:
    """Return an estimate over both halves, each judged by what the other taught, with an interval that is wide enough.

    Where nothing leaks, the halves differ from chance in a and b, independent with variance v. What one learns is the
    sign of its own difference, and the mean of both, (sign(b) a + sign(a) b) / 2, has the variance v (1 + 2/pi) / 2 and
    not v / 2: either both halves are right or both are wrong. Where something leaks for certain the signs are no
    chance. So the interval is sqrt(1 + 2/pi) times as wide unless it lies above chance even then.
    """
    below, above = (_AGREE * abs(end - found.value) for end in (found.low, found.high))
    if found.value - below > chance:
        return found
    return replace(found, low=found.value - below, high=found.value + above)


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
