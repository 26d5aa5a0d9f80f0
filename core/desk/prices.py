"""What page and command line tell of a question's terms: prices, who is taken together.

Nothing here looks at noise or answers; prices are public, and values are told to whoever holds the test set's file.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from core.datasets.columns import as_text, quoted
from core.desk.registration import FORM

if TYPE_CHECKING:
    import pandas

LEAST_PRICE = 1e-6
"""The smallest amount of epsilon there is."""

EXACT = 1e-6
"""An answer this close to the truth gains nothing from a fresh look: only constant predictions are."""

_STEPS = (1, 2, 3, 5, 7)

_LABEL_GAPS = {"statistical_parity": "Statistical parity gap", "equal_opportunity": "Equal opportunity gap"}
_SCORE_GAPS = {
    "statistical_parity": "Difference of mean scores",
    "equal_opportunity": "Difference of mean scores, positive label",
}


def gap_title(metric: str, *, labels: bool = False) -> str:
    """Return what an answer is: of scores a difference of their means, of labels (0 or 1) the gap of that name.

    The ledger does not keep what it was asked about; of labels the difference of their means is the same number.
    """
    return (_LABEL_GAPS if labels else _SCORE_GAPS)[metric]


def older_form(form: int) -> str:
    """Say that a registration's identifiers are compared in an older form; "" if it is the one of new ones."""
    return "" if form == FORM else f"identifiers in form {form}, an older one: other spellings are not recognised"


def count_price(charged: float, epsilon: float) -> float:
    """Return how much of a charge is for the noisy size of the group, where a sum costs `epsilon`; 0 if none is."""
    if charged <= 0:
        return 0.0
    return round(charged - epsilon, 6) if charged >= epsilon else charged


def everybody_else(frame: pandas.DataFrame, column: str, advantaged: str | None) -> dict[str, int]:
    """Return how many people have each value that is not the advantaged one, the most frequent first."""
    found = as_text(frame[column]).value_counts()
    return {str(value): int(n) for value, n in found.items() if str(value) != (advantaged or "1")}


def together(others: Mapping[str, int], *, most: int = 6) -> str | None:
    """Name the values that are taken together, with their people; None if there is only one."""
    if len(others) < 2:
        return None
    told = [f"{n:,} {quoted(value)}" for value, n in list(others.items())[:most]]
    if len(others) > most:
        told.append(f"{sum(list(others.values())[most:]):,} with {len(others) - most} more values")
    return f"{', '.join(told[:-1])} and {told[-1]}"


def prices(remaining: float, *, least: float = LEAST_PRICE) -> tuple[float, ...]:
    """Return round prices over two decades up to what remains, the last one; () if less remains than `least`."""
    if remaining < least:
        return ()
    top = math.floor(math.log10(remaining))
    grid = (round(step * 10.0**power, 6) for power in range(top - 3, top + 1) for step in _STEPS)
    return (*sorted({one for one in grid if max(least, remaining / 200) <= one < remaining}), remaining)


def suggested_price(remaining: float, *, least: float = LEAST_PRICE) -> float:
    """Return the round price nearest to a twentieth of what remains."""
    return min(prices(remaining, least=least) or (least,), key=lambda one: abs(one - 0.05 * remaining))
