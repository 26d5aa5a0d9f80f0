"""A private ID3 tree: its noisy counts, its budget and public domains, and how it grows from noisy counts alone.

The budget. A tree of depth D has D + 1 levels, and the budget B is split into 2(D + 1) slots of ε′ = B / (2(D + 1))
(Friedman and Schuster 2010, algorithm 1): each level asks for the node's size, then either for the counts of all
attributes still open, which share a slot, or for the class counts of a leaf. Nodes of one level hold different records,
so what they spend does not add up (parallel composition): the tree costs what its costliest path costs. Neighbours are
two tables of which one has a record more; one record is in one cell of every count table, so a table's sensitivity is
1.

Three accountings. "savings": of an open attribute only the joint counts N_jc are released, at ε′ / |A|; the N_j are
their sums; a leaf spends all that its path has left; at the last level, where nothing is to be decided, no size is
asked. "literal": N_j and N_jc are released separately, at ε′ / (2|A|) each, and every leaf spends ε′. "naive": every
count gets ε, as if nothing added up, and the tree stops where the true counts are pure or empty; the first costs a
multiple of ε, the second has no finite cost at all. It exists only to be shown.

A domain is a whole number k (the column holds the codes 0 to k - 1) or a pair (low, high) of numbers (which go into
`BINS` bins of equal width; a number outside goes into the bin at its edge). A domain read from the records instead is
no secret kept: that a value occurs, or how large the largest is, may be one person's doing.

Growth. The tree grows level by level, all nodes of a level at once. Friedman and Schuster (2010), algorithm 1, with ε′
of the ledger: a node with noisy size N becomes a leaf if no attribute is left, if the depth is reached, or if N / (t
|C|) < √2 / ε′, with t the largest domain: then a cell would hold less than the noise. Otherwise it asks the attributes
still open for their counts, and gets a child for every value of the best one's domain, whether anybody is there or not.
An attribute is used once on a path, so all nodes of a level have as many attributes open. Every count of records passes
through `noisy_counts` before it decides anything.

Without noise (ε = ∞) the size has nothing to say; then a node is a leaf where it is empty, and answers as its parent
would, or where it holds one class only: the plain ID3 tree. The naive tree stops the same way, on its true counts,
which is one of the two reasons why it is not private.

The best attribute has the largest score V = Σ_j N_j Σ_c p_jc log2 p_jc, p_jc = N_jc / Σ_c N_jc, with counts N_jc of
value j and class c: the negated conditional entropy, in bits times records. The information gain is V plus what is the
same for all attributes of a node (Quinlan 1986). Noisy counts below 0 count as 0.
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
from ..base.validation import Floats, Ints, Mask

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
    def is_exact(self) -> bool:
        """Whether there is no noise."""
        return math.isinf(self.requested_epsilon)

    @property
    def stops_on_true_counts(self) -> bool:
        """Whether nodes become leaves by counts without noise."""
        return self.is_exact or self.accounting == "naive"

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
    sizes = np.full(len(domains), BINS, dtype=np.int64)
    for j, entry in enumerate(domains):
        if isinstance(entry, int):
            sizes[j] = entry
    return sizes


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
    domains: list[Entry] = []
    for j in range(x.shape[1]):
        if is_code[j]:
            domains.append(int(high[j]) + 1)
        else:
            domains.append((float(low[j]), float(high[j])))
    return tuple(domains)


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


_TIE = 1e-8  # bits times records; rounding stays far below, unequal gains differ by far more


def noisy_score(joint: Ints, values: Ints) -> Floats:
    """Return V of an attribute in each node, from counts of value and class (m, k, C) and of the values (m, k)."""
    # V = Σ_j N_j Σ_c p_jc log2 p_jc with p_jc = N_jc / S_j, S_j = Σ_c N_jc.
    clipped = np.maximum(joint, 0).astype(np.float64)
    sums = clipped.sum(axis=2)
    # Σ_c p log p = (Σ_c N_jc log N_jc) / S − log S
    inner = _xlogx(clipped).sum(axis=2) / np.maximum(sums, 1) - np.log2(np.maximum(sums, 1))
    return np.asarray((np.maximum(values, 0) * inner).sum(axis=1))


def exact_score(keys: Ints, m: int, k: int, n_classes: int, table: Floats) -> Floats:
    """Return V of an attribute in each of m nodes, from the records themselves; made for many small nodes.

    `keys` are (node * k + value) * C + class of each of r records, `table` x log2 x of the whole numbers from 0 to r.
    """
    if m * k * n_classes <= 4 * len(keys):
        # Without noise N_j = S_j: V = Σ_jc N_jc log2 N_jc - Σ_j N_j log2 N_j.
        joint = np.bincount(keys, minlength=m * k * n_classes).reshape(m, k, n_classes)
        return np.asarray((table[joint].sum(axis=2) - table[joint.sum(axis=2)]).sum(axis=1))
    # More cells than records: only those that hold somebody are visited, as runs of equal keys.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A multiway tree of N nodes; a node's children stand side by side, one for each value of its attribute's domain.

    By node: the attribute it asks for, -1 in leaves; its `first` child, for code 0, 0 in leaves; probabilities of the
    classes in leaves, (N, C); its level.
    """

    attribute: Ints
    first: Ints
    answer: Floats
    level: Ints

    def leaves(self, codes: Ints) -> Ints:
        """Return the leaf of each record, shape (n,); all records go down a level at once."""
        at = np.zeros(len(codes), dtype=np.int64)
        inside = np.flatnonzero(self.attribute[at] >= 0)
        while len(inside):
            node = at[inside]
            at[inside] = self.first[node] + codes[inside, self.attribute[node]]
            inside = inside[self.attribute[at[inside]] >= 0]
        return at


_MOST_NODES = 5_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Level:
    """The m nodes of one level, or those of them that go on, and the r records inside.

    By record: codes (d, r), label and node. By node: attributes not yet used on the way to it (m, d), and the class
    counts released above it (m, C), none below 0, all 0 where there are none.
    """

    number: int
    columns: Ints
    labels: Ints
    at: Ints
    open: Mask
    above: Floats


def grow(
    columns: Ints,
    labels: Ints,
    *,
    sizes: Ints,
    n_classes: int,
    ledger: BudgetLedger,
    rng: np.random.Generator,
) -> Tree:
    """Return the tree of some records: codes `columns` of shape (d, n), 0 to `sizes` - 1, and labels (n,)."""
    level = _Level(
        number=0,
        columns=columns,
        labels=labels,
        at=np.zeros(len(labels), dtype=np.int64),
        open=np.ones((1, len(sizes)), dtype=bool),
        above=np.zeros((1, n_classes)),
    )
    parts: list[tuple[Ints, Ints, Floats]] = []
    n_nodes = 1
    while True:
        # Which nodes Build_SuLQ_ID3 makes leaves, and what these answer.
        goes_on, answer = _stops(level, sizes, ledger, rng)
        attribute = np.full(len(goes_on), -1)
        first = np.zeros(len(goes_on), dtype=np.int64)
        parts.append((attribute, first, answer))
        if not goes_on.any():
            return _joined(parts)
        splitting = _those(level, goes_on)
        # Ā = argmax over open attributes of V_A.
        if ledger.is_exact:
            best, released = _exact_best(splitting, sizes)
        else:
            best, released = _noisy_best(splitting, sizes, ledger, rng)
        offsets = np.cumsum(sizes[best]) - sizes[best]
        attribute[goes_on] = best
        # Partition of T by Ā: a child for every value of the domain, empty ones too.
        first[goes_on] = n_nodes + offsets
        n_nodes += int(sizes[best].sum())
        if n_nodes > _MOST_NODES:
            raise InputError(
                f"The tree may have at most {_MOST_NODES:,} nodes, got more; lower epsilon or max_depth."
            )
        level = _children(splitting, best, offsets, released, sizes)


def _stops(
    level: _Level, sizes: Ints, ledger: BudgetLedger, rng: np.random.Generator
) -> tuple[Mask, Floats]:
    """Return which nodes of a level go on, shape (m,), and what the others answer, shape (m, C), 0 in the former."""
    (m, c) = level.above.shape
    counts = np.bincount(level.at * c + level.labels, minlength=m * c).reshape(m, c)
    # A = ∅ or d = 0: no size is asked.
    if level.number == ledger.depth:
        goes_on = np.zeros(m, dtype=bool)
    elif ledger.stops_on_true_counts:
        # Exact or naive: leaf where one class is left, or nobody.
        goes_on = np.asarray(counts.max(axis=1) < counts.sum(axis=1))
    else:
        # N_T = NoisyCount_ε'(T); leaf if N_T / (t |C|) < √2 / ε', the deviation of the noise.
        epsilon = ledger.size(level.number).table_epsilon
        noisy = noisy_counts(counts.sum(axis=1), epsilon, rng)
        goes_on = np.asarray(noisy / (sizes.max() * c) >= math.sqrt(2) / epsilon)
    answer = np.zeros((m, c))
    answer[~goes_on] = _answers(counts[~goes_on], level.above[~goes_on], level.number, ledger, rng)
    return goes_on, answer


def _answers(
    counts: Ints, above: Floats, number: int, ledger: BudgetLedger, rng: np.random.Generator
) -> Floats:
    """Return what leaves answer: shares of their noisy class counts, or of their parents' where those say nothing."""
    # Leaf: N_c = NoisyCount(T_c) for every class c.
    noisy = noisy_counts(counts, ledger.leaf(number), rng)
    from_above: Mask = np.zeros(len(noisy), dtype=bool)
    # All N_c at 0 or below: noise alone, so the counts released above answer (post-processing).
    if ledger.is_exact or ledger.accounting == "savings":
        from_above = np.asarray((noisy <= 0).all(axis=1))
    elif ledger.stops_on_true_counts:  # the naive tree has no children for values it does not see
        from_above = np.asarray(~counts.any(axis=1))
    votes = np.where(from_above[:, None], above, noisy)
    clipped = np.maximum(votes, 0)
    largest = votes == votes.max(axis=1, keepdims=True)
    clipped = np.where(
        clipped.any(axis=1, keepdims=True), clipped, largest
    )  # nothing above 0: all to the largest
    return np.asarray(clipped / clipped.sum(axis=1, keepdims=True))


def _those(level: _Level, goes_on: Mask) -> _Level:
    """Return the nodes of a level that go on, numbered again, with their records."""
    inside = np.flatnonzero(goes_on[level.at])
    renumbered = np.cumsum(goes_on) - 1
    return _Level(
        number=level.number,
        columns=np.take(level.columns, inside, axis=1),
        labels=level.labels[inside],
        at=renumbered[level.at[inside]],
        open=level.open[goes_on],
        above=level.above[goes_on],
    )


def _exact_best(level: _Level, sizes: Ints) -> tuple[Ints, Floats]:
    """Return the best attribute of each node, shape (m,), and the class counts, shape (m, C), without noise."""
    (m, d) = level.open.shape
    c = level.above.shape[1]
    integers = np.arange(len(level.at) + 1, dtype=np.float64)
    # x log2 x of every count there can be.
    table = integers * np.log2(np.maximum(integers, 1))
    scores = np.full((m, d), -np.inf)
    for a, k in enumerate(sizes.tolist()):
        nodes, keys = _keys(level, a, k, c)
        scores[nodes, a] = exact_score(keys, len(nodes), k, c, table)
    counts = np.bincount(level.at * c + level.labels, minlength=m * c).reshape(m, c)
    return best_attribute(scores), counts.astype(np.float64)


def _noisy_best(
    level: _Level, sizes: Ints, ledger: BudgetLedger, rng: np.random.Generator
) -> tuple[Ints, Floats]:
    """Return the attribute of each node that is best by noisy counts, and the class counts it released."""
    (m, d) = level.open.shape
    c = level.above.shape[1]
    # The slot ε' of the level, shared by the |A| attributes still open.
    epsilon = ledger.attributes(level.number).table_epsilon
    scores = np.full((m, d), -np.inf)
    released = np.zeros((d, m, c))
    for a, k in enumerate(sizes.tolist()):
        nodes, keys = _keys(level, a, k, c)
        joint = np.bincount(keys, minlength=len(nodes) * k * c).reshape(len(nodes), k, c)
        # N_jc = NoisyCount(T_jc).
        noisy = noisy_counts(joint, epsilon, rng)
        if ledger.accounting == "savings":
            # "savings": N_j = Σ_c N_jc costs nothing; else N_j is a count of its own ("literal").
            values = noisy.sum(axis=2)
        else:
            values = noisy_counts(joint.sum(axis=2), epsilon, rng)
        scores[nodes, a] = noisy_score(noisy, values)
        # Class counts of the node as a by-product: Σ_j N_jc.
        released[a, nodes] = noisy.sum(axis=1)
    best = best_attribute(scores)
    counts = np.maximum(released[best, np.arange(m)], 0)
    return best, np.where(counts.any(axis=1, keepdims=True), counts, level.above)


def _keys(level: _Level, a: int, k: int, c: int) -> tuple[Ints, Ints]:
    """Return the nodes where an attribute is open, numbered again, and (node * k + value) * C + class of records."""
    is_open = level.open[:, a]
    if is_open.all():
        return np.arange(len(is_open)), (level.at * k + level.columns[a]) * c + level.labels
    inside = np.flatnonzero(is_open[level.at])
    at = (np.cumsum(is_open) - 1)[level.at[inside]]
    return np.flatnonzero(is_open), (at * k + level.columns[a, inside]) * c + level.labels[inside]


def _children(level: _Level, best: Ints, offsets: Ints, released: Floats, sizes: Ints) -> _Level:
    """Return the children: one for each value of the domain of a node's best attribute, in the nodes' order."""
    nodes = np.arange(len(best))
    open_ = level.open.copy()
    # A \ Ā: an attribute is asked once on a path, so siblings stay disjoint and compose in parallel.
    open_[nodes, best] = False
    parents = np.repeat(nodes, sizes[best])
    return _Level(
        number=level.number + 1,
        columns=level.columns,
        labels=level.labels,
        at=offsets[level.at] + level.columns[best[level.at], np.arange(len(level.at))],
        open=open_[parents],
        above=released[parents],
    )


def _joined(parts: list[tuple[Ints, Ints, Floats]]) -> Tree:
    """Return the levels of a tree as one."""
    attribute, first, answer = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    level = np.repeat(np.arange(len(parts)), [len(nodes) for nodes, *_ in parts])
    return Tree(attribute=attribute, first=first, answer=answer, level=level)
