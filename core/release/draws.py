"""Draws of a release's privacy noise: what one draw leaves open, the worst of several shows.

The first draw is the one a study looks at, so that whoever tries several never says less than the study shows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.release.equations import posterior_array
from core.release.pinned import pinned
from core.release.projection import project
from core.release.statistics import Release
from core.results import Result
from core.seeds import child_generator
from core.validation import binary_array

DRAWS = 20
"""Draws of the noise in which a budget has to pin nobody down. With three, budgets were advised of which up to half of
all draws pin somebody; nobody in 20 means at most one draw in seven does (95% confidence, 1 − 0.05^(1/20))."""

_ENOUGH = 3
"""Draws after which a budget that has pinned somebody down needs no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draws(Result):
    """The worst of several draws of the noise.

    Attributes
    ----------
    count : int
        Draws looked at; they end soon where somebody is pinned down. 1 without noise.
    pinned : int
        Most people pinned down in any of them.
    known : bool
        Whether a posterior that agrees with the numbers was found for every draw. Otherwise `pinned` counts too few
        people.
    """

    count: int
    pinned: int
    known: bool


def noise_generator(seed: int, *, epsilon: float | None = None, draw: int = 0) -> np.random.Generator:
    """Return what draws the noise; draw 0 is the one of a study, whatever the budget."""
    return child_generator(seed, f"advice {epsilon} {draw}" if draw else "release noise")


def worst_of_draws(
    posterior: npt.ArrayLike, release: Release, *, sensitive: npt.ArrayLike, seed: int = 0, draws: int = DRAWS
) -> Draws:
    """Return the most people that a release pins down in any draw of its noise.

    Parameters
    ----------
    posterior : array-like of shape (n,), in [0, 1]
    release : Release
        Without noise there is one draw.
    sensitive : array-like of shape (n,), 0 or 1
    seed, draws : int
        Draws to look at, or the first few where these pin somebody down.
    """
    s = binary_array(np.asarray(sensitive), name="sensitive")
    q = posterior_array(posterior, release.n)
    most, known, done = 0, True, 0
    for draw in range(1 if release.epsilon is None else draws):
        if draw >= _ENOUGH and (most or not known):
            break
        rng = noise_generator(seed, epsilon=release.epsilon, draw=draw)
        found = project(q, release.publish(s, rng=rng))
        most, known = max(most, pinned(q, found.probability).count), known and found.converged
        done += 1
    return Draws(count=done, pinned=most, known=known)
