"""The people a ledger answers questions about: identifiers, attribute, labels; and their seals.

The order of people in a file does not matter: everything is kept by identifier, and sorted by it where it is hashed.
Seals are keyed hashes. A plain hash of few people's attributes could be undone by trying all of them. Order and seals
go by a form of the identifiers, the registration's.
"""

from __future__ import annotations

import hashlib
import hmac
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from core.datasets.columns import quoted
from core.errors import InputError
from core.queries.ledger.normal_form import FORM, FORMS
from core.results import Result
from core.validation import binary_array, one_length


def check_different(
    ids: Sequence[str], form: int, *, rule: str = "Every person must have an identifier of her own"
) -> None:
    """Refuse identifiers of which two are one in a form, and name both spellings."""
    spelled: dict[str, int] = {}
    for place, one in enumerate(ids):
        before = ids[spelled.setdefault(FORMS[form](one), place)]
        if before != one:
            raise InputError(f"{rule}, {_spelled(before)} and {_spelled(one)} are taken for one person.")
    if len(spelled) < len(ids):
        twice = next(one for one, count in Counter(ids).items() if count > 1)
        raise InputError(f"{rule}, {quoted(twice)} stands twice.")


def _spelled(identifier: str) -> str:
    """Return an identifier in quotation marks, with the name of its first character that could be mistaken."""
    name = next((unicodedata.name(one, "") for one in identifier if not one.isascii()), "")
    return quoted(identifier, 80) + (f" (with {name})" if name else "")


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
    ids : sequence of n strings, n at least 2
        Different in form 1; whoever registers them asks for more.
    attribute : array-like of shape (n,), 0 or 1
        1 = advantaged. That a group is empty is no reason to refuse it: a refusal would tell. There is no gap then, and
        what is answered is noise.
    labels : array-like of shape (n,), 0 or 1, or None

    Raises
    ------
    InputError
        If the lengths differ, an identifier stands twice, a value is not 0 or 1, or there are less than two people.
    """

    __test__: ClassVar[bool] = False  # not a test, whatever pytest makes of the name

    ids: tuple[str, ...]
    attribute: npt.NDArray[np.uint8]
    labels: npt.NDArray[np.uint8] | None = None
    _formed: dict[int, tuple[list[str], npt.NDArray[np.intp]]] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        ids = tuple(str(one) for one in self.ids)
        labels = None if self.labels is None else binary_array(self.labels, name="labels")
        attribute = binary_array(self.attribute, name="attribute")
        one_length(ids=ids, attribute=attribute, labels=labels)
        if len(ids) < 2:
            raise InputError(f"A test set must have two people at least, got {len(ids)}.")
        check_different(ids, 1)
        for name, value in (("ids", ids), ("attribute", attribute), ("labels", labels)):
            object.__setattr__(self, name, value)

    @property
    def n(self) -> int:
        """Return the number of people."""
        return len(self.ids)

    @property
    def n_positive(self) -> int | None:
        """Return the number of people with label 1, which counts as public; None without labels."""
        return None if self.labels is None else int(self.labels.sum())

    def order(self, form: int = FORM) -> npt.NDArray[np.intp]:
        """Return the positions of the people, sorted by their identifiers' form."""
        return self._in_form(form)[1]

    def seal(self, key: bytes, form: int = FORM) -> str:
        """Return the keyed hash (64 hex digits) of identifiers in a form, attribute and labels."""
        ids, order = self._in_form(form)
        labels = b"" if self.labels is None else self.labels[order].tobytes()
        return _hash(key, _purpose("whole", form), self.attribute[order].tobytes(), labels, *_bytes(ids))

    def seal_of_people(self, key: bytes, form: int = FORM) -> str:
        """Return the keyed hash of the identifiers in a form alone, whatever their case."""
        ids = self._in_form(form)[0]
        return _hash(key, _purpose("people", form), *sorted(_bytes(one.casefold() for one in ids)))

    def _in_form(self, form: int) -> tuple[list[str], npt.NDArray[np.intp]]:
        """Return the identifiers in a form, sorted, and the positions they come from."""
        if form not in self._formed:
            ids = [FORMS[form](one) for one in self.ids]
            order = np.array(sorted(range(len(ids)), key=ids.__getitem__))
            self._formed[form] = [ids[place] for place in order], order
        return self._formed[form]


def _purpose(seal: str, form: int) -> bytes:
    """Return what a seal is of; form 1 is not named, as before there were others."""
    return (seal if form == 1 else f"{seal} {form}").encode()


def _bytes(ids: Iterable[str]) -> Iterator[bytes]:
    return (one.encode("utf-8", "surrogatepass") for one in ids)


def _hash(key: bytes, *parts: bytes) -> str:
    made = hmac.new(key, digestmod=hashlib.sha256)
    for part in parts:
        made.update(len(part).to_bytes(8, "big") + part)
    return made.hexdigest()
