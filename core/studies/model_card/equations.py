"""Published numbers as linear equations in the memberships; the projection on them, and their independent modes.

Σ_i a_i s_i lies in [low, high], or equals a value up to noise. With group sizes known the features are the
predictions, h_i on the people of the part, and the limits whole numbers (`core.studies.model_card.published_counts`).
Without:

- a rate r1 says Σ s_i (h_i − r1) = 0 and a rate r0 says Σ s_i (h_i − r0) = P − n r0; rounded, each limit of the rate
  gives one inequality, and none of it is an approximation;
- a gap d says Σ s_i (h_i − P/n) = d n1 (n − n1) / n, which is not linear in n1 = Σ s_i. With μ and V the mean and the
  variance of n1 under the posterior, n1 (n − n1)/n = μ²/n + n1 (n − 2μ)/n − (n1 − μ)²/n, so

      Σ s_i (h_i − P/n − d (n − 2μ)/n) = d μ²/n − d (n1 − μ)²/n,

  and the last term lies between 0 and −d z² V/n unless n1 is more than z = 4 standard deviations off. Up to 300
  people that is an interval; beyond, where it is a fraction of a person, its mean −d V/n and its variance 2 d² V²/n²
  are taken. The projection repeats it around its own μ.

With the features A (one row a number, in people), the posterior q, K = A diag(q(1 − q)) Aᵀ their covariance before the
release, and R the diagonal matrix of what the precision leaves open (in people²: step²/12 when rounded, the variance of
the privacy noise; at least 1/(2πe), which makes ½ log₂(K/R) the entropy of a count), the modes are the eigenvectors of
R^(−½) K R^(−½).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...base.validation import Codes, Floats, probabilities
from ...stats.projection import Constraints, Projection
from ...stats.projection import project as project_on
from .published_counts import Cells, number_names, part_of, published_mask
from .release import Published, Release

_SIZE_REACH = 4.0
"""Standard deviations z within which the unknown size of a group is taken to lie."""

_FEW = 300
"""People of a part up to whom the curvature of a gap is an interval."""


_Equation = tuple[Floats, float, float, float]
"""Σ a s lies in [low, high], infinite where there is no limit, up to noise: a by cell, low, high, and its variance."""


def equations(published: Published, posterior: Floats) -> Constraints:
    """Return what the projection is held to; the posterior (n,) matters only for gaps of groups of unknown size."""
    cells = published.release.cells
    if published.noise is not None:
        features = _noisy_features(published.release)
        low = high = np.concatenate([numbers.ravel() for numbers in published.noise])
        variance = np.full(low.size, published.release.noise_variance)
    else:
        rows = [
            *_size_rows(published),
            *_count_rows(published),
            *_unsized_rows(cells, _unsized(published), posterior),
        ]
        features = np.array([row[0] for row in rows]).reshape(-1, cells.people.size)
        low, high, variance = (np.array([row[column] for row in rows]) for column in (1, 2, 3))
    both = np.isfinite(low) & np.isfinite(high)
    only_low = np.isfinite(low) & ~both
    least = np.where(both, low, 0.0)
    most = np.where(both, high, 0.0)
    return Constraints(
        pattern=cells.pattern,
        weights=features * np.where(only_low, -1.0, 1.0)[:, None],
        groups=np.tile([0.0, 1.0], (low.size, 1)),
        bound=np.where(both, (least + most) / 2, np.where(only_low, -low, high)),
        equality=both,
        width=(most - least) / 2,
        variance=variance,
    )


def _unsized(published: Published) -> dict[str, Floats]:
    """Return the limits of the numbers about groups of unknown size; there are none with privacy noise."""
    if published.noise is not None:
        return {}
    sizes = published.sizes
    return {name: limits for name, limits in published.limits.items() if part_of(name) not in sizes}


def _noisy_features(release: Release) -> Floats:
    """Return what noisy numbers count: group 1 in each stratum, then those of them each model accepts."""
    inside = np.stack([release.cells.inside(part) for part in release.strata]).astype(np.float64)
    accepted = release.cells.predictions[None, :, :] * inside[:, None, :]
    return np.vstack([inside, accepted.reshape(-1, inside.shape[1])])


def _size_rows(published: Published) -> Iterator[_Equation]:
    """Yield the group sizes; that of everybody only where it does not follow from the others."""
    for part, size in published.sizes.items():
        if part != "all" or not {"label 1", "label 0"} <= set(published.sizes):
            inside = published.release.cells.inside(part)
            yield inside.astype(np.float64), float(size), float(size), 0.0


def _count_rows(published: Published) -> Iterator[_Equation]:
    """Yield the counts of accepted people; once for models alike, and not where they follow from others."""
    cells = published.release.cells
    settled = {
        part: published.counted[part] & (limits[:, 0] == limits[:, 1])
        for part, limits in published.counts.items()
    }
    within = settled.get("label 1", np.False_) & settled.get("label 0", np.False_)
    for part, limits in published.counts.items():
        inside = cells.inside(part)
        selected = published.counted[part]
        if part == "all":
            selected = selected & ~within
        seen: set[bytes] = set()
        for i in np.flatnonzero(selected):
            row = cells.predictions[i] * inside
            canonical = row if row[inside][0] == 0 else inside - row
            if canonical.any() and canonical.tobytes() not in seen:
                seen.add(canonical.tobytes())
                yield row.astype(np.float64), float(limits[i, 0]), float(limits[i, 1]), 0.0


def _unsized_rows(cells: Cells, unsized: Mapping[str, Floats], q: Floats) -> Iterator[_Equation]:
    """Yield the numbers about groups of unknown size at the posterior `q`."""
    expected = cells.expected(q)
    spread = cells.expected(q * (1.0 - q))
    for name, limits in unsized.items():
        part = part_of(name)
        gap = name.endswith("_gap")
        inside = cells.inside(part).astype(np.float64)
        people = float(cells.size(part))
        positives = cells.positives(part).astype(np.float64)
        for i in np.flatnonzero(published_mask(limits)):
            low, high = limits[i]
            accepted = cells.predictions[i] * inside
            if gap:
                size = float(expected @ inside), float(spread @ inside)
                yield _gap_row(accepted, inside, (low, high), float(positives[i]), people, size)
            elif name.endswith("_1"):
                yield from _rate_rows(accepted, inside, (low, high), (0.0, 0.0))
            else:
                limit = (positives[i] - people * low, positives[i] - people * high)
                yield from _rate_rows(accepted, inside, (low, high), limit)


def _rate_rows(
    accepted: Floats, inside: Floats, rate: tuple[float, float], limit: tuple[float, float]
) -> Iterator[_Equation]:
    """Yield Σ s (h − r) at both limits of a rate: falling in r for group 1, and for group 0 against P − n r.

    For group 1 the sum is at most 0 at the upper limit and at least 0 at the lower. For group 0 it is the other way
    round: Σ (1 − s)(h − r) changes the sign of s.
    """
    low, high = (accepted - end * inside for end in rate)
    if rate[0] == rate[1]:
        yield low, limit[0], limit[0], 0.0
    elif limit == (0.0, 0.0):
        yield high, -np.inf, 0.0, 0.0
        yield low, 0.0, np.inf, 0.0
    else:
        yield low, -np.inf, limit[0], 0.0
        yield high, limit[1], np.inf, 0.0


def _gap_row(
    accepted: Floats,
    inside: Floats,
    gap: tuple[float, float],
    positives: float,
    people: float,
    size: tuple[float, float],
) -> _Equation:
    """Return a gap, made straight around mean and variance of the unknown size of group 1."""
    (mean, variance) = size
    d = (gap[0] + gap[1]) / 2
    half = (gap[1] - gap[0]) / 2
    slope = (people - 2 * mean) / people
    most = min(
        mean * (people - mean) / people + abs(slope) * _SIZE_REACH * np.sqrt(variance), people / 4
    )
    middle = d * mean**2 / people
    slack = half * most
    features = accepted - (positives / people + d * slope) * inside
    bend = d * variance / people
    if people <= _FEW:
        furthest = -bend * _SIZE_REACH**2
        low = middle + min(furthest, 0.0) - slack
        return features, low, middle + max(furthest, 0.0) + slack, 0.0
    return features, middle - bend - slack, middle - bend + slack, 2 * bend**2


_ROUNDS = 6
"""Times gaps of groups of unknown size are linearised again, at most."""

_STILL = 0.01
"""Change of the expected size, in its standard deviations, at which there is no need to."""

DISTANCE_MEDIAN = 0.05
"""How far the projection is from the exact posterior: |projected − exact| averaged over the people of a small random
release (6 to 12 people, 1 to 3 models, group sizes known; exact, rounded or with little noise), median over releases.

Without published sizes exact numbers are no farther, because they tell the sizes
(`core.studies.model_card.published_counts`); rounded ones are, 0.1 in the median and up to 0.45. The more people
share a number, the nearer the projection."""

DISTANCE_WORST = 0.25
"""The largest of these distances."""


def project(posterior: npt.ArrayLike, published: Published) -> Projection:
    """Return the information projection of a posterior (n,), in [0, 1], on the published numbers.

    logit q'_i = logit q_i + Σ_k λ_k a_ki, one multiplier a statistic. Exact numbers are met in expectation, rounded
    ones within their interval, noisy ones at the price of their variance (normal, though the noise is Laplace's).

    Without noise, and with known group sizes, the log-loss of the truth falls by at least KL(q'‖q), and by exactly that
    where all numbers are exact. Where nothing meets the numbers, the posterior is as it was and the status
    "infeasible"; the others are "converged" and "not_converged". The value is in nats.
    """
    q = probabilities(posterior, published.release.n, name="posterior")
    projection = project_on(q, equations(published, q))
    curved = any(name.endswith("_gap") for name in _unsized(published))
    rounds = _ROUNDS if curved else 0
    for _ in range(rounds):
        if projection.status == "infeasible":
            break
        updated = project_on(q, equations(published, projection.probability))
        moved = abs(float(updated.probability.sum() - projection.probability.sum()))
        projection = updated
        if moved <= _STILL * float(
            np.sqrt((projection.probability * (1.0 - projection.probability)).sum())
        ):
            break
    return projection


LATTICE = 1.0 / (2.0 * math.pi * math.e)
"""Least variance of a number in people²: a normal law of this variance has entropy 0, as a known count has."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Modes:
    """The modes of a release at a posterior (n,)."""

    release: Release
    posterior: Floats
    values: Floats  # (modes,): variance before the release over what is left open of it
    features: Floats  # (modes, cells): R^(−½) A, turned to the modes

    @property
    def weight(self) -> Floats:
        """Share of each mode that is disclosed, values / (values + 1)."""
        return self.values / (self.values + 1.0)

    @property
    def df_bits(self) -> float:
        """Return tr(K (K + R)⁻¹) / (2 ln 2)."""
        return float(self.weight.sum()) / (2 * math.log(2))

    @property
    def person(self) -> Floats:
        """Return a_iᵀ (K + R)⁻¹ a_i of each person, shape (n,)."""
        cell_values = (self.features**2 / (self.values + 1.0)[:, None]).sum(axis=0)
        return cell_values[self.release.cells.pattern]

    def distance(self, sensitive: Codes) -> float:
        """Return xᵀ (K + R)⁻¹ x / (2 ln 2), x = A (s − q): the formula's own gain; its mean over s ~ q is `df_bits`."""
        cells = self.release.cells
        off = self.features @ (cells.members(sensitive) - cells.expected(self.posterior))
        return float((off**2 / (self.values + 1.0)).sum()) / (2 * math.log(2))


def modes_of(posterior: npt.ArrayLike, release: Release) -> Modes:
    """Return the modes at a posterior (n,), at the numbers that it expects."""
    q = probabilities(posterior, release.n, name="posterior")
    rows, variance = _expected_rows(release, q)
    if release.epsilon is None:  # otherwise each has noise of its own
        rows, variance = _once(rows, variance)
    features = rows / np.sqrt(variance)[:, None]
    values, vectors = np.linalg.eigh(
        (features * release.cells.expected(q * (1.0 - q))) @ features.T
    )
    return Modes(
        release=release, posterior=q, values=np.maximum(values, 0.0), features=vectors.T @ features
    )


def _expected_rows(release: Release, q: Floats) -> tuple[Floats, Floats]:
    """Return features and variances at the group sizes and counts a posterior (n,) expects."""
    if release.epsilon is not None:
        rows = _noisy_features(release)
        return rows, np.full(len(rows), max(release.noise_variance, LATTICE))
    expected = release.cells.expected(q)
    spread = release.cells.expected(q * (1.0 - q))
    if release.decimals is None:
        step = 0.0
    else:
        step = 10.0**-release.decimals
    features: list[Floats] = []
    variance: list[Floats] = []
    if release.sizes:
        sized = [part for part in release.size_parts.values() if part != "all"]
        if len(sized) != 2:
            sized = ["all", *sized]
        for part in sized:
            features.append(release.cells.inside(part)[None, :].astype(np.float64))
            variance.append(np.array([LATTICE]))
    blocks = {part: _part_rows(release, part, expected, spread, step) for part in release.parts}
    settled = all(
        part in blocks and blocks[part][1].max() <= LATTICE for part in ("label 1", "label 0")
    )
    for part, (rows, open_) in blocks.items():
        if not (part == "all" and settled and release.sizes):
            features.append(rows)
            variance.append(open_)
    return np.vstack(features), np.concatenate(variance)


_DECIMALS = 9
"""Rows that differ less are equal but for rounding."""


def _once(rows: Floats, variance: Floats) -> tuple[Floats, Floats]:
    """Return rows that are equal, or opposite, once, with the least variance of them."""
    canonical = np.round(rows, _DECIMALS)
    first = np.take_along_axis(canonical, (canonical != 0).argmax(axis=1)[:, None], axis=1)
    canonical = np.where(first < 0, -canonical, canonical) + 0.0  # no negative zeros
    finest: dict[bytes, int] = {}
    for i in np.argsort(variance, kind="stable").tolist():
        finest.setdefault(canonical[i].tobytes(), i)
    indices = sorted(finest.values())
    return rows[indices], variance[indices]


def _part_rows(
    release: Release, part: str, expected: Floats, spread: Floats, step: float
) -> tuple[Floats, Floats]:
    """Return the rows of all models in a part."""
    cells = release.cells
    inside = cells.inside(part).astype(np.float64)
    accepted = cells.predictions * inside
    people = float(cells.size(part))
    size = float(expected @ inside)
    other_size = people - size
    names = [
        name for stat in release.statistics for name in number_names(stat) if part_of(name) == part
    ]
    steps = {name: _people_a_unit(name, size, other_size) * step for name in names}
    if release.sizes:
        finest = min(steps.values())
        turned = np.where(accepted[:, inside > 0][:, :1] > 0, inside - accepted, accepted)
        indices = np.sort(
            np.unique(turned, axis=0, return_index=True)[1]
        )  # of opposite models one says both counts
        return accepted[indices], np.full(indices.size, max(finest**2 / 12, LATTICE))
    features = []
    variance = []
    for name in names:
        rates = (
            accepted @ expected / size,
            (cells.positives(part) - accepted @ expected) / other_size,
        )
        extra = np.zeros(len(accepted))
        if name.endswith("_gap"):
            gap = rates[0] - rates[1]
            shift = cells.positives(part) / people + gap * (people - 2 * size) / people
            extra = 2 * (gap * float(spread @ inside) / people) ** 2
        else:
            shift = rates[0] if name.endswith("_1") else rates[1]
        features.append(accepted - shift[:, None] * inside)
        variance.append(np.maximum(steps[name] ** 2 / 12 + extra, LATTICE))
    return np.vstack(features), np.concatenate(variance)


def _people_a_unit(name: str, size: float, other_size: float) -> float:
    """Return how many people one unit of a number is."""
    if name.endswith("_gap"):
        return size * other_size / (size + other_size)
    if name.endswith("_1"):
        return size
    return other_size
