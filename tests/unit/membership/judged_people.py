"""Judged people as tests draw them: groups, membership and what an attack says of them."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from core.membership.resampling import Tally


def sampled_tally(rates, people, rng: np.random.Generator) -> Tally:
    """Draw how many are flagged at [side, member]."""
    n = np.asarray(people)
    return Tally(flagged=rng.binomial(n, rates), people=n)


def judged(counts: Tally) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return verdict, group and member of people with these counts."""
    rows = [
        (verdict, side, kind)
        for side in (0, 1)
        for kind in (0, 1)
        for verdict, many in (
            (1, counts.flagged[side, kind]),
            (0, counts.people[side, kind] - counts.flagged[side, kind]),
        )
        for _ in range(many)
    ]
    verdict, group, member = np.array(rows).T
    return verdict, group, member


def divisions(people: int, taken: int) -> list[np.ndarray]:
    """Return every choice of `taken` people, as masks."""
    masks = []
    for chosen in combinations(range(people), taken):
        mask = np.zeros(people, dtype=bool)
        mask[list(chosen)] = True
        masks.append(mask)
    return masks


def caught_at(outsiders: np.ndarray, members: np.ndarray, fpr: float) -> float:
    """Return the members caught by the best threshold that keeps to the rate, trying every one."""
    best = 0.0
    for threshold in [*np.unique(np.concatenate([outsiders, members])), np.inf]:
        if (outsiders >= threshold).mean() <= fpr + 1e-12:
            best = max(best, float((members >= threshold).mean()))
    return best
