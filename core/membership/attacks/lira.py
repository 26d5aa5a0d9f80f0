"""LiRA, the likelihood-ratio membership attack with shadow models (Carlini et al. 2022).

Shadow models are trained like the target on random people. What they say of a person's own label (φ, see
`core.membership.evidence`) is taken as normal, with one mean and variance over the shadows trained with that person and
another over those trained without. The score of a person is the log of the ratio of the two densities at the target's
φ. Offline, no judged person is in any shadow, and the score is how far the target's φ lies above what shadows without
that person say. The normal law is an assumption, and trees break it: see `core.membership.attacks.lira_boosted`.

A threshold for all people has its FPR on average over people (Jälkö et al. 2026, arXiv 2605.25819). Measured on Adult,
trees of depth 14, 64 shadows of 5,000 people each, 1 % in all: 91 % of the people have an FPR of 0 over the 32 shadows
without them, 4 % one of 10 % or more, at most 31 %. A threshold a person would need hundreds of shadows. They also find
targets taken from among the shadows too exposed. Here the target is none of the shadows, whose draws do not depend on
who its members are (six tables: AUC .715, TPR .105; each shadow left out and attacked by the others: .713, .101). With
a target trained on none of the people the AUC is .499 and the TPR .0095.
"""

from __future__ import annotations

import numpy as np

from core.arrays import Floats
from core.membership.attack import Attack, Judged
from core.membership.evidence import Evidence, logit

_OWN_VARIANCE = 64
"""From this many shadows on a person has a variance of their own (Carlini et al. 2022, section VI-C)."""


def scores(evidence: Evidence) -> Judged:
    """Judge people by how the target's answer compares with that of shadow models; scores alone, and no verdict.

    Each person has variances of their own from 64 shadows on; before, all share one inside and one outside.
    """
    shadows, rows = evidence.shadow_models, evidence.split.judged_rows
    phi, own = logit(evidence.own)[rows], len(shadows.own) >= _OWN_VARIANCE
    out_mean, out_deviation = shadows.normal(~shadows.inside, own)
    if shadows.online:
        in_mean, in_deviation = shadows.normal(shadows.inside, own)
        score = _log_density(phi, in_mean, in_deviation) - _log_density(phi, out_mean, out_deviation)
    else:
        score = (phi - out_mean) / out_deviation  # orders people as its normal distribution function does
    return score, None


def _log_density(x: Floats, mean: Floats, deviation: Floats) -> Floats:
    """Return the log density of a normal distribution, but for its constant."""
    return np.asarray(-np.log(deviation) - 0.5 * ((x - mean) / deviation) ** 2)


ATTACK = Attack(
    title="LiRA",
    phrase="LiRA",
    paper="Carlini et al. 2022",
    glossary="Compares the model with shadow models trained with and without a person.",
    needs=frozenset({"labels", "scores", "shadows"}),
    uses=frozenset({"study", "scores"}),
    turn=60,
    scores=scores,
)
