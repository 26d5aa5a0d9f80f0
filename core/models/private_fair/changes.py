r"""How often to answer yes, by group and by what a model decided, so that groups' rates differ by little.

With N_gdy people of group g, decision d and label y, answering yes with probability p_gd makes

    Σ p_gd (N_gd0 − N_gd1) + const

expected errors and gives group g the rate r_g = Σ_d N_gd p_gd / N_g among the people a metric compares. The distance
of every r_g from the overall rate Σ N_g r_g / N is at most the tolerance: both are linear in p (Hardt et al. 2016, who
ask for equal rates). Answering everybody yes meets every tolerance, so there is always a solution.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from core.errors import FairLeakError, InputError
from core.fairness import METRICS
from core.validation import choice, unit_interval

Floats = npt.NDArray[np.float64]

_LABELS = {
    "statistical_parity": ((0, 1),),
    "predictive_equality": ((0,),),
    "equal_opportunity": ((1,),),
    "equalized_odds": ((0,), (1,)),
}
"""Metric -> the sets of people whose rates it compares, by their labels."""

_KEEP = 1e-6
"""Price of a changed decision, as a share of errors, so that of equally good answers the model's own is given."""


def fair_acceptance(counts: npt.ArrayLike, *, tolerance: float, metric: str = "statistical_parity") -> Floats:
    """Return the probabilities of a positive answer with the fewest expected errors that meet a tolerance.

    Parameters
    ----------
    counts : array-like of shape (K, 2, 2)
        People by group, decision and label; noisy ones may be negative, which counts as 0. A group without anybody
        left counts one person a cell.
    tolerance : float in [0, 1]
        Largest distance of a group's rate from everybody's, on these counts and in expectation.
    metric : str
        One of `core.fairness.METRICS`.

    Returns
    -------
    ndarray of shape (K, 2), in [0, 1]
        By group and decision.

    Raises
    ------
    InputError
        If an argument breaks its rule.
    """
    from scipy.optimize import linprog

    tolerance = unit_interval(tolerance, name="tolerance")
    cells = _people(counts)
    compared = _LABELS[choice(metric, METRICS, name="metric")]
    rows = np.concatenate([_rate_rows(cells[:, :, labels]) for labels in compared])
    price = (cells[:, :, 0] - cells[:, :, 1]) / cells.sum() + _KEEP * np.array([1.0, -1.0])
    found: Any = linprog(
        price.ravel(),
        A_ub=np.concatenate([rows, -rows]),
        b_ub=np.full(2 * len(rows), tolerance),
        bounds=(0.0, 1.0),
        method="highs-ds",
    )
    if found.status != 0:
        raise FairLeakError(f"The program that makes a private tree fair was not solved: {found.message}")
    return np.clip(np.asarray(found.x, dtype=np.float64), 0.0, 1.0).reshape(len(cells), 2)


def _people(counts: npt.ArrayLike) -> Floats:
    cells = np.asarray(counts, dtype=np.float64)
    if cells.ndim != 3 or cells.shape[1:] != (2, 2) or len(cells) < 2:
        raise InputError(f"counts must have shape (K, 2, 2) with K at least 2, got {cells.shape}.")
    if not np.isfinite(cells).all():
        raise InputError("counts must be finite numbers, got nan or infinity.")
    cells = np.maximum(cells, 0.0)
    return np.where(cells.sum(axis=(1, 2), keepdims=True) > 0, cells, 1.0)


def _rate_rows(cells: Floats) -> Floats:
    """Return for each group the row that takes the probabilities to its rate less everybody's, shape (K, 2K)."""
    people = cells.sum(axis=2)  # by group and decision
    sizes = people.sum(axis=1)
    k = len(people)
    own = np.zeros((k, k, 2))
    own[np.arange(k), np.arange(k)] = people / np.maximum(sizes, 1e-300)[:, None]
    everybody = people / max(sizes.sum(), 1e-300)
    rows = own - everybody[None]
    return np.asarray(rows[sizes > 0].reshape(-1, 2 * k))
