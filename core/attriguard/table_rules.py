"""Pairs of values that never occur together: what keeps a changed record plausible.

A pair of values of two columns is forbidden when no known person has both although at least one would be expected to
if the columns had nothing to do with each other. Husbands who never married are such a pair. Categories take part, and
whole numbers with few values.

The bound is low on purpose. With e people expected a pair is missing by chance alone with a probability of about
exp(-e), so some pairs are forbidden that could occur; but that costs next to no noise (Adult, sex: 1.019 columns a
change instead of 1.017 with a bound of 5), while records with pairs nobody has are what rules are for (race in five
groups: 2 % of the changed records instead of 42 %).

A change may not leave a forbidden pair behind that was not there before; a record that holds one anyhow keeps it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import numpy.typing as npt

from core.attriguard.records import Noise
from core.attriguard.table_records import Column, TablePeople
from core.errors import InputError
from core.estimates import Estimate, proportion
from core.serialize import Result

LEAST_EXPECTED = 1.0
"""Known people expected to hold a pair under independence, from which on its absence is a rule."""

Pair = tuple[str, str, str, str]
"""A pair as a user names it: column, value, column, value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRule(Result):
    """Two values, as text, that must not meet in a changed record."""

    first: str
    first_value: str
    second: str
    second_value: str
    expected: float = float("nan")  # known people who would hold both if independent; nan for a rule added

    @property
    def pair(self) -> Pair:
        """The rule as (column, value, column, value)."""
        return self.first, self.first_value, self.second, self.second_value


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRules(Result):
    """All rules of a table, most expected first."""

    rules: tuple[PairRule, ...]
    listed: tuple[npt.NDArray[np.float64], ...] = field(repr=False)  # values of each column that rules may speak of
    # (t + 1, t + 1), symmetric: which of all t listed values must not meet; the last is any value not listed
    forbidden: npt.NDArray[np.bool_] = field(repr=False)

    def places(self, records: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
        """Return where each cell's value stands in `forbidden`, (n, d)."""
        return places_of(self.listed, records)


def find_rules(
    known: npt.NDArray[np.float64], columns: Sequence[Column], *, least_expected: float = LEAST_EXPECTED
) -> tuple[PairRule, ...]:
    """Return the pairs that never occur among the known people (n, d) although they should, most expected first."""
    found = []
    places = places_of([column.listed for column in columns], known)
    starts = np.cumsum([0, *(column.listed.size for column in columns)])
    for a, b in combinations([j for j, column in enumerate(columns) if column.listed.size > 1], 2):
        shape = columns[a].listed.size, columns[b].listed.size
        cell = (places[:, a] - starts[a]) * shape[1] + places[:, b] - starts[b]
        counts = np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)
        expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / len(known)
        for i, k in np.argwhere((counts == 0) & (expected >= least_expected)):
            first, second = columns[a], columns[b]
            found.append(
                PairRule(
                    first=first.name,
                    first_value=first.text(first.listed[i]),
                    second=second.name,
                    second_value=second.text(second.listed[k]),
                    expected=float(expected[i, k]),
                )
            )
    return tuple(sorted(found, key=lambda rule: -rule.expected))


def pair_rules(
    columns: Sequence[Column],
    found: Sequence[PairRule] = (),
    *,
    added: Collection[Pair] = (),
    removed: Collection[Pair] = (),
) -> PairRules:
    """Return the rules found, less those removed, with those added.

    Raises InputError if a pair names an unknown column or value, one column twice, or a column rules cannot speak of.
    """
    gone = {_checked(pair, columns) for pair in removed}
    kept = [rule for rule in found if _checked(rule.pair, columns) not in gone]
    there = {_checked(rule.pair, columns) for rule in kept}
    fresh = [pair for pair in added if _checked(pair, columns) not in there]
    new = (PairRule(first=a, first_value=x, second=b, second_value=y) for a, x, b, y in fresh)
    rules = (*new, *kept)
    listed = tuple(column.listed for column in columns)
    starts = np.cumsum([0, *(values.size for values in listed)])
    forbidden = np.zeros((starts[-1] + 1, starts[-1] + 1), dtype=bool)
    for rule in rules:
        (a, i), (b, k) = _checked(rule.pair, columns)
        forbidden[starts[a] + i, starts[b] + k] = forbidden[starts[b] + k, starts[a] + i] = True
    return PairRules(rules=rules, listed=listed, forbidden=forbidden)


def _checked(pair: Pair, columns: Sequence[Column]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the pair as ((column, place of its value), ...), lower column first."""
    if len(pair) != 4:
        raise InputError(f"A pair rule must name a column, its value, another column and its value, got {pair!r}.")
    if pair[0] == pair[2]:
        raise InputError(f"A pair rule must name two different columns, got {pair[0]!r} twice.")
    one, other = sorted(_place(name, text, columns) for name, text in (pair[:2], pair[2:]))
    return one, other


def _place(name: str, text: str, columns: Sequence[Column]) -> tuple[int, int]:
    for j, column in enumerate(columns):
        if column.name == name:
            if not column.listed.size:
                raise InputError(
                    f"A pair rule must name columns of categories or of few whole numbers, got {name!r}, which holds "
                    "other numbers."
                )
            return j, int(np.searchsorted(column.listed, column.value(text)))
    raise InputError(f"A pair rule must name columns of the table, got {name!r}.")


def places_of(listed: Sequence[npt.NDArray[np.float64]], records: npt.NDArray[np.float64]) -> npt.NDArray[np.intp]:
    """Return where each cell's value stands among all listed values; their number for a value that is not."""
    total = sum(values.size for values in listed)
    places = np.full(records.shape, total, dtype=np.intp)
    start = 0
    for j, values in enumerate(listed):
        if values.size:
            place = np.minimum(np.searchsorted(values, records[:, j]), values.size - 1)
            places[:, j] = np.where(values[place] == records[:, j], start + place, total)
        start += values.size
    return places


@dataclass(frozen=True, slots=True, kw_only=True)
class Plausibility(Result):
    """What is odd about the records with noise."""

    changed: int  # records with noise, one for each person and value that needs some and has some
    without_solution: int  # pairs of person and value for which no noise was found; these records stay as they are
    unseen: Estimate  # share of the changed records with a pair of listed values, of two columns, that nobody has

    @property
    def plausible(self) -> Estimate:
        """Share of the changed records in which every pair of values has been seen."""
        u = self.unseen
        return Estimate(value=1 - u.value, low=1 - u.high, high=1 - u.low, n=u.n, level=u.level)


def judge_plausibility(people: TablePeople, noise: Noise, columns: tuple[Column, ...]) -> Plausibility:
    """Return how plausible the records with noise are; seen is what known or protected people have without noise."""
    changed = noise.noisy[(noise.size > 0).ravel()]
    everybody = np.vstack([people.known, people.public])
    odd = _unseen(changed, everybody, [j for j, column in enumerate(columns) if column.listed.size])
    return Plausibility(
        changed=len(changed),
        without_solution=int((~noise.found).sum()),
        unseen=proportion(int(odd.sum()), len(changed)),
    )


def _unseen(
    records: npt.NDArray[np.float64], everybody: npt.NDArray[np.float64], listed: list[int]
) -> npt.NDArray[np.bool_]:
    """Return which records hold a pair of values of two of these columns that nobody has."""
    values = [np.unique(everybody[:, j]) for j in listed]
    place, own = places_of(values, everybody[:, listed]), places_of(values, records[:, listed])
    odd = np.zeros(len(records), dtype=bool)
    for a, b in combinations(range(len(listed)), 2):
        width = place[:, b].max() + 1
        odd |= ~np.isin(own[:, a] * width + own[:, b], np.unique(place[:, a] * width + place[:, b]))
    return odd
