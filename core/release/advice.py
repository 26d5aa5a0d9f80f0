"""The adviser: the finest precision at which nobody is pinned down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from core.release.meter import meter
from core.release.pinned import pinned
from core.release.projection import posterior_array, project
from core.release.statistics import Release
from core.results import Result
from core.seeds import child_generator
from core.validation import binary_array

if TYPE_CHECKING:
    import pandas

__all__ = ["DECIMALS", "DRAWS", "EPSILONS", "Advice", "Tried", "advise"]

Floats = npt.NDArray[np.float64]

DECIMALS = (None, 4, 3, 2, 1)
"""Roundings tried, from exact to coarse."""

EPSILONS = (100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1)
"""Privacy budgets tried, from little to much noise."""

DRAWS = 20
"""Draws of the noise in which a budget has to pin nobody down. With three, budgets were advised of which up to half of
all draws pin somebody; nobody in 20 means at most one draw in seven does (95% confidence, 1 − 0.05^(1/20))."""

_ENOUGH = 3
"""Draws after which a budget that has pinned somebody down needs no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried(Result):
    """One precision and what it pins.

    Attributes
    ----------
    decimals : int or None
    epsilon : float or None
        Both None: exact.
    pinned : int
        People pinned down; the most of all draws of the noise, which end soon where somebody is.
    df_bits : float
        What the meter says.
    known : bool
        Whether a posterior that agrees with the numbers was found for every draw. Otherwise `pinned` counts too few
        people, and this precision is not advised.
    """

    decimals: int | None
    epsilon: float | None
    pinned: int
    df_bits: float
    known: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice(Result):
    """What to publish for this table and these models.

    Attributes
    ----------
    exact : bool
        Whether even exact numbers pin nobody down.
    decimals : int or None
        Most decimals (4 to 1) that pin nobody down, and fewer neither; None where none of them does, or exact is fine.
    epsilon : float or None
        Largest privacy budget tried that pins nobody down in any draw, and smaller ones neither; None where none does.
    tried : tuple of Tried
    """

    exact: bool
    decimals: int | None
    epsilon: float | None
    tried: tuple[Tried, ...]

    def to_frame(self) -> pandas.DataFrame:
        """Return what was tried: decimals, epsilon, pinned, df_bits, known."""
        import pandas as pd

        return pd.DataFrame([row.to_dict() for row in self.tried])


def advise(
    posterior: npt.ArrayLike,
    release: Release,
    *,
    sensitive: npt.ArrayLike,
    seed: int = 0,
    draws: int = DRAWS,
    report: Callable[[int, int], None] | None = None,
) -> Advice:
    """Return the finest precision that pins nobody down; the release's own precision is not used.

    Parameters
    ----------
    posterior : array-like of shape (n,), in [0, 1]
    release : Release
    sensitive : array-like of shape (n,), 0 or 1
    seed, draws : int
        Each privacy budget is tried with this many draws of the noise, or the first few where these pin somebody down.
    report : callable, optional
        Called with (done, total); may raise `core.errors.Cancelled` to stop.

    Notes
    -----
    Privacy noise is tried only where group sizes are published: the mechanism needs them. That a budget pinned nobody
    down is what these draws did; another draw may.
    """
    s = binary_array(np.asarray(sensitive), name="sensitive")
    q = posterior_array(posterior, release.n)
    plans = [(decimals, None) for decimals in DECIMALS] + [(None, epsilon) for epsilon in EPSILONS]
    tried = []
    for done, (decimals, epsilon) in enumerate(plans):
        if report is not None:
            report(done, len(plans))
        if epsilon is None or release.sizes:
            tried.append(_tried(q, release.with_precision(decimals=decimals, epsilon=epsilon), s, seed, draws))
    if report is not None:
        report(len(plans), len(plans))
    rounded = _finest([row for row in tried if row.epsilon is None])
    noisy = _finest([row for row in tried if row.epsilon is not None])
    exact = rounded is not None and rounded.decimals is None
    return Advice(
        exact=exact,
        decimals=None if rounded is None else rounded.decimals,
        epsilon=None if noisy is None else noisy.epsilon,
        tried=tuple(tried),
    )


def _tried(q: Floats, release: Release, s: npt.NDArray[np.uint8], seed: int, draws: int) -> Tried:
    """Return what one precision pins, at worst over the draws of its noise."""
    most, known = 0, True
    for draw in range(1 if release.epsilon is None else draws):
        if draw >= _ENOUGH and (most or not known):
            break
        rng = child_generator(seed, f"advice {release.epsilon} {draw}")
        found = project(q, release.publish(s, rng=rng))
        most, known = max(most, pinned(q, found.probability).count), known and found.converged
    bits = meter(q, release).df_bits
    return Tried(decimals=release.decimals, epsilon=release.epsilon, pinned=most, df_bits=bits, known=known)


def _finest(rows: list[Tried]) -> Tried | None:
    """Return the first row, from fine to coarse, from which on it is known that nobody is pinned."""
    fine = None
    for row in reversed(rows):
        if row.pinned or not row.known:
            break
        fine = row
    return fine
