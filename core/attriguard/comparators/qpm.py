r"""Quantised probabilistic mapping (QPM; Salamatian et al. 2015): the game of Calmon and Fawaz on clusters.

Records are replaced by one of some representatives: known people are put into clusters, and the record nearest to a
cluster's centre stands for it. The mapping q(j | c) from a person's cluster to the representative she shows makes the
attribute and what is shown share the least information,

    min I(S; X̂)   with   P(s, j) = Σ_c P(s, c) q(j | c),   Σ_c P(c) Σ_j q(j | c) D(c, j) ≤ δ,

where D(c, j) is the mean number of entries in which cluster c's people differ from representative j. Where everybody
rates few of many items, the centres themselves round to blank records, so a real person's record is shown instead; and
on records as they are nearly everybody falls into one cluster, so k-means looks at their directions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from core.convex import solve
from core.errors import InputError

if TYPE_CHECKING:
    from scipy import sparse

    from core.attriguard.attackers.known import Known

Floats = npt.NDArray[np.float64]


def qpm(
    records: sparse.csr_array, known: Known, *, slack: float, rng: np.random.Generator, clusters: int = 20
) -> sparse.csr_array:
    """Return for every record the representative drawn for it, one of the known people's records.

    Parameters
    ----------
    records : csr_array of shape (u, d)
    known : Known
        The people who publish their value.
    slack : float, in (0, 1]
        δ lies this far between the least distortion there is (0) and that of one representative for everybody (1).
    clusters : int
        Number of clusters; as many as there are known people where these are fewer.

    Raises
    ------
    InputError
        If slack is out of range.
    """
    from scipy import sparse
    from sklearn.cluster import MiniBatchKMeans
    from sklearn.preprocessing import normalize

    if not 0 < slack <= 1:
        raise InputError(f"slack must be above 0 and at most 1, got {slack!r}.")
    clusters = min(clusters, known.records.shape[0])
    means = MiniBatchKMeans(clusters, random_state=int(rng.integers(2**31)), n_init=3, batch_size=1024)
    directions = normalize(known.records)
    own = means.fit_predict(directions)
    shows = _representatives(known.records, means.transform(directions))
    joint = np.zeros((known.n_values, clusters))
    np.add.at(joint, (known.values, own), 1.0 / own.size)
    mapping = _mapping(joint, _distances(known.records, own, shows, clusters), slack)
    edges = np.cumsum(mapping, axis=1)[means.predict(normalize(records))]
    shown = (rng.random(records.shape[0])[:, None] >= edges[:, :-1]).sum(axis=1)
    return sparse.csr_array(shows[shown])


def _representatives(records: sparse.csr_array, distance: Floats) -> sparse.csr_array:
    """Return for each centre the record nearest to it (clusters, d), of people who rated anything."""
    from scipy import sparse

    rated = np.diff(records.indptr) > 0
    nearest = np.where(rated[:, None], distance, np.inf).argmin(axis=0)
    return sparse.csr_array(records[nearest])


def _distances(records: sparse.csr_array, own: npt.NDArray[Any], shows: sparse.csr_array, clusters: int) -> Floats:
    """Return the mean number of entries in which each cluster's people differ from each record shown."""
    size = np.maximum(np.bincount(own, minlength=clusters), 1)
    differ = [np.asarray((records != _repeated(show, records.shape[0])).sum(axis=1)).ravel() for show in shows]
    return np.column_stack([np.bincount(own, weights=count, minlength=clusters) / size for count in differ])


def _repeated(show: sparse.csr_array, times: int) -> sparse.csr_array:
    """Return a matrix with the same row over and over."""
    from scipy import sparse

    row = show.toarray().ravel()
    columns = np.flatnonzero(row)
    return sparse.csr_array(
        (np.tile(row[columns], times), np.tile(columns, times), columns.size * np.arange(times + 1)),
        shape=(times, row.size),
    )


def _mapping(joint: Floats, distance: Floats, slack: float) -> Floats:
    """Return the mapping q that shares the least information within the distortion allowed, (clusters, shown)."""
    import cvxpy as cp

    weight = joint.sum(axis=0)
    least, one = float(weight @ distance.min(axis=1)), float((weight @ distance).min())
    mapping = cp.Variable(distance.shape, nonneg=True)
    alone = joint.sum(axis=1)[:, None] @ (weight[None] @ mapping)
    spent = cp.sum(cp.multiply(weight[:, None] * distance, mapping))
    problem = cp.Problem(
        cp.Minimize(cp.sum(cp.rel_entr(joint @ mapping, alone))),
        [cp.sum(mapping, axis=1) == 1, spent <= least + slack * (one - least) + 1e-9],
    )
    solve(problem)  # a mapping to a few digits is good enough
    found = np.maximum(mapping.value, 0.0)  # type: ignore[arg-type]
    return np.asarray(found / found.sum(axis=1, keepdims=True))
