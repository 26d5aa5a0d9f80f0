"""What a private tree may see and spend: noisy counts, the budget's slots, public domains.

A tree of depth D has D + 1 levels, and the budget B is split into 2(D + 1) slots of ε′ = B / (2(D + 1)) (Friedman and
Schuster 2010, algorithm 1): each level asks for the node's size, then either for the counts of all attributes still
open, which share a slot, or for the class counts of a leaf. Nodes of one level hold different records, so what they
spend does not add up (parallel composition): the tree costs what its costliest path costs. Neighbours are two tables
of which one has a record more; one record is in one cell of every count table, so a table's sensitivity is 1.

Three accountings. "savings": of an open attribute only the joint counts N_jc are released, at ε′ / |A|; the N_j are
their sums; a leaf spends all that its path has left; at the last level, where nothing is to be decided, no size is
asked. "literal": N_j and N_jc are released separately, at ε′ / (2|A|) each, and every leaf spends ε′. "naive": every
count gets ε, as if nothing added up, and the tree stops where the true counts are pure or empty; the first costs a
multiple of ε, the second has no finite cost at all. It exists only to be shown.

A domain is a whole number k (the column holds the codes 0 to k - 1) or a pair (low, high) of numbers (which go into
`BINS` bins of equal width; a number outside goes into the bin at its edge). A domain read from the records instead is
no secret kept: that a value occurs, or how large the largest is, may be one person's doing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ..base.errors import InputError
from ..base.serialize import Result

if TYPE_CHECKING:
    import pandas

_LEAST = 1e-14
"""Smallest epsilon of one count: its noise stays below 45 / epsilon, which is below 2^53."""


def noisy_counts(
    counts: npt.NDArray[np.int64], epsilon: float, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Return counts with independent discrete Laplace noise, P(x) proportional to exp(-ε|x|), of whole numbers.

    Private for a count that one record changes by 1 (Ghosh, Roughgarden and Sundararajan 2009); as they are where
    epsilon is infinite. Laplace noise drawn as floating-point numbers leaves gaps that give the true count away
    (Mironov 2012); whole numbers have none below 2^53. The two geometric draws come from a pseudo-random generator with
    53-bit probabilities, so the law holds up to about 1e-16 a draw, and the seed gives the noise.

    Raises `InputError` if epsilon is below 1e-14: beyond 2^63 all draws would be the same number and cancel.
    """
    if math.isinf(epsilon):
        return counts
    if not epsilon >= _LEAST:
        raise InputError(
            f"The epsilon of one count must be at least {_LEAST:g}, got {epsilon:g}; ask for fewer counts."
        )
    stop = -math.expm1(-epsilon)
    return counts + rng.geometric(stop, size=counts.shape) - rng.geometric(stop, size=counts.shape)


ACCOUNTINGS = ("savings", "literal", "naive")
"""Ways to split the budget; the last is not private."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry(Result):
    """One slot of one level of a path; level 0 is the root.

    "node size", "attributes" or "leaf counts" are asked; "true counts" are what the naive tree reads, without noise, in
    place of a node's size. So many count tables are released, `each` with its epsilon; a record is in one cell of each.
    """

    level: int
    slot: str
    tables: int
    table_epsilon: float

    @property
    def epsilon(self) -> float:
        """Return what the slot spends."""
        return self.tables * self.table_epsilon


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetLedger(Result):
    """What a tree spends; it depends on the settings and the public domains only, never on the records.

    The accounting is one of `ACCOUNTINGS`, `requested_epsilon` the one the tree was trained with; the tree has at most
    `depth` levels below the root.
    """

    accounting: str
    requested_epsilon: float
    depth: int
    n_attributes: int

    @property
    def slot(self) -> float:
        """Return ε′, the budget of one slot; of the naive tree the ε of one count."""
        if self.accounting == "naive":
            return self.requested_epsilon
        return self.requested_epsilon / (2 * (self.depth + 1))

    @property
    def entries(self) -> tuple[LedgerEntry, ...]:
        """Return the slots of a path of full length."""
        return self.path(self.depth)

    @property
    def total(self) -> float:
        """Return what the tree costs: the sum over a path of full length, infinite for the naive tree."""
        return math.fsum(entry.epsilon for entry in self.entries)

    @property
    def counts_total(self) -> float:
        """Return what the noisy counts of a path of full length cost, leaving out what is read without noise."""
        return math.fsum(entry.epsilon for entry in self.entries if entry.slot != "true counts")

    def path(self, level: int) -> tuple[LedgerEntry, ...]:
        """Return the slots of a path whose leaf is at this level, 0 to `depth`."""
        slots = [
            entry for above in range(level) for entry in (self.size(above), self.attributes(above))
        ]
        if self.accounting != "savings" or level < self.depth:
            slots.append(self.size(level))
        return (
            *slots,
            LedgerEntry(level=level, slot="leaf counts", tables=1, table_epsilon=self.leaf(level)),
        )

    def size(self, level: int) -> LedgerEntry:
        """Return the entry of a node's size at this level; the naive tree reads the counts themselves."""
        if self.accounting == "naive":
            return LedgerEntry(level=level, slot="true counts", tables=1, table_epsilon=math.inf)
        return LedgerEntry(level=level, slot="node size", tables=1, table_epsilon=self.slot)

    def attributes(self, level: int) -> LedgerEntry:
        """Return the entry of the attributes still open at this level."""
        tables = self.n_attributes - level
        if self.accounting == "savings":
            return LedgerEntry(
                level=level, slot="attributes", tables=tables, table_epsilon=self.slot / tables
            )
        if self.accounting == "naive":
            epsilon = self.slot
        else:
            epsilon = self.slot / (2 * tables)
        return LedgerEntry(level=level, slot="attributes", tables=2 * tables, table_epsilon=epsilon)

    def leaf(self, level: int) -> float:
        """Return the epsilon of the class counts of a leaf at this level."""
        if self.accounting != "savings":
            return self.slot
        spent_slots = 2 * level + (level < self.depth)  # slots of the path so far
        return (2 * (self.depth + 1) - spent_slots) * self.slot

    def to_frame(self) -> pandas.DataFrame:
        """Return one row a slot of a path of full length."""
        import pandas as pd

        return pd.DataFrame(
            [{**entry.to_dict(), "epsilon": entry.epsilon} for entry in self.entries]
        )


BINS = 10
"""Bins of a column of numbers."""

_MOST_CODES = 100
_MOST_VALUES = 1_000_000

Entry = int | tuple[float, float]


Domains = tuple[Entry, ...]
"""The domains of all columns."""


def domain_sizes(domains: Domains) -> npt.NDArray[np.int64]:
    """Return how many codes each column has, shape (d,)."""
    return np.array(
        [entry if isinstance(entry, int) else BINS for entry in domains], dtype=np.int64
    )


def codes_of(x: npt.NDArray[np.float64], domains: Domains) -> npt.NDArray[np.int64]:
    """Return the records as codes, shape (n, d), in Fortran order: columns are read whole.

    Raises `InputError` if a column holds a value outside its codes.
    """
    coded = np.empty(x.shape, dtype=np.int64, order="F")
    for j, entry in enumerate(domains):
        coded[:, j] = (
            _checked(x[:, j], entry, j) if isinstance(entry, int) else _bins(x[:, j], *entry)
        )
    return coded


def public_domains(domains: Sequence[object], d: int) -> Domains:
    """Return the domains somebody gives for d columns, checked."""
    entries = list(domains)
    if len(entries) != d:
        raise InputError(
            f"domains must have one entry a column, got {len(entries)} for {d} columns."
        )
    return tuple(_entry(entry, j) for j, entry in enumerate(entries))


def read_domains(x: npt.NDArray[np.float64]) -> Domains:
    """Return the domains as the records show them: few whole numbers from 0 on are codes, anything else numbers."""
    low = x.min(axis=0)
    high = x.max(axis=0)
    is_code = (x % 1 == 0).all(axis=0) & (low >= 0) & (high < _MOST_CODES)
    return tuple(
        int(high[j]) + 1 if is_code[j] else (float(low[j]), float(high[j]))
        for j in range(x.shape[1])
    )


def _entry(entry: object, j: int) -> Entry:
    """Return one column's domain, checked."""
    if isinstance(entry, (int, np.integer)) and not isinstance(entry, bool):
        if not 1 <= entry <= _MOST_VALUES:
            raise InputError(
                f"The domain of column {j} must have 1 to {_MOST_VALUES:,} codes, got {entry}."
            )
        return int(entry)
    try:
        low, high = (float(limit) for limit in entry)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise InputError(
            f"The domain of column {j} must be a number of codes or a pair (low, high), got {entry!r}."
        ) from None
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InputError(
            f"The domain of column {j} must go from a number to a larger one, got {low} to {high}."
        )
    return low, high


def _checked(column: npt.NDArray[np.float64], k: int, j: int) -> npt.NDArray[np.float64]:
    """Return a column of codes if all of them are in its domain."""
    wrong = (column < 0) | (column >= k) | (column % 1 != 0)
    if wrong.any():
        raise InputError(
            f"Column {j} must hold whole numbers from 0 to {k - 1}, got {column[wrong][0]:g}."
        )
    return column


def _bins(column: npt.NDArray[np.float64], low: float, high: float) -> npt.NDArray[np.int64]:
    """Return the bin of each number; the upper edge belongs to the last bin."""
    width = high / BINS - low / BINS  # halves of the range first: it may be larger than any float
    if width == 0:
        return np.zeros(len(column), dtype=np.int64)
    inside = np.clip(column, low, high)
    return np.clip((inside / width - low / width).astype(np.int64), 0, BINS - 1)
