"""The confidence threshold (Salem et al. 2019): who the model is sure of was trained on.

It needs no label: only the larger of the two probabilities counts.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.membership.attack import Attack, MemberGuess, above_threshold, checked
from core.membership.judged_people import MembershipSplit


def confidence_attack(probability: npt.ArrayLike, labels: npt.ArrayLike, split: MembershipSplit) -> MemberGuess:
    """Judge people by the probability of the label the model prefers.

    The arguments are those of `loss_attack`; labels are checked, not used.
    """
    p, _ = checked(probability, labels)
    return above_threshold("confidence", np.maximum(p, 1.0 - p), split)


ATTACK = Attack(
    name="confidence",
    title="Confidence threshold",
    phrase="the confidence threshold",
    paper="Salem et al. 2019",
    glossary="Calls a person a member where the model is sure of its answer, whatever their label.",
    needs=frozenset({"scores"}),
    uses=frozenset({"study"}),
    turn=20,
    judge=lambda evidence: confidence_attack(evidence.probability, evidence.labels, evidence.split),
)
