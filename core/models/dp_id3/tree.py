"""A grown tree as flat arrays: what each node asks, where its children are, and what a leaf answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A multiway tree; the children of a node stand side by side, one for each value of the attribute's domain.

    Attributes
    ----------
    attribute : ndarray of shape (N,)
        Attribute a node asks for, -1 in leaves.
    first : ndarray of shape (N,)
        Index of the child for code 0; 0 in leaves.
    answer : ndarray of shape (N, C)
        Probabilities of the classes in leaves.
    level : ndarray of shape (N,)
        Levels below the root.
    """

    attribute: Ints
    first: Ints
    answer: npt.NDArray[np.float64]
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
