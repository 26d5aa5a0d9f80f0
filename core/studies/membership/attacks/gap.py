"""The gap attack (Yeom et al. 2018, adversary 1): who is predicted correctly was trained on."""

from __future__ import annotations

import numpy as np

from ..attack import Attack, AttackOutput, Evidence


def scores(evidence: Evidence) -> AttackOutput:
    """Classify people who are predicted correctly as members: labels alone are needed."""
    right = (evidence.predicted == evidence.labels)[evidence.split.judged_rows]
    return right.astype(np.float64), right


ATTACK = Attack(
    title="Gap attack",
    phrase="the gap attack",
    paper="Yeom et al. 2018",
    glossary="Classifies a person as a member where the model predicts their label correctly.",
    needs=frozenset({"labels"}),
    uses=frozenset({"labels"}),
    turn=40,
    scores=scores,
)
