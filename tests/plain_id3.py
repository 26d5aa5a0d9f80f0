"""ID3 as a textbook writes it: recursive, one record at a time, compared by exact fractions instead of logarithms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import prod

__all__ = ["plain_id3", "plain_shares"]

Record = tuple[int, ...]
Node = tuple[int, list["Node"]] | Counter[int]


def plain_id3(records: Sequence[Record], labels: Sequence[int], sizes: Sequence[int], depth: int) -> Node:
    """Return the tree: (column, one child a value), or the class counts of a leaf."""
    return _grown(list(zip(records, labels, strict=True)), tuple(range(len(sizes))), sizes, depth, Counter(labels))


def _grown(
    people: list[tuple[Record, int]], open_: tuple[int, ...], sizes: Sequence[int], depth: int, above: Counter[int]
) -> Node:
    counts = Counter(label for _, label in people)
    if not people:
        return above
    if len(counts) == 1 or not open_ or depth == 0:
        return counts
    best = max(open_, key=lambda column: (_purity(people, column), -column))
    left = tuple(column for column in open_ if column != best)
    parts = [[p for p in people if p[0][best] == value] for value in range(sizes[best])]
    return best, [_grown(part, left, sizes, depth - 1, counts) for part in parts]


def _purity(people: list[tuple[Record, int]], column: int) -> Fraction:
    """Return 2 to the power of minus the conditional entropy times the number of people, exactly."""
    cells = Counter((record[column], label) for record, label in people)
    values = Counter(record[column] for record, _ in people)
    return Fraction(prod(n**n for n in cells.values()), prod(n**n for n in values.values()))


def plain_shares(tree: Node, record: Record, n_classes: int) -> list[float]:
    """Return the shares of the classes in the record's leaf."""
    while not isinstance(tree, Counter):
        tree = tree[1][record[tree[0]]]
    return [tree[label] / tree.total() for label in range(n_classes)]
