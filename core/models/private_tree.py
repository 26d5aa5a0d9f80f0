"""The private tree on an audit's records, whose missing codes are the last code of their column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.arrays import Codes, Floats


@dataclass(frozen=True, kw_only=True)
class PrivateTree:
    """A fitted private tree; of a column of codes, the last one stands for a missing value where there can be any."""

    tree: Any

    def predict(self, features: Floats) -> npt.NDArray[Any]:
        """Return the label of each record, shape (n,)."""
        return np.asarray(self.tree.predict(_missing_last(features, self.tree.domains_)))

    def predict_proba(self, features: Floats) -> Floats:
        """Return the shares of the labels in each record's leaf, shape (n, 2)."""
        return np.asarray(self.tree.predict_proba(_missing_last(features, self.tree.domains_)))


def fit_private_tree(
    features: Floats,
    labels: Codes,
    *,
    epsilon: float,
    domains: Sequence[int | tuple[float, float]] | None,
    max_depth: int,
    seed: int,
    accounting: str = "savings",
) -> PrivateTree:
    """Grow a private tree; for the parameters see `core.models.DPID3Classifier` and `core.models.fit_model`."""
    from .dp_id3 import DPID3Classifier

    coded = features if domains is None else _missing_last(features, domains)
    tree = DPID3Classifier(epsilon, max_depth, seed, domains=domains, classes=(0, 1), accounting=accounting)
    return PrivateTree(tree=tree.fit(coded, labels))


def _missing_last(features: Floats, domains: Sequence[int | tuple[float, float]]) -> Floats:
    """Return the features with -1 in columns of codes as the last code."""
    coded = np.array(features, dtype=np.float64)
    for j, domain in enumerate(domains):
        if isinstance(domain, int):
            coded[coded[:, j] == -1, j] = domain - 1
    return coded
