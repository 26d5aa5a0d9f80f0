"""The people a ledger answers questions about: identifiers, attribute, labels; and their seals.

The order of people in a file does not matter: everything is kept by identifier, and sorted by it where it is hashed.
Seals are keyed hashes. A plain hash of few people's attributes could be undone by trying all of them.
"""

from __future__ import annotations

import hashlib
import hmac
import unicodedata
from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from core.datasets.columns import quoted
from core.errors import InputError
from core.results import Result
from core.validation import binary_array, one_length

__all__ = ["Columns", "TestSet", "identifier"]


def identifier(text: object) -> str:
    """Return an identifier without blanks around it, in one Unicode form."""
    return unicodedata.normalize("NFKC", str(text)).strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns(Result):
    """How a test set's file is read; public, and kept in the ledger.

    Attributes
    ----------
    id, attribute : str
        Columns with the identifiers and the sensitive attribute.
    advantaged : str or None
        The attribute's value that makes somebody advantaged; None if the column holds 1 (advantaged) and 0.
    label : str or None
        Column with the true outcome, which equal opportunity needs.
    positive : str or None
        The label's good value; None if the column holds 1 and 0.
    """

    id: str = "id"
    attribute: str
    advantaged: str | None = None
    label: str | None = None
    positive: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TestSet:
    """The people asked about.

    Parameters
    ----------
    ids : sequence of n different strings, n at least 2
        Blanks around them do not count.
    attribute : array-like of shape (n,), 0 or 1
        1 = advantaged. That a group is empty is no reason to refuse it: a refusal would tell. There is no gap then, and
        what is answered is noise.
    labels : array-like of shape (n,), 0 or 1, or None

    Attributes
    ----------
    order : ndarray of shape (n,)
        The positions of the people, sorted by identifier.

    Raises
    ------
    InputError
        If the lengths differ, an identifier stands twice, a value is not 0 or 1, or there are less than two people.
    """

    __test__: ClassVar[bool] = False  # not a test, whatever pytest makes of the name

    ids: tuple[str, ...]
    attribute: npt.NDArray[np.uint8]
    labels: npt.NDArray[np.uint8] | None = None
    order: npt.NDArray[np.intp] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        ids = tuple(identifier(one) for one in self.ids)
        labels = None if self.labels is None else binary_array(self.labels, name="labels")
        attribute = binary_array(self.attribute, name="attribute")
        one_length(ids=ids, attribute=attribute, labels=labels)
        if len(ids) < 2:
            raise InputError(f"A test set must have two people at least, got {len(ids)}.")
        order = np.array(sorted(range(len(ids)), key=ids.__getitem__))
        for before, after in pairwise(order):
            if ids[before] == ids[after]:
                raise InputError(f"Every person must have an identifier of her own, {quoted(ids[after])} stands twice.")
        for name, value in (("ids", ids), ("attribute", attribute), ("labels", labels), ("order", order)):
            object.__setattr__(self, name, value)

    @property
    def n(self) -> int:
        """Return the number of people."""
        return len(self.ids)

    @property
    def n_positive(self) -> int | None:
        """Return the number of people with label 1, which counts as public; None without labels."""
        return None if self.labels is None else int(self.labels.sum())

    def seal(self, key: bytes) -> str:
        """Return the keyed hash (64 hex digits) of identifiers, attribute and labels."""
        labels = b"" if self.labels is None else self.labels[self.order].tobytes()
        ids = (self.ids[i].encode() for i in self.order)
        return _hash(key, b"whole", self.attribute[self.order].tobytes(), labels, *ids)

    def seal_of_people(self, key: bytes) -> str:
        """Return the keyed hash of the identifiers alone, whatever their case."""
        return _hash(key, b"people", *sorted(one.casefold().encode() for one in self.ids))


def _hash(key: bytes, *parts: bytes) -> str:
    made = hmac.new(key, digestmod=hashlib.sha256)
    for part in parts:
        made.update(len(part).to_bytes(8, "big") + part)
    return made.hexdigest()
