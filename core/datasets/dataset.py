"""A table as it came, the arrays an audit works on, a memo of what is computed from them."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

import numpy as np
import numpy.typing as npt

from ..base.caveats import Caveat
from ..base.serialize import fingerprint_frame
from ..stats.estimates import Estimate, proportion
from .columns import CROSS
from .roles import Roles

if TYPE_CHECKING:
    import pandas

T = TypeVar("T")

MAX_CACHED = 64
"""Results kept at most; beyond them that is dropped which was asked for longest ago."""


class Memo:
    """Base of a frozen dataclass that keeps results with itself; no field, so not compared, shown, pickled or copied.

    A copy, a replaced and an unpickled object begin with an empty memo.
    """

    __slots__ = ("_cache", "_lock")

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Return an object that has kept nothing yet."""
        instance = super().__new__(cls)
        object.__setattr__(instance, "_cache", {})
        object.__setattr__(instance, "_lock", threading.Lock())
        return instance

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` returns, calling it the first time only; arrays in it can no longer be written to.

        The key names the result and everything it depends on beside this object; `make` may itself use `once` under
        other keys. Two threads that ask at the same time may both call it; both are given the same result.
        """
        cache: dict[Hashable, Any] = self._cache  # type: ignore[attr-defined]
        lock: threading.Lock = self._lock  # type: ignore[attr-defined]
        with lock:
            if key in cache:
                cache[key] = cache.pop(key)  # the one used last stands last
                return cast("T", cache[key])
        result = make()
        _freeze(result)
        with lock:
            result = cache.setdefault(key, result)
            for oldest in list(cache)[:-MAX_CACHED]:
                del cache[oldest]
        return result

    def cached_results(self) -> dict[Hashable, Any]:
        """Return all that is kept."""
        with self._lock:  # type: ignore[attr-defined]
            return dict(self._cache)  # type: ignore[attr-defined]

    def keep(self, more: Mapping[Hashable, Any]) -> None:
        """Keep more, in the place of what was kept under the same keys."""
        with self._lock:  # type: ignore[attr-defined]
            self._cache.update(more)  # type: ignore[attr-defined]
            for oldest in list(self._cache)[:-MAX_CACHED]:  # type: ignore[attr-defined]
                del self._cache[oldest]  # type: ignore[attr-defined]


def _freeze(value: Any) -> None:
    """Make the arrays in a result read-only: in tuples, lists, dicts and dataclasses too."""
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    elif isinstance(value, dict):
        for item in value.values():
            _freeze(item)
    elif isinstance(value, (tuple, list)):
        for item in value:
            _freeze(item)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            _freeze(getattr(value, field.name, None))


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table as it was read, and where it comes from.

    Attributes
    ----------
    name : str
        Short identifier; "upload" for a user's file.
    title : str
        What to call it on screen.
    frame : pandas.DataFrame
        The cells as read; treat as read-only.
    source : str
        One sentence on provenance.
    roles : tuple of Roles
        Suggested roles, the default first; empty for uploads.
    synthetic, uploaded : bool
        Whether the people in it are invented; whether it is a user's own and must stay in the session.
    notes : tuple of str
        One sentence for everything that was decided in reading it.
    """

    name: str
    title: str
    frame: pandas.DataFrame
    source: str
    roles: tuple[Roles, ...] = ()
    synthetic: bool = False
    uploaded: bool = False
    notes: tuple[str, ...] = ()

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of names, types and cells of the columns."""
        return fingerprint_frame(self.frame)

    def roles_for(self, attribute: str) -> Roles | None:
        """Return the suggested roles with this key, "" for the first, or those of two crossed columns; None if none."""
        for roles in self.roles:
            if attribute in ("", roles.key):
                return roles
        if not self.roles or CROSS not in attribute:
            return None
        base = dataclasses.replace(
            self.roles[0], sensitive=attribute, group=(), at_most=None, each=False, cuts=()
        )
        return dataclasses.replace(base, first_name="", other_name="", attribute_name="")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditDataset(Memo):
    """What an audit works on; `once(key, make)` keeps with it what is computed from it.

    Attributes
    ----------
    title, source : str
        From the table.
    features : ndarray of shape (n, d), float64
        Numbers as they are, categories as ordinal codes in the order of their text; no missing values.
    feature_names : tuple of str
        Names of the d columns.
    categorical : ndarray of shape (d,), bool
        Which columns are codes of categories.
    labels : ndarray of shape (n,), uint8
        1 = the outcome that is favourable to the person.
    sensitive : ndarray of shape (n,), uint8
        Group of each record: 1 = first group of two; 0 to K - 1 where there are more.
    group_names : tuple of str
        Names by group.
    roles : Roles
        The roles it was built with.
    rows_read : int
        Records in the table, before any was dropped.
    caveats : tuple of Caveat
        Everything that was decided in reading, left out or filled in, and equal records; `notes` are their sentences.
    fingerprint : str
        SHA-256 of the arrays.
    synthetic, uploaded : bool
        From the table.
    categories : tuple of tuple of str
        What each column's codes stand for, from 0 up (-1 is a missing value); empty for a column of numbers.
    predictions : ndarray of shape (n,), uint8, or None
        A given model's predicted labels, 1 = favourable; from its scores where only these came with the table, and 0
        where there is no answer.
    scores : ndarray of shape (n,), float64, in [0, 1], or None
        A given model's scores of the favourable outcome.
    sets : ndarray of shape (n,), str, or None
        "train", "attack" or "test" for each record, where the table says so.
    withheld : ndarray of shape (n,), bool, or None
        Records without a score, where others have one; their label stands for the score.
    answered : ndarray of shape (n,), bool, or None
        Records about which a given model says a label; None where it does so about everybody.
    label_names : tuple of str
        What the labels 0 and 1 stand for: the unfavourable and the favourable outcome.
    """

    title: str
    source: str
    features: npt.NDArray[np.float64]
    feature_names: tuple[str, ...]
    categorical: npt.NDArray[np.bool_]
    labels: npt.NDArray[np.uint8]
    sensitive: npt.NDArray[np.uint8]
    group_names: tuple[str, ...]
    roles: Roles
    rows_read: int
    caveats: tuple[Caveat, ...] = ()
    fingerprint: str = field(default="")
    synthetic: bool = False
    uploaded: bool = False
    categories: tuple[tuple[str, ...], ...] = ()
    predictions: npt.NDArray[np.uint8] | None = None
    scores: npt.NDArray[np.float64] | None = None
    sets: npt.NDArray[np.str_] | None = None
    withheld: npt.NDArray[np.bool_] | None = None
    answered: npt.NDArray[np.bool_] | None = None
    label_names: tuple[str, str] = ("0", "1")

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences of the caveats."""
        return tuple(caveat.text for caveat in self.caveats)

    @property
    def n(self) -> int:
        """Number of records."""
        return int(self.labels.size)

    @property
    def n_groups(self) -> int:
        """Number of groups, 2 to 20."""
        return len(self.group_names)

    @property
    def domains(self) -> tuple[int | tuple[float, float], ...]:
        """Return the domain of each feature, taken as public although it comes from the records: codes, or the range.

        For categories how many there are, one more where a missing value is kept as -1; for numbers the smallest and
        the largest.
        """
        missing = int(self.roles.missing == "keep")
        domains: list[int | tuple[float, float]] = []
        for j, values in enumerate(self.features.T):
            if self.categorical[j]:
                domains.append(len(self.categories[j]) + missing)
            else:
                domains.append((float(values.min()), float(values.max())))
        return tuple(domains)

    @property
    def base_rates(self) -> dict[str, Estimate]:
        """Share of positive labels in each group, by its name: of two groups, the first group and the others."""
        counts = np.bincount(self.sensitive, minlength=self.n_groups).tolist()
        positives = np.bincount(self.sensitive, self.labels, self.n_groups).astype(int).tolist()
        codes = [1, 0] if self.n_groups == 2 else list(range(self.n_groups))
        return {self.group_names[code]: proportion(positives[code], counts[code]) for code in codes}
