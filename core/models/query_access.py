"""Query access: a model answers about records put together of people's values.

That is how labels alone are attacked: a record is changed in a column at a time, to values that others have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..base.arrays import Codes, Floats, Ints
from .model_answers import matched

if TYPE_CHECKING:
    import pandas

    from .fair import FairModel
    from .model_files import ModelFile


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryAccess:
    """A model that can be asked."""

    columns: int
    """Values of a record."""
    ask: Callable[[Ints], Codes] = field(repr=False)
    """Given the row that each value is taken from, (k, columns), return the predicted labels, (k,)."""


def fair_access(model: Callable[[], FairModel], features: Floats, sensitive: Codes, *, seed: int) -> QueryAccess:
    """Return access to a model trained here; the sensitive attribute is the last value of a record."""
    table = np.column_stack([features, sensitive])

    def ask(rows: Ints) -> Codes:
        cells = table[rows, np.arange(table.shape[1])]
        return model().predict(cells[:, :-1], cells[:, -1].astype(np.uint8), seed=seed)

    return QueryAccess(columns=table.shape[1], ask=ask)


def opposite_access(access: QueryAccess) -> QueryAccess:
    """Return access that answers about the other label: 1 where the model says 0."""

    def ask(rows: Ints) -> Codes:
        return 1 - access.ask(rows)

    return QueryAccess(columns=access.columns, ask=ask)


def file_access(
    model: ModelFile, frame: pandas.DataFrame, *, positive: str, threshold: float, features: Sequence[str]
) -> QueryAccess:
    """Return access to a model file, which is opened in a child process each time; see `ModelFile.answers`."""
    import pandas as pd

    taken = [frame[name] for name in matched(frame, model, features)[0].columns]

    def ask(rows: Ints) -> Codes:
        cells = {column.name: column.iloc[rows[:, j]].reset_index(drop=True) for j, column in enumerate(taken)}
        return model.answers(
            pd.DataFrame(cells, copy=False), positive=positive, threshold=threshold, features=features
        ).labels

    return QueryAccess(columns=len(taken), ask=ask)
