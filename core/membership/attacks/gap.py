"""The gap attack (Yeom et al. 2018, adversary 1): who is predicted correctly was trained on."""

from __future__ import annotations

import numpy as np

from core.membership.attack import Attack, MemberGuess
from core.membership.evidence import Evidence


def judge(evidence: Evidence) -> MemberGuess:
    """Classify people who are predicted correctly as members: labels alone are needed."""
    rows = evidence.split.judged_rows
    right = (evidence.predicted == evidence.labels)[rows]
    return MemberGuess(name="gap", rows=rows, score=right.astype(np.float64), verdict=right.astype(np.uint8))


ATTACK = Attack(
    name="gap",
    title="Gap attack",
    phrase="the gap attack",
    paper="Yeom et al. 2018",
    glossary="Classifies a person as a member where the model predicts their label correctly.",
    needs=frozenset({"labels"}),
    uses=frozenset({"labels"}),
    turn=40,
    judge=judge,
)
