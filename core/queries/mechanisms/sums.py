"""Noisy sums: release the size of the disadvantaged group and its sums of scores, and compute the gaps from them.

Not in the paper. The scores are public, so all that is secret in a gap is N0 and, for each question i, the sum
T_i = Σ_{a_j = 0} (h_ij − mid_i) over the disadvantaged; mid_i, the middle of question i's scores, makes the sum move as
little as can be. One person changing group moves N0 by 1 and the sums by |h_ij − mid_i| together, at most
D = max_j Σ_i |h_ij − mid_i|, which anybody can compute. With Laplace noise of scale 1/ε₀ on N0 and D/ε₁ on each sum,
ε₀ + ε₁ = ε, the release is ε-differentially private, without exception: a group may be empty.

With C_i = Σ_j (h_ij − mid_i), public, the gap is (C_i − T_i)/N1 − T_i/N0. An error of e in T_i costs e (1/N0 + 1/N1),
one of e in N0 at most e × half the range of the scores × (1/N0 + 1/N1); the sum of both is least for
ε₀ : ε₁ = √(half range) : √D (the mean half range, when questions differ), which is the split unless `count_share` says
otherwise. The means of the groups are cut to the range their question's scores have, so a gap stays in [−1, 1]. Counts
and sums are rounded to a public grid; see `base` for why.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.queries.checks import Floats
from core.queries.mechanisms.base import Mechanism, people, positive_epsilon, public_grid, to_grid
from core.results import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class SumScales(Result):
    """Scales of the Laplace noise on the count and on each sum; 0 where nothing is secret."""

    count: float
    sums: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SumsRelease(Result):
    """What noisy sums make public.

    Attributes
    ----------
    n_disadvantaged : float
        The noisy size of the disadvantaged group; may be below 0 or above n.
    sums : ndarray of shape (m,)
        The noisy sums of (score − middle) over the disadvantaged.
    gaps : ndarray of shape (m,), in [-1, 1]
        The answers, computed from the two.
    """

    n_disadvantaged: float
    sums: Floats
    gaps: Floats
    scales: SumScales


def centred_scores(scores: Floats) -> Floats:
    """Return each row of the scores less the middle of its range, shape (..., m, n)."""
    return np.asarray(scores - (scores.max(axis=-1, keepdims=True) + scores.min(axis=-1, keepdims=True)) / 2)


@dataclass(frozen=True, slots=True)
class NoisySums(Mechanism):
    """Gaps computed from a noisy count and noisy sums.

    Attributes
    ----------
    epsilon : float
        Privacy budget of count and sums together, above 0; infinity for no noise.
    count_share : float in [0, 1), optional
        Share of ε that goes to the count; by default the one that serves the gaps best. 0 says that the group sizes
        are public anyway: the count is then released as it is and the guarantee is one among vectors of these sizes.
    """

    epsilon: float
    count_share: float | None = field(default=None, kw_only=True)
    noise: ClassVar[str] = "laplace"

    def __post_init__(self) -> None:
        positive_epsilon(self.epsilon)
        if self.count_share is not None and not 0 <= self.count_share < 1:
            raise InputError(f"count_share must be at least 0 and below 1, got {self.count_share!r}.")

    def holds(self, n_advantaged: int, n_disadvantaged: int) -> bool:
        """Return whether the release keeps ε: always, but with `count_share` 0, when the sizes are told as they are."""
        return self.count_share != 0

    def scales(self, scores: npt.ArrayLike) -> SumScales:
        """Return the scales of the noise for these scores, shape (m, n); they are public."""
        centred = np.abs(centred_scores(np.atleast_2d(np.asarray(scores, dtype=np.float64))))
        together = float(centred.sum(axis=0).max())
        share = self.count_share
        if share is None:
            count, sums = math.sqrt(float(centred.max(axis=1).mean())), math.sqrt(together)
            share = count / (count + sums) if together else 1.0
        count_scale = 1 / (self.epsilon * share) if share else 0.0
        return SumScales(count=count_scale, sums=together / (self.epsilon * (1 - share)) if together else 0.0)

    def _seen(self, h: Floats, a: npt.NDArray[np.uint8], rng: np.random.Generator, draws: int) -> Floats:
        """Return noisy counts (first column) and sums of `draws` independent runs, shape (draws, 1 + m)."""
        scales = self.scales(h)
        disadvantaged = a == 0
        counts = disadvantaged.sum() + scales.count * rng.laplace(size=(draws, 1))
        sums = centred_scores(h)[:, disadvantaged].sum(axis=1) + scales.sums * rng.laplace(size=(draws, h.shape[0]))
        return np.hstack([to_grid(counts, public_grid(scales.count)), to_grid(sums, public_grid(scales.sums))])

    def _gaps(self, h: Floats, seen: Floats) -> Floats:
        """Return the gaps that noisy counts and sums amount to, shape (draws, m)."""
        centred, sums = centred_scores(h), seen[:, 1:]
        n0 = np.clip(seen[:, 0], 1, h.shape[1] - 1)[:, np.newaxis]
        reach = centred.max(axis=1)
        disadvantaged = np.clip(sums / n0, -reach, reach)
        advantaged = np.clip((centred.sum(axis=1) - sums) / (h.shape[1] - n0), -reach, reach)
        return np.abs(advantaged - disadvantaged) if self.absolute else np.asarray(advantaged - disadvantaged)

    def _answers(self, h: Floats, a: npt.NDArray[np.uint8], rng: np.random.Generator, draws: int) -> Floats:
        if a.size < 2:
            raise InputError(f"A gap needs at least 2 people, got {a.size}.")
        return self._gaps(h, self._seen(h, a, rng, draws))

    def release(self, scores: npt.ArrayLike, sensitive: npt.ArrayLike, *, rng: np.random.Generator) -> SumsRelease:
        """Return count, sums and gaps of one run; parameters as `answer`, but a group may be empty."""
        h, a = people(scores, sensitive, None)
        seen = self._seen(h, a, rng, 1)
        return SumsRelease(
            n_disadvantaged=float(seen[0, 0]), sums=seen[0, 1:], gaps=self._gaps(h, seen)[0], scales=self.scales(h)
        )

    def why(self, as_published: bool) -> str:
        """Return one sentence: how this differs from the paper, and why."""
        return (
            "The paper has no such mechanism: predictions are public, so noise on the group's size and on its sums of "
            "scores gives the same guarantee with a fraction of the error."
        )
