"""The loss threshold (Yeom et al. 2018): whoever the model predicts well was trained on.

This is the quick attack: two passes over the people, no training.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.membership.attack import Attack, MemberGuess, above_threshold, checked, true_label_probability
from core.membership.judged_people import MembershipSplit

_LEAST = 1e-12
"""A probability of 0 counts as this, so that a loss is finite."""


def loss_attack(probability: npt.ArrayLike, labels: npt.ArrayLike, split: MembershipSplit) -> MemberGuess:
    """Judge people by the model's loss on their own label.

    The score is the log of the probability of the true label, the loss with its sign turned. The model's P(label = 1),
    in [0, 1], and the labels, 0 or 1, are everybody's, of shape (n,). The threshold with the best balanced accuracy is
    set on those known of the split.
    """
    p, y = checked(probability, labels)
    score = np.log(np.maximum(np.round(true_label_probability(p, y), 12), _LEAST))  # 1 - 0.8 ties with 0.2
    return above_threshold("loss", score, split)


ATTACK = Attack(
    name="loss",
    title="Loss threshold",
    phrase="the loss threshold",
    paper="Yeom et al. 2018",
    glossary="Calls a person a member where the model's loss on their own label is small.",
    needs=frozenset({"scores", "labels"}),
    uses=frozenset({"study", "scores"}),
    turn=10,
    judge=lambda evidence: loss_attack(evidence.probability, evidence.labels, evidence.split),
)
