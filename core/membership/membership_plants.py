"""People and models of which it is known who is remembered: what membership inference is tried on.

The AUC is tried on real trees, grown until every training record is right: the plainest case of overfitting. A TPR at
1% FPR needs scores that tell people apart, and LiRA many trainings; there the target is a law: a model that answers
about each person by their own record, a little chance, and, for those it was trained on, how well it remembers them.
"""

from __future__ import annotations

import numpy as np

from core.arrays import Codes, Floats, Ints
from core.membership.evidence import Train
from core.membership.settings import MembershipPlan
from core.planted import Drawn, subject_of
from core.seeds import child_generator
from core.study import Plant
from core.subject import Subject

TARGET = "membership target"
"""Under which a subject keeps what its model can be trained again with."""

_SIDE = 1000
"""Members, and as many non-members, where a TPR at 1% FPR is read: 1% of these must be ten or more."""

_NOT_JUDGED = 200
"""Attack records, which no membership attack looks at."""

_REMEMBERED = 4.0
"""How far a law's answers move for those trained on; from training to training their standard deviation is 1."""


def _tied(seed: int, planted: bool) -> tuple[Subject, MembershipPlan]:
    """Return a model that scores a third of label 0 exactly 0; planted, half of the members with label 1 exactly 1."""
    rng, n = child_generator(seed, f"ties, planted {planted}"), 2 * _SIDE + _NOT_JUDGED
    labels = rng.integers(0, 2, n).astype(np.uint8)
    scores = rng.binomial(50, np.where(labels == 1, 0.7, 0.3)) / 50
    scores[(labels == 0) & (rng.random(n) < 1 / 3)] = 0.0
    remembered = (labels == 1) & (rng.random(n) < 0.5) & (np.arange(n) < _SIDE)
    scores[remembered & planted] = 1.0
    return _subject(np.zeros((n, 1)), labels, scores, _SIDE, seed=seed), MembershipPlan(shadows=0)


def _grown(seed: int, planted: bool) -> tuple[Subject, MembershipPlan]:
    """Return a tree that knows every training record; or one that was trained on none of those judged."""
    from sklearn.tree import DecisionTreeClassifier

    rng, side = child_generator(seed, f"grown tree, planted {planted}"), 300
    features = rng.random((3 * side, 3))
    labels = (rng.random(len(features)) < 0.2 + 0.6 * features[:, 0]).astype(np.uint8)
    trained = slice(0, side) if planted else slice(side, 2 * side)
    tree = DecisionTreeClassifier(random_state=0).fit(features[trained], labels[trained])
    scores = tree.predict_proba(features)[:, 1]
    return _subject(features, labels, scores, side, seed=seed, aside=side), MembershipPlan(shadows=0)


def _remembering(seed: int, planted: bool) -> tuple[Subject, MembershipPlan]:
    """Return a law that remembers whom it was trained on, or nobody, and that can be trained again."""
    subject, again = _lawful(
        seed, f"remembered, planted {planted}", _SIDE, (_REMEMBERED,) * 2 if planted else (0.0, 0.0)
    )
    subject.trainable = True
    subject.once(TARGET, lambda: again)
    return subject, MembershipPlan(shadows=4)


def _remembering_one_group(seed: int, planted: bool) -> tuple[Subject, MembershipPlan]:
    """Return a law that remembers one of two groups, or both alike."""
    remembered = (0.0, _REMEMBERED) if planted else (_REMEMBERED / 2,) * 2
    return _lawful(seed, f"groups remembered, planted {planted}", 2 * _SIDE, remembered)[0], MembershipPlan(shadows=0)


def _lawful(seed: int, name: str, side: int, remembered: tuple[float, float]) -> tuple[Subject, Train]:
    """Return answers of a law by how well it remembers group 0 and group 1, and the law as an attacker thinks it is."""
    rng, n = child_generator(seed, name), 2 * side + _NOT_JUDGED
    labels = rng.integers(0, 2, n).astype(np.uint8)
    level = rng.standard_normal(n)
    own = np.where(np.arange(n) % 2 == 1, remembered[1], remembered[0])
    scores = _law(level, own, labels)(np.arange(side), seed)
    subject = _subject(np.zeros((n, 1)), labels, scores, side, seed=seed)
    return subject, _law(level, np.full(n, _REMEMBERED / 2), labels)


def _law(level: Floats, remembered: Floats, labels: Codes) -> Train:
    """Return a target made of chance: everybody's level, a draw, and what is remembered of those trained on."""

    def train(rows: Ints, seed: int) -> Floats:
        own = level + np.random.default_rng(seed).standard_normal(level.size)
        own[rows] += remembered[rows]
        return np.asarray(1.0 / (1.0 + np.exp(np.where(labels == 1, -own, own))))

    return train


def _subject(
    features: Floats, labels: Codes, scores: Floats, side: int, *, seed: int, aside: int = _NOT_JUDGED
) -> Subject:
    """Return scores of so many members and non-members, every other one of group 1."""
    people = Drawn(features=features, labels=labels, sensitive=(np.arange(labels.size) % 2).astype(np.uint8))
    return subject_of(people, (scores >= 0.5).astype(np.uint8), (side, aside, side), seed=seed, scores=scores)


PLANTED = (
    Plant(
        attack="Members identified by ties of score and label (TPR at 1% FPR)",
        told="Null: scores that tie alike for members and others. Planted: half of the members with label 1 score 1.",
        make=_tied,
        limits={"membership_caught": 0.01},
        share=0.5,
    ),
    Plant(
        attack="Members distinguished from non-members (AUC)",
        told="Null: a tree trained on none of those judged. Planted: one grown until it knows every training record.",
        make=_grown,
        limits={"membership_auc": 0.5, "membership_advantage": 0.0},
        share=0.5,
    ),
    Plant(
        attack="Members identified (TPR at 1% FPR)",
        told="Null: a model that remembers nobody. Planted: one that remembers whom it was trained on.",
        make=_remembering,
        limits={"membership_caught": 0.01},
    ),
    Plant(
        attack="Gap between groups in members identified (TPR at 1% FPR)",
        told="Null: a model that remembers both groups alike. Planted: one that remembers one of them.",
        make=_remembering_one_group,
        limits={"membership_gap": 0.0},
        share=0.5,
    ),
)
"""What the study is tried on."""
