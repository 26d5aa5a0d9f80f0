"""Who was in the training data: the audit's membership attacks, and its gaps between groups.

The AUC is tried on real trees, grown until every training record is right: the plainest case of overfitting. A TPR at
1% FPR needs scores that tell people apart, and LiRA many trainings; there the target is a law: a
model that answers about everybody by what is hers, a little chance, and, for those it was trained on, how well it
remembers them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from core.decision.attacks.members import FALSE_ALARMS, member_gaps
from core.decision.audited import Audited
from core.decision.measures.membership_caught import membership_caught
from core.decision.measures.membership_gap import membership_gap
from core.decision.self_test.audited import audit_of
from core.decision.self_test.people import Bits, Drawn, Floats
from core.decision.self_test.trial import Run, Trial, called, each
from core.membership import (
    MembershipSplit,
    disparities,
    is_muted,
    judging_everybody,
    lira,
    loss_attack,
    roc,
    split_between,
)

_SIDE = 300
"""Members, and non-members, of a tree."""

_MANY = 1000
"""Members, and non-members, where a TPR at 1% FPR is read: 1% of the non-members must be ten or more."""

_BOTH = 500
"""Members, and non-members, of a model asked for verdicts."""

_NOT_JUDGED = 200
"""Attack records, which no membership attack looks at."""

_A_GROUP = 1000
"""Non-members of either group in a gap at 1% FPR."""

_FEWEST_PERMUTATIONS = 100

_SHADOWS = 4
_CHANCE, _REMEMBERED = 1.0, 4.0
"""Standard deviation of a law's answers from training to training, and how far it moves for those trained on."""

Rows = npt.NDArray[np.int64]


def _area_leaks(run: Run) -> bool:
    from sklearn.tree import DecisionTreeClassifier

    rng = run.rng
    features = rng.random((3 * _SIDE, 3))
    labels = (rng.random(len(features)) < 0.2 + 0.6 * features[:, 0]).astype(np.uint8)
    split = _split(_SIDE, rng)
    trained = split.members if run.planted else np.arange(2 * _SIDE, 3 * _SIDE)
    tree = DecisionTreeClassifier(random_state=0).fit(features[trained], labels[trained])
    guess = loss_attack(tree.predict_proba(features)[:, 1], labels, split)
    return not is_muted(roc(guess.score, split.judged[1]).auc)


def _caught_leaks(run: Run) -> bool:
    audited = _audited(run, _MANY, lambda groups: _REMEMBERED if run.planted else 0.0)
    return called(membership_caught(audited), FALSE_ALARMS)


def _ties_leak(run: Run) -> bool:
    """Of those with label 0 a third get exactly 0, member or not; planted, half of the members with 1 exactly 1."""
    rng = run.rng
    n = 2 * _MANY + _NOT_JUDGED
    labels, sizes = rng.integers(0, 2, n).astype(np.uint8), (_MANY, _NOT_JUDGED, _MANY)
    scores = rng.binomial(50, np.where(labels == 1, 0.7, 0.3)) / 50
    scores[(labels == 0) & (rng.random(n) < 1 / 3)] = 0.0
    remembered = (labels == 1) & (rng.random(n) < 0.5) & (np.arange(n) < _MANY)
    scores[remembered & run.planted] = 1.0
    groups = (np.arange(n) % 2).astype(np.uint8)
    people = Drawn(features=np.zeros((n, 1), dtype=np.int64), labels=labels, sensitive=groups)
    predictions = (scores >= 0.5).astype(np.uint8)
    audited = audit_of(people, predictions, sizes, seed=run.seed, scores=scores)
    return called(membership_caught(audited), FALSE_ALARMS)


def _verdict_gap_leaks(run: Run) -> bool:
    rng = run.rng
    law, split, groups = _law(2 * _BOTH, rng), _split(_BOTH, rng), rng.integers(0, 2, 2 * _BOTH)
    remembered = _remembered(groups, run)
    guess = loss_attack(law.remembering(remembered).train(split.members, run.number), law.labels, split)
    rows, member = split.judged
    if guess.verdict is None or is_muted(roc(guess.score, member).auc):
        return False
    found = disparities(guess.verdict, groups[rows], member, names=("0", "1"), seed=run.seed).results
    return any(result.tests["advantage_gap"].significant for result in found)


def _remembered(groups: Bits | Rows, run: Run) -> Floats:
    """Return how well everybody is remembered: those of one group alone where a gap is planted, else all alike."""
    return np.where(groups == 1, _REMEMBERED, 0.0) if run.planted else np.full(groups.size, _REMEMBERED / 2)


def _caught_gap_leaks(run: Run) -> bool:
    audited = _audited(run, 2 * _A_GROUP, lambda groups: _remembered(groups, run))
    member_gaps(audited, permutations=_FEWEST_PERMUTATIONS)  # the check is decided by the interval, without them
    return called(membership_gap(audited), 0.0)


def _audited(run: Run, side: int, remembered: Callable[[Bits], npt.ArrayLike]) -> Audited:
    """Return an audit of a law, with as many members as outsiders, in which both membership attacks are done."""
    own = run.seed
    law = _law(2 * side + _NOT_JUDGED, run.rng)
    groups = (np.arange(law.level.size) % 2).astype(np.uint8)
    members, outsiders = np.arange(side), np.arange(side + _NOT_JUDGED, 2 * side + _NOT_JUDGED)
    split = judging_everybody(members, outsiders)
    scores = law.remembering(remembered(groups)).train(members, own)
    shadow = law.remembering(_REMEMBERED / 2)  # as the attacker thinks that such a model is trained
    people = Drawn(features=np.zeros((groups.size, 1), dtype=np.int64), labels=law.labels, sensitive=groups)
    audited = audit_of(people, (scores >= 0.5).astype(np.uint8), (side, _NOT_JUDGED, side), seed=own, scores=scores)
    guesses = {
        "loss": loss_attack(scores, law.labels, split),
        "lira": lira(shadow.train, scores, law.labels, split, seed=own, shadows=_SHADOWS),
    }
    audited.once("member guesses", lambda: guesses)
    return audited


def _split(side: int, rng: np.random.Generator) -> MembershipSplit:
    seed = int(rng.integers(2**32))
    return split_between(np.arange(side), np.arange(side, 2 * side), seed=seed, known_share=0.3, judged_share=0.7)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Law:
    """A target made of chance: P(label = 1) of everybody from her own level, a draw, and what is remembered of her."""

    level: Floats
    remembered: Floats
    labels: Bits

    def remembering(self, how_well: npt.ArrayLike) -> _Law:
        """Return the same people's law when those trained on are remembered so well, one number or one a person."""
        return replace(self, remembered=np.broadcast_to(np.asarray(how_well, dtype=np.float64), self.level.shape))

    def train(self, rows: Rows, seed: int) -> Floats:
        """Return the answers of a model trained on some people."""
        own = self.level + _CHANCE * np.random.default_rng(seed).standard_normal(self.level.size)
        own[rows] += self.remembered[rows]
        return np.asarray(1.0 / (1.0 + np.exp(np.where(self.labels == 1, -own, own))))


def _law(n: int, rng: np.random.Generator) -> _Law:
    return _Law(level=rng.standard_normal(n), remembered=np.zeros(n), labels=rng.integers(0, 2, n).astype(np.uint8))


MEMBERSHIP_TRIALS = (
    Trial(
        attack="Members told from non-members (AUC)",
        told="Null: a tree trained on none of those judged. Planted: one grown until it knows every training record.",
        leaks=each("membership by area", _area_leaks),
    ),
    Trial(
        attack="Members identified (TPR at 1% FPR)",
        told="Null: a model that remembers nobody. Planted: one that remembers whom it was trained on.",
        leaks=each("members caught", _caught_leaks),
    ),
    Trial(
        attack="Members identified by ties of score and label (TPR at 1% FPR)",
        told="Null: scores that tie alike for members and others. Planted: half of the members with label 1 score 1.",
        leaks=each("ties", _ties_leak),
        share=0.1,
    ),
    Trial(
        attack="Gap between groups in who is called a member",
        told="Null: a model that remembers both groups alike. Planted: one that remembers one of them.",
        leaks=each("gap of verdicts", _verdict_gap_leaks),
    ),
    Trial(
        attack="Gap between groups in members identified (TPR at 1% FPR)",
        told="Null: a model that remembers both groups alike. Planted: one that remembers one of them.",
        leaks=each("gap of members caught", _caught_gap_leaks),
        share=0.5,
    ),
)
