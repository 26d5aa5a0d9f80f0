"""The meter: what a release is worth in bits, before any true attribute is seen."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.release.modes import Modes, modes_of
from core.release.numbers import Floats
from core.release.statistics import Published, Release
from core.results import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class Meter(Result):
    """Bits of a release.

    With A, K and R as in `core.release.modes`, features, covariance and what the precision leaves open:

    Attributes
    ----------
    df_bits : float
        tr(K (K + R)⁻¹) / (2 ln 2): the bits the attacker's log-loss is expected to fall by, in all, where few people
        settle; 0.72 for each independent number. See `core.release.Prediction`, which holds where many settle too.
    joint_bits : float
        ½ log₂ det(I + R⁻¹ K): what the numbers say about the whole vector of memberships. Where it reaches
        `prior_bits`, the numbers as a rule determine everybody: of 6 to 10 people in 7 of 10 random releases.
    prior_bits : float
        Σ_i H(q_i): what there was to know.
    person_bits : float
        Σ_i min(−½ log₂(1 − ρ_i²), H(q_i)), where ρ_i² = q_i(1 − q_i) a_iᵀ (K + R)⁻¹ a_i is the squared correlation of
        person i with the numbers: what is told person by person.
    independent : int
        Independent numbers among those published (the rank of K).
    """

    df_bits: float
    joint_bits: float
    prior_bits: float
    person_bits: float
    independent: int

    @property
    def share(self) -> float:
        """joint_bits / prior_bits; from 1 on, as a rule, everybody is determined (nan: there was nothing to know)."""
        return self.joint_bits / self.prior_bits if self.prior_bits > 0 else math.nan


def meter(posterior: npt.ArrayLike, released: Release | Published) -> Meter:
    """Return the bits of a release; of a `Published` one at its own numbers, else at the expected ones.

    Parameters
    ----------
    posterior : array-like of shape (n,), in [0, 1]
        P(s = 1) of each person before the release.
    released : Release or Published

    Notes
    -----
    Linear-Gaussian: exact for the covariances, an approximation for the bits. No true attribute is used.
    """
    return meter_of(modes_of(posterior, released))


def meter_of(modes: Modes) -> Meter:
    """Return the bits of a release whose modes are known."""
    values, q = modes.values, modes.posterior
    entropy = entropy_bits(q)
    correlation = np.minimum(q * (1.0 - q) * modes.person, 1.0 - 1e-15)
    return Meter(
        df_bits=modes.df_bits,
        joint_bits=float(np.log1p(values).sum()) / (2 * math.log(2)),
        prior_bits=float(entropy.sum()),
        person_bits=float(np.minimum(-np.log1p(-correlation) / (2 * math.log(2)), entropy).sum()),
        independent=int((values > 1e-9 * max(1.0, float(values.max(initial=0.0)))).sum()),
    )


def entropy_bits(probability: Floats) -> Floats:
    """Return H(p) in bits."""
    p = np.clip(probability, 1e-300, 1.0)
    rest = np.clip(1.0 - probability, 1e-300, 1.0)
    return np.asarray(-(probability * np.log2(p) + (1.0 - probability) * np.log2(rest)))
