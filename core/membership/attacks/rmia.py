"""RMIA, the robust membership attack with reference models (Zarifzadeh, Liu and Shokri 2024, arXiv 2312.03262).

A person x is compared with people z whom the model was not trained on. With p(x|θ) the probability the model θ gives to
x's own label, and p(x) its mean over models that were trained alike on other people, here LiRA's shadow models,

    LR(x, z) = (p(x|θ) / p(x)) / (p(z|θ) / p(z))          (equations 2 and 3)
    score(x) = share of the z with LR(x, z) >= γ          (equation 4)

Online, shadows with x and shadows without x weigh the same: p(x) = (p_in + p_out) / 2. Offline nobody judged is in any
shadow, and p_in is guessed from p_out as the paper does: p(x) = ((1 + a) p_out + (1 - a)) / 2, which is p_out for a = 1
and takes everybody to be remembered well for a = 0. So is p(z) of people who are in no shadow.

The z are `MembershipSplit.population`, non-members the attacker knows and does not judge. Were z one of the judged, it
would be compared with itself, which speaks for it, or left out of its own comparison, which the members are not: either
way its score would hang on its membership, even where the model remembers nobody. Page and command draw known and
judged people apart; a release audit judges all training and test records, and the z are its attack records.

For given z and γ the score never falls where p(x|θ) / p(x) rises: both make ties, and turn no two people round.

Measured beside LiRA on the same 64 shadows, on Adult, trees of depth 14: AUC .694 (.684 to .705) against .689, TPR at
1 % FPR .063 (.048 to .078) against .102 (.087 to .115). With 16 shadows on a random forest on the demo the AUC is .641
against .591: few shadows teach a mean, but no variance.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.arrays import Floats, Mask
from core.errors import InputError
from core.membership.attack import Attack, MemberGuess, checked, true_label_probability
from core.membership.shadows import Shadows, shadows_of

_LEAST = 0.01
"""A probability counts as at least this, as LiRA's do: trees say 0 of small leaves, and 0 / 0 would say nothing."""

_DIGITS = 12
"""Decimals of a ratio, so that equal ratios tie."""


def rmia_from(
    shadows: Shadows,
    probability: npt.ArrayLike,
    labels: npt.ArrayLike,
    *,
    gamma: float = 1.0,
    offline_a: float = 0.3,
) -> MemberGuess:
    """Judge people by how many of the population they beat in likelihood ratio; scores alone, and no verdict.

    Raises `InputError` if nobody is in the population or a setting breaks its rule.

    Parameters
    ----------
    shadows : Shadows
        What shadow models say of the judged and of the population.
    probability, labels : array-like of shape (n,)
        The target's P(label = 1), in [0, 1], and the label, 0 or 1, of everybody.
    gamma : float of at least 1
        How many times as large as another's somebody's ratio must be to beat it.
    offline_a : float in [0, 1]
        How far p_in is taken to be from p_out for people in no shadow; the paper sets it for each data set.
    """
    if not gamma >= 1.0:
        raise InputError(f"gamma must be at least 1, got {gamma!r}.")
    if not 0.0 <= offline_a <= 1.0:
        raise InputError(f"offline_a must be in [0, 1], got {offline_a!r}.")
    if not shadows.population.size:
        raise InputError("RMIA needs people whom the model was not trained on and who are not judged, got none.")
    p, y = checked(probability, labels)
    people = np.concatenate([shadows.rows, shadows.population])
    given = np.maximum(true_label_probability(p, y)[people], _LEAST)
    marginal = np.maximum(_marginal(shadows.own, shadows.trained, shadows.online, offline_a), _LEAST)
    ratio = np.round(given / marginal, _DIGITS)
    judged, others = ratio[: shadows.rows.size], np.sort(gamma * ratio[shadows.rows.size :])
    # z with γ ratio(z) <= ratio(x) are those before the place of x among the sorted
    score = np.searchsorted(others, judged, side="right") / others.size
    return MemberGuess(name="rmia", rows=shadows.rows, score=score, verdict=None)


def _marginal(own: Floats, trained: Mask, online: bool, offline_a: float) -> Floats:
    """Return p of everybody: the mean probability of the own label over models with and without the person."""
    with_count, out_count = trained.sum(axis=0), (~trained).sum(axis=0)
    p_in = np.where(trained, own, 0.0).sum(axis=0) / np.maximum(with_count, 1)
    p_out = np.where(trained, 0.0, own).sum(axis=0) / np.maximum(out_count, 1)
    both = (p_in + p_out) / 2.0
    guessed = ((1.0 + offline_a) * p_out + (1.0 - offline_a)) / 2.0
    p = np.where(online & (with_count > 0), both, guessed)
    return np.where(out_count > 0, p, p_in)  # in every shadow, by a rare draw


ATTACK = Attack(
    name="rmia",
    title="RMIA",
    phrase="RMIA",
    paper="Zarifzadeh et al. 2024",
    glossary="Compares how much likelier the model makes a person's label than shadow models do with other people's.",
    needs=frozenset({"labels", "scores", "shadows", "population"}),
    uses=frozenset({"study", "scores"}),
    turn=80,
    judge=lambda evidence: rmia_from(shadows_of(evidence), evidence.probability, evidence.labels),
)
