"""Boosting on all that is released about a person: label and, where released, score.

A threshold on the loss is one threshold for both labels and looks at nothing else. Models that memorise give
themselves away in other ways: a forest without bootstrap says exactly 1 of nearly all members with label 1, and of
many non-members with label 0 it says exactly 0 as well.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.membership.attack import Attack, MemberGuess, both_labels, checked, cross_fitted, true_label_probability
from core.membership.judged_people import MembershipSplit


def released_attack(
    probability: npt.ArrayLike | None,
    predictions: npt.ArrayLike,
    labels: npt.ArrayLike,
    split: MembershipSplit,
    *,
    seed: int,
) -> MemberGuess:
    """Judge people by boosting on what is released about them, half of the judged teaching.

    P(label = 1), in [0, 1], as it is released, or None where labels alone are, and predicted and true labels, 0 or 1,
    are everybody's, of shape (n,). Of each half of those judged the attacker knows who is a member, when the other half
    is judged.
    """
    predicted, y = both_labels(predictions, labels)
    rows, member = split.judged
    columns = [predicted[rows], y[rows], (predicted == y)[rows]]
    if probability is not None:
        p, _ = checked(probability, labels)
        own, true = p[rows], true_label_probability(p, y)[rows]
        _, place, count = np.unique(own, return_inverse=True, return_counts=True)
        columns += [own, true, (true == 1.0).astype(np.int8) - (true == 0.0), np.log(count[place])]
    score, verdict = cross_fitted(columns, member, seed=seed, name="released")
    return MemberGuess(name="released", rows=rows, score=score, verdict=verdict)


ATTACK = Attack(
    name="released",
    title="Boosting on everything released",
    phrase="boosting on everything released",
    paper="",
    glossary="Learns by boosting what the labels and scores of members have in common.",
    needs=frozenset({"labels", "halves"}),
    uses=frozenset({"scores", "labels"}),
    turn=50,
    judge=lambda evidence: released_attack(
        evidence.released, evidence.predicted, evidence.labels, evidence.split, seed=evidence.seed
    ),
)
