"""What published numbers say about memberships, as linear equations: Σ_i a_i s_i in [low, high], or equal up to noise.

With group sizes known the features are the predictions, h_i on the people of the part, and the limits whole numbers
(`core.release.counts`). Without them

- a rate r1 says Σ s_i (h_i − r1) = 0 and a rate r0 says Σ s_i (h_i − r0) = P − n r0; rounded, each limit of the rate
  gives one inequality, and none of it is an approximation;
- a gap d says Σ s_i (h_i − P/n) = d n1 (n − n1) / n, which is not linear in n1 = Σ s_i. With μ and V the mean and the
  variance of n1 under the posterior, n1 (n − n1)/n = μ²/n + n1 (n − 2μ)/n − (n1 − μ)²/n, so

      Σ s_i (h_i − P/n − d (n − 2μ)/n) = d μ²/n − d (n1 − μ)²/n,

  and the last term lies between 0 and −d z² V/n unless n1 is more than z = 4 standard deviations off. Up to 300
  people that is an interval; beyond, where it is a fraction of a person, its mean −d V/n and its variance 2 d² V²/n²
  are taken. The projection repeats it around its own μ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.projection import Constraints
from core.release.expected import noisy_features
from core.release.numbers import Floats, part_of
from core.release.statistics import Published

_SIZE_REACH = 4.0
"""Standard deviations within which the unknown size of a group is taken to lie."""

_FEW = 300
"""People of a part up to whom the curvature of a gap is an interval."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Equations:
    """Linear equations in the memberships.

    Attributes
    ----------
    pattern : ndarray of shape (n,), int
        Cell of each person; everybody in a cell has the same features.
    features : ndarray of shape (rows, cells)
    low, high : ndarray of shape (rows,)
        Limits of Σ a s; infinite where there is none.
    variance : ndarray of shape (rows,)
        Of the noise; 0 for numbers without.
    curved : bool
        Whether they depend on the posterior they were made with.
    """

    pattern: npt.NDArray[np.intp]
    features: Floats
    low: Floats
    high: Floats
    variance: Floats
    curved: bool = False

    def constraints(self) -> Constraints:
        """Return them as constraints of the projection."""
        both = np.isfinite(self.low) & np.isfinite(self.high)
        only_low = np.isfinite(self.low) & ~both
        sign = np.where(only_low, -1.0, 1.0)
        low, high = np.where(both, self.low, 0.0), np.where(both, self.high, 0.0)
        return Constraints(
            pattern=self.pattern,
            weights=self.features * sign[:, None],
            groups=np.tile([0.0, 1.0], (self.low.size, 1)),
            bound=np.where(both, (low + high) / 2, np.where(only_low, -self.low, self.high)),
            equality=both,
            width=(high - low) / 2,
            variance=self.variance,
        )


@dataclass(slots=True)
class _Collected:
    """Rows while they are collected."""

    features: list[Floats]
    low: list[float]
    high: list[float]
    variance: list[float]

    def add(self, features: Floats, low: float, high: float, variance: float = 0.0) -> None:
        self.features.append(features)
        self.low.append(low)
        self.high.append(high)
        self.variance.append(variance)


def posterior_array(posterior: npt.ArrayLike, n: int) -> Floats:
    """Return the posterior as floats if it has one probability for each of n people."""
    q = np.asarray(posterior, dtype=np.float64)
    if q.shape != (n,):
        raise InputError(f"posterior must have one probability for each of {n} people, got shape {q.shape}.")
    wrong = ~((q >= 0.0) & (q <= 1.0))
    if wrong.any():
        raise InputError(f"posterior must be in [0, 1], got {q[wrong][0]}.")
    return q


def equations(published: Published, posterior: Floats) -> Equations:
    """Return the equations; the posterior (n,) matters only for gaps of groups of unknown size."""
    release = published.release
    if published.noise is not None:
        return _noisy_equations(published)
    assert published.counts is not None
    rows = _Collected([], [], [], [])
    _add_sizes(published, rows)
    _add_counts(published, rows)
    curved = _add_unsized(published, posterior, rows)
    return Equations(
        pattern=release.cells.pattern,
        features=np.array(rows.features).reshape(-1, release.cells.people.size),
        low=np.array(rows.low),
        high=np.array(rows.high),
        variance=np.array(rows.variance),
        curved=curved,
    )


def _noisy_equations(published: Published) -> Equations:
    release, noise = published.release, published.noise
    assert noise is not None
    value = np.concatenate([noise.sizes, noise.sums.ravel()])
    return Equations(
        pattern=release.cells.pattern,
        features=noisy_features(release),
        low=value,
        high=value,
        variance=np.full(value.size, noise.variance),
    )


def _add_sizes(published: Published, rows: _Collected) -> None:
    """Add the group sizes; that of everybody only where it does not follow from the others."""
    assert published.counts is not None
    known = published.counts.sizes
    for part, size in known.items():
        if part != "all" or not {"label 1", "label 0"} <= set(known):
            rows.add(published.release.cells.inside(part).astype(np.float64), float(size), float(size))


def _add_counts(published: Published, rows: _Collected) -> None:
    """Add the counts of accepted people; once for models alike, and not where they follow from others."""
    assert published.counts is not None
    cells, counts = published.release.cells, published.counts
    added = {part: counts.told[part] & (limits[:, 0] == limits[:, 1]) for part, limits in counts.limits.items()}
    within = added.get("label 1", np.False_) & added.get("label 0", np.False_)
    for part, limits in counts.limits.items():
        inside = cells.inside(part)
        wanted = counts.told[part] & ~within if part == "all" else counts.told[part]
        seen: set[bytes] = set()
        for i in np.flatnonzero(wanted):
            row = cells.predictions[i] * inside
            alike = row if row[inside][0] == 0 else inside - row
            if not alike.any() or alike.tobytes() in seen:
                continue
            seen.add(alike.tobytes())
            rows.add(row.astype(np.float64), float(limits[i, 0]), float(limits[i, 1]))


def _add_unsized(published: Published, posterior: Floats, rows: _Collected) -> bool:
    """Add the numbers about groups of unknown size; return whether any of them is a gap."""
    assert published.counts is not None
    cells, curved = published.release.cells, False
    expected, spread = cells.expected(posterior), cells.expected(posterior * (1.0 - posterior))
    for name, limits in published.limits.items():
        part = part_of(name)
        if part in published.counts.sizes:
            continue
        inside = cells.inside(part).astype(np.float64)
        people, positives = float(cells.size(part)), cells.positives(part).astype(np.float64)
        for i in np.flatnonzero(~np.isnan(limits[:, 0])):
            low, high = limits[i]
            accepted = cells.predictions[i] * inside
            if name.endswith("_gap"):
                mean, variance = float(expected @ inside), float(spread @ inside)
                _add_gap(rows, accepted, inside, (low, high), float(positives[i]), people, mean, variance)
                curved = True
            elif name.endswith("_1"):
                _add_rate(rows, accepted, inside, (low, high), (0.0, 0.0))
            else:
                limit = (positives[i] - people * low, positives[i] - people * high)
                _add_rate(rows, accepted, inside, (low, high), limit)
    return curved


def _add_rate(
    rows: _Collected, accepted: Floats, inside: Floats, rate: tuple[float, float], limit: tuple[float, float]
) -> None:
    """Add Σ s (h − r) at both limits of a rate: falling in r for group 1, and for group 0 against P − n r.

    For group 1 the sum is at most 0 at the upper limit and at least 0 at the lower. For group 0 it is the other way
    round: Σ (1 − s)(h − r) changes the sign of s.
    """
    low, high = rate
    if low == high:
        rows.add(accepted - low * inside, limit[0], limit[0])
    elif limit == (0.0, 0.0):
        rows.add(accepted - high * inside, -np.inf, 0.0)
        rows.add(accepted - low * inside, 0.0, np.inf)
    else:
        rows.add(accepted - low * inside, -np.inf, limit[0])
        rows.add(accepted - high * inside, limit[1], np.inf)


def _add_gap(
    rows: _Collected,
    accepted: Floats,
    inside: Floats,
    gap: tuple[float, float],
    positives: float,
    people: float,
    mean: float,
    variance: float,
) -> None:
    d, half = (gap[0] + gap[1]) / 2, (gap[1] - gap[0]) / 2
    slope = (people - 2 * mean) / people
    reach = _SIZE_REACH * np.sqrt(variance)
    most = min(mean * (people - mean) / people + abs(slope) * reach, people / 4)
    middle, slack = d * mean**2 / people, half * most
    features, bend = accepted - (positives / people + d * slope) * inside, d * variance / people
    if people <= _FEW:
        furthest = -bend * _SIZE_REACH**2
        rows.add(features, middle + min(furthest, 0.0) - slack, middle + max(furthest, 0.0) + slack)
    else:
        rows.add(features, middle - bend - slack, middle - bend + slack, 2 * bend**2)
