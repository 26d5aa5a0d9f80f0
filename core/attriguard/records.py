"""Public records, the entries that may change, and the noise found for them.

Records are searched as sparse rows whatever they come as; what goes out looks like what came in. Values are set, never
added, because x + (v − x) is not always v in floating point. "Existing" entries are those that are not 0 in the
original record, "new" ones are 0 there (Jia and Gong 2018, section 3.2); what was changed on the way does not move
between the two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.serialize import Result

POLICIES = {
    "modify_exist": "Change ratings that are there",
    "add_new": "Add new ratings only",
    "modify_add": "Change ratings and add new ones",
}
"""Noise-type policies, and what to call them."""
WIDEST = "modify_add"
"""The policy to fall back to where another leaves no solution."""


def changes_existing(policy: str) -> bool:
    """Return whether entries that are not 0 in the original record may change."""
    return policy != "add_new"


def changes_new(policy: str) -> bool:
    """Return whether entries that are 0 in the original record may change."""
    return policy != "modify_exist"


Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

Report = Callable[[int, int], None]
"""Told how much is done, and of how much."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Changes:
    """Entries set to new values, in q tasks; a task is one person with one wanted value."""

    found: Bools  # (q,): tasks for which the search ended well; the others have no changes
    task: Ints = field(repr=False)  # (c,), rising
    column: Ints = field(repr=False)  # which entry of the task is changed, each once
    value: Floats = field(repr=False)  # what it is set to

    def sizes(self) -> Ints:
        """Return the number of entries changed in every task, (q,)."""
        return np.bincount(self.task, minlength=self.found.size)

    def only(self, kept: Bools) -> Changes:
        """Return the changes without those of tasks that are not `kept` (q,), which are not found any more."""
        inside = kept[self.task]
        return Changes(
            found=self.found & kept, task=self.task[inside], column=self.column[inside], value=self.value[inside]
        )


def join(tasks: int, parts: list[tuple[Ints, Changes]]) -> Changes:
    """Return what was found for some of the tasks at a time, each part, one at least, with its tasks' numbers."""
    found = np.zeros(tasks, dtype=bool)
    for numbers, part in parts:
        found[numbers] |= part.found
    task = np.concatenate([numbers[part.task] for numbers, part in parts])
    order = np.argsort(task, kind="stable")
    column = np.concatenate([part.column for _, part in parts])
    value = np.concatenate([part.value for _, part in parts])
    return Changes(found=found, task=task[order], column=column[order], value=value[order])


def read_records(public: Any, n_columns: int) -> Any:
    """Return public records as a sparse matrix (u, d) in rows, sorted, without zeros that are stored.

    Raises InputError if they are not u rows of `n_columns` numbers in [0, 1].
    """
    from scipy import sparse

    rows = public if sparse.issparse(public) else np.asarray(public)
    if rows.ndim != 2 or rows.shape[1] != n_columns:
        raise InputError(f"public must have one row a person and {n_columns} columns, got shape {rows.shape}.")
    if rows.dtype.kind not in "biuf":
        raise InputError(f"public must hold numbers, got values of type {rows.dtype}.")
    records = sparse.csr_array(rows, dtype=np.float64, copy=True)
    records.sum_duplicates()
    wrong = records.data[~((records.data >= 0) & (records.data <= 1))]  # nan is wrong too
    if wrong.size:
        raise InputError(f"public must hold values in [0, 1], got {wrong[0]:g}.")
    records.eliminate_zeros()
    return records


def spread(records: Any, people: Ints) -> tuple[Ints, Ints]:
    """Return, for every stored entry of these people's rows, whose it is (place in `people`) and where it is stored."""
    counts = np.diff(records.indptr)[people]
    owner = np.repeat(np.arange(people.size), counts)
    first = np.repeat(records.indptr[people] - np.cumsum(counts) + counts, counts)
    return owner, first + np.arange(owner.size)


def with_changes(public: Any, records: Any, people: Ints, changes: Changes) -> Any:
    """Return every task's record (q, d) with its changes, sparse as `public` is, and of its type.

    `public` are the records (u, d) as they came, `records` as `read_records` returns them; `people` (q,) whose each is.
    """
    from scipy import sparse

    if not sparse.issparse(public):
        rows = np.asarray(public)[people].astype(np.result_type(np.asarray(public).dtype, np.float32), copy=False)
        rows[changes.task, changes.column] = changes.value
        return rows
    made = _changed_rows(records, people, changes)
    kind = sparse.csr_array if isinstance(public, sparse.sparray) else sparse.csr_matrix
    return kind(made)


def _changed_rows(records: Any, people: Ints, changes: Changes) -> Any:
    """Return the tasks' sparse rows: what was there and is not changed, and what is changed to something but 0."""
    from scipy import sparse

    q, d = people.size, records.shape[1]
    owner, place = spread(records, people)
    before, after = owner * d + records.indices[place], changes.task * d + changes.column
    kept, set_to = ~np.isin(before, after), changes.value != 0
    entry = np.concatenate([before[kept], after[set_to]])
    value = np.concatenate([records.data[place[kept]], changes.value[set_to]])
    order = np.argsort(entry)
    row, column = np.divmod(entry[order], d)
    wide = np.int32 if max(entry.size, q, d) < 2**31 else np.int64  # liblinear takes no other than 32 bits
    start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=q))])
    return sparse.csr_array((value[order], column.astype(wide), start.astype(wide)), shape=(q, d))


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyRecords(Result):
    """Records changed until the defender's classifier reads one value each.

    `noisy`, (u, d), is like the public records; a record for which nothing was found is as it was. `size`, (u,), are
    the entries changed; `found` says whether the classifier, asked again, reads the wanted value; `fallback` where the
    policy left no solution and any entry was allowed to change instead.
    """

    noisy: Any = field(repr=False)
    size: npt.NDArray[np.int64] = field(repr=False)
    found: npt.NDArray[np.bool_] = field(repr=False)
    fallback: npt.NDArray[np.bool_] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise(Result):
    """The representative noise of u people for each of m values (Jia and Gong 2018, section 4.2).

    Row k * m + i of `noisy`, (u * m, d), is person k's record with the noise for value i: the clean record where i is
    what the classifier reads anyway (`predicted`, (u,)), and where no noise for i was found. `size`, `found` and
    `fallback`, (u, m), are as of `NoisyRecords`.
    """

    noisy: Any = field(repr=False)
    size: npt.NDArray[np.int64] = field(repr=False)
    found: npt.NDArray[np.bool_] = field(repr=False)
    predicted: npt.NDArray[np.int64] = field(repr=False)
    fallback: npt.NDArray[np.bool_] | None = field(default=None, repr=False)

    def chosen(self, value: npt.NDArray[np.int64]) -> Any:
        """Return each person's record with the noise for her value in `value` (u,), as a matrix (u, d)."""
        people, values = self.size.shape
        return self.noisy[np.arange(people) * values + value]


@dataclass(frozen=True, slots=True, kw_only=True)
class Concentration(Result):
    """How few entries carry how much of the expected noise.

    Minimum noise goes where the classifier looks: to the entries that tell the values apart best. Whoever leaves those
    out loses most of the noise with them (see `core.attriguard.attackers`). `entries` are the places of those that
    carry noise, the most used first; `share` the share of all expected changes each carries; a record has `n_entries`.
    """

    entries: npt.NDArray[np.intp] = field(repr=False)
    share: Floats = field(repr=False)
    n_entries: int

    def carrying(self, share: float) -> npt.NDArray[np.intp]:
        """Return the fewest entries that carry at least this share of all changes; one at least is left out."""
        fewest = int(np.searchsorted(np.cumsum(self.share), share - 1e-12)) + 1
        return self.entries[: min(fewest, self.n_entries - 1)]


def concentration(records: Any, noise: Noise, mechanism: Floats) -> Concentration:
    """Return how much of the expected noise of clean records (u, d) each entry carries under a mechanism (u, m)."""
    changes = changes_per_entry(records, noise, mechanism)
    order = np.argsort(-changes, kind="stable")
    order = order[changes[order] > 0]
    return Concentration(entries=order, share=changes[order] / changes[order].sum(), n_entries=changes.size)


def changes_per_entry(records: Any, noise: Noise, mechanism: Floats) -> Floats:
    """Return the expected number of changes of each entry, over people and draws, (d,)."""
    people, values = noise.size.shape
    total = np.zeros(records.shape[1])
    step = max(1, 50_000 // values)  # people at a time, so that memory stays small
    for start in range(0, people, step):
        stop = min(start + step, people)
        rows = np.repeat(np.arange(start, stop), values)
        changed = noise.noisy[start * values : stop * values] != records[rows]
        total += np.asarray(changed.T.astype(np.float64) @ mechanism[start:stop].ravel()).ravel()
    return total
