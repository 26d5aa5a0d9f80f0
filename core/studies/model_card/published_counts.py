"""What published numbers say in whole people: cells, counts, and the group sizes that fit.

With n people in a part, n1 of them in group 1, and P accepted, each number of a model is one count c of accepted
people of group 1: a gap d says c = (d + P/n0) n1 n0 / n, a rate r1 says c = r1 n1, a rate r0 says c = P − r0 n0. A
rounded number is an interval of counts; only the whole numbers in it are possible, and all numbers of a model in a
part say the same c. Counts of the two labels add up to those of everybody. So much follows without a solver.

Sizes that nobody published the numbers may tell. A gap or a rate is a fraction whose denominators are the sizes of the
groups: about a few hundred people the numbers of a few models often fit one size alone, even rounded to two or three
decimals; exact numbers hardly ever fit two. An attacker who tries every size knows it then, so leaving sizes out of a
card hides them only where more than one is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...base.errors import InputError
from ...base.validation import Codes, Floats, Ints, Mask

STATISTIC_TITLES = {
    "sp_gap": "Statistical parity gap",
    "tpr_gap": "True positive rate gap",
    "fpr_gap": "False positive rate gap",
    "sp_rate": "Positive rate of each group",
    "tpr_rate": "True positive rate of each group",
    "fpr_rate": "False positive rate of each group",
}

STATISTICS = tuple(STATISTIC_TITLES)
"""What may be published of a model: signed gaps, group 1 minus group 0, and both groups' rates."""

PARTS = {"sp": "all", "tpr": "label 1", "fpr": "label 0"}
"""The people a statistic looks at."""

SIZE_PARTS = {"size": "all", "size_label_1": "label 1", "size_label_0": "label 0"}
"""Name of a group size -> the part it counts group 1 in."""


def part_name(part: str) -> str:
    """Return how a sentence goes on about the people of a part."""
    if part == "all":
        return ""
    return f" with {part}"


def number_names(statistic: str) -> tuple[str, ...]:
    """Return the names of the numbers a statistic consists of: a gap is one, rates are two."""
    if statistic.endswith("_gap"):
        return (statistic,)
    return (f"{statistic}_1", f"{statistic}_0")


def part_of(name: str) -> str:
    """Return the part of people a number looks at."""
    if name in SIZE_PARTS:
        return SIZE_PARTS[name]
    return PARTS[name.partition("_")[0]]


def value_of(
    name: str, counts: Floats, size: float | Floats, positives: float | Floats, people: float
) -> Floats:
    """Return a number of every model: rates r1 = c/n1, r0 = (P − c)/(n − n1), the gap r1 − r0.

    `counts` are c, accepted people of group 1 in the part; `size` n1, people of group 1 there, of n `people`;
    `positives` P, accepted people there.
    """
    r1 = counts / size
    r0 = (positives - counts) / (people - size)
    if name.endswith("_gap"):
        return np.asarray(r1 - r0)
    if name.endswith("_1"):
        return np.asarray(r1)
    return np.asarray(r0)


def count_of(
    name: str,
    value: float | Floats,
    size: float | npt.NDArray[Any],
    positives: float | Floats,
    people: float,
) -> Floats:
    """Return the count c a number stands for, the inverse of `value_of`; r0 counts downwards."""
    other_size = people - size
    if name.endswith("_gap"):
        return np.asarray((value + positives / other_size) * size * other_size / people)
    if name.endswith("_1"):
        return np.asarray(value * size)
    return np.asarray(positives - value * other_size)


def each_number(statistics: tuple[str, ...]) -> Iterator[str]:
    """Yield the names of all numbers of a model."""
    for statistic in statistics:
        yield from number_names(statistic)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cells:
    """The people with the same predictions of all models and the same label make a cell."""

    pattern: Ints  # (n,): the cell of each person
    predictions: Codes  # (k, cells)
    labels: Codes | None  # (cells,)
    people: Ints  # (cells,): how many there are in each

    @classmethod
    def of(cls, predictions: Codes, labels: Codes | None) -> Cells:
        """Return the cells of people with these predictions (k, n) and labels (n,)."""
        if labels is None:
            observed = predictions
        else:
            observed = np.vstack([predictions, labels])
        packed = np.ascontiguousarray(np.packbits(observed, axis=0).T)
        keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
        _, first, pattern = np.unique(keys, return_index=True, return_inverse=True)
        cell_labels = None
        if labels is not None:
            cell_labels = labels[first]
        return cls(
            pattern=pattern.astype(np.intp),
            predictions=predictions[:, first],
            labels=cell_labels,
            people=np.bincount(pattern, minlength=first.size),
        )

    def inside(self, part: str) -> Mask:
        """Return which cells belong to "all", "label 1" or "label 0"."""
        if part == "all" or self.labels is None:
            return np.ones(self.people.size, dtype=np.bool_)
        return self.labels == int(part[-1])

    def size(self, part: str) -> int:
        """Return how many people a part holds."""
        return int(self.people[self.inside(part)].sum())

    def positives(self, part: str) -> Ints:
        """Return how many of them each model accepts, shape (k,)."""
        return self.predictions.astype(np.int64) @ (self.people * self.inside(part))

    def members(self, sensitive: Codes) -> Ints:
        """Return how many people of group 1 each cell holds."""
        return np.bincount(self.pattern, weights=sensitive, minlength=self.people.size).astype(
            np.int64
        )

    def expected(self, values: Floats) -> Floats:
        """Return the sum of one number a person over each cell."""
        return np.asarray(
            np.bincount(self.pattern, weights=values, minlength=self.people.size), dtype=np.float64
        )


_WITHIN = ("label 1", "label 0")

PEOPLE_ROUNDING = 1e-6
"""How far a count computed in floats may lie from a whole number, in people."""


def published_mask(limits: Floats) -> Mask:
    """Return of which models a number was published, (k,), by its limits (k, 2), which are nan where it was not."""
    return np.asarray(~np.isnan(limits).any(axis=-1))


def known_sizes(cells: Cells, sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the group sizes with the one that follows from two others."""
    all_sizes = dict(sizes)
    (label_1, label_0) = _WITHIN
    if label_1 in all_sizes and label_0 in all_sizes:
        all_sizes.setdefault("all", all_sizes[label_1] + all_sizes[label_0])
    elif "all" in all_sizes and cells.labels is not None:
        for part, other_part in (_WITHIN, _WITHIN[::-1]):
            if part in all_sizes:
                all_sizes[other_part] = all_sizes["all"] - all_sizes[part]
    return all_sizes


def count_intervals(
    cells: Cells, limits: Mapping[str, Floats], sizes: Mapping[str, int]
) -> tuple[dict[str, Ints], dict[str, Mask]]:
    """Return what the numbers of models say in counts, by part of known size.

    They are the least and most accepted people of group 1 of every model (k, 2), and of which any number was published.
    """
    n_models = len(cells.predictions)
    least: dict[str, Ints] = {}
    published: dict[str, Mask] = {}
    for part in ("all", *_WITHIN):
        names = [name for name in limits if part_of(name) == part]
        if part not in sizes or (part != "all" and cells.labels is None):
            continue
        size = sizes[part]
        people = cells.size(part)
        positives = cells.positives(part)
        low = np.maximum(0, size - people + positives)
        high = np.minimum(size, positives)
        for name in names:
            low, high = _intersected(cells, limits[name], name, (low, high), size)
        least[part] = np.stack([low, high], axis=1)
        masks = np.array([published_mask(limits[name]) for name in names], dtype=np.bool_)
        published[part] = np.asarray(masks.reshape(-1, n_models).any(axis=0))
    if all(part in least for part in ("all", *_WITHIN)):
        _add_up(least)
    for part in least:
        _same_predictions(cells, part, least[part], sizes[part])
    return least, published


def check_both_groups(name: str, size: int, people: int) -> None:
    """Refuse a number about people of whom none, or all, are of group 1."""
    if size in (0, people):
        part_text = part_name(part_of(name))
        raise InputError(
            f"{name} needs people of both groups{part_text}, got none of group {int(size == 0)}."
        )


def _whole_counts(
    name: str, limits: Floats, size: int | Ints, positives: float | Floats, people: float
) -> tuple[Floats, Floats]:
    """Return the least and the most whole people that agree with a number of which both limits, (2, ...), are given."""
    ends = np.stack([count_of(name, limit, size, positives, people) for limit in limits])
    return np.ceil(ends.min(axis=0) - PEOPLE_ROUNDING), np.floor(ends.max(axis=0) + PEOPLE_ROUNDING)


def _intersected(
    cells: Cells, limits: Floats, name: str, so_far: tuple[Ints, Ints], size: int
) -> tuple[Ints, Ints]:
    """Return the counts that also agree with one more number."""
    part = part_of(name)
    people = cells.size(part)
    published = published_mask(limits)
    least, most = _whole_counts(
        name, limits.T, size, cells.positives(part).astype(np.float64), people
    )
    own_low, own_high = (
        np.where(published, limit, rest).astype(np.int64)
        for limit, rest in ((least, 0), (most, people))
    )
    return np.maximum(so_far[0], own_low), np.minimum(so_far[1], own_high)


def _add_up(least: dict[str, Ints]) -> None:
    """Make the counts of the labels and of everybody agree, in place."""
    label_1, label_0, both = (least[part] for part in (*_WITHIN, "all"))
    both[:, 0] = np.maximum(both[:, 0], label_1[:, 0] + label_0[:, 0])
    both[:, 1] = np.minimum(both[:, 1], label_1[:, 1] + label_0[:, 1])
    for counts, other_counts in ((label_1, label_0), (label_0, label_1)):
        counts[:, 0] = np.maximum(counts[:, 0], both[:, 0] - other_counts[:, 1])
        counts[:, 1] = np.minimum(counts[:, 1], both[:, 1] - other_counts[:, 0])


def _same_predictions(cells: Cells, part: str, limits: Ints, size: int) -> None:
    """Make models that predict the same for a part agree on its count, in place; opposite models likewise."""
    inside = cells.inside(part)
    if not inside.any():
        return
    seen: dict[bytes, list[tuple[int, bool]]] = {}
    for i, row in enumerate(cells.predictions[:, inside]):
        flipped = bool(row[0])
        seen.setdefault((1 - row if flipped else row).tobytes(), []).append((i, flipped))
    for twins in seen.values():
        if len(twins) < 2:
            continue
        intervals = np.array(
            [size - limits[i][::-1] if flipped else limits[i] for i, flipped in twins]
        )
        low = int(intervals[:, 0].max())
        high = int(intervals[:, 1].min())
        for i, flipped in twins:
            limits[i] = (size - high, size - low) if flipped else (low, high)


_MOST_TRIED = 100_000
"""People of a part up to whom every size is tried."""


def implied_sizes(
    cells: Cells, limits: Mapping[str, Floats], sizes: Mapping[str, int]
) -> dict[str, int]:
    """Return the known sizes and those that are the only ones to fit a part's numbers."""
    all_sizes = dict(sizes)
    for part in PARTS.values():
        names = [name for name in limits if part_of(name) == part]
        if part in all_sizes or not names or cells.size(part) > _MOST_TRIED:
            continue
        possible = _possible(cells, part, {name: limits[name] for name in names})
        if possible.size == 1:
            all_sizes[part] = int(possible[0])
    return all_sizes


def _possible(cells: Cells, part: str, limits: Mapping[str, Floats]) -> Ints:
    """Return the sizes at which each model has a whole number of accepted people that agrees with all its numbers."""
    people = cells.size(part)
    positives = cells.positives(part)
    sizes = np.arange(1, people)
    for i, accepted in enumerate(positives.tolist()):
        low = np.maximum(0, sizes - people + accepted).astype(np.float64)
        high = np.minimum(sizes, accepted).astype(np.float64)
        for name, table in limits.items():
            if not published_mask(table[i]):
                continue
            least, most = _whole_counts(name, table[i], sizes, accepted, people)
            low = np.maximum(low, least)
            high = np.minimum(high, most)
        sizes = sizes[low <= high]
    return sizes
