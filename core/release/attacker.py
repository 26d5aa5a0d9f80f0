"""The attacker's posterior before the release: gradient boosting on other people, cross-fitted and calibrated.

A posterior that is off by a little in the mean gains bits from the group sizes alone, so calibration matters more here
than elsewhere. Five strong adversaries each leave out a fifth of the records the attacker knows; what they say of the
records they left out calibrates their mean.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from core.adversaries import calibrate, train_strong
from core.datasets.dataset import AuditDataset
from core.datasets.splits import Splits, taught
from core.errors import InputError
from core.release.numbers import Floats
from core.seeds import child_generator

_FOLDS = 5


def attacker_posterior(
    dataset: AuditDataset, splits: Splits, rows: npt.NDArray[np.intp], *, group: int = 1, seed: int = 0
) -> Floats:
    """Return P(s = group) of the released records, shape (rows,).

    The strong adversaries learn from the attack and validation records (features and label); none of these may be
    among the released ones.

    Parameters
    ----------
    rows : ndarray of int
        The released records.
    group : int
        The group that counts as s = 1; with more than two groups everybody else is 0.

    Raises
    ------
    InputError
        If a released record is one the attacker learns from.
    """
    if not 0 <= group < dataset.n_groups:
        raise InputError(f"group must be from 0 to {dataset.n_groups - 1}, got {group!r}.")
    return np.ascontiguousarray(attacker_posteriors(dataset, splits, rows, seed=seed)[:, group])


def attacker_posteriors(dataset: AuditDataset, splits: Splits, rows: npt.NDArray[np.intp], *, seed: int = 0) -> Floats:
    """Return P(s = g) of the released records for every group, shape (rows, K); see `attacker_posterior`."""
    chosen = np.asarray(rows, dtype=np.intp)
    if shared := np.intersect1d(chosen, splits.known).size:
        raise InputError(f"The attacker must not learn from released records, got {shared} that are in both.")
    x, y, s = dataset.features, dataset.labels, dataset.sensitive
    known = taught(splits.known, seed)
    fold = _folds(s[known], child_generator(seed, "attacker folds"))
    held_out = np.zeros((known.size, dataset.n_groups))
    said = np.zeros((chosen.size, dataset.n_groups))
    for i in range(_FOLDS):
        learn, left = known[fold != i], known[fold == i]
        adversary = train_strong(x[learn], y[learn], s[learn], categorical=dataset.categorical, seed=seed)
        said += adversary.probability(x[chosen], y[chosen]) / _FOLDS
        if left.size:
            held_out[fold == i] = adversary.probability(x[left], y[left])
    return calibrate(held_out, s[known]).apply(said)


def _folds(sensitive: npt.NDArray[np.uint8], rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """Return a fold for each record, every group spread evenly over the folds."""
    order = rng.permutation(sensitive.size)
    ranked = order[np.argsort(sensitive[order], kind="stable")]
    fold = np.empty(sensitive.size, dtype=np.intp)
    fold[ranked] = np.arange(sensitive.size) % _FOLDS
    return fold
