"""The loss threshold (Yeom et al. 2018): people the model predicts well are inferred as members.

This is the quick attack: two passes over the people, no training.
"""

from __future__ import annotations

import numpy as np

from ..attack import Attack, AttackOutput, Evidence, above_threshold

_LEAST = 1e-12
"""A probability of 0 counts as this, so that a loss is finite."""


def scores(evidence: Evidence) -> AttackOutput:
    """Judge people by the log of the probability of their own label, the loss with its sign turned."""
    probability = np.round(evidence.label_probability, 12)  # 1 - 0.8 ties with 0.2
    return above_threshold(np.log(np.maximum(probability, _LEAST)), evidence)


ATTACK = Attack(
    title="Loss threshold",
    phrase="the loss threshold",
    paper="Yeom et al. 2018",
    glossary="Classifies a person as a member where the model's loss on their own label is small.",
    needs=frozenset({"scores", "labels"}),
    uses=frozenset({"scores"}),
    turn=10,
    scores=scores,
)
