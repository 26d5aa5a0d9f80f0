"""LiRA's shadows, boosted: half of the people teach what members look like.

Unlike LiRA it assumes no normal law, and knows who is a member of the half of the judged that teaches.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.membership.attack import Attack, MemberGuess, cross_fitted
from core.membership.attacks.lira import lira_from
from core.membership.shadows import Shadows, normal, observed, shadows_of
from core.validation import binary_array, one_length


def lira_boosted(
    shadows: Shadows, probability: npt.ArrayLike, labels: npt.ArrayLike, member: npt.ArrayLike, *, seed: int
) -> MemberGuess:
    """Score the judged by boosting on the target's φ beside means and deviations of their shadows' φ.

    Membership is that of the judged, in the order of `shadows.rows`; the other arguments are those of `lira`.
    """
    inside = binary_array(member, name="member")
    one_length(member=inside, judged=shadows.rows)
    phi = observed(shadows, probability, labels)
    without_and_with = (~shadows.inside, shadows.inside)[: 1 + shadows.online]  # offline there are none with
    means = [normal(shadows.logits, used, True) for used in without_and_with]
    columns = [phi, np.asarray(labels)[shadows.rows]]
    for mean, deviation in means:
        columns += [mean, deviation, phi - mean]
    if shadows.online:
        columns.append(lira_from(shadows, probability, labels).score)
    score, verdict = cross_fitted(columns, inside, seed=seed, name="boosting on shadows")
    return MemberGuess(name="lira_boosted", rows=shadows.rows, score=score, verdict=verdict)


ATTACK = Attack(
    name="lira_boosted",
    title="LiRA's shadows, boosted",
    phrase="boosting on LiRA's shadows",
    paper="",
    glossary="Learns by boosting how members differ from what shadow models say of them.",
    needs=frozenset({"labels", "scores", "shadows", "halves"}),
    uses=frozenset({"scores"}),
    turn=70,
    judge=lambda evidence: lira_boosted(
        shadows_of(evidence), evidence.probability, evidence.labels, evidence.split.judged[1], seed=evidence.seed
    ),
)
