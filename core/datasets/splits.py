"""Who is trained on, who the attacker knows, and who is only looked at: four disjoint sets of records."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.datasets.dataset import AuditDataset
from core.errors import InputError
from core.validation import seed_value

__all__ = ["Splits", "split"]

_VALIDATION_SHARE = 0.3
_FEWEST = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Splits:
    """Row numbers of the four sets, disjoint and together everybody.

    Attributes
    ----------
    train : ndarray of int
        Records the audited model is trained on, and whose attribute is attacked.
    attack : ndarray of int
        Records whose sensitive attribute the attacker knows, to learn from.
    validation : ndarray of int
        The attacker's own held-out records: confidence exponent, calibration.
    test : ndarray of int
        Records nobody is trained on; the published protocol tunes the attacker on them.
    """

    train: npt.NDArray[np.intp]
    attack: npt.NDArray[np.intp]
    validation: npt.NDArray[np.intp]
    test: npt.NDArray[np.intp]

    @property
    def known(self) -> npt.NDArray[np.intp]:
        """Everybody whose attribute the attacker knows: attack and validation records."""
        return np.concatenate([self.attack, self.validation])


def split(dataset: AuditDataset, *, train_share: float = 0.34, seed: int = 0) -> Splits:
    """Draw the four sets: `train_share` for training, the rest halved between attacker and test.

    Train, attacker's and test records are those of the experiments of Ferry et al. (2023) for share 0.34; out of
    the attacker's records 30% are set aside for validation.

    Raises
    ------
    InputError
        If the share lies outside [0.1, 0.8] or a set is left with fewer than three records of a group or label.
    """
    from sklearn.model_selection import train_test_split

    if not 0.1 <= train_share <= 0.8:
        raise InputError(f"The training share must be in [0.1, 0.8], got {train_share!r}.")
    seed = seed_value(seed)
    everybody = np.arange(dataset.n)
    train, rest = train_test_split(everybody, test_size=1 - train_share, random_state=seed)
    known, test = train_test_split(rest, test_size=0.5, random_state=seed)
    attack, validation = train_test_split(known, test_size=_VALIDATION_SHARE, random_state=seed)
    splits = Splits(train=train, attack=attack, validation=validation, test=test)
    for name in ("train", "attack", "validation", "test"):
        rows = getattr(splits, name)
        for side, names, told in (
            (dataset.sensitive, dataset.group_names, "group"),
            (dataset.labels, ("0", "1"), "label"),
        ):
            counts = np.bincount(side[rows], minlength=len(names))
            if counts.min() < _FEWEST:
                raise InputError(
                    f"The {name} records must hold at least {_FEWEST} people of each {told}; with this split and seed "
                    f"{told} {names[int(counts.argmin())]} has {int(counts.min())}."
                )
    return splits
