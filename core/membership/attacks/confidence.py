"""The confidence threshold (Salem et al. 2019): whoever the model is sure of was in its training data.

It needs no label: only the larger of the two probabilities counts.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.membership.guess import MemberGuess, best_threshold, checked
from core.membership.judged_people import MembershipSplit


def confidence_attack(probability: npt.ArrayLike, labels: npt.ArrayLike, split: MembershipSplit) -> MemberGuess:
    """Judge people by the probability of the label the model prefers.

    The arguments are those of `loss_attack`; labels are checked, not used.
    """
    p, _ = checked(probability, labels)
    score = np.maximum(p, 1.0 - p)
    known, member = split.known
    rows, _ = split.judged
    threshold = best_threshold(score[known], member)
    return MemberGuess(
        name="confidence", rows=rows, score=score[rows], verdict=(score[rows] >= threshold).astype(np.uint8)
    )
