"""What every way of answering has in common: it takes scores and the attribute, and gives one number a question.

Floating point
--------------
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
import warnings
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from core.errors import InputError, PrivacyLeakWarning
from core.queries.checks import Floats, score_matrix
from core.queries.gaps import statistical_parity_gap
from core.validation import binary_array, one_length

FINENESS = 1024  # cells to one noise scale, at least
REACH = 2.0**50  # cells to either side of 0; within it a cell's number is exact in double precision


def positive_epsilon(epsilon: float) -> None:
    """Refuse a privacy budget that is not above 0; infinity is allowed and means no noise."""
    if isinstance(epsilon, bool) or not isinstance(epsilon, (int, float, np.number)) or not epsilon > 0:
        raise InputError(f"epsilon must be above 0, got {epsilon!r}.")


def people(
    scores: npt.ArrayLike, sensitive: npt.ArrayLike, labels: npt.ArrayLike | None
) -> tuple[Floats, npt.NDArray[np.uint8]]:
    """Return scores (m, n) and attribute (n,) of those a question is about: with labels, the people with label 1.

    Raises
    ------
    InputError
        If a score lies outside [0, 1], lengths differ, a value is not 0 or 1, or nobody has label 1.
    """
    a = binary_array(sensitive, name="sensitive")
    h = score_matrix(scores, n=a.size)
    if labels is None:
        return h, a
    y = binary_array(labels, name="labels")
    one_length(sensitive=a, labels=y)
    if not y.any():
        raise InputError("An equal opportunity gap needs people with label 1, there are none.")
    return h[:, y == 1], a[y == 1]


def public_grid(scale: float) -> float:
    """Return the grid for noise of a public scale: a power of two, at most the scale / 1024; 0 for no noise."""
    return 2.0 ** math.floor(math.log2(scale / FINENESS)) if scale > 0 else 0.0


def to_grid(values: Floats, grid: float) -> Floats:
    """Round to a grid and cut off far out; a grid of 0 leaves values as they are."""
    if grid == 0:
        return values
    return np.asarray(np.clip(np.rint(values / grid), -REACH, REACH) * grid)


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A way of answering bias queries.

    Attributes
    ----------
    absolute : bool
        Answer the gap's size without its sign.
    as_published : bool
        Hamman et al.'s version where the corrected one differs; `why` says how.
    noise : str
        "none", "rounding", "laplace" or "cauchy".
    """

    absolute: bool = field(default=False, kw_only=True)
    as_published: bool = field(default=False, kw_only=True)
    noise: ClassVar[str] = "none"

    @property
    def half_width(self) -> float:
        """How far rounding can take an answer from the true one."""
        return 0.0

    def exact(self, scores: Floats, sensitive: npt.NDArray[np.uint8]) -> Floats:
        """Return the true answers, shape (m,)."""
        gaps = statistical_parity_gap(scores, sensitive)
        return np.abs(gaps) if self.absolute else gaps

    def answer(
        self,
        scores: npt.ArrayLike,
        sensitive: npt.ArrayLike,
        *,
        rng: np.random.Generator,
        labels: npt.ArrayLike | None = None,
    ) -> Floats:
        """Return one answer a question.

        Parameters
        ----------
        scores : array-like of shape (m, n) or (n,), in [0, 1]
        sensitive : array-like of shape (n,), 0 or 1
            1 = advantaged.
        labels : array-like of shape (n,), 0 or 1, optional
            Given, the gap is that of equal opportunity: everything is computed among people with label 1.

        Returns
        -------
        ndarray of shape (m,)

        Raises
        ------
        InputError
            If a score lies outside [0, 1], lengths differ or a group is empty.

        Warns
        -----
        PrivacyLeakWarning
            If the noise carries a promise that it does not keep for these groups (see `holds`).
        """
        self._warn(sensitive, labels)
        return np.asarray(self._answers(*people(scores, sensitive, labels), rng, 1)[0])

    def holds(self, n_advantaged: int, n_disadvantaged: int) -> bool:
        """Return whether these answers are as private as they promise among groups of about these sizes."""
        return False

    def _warn(self, sensitive: npt.ArrayLike, labels: npt.ArrayLike | None) -> None:
        """Warn of a promise that is not kept; answers without noise promise nothing."""

    def draws(self, scores: npt.ArrayLike, sensitive: npt.ArrayLike, *, rng: np.random.Generator, draws: int) -> Floats:
        """Return the answers of `draws` independent runs, shape (draws, m)."""
        return self._answers(*people(scores, sensitive, None), rng, draws)

    def observed(
        self, scores: npt.ArrayLike, sensitive: npt.ArrayLike, *, rng: np.random.Generator, draws: int
    ) -> Floats:
        """Return all that the one who asks gets to see in `draws` runs, shape (draws, k); mostly the answers."""
        return self._seen(*people(scores, sensitive, None), rng, draws)

    def _answers(self, h: Floats, a: npt.NDArray[np.uint8], rng: np.random.Generator, draws: int) -> Floats:
        return np.tile(self.exact(h, a), (draws, 1))

    def _seen(self, h: Floats, a: npt.NDArray[np.uint8], rng: np.random.Generator, draws: int) -> Floats:
        return self._answers(h, a, rng, draws)

    def why(self, as_published: bool) -> str:
        """Return one sentence: what the published or the corrected version does, and why they differ."""
        return "Both versions are the same: the paper has no noise here."


@dataclass(frozen=True, slots=True)
class AdditiveNoise(Mechanism):
    """Independent noise of one scale on every answer.

    Attributes
    ----------
    epsilon : float
        Privacy budget of all questions of one call together, above 0; infinity for no noise.
    """

    epsilon: float

    def __post_init__(self) -> None:
        positive_epsilon(self.epsilon)

    def scale(self, n_advantaged: int, n_disadvantaged: int, m: int) -> float:
        """Return the scale of the noise on each of m answers."""
        raise NotImplementedError

    def holds(self, n_advantaged: int, n_disadvantaged: int) -> bool:
        """Return whether these answers are as private as they promise among groups of about these sizes."""
        return not self.as_published

    def _warn(self, sensitive: npt.ArrayLike, labels: npt.ArrayLike | None) -> None:
        a = np.asarray(sensitive)
        if labels is not None and np.shape(labels) == a.shape:
            a = a[np.asarray(labels) == 1]
        n_advantaged = int(np.count_nonzero(a == 1))
        if self.as_published and not self.holds(n_advantaged, a.size - n_advantaged):
            warnings.warn(self.why(True), PrivacyLeakWarning, stacklevel=3)

    def grid(self, n: int, m: int) -> float:
        """Return the public grid of the answers to m questions on n people: from the noise of two equal groups."""
        return public_grid(self.scale(n - n // 2, n // 2, m))

    def _answers(self, h: Floats, a: npt.NDArray[np.uint8], rng: np.random.Generator, draws: int) -> Floats:
        truth = self.exact(h, a)
        n_advantaged, shape = int(a.sum()), (draws, truth.size)
        scale = self.scale(n_advantaged, a.size - n_advantaged, truth.size)
        if scale == 0:
            return np.tile(truth, (draws, 1))
        unit = rng.standard_cauchy(size=shape) if self.noise == "cauchy" else rng.laplace(size=shape)
        return to_grid(truth + scale * unit, self.grid(a.size, truth.size))
