"""Shadow models: what models trained alike on random people say (Carlini et al. 2022).

What a model says of a person's own label is looked at on the logit scale, φ = log(p / (1 − p)).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from core.arrays import Floats, Ints, Mask
from core.errors import InputError
from core.membership.attack import Evidence, Report, Train, checked, true_label_probability
from core.membership.judged_people import MembershipSplit
from core.membership.settings import FEWEST_SHADOWS
from core.seeds import child_generator, child_seed

_LEAST = 0.01
"""A probability counts as no closer to 0 or 1 than this: trees say 0 and 1 of small leaves.

From 1e-6 to 0.05 the choice moves the area on Adult by 0.002.
"""

_LEAST_DEVIATION = 1e-3

_OFFLINE_SHARE = 0.75
"""Most of the people open to them that offline shadows are trained on, so that no two are alike."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shadows:
    """What shadow models say of the m judged people, and of k others whom the attacker knows."""

    rows: Ints = field(repr=False)
    """(m,)"""
    population: Ints = field(repr=False)
    """(k,): non-members, none of them judged."""
    own: Floats = field(repr=False)
    """(shadows, m + k): probability of each person's own label, the judged first."""
    trained: Mask = field(repr=False)
    """(shadows, m + k): whether the shadow was trained on the person; on nobody judged, offline."""
    online: bool

    @property
    def logits(self) -> Floats:
        """(shadows, m): φ of the judged."""
        return _logit(self.own[:, : self.rows.size])

    @property
    def inside(self) -> Mask:
        """(shadows, m): whether the shadow was trained on the judged person."""
        return self.trained[:, : self.rows.size]


def shadows_of(evidence: Evidence) -> Shadows:
    """Return the shadow models of some evidence, trained by the first attack that needs them."""

    def make() -> Shadows:
        return train_shadows(
            evidence.train,
            evidence.labels,
            evidence.split,
            seed=evidence.seed,
            shadows=evidence.shadows,
            online=evidence.online,
            report=evidence.report,
        )

    return evidence.once("shadows", make)


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
    """Train an even number of shadow models, at least 4, on as many random people each as the target has members.

    Online they are drawn from members and outsiders in pairs that share as few people as can be, so that with as many
    outsiders as members everybody is in half of them; with more or fewer, as after deletions or with a split of other
    shares, in about members / (members + outsiders) of them. Offline they are drawn from those who are not judged.
    Nobody's membership is used. `report` is called with (shadows done, shadows in all).
    """
    if isinstance(shadows, bool) or not isinstance(shadows, int) or shadows < FEWEST_SHADOWS or shadows % 2:
        raise InputError(f"shadows must be an even number of at least {FEWEST_SHADOWS}, got {shadows!r}.")
    y = np.asarray(labels)
    rows, _ = split.judged
    looked_at = np.concatenate([rows, split.population])
    drawn = _draws(split, seed, shadows, online)
    own = np.empty((shadows, looked_at.size))
    for i, chosen in enumerate(drawn):
        p = np.asarray(train(chosen, child_seed(seed, f"membership shadow {i}")), dtype=np.float64)
        own[i] = true_label_probability(p[looked_at], y[looked_at])
        if report is not None:
            report(i + 1, shadows)
    trained = np.stack([np.isin(looked_at, chosen) for chosen in drawn])
    return Shadows(rows=rows, population=split.population, own=own, trained=trained, online=online)


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


def observed(shadows: Shadows, probability: npt.ArrayLike, labels: npt.ArrayLike) -> Floats:
    """Return the target's φ of the judged."""
    p, y = checked(probability, labels)
    return _logit(true_label_probability(p, y))[shadows.rows]


def _logit(p: Floats) -> Floats:
    cut = np.clip(p, _LEAST, 1.0 - _LEAST)
    return np.asarray(np.log(cut) - np.log1p(-cut))


def normal(logits: Floats, used: Mask, own: bool) -> tuple[Floats, Floats]:
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
