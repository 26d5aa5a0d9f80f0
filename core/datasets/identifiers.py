"""Columns of numbers that name people rather than measure them.

Numbers alone do not tell: an amount in cents may differ in every record too. A column is taken for an identifier only
if its numbers count the records (as many whole numbers as records, one after the other), or if they are whole, nearly
all differ, and the column's name says so. A name with "id" or "key" says so anywhere; "number", "nr" or "no" only at
its end ("case number", not "number of visits"), and only where every number is another one.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

_SURE = {"id", "ids", "uid", "uuid", "guid", "key", "pk", "ssn", "identifier", "identifiant", "kennung"}
_AT_THE_END = {"nr", "no", "num", "number", "nummer", "numero", "número", "numéro", "#"}
_ENDINGS = ("nummer", "kennzeichen", "kennziffer")
_PARTS = re.compile(r"[A-ZÄÖÜ]?[a-zà-ÿß]+|[A-ZÄÖÜ]+(?![a-z])|#")
_FEW = 20


def identifier_reason(values: npt.NDArray[np.float64], records: int, name: str) -> str:
    """Return why a column of numbers is no feature, or nothing.

    Parameters
    ----------
    values : ndarray of shape (filled cells,)
        Finite numbers.
    records : int
        How many records there are.
    name : str
        The column's.
    """
    if not (values == np.round(values)).all():
        return ""
    distinct = np.unique(values).size
    if distinct == records and values.max() - values.min() == distinct - 1:
        return "numbers the records"
    if distinct <= _FEW or not _says_so(name, every_one=distinct == values.size, most=distinct > values.size / 2):
        return ""
    return "is called like an identifier and holds a different whole number in most records (rename it to keep it)"


def _says_so(name: str, *, every_one: bool, most: bool) -> bool:
    parts = [part.casefold() for part in _PARTS.findall(name)]
    if most and _SURE.intersection(parts):
        return True
    return every_one and bool(parts) and (parts[-1] in _AT_THE_END or parts[-1].endswith(_ENDINGS))
