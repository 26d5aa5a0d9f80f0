"""LiRA, the likelihood-ratio membership attack with shadow models (Carlini et al. 2022), and boosting on its shadows.

Shadow models are trained like the target on random people. What they say of a person's own label, on the logit scale
φ = log(p / (1 − p)), is taken as normal, with one mean and variance over the shadows trained with her and another over
those trained without. The score of a person is the log of the ratio of the two densities at the target's φ. Offline,
no judged person is in any shadow, and the score is how far the target's φ lies above what shadows without her say.
The normal law is an assumption, and trees break it: `lira_boosted` learns from half of the people instead what members
look like beside their shadows.

A threshold for all people has its FPR on average over people (Jälkö et al. 2026, arXiv 2605.25819). Measured on Adult,
trees of depth 14, 64 shadows of 5,000 people each, 1 % in all: 91 % of the people have an FPR of 0 over the 32 shadows
without them, 4 % one of 10 % or more, at most 31 %. A threshold a person would need hundreds of shadows. They also find
targets taken from among the shadows too exposed. Here the target is none of the shadows, whose draws do not depend on
who its members are (six tables: AUC .715, TPR .105; each shadow left out and attacked by the others: .713, .101). With
a target trained on none of the people the AUC is .499 and the TPR .0095.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from core.arrays import Floats, Ints, Mask
from core.errors import InputError
from core.membership.guess import MemberGuess, checked, cross_fitted, true_label_probability
from core.membership.judged_people import MembershipSplit
from core.seeds import child_generator, child_seed
from core.validation import binary_array, one_length

Train = Callable[[Ints, int], Floats]
"""Trains a model on these rows with this seed and returns P(label = 1) of everybody."""

Report = Callable[[int, int], None]

FEWEST_SHADOWS = 4
"""Two trained with and two without each judged person, if evenly."""

_LEAST = 0.01
"""A probability counts as no closer to 0 or 1 than this: trees say 0 and 1 of small leaves.

From 1e-6 to 0.05 the choice moves the area on Adult by 0.002.
"""

_OWN_VARIANCE = 64
"""From this many shadows on a person has a variance of her own (Carlini et al. 2022, section VI-C)."""

_LEAST_DEVIATION = 1e-3

_OFFLINE_SHARE = 0.75
"""Most of the people open to them that offline shadows are trained on, so that no two are alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shadows:
    """What shadow models say of the judged people.

    Attributes
    ----------
    rows : ndarray of shape (m,), int
    logits : ndarray of shape (shadows, m)
        φ of each person's own label.
    inside : ndarray of shape (shadows, m), bool
        Whether the shadow was trained on the person; never, offline.
    """

    rows: Ints = field(repr=False)
    logits: Floats = field(repr=False)
    inside: Mask = field(repr=False)
    online: bool


def lira(
    train: Train,
    probability: npt.ArrayLike,
    labels: npt.ArrayLike,
    split: MembershipSplit,
    *,
    seed: int,
    shadows: int = 64,
    online: bool = True,
    report: Report | None = None,
) -> MemberGuess:
    """Judge people by how the target's answer compares with that of shadow models.

    There are scores alone, and no verdict.

    Parameters
    ----------
    train : callable
        Trains a model as the target was trained; see `Train`.
    probability : array-like of shape (n,), in [0, 1]
        The target's P(label = 1) of everybody.
    labels : array-like of shape (n,), 0 or 1
    split : MembershipSplit
        Whom to judge; nobody's membership is used.
    shadows : int
        Even, at least `FEWEST_SHADOWS`.
    online : bool
        Whether shadows are trained with and without the judged, or without them alone.
    report : callable, optional
        Called with (shadows done, shadows in all); may raise `core.errors.Cancelled`.
    """
    made = train_shadows(train, labels, split, seed=seed, shadows=shadows, online=online, report=report)
    return lira_from(made, probability, labels)


def lira_from(
    shadows: Shadows, probability: npt.ArrayLike, labels: npt.ArrayLike, *, own_variance: bool | None = None
) -> MemberGuess:
    """Score the judged with shadows that are trained already; see `lira`.

    Each person has variances of her own, or all share one inside and one outside; by default from 64 shadows on.
    """
    observed = _observed(shadows, probability, labels)
    own = len(shadows.logits) >= _OWN_VARIANCE if own_variance is None else own_variance
    out_mean, out_deviation = _normal(shadows.logits, ~shadows.inside, own)
    if shadows.online:
        in_mean, in_deviation = _normal(shadows.logits, shadows.inside, own)
        score = _log_density(observed, in_mean, in_deviation) - _log_density(observed, out_mean, out_deviation)
    else:
        score = (observed - out_mean) / out_deviation  # orders people as its normal distribution function does
    return MemberGuess(name="lira", rows=shadows.rows, score=score, verdict=None)


def lira_boosted(
    shadows: Shadows, probability: npt.ArrayLike, labels: npt.ArrayLike, member: npt.ArrayLike, *, seed: int
) -> MemberGuess:
    """Score the judged by boosting on the target's φ beside means and deviations of their shadows' φ.

    Unlike `lira` it knows who is a member of the half of the judged that teaches; see
    `core.membership.guess`. Membership is that of the judged, in the order of `shadows.rows`; the other
    arguments are those of `lira`.
    """
    inside = binary_array(member, name="member")
    one_length(member=inside, judged=shadows.rows)
    observed = _observed(shadows, probability, labels)
    without_and_with = (~shadows.inside, shadows.inside)[: 1 + shadows.online]  # offline there are none with
    means = [_normal(shadows.logits, used, True) for used in without_and_with]
    columns = [observed, np.asarray(labels)[shadows.rows]]
    for mean, deviation in means:
        columns += [mean, deviation, observed - mean]
    if shadows.online:
        columns.append(lira_from(shadows, probability, labels).score)
    evidence = np.column_stack([np.asarray(column, dtype=np.float32) for column in columns])
    score, verdict = cross_fitted(evidence, inside, seed=seed, name="boosting on shadows")
    return MemberGuess(name="lira_boosted", rows=shadows.rows, score=score, verdict=verdict)


def train_shadows(
    train: Train,
    labels: npt.ArrayLike,
    split: MembershipSplit,
    *,
    seed: int,
    shadows: int = 64,
    online: bool = True,
    report: Report | None = None,
) -> Shadows:
    """Train shadow models on random people, as many as the target's members each; see `lira`.

    Online they are drawn from members and outsiders in pairs that share as few people as can be, so that with as many
    outsiders as members everybody is in half of them; with more or fewer, as after deletions or with a split of other
    shares, in about members / (members + outsiders) of them. Offline they are drawn from those who are not judged.
    """
    if isinstance(shadows, bool) or not isinstance(shadows, int) or shadows < FEWEST_SHADOWS or shadows % 2:
        raise InputError(f"shadows must be an even number of at least {FEWEST_SHADOWS}, got {shadows!r}.")
    y = np.asarray(labels)
    rows, _ = split.judged
    drawn = _draws(split, seed, shadows, online)
    logits = np.empty((shadows, rows.size))
    for i, chosen in enumerate(drawn):
        p = np.asarray(train(chosen, child_seed(seed, f"membership shadow {i}")), dtype=np.float64)
        logits[i] = _logit(true_label_probability(p[rows], y[rows]))
        if report is not None:
            report(i + 1, shadows)
    inside = np.stack([np.isin(rows, chosen) for chosen in drawn])
    return Shadows(rows=rows, logits=logits, inside=inside, online=online)


def _draws(split: MembershipSplit, seed: int, shadows: int, online: bool) -> list[Ints]:
    """Return whom each shadow is trained on."""
    rng = child_generator(seed, "membership shadows")
    everybody = np.concatenate([split.members, split.outsiders])
    if online:
        size, pool = min(split.members.size, everybody.size - 1), everybody
        orders = [rng.permutation(pool) for _ in range(shadows // 2)]
        return [np.sort(part) for order in orders for part in (order[:size], order[-size:])]
    pool = everybody[~np.isin(everybody, split.judged[0])]
    size = min(split.members.size, round(_OFFLINE_SHARE * pool.size))
    return [np.sort(rng.permutation(pool)[:size]) for _ in range(shadows)]


def _observed(shadows: Shadows, probability: npt.ArrayLike, labels: npt.ArrayLike) -> Floats:
    """Return the target's φ of the judged."""
    p, y = checked(probability, labels)
    return _logit(true_label_probability(p, y))[shadows.rows]


def _logit(p: Floats) -> Floats:
    cut = np.clip(p, _LEAST, 1.0 - _LEAST)
    return np.asarray(np.log(cut) - np.log1p(-cut))


def _normal(logits: Floats, used: Mask, own: bool) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of each person's φ over the shadows used for her.

    Somebody without such a shadow gets the mean of all people; the shared deviation is the one around own means.
    """
    count = used.sum(axis=0)
    total = np.where(used, logits, 0.0).sum(axis=0)
    mean = np.where(count > 0, total / np.maximum(count, 1), total.sum() / max(count.sum(), 1))
    squares = (np.where(used, logits - mean, 0.0) ** 2).sum(axis=0)
    shared = squares.sum() / max(int(np.maximum(count - 1, 0).sum()), 1)
    variance = np.where(count > 1, squares / np.maximum(count - 1, 1), shared) if own else np.full(mean.size, shared)
    return mean, np.sqrt(np.maximum(variance, _LEAST_DEVIATION**2))


def _log_density(x: Floats, mean: Floats, deviation: Floats) -> Floats:
    """Return the log density of a normal distribution, but for its constant."""
    return np.asarray(-np.log(deviation) - 0.5 * ((x - mean) / deviation) ** 2)
