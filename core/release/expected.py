"""The equations a release will amount to, before its numbers are known."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from core.release.numbers import Floats, number_names, part_of
from core.release.statistics import Release

LATTICE = 1.0 / (2.0 * math.pi * math.e)
"""Least variance of a number in people²: a normal law of this variance has entropy 0, as a known count has."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """Features (rows, cells) and what is left open of each (rows,), in people²."""

    features: Floats
    variance: Floats


def expected_rows(release: Release, q: Floats) -> Rows:
    """Return the rows at the group sizes and counts a posterior (n,) expects."""
    if release.epsilon is not None:
        rows = noisy_features(release)
        return Rows(features=rows, variance=np.full(len(rows), max(2 * release.noise_scale**2, LATTICE)))
    expected, spread = release.cells.expected(q), release.cells.expected(q * (1.0 - q))
    step = 0.0 if release.decimals is None else 10.0**-release.decimals
    features: list[Floats] = []
    variance: list[Floats] = []
    if release.sizes:
        sized = [part for part in release.size_parts.values() if part != "all"]
        for part in sized if len(sized) == 2 else ["all", *sized]:
            features.append(release.cells.inside(part)[None, :].astype(np.float64))
            variance.append(np.array([LATTICE]))
    blocks = {part: _part_rows(release, part, expected, spread, step) for part in release.parts}
    settled = all(part in blocks and blocks[part][1].max() <= LATTICE for part in ("label 1", "label 0"))
    for part, (rows, open_) in blocks.items():
        if not (part == "all" and settled and release.sizes):
            features.append(rows)
            variance.append(open_)
    found = np.vstack(features)
    kept = _different(found)
    return Rows(features=found[kept], variance=np.concatenate(variance)[kept])


def _part_rows(release: Release, part: str, expected: Floats, spread: Floats, step: float) -> tuple[Floats, Floats]:
    """Return the rows of all models in a part."""
    cells = release.cells
    inside = cells.inside(part).astype(np.float64)
    accepted = cells.predictions * inside
    people, size = float(cells.size(part)), float(expected @ inside)
    other = people - size
    names = [name for stat in release.statistics for name in number_names(stat) if part_of(name) == part]
    steps = {name: _people_a_unit(name, size, other) * step for name in names}
    if release.sizes:
        finest = min(steps.values())
        return accepted, np.full(len(accepted), max(finest**2 / 12, LATTICE))
    features, variance = [], []
    for name in names:
        rates = (accepted @ expected / size, (cells.positives(part) - accepted @ expected) / other)
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


def _people_a_unit(name: str, size: float, other: float) -> float:
    """Return how many people one unit of a number is."""
    if name.endswith("_gap"):
        return size * other / (size + other)
    return size if name.endswith("_1") else other


def _different(rows: Floats) -> npt.NDArray[np.intp]:
    """Return the first of each set of equal rows, in their order."""
    seen: dict[bytes, int] = {}
    for i, row in enumerate(rows):
        seen.setdefault(row.tobytes(), i)
    return np.array(list(seen.values()), dtype=np.intp)


def noisy_features(release: Release) -> Floats:
    """Return what noisy numbers count: group 1 in each stratum, then those of them each model accepts."""
    inside = np.stack([release.cells.inside(part) for part in release.strata]).astype(np.float64)
    accepted = release.cells.predictions[None, :, :] * inside[:, None, :]
    return np.vstack([inside, accepted.reshape(-1, inside.shape[1])])
