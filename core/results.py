"""What every result of FairLeak can do: turn itself into plain data and into a table.

Results are frozen dataclasses; pages, command line and report draw the same object, so no number is computed twice.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas


def plain(value: Any) -> Any:
    """Turn dataclasses, arrays and numpy scalars into dicts, lists and Python numbers, recursively."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {"/".join(key) if isinstance(key, tuple) else str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    return value


class Result:
    """Mixin of the frozen result dataclasses."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the result as nested dicts, lists and numbers (JSON-ready but for infinities)."""
        return dict(plain(self))

    def to_frame(self) -> pandas.DataFrame:
        """Return the result as a table; one row a field, as text, unless the result says otherwise."""
        import pandas as pd

        rows = [(name, str(value)) for name, value in self.to_dict().items() if not isinstance(value, (list, dict))]
        return pd.DataFrame(rows, columns=["name", "value"])
