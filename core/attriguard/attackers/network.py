"""A neural network with one hidden layer of 100 rectified units (NN-A; the paper's has 30,000).

How long it learns is chosen on a tenth of the known people, who are held out: after every pass over the others it says
how likely their values are, and it stops when this has not become better, keeping the best pass. The records may be
drawn anew for every pass, which is what the attackers who train against noise do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from core.attriguard.attackers.known import Known

_HIDDEN_UNITS = 100
_HELD_OUT = 0.1
_PATIENCE = 2  # passes without gain
_MOST_PASSES = 60
_BATCHES = 30  # a pass has at least these many steps, so that small data need not be passed over for ever

Lesson = Callable[[int], tuple[Any, npt.NDArray[np.int64]]]
"""Records and values to learn from in a pass, given its number (0, 1, ...); the order of the people stays."""


def fit_network(known: Known, *, seed: int, lesson: Lesson | None = None) -> Any:
    """Return a fitted network.

    Parameters
    ----------
    seed : int
        Of the first weights, the order of the records and the people held out.
    lesson : callable, optional
        What to learn from in each pass; the known records and values by default.
    """
    from sklearn.neural_network import MLPClassifier

    held, taught = _parts(known.values.size, seed)
    network = MLPClassifier(
        (_HIDDEN_UNITS,), random_state=seed, batch_size=int(np.clip(taught.size // _BATCHES, 1, 200))
    )
    best, kept, since = np.inf, [], 0
    for number in range(_MOST_PASSES):
        records, values = lesson(number) if lesson else (known.records, known.values)
        network.partial_fit(records[taught], values[taught], classes=np.arange(known.n_values))
        loss = _loss(network, records[held], known.values[held])
        since = since + 1 if loss >= best else 0
        if loss < best:
            best, kept = loss, [part.copy() for part in (*network.coefs_, *network.intercepts_)]
        if since >= _PATIENCE:
            break
    network.coefs_, network.intercepts_ = kept[: len(network.coefs_)], kept[len(network.coefs_) :]
    return network


def _parts(people: int, seed: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the people held out and the others; the same ones where there is only one person."""
    order = np.random.default_rng(seed).permutation(people)
    held, taught = np.split(order, [max(1, round(_HELD_OUT * people))])
    return held, taught if taught.size else held


def _loss(network: Any, records: Any, values: npt.NDArray[np.int64]) -> float:
    """Return the mean of -log P(true value)."""
    likely = network.predict_proba(records)[np.arange(values.size), values]
    return float(-np.log(np.maximum(likely, 1e-12)).mean())
