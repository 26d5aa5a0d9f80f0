"""Ways of answering bias queries, from exact to private.

A sample of Laplace or Cauchy noise in double precision cannot take every value: its lowest bits have gaps, and the
gaps sit elsewhere for another true answer, so that a released double can give its true answer away (Mironov 2012, "On
significance of the least significant bits for differential privacy"). The answers here are therefore rounded to a
grid a thousand times finer than the noise but some 10¹² times coarser than a double near it, and cut off far out. Grid
and cut depend on the number of people and questions and on ε only, never on the attribute, so both are processing
after the fact. What is left is that a sample falls on the wrong side of a cell's edge with a probability of about
10⁻¹²; the mechanisms are for studying what leaks and at what price, with a generator given by the caller.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ...base.errors import InputError
from ...base.validation import Floats, choice, whole_number
from .gaps import global_sensitivity, people, smooth_sensitivity, statistical_parity_gap

FINENESS = 1024  # cells to one noise scale, at least
MOST_EPSILON = (
    1e6  # far above, the noise would be so small that the cut takes away from the gap itself
)
REACH = 2.0**50  # cells to either side of 0; within it a cell's number is exact in double precision


def positive_epsilon(epsilon: float) -> None:
    """Refuse a privacy budget that is not above 0 and at most `MOST_EPSILON`, or infinity, which means no noise."""
    if (
        isinstance(epsilon, bool)
        or not isinstance(epsilon, (int, float, np.number))
        or not epsilon > 0
    ):
        raise InputError(f"epsilon must be above 0, got {epsilon!r}.")
    if MOST_EPSILON < epsilon < math.inf:
        raise InputError(
            f"epsilon must be at most {MOST_EPSILON:,.0f}, or infinity for no noise, got {epsilon!r}."
        )


def public_grid(scale: float) -> float:
    """Return the grid for noise of a public scale: a power of two, at most the scale / 1024; 0 for no noise."""
    if scale > 0:
        return 2.0 ** math.floor(math.log2(scale / FINENESS))
    return 0.0


def to_grid(values: Floats, grid: float) -> Floats:
    """Round to a grid and cut off far out; a grid of 0 leaves values as they are."""
    if grid == 0:
        return values
    return np.clip(np.rint(values / grid), -REACH, REACH) * grid


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A way of answering bias queries."""

    absolute: bool = field(default=False, kw_only=True)
    """Answer the gap's size without its sign."""
    name: ClassVar[str] = "exact"
    """Its name in `NOISES`."""
    noise: ClassVar[str] = "none"
    """One of "none", "rounding", "laplace" and "cauchy"."""

    @property
    def text(self) -> str:
        """How answers are made: "exact", "rounded, decimals: 3", "Cauchy noise at ε = 5", "noisy sums at ε = 1"."""
        return self.name

    @property
    def noisy(self) -> bool:
        """Whether there is noise on the answers, which comes with a guarantee."""
        return self.noise in ("laplace", "cauchy")

    @property
    def half_width(self) -> float:
        """How far rounding can take an answer from the true one."""
        return 0.0

    def exact(self, scores: Floats, sensitive: npt.NDArray[np.uint8]) -> Floats:
        """Return the true answers, shape (m,)."""
        gaps = statistical_parity_gap(scores, sensitive)
        if self.absolute:
            return np.abs(gaps)
        return gaps

    def answer(
        self, scores: npt.ArrayLike, sensitive: npt.ArrayLike, *, rng: np.random.Generator
    ) -> Floats:
        """Return one answer a question, shape (m,).

        Raises `InputError` if a score lies outside [0, 1], lengths differ or a group is empty.

        Parameters
        ----------
        scores : array-like of shape (m, n) or (n,), in [0, 1]
        sensitive : array-like of shape (n,), 0 or 1
            1 = advantaged.
        """
        return self.draws(scores, sensitive, rng=rng, draws=1)[0]

    def release(
        self, scores: npt.ArrayLike, sensitive: npt.ArrayLike, *, rng: np.random.Generator
    ) -> tuple[Floats, Floats | None]:
        """Return one answer a question, and the noisy sums behind them, where there are some; both (m,)."""
        return self.answer(scores, sensitive, rng=rng), None

    @property
    def holds(self) -> bool:
        """Whether these answers are proved to keep their ε, or ε and δ."""
        return self.noisy

    def draws(
        self,
        scores: npt.ArrayLike,
        sensitive: npt.ArrayLike,
        *,
        rng: np.random.Generator,
        draws: int,
    ) -> Floats:
        """Return the answers of `draws` independent runs, shape (draws, m)."""
        return self._answers(*people(scores, sensitive), rng, draws)

    def _answers(
        self, h: Floats, a: npt.NDArray[np.uint8], rng: np.random.Generator, draws: int
    ) -> Floats:
        return np.tile(self.exact(h, a), (draws, 1))

    @property
    def why(self) -> str:
        """One sentence: where these answers differ from Hamman et al.'s, and why."""
        return "Both versions are the same: the paper has no noise here."


@dataclass(frozen=True, slots=True)
class AdditiveNoise(Mechanism):
    """Independent noise of one scale on every answer."""

    epsilon: float
    """Privacy budget of all questions of one call together, above 0; infinity for no noise."""

    def __post_init__(self) -> None:
        positive_epsilon(self.epsilon)

    @property
    def text(self) -> str:
        """How answers are made."""
        return f"{NOISES[self.name]} noise at ε = {self.epsilon:g}"

    def scale(self, n_advantaged: int, n_disadvantaged: int, m: int) -> float:
        """Return the scale of the noise on each of m answers."""
        raise NotImplementedError

    def grid(self, n: int, m: int) -> float:
        """Return the public grid of the answers to m questions on n people: from the noise of two equal groups."""
        return public_grid(self.scale(n - n // 2, n // 2, m))

    def _answers(
        self, h: Floats, a: npt.NDArray[np.uint8], rng: np.random.Generator, draws: int
    ) -> Floats:
        truth = self.exact(h, a)
        n_advantaged = int(a.sum())
        shape = (draws, truth.size)
        scale = self.scale(n_advantaged, a.size - n_advantaged, truth.size)
        if self.noise == "cauchy":
            unit = rng.standard_cauchy(size=shape)
        else:
            unit = rng.laplace(size=shape)
        return to_grid(truth + scale * unit, self.grid(a.size, truth.size))


class Exact(Mechanism):
    """The gaps as they are."""


@dataclass(frozen=True, slots=True)
class Rounded(Mechanism):
    """The gaps, rounded."""

    decimals: int
    """From 0 to 15."""
    name: ClassVar[str] = "rounded"
    noise: ClassVar[str] = "rounding"

    def __post_init__(self) -> None:
        whole_number(self.decimals, name="decimals", least=0, most=15)

    @property
    def text(self) -> str:
        """How answers are made."""
        return f"rounded, decimals: {self.decimals}"

    @property
    def half_width(self) -> float:
        """How far rounding can take an answer from the true one."""
        return 0.5 * 10.0**-self.decimals

    def _answers(
        self, h: Floats, a: npt.NDArray[np.uint8], rng: np.random.Generator, draws: int
    ) -> Floats:
        return np.tile(np.round(self.exact(h, a), self.decimals), (draws, 1))


class LaplaceGlobal(AdditiveNoise):
    """Laplace noise of scale (global sensitivity)/ε, for any data (Hamman et al. 2023, theorems 5 and 6).

    ε-differentially private among vectors in which both groups occur; the scale is public.
    """

    name: ClassVar[str] = "laplace"
    noise: ClassVar[str] = "laplace"

    def scale(self, n_advantaged: int, n_disadvantaged: int, m: int) -> float:
        """Return the scale of the noise on each of m answers."""
        n = n_advantaged + n_disadvantaged
        return global_sensitivity(n, m, absolute=self.absolute) / self.epsilon

    @property
    def why(self) -> str:
        """One sentence: where this noise differs from Hamman et al.'s, and why."""
        if not self.absolute:
            return "Both versions are the same: the published sensitivity of signed gaps is right."
        return "Corrected: the noise is for absolute gaps that move by n/(2(n − 1)), where the paper says 1/2."


class _Smooth(AdditiveNoise):
    """Noise fitted to the groups there are: scale = factor × smooth sensitivity / ε.

    Private among vectors in which both groups occur. The scale depends on the group sizes and so is itself not public:
    it is for showing, not for releasing.
    """

    factor: ClassVar[float]

    def beta(self, m: int) -> float:
        """Return the smoothness the noise needs for m questions."""
        raise NotImplementedError

    def scale(self, n_advantaged: int, n_disadvantaged: int, m: int) -> float:
        """Return the scale of the noise on each of m answers."""
        sensitivity = smooth_sensitivity(
            n_advantaged, n_disadvantaged, m, self.beta(m), absolute=self.absolute
        )
        return self.factor * sensitivity / self.epsilon

    @property
    def why(self) -> str:
        """One sentence: where this noise differs from Hamman et al.'s, and why."""
        if self.absolute:
            start = " and counts that an absolute gap can start at 0"
        else:
            start = ""
        return (
            f"Corrected: the smaller group is found first{start}, and a group of one person gets the noise of a group "
            "of two, where the published formula is not smooth."
        )


class SmoothCauchy(_Smooth):
    """Attribute-Conceal: Cauchy noise of scale 6 S/ε with β = ε/(6m), ε-differentially private (theorem 7).

    Cauchy noise has no mean: speak of its median and of quantiles.
    """

    name: ClassVar[str] = "cauchy"
    noise: ClassVar[str] = "cauchy"
    factor: ClassVar[float] = 6.0

    def beta(self, m: int) -> float:
        """Return the smoothness the noise needs for m questions."""
        return self.epsilon / (6 * m)


@dataclass(frozen=True, slots=True)
class SmoothLaplace(_Smooth):
    """Laplace noise of scale 2 S/ε with β = ε/(4(m + ln(2/δ))), (ε, δ)-differentially private (theorem 8).

    The theorem is stated for ε and δ below 1. Above, there is no general guarantee; for given questions and vectors δ
    can be bounded, and it kept to that wherever it was tried (ε up to 50).
    """

    delta: float
    """In (0, 1): probability that the loss may exceed ε, roughly."""
    name: ClassVar[str] = "smooth_laplace"
    noise: ClassVar[str] = "laplace"
    factor: ClassVar[float] = 2.0

    def __post_init__(self) -> None:
        positive_epsilon(self.epsilon)
        if not 0 < self.delta < 1:
            raise InputError(f"delta must be in (0, 1), got {self.delta!r}.")

    @property
    def holds(self) -> bool:
        """Whether (ε, δ) is proved for these answers; theorem 8 is stated for ε below 1 only."""
        return self.epsilon < 1

    def beta(self, m: int) -> float:
        """Return the smoothness the noise needs for m questions."""
        return self.epsilon / (4 * (m + math.log(2 / self.delta)))


def centred_scores(scores: Floats) -> Floats:
    """Return each row of the scores less the middle of its range, shape (..., m, n)."""
    return scores - (scores.max(axis=-1, keepdims=True) + scores.min(axis=-1, keepdims=True)) / 2


@dataclass(frozen=True, slots=True)
class NoisySums(Mechanism):
    """Gaps computed from the noisy size of the disadvantaged group and its noisy sums of scores.

    Not in the paper. The scores are public, so all that is secret in a gap is N0 and, for each question i, the sum
    T_i = Σ_{a_j = 0} (h_ij − mid_i) over the disadvantaged; mid_i, the middle of question i's scores, makes the sum
    move as little as can be. One person changing group moves N0 by 1 and the sums by |h_ij − mid_i| together, at most
    D = max_j Σ_i |h_ij − mid_i|, which anybody can compute. With Laplace noise of scale 1/ε₀ on N0 and D/ε₁ on each
    sum, ε₀ + ε₁ = ε, the release is ε-differentially private, without exception: a group may be empty.

    With C_i = Σ_j (h_ij − mid_i), public, the gap is (C_i − T_i)/N1 − T_i/N0. An error of e in T_i costs
    e (1/N0 + 1/N1), one of e in N0 at most e × half the range of the scores × (1/N0 + 1/N1); the sum of both is least
    for ε₀ : ε₁ = √(half range) : √D (the mean half range, when questions differ), which is the split. The means of the
    groups are cut to the range their question's scores have, so a gap stays in [−1, 1]. Counts and sums are rounded to
    a public grid.
    """

    epsilon: float
    """Privacy budget of count and sums together, above 0; infinity for no noise."""
    name: ClassVar[str] = "noisy_sums"
    noise: ClassVar[str] = "laplace"

    def __post_init__(self) -> None:
        positive_epsilon(self.epsilon)

    @property
    def text(self) -> str:
        """How answers are made."""
        return f"noisy sums at ε = {self.epsilon:g}"

    def scales(self, scores: npt.ArrayLike) -> tuple[float, float]:
        """Return the scales of the Laplace noise on the count and on each sum; 0 where nothing is secret.

        They follow from the scores, shape (m, n), and are public.
        """
        centred = np.abs(centred_scores(np.atleast_2d(np.asarray(scores, dtype=np.float64))))
        together = float(centred.sum(axis=0).max())
        if not together:
            return 1 / self.epsilon, 0.0
        count = math.sqrt(float(centred.max(axis=1).mean()))
        sums = math.sqrt(together)
        share = count / (count + sums)
        return 1 / (self.epsilon * share), together / (self.epsilon * (1 - share))

    def count_and_sums(
        self, h: Floats, a: npt.NDArray[np.uint8], rng: np.random.Generator, draws: int
    ) -> Floats:
        """Return noisy counts (first column) and sums of `draws` independent runs, shape (draws, 1 + m)."""
        count_scale, sum_scale = self.scales(h)
        disadvantaged = a == 0
        counts = disadvantaged.sum() + count_scale * rng.laplace(size=(draws, 1))
        sums = centred_scores(h)[:, disadvantaged].sum(axis=1) + sum_scale * rng.laplace(
            size=(draws, h.shape[0])
        )
        return np.hstack(
            [to_grid(counts, public_grid(count_scale)), to_grid(sums, public_grid(sum_scale))]
        )

    def _gaps(self, h: Floats, seen: Floats) -> Floats:
        """Return the gaps that noisy counts and sums amount to, shape (draws, m)."""
        centred = centred_scores(h)
        sums = seen[:, 1:]
        n0 = np.clip(seen[:, 0], 1, h.shape[1] - 1)[:, np.newaxis]
        reach = centred.max(axis=1)
        disadvantaged = np.clip(sums / n0, -reach, reach)
        advantaged = np.clip((centred.sum(axis=1) - sums) / (h.shape[1] - n0), -reach, reach)
        if self.absolute:
            return np.abs(advantaged - disadvantaged)
        return advantaged - disadvantaged

    def _answers(
        self, h: Floats, a: npt.NDArray[np.uint8], rng: np.random.Generator, draws: int
    ) -> Floats:
        if a.size < 2:
            raise InputError(f"A gap needs at least 2 people, got {a.size}.")
        return self._gaps(h, self.count_and_sums(h, a, rng, draws))

    def release(
        self, scores: npt.ArrayLike, sensitive: npt.ArrayLike, *, rng: np.random.Generator
    ) -> tuple[Floats, Floats | None]:
        """Return gaps and sums of one run; parameters as `answer`, but a group may be empty."""
        h, a = people(scores, sensitive)
        seen = self.count_and_sums(h, a, rng, 1)
        return self._gaps(h, seen)[0], seen[0, 1:]

    @property
    def why(self) -> str:
        """One sentence: what the published or the corrected version does, and why they differ."""
        return (
            "The paper has no such mechanism: predictions are public, so noise on the group's size and on its sums of "
            "scores gives the same guarantee with a fraction of the error."
        )


NOISES = {
    "exact": "None",
    "rounded": "Rounded",
    "laplace": "Laplace",
    "cauchy": "Cauchy",
    "smooth_laplace": "Smooth Laplace",
    "noisy_sums": "Noisy sums",
}
"""Ways to answer, and what to call them."""

NOISE_TITLES = NOISES | {
    "cauchy": "Cauchy (paper)",
    "smooth_laplace": "Smooth Laplace (paper)",
    "noisy_sums": "Noisy sums (ours)",
}
"""The same with whose they are."""


DELTA = 1e-5
"""Probability with which smooth Laplace noise may fail, where nobody says otherwise."""


def mechanism_of(
    name: str, *, epsilon: float, decimals: int = 3, delta: float = DELTA, absolute: bool = False
) -> Mechanism:
    """Return the way of answering of a name in `NOISES`; `epsilon` is the budget of all answers together."""
    if name == "exact":
        return Exact(absolute=absolute)
    if name == "rounded":
        return Rounded(decimals, absolute=absolute)
    if name == "smooth_laplace":
        return SmoothLaplace(epsilon, delta, absolute=absolute)
    kinds: dict[str, Callable[..., Mechanism]] = {
        "laplace": LaplaceGlobal,
        "cauchy": SmoothCauchy,
        "noisy_sums": NoisySums,
    }
    return kinds[choice(name, kinds, name="mechanism")](epsilon, absolute=absolute)
