"""Boosting on all that is released about a person: label and, where released, score.

A threshold on the loss is one threshold for both labels and looks at nothing else. Models that memorise give
themselves away in other ways: a forest without bootstrap says exactly 1 of nearly all members with label 1, and of
many non-members with label 0 it says exactly 0 as well.
"""

from __future__ import annotations

from ....adversaries.released_outputs import cross_fitted, released_columns
from ..attack import Attack, AttackOutput, Evidence


def scores(evidence: Evidence) -> AttackOutput:
    """Judge people by boosting on what is released about them, half of the judged teaching.

    Of each half of those judged the attacker knows who is a member, when the other half is judged.
    """
    predicted = evidence.predicted
    y = evidence.labels
    rows, member = evidence.split.judged_records
    if evidence.released is None:
        score = None
    else:
        score = evidence.probability[rows]
    columns = released_columns(predicted[rows], y[rows], score)
    ranks, verdict = cross_fitted(columns, member, seed=evidence.seed, name="released")
    return ranks, verdict


ATTACK = Attack(
    title="Boosting on everything released",
    phrase="boosting on everything released",
    glossary="Learns by boosting what the labels and scores of members have in common.",
    needs=frozenset({"labels", "halves"}),
    uses=frozenset({"scores", "labels"}),
    turn=50,
    scores=scores,
)
