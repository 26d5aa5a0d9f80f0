"""The confidence threshold (Salem et al. 2019): who the model is sure of was trained on.

It needs no label: only the larger of the two probabilities counts.
"""

from __future__ import annotations

import numpy as np

from ..attack import Attack, AttackOutput, Evidence, above_threshold


def scores(evidence: Evidence) -> AttackOutput:
    """Judge people by the probability of the label the model prefers."""
    p = evidence.probability
    return above_threshold(np.maximum(p, 1.0 - p).round(12), evidence)  # 1 - 1/3 ties with 2/3


ATTACK = Attack(
    title="Confidence threshold",
    phrase="the confidence threshold",
    paper="Salem et al. 2019",
    glossary="Classifies a person as a member where the model is sure of its answer, whatever their label.",
    needs=frozenset({"scores"}),
    uses=frozenset(),
    turn=20,
    scores=scores,
)
