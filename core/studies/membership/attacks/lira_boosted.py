"""LiRA's shadows, boosted: half of the people teach what members look like.

Unlike LiRA it assumes no normal law, and knows who is a member of the half of the judged that teaches.
"""

from __future__ import annotations

import numpy.typing as npt

from ....adversaries.released_outputs import cross_fitted
from ..attack import Attack, AttackOutput, Evidence, logit
from . import lira


def scores(evidence: Evidence) -> AttackOutput:
    """Score the judged by boosting on the target's φ beside means and deviations of their shadows' φ."""
    shadows = evidence.shadow_models
    (rows, member) = evidence.split.judged_records
    phi = logit(evidence.label_probability)[rows]
    columns: list[npt.ArrayLike] = [phi, evidence.labels[rows]]
    for used in (~shadows.inside, shadows.inside):
        mean, deviation = shadows.normal(used, True)
        columns += [mean, deviation, phi - mean]
    columns.append(lira.scores(evidence)[0])
    score, verdict = cross_fitted(columns, member, seed=evidence.seed, name="boosting on shadows")
    return score, verdict


ATTACK = Attack(
    title="LiRA's shadows, boosted",
    phrase="boosting on LiRA's shadows",
    glossary="Learns by boosting how members differ from what shadow models say of them.",
    needs=frozenset({"labels", "scores", "shadows", "halves"}),
    uses=frozenset({"scores"}),
    turn=70,
    scores=scores,
)
