"""How far off the answers are: the median and the 95th percentile of the absolute error.

Never the mean: Cauchy noise has none, and the average of any sample of it is an accident. Closed forms where there are
any, draws otherwise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.queries.mechanisms import AdditiveNoise, Mechanism, NoisySums
from core.queries.mechanisms.base import people
from core.results import Result

RANGE = 1.0  # a gap lies in [-1, 1]


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorQuantiles(Result):
    """Absolute error of one answer.

    Attributes
    ----------
    median, high : float
        Half of the answers are off by at most `median`, 95 of 100 by at most `high`.
    closed_form : bool
        Computed, not drawn.
    """

    median: float
    high: float
    closed_form: bool

    @property
    def exceeds_range(self) -> bool:
        """Return whether half of the answers are off by more than a gap can be: such an answer cannot be used."""
        return self.median > RANGE


def answer_error(
    mechanism: Mechanism,
    scores: npt.ArrayLike,
    sensitive: npt.ArrayLike,
    *,
    rng: np.random.Generator,
    draws: int = 2000,
    labels: npt.ArrayLike | None = None,
) -> ErrorQuantiles:
    """Return the error of these questions' answers.

    Parameters
    ----------
    scores : array-like of shape (m, n) or (n,), in [0, 1]
    sensitive : array-like of shape (n,), 0 or 1
    rng : numpy Generator
        Used where there is no closed form.
    draws : int, at least 1
        Runs drawn then; each gives m errors.
    labels : array-like of shape (n,), 0 or 1, optional
        Given, the questions are about equal opportunity.

    Raises
    ------
    InputError
        As `Mechanism.answer`.
    """
    if draws < 1:
        raise InputError(f"draws must be at least 1, got {draws!r}.")
    h, a = people(scores, sensitive, labels)
    truth = mechanism.exact(h, a)
    if isinstance(mechanism, AdditiveNoise):
        n1 = int(a.sum())
        scale = mechanism.scale(n1, a.size - n1, len(h))
        heavy = mechanism.noise == "cauchy"
        middle, high = (1.0, math.tan(0.475 * math.pi)) if heavy else (math.log(2), math.log(20))
        return ErrorQuantiles(median=middle * scale, high=high * scale, closed_form=True)
    random = isinstance(mechanism, NoisySums)
    errors = np.abs(mechanism.draws(h, a, rng=rng, draws=draws if random else 1) - truth)
    median, high = np.quantile(errors, [0.5, 0.95])
    return ErrorQuantiles(median=float(median), high=float(high), closed_form=not random)
