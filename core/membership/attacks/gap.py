"""The gap attack (Yeom et al. 2018, adversary 1): who is predicted correctly was trained on."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.membership.attack import Attack, MemberGuess, both_labels
from core.membership.judged_people import MembershipSplit


def gap_attack(predictions: npt.ArrayLike, labels: npt.ArrayLike, split: MembershipSplit) -> MemberGuess:
    """Call whoever is predicted correctly a member: labels alone are needed."""
    predicted, y = both_labels(predictions, labels)
    rows, _ = split.judged
    right = (predicted == y)[rows]
    return MemberGuess(name="gap", rows=rows, score=right.astype(np.float64), verdict=right.astype(np.uint8))


ATTACK = Attack(
    name="gap",
    title="Gap attack",
    phrase="the gap attack",
    paper="Yeom et al. 2018",
    glossary="Calls a person a member where the model predicts their label correctly.",
    needs=frozenset({"labels"}),
    uses=frozenset({"labels"}),
    turn=40,
    judge=lambda evidence: gap_attack(evidence.predicted, evidence.labels, evidence.split),
)
