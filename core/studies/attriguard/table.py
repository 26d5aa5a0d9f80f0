"""A table's people and columns: whose records change, what may change, pair rules, the encoding.

Attackers and defender learn on the records whose private attribute they know, the audit's attack and validation
records; the people protected are the audit's test records. The public record is the features: neither the label nor the
private attribute is part of it.

A column counts as one unit of noise however far its value moves. Categories move to values that at least a share of the
known people have; numbers within the range of the known people's middle 98 %, to values seen there. Columns with one
value only are always frozen.

A pair of values of two columns is forbidden when no known person has both although at least one would be expected to
if the columns had nothing to do with each other. Husbands who never married are such a pair. Categories take part, and
whole numbers with few values. The bound is low on purpose. With e people expected a pair is missing by chance alone
with a probability of about exp(-e), so some pairs are forbidden that could occur; but that costs next to no noise
(Adult, sex: 1.019 columns a change instead of 1.017 with a bound of 5), while records with pairs nobody has are what
rules are for (race in five groups: 2 % of the changed records instead of 42 %). A change may not leave a forbidden pair
behind that was not there before; a record that holds one anyhow keeps it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from ...base.errors import InputError
from ...base.serialize import Result
from ...base.validation import Floats, Ints, Mask
from ...datasets.dataset import AuditDataset
from ...datasets.splits import split
from ...stats.estimates import Estimate, proportion
from ..subject import AuditConfig
from .allocation import RepresentativeNoise

MOST_VALUES = 20
"""Most values a private attribute of a table may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePeople(Result):
    """Two disjoint sets of records of one table, with d columns and m values of the private attribute."""

    title: str
    attribute: str
    values: tuple[str, ...]
    names: tuple[str, ...]
    categorical: Mask  # (d,): which columns hold codes of categories
    categories: tuple[tuple[str, ...], ...]  # what the codes stand for; empty for numbers
    attacker_records: Floats  # records of the known people, (n, d)
    known_truth: Ints  # (n,)
    public: Floats  # records of the protected people, (u, d)
    truth: Ints  # (u,)
    rows: npt.NDArray[np.intp]  # of the protected people in the audit's table, (u,)

    def __post_init__(self) -> None:
        if not 2 <= len(self.values) <= MOST_VALUES:
            raise InputError(
                f"The private attribute of a table must have 2 to {MOST_VALUES} values, {self.attribute} has "
                f"{len(self.values)}."
            )
        if len(self.names) < 2:
            raise InputError(
                f"AttriGuard needs records of at least two columns, those of {self.title} have {len(self.names)}."
            )
        counts = np.bincount(self.known_truth, minlength=len(self.values))
        if not counts.all():
            absent = self.values[int(counts.argmin())]
            raise InputError(
                f"The known people must hold every value of {self.attribute}, got nobody with {absent}."
            )

    @property
    def shares(self) -> Floats:
        """Shares of the values among the known people, (m,)."""
        return np.bincount(self.known_truth, minlength=len(self.values)) / self.known_truth.size


def people_of(
    dataset: AuditDataset, known_rows: npt.NDArray[np.intp], public: npt.NDArray[np.intp]
) -> TablePeople:
    """Return the people in these rows of a dataset."""
    return TablePeople(
        title=dataset.title,
        attribute=dataset.roles.attribute,
        values=dataset.group_names,
        names=dataset.feature_names,
        categorical=dataset.categorical,
        categories=dataset.categories or ((),) * len(dataset.feature_names),
        attacker_records=dataset.features[known_rows],
        known_truth=dataset.sensitive[known_rows].astype(np.int64),
        public=dataset.features[public],
        truth=dataset.sensitive[public].astype(np.int64),
        rows=public,
    )


def audit_people(config: AuditConfig, dataset: AuditDataset) -> TablePeople:
    """Return the people of an audit: known to the attacker, and in the test set."""
    splits = split(dataset, train_share=config.train_share, seed=config.seed)
    return people_of(dataset, splits.attacker_rows, splits.test)


LISTED = 30
"""Whole numbers with at most so many values are taken value by value, also by pair rules, as categories are."""

_TAIL = 0.01
_STEPS = (
    11  # values a number may move to: both ends of its range and evenly spread quantiles between
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column(Result):
    """One column of the public records: its kind, whether the noise leaves it alone, its plausible values."""

    name: str
    kind: str  # "category", "integer" or "number"
    frozen: bool
    domain: Floats  # rising; what the noise may set it to, codes for categories
    # rising; all values among the known people where pair rules may speak of them, else empty
    listed: Floats
    texts: tuple[str, ...] = ()  # what the codes stand for

    def text(self, value: float) -> str:
        """Return how a value reads: the category's text, or the number."""
        if self.kind != "category":
            return f"{value:.12g}"
        code = int(value)
        if code < 0:
            return "missing"
        if code < len(self.texts):
            return self.texts[code]
        return str(code)


_LEAST_SHARE = 0.01
"""Share of the known people that a category needs for others to be moved to it."""


def table_columns(people: TablePeople, *, frozen: Collection[str] = ()) -> tuple[Column, ...]:
    """Return the columns of the known people's records; those named in `frozen` the noise must leave alone.

    Raises InputError if a frozen column does not exist, or none is left that may change: with one value, or without a
    category that enough people have, a column is frozen, too.
    """
    if unknown := [name for name in frozen if name not in people.names]:
        raise InputError(f"Frozen columns must be columns of the table, got {unknown[0]!r}.")
    columns = tuple(
        _column(
            name,
            people.attacker_records[:, j],
            bool(people.categorical[j]),
            people.categories[j],
            name in frozen,
        )
        for j, name in enumerate(people.names)
    )
    if all(column.frozen for column in columns):
        raise InputError(
            f"At least one column must be free to change, all {len(columns)} are frozen, constant or without a value "
            f"that {100 * _LEAST_SHARE:g}% of the known people have."
        )
    return columns


def _column(
    name: str, values: Floats, categorical: bool, texts: tuple[str, ...], frozen: bool
) -> Column:
    seen, counts = np.unique(values, return_counts=True)
    is_integer = bool((seen == np.round(seen)).all())
    if categorical or (is_integer and seen.size <= LISTED):
        listed = seen
    else:
        listed = seen[:0]
    if categorical:
        domain = seen[counts >= _LEAST_SHARE * values.size]
    else:
        low, high = np.quantile(values, [_TAIL, 1 - _TAIL], method="inverted_cdf")
        spread = np.quantile(values, np.linspace(_TAIL, 1 - _TAIL, _STEPS), method="inverted_cdf")
        if listed.size:
            domain = seen[(seen >= low) & (seen <= high)]
        else:
            domain = np.unique(spread)
    if categorical:
        kind = "category"
    else:
        kind = "integer" if is_integer else "number"
    return Column(
        name=name,
        kind=kind,
        frozen=frozen or seen.size < 2 or not domain.size,
        domain=domain,
        listed=listed,
        texts=texts,
    )


_RANGES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoder:
    """How each of d columns becomes a block of inputs: indicators of values or ranges, or one number."""

    indicators: tuple[Floats | None, ...]  # values of a column with an indicator each, or None
    edges: tuple[Floats | None, ...]  # limits of a number's ranges, or None
    centre: Floats  # mean of a number that is standardised, (d,)
    spread: Floats  # its standard deviation, (d,)

    def block(self, column: int, values: Floats) -> Any:
        """Return the inputs of one column for values of shape (n,), a sparse matrix with n rows."""
        from scipy import sparse

        seen = self.indicators[column]
        edges = self.edges[column]
        if seen is None and edges is None:
            return sparse.csr_array(((values - self.centre[column]) / self.spread[column])[:, None])
        if seen is not None:
            position = np.minimum(np.searchsorted(seen, values), seen.size - 1)
            hit = np.flatnonzero(seen[position] == values)
            width = seen.size
        else:
            assert edges is not None
            position = np.searchsorted(edges, values)
            hit = np.arange(values.size)
            width = edges.size + 1
        return sparse.csr_array(
            (np.ones(hit.size), (hit, position[hit])), shape=(values.size, width)
        )

    def transform(self, records: Floats) -> Any:
        """Return the inputs of whole records (n, d), as a sparse matrix."""
        from scipy import sparse

        return sparse.hstack(
            [self.block(j, records[:, j]) for j in range(records.shape[1])], format="csr"
        )


def fit_encoder(records: Floats, columns: tuple[Column, ...], *, ranges: bool = False) -> Encoder:
    """Return the encoder of the known people's records (n, d); numbers in ranges of equal size if `ranges`."""
    inner = np.linspace(0, 1, _RANGES + 1)[1:-1]
    indicators = tuple(column.listed if column.kind == "category" else None for column in columns)
    edges = tuple(
        np.unique(np.quantile(records[:, j], inner, method="inverted_cdf"))
        if ranges and listed is None
        else None
        for j, listed in enumerate(indicators)
    )
    spread = records.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    return Encoder(indicators=indicators, edges=edges, centre=records.mean(axis=0), spread=spread)


LEAST_EXPECTED = 1.0
"""Known people expected to hold a pair under independence, from which on its absence is a rule."""

Pair = tuple[str, str, str, str]
"""Two values, as text, that must not meet in a changed record: column, value, column, value."""


def find_rules(records: Floats, columns: Sequence[Column]) -> dict[Pair, float]:
    """Return the pairs that never occur among the known people (n, d) although they should, most expected first.

    Each with how many of those people would hold both if independent.
    """
    from scipy import sparse

    places = places_of([column.listed for column in columns], records)
    values = _listed(columns)
    rows = np.repeat(np.arange(len(records)), len(columns))
    incidence = sparse.csr_array(
        (np.ones(rows.size), (rows, places.ravel())), shape=(len(records), len(values) + 1)
    )
    counts = (incidence.T @ incidence).toarray()[:-1, :-1]  # people with both of two listed values
    expected = np.outer(counts.diagonal(), counts.diagonal()) / len(records)
    owner = np.repeat(np.arange(len(columns)), [column.listed.size for column in columns])
    absent = (counts == 0) & (expected >= LEAST_EXPECTED) & (owner[:, None] < owner)
    pairs = sorted(
        np.argwhere(absent).tolist(), key=lambda pair: (-expected[*pair], *owner[pair], *pair)
    )
    return {(*values[i], *values[k]): float(expected[i, k]) for i, k in pairs}


def pair_rules(
    columns: Sequence[Column],
    found_rules: Mapping[Pair, float] = MappingProxyType({}),
    *,
    forbidden: Collection[Pair] = (),
    allowed: Collection[Pair] = (),
) -> dict[Pair, float]:
    """Return the rules found, less the pairs allowed, with those forbidden besides.

    Each with the known people who would hold both if independent; nan for a pair forbidden besides, which come first.
    Raises InputError if a pair names an unknown column or value, one column twice, or a column rules cannot speak of.
    """
    values = _listed(columns)
    gone = {_places(pair, values) for pair in allowed}
    retained = {
        indices: pair for pair in found_rules if (indices := _places(pair, values)) not in gone
    }
    fresh = {
        indices: pair for pair in forbidden if (indices := _places(pair, values)) not in retained
    }
    rules = dict.fromkeys(fresh.values(), math.nan)
    return rules | {pair: found_rules[pair] for pair in retained.values()}


def forbidden_values(columns: Sequence[Column], rules: Collection[Pair]) -> Mask:
    """Return which of all t listed values must not meet, (t + 1, t + 1); the last is any value not listed."""
    values = _listed(columns)
    barred = np.zeros((len(values) + 1, len(values) + 1), dtype=bool)
    for pair in rules:
        i, k = _places(pair, values)
        barred[i, k] = barred[k, i] = True
    return barred


def _listed(columns: Sequence[Column]) -> list[tuple[str, str]]:
    """Return all listed values, as (column, text)."""
    return [(column.name, column.text(value)) for column in columns for value in column.listed]


def _places(pair: Pair, values: list[tuple[str, str]]) -> tuple[int, int]:
    """Return where a pair's values stand among all listed ones, the lower first."""
    if len(pair) != 4:
        raise InputError(
            f"A pair rule must name a column, its value, another column and its value, got {pair!r}."
        )
    if pair[0] == pair[2]:
        raise InputError(f"A pair rule must name two different columns, got {pair[0]!r} twice.")
    for name, text in (pair[:2], pair[2:]):
        if (name, text) not in values:
            raise InputError(
                "A pair rule must name values that known people have in columns of categories or of few whole numbers, "
                f"got {text!r} in {name!r}."
            )
    first, second = sorted((values.index(pair[:2]), values.index(pair[2:])))
    return first, second


def places_of(listed: Sequence[Floats], records: Floats) -> npt.NDArray[np.intp]:
    """Return where each cell's value stands among all listed values; their number for a value that is not."""
    total = sum(values.size for values in listed)
    places = np.full(records.shape, total, dtype=np.intp)
    start = 0
    for j, values in enumerate(listed):
        if values.size:
            position = np.minimum(np.searchsorted(values, records[:, j]), values.size - 1)
            places[:, j] = np.where(values[position] == records[:, j], start + position, total)
        start += values.size
    return places


def plausible_share(
    people: TablePeople, noise: RepresentativeNoise, columns: tuple[Column, ...]
) -> Estimate:
    """Return the share of the changed records in which every pair of listed values, of two columns, has been seen.

    Changed are the records with noise, one for each person and value that needs some and has some; seen is what known
    or protected people have without noise.
    """
    changed = noise.noisy[(noise.size > 0).ravel()]
    everybody = np.vstack([people.attacker_records, people.public])
    odd = _unseen(changed, everybody, [j for j, column in enumerate(columns) if column.listed.size])
    return proportion(int((~odd).sum()), len(changed))


def _unseen(records: Floats, everybody: Floats, listed: list[int]) -> Mask:
    """Return which records hold a pair of values of two of these columns that nobody has."""
    values = [np.unique(everybody[:, j]) for j in listed]
    seen_indices = places_of(values, everybody[:, listed])
    record_indices = places_of(values, records[:, listed])
    odd = np.zeros(len(records), dtype=bool)
    for a, b in combinations(range(len(listed)), 2):
        width = seen_indices[:, b].max() + 1
        odd |= ~np.isin(
            record_indices[:, a] * width + record_indices[:, b],
            np.unique(seen_indices[:, a] * width + seen_indices[:, b]),
        )
    return odd
