"""Group sizes that nobody published but the numbers tell: only some sizes make whole people of all of them.

A gap or a rate is a fraction whose denominators are the sizes of the groups. About a few hundred people the numbers of
a few models often fit one size alone, even rounded to two or three decimals; exact numbers hardly ever fit two. Whoever
tries every size knows it then, so leaving sizes out of a card hides them only where more than one is left.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from core.errors import InputError
from core.release.cells import Cells
from core.release.counts import PEOPLE_ROUNDING
from core.release.numbers import PARTS, Floats, count_of, part_name, part_of

MOST_TRIED = 100_000
"""People of a part up to whom every size is tried."""


def implied_sizes(cells: Cells, limits: Mapping[str, Floats], sizes: Mapping[str, int]) -> dict[str, int]:
    """Return the known sizes and those that are the only ones to fit a part's numbers.

    Raises
    ------
    InputError
        If no size fits.
    """
    known = dict(sizes)
    for part in PARTS.values():
        names = [name for name in limits if part_of(name) == part]
        if part in known or not names or cells.size(part) > MOST_TRIED:
            continue
        possible = _possible(cells, part, {name: limits[name] for name in names})
        if not possible.size:
            raise InputError(
                f"The numbers of the groups{part_name(part)} contradict each other: no sizes of the groups make whole "
                "people of all of them."
            )
        if possible.size == 1:
            known[part] = int(possible[0])
    return known


def _possible(cells: Cells, part: str, limits: Mapping[str, Floats]) -> npt.NDArray[np.int64]:
    """Return the sizes at which each model has a whole number of accepted people that agrees with all its numbers."""
    people, positives = cells.size(part), cells.positives(part)
    sizes = np.arange(1, people)
    for i, accepted in enumerate(positives.tolist()):
        low = np.maximum(0, sizes - people + accepted).astype(np.float64)
        high = np.minimum(sizes, accepted).astype(np.float64)
        for name, table in limits.items():
            if np.isnan(table[i, 0]):
                continue
            ends = [count_of(name, table[i, j], sizes, accepted, people) for j in (0, 1)]
            low = np.maximum(low, np.ceil(np.minimum(*ends) - PEOPLE_ROUNDING))
            high = np.minimum(high, np.floor(np.maximum(*ends) + PEOPLE_ROUNDING))
        sizes = sizes[low <= high]
    return sizes
