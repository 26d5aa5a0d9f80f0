"""RMIA, the robust membership attack with reference models (Zarifzadeh, Liu and Shokri 2024, arXiv 2312.03262).

A person x is compared with people z whom the model was not trained on. With p(x|θ) the probability the model θ gives to
x's own label, and p(x) its mean over models that were trained alike on other people, here LiRA's shadow models,

    LR(x, z) = (p(x|θ) / p(x)) / (p(z|θ) / p(z))
    score(x) = share of the z with LR(x, z) >= γ

Shadows with x and shadows without x weigh the same: p(x) = (p_in + p_out) / 2. Of people who are in no shadow, such as
the z, p_in is guessed from p_out as the authors' program does (privacytrustlab/ml_privacy_meter, attacks.py):
p(z) = ((1 + a) p_out + (1 - a)) / 2, which is p_out for a = 1 and takes everybody to be remembered well for a = 0. That
program takes γ = 1 too, and tunes a on a further model, which is not done here.

The z are `MembershipSplit.population`, non-members the attacker knows and does not judge. Were z one of the judged, it
would be compared with itself, which speaks for it, or left out of its own comparison, which the members are not: either
way its score would hang on its membership, even where the model remembers nobody. An audit judges all training and test
records, and the z are its attack records.

For given z and γ the score never falls where p(x|θ) / p(x) rises: both make ties, and turn no two people round.

Measured beside LiRA on the same 64 shadows, on Adult, trees of depth 14: AUC .694 (.684 to .705) against .689, TPR at
1 % FPR .063 (.048 to .078) against .102 (.087 to .115). With 16 shadows on a random forest on the demo the AUC is .641
against .591: few shadows teach a mean, but no variance.
"""

from __future__ import annotations

import numpy as np

from ....base.errors import InputError
from ....base.validation import Floats
from ..attack import Attack, AttackOutput, Evidence, Shadows

_GAMMA = 1.0
"""γ: how many times as large as another's somebody's ratio must be to beat it."""

_SHRINKAGE = 0.3
"""a: how far p_in is taken to be from p_out for people in no shadow; the paper sets it for each data set."""

_LEAST = 0.01
"""A probability counts as at least this, as LiRA's do: trees say 0 of small leaves, and 0 / 0 would say nothing."""

_DIGITS = 12
"""Decimals of a ratio, so that equal ratios tie."""


def scores(evidence: Evidence) -> AttackOutput:
    """Judge people by how many of the population they beat in likelihood ratio; scores alone, and no verdict.

    Raises `InputError` if nobody is in the population.
    """
    rows = evidence.split.judged_rows
    population = evidence.split.population
    if not population.size:
        raise InputError(
            "RMIA needs people whom the model was not trained on and who are not judged, got none."
        )
    probability = np.maximum(evidence.label_probability[np.concatenate([rows, population])], _LEAST)
    ratio = np.round(probability / np.maximum(_marginal(evidence.shadow_models), _LEAST), _DIGITS)
    target_ratio = ratio[: rows.size]
    population_ratio = np.sort(_GAMMA * ratio[rows.size :])
    # z with γ ratio(z) <= ratio(x) are those before the place of x among the sorted
    score = np.searchsorted(population_ratio, target_ratio, side="right") / population_ratio.size
    return score, None


def _marginal(shadows: Shadows) -> Floats:
    """Return p of everybody: the mean probability of the own label over models with and without the person."""
    probability = shadows.label_probability
    trained = shadows.trained
    with_count = trained.sum(axis=0)
    out_count = (~trained).sum(axis=0)
    p_in = np.where(trained, probability, 0.0).sum(axis=0) / np.maximum(with_count, 1)
    p_out = np.where(trained, 0.0, probability).sum(axis=0) / np.maximum(out_count, 1)
    both = (p_in + p_out) / 2.0
    guessed = ((1.0 + _SHRINKAGE) * p_out + (1.0 - _SHRINKAGE)) / 2.0
    p = np.where(with_count > 0, both, guessed)
    return np.where(out_count > 0, p, p_in)  # in every shadow, by a rare draw


ATTACK = Attack(
    title="RMIA",
    phrase="RMIA",
    paper="Zarifzadeh et al. 2024",
    glossary="Compares how much likelier the model makes a person's label than shadow models do with other people's.",
    needs=frozenset({"labels", "scores", "shadows", "population"}),
    uses=frozenset({"scores"}),
    turn=80,
    scores=scores,
)
