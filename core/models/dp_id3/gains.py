"""How much each attribute tells about the label in each node: the negated conditional entropy, in bits times records.

With counts N_jc of value j and class c, V = Σ_j N_j Σ_c p_jc log2 p_jc, p_jc = N_jc / Σ_c N_jc. The information gain is
V plus what is the same for all attributes of a node, so the largest V is the largest gain (Quinlan 1986). Noisy counts
below 0 count as 0, whatever follows from released counts is free.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_TIE = 1e-8  # bits times records; rounding stays far below, unequal gains differ by far more

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def noisy_score(joint: Ints, values: Ints) -> Floats:
    """Return V of an attribute in each node.

    Parameters
    ----------
    joint : ndarray of shape (m, k, C)
        Counts of value and class, noisy or not.
    values : ndarray of shape (m, k)
        Counts of the values, of a release of their own or sums of `joint`.
    """
    kept = np.maximum(joint, 0).astype(np.float64)
    sums = kept.sum(axis=2)
    # Σ_c p log p = (Σ_c N_jc log N_jc) / S − log S
    inner = _xlogx(kept).sum(axis=2) / np.maximum(sums, 1) - np.log2(np.maximum(sums, 1))
    return np.asarray((np.maximum(values, 0) * inner).sum(axis=1))


def exact_score(keys: Ints, m: int, k: int, n_classes: int, table: Floats) -> Floats:
    """Return V of an attribute in each node, from the records themselves; made for many small nodes.

    Parameters
    ----------
    keys : ndarray of shape (r,)
        (node * k + value) * C + class of each record.
    m, k, n_classes : int
        Nodes, values, classes.
    table : ndarray
        x log2 x of the whole numbers from 0 to r, at least.
    """
    if m * k * n_classes <= 4 * len(keys):
        joint = np.bincount(keys, minlength=m * k * n_classes).reshape(m, k, n_classes)
        return np.asarray((table[joint].sum(axis=2) - table[joint.sum(axis=2)]).sum(axis=1))
    ordered = np.sort(keys)
    starts = _starts(ordered)
    cells = ordered[starts]
    values = cells // n_classes
    firsts = starts[_starts(values)]
    nodes = ordered[firsts] // (k * n_classes)
    inner = np.bincount(cells // (k * n_classes), table[np.diff(starts, append=len(keys))], m)
    return np.asarray(inner - np.bincount(nodes, table[np.diff(firsts, append=len(keys))], m))


def best_attribute(scores: Floats) -> Ints:
    """Return the attribute of the largest score in each row; of equals the first, rounding aside."""
    best = scores.max(axis=1, keepdims=True)
    return np.asarray((scores >= best - _TIE).argmax(axis=1))


def _starts(ordered: Ints) -> Ints:
    """Return where each run of equal keys starts."""
    new = np.empty(len(ordered), dtype=bool)
    new[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return np.flatnonzero(new)


def _xlogx(x: Floats) -> Floats:
    """Return x log2 x, 0 at 0, of whole numbers of at least 0."""
    return np.asarray(x * np.log2(np.maximum(x, 1)))
