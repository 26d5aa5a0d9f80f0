"""What a fitted model reveals by what it is made of, before anybody asks it: small leaves, records kept, size.

The idea is that of the structural attack of SACRO-ML. A leaf with few training people shows their
labels; a model of support vectors or nearest neighbours holds training records themselves; one with as many numbers as
it had records can memorise them. An ONNX file keeps records, but not how many training people a leaf holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.serialize import Result
from ..stats.estimates import count

FEWEST_IN_LEAF = 5
"""A leaf with fewer training people is small."""

_FREE = 10
"""Fewest training records beyond the numbers a model has learned."""

_MOST_PARTS = 200_000
"""Parts of a model that are looked at."""

STORED_RECORDS = {
    "support_vectors_": "support vectors",
    "_fit_X": "nearest neighbours",
    "X_train_": "a Gaussian process",
}
"""Attribute that holds training records, row by row -> what they serve as."""

_LEARNED = ("coef_", "intercept_", "coefs_", "intercepts_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure(Result):
    """What a model is made of: leaves, those of fewer than `FEWEST_IN_LEAF` training people, records kept, numbers.

    `smallest` is the number of training people in the smallest leaf, 0 where there is none or it is not known; `rows`
    are the training records as far as the trees say it or is known otherwise, else 0.
    """

    leaves: int = 0
    small_leaves: int = 0
    smallest: int = 0
    stored_records: int = 0
    stored_as: str = ""
    parameters: int = 0
    """Numbers learned: one for each leaf, and coefficients."""
    rows: int = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """What of this reveals training records, a sentence each."""
        sentences = []
        if self.stored_records:
            sentences.append(
                f"The model holds {count(self.stored_records)} training records themselves ({self.stored_as}): "
                "anybody with the "
                "model can read them."
            )
        if self.small_leaves:
            sentences.append(
                f"Leaves of the model with fewer than {FEWEST_IN_LEAF} training people: {count(self.small_leaves)} of "
                f"{count(self.leaves)}; in the smallest: {count(self.smallest)}. Such leaves can reveal these people's "
                "labels."
            )
        if self.rows and self.parameters > self.rows - _FREE:
            sentences.append(
                f"The model has {count(self.parameters)} learned numbers for {count(self.rows)} training records: "
                "enough to memorise them."
            )
        return tuple(sentences)


UNKNOWN = Structure()
"""Of a model that was not looked at."""


def structure_of(estimator: Any, *, rows: int = 0) -> Structure:
    """Return what a fitted model of core, scikit-learn or fairlearn is made of; `rows` where they are known."""
    people = []
    roots = [0]
    sampled = False
    n_stored = 0
    kept_as = ""
    parameters = 0
    for part in _parts(estimator):
        state = getattr(part, "__dict__", {})
        share = state.get("subsample")  # a name or a number of records elsewhere
        sampled |= bool(state.get("bootstrap")) or (isinstance(share, float) and share < 1.0)
        for name, serves_as in STORED_RECORDS.items():
            if (
                (records := state.get(name)) is not None
                and np.ndim(records) == 2
                and records.shape[0] > n_stored
            ):
                n_stored = int(records.shape[0])
                kept_as = serves_as
        for name in _LEARNED:
            arrays = state.get(name, ())
            parameters += sum(
                np.size(array) for array in (arrays if isinstance(arrays, list) else [arrays])
            )
        if "leaf_people_" in state:
            people.append(state["leaf_people_"])
            roots.append(int(people[-1].sum()))
        elif hasattr(part, "n_node_samples"):
            people.append(np.asarray(part.n_node_samples)[np.asarray(part.children_left) < 0])
            roots.append(int(part.n_node_samples[0]))
        elif type(part).__name__ == "TreePredictor":
            people.append(part.nodes["count"][part.nodes["is_leaf"] == 1])
            roots.append(int(part.nodes["count"][0]))
    sizes = np.concatenate([np.empty(0, dtype=np.int64), *people])
    return Structure(
        leaves=sizes.size,
        small_leaves=int(np.count_nonzero(sizes < FEWEST_IN_LEAF)),
        smallest=int(sizes.min()) if sizes.size else 0,
        stored_records=n_stored,
        stored_as=kept_as,
        parameters=parameters + sizes.size,
        rows=rows
        or (
            0 if sampled else max(roots)
        ),  # a tree of a forest counts the records drawn for it alone
    )


_ROOMS = ("sklearn", "fairlearn", "core")


def _parts(estimator: Any) -> Iterator[Any]:
    """Yield an estimator and the fitted parts inside it, each once."""
    waiting: list[Any] = [estimator]
    seen: set[int] = set()
    while waiting and len(seen) < _MOST_PARTS:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, dict):
            waiting.extend(part.values())
        elif isinstance(part, (list, tuple)) or (
            isinstance(part, np.ndarray) and part.dtype == object
        ):
            waiting.extend(np.ravel(part) if isinstance(part, np.ndarray) else part)
        elif type(part).__module__.partition(".")[0] in _ROOMS:
            yield part
            waiting.extend(getattr(part, "__dict__", {}).values())
        elif type(part).__module__.startswith("pandas") and hasattr(part, "tolist"):
            waiting.extend(part.tolist())  # fairlearn keeps its trees in a series


def onnx_structure(graph: Any) -> Structure:
    """Return what a graph, as `core.models.onnx_format.read_graph` reads it, keeps of training records."""
    vectors = 0
    operators = set()
    for node in graph.node:
        operators.add(node.op_type)
        vectors += sum(
            sum(attribute.ints)
            for attribute in node.attribute
            if attribute.name == "vectors_per_class"
        )
    if vectors:
        return Structure(stored_records=vectors, stored_as="support vectors")
    tables = [int(tensor.dims[0]) for tensor in graph.initializer if len(tensor.dims) == 2]
    if "TopK" in operators and tables:  # the nearest of these rows
        return Structure(stored_records=max(tables), stored_as="nearest neighbours")
    return UNKNOWN
