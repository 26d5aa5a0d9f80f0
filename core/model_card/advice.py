"""The adviser: the finest precision at which nobody is pinned down."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from core.model_card.meter import Meter, meter, predict
from core.model_card.pinned_people import worst_of_draws
from core.model_card.published_counts import Floats
from core.model_card.release import Release
from core.serialize import Result
from core.validation import binary_array, probabilities

if TYPE_CHECKING:
    import pandas

_DECIMALS = (None, 4, 3, 2, 1)
_EPSILONS = (100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried(Result):
    """One precision and what it pins."""

    decimals: int | None
    epsilon: float | None
    """Both None: exact."""
    pinned: int
    """People pinned down; the most of all draws of the noise, which end soon where somebody is."""
    df_bits: float
    """Predicted gain, see `core.model_card.Prediction`."""
    known: bool = True
    """Whether a posterior that agrees with the numbers was found for every draw. Otherwise `pinned` counts too few
    people, and this precision is not advised."""
    draws: int = 1
    """Draws of the noise behind `pinned`; 1 without."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice(Result):
    """What to publish for this table and these models."""

    exact: bool
    """Whether even exact numbers pin nobody down."""
    decimals: int | None
    """Most decimals (4 to 1) that pin nobody down, nor do fewer; None where none of them does, or exact is fine."""
    epsilon: float | None
    """Largest privacy budget tried that pins nobody down in any draw, nor do smaller ones; None where none does."""
    tried: tuple[Tried, ...]

    @property
    def misled(self) -> bool:
        """Whether exact numbers pin nobody down and noise does in some draw: it also moves people the wrong way."""
        return self.exact and any(row.pinned for row in self.tried if row.epsilon is not None)

    def to_frame(self) -> pandas.DataFrame:
        """Return what was tried: decimals, epsilon, pinned, df_bits, known, draws."""
        import pandas as pd

        return pd.DataFrame([row.to_dict() for row in self.tried])


def advise(
    posterior: npt.ArrayLike,
    release: Release,
    *,
    sensitive: npt.ArrayLike,
    seed: int = 0,
    report: Callable[[int, int], None] | None = None,
) -> Advice:
    """Return the finest precision that pins nobody down; the release's own precision is one of those tried.

    Privacy noise is tried only where group sizes are published: the mechanism needs them. That a budget pinned nobody
    down is what these draws did; another draw may.

    Parameters
    ----------
    posterior : array-like of shape (n,), in [0, 1]
    sensitive : array-like of shape (n,), 0 or 1
    seed : int
        Each privacy budget is tried with `DRAWS` draws of the noise, or the first few where these pin somebody down.
    report : callable, optional
        Called with (done, total); may raise `core.errors.Cancelled` to stop.
    """
    s = binary_array(np.asarray(sensitive), name="sensitive")
    q = probabilities(posterior, release.n, name="posterior")
    plans = _plans(release)
    tried: list[Tried] = []
    predicted: dict[Meter, float] = {}
    for done, (decimals, epsilon) in enumerate(plans):
        if report is not None:
            report(done, len(plans))
        if epsilon is None or release.sizes:
            plan = release.with_precision(decimals=decimals, epsilon=epsilon)
            tried.append(_tried(q, plan, s, seed, predicted))
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


def _plans(release: Release) -> list[tuple[int | None, float | None]]:
    """Return (decimals, epsilon) of every precision tried, from fine to coarse, the release's own among them."""
    decimals, epsilons = set(_DECIMALS), set(_EPSILONS)
    if release.epsilon is None:
        decimals.add(release.decimals)
    else:
        epsilons.add(release.epsilon)
    rounded = sorted(decimals, key=lambda places: math.inf if places is None else places, reverse=True)
    return [*((places, None) for places in rounded), *((None, one) for one in sorted(epsilons, reverse=True))]


def _tried(q: Floats, release: Release, s: npt.NDArray[np.uint8], seed: int, predicted: dict[Meter, float]) -> Tried:
    """Return what one precision pins, at worst over the draws of its noise.

    Precisions that leave the same open, as exact and finely rounded numbers do, are tried out once.
    """
    read = meter(q, release)
    if read not in predicted:
        predicted[read] = predict(q, release, seed=seed, metered=read).bits.value
    worst = worst_of_draws(q, release, sensitive=s, seed=seed)
    return Tried(
        decimals=release.decimals,
        epsilon=release.epsilon,
        pinned=worst.pinned,
        df_bits=predicted[read],
        known=worst.known,
        draws=worst.count,
    )


def _finest(rows: list[Tried]) -> Tried | None:
    """Return the first row, from fine to coarse, from which on it is known that nobody is pinned."""
    fine = None
    for row in reversed(rows):
        if row.pinned or not row.known:
            break
        fine = row
    return fine
